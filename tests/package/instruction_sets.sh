#!/usr/bin/env bash
# Files of one program that are compiled for different instructions hand models to each other, with and without
# optimisation, in whichever order they are linked.
set -euo pipefail

if ! grep -qw avx2 /proc/cpuinfo 2>/dev/null || ! grep -qw fma /proc/cpuinfo; then
  echo "skipped: this machine has no AVX2 with fused multiply-adds" && exit 77
fi
cp "$SOURCE"/tests/package/instruction_sets/* .
cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.22)
project(instruction_sets LANGUAGES CXX)
find_package(bahdanau CONFIG REQUIRED)
add_library(plain OBJECT logits.cpp)
target_compile_definitions(plain PRIVATE WHOSE=plain)
add_library(wide OBJECT logits.cpp)
target_compile_definitions(wide PRIVATE WHOSE=wide)
target_compile_options(wide PRIVATE -mavx2 -mfma)
add_library(main OBJECT main.cpp)
foreach(library IN ITEMS plain wide main)
  target_link_libraries(${library} PRIVATE bahdanau::bahdanau)
endforeach()
add_executable(plain_first $<TARGET_OBJECTS:main> $<TARGET_OBJECTS:plain> $<TARGET_OBJECTS:wide>)
add_executable(wide_first $<TARGET_OBJECTS:main> $<TARGET_OBJECTS:wide> $<TARGET_OBJECTS:plain>)
target_link_libraries(plain_first PRIVATE bahdanau::bahdanau)
target_link_libraries(wide_first PRIVATE bahdanau::bahdanau)
CMAKE
for optimisation in -O0 -O2; do
  build=build$optimisation
  "$CMAKE" -S . -B $build -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_CXX_FLAGS=$optimisation >/dev/null
  "$CMAKE" --build $build --parallel
  ./$build/plain_first
  ./$build/wide_first
  BAHDANAU_INSTRUCTIONS=avx2 ./$build/plain_first
  BAHDANAU_INSTRUCTIONS=avx2 ./$build/wide_first
  # A level below the flags of one of the files does not exist in the program.
  if BAHDANAU_INSTRUCTIONS=baseline ./$build/plain_first 2>refusal; then
    echo "baseline was not refused" && exit 1
  fi
  grep -q "BAHDANAU_INSTRUCTIONS: expected avx2.*which this processor has, got baseline" refusal
done
