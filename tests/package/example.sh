#!/usr/bin/env bash
# example.sh folder : an example builds outside of the source tree, by its own CMake file. Without optimisation: that
# it runs well is another test's business.
set -euo pipefail

cp "$1"/* .
"$CMAKE" -S . -B build -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O0
"$CMAKE" --build build --parallel 2
