#!/usr/bin/env bash
# What is not installed is named in one sentence, with its Debian and its Conan package.
set -euo pipefail

cp "$SOURCE"/test_package/{CMakeLists.txt,test_package.cpp} .

# expect name Debian-package Conan-package: a machine without `name`.
expect() {
  local output sentence
  sentence="install the Debian package $2 or the Conan package $3."
  if output=$("$CMAKE" -S . -B "build-$1" -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_CXX_COMPILER_WORKS=ON \
    -DCMAKE_DISABLE_FIND_PACKAGE_"$1"=ON -Dbahdanau_"$1"_INCLUDE_DIR= 2>&1); then
    echo "expected an error without $1"
    exit 1
  fi
  # CMake breaks lines where it likes.
  if ! tr -s ' \n' '  ' <<<"$output" | grep -qE "bahdanau needs $1( [0-9.]+ or later)?: $sentence"; then
    echo "$output"
    echo "expected: bahdanau needs $1: $sentence"
    exit 1
  fi
  echo "$1: $sentence"
}

expect xtl xtl-dev xtl
expect xtensor libxtensor-dev xtensor
expect xsimd libxsimd-dev xsimd
expect xtensor-blas libxtensor-blas-dev xtensor-blas
expect OpenBLAS libopenblas-dev openblas
expect utf8proc libutf8proc-dev utf8proc
