#!/usr/bin/env bash
# short.sh tool folder recipe/run.sh name [options] : the short form of a recipe, with these options, in a folder of that name, from
# the beginning, and once more, when all of it is there.
set -euo pipefail

tool=$1 recipe=$3 out=$2/$4
shift 4
rm -rf "$out-short"
# One thread: other tests run at the same time.
bash "$recipe" --short --tool "$tool" --out "$out" --threads 1 "$@" | tee "$out.txt"

# A finished recipe says the same again, and trains nothing.
bash "$recipe" --short --tool "$tool" --out "$out" --threads 1 "$@" >"$out.again.txt" 2>"$out.again.log"
if ! cmp "$out.txt" "$out.again.txt" || grep epoch "$out.again.log"; then
  echo "$recipe: expected the same table at once from a recipe that is finished" >&2
  exit 1
fi
