#!/usr/bin/env bash
# The README's commands for the include, to the letter, in a copy of the source tree and with an empty home.
set -euo pipefail

export HOME=$PWD/home
mkdir home
"$SOURCE/tests/package/copy_source.sh" source
commands=$("$SOURCE/tests/package/readme_block.sh" 'The include')
"$SOURCE/tests/package/readme_block.sh" 'The examples' >/dev/null
unset CMAKE_GENERATOR CXX
cd source
bash -euxc "$commands"
./own_loop | tee output.txt
grep -q 'logits (4, 7, 10)' output.txt
