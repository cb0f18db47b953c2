#!/usr/bin/env bash
# Files of one program that disagree about the instruction set: each works with its own, in whichever order they are
# linked.
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
target_compile_definitions(plain PRIVATE NAME=plain_logits)
add_library(wide OBJECT logits.cpp)
target_compile_definitions(wide PRIVATE NAME=wide_logits)
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
"$CMAKE" -S . -B build -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_CXX_FLAGS=-O0 >/dev/null
"$CMAKE" --build build
./build/plain_first
./build/wide_first
