#!/usr/bin/env bash
# Times the library beside its peers and prints one table. Installs PyTorch, builds, checks that all sides compute the
# same, then times them in turns.
#
#   benchmarks/run.sh [--quick] [--rounds N] [--json FILE] [--markdown FILE] [--only REGEX] [--native]
#                     [--beside FOLDER] [--scaling] [--micro] [--serving] [--thrust] [--processes] [--corpus]
#
# --quick     fewer repetitions, no scaling checks; nine minutes with --beside, once the peers and the builds are there
# --rounds    how often everybody takes a turn (default: as time allows, at least six times)
# --only      rows whose "what size model" matches, e.g. --only 'train large|floor'
# --native    compiles our programs with -march=native; without, as a package would be
# --beside    a build folder of this script, of another version or with other flags: it takes turns too
# --scaling   only the scaling checks
# --micro     only the micro-benchmarks
# --serving   only requests of many clients, loading and memory of a frozen model
# --thrust    only training on Thrust: on OMP and TBB; with a GPU and nvcc on CUDA too, beside PyTorch on the GPU
# --processes one training in 1, 2 and 4 processes over MPI, without peers, and what a model of the cost says of networks;
#             what follows goes to benchmarks/processes/run.py: --rounds, --seconds, --sizes, --latency, --bandwidth
# --corpus    a corpus that stays in its file, in 1, 2 and 4 processes over MPI, without peers: time to open it and to the
#             first batch, memory of a process; what follows is the number of pairs (default 10000000), made by repetition
#             of the first 57,000 of fra.txt in a temporary folder
#
# BAHDANAU_PEERS     a virtual environment with torch, numpy and safetensors (default build/peers, made where missing)
# BAHDANAU_DATA_DIR  holds fra-eng/fra.txt (default: ../shared/data, where it exists)
# BUILD_DIR          where to build (default build/benchmarks)
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
peers=${BAHDANAU_PEERS:-$root/build/peers}
build=${BUILD_DIR:-$root/build/benchmarks}
native=OFF
packages=()
cuda=OFF
libtorch=true
arguments=()
if [[ ${1-} == --processes ]]; then
  shift
  "$root/cmake/install_dependencies.sh" python3 libopenmpi-dev openmpi-bin
  cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DBAHDANAU_BUILD_TESTS=OFF -DBAHDANAU_BUILD_EXAMPLES=OFF >/dev/null
  cmake --build "$build" --target benchmark_processes
  exec python3 "$root/benchmarks/processes/run.py" --program "$build/bin/benchmark_processes" \
    --launch "$root/tests/mpi/launch.sh" "$@"
fi
if [[ ${1-} == --corpus ]]; then
  "$root/cmake/install_dependencies.sh" libopenmpi-dev openmpi-bin
  cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DBAHDANAU_BUILD_TESTS=OFF -DBAHDANAU_BUILD_EXAMPLES=OFF >/dev/null
  cmake --build "$build" --target benchmark_data
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  head -n 57000 "${BAHDANAU_DATA_DIR:-$root/../shared/data}/fra-eng/fra.txt" >"$folder/some.tsv"
  for processes in 1 2 4; do
    bash "$root/tests/mpi/launch.sh" mpirun "$processes" "$build/bin/benchmark_data" "$folder/some.tsv" "${2:-10000000}" "$folder"
  done
  exit
fi
while (($#)); do
  case $1 in
    --native)
      native=ON
      build=${BUILD_DIR:-$root/build/benchmarks-native}
      ;;
    --json | --markdown | --only | --rounds | --beside)
      arguments+=("$1" "${2:?$1 needs a value}")
      shift
      ;;
    --thrust)
      arguments+=("$1")
      libtorch=false  # no contestant here
      packages=(libtbb-dev)
      if command -v nvcc >/dev/null; then
        if nvidia-smi >/dev/null 2>&1; then cuda=ON; fi
      else
        packages+=(libthrust-dev)
      fi
      ;;
    --quick | --scaling | --micro | --serving) arguments+=("$1") ;;
    *)
      sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
      exit 2
      ;;
  esac
  shift
done

if [[ -z ${BAHDANAU_DATA_DIR-} && -d $root/../shared/data ]]; then
  BAHDANAU_DATA_DIR=$(cd "$root/../shared/data" && pwd)
  export BAHDANAU_DATA_DIR
fi

"$root/cmake/install_dependencies.sh" python3 python3-venv "${packages[@]}"
if ! "$peers/bin/python" -c 'import numpy, safetensors, torch' 2>/dev/null; then
  echo "Installing the peers into $peers"
  python3 -m venv "$peers"
  "$peers/bin/pip" install --quiet --disable-pip-version-check torch numpy safetensors
fi
torch=
if $libtorch; then
  torch=$("$peers/bin/python" -c 'import importlib.util as i; print(i.find_spec("torch").submodule_search_locations[0])')
fi
"$root/cmake/build.sh" "$root" "$build" -DCMAKE_BUILD_TYPE=Release -DBAHDANAU_BUILD_TESTS=OFF \
  -DBAHDANAU_BUILD_EXAMPLES=OFF -DBAHDANAU_NATIVE=$native -DBAHDANAU_TORCH_DIR="$torch" -DBAHDANAU_ENABLE_CUDA=$cuda
exec "$peers/bin/python" "$root/benchmarks/run.py" --build "$build" "${arguments[@]}"
