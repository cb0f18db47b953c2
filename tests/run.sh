#!/usr/bin/env bash
# Installs what is missing, builds the tests and the examples, and runs them all. Arguments go to ctest.
# BUILD_DIR says where to build (default build/tests).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${BUILD_DIR:-$root/build/tests}
flags='-O2 -g0 -DNDEBUG'  # what users compile with; at -O1 the compiler contracts less, and hides mistakes

"$root/cmake/install_dependencies.sh" catch2 doxygen python3-venv
"$root/cmake/build.sh" "$root" "$build" \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="$flags" -DBAHDANAU_BUILD_BENCHMARKS=OFF
cd "$build"
exec ctest --output-on-failure --parallel "$(nproc)" "$@"
