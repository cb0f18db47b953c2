#!/usr/bin/env bash
# Installs what is missing, builds the examples and the command-line tool, and runs the main example.
# BUILD_DIR says where to build (default build/examples).
set -euo pipefail

main=01_attention

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${BUILD_DIR:-$root/build/examples}

"$root/cmake/install_dependencies.sh"
"$root/cmake/build.sh" "$root" "$build" \
  -DCMAKE_BUILD_TYPE=Release -DBAHDANAU_BUILD_TESTS=OFF -DBAHDANAU_BUILD_BENCHMARKS=OFF
echo "The examples are in $build/bin; this is example_$main (examples/$main):"
echo
exec "$build/bin/example_$main" "$@"
