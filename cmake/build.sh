#!/usr/bin/env bash
# build.sh source build [options...] : configures with CMake, quietly, and builds on all processors.
set -euo pipefail

source=$1 build=$2
shift 2

generator=()
if [[ ! -e $build/CMakeCache.txt ]] && command -v ninja >/dev/null; then generator=(-G Ninja); fi
cmake -S "$source" -B "$build" "${generator[@]}" --log-level=WARNING "$@"
cmake --build "$build" --parallel "$(nproc)"
