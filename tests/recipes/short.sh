#!/usr/bin/env bash
# short.sh tool folder recipe/run.sh : the short form of a recipe, from the beginning, and once more, when all of it is there.
set -euo pipefail

tool=$1 recipe=$3
out=$2/$(basename "$(dirname "$recipe")")
rm -rf "$out-short"
# One thread: other tests run at the same time.
bash "$recipe" --short --tool "$tool" --out "$out" --threads 1 | tee "$out.txt"

# A finished recipe says the same again, and trains nothing.
bash "$recipe" --short --tool "$tool" --out "$out" --threads 1 >"$out.again.txt" 2>"$out.again.log"
if ! cmp "$out.txt" "$out.again.txt" || grep epoch "$out.again.log"; then
  echo "$recipe: expected the same table at once from a recipe that is finished" >&2
  exit 1
fi
