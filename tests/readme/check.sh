#!/usr/bin/env bash
# check.sh readme program : the first C++ block of the README is that program, to the letter, without its first
# comment line; so what people read is what the tests compile and run.
set -euo pipefail

shown=$(awk '/^```cpp$/ { inside = 1; next } /^```$/ { if (inside) exit } inside' "$1")
if [[ -z $shown ]]; then
  echo "$1: expected a block of C++, got none"
  exit 1
fi
diff <(printf '%s\n' "$shown") <(sed '1{/^\/\/ /d}' "$2") || {
  echo "$1: expected its first block of C++ to be $2"
  exit 1
}
