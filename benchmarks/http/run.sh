#!/usr/bin/env bash
# Loads `bahdanau serve` on the loopback address with 1, 8 and 64 clients, each of which sends its next request when it has an
# answer, and prints requests a second, the median and the 99th percentile; then sends an hour's worth of requests at 100 a
# second as fast as they are answered, and prints the server's memory along the way. Fails for a request that failed, and
# where memory grew by more than a tenth from the first quarter on.
#
#   benchmarks/http/run.sh [--tool BAHDANAU] [--seconds N] [--requests N] [--size d2l|medium]
#
# --tool      the command-line tool (default: built in build/benchmarks-http with one cell)
# --seconds   for each number of clients (default 10)
# --requests  of the long part (default 360000; 36000 at medium)
# --size      d2l: embed and hidden 32, two layers; medium: 256 (default both)
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tool='' seconds=10 requests='' sizes='d2l medium'
while (($#)); do
  case $1 in
    --tool) tool=$(realpath "${2:?}") && shift ;;
    --seconds) seconds=${2:?} && shift ;;
    --requests) requests=${2:?} && shift ;;
    --size) sizes=${2:?} && shift ;;
    *) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" && exit $([[ $1 == --help ]] && echo 0 || echo 2) ;;
  esac
  shift
done
"$root/cmake/install_dependencies.sh" wrk libcpp-httplib-dev
if [[ -z $tool ]]; then
  build=${BUILD_DIR:-$root/build/benchmarks-http}
  cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DBAHDANAU_BUILD_TESTS=OFF -DBAHDANAU_BUILD_BENCHMARKS=OFF \
    -DBAHDANAU_CLI_CELLS=gru >/dev/null
  cmake --build "$build" --target bahdanau_cli --parallel "$(nproc)"
  tool=$build/bin/bahdanau
fi

work=$(mktemp -d)
server=
cleanup() {
  [[ -z $server ]] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT
export SENTENCES=$root/examples/data/eng-fra.tsv

memory() { awk '/^VmRSS/{printf "%.1f", $2 / 1024}' "/proc/$server/status"; }
# load CLIENTS SECONDS : -> requests, requests a second, median, 99th percentile, failures
load() {
  wrk --threads 1 --connections "$1" --duration "$2s" --script "$root/benchmarks/http/requests.lua" --latency \
    "http://127.0.0.1:$port/translate" | sed -n 's/^RESULT //p'
}

status=0
for size in $sizes; do
  width=$([[ $size == d2l ]] && echo 32 || echo 256)
  epochs=$([[ $size == d2l ]] && echo 30 || echo 8)
  "$tool" train --data "$SENTENCES" --model "$work/model.safetensors" --embed "$width" --hidden "$width" --layers 2 \
    --epochs "$epochs" --seed 1 --quiet
  "$tool" serve --model "$work/model.safetensors" --port 0 >"$work/log" 2>&1 &
  server=$!
  for ((i = 0; i < 100; ++i)); do
    port=$(sed -n 's|.*http://127.0.0.1:\([0-9]*\).*|\1|p' "$work/log" | head -1)
    [[ -z $port ]] || break
    sleep 0.1
  done
  [[ -n $port ]] || { cat "$work/log" && exit 1; }
  load 8 2 >/dev/null  # what is allocated for the first sentences
  for clients in 1 8 64; do
    read -r _ rate median most failed < <(load "$clients" "$seconds")
    printf '%-7s %3d clients: %7s requests a second, half in %7s ms, 99 %% in %7s ms, %s failed, %s MB\n' "$size" "$clients" \
      "$rate" "$median" "$most" "$failed" "$(memory)"
    ((failed == 0)) || status=1
  done
  wanted=${requests:-$([[ $size == d2l ]] && echo 360000 || echo 36000)}
  sent=0 quarter=
  while ((sent < wanted)); do
    read -r some _ _ _ failed < <(load 64 5)
    sent=$((sent + some))
    ((failed == 0)) || status=1
    now=$(memory)
    [[ -n $quarter ]] || ((sent * 4 < wanted)) || quarter=$now
  done
  printf '%-7s memory %s MB after a quarter of %s requests, %s MB after all of them\n' "$size" "$quarter" "$sent" "$now"
  awk -v a="$quarter" -v b="$now" 'BEGIN{exit !(b <= 1.1 * a)}' || status=1
  kill -TERM "$server"
  wait "$server" || { echo "expected the server to end well after SIGTERM" && status=1; }
  server=
done
exit $status
