#!/usr/bin/env bash
# example.sh folder : an example builds outside of the source tree, by its own CMake file. Without optimisation: that
# it runs well is another test's business.
set -euo pipefail

cp -r "$1"/* .
if [[ $WITH_THRUST != ON ]] && grep -q 'COMPONENTS thrust' CMakeLists.txt; then
  echo "skipped: there is no Thrust" && exit 77
fi
if [[ $WITH_MPI != ON ]] && grep -q 'REQUIRED COMPONENTS mpi' CMakeLists.txt; then
  echo "skipped: there is no MPI" && exit 77
fi
# An example of many files is compiled as few, which takes a third of the time, and the tool with few of its models; our
# own build compiles them one by one, and all.
"$CMAKE" -S . -B build -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O0 \
  -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=8 -DBAHDANAU_CLI_CELLS=gru --no-warn-unused-cli
"$CMAKE" --build build
