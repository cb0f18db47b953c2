#!/usr/bin/env bash
# The commands of docs/use.md for the include, to the letter, in a copy of the source tree and with an empty home; then its
# CMake file, with the README's program and the commands below it, in a folder of their own.
set -euo pipefail

# A home without spaces in its path, as the shell splits what pkg-config answers at them.
HOME=$(mktemp -d)
export HOME
trap 'rm -rf "$HOME"' EXIT
"$SOURCE/tests/package/copy_source.sh" source
commands=$("$SOURCE/tests/package/use_block.sh" 'The include')
"$SOURCE/tests/package/use_block.sh" 'The examples' >/dev/null
unset CMAKE_GENERATOR CXX
cd source
bash -euxc "$commands"
./own_loop | tee output.txt
grep -q 'logits (4, 7, 10)' output.txt

# What CMake makes of the file without a word about a build type must be compiled with optimisation, and print what the
# README shows.
mkdir ../program
cd ../program
"$SOURCE/tests/package/use_block.sh" 'With CMake' cmake >CMakeLists.txt
commands=$("$SOURCE/tests/package/use_block.sh" 'With CMake')
{
  printf '#ifndef __OPTIMIZE__\n#error "compiled without optimisation"\n#endif\n'
  awk '/^```$/ && inside { exit } inside { print } /^```cpp$/ { inside = 1 }' "$SOURCE/README.md"
} >main.cpp
cp "$SOURCE/examples/data/eng-fra.tsv" .
bash -euxc "$commands"
"$SOURCE/tests/readme/output.sh" "$SOURCE/README.md" build/translate
