#!/usr/bin/env bash
# Installs what is missing, builds tests and runs them.
#
#   tests/run.sh [arguments for ctest]   what a newcomer runs, at most ten minutes on two cores: the CPU suite with some of
#                                        the models, the README's example, the tool with one cell
#   tests/run.sh --all                   what CI runs, at most an hour: everything once with plain flags (packages,
#                                        documentation, Thrust's systems, two examples by nvcc where there is one), the
#                                        core of the suite at lower levels of instructions, then the core and the README's
#                                        example by clang++ 14 and 19, and the core under sanitizers
#   tests/run.sh --nightly               the whole CPU suite and the tool in all of these builds and by g++ with -march=native, all
#                                        examples of one file by nvcc,
#                                        aarch64 under qemu (Debian), 100,000 random cases, and fuzzing
#   tests/run.sh --all|--nightly --only PART[,PART...]   some parts of it, by the names of the last table
#   tests/run.sh --all --minutes N       begins no part after N minutes: for machines where the rest would not be seen whole.
#                                        The last table says what was left out
#
# BUILD_DIR says where to build (default build/tests; other builds go beside it).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${BUILD_DIR:-$root/build/tests}
mode=quick
only=
minutes=
case ${1-} in
  --all | --nightly)
    mode=${1#--}
    shift
    while [[ ${1-} == --only || ${1-} == --minutes ]]; do
      declare "${1#--}=${2:?$1 needs a value}"
      shift 2
    done
    if [[ ! $minutes =~ ^[0-9]*$ ]]; then
      echo "tests/run.sh: --minutes: expected a whole number, got $minutes" >&2
      exit 2
    fi
    [[ -z $minutes ]] || minutes=$((10#$minutes))
    ;;
  --help | -h)
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
    exit
    ;;
esac
ctest_arguments=("$@")
examples=ON
timeout=600
results=()
failed=0
ran=0
left_out=0

wanted() { [[ -z $only || ,$only, == *,$1,* ]]; }

# in_time name : whether a part may still begin; if not, the last table says so.
in_time() {
  [[ -z $minutes ]] || ((SECONDS < 60 * minutes)) && return
  results+=("$(printf '%-10s %s' "$1" "LEFT OUT: $minutes minutes had passed")")
  left_out=$((left_out + 1))
  return 1
}
seconds() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# A large file takes 5 GB to compile, and there are two at a time.
few_files=ON
memory=$(awk '$1 == "MemTotal:" { print int($2 / 1000000) }' /proc/meminfo 2>/dev/null) || memory=
if ((${memory:-0} < 12)); then few_files=OFF; fi

# run_build name options... : builds in a folder of that name, runs the tests there, and notes how it went.
run_build() {
  local name=$1 folder=$build start=$SECONDS built outcome=passed
  wanted "$name" && in_time "$name" || return 0
  ran=1
  shift
  [[ $name == quick ]] || folder=$build-$name
  if [[ $mode != quick ]]; then echo "== $name"; fi
  # -O2 is what users compile with: at -O1 the compiler contracts less, and hides mistakes.
  if "$root/cmake/build.sh" "$root" "$folder" -DCMAKE_BUILD_TYPE=Release -DBAHDANAU_BUILD_BENCHMARKS=OFF \
    -DBAHDANAU_FEW_FILES=$few_files -DCMAKE_CXX_FLAGS_RELEASE='-O2 -g0 -DNDEBUG' "$@"; then
    built=$((SECONDS - start)) start=$SECONDS
    (cd "$folder" && ctest --output-on-failure --timeout "$timeout" --parallel "$(nproc)" "${ctest_arguments[@]}") || outcome=FAILED
  else
    built=$((SECONDS - start)) start=$SECONDS
    outcome='NOT BUILT'
  fi
  [[ $outcome == passed ]] || failed=1
  results+=("$(printf '%-10s %-9s built in %6s, tested in %6s' "$name" "$outcome" "$(seconds $built)" \
    "$(seconds $((SECONDS - start)))")")
}

# What parts of `plain` need, found as they find it: NCCL's header by CMake, a browser by tests/browser.
nccl_there() { ! grep -q '^BAHDANAU_NCCL_INCLUDE_DIR:.*NOTFOUND$' "$build-plain/CMakeCache.txt" 2>/dev/null; }
browser_there() {
  local name
  for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null; then return 0; fi
  done
  return 1
}

# at_level name level : the core of a build that is there once more, at a lower level of instructions.
at_level() {
  local start=$SECONDS outcome=passed
  if [[ ! -d $build-$1/tests ]] || ! wanted "$2" || ! in_time "$2"; then return; fi
  ran=1
  echo "== $1, $2"
  (cd "$build-$1" && BAHDANAU_INSTRUCTIONS=$2 ctest --output-on-failure --timeout "$timeout" --parallel "$(nproc)" \
    --tests-regex '^(backend|autograd|cell|score|model|decode|golden|train|readme[.]output)$') || outcome=FAILED
  [[ $outcome == passed ]] || failed=1
  results+=("$(printf '%-10s %-9s tested in %6s' "$2" "$outcome" "$(seconds $((SECONDS - start)))")")
}

# core name options... : the programs that other compilers, other flags and the sanitizers see; by night all of them.
core() {
  local scope=core cells=none
  [[ $mode == all ]] || scope=suite cells=all
  run_build "$@" -DBAHDANAU_TEST_SCOPE=$scope -DBAHDANAU_BUILD_EXAMPLES=$examples -DBAHDANAU_EXAMPLES=01_translate \
    -DBAHDANAU_CLI_CELLS=$cells
}

packages=(catch2 librapidcheck-dev libsentencepiece-dev libcpp-httplib-dev python3)
if [[ $mode == quick ]]; then
  "$root/cmake/install_dependencies.sh" "${packages[@]}"
  run_build quick -DBAHDANAU_TEST_SCOPE=quick -DBAHDANAU_EXAMPLES=01_translate -DBAHDANAU_CLI_CELLS=gru
else
  packages+=(doxygen python3-venv libtbb-dev libopenmpi-dev openmpi-bin libxsimd-dev)  # the latter for programs that use xtensor with it
  cuda=OFF
  if command -v nvcc >/dev/null; then cuda=ON; else packages+=(libthrust-dev); fi
  "$root/cmake/install_dependencies.sh" "${packages[@]}"
  if wanted plain; then
    for package in chromium doxygen-awesome-css; do "$root/cmake/install_dependencies.sh" $package; done  # not every system has them
  fi
  cuda_examples='.*' cuda_golden=ON package_examples=ON cells=all
  [[ $mode == nightly ]] || cuda_examples='02_own_policy|09_own_operation' cuda_golden=OFF package_examples=OFF cells=papers
  systems='CPP;OMP'
  if [[ -e /usr/include/tbb/version.h || -e /usr/include/oneapi/tbb/version.h ]]; then
    systems+=';TBB'
  elif wanted plain; then
    results+=("$(printf '%-10s %s' TBB "skipped: there is no libtbb-dev")")
  fi
  run_build plain -DBAHDANAU_THRUST_TESTS="$systems" -DBAHDANAU_ENABLE_CUDA=$cuda \
    -DBAHDANAU_CUDA_EXAMPLES="$cuda_examples" -DBAHDANAU_CUDA_GOLDEN=$cuda_golden -DBAHDANAU_PACKAGE_EXAMPLES="$package_examples" \
    -DBAHDANAU_CLI_CELLS=$cells \
    -DCMAKE_CUDA_ARCHITECTURES=80-real -DCMAKE_CUDA_FLAGS_RELEASE='-O1 -DNDEBUG'
  if wanted plain; then
    if [[ $cuda == ON ]] && ! nccl_there; then results+=("$(printf '%-10s %s' NCCL "skipped: there is no nccl.h")"); fi
    if ! browser_there; then results+=("$(printf '%-10s %s' browser "skipped: there is no chromium")"); fi
  fi
  # Those that the processor has.
  if grep -qw avx512f /proc/cpuinfo 2>/dev/null; then at_level plain avx2; fi
  if grep -qw avx2 /proc/cpuinfo 2>/dev/null; then at_level plain baseline; fi
  if [[ $mode == nightly ]]; then core native -DBAHDANAU_NATIVE=ON; fi  # clang++ 19 sees these flags every time
  for version in 14 19; do
    wanted clang-$version || continue
    "$root/cmake/install_dependencies.sh" clang-$version  # by itself: not every system has both
    native=ON
    [[ $version != 14 ]] || native=OFF  # one of the two with all levels of instructions
    if command -v clang++-$version >/dev/null; then
      core clang-$version -DCMAKE_CXX_COMPILER=clang++-$version -DBAHDANAU_NATIVE="$native"
    else
      results+=("$(printf '%-10s %s' "clang-$version" "skipped: there is no clang++-$version")")
    fi
  done
  # Programs are twenty times slower here: fewer random cases, no trainings of minutes ([slow]). By night real data, and
  # addresses at all levels of instructions; else at one, which is quicker to compile.
  export BAHDANAU_PROPERTY_CASES=38  # 30 of them in the core
  examples=OFF
  native=ON
  if [[ $mode == all ]]; then ctest_arguments+=(--exclude-regex '[.]data$'); else timeout=3600 native=OFF; fi
  core address -DBAHDANAU_NATIVE="$native" -DBAHDANAU_SANITIZE=address,undefined -DCMAKE_CXX_FLAGS_RELEASE='-O1 -g1'
  core thread -DBAHDANAU_NATIVE=ON -DBAHDANAU_SANITIZE=thread -DCMAKE_CXX_FLAGS_RELEASE='-O1 -g1'
fi
if [[ $mode == nightly ]] && wanted property && in_time property; then
  ran=1
  # One process per core, each with a seed of its own.
  start=$SECONDS outcome=passed
  export BAHDANAU_PROPERTY_CASES=$((100000 / $(nproc)))
  processes=()
  for ((i = 0; i < $(nproc); ++i)); do
    # which the part `native` builds
    "$build-native/tests/bahdanau_test_$([[ $few_files == ON ]] && echo models || echo property)" '[property]' &
    processes+=($!)
  done
  for process in "${processes[@]}"; do wait "$process" || outcome=FAILED; done
  results+=("$(printf '%-10s %-9s 100,000 random cases in %s' property "$outcome" "$(seconds $((SECONDS - start)))")")
  [[ $outcome == passed ]] || failed=1
fi
if [[ $mode == nightly ]] && wanted arm && in_time arm; then
  ran=1
  start=$SECONDS outcome=passed
  "$root/tests/arm/run.sh" "$build-arm" || outcome=$([[ $? == 77 ]] && echo skipped || echo FAILED)
  results+=("$(printf '%-10s %-9s %s' arm "$outcome" "$(seconds $((SECONDS - start)))")")
  [[ $outcome != FAILED ]] || failed=1
fi
if [[ $mode == nightly ]] && wanted fuzz && in_time fuzz; then
  ran=1
  start=$SECONDS outcome=passed
  "$root/tests/fuzz/run.sh" --minutes 10 || outcome=$([[ $? == 77 ]] && echo skipped || echo FAILED)
  results+=("$(printf '%-10s %-9s %s' fuzz "$outcome" "$(seconds $((SECONDS - start)))")")
  [[ $outcome != FAILED ]] || failed=1
fi

if ((${#results[@]} == 0)); then
  echo "tests/run.sh: no part is called $only" >&2
  exit 2
fi
echo
printf '%s\n' "${results[@]}"
if ((left_out)); then echo "tests/run.sh: --minutes $minutes: $left_out of these were left out"; fi
if [[ -n $minutes ]] && ((!ran)); then
  echo "tests/run.sh: --minutes $minutes: nothing was run" >&2
  exit 1
fi
exit $failed
