#!/usr/bin/env bash
# What is not installed is named in one sentence, with its Debian and its Conan package; so is what cannot be.
set -euo pipefail

cp "$SOURCE"/test_package/{CMakeLists.txt,test_package.cpp} .

# expect what sentence options... : CMake, with these options, stops with the sentence. FROM: where the project is.
expect() {
  local output what=$1 sentence=$2
  if output=$("$CMAKE" -S "${FROM:-.}" -B "build-$what" -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_CXX_COMPILER_WORKS=ON \
    "${@:3}" 2>&1); then
    echo "expected an error without $what"
    exit 1
  fi
  # CMake breaks lines where it likes.
  if ! tr -s ' \n' '  ' <<<"$output" | grep -qF "$sentence"; then
    echo "$output"
    echo "expected: $sentence"
    exit 1
  fi
  echo "$what: $sentence"
}

# expect_dependency name wanted Debian-package Conan-package : a machine without `name`.
expect_dependency() {
  expect "$1" "bahdanau needs $2: install the Debian package $3 or the Conan package $4." \
    -DCMAKE_DISABLE_FIND_PACKAGE_"$1"=ON -Dbahdanau_"$1"_INCLUDE_DIR=
}

expect_dependency xtl xtl xtl-dev xtl
expect_dependency xtensor 'xtensor 0.24 or later' libxtensor-dev xtensor
expect_dependency xtensor-blas xtensor-blas libxtensor-blas-dev xtensor-blas
expect_dependency OpenBLAS OpenBLAS libopenblas-dev openblas
expect_dependency utf8proc utf8proc libutf8proc-dev utf8proc

expect Thrust 'bahdanau::thrust needs Thrust: install the CUDA toolkit, the Debian package libthrust-dev or the Conan package thrust.' \
  -DWITH_THRUST=ON -DBAHDANAU_THRUST_INCLUDE_DIR=
expect TBB 'bahdanau::thrust on TBB needs TBB::tbb: install the Debian package libtbb-dev or the Conan package onetbb.' \
  -DWITH_THRUST=ON -DBAHDANAU_THRUST_INCLUDE_DIR=. -DBAHDANAU_THRUST_SYSTEM=TBB -DCMAKE_DISABLE_FIND_PACKAGE_TBB=ON
expect 'a known system' "BAHDANAU_THRUST_SYSTEM is OMP, TBB or CPP, not 'GPU'." \
  -DWITH_THRUST=ON -DBAHDANAU_THRUST_INCLUDE_DIR=. -DBAHDANAU_THRUST_SYSTEM=GPU
no_mpi='bahdanau::mpi needs an MPI, version 3 or later: install the Debian packages libopenmpi-dev and openmpi-bin, or the Conan package openmpi.'
expect MPI "$no_mpi" -DWITH_MPI=ON -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON
# CMake's own module, on a machine that has none.
expect 'MPI to be found' "$no_mpi" -DWITH_MPI=ON -DMPI_ASSUME_NO_BUILTIN_MPI=ON -DMPI_SKIP_COMPILER_WRAPPER=ON \
  -DMPI_SKIP_GUESSING=ON -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON
expect SentencePiece 'bahdanau::sentencepiece needs SentencePiece: install the Debian package libsentencepiece-dev or the Conan package sentencepiece.' \
  -DWITH_SENTENCEPIECE=ON -DBAHDANAU_SENTENCEPIECE_INCLUDE_DIR=
sed -i 's/components thrust/components gpu/' CMakeLists.txt
expect 'a known component' "bahdanau has the components 'mpi', 'sentencepiece' and 'thrust', not 'gpu'." -DWITH_THRUST=ON

# CUDA without a toolkit, where this project's own tests are to be compiled with it.
FROM=$SOURCE CUDACXX=/nowhere/nvcc expect nvcc 'BAHDANAU_ENABLE_CUDA needs nvcc: install the CUDA toolkit' \
  -DBAHDANAU_ENABLE_CUDA=ON -DBAHDANAU_BUILD_TESTS=OFF -DBAHDANAU_BUILD_EXAMPLES=OFF -DBAHDANAU_BUILD_BENCHMARKS=OFF

# What the tests alone need.
expect_of_tests() {
  FROM=$SOURCE expect "$1" "The $2 need $1: install the Debian package $3 or the Conan package $4." \
    -DCMAKE_DISABLE_FIND_PACKAGE_"$5"=ON -DBAHDANAU_BUILD_EXAMPLES=OFF -DBAHDANAU_BUILD_BENCHMARKS=OFF
}
expect_of_tests Catch2 tests catch2 catch2 Catch2
expect_of_tests RapidCheck 'property tests' librapidcheck-dev rapidcheck rapidcheck
