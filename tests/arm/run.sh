#!/usr/bin/env bash
# run.sh build : compiles the programs that compute for aarch64 and runs them under qemu. On Debian with amd64, whose
# packages for arm64 can be installed beside its own; exits with 77 elsewhere.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${1:?where to build}
triplet=aarch64-linux-gnu
programs=(kernel backend golden decode)

# shellcheck source=/dev/null
if [[ $(. /etc/os-release 2>/dev/null && echo "${ID-}") != debian || $(dpkg --print-architecture) != amd64 ]]; then
  echo 'Not Debian on amd64: nothing is compiled for aarch64.'
  exit 77
fi
if [[ $(dpkg --print-foreign-architectures) != *arm64* ]]; then
  as_root=()
  ((EUID == 0)) || as_root=(sudo)
  "${as_root[@]}" dpkg --add-architecture arm64
fi
"$root/cmake/install_dependencies.sh" catch2 g++-$triplet qemu-user libopenblas-dev:arm64 libutf8proc-dev:arm64 \
  librapidcheck-dev:arm64

export PKG_CONFIG_LIBDIR=/usr/lib/$triplet/pkgconfig:/usr/share/pkgconfig
cmake -S "$root" -B "$build" --log-level=WARNING -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
  -DCMAKE_CXX_COMPILER=$triplet-g++ -DCMAKE_EXE_LINKER_FLAGS='-static-libstdc++ -static-libgcc' \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE='-O2 -g0 -DNDEBUG' -DBAHDANAU_TEST_SCOPE=quick \
  -DBAHDANAU_FEW_FILES=OFF -DBAHDANAU_BUILD_EXAMPLES=OFF -DBAHDANAU_BUILD_BENCHMARKS=OFF
cmake --build "$build" --parallel "$(nproc)" --target "${programs[@]/#/bahdanau_test_}"
for program in "${programs[@]}"; do
  # A program that starts itself again needs an emulator that the system knows of, and QEMU 7.2 itself fails where the child
  # of a fork starts threads.
  qemu-aarch64 "$build/tests/bahdanau_test_$program" '~[data]~[.]~[process]~[fork]'
done
