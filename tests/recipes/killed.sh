#!/usr/bin/env bash
# killed.sh tool folder recipe/run.sh : a recipe that is killed while it trains goes on there, and its model has the same bytes
# as that of short.sh, which nobody killed.
set -euo pipefail
set -m  # a job is a process group: the recipe and what it runs are killed together

tool=$1 recipe=$3
whole=$2/$(basename "$(dirname "$recipe")")-short/model.safetensors
out=$2/killed
log=$out.log
if [[ ! -e $whole ]]; then
  echo "$whole: expected the model that short.sh makes, got none" >&2
  exit 1
fi
rm -rf "$out-short"
: >"$log"

# Once there is progress to go on from, which is about a second of training.
bash "$recipe" --short --tool "$tool" --out "$out" --threads 1 >>"$log" 2>&1 &
recipe_process=$!
trap 'kill -9 -- "-$recipe_process" 2>/dev/null' EXIT
until [[ -e $out-short/model.safetensors.checkpoint ]]; do
  if ! kill -0 "$recipe_process" 2>/dev/null; then
    echo "$recipe: expected a training that takes long enough to be killed, got this" >&2
    cat "$log" >&2
    exit 1
  fi
  sleep 0.05
done
kill -9 -- "-$recipe_process"
wait "$recipe_process" 2>/dev/null || true
trap - EXIT

if [[ -e $out-short/model.safetensors || ! -e $out-short/model.safetensors.checkpoint ]]; then
  echo "$recipe: expected a training in the middle, got $(ls "$out-short")" >&2
  exit 1
fi
bash "$recipe" --short --tool "$tool" --out "$out" --threads 1 >>"$log" 2>&1
if ! grep -q '^going on from' "$log"; then
  echo "$recipe: expected a training that goes on, got this" >&2
  cat "$log" >&2
  exit 1
fi
cmp "$whole" "$out-short/model.safetensors"
