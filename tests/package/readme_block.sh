#!/usr/bin/env bash
# readme_block.sh heading : prints the first block of shell commands below that heading of the README; fails if it has
# more than five, or if there is none.
set -euo pipefail

block=$(awk -v heading="### $1" '$0 == heading { below = 1 } below && /^```$/ { exit } inside { print }
                                 below && /^```sh$/ { inside = 1 }' "$SOURCE/README.md")
count=$(grep -c . <<<"$block" || true)
if ((count == 0 || count > 5)); then
  echo "README.md, $1: expected one to five commands, got $count" >&2
  exit 1
fi
printf '%s\n' "$block"
