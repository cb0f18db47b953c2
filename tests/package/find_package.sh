#!/usr/bin/env bash
# find_package(bahdanau CONFIG REQUIRED), as test_package/CMakeLists.txt writes it; with the component for subwords, where this
# machine has SentencePiece.
set -euo pipefail

cp "$SOURCE"/test_package/{CMakeLists.txt,test_package.cpp} .
"$CMAKE" -S . -B build -DCMAKE_PREFIX_PATH="$PREFIX" -DWITH_SENTENCEPIECE="$WITH_SENTENCEPIECE"
"$CMAKE" --build build --verbose
./build/test_package
