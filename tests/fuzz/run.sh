#!/usr/bin/env bash
# run.sh [--minutes N] [--jobs J] [programs...] : builds the fuzz programs and runs them, N minutes in all (default 3),
# J at a time (default 1); prints executions, coverage and findings of each. Exits with 1 where something was found,
# with the file that reproduces it.
#
# A finding is a crash, a sanitizer's report, a leak, an exception other than bahdanau::Error, a broken promise, more
# than 1 GB of memory, 256 MB in one piece, or more than a minute for one input.
# BUILD_DIR says where to build (default build/fuzz); what was learnt stays there, and later runs go on from it.
# CXX chooses the compiler: a clang++ with libFuzzer; without it the newest that is installed, or Debian's.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${BUILD_DIR:-$root/build/fuzz}
minutes=3 jobs=1 programs=()
while (($#)); do
  case $1 in
    --minutes) minutes=$2 && shift 2 ;;
    --jobs) jobs=$2 && shift 2 ;;
    -*) echo "usage: run.sh [--minutes N] [--jobs J] [programs...]" >&2 && exit 2 ;;
    *) programs+=("$1") && shift ;;
  esac
done
if ((${#programs[@]} == 0)); then
  for source in "$here"/fuzz_*.cpp; do programs+=("$(basename "$source" .cpp)"); done
fi
programs=("${programs[@]#fuzz_}")

# Whether a compiler is there and has libFuzzer.
has_fuzzer() {
  local program
  program=$(mktemp)
  command -v "$1" >/dev/null &&
    echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' |
    "$1" -x c++ - -fsanitize=fuzzer,address,undefined -o "$program" 2>/dev/null
  local status=$?
  rm -f "$program"
  return $status
}
find_compiler() {
  local compiler compilers=("${CXX:-clang++}")
  if [[ -z ${CXX-} ]]; then compilers=(clang++-{21..14} clang++); fi
  for compiler in "${compilers[@]}"; do
    if has_fuzzer "$compiler"; then echo "$compiler" && return; fi
  done
}
"$root/cmake/install_dependencies.sh"
compiler=$(find_compiler)
if [[ -z $compiler ]]; then
  # Debian 12 and Ubuntu 24.04 have both; the newer one understands their newest standard libraries, too.
  for version in 19 14; do
    if apt-cache show "libclang-rt-$version-dev" >/dev/null 2>&1; then break; fi
  done
  "$root/cmake/install_dependencies.sh" "clang-$version" "libclang-rt-$version-dev"
  compiler=$(find_compiler)
fi
if [[ -z $compiler ]]; then
  echo "skipped: there is no clang++ with libFuzzer (Debian: clang-19 and libclang-rt-19-dev)"
  exit 77
fi
generator=()
if [[ ! -e $build/CMakeCache.txt ]] && command -v ninja >/dev/null; then generator=(-G Ninja); fi
cmake -S "$here" -B "$build" "${generator[@]}" --log-level=WARNING -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE='-O1 -gline-tables-only' >/dev/null
cmake --build "$build" --parallel "$(nproc)" --target "${programs[@]/#/fuzz_}"

# Files that readers open by their path lie in memory where there is some.
memory=/dev/shm
[[ -w $memory ]] || memory=${TMPDIR:-/tmp}
TMPDIR=$(mktemp -d "$memory/bahdanau-fuzz-XXXXXX")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
export OPENBLAS_NUM_THREADS=1
export ASAN_OPTIONS=quarantine_size_mb=16:${ASAN_OPTIONS:-}
export UBSAN_OPTIONS=print_stacktrace=1:${UBSAN_OPTIONS:-}
symbolizer=$(command -v llvm-symbolizer "llvm-symbolizer-${compiler##*-}" | head -1 || true)
if [[ -n $symbolizer ]]; then export ASAN_SYMBOLIZER_PATH=$symbolizer; fi

# Runs one program: what it begins with (seeds that it writes itself, and what is committed) and what it has learnt.
fuzz() {
  local name=$1 seconds=$2 program=$build/fuzz_$1 learnt=$build/corpus/$1 begin=("$build/seeds/$1")
  rm -rf "$build/seeds/$name"
  mkdir -p "$learnt" "$build/findings" "$build/seeds/$name"
  "$program" --seeds "$build/seeds/$name" >"$build/$name.log" 2>&1
  if [[ -d $here/corpus/$name ]]; then begin+=("$here/corpus/$name"); fi
  TIMEFORMAT='%0R %0U'  # all seconds, and the processor's: others may need it too
  time "$program" -max_total_time="$seconds" -print_final_stats=1 -dict="$here/bahdanau.dict" -max_len=16384 -timeout=60 \
    -rss_limit_mb=1024 -malloc_limit_mb=256 -artifact_prefix="$build/findings/$name-" "$learnt" "${begin[@]}" \
    >>"$build/$name.log" 2>&1
} 2>"$build/$1.time"

format='%-11s %7s %6s %11s %9s %8s %6s %6s %7s  %s\n'
# A line of the table for one program, from its log.
report() {
  local name=$1 log=$build/$1.log first last finding seconds cpu executions
  first=$(sed -n 's/.*INITED *cov: \([0-9]*\).*/\1/p' "$log" | tail -1)
  last=$(sed -n 's/^#.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -1)
  stat() { sed -n "s/^stat::$1: *//p" "$log"; }
  finding=$(sed -n 's/.*Test unit written to //p' "$log" | tail -1)
  read -r seconds cpu < <(tail -1 "$build/$name.time") || true
  executions=$(stat number_of_executed_units)
  # shellcheck disable=SC2059
  printf "$format" "$name" "$seconds" "$cpu" "$executions" "$((executions / (cpu > 0 ? cpu : 1)))" "$first" "$last" \
    "$(stat new_units_added)" "$(stat peak_rss_mb)" "${finding:-none}"
}

seconds=$((minutes * 60 / ${#programs[@]}))
((seconds > 0)) || seconds=1
declare -A name_of
failed=()
finish_one() {
  local pid status=0
  wait -n -p pid || status=$?
  if ((status)); then failed+=("${name_of[$pid]}"); fi
}
running=0
for name in "${programs[@]}"; do
  if ((running == jobs)); then finish_one && running=$((running - 1)); fi
  fuzz "$name" "$seconds" &
  name_of[$!]=$name
  running=$((running + 1))
done
while ((running)); do finish_one && running=$((running - 1)); done

echo "Fuzzed with $compiler: address and undefined-behaviour sanitizers, commit $(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo unknown)"
# shellcheck disable=SC2059
printf "$format" program seconds 'cpu s' executions 'per cpu s' 'cov from' to learnt 'peak MB' finding
for name in "${programs[@]}"; do report "$name"; done
for name in "${failed[@]+"${failed[@]}"}"; do
  log=$build/$name.log
  printf '\nfuzz_%s found something; %s has all of it:\n' "$name" "$log"
  grep -a -E -m 12 'broken promise|ERROR:|runtime error|SUMMARY|terminate|what\(\)|^ +#[0-9]+ .*bahdanau' "$log" || tail -n 20 "$log"
  file=$(sed -n 's/.*Test unit written to //p' "$log" | tail -1)
  if [[ -n $file ]]; then echo "Again: $build/fuzz_$name $file"; fi
done
exit $((${#failed[@]} > 0))
