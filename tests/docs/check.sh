#!/usr/bin/env bash
# check.sh source page folder [program] : runs the page's program in the folder, and holds the page to it.
#
#   ```cpp      is part of the page's program (docs/<page>.cpp), of a header beside it that it includes, or of an
#               example, but for the indentation
#   ```python   is part of docs/<page>.py, which runs after the program
#   ```cmake    is part of an example's CMake file
#   ```text     is part of what program and script print
#   ```sh       is held to our scripts and to the tool by commands.py; what docs/use.md shows is run by tests/package
#   ```json     is JSON
#   ```ini      is docs/use.md's conanfile.txt, whose version package.version checks
# Other blocks are not allowed: nobody would know when they are wrong.
set -euo pipefail

source=$1 page=$2 folder=$3 program=${4-}
name=$(basename "$page" .md)
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
cp "$source/examples/data/eng-fra.tsv" .
: >output.txt
if [[ -n $program ]]; then "$program" 2>errors.txt | tee output.txt || { cat errors.txt >&2 && exit 1; }; fi
# The programs are compiled without optimisation: whoever trains so is told, once.
if [[ $name == start ]] && (($(grep -c 'compiled without optimisation' errors.txt) != 1)); then
  echo "expected one warning about a build without optimisation, got:" && cat errors.txt
  exit 1
fi
if [[ -f $source/docs/$name.py ]] && command -v python3 >/dev/null; then python3 "$source/docs/$name.py" | tee -a output.txt; fi

# is_part block file... : whether the block's lines stand in one of the files, one after the other.
is_part() {
  awk 'function stripped(line) { sub(/^ +/, "", line); return line }
       FNR == 1 { ++files; text[files] = "\n" }
       { text[files] = text[files] stripped($0) "\n" }
       END { for (f = 2; f <= files; ++f) if (index(text[f], text[1])) exit 0; exit 1 }' "$@"
}

if grep -nE '^ +(```|~~~)|^~~~' "$page"; then
  echo "$page: expected blocks to begin with \`\`\`, at the start of a line: others are not seen here"
  exit 1
fi

# Every block into a file of its own: block.<number>.<language>
awk '/^```/ { if (file) { close(file); file = "" } else { file = "block." ++count "." substr($0, 4); printf "" >file }; next }
     file { print >file }' "$page"
shopt -s nullglob
failed=0
for block in block.*; do
  case $block in
    *.sh) [[ -s $block ]] && continue ;;
    *.json) if [[ -s $block ]] && { ! command -v python3 >/dev/null || python3 -m json.tool "$block" /dev/null; }; then continue; fi ;;
    *.ini) if [[ $name == use && -s $block ]]; then continue; fi ;;
  esac
  case $block in
    *.cpp) places=("$source/docs/$name".cpp "$source"/examples/*/main.cpp)
      for header in $(sed -n 's/^#include "\(.*\)"/\1/p' "$source/docs/$name".cpp 2>/dev/null); do
        places+=("$source/docs/$header")
      done ;;
    *.python) places=("$source/docs/$name.py") ;;
    *.cmake) places=("$source"/examples/*/CMakeLists.txt) ;;
    *.text) places=(output.txt) ;;
    *) places=() ;;  # an empty block, too
  esac
  existing=()
  for place in "${places[@]}"; do [[ -s $place ]] && existing+=("$place"); done
  if [[ ! -s $block ]] || ((${#existing[@]} == 0)) || ! is_part "$block" "${existing[@]}"; then
    echo "$page: expected this block, ${block##*.}, in ${places[*]:-a language that is tested}:"
    cat "$block"
    failed=1
  fi
done
exit $failed
