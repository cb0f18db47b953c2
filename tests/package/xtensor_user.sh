#!/usr/bin/env bash
# A program that uses xtensor itself: before and after our header, with and without XTENSOR_USE_XSIMD, and with files
# that disagree about it.
set -euo pipefail

cp "$SOURCE"/tests/package/xtensor_user/* .
cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.22)
project(xtensor_user LANGUAGES CXX)
find_package(bahdanau CONFIG REQUIRED)
foreach(file IN ITEMS main other)
  add_library(plain_${file} OBJECT ${file}.cpp)
  add_library(simd_${file} OBJECT ${file}.cpp)
  target_link_libraries(plain_${file} PRIVATE bahdanau::bahdanau)
  target_link_libraries(simd_${file} PRIVATE bahdanau::bahdanau)
  target_compile_definitions(simd_${file} PRIVATE XTENSOR_USE_XSIMD)
endforeach()
foreach(main IN ITEMS plain simd)
  foreach(other IN ITEMS plain simd)
    add_executable(${main}_${other})
    target_link_libraries(${main}_${other} PRIVATE ${main}_main ${other}_other bahdanau::bahdanau)
  endforeach()
endforeach()
CMAKE
"$CMAKE" -S . -B build -DCMAKE_PREFIX_PATH="$PREFIX" >/dev/null
"$CMAKE" --build build
for main in plain simd; do
  for other in plain simd; do
    echo "main.cpp $main, other.cpp $other:"
    "./build/${main}_$other"
  done
done
