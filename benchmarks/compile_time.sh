#!/usr/bin/env bash
# Prints what including the library costs: wall time (the best of three) and peak memory of the compiler at -O2,
# for the umbrella header alone and for a program that builds one model and runs it forward and backward.
# Fails when a limit is exceeded. CXX and CXXFLAGS are heeded.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

command -v python3 >/dev/null || "$root/cmake/install_dependencies.sh" python3
echo '#include <bahdanau/bahdanau.hpp>' >"$work/umbrella.cpp"

read -r -a flags <<<"${CXXFLAGS:-}"

# measure name source seconds gigabytes
measure() {
  python3 - "$@" "${CXX:-g++}" -std=c++20 -O2 -I "$root/include" "${flags[@]}" -c "$2" -o "$work/object.o" <<'PYTHON'
import resource, subprocess, sys, time

name, _, most_seconds, most_gigabytes, *command = sys.argv[1:]
times = []
for _ in range(3):
    start = time.monotonic()
    if subprocess.run(command).returncode != 0:
        sys.exit(1)
    times.append(time.monotonic() - start)
seconds = min(times)
gigabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6 * 1.024
fits = seconds <= float(most_seconds) and gigabytes <= float(most_gigabytes)
print(f"{name:<16} {seconds:5.1f} s (limit {most_seconds})   {gigabytes:4.2f} GB (limit {most_gigabytes})"
      f"   {'ok' if fits else 'TOO MUCH'}")
sys.exit(not fits)
PYTHON
}

status=0
measure 'umbrella header' "$work/umbrella.cpp" 4.5 1.5 || status=1
measure 'one model' "$root/benchmarks/compile_time/one_model.cpp" 16 1.5 || status=1
exit "$status"
