#!/usr/bin/env bash
# Installs what is missing, builds the tests and the examples, and runs them all. Arguments go to ctest.
# BUILD_DIR says where to build (default build/tests). The Thrust backend is tested on all its systems; where there is
# an nvcc, it builds the same tests for CUDA.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${BUILD_DIR:-$root/build/tests}
flags='-O2 -g0 -DNDEBUG'  # what users compile with; at -O1 the compiler contracts less, and hides mistakes

thrust=()
cuda=OFF
if command -v nvcc >/dev/null; then cuda=ON; else thrust=(libthrust-dev); fi
"$root/cmake/install_dependencies.sh" catch2 doxygen python3-venv libtbb-dev "${thrust[@]}"
"$root/cmake/build.sh" "$root" "$build" \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="$flags" -DBAHDANAU_BUILD_BENCHMARKS=OFF \
  -DBAHDANAU_THRUST_TESTS='CPP;OMP;TBB' -DBAHDANAU_ENABLE_CUDA=$cuda \
  -DCMAKE_CUDA_ARCHITECTURES=80-real -DCMAKE_CUDA_FLAGS_RELEASE='-O1 -DNDEBUG'
cd "$build"
exec ctest --output-on-failure --parallel "$(nproc)" "$@"
