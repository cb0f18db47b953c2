#!/usr/bin/env bash
# What is not installed is named in one sentence, with its Debian and its Conan package.
set -euo pipefail

cp "$SOURCE"/test_package/{CMakeLists.txt,test_package.cpp} .

# expect_error name sentence options... : CMake says this, as an error.
expect_error() {
  local name=$1 sentence=$2 output
  shift 2
  if output=$("$CMAKE" -B "build-$name" -DCMAKE_CXX_COMPILER_WORKS=ON "$@" 2>&1); then
    echo "expected an error without $name"
    exit 1
  fi
  # CMake breaks lines where it likes.
  if ! tr -s ' \n' '  ' <<<"$output" | grep -qE "$sentence"; then
    echo "$output"
    echo "expected: $sentence"
    exit 1
  fi
  echo "$name: $sentence"
}

# expect name Debian-package Conan-package: a machine without `name`.
expect() {
  expect_error "$1" \
    "bahdanau needs $1( [0-9.]+ or later)?: install the Debian package $2 or the Conan package $3\\." \
    -S . -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_DISABLE_FIND_PACKAGE_"$1"=ON -Dbahdanau_"$1"_INCLUDE_DIR=
}

expect xtl xtl-dev xtl
expect xtensor libxtensor-dev xtensor
expect xsimd libxsimd-dev xsimd
expect xtensor-blas libxtensor-blas-dev xtensor-blas
expect OpenBLAS libopenblas-dev openblas
expect utf8proc libutf8proc-dev utf8proc

# The Thrust backend, for a project that asks for it; and CUDA without a toolkit.
mkdir thrust
cp "$SOURCE"/examples/06_backends/* thrust
expect_error Thrust 'bahdanau::thrust needs Thrust: install the CUDA toolkit or the Debian package libthrust-dev\.' \
  -S thrust -DCMAKE_PREFIX_PATH="$PREFIX" -DBAHDANAU_THRUST_INCLUDE_DIR=
CUDACXX=/nowhere/nvcc expect_error nvcc 'BAHDANAU_ENABLE_CUDA needs nvcc: install the CUDA toolkit' \
  -S "$SOURCE" -DBAHDANAU_ENABLE_CUDA=ON -DBAHDANAU_BUILD_TESTS=OFF -DBAHDANAU_BUILD_EXAMPLES=OFF \
  -DBAHDANAU_BUILD_BENCHMARKS=OFF
