#!/usr/bin/env bash
# killed.sh tool folder recipe/run.sh model [epochs] : a recipe that is killed while it trains goes on there, and its model has the
# same bytes as that of short.sh, which nobody killed. Where the epochs are given, it ends once more when it is to keep the last
# one's model, and the mean of those that it keeps has the same bytes, too.
set -euo pipefail
set -m  # a job is a process group: the recipe and what it runs are killed together

tool=$1 recipe=$3 model=$4 epochs=${5-}
task=$(basename "$(dirname "$recipe")")
whole=$2/$task-short
out=$2/$task-killed
log=$out.log
rm -rf "$out-short"
: >"$log"

# fail sentence : with what the recipe has said.
fail() {
  echo "$recipe: $1, got this" >&2
  cat "$log" >&2
  exit 1
}
run() { bash "$recipe" --short --tool "$tool" --out "$out" --threads 1 >>"$log" 2>&1; }

# Once there is progress to go on from, which is about a second of training.
run &
recipe_process=$!
trap 'kill -9 -- "-$recipe_process" 2>/dev/null' EXIT
until [[ -e $out-short/$model.safetensors.checkpoint ]]; do
  if ! kill -0 "$recipe_process" 2>/dev/null; then
    trap - EXIT
    code=0
    wait "$recipe_process" || code=$?
    ((code != 77)) || exit 77  # its data is not there
    fail "expected a training that takes long enough to be killed"
  fi
  sleep 0.05
done
kill -9 -- "-$recipe_process"
wait "$recipe_process" 2>/dev/null || true
trap - EXIT

if [[ -e $out-short/$model.safetensors || ! -e $out-short/$model.safetensors.checkpoint ]]; then
  echo "$recipe: expected a training in the middle, got $(ls "$out-short")" >&2
  exit 1
fi
if [[ -n $epochs ]]; then
  mkdir "$out-short/$model.epoch-$epochs.safetensors"  # which cannot be written, then
  if run; then fail "expected a training that ends without its last epoch's model"; fi
  rmdir "$out-short/$model.epoch-$epochs.safetensors"
fi
run || fail "expected a recipe that goes on"
grep -q '^going on from' "$log" || fail "expected a training that goes on"
cmp "$whole/$model.safetensors" "$out-short/$model.safetensors"
[[ -z $epochs ]] || cmp "$whole/$model-mean.safetensors" "$out-short/$model-mean.safetensors"
