#!/usr/bin/env bash
# The commands of docs/use.md for Conan in a copy of the source tree: with Conan from PyPI, with the system's packages in place
# of Conan Center's, and with a cache of its own. They end with test_package.
set -euo pipefail

tree=$BUILD/conan  # the copy; of it only the virtual environment stays from run to run
venv=$tree/build/conan
export PIP_DISABLE_PIP_VERSION_CHECK=1 CONAN_HOME=$PWD/cache
mkdir -p "$tree/build"
find "$tree" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
find "$tree/build" -mindepth 1 -maxdepth 1 ! -name conan -exec rm -rf {} +
if [[ ! -x $venv/bin/conan ]]; then
  { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --retries 1 --timeout 20 conan; } || {
    rm -rf "$venv"
    echo "skipped: Conan cannot be had from PyPI"
    exit 77
  }
fi
commands=$("$SOURCE/tests/package/use_block.sh" 'The Conan package')
"$SOURCE/tests/package/copy_source.sh" "$tree"
conan=$venv/bin/conan
"$conan" --version
cd "$tree"
unset CMAKE_GENERATOR CXX  # the profile's business

bash -euxc "$commands" 2>&1 | tee log.txt

version=$(sed -n 's/^#define BAHDANAU_VERSION_[A-Z]* \([0-9]*\)$/\1/p' include/bahdanau/version.hpp | paste -sd .)
"$conan" list "bahdanau/$version:*" --format=compact 2>/dev/null | grep -F "bahdanau/$version" ||
  { echo "expected the package bahdanau/$version" && exit 1; }
grep -qF "bahdanau $version on Xtensor: all well" log.txt || { echo 'expected test_package to end well' && exit 1; }
for name in xtensor xtensor-blas openblas nlohmann_json utf8proc; do
  grep -qE "^    $name/[0-9.]+#platform" log.txt || { echo "expected a requirement of $name" && exit 1; }
done
if grep -qE '^    thrust/[0-9.]+#platform' log.txt; then echo 'expected no Thrust without its option' && exit 1; fi

if [[ $WITH_THRUST == ON ]]; then
  echo 'With the option for Thrust, test_package runs on that backend:'
  "$conan" create . -pr:a conan/system.profile -s build_type=Debug -o '&:with_thrust=True' --no-remote 2>&1 | tee log.txt
  grep -qF "bahdanau $version on Thrust: all well" log.txt || { echo 'expected it to end well there' && exit 1; }
fi

if [[ $WITH_MPI == ON ]]; then
  echo 'With the option for MPI, test_package trains in two processes:'
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1  # in a container
  "$conan" create . -pr:a conan/system.profile -s build_type=Debug -o '&:with_mpi=True' --no-remote 2>&1 | tee log.txt
  grep -qF "bahdanau $version on Xtensor, trained by several processes: all well" log.txt ||
    { echo 'expected it to end well there' && exit 1; }
  grep -qE '^    openmpi/[0-9.]+#platform' log.txt || { echo 'expected a requirement of openmpi' && exit 1; }
fi

if [[ $WITH_SENTENCEPIECE == ON ]]; then
  echo 'With the option for SentencePiece, test_package makes subwords:'
  "$conan" create . -pr:a conan/system.profile -s build_type=Debug -o '&:with_sentencepiece=True' --no-remote 2>&1 | tee log.txt
  grep -qF "bahdanau $version on Xtensor, with subwords: all well" log.txt || { echo 'expected it to end well there' && exit 1; }
  grep -qE '^    sentencepiece/[0-9.]+#platform' log.txt || { echo 'expected a requirement of sentencepiece' && exit 1; }
fi

echo 'An older standard is refused in one sentence:'
if "$conan" create . -pr:a conan/system.profile -s compiler.cppstd=17 --no-remote -tf= >log.txt 2>&1; then
  echo 'expected an error'
  exit 1
fi
grep -F 'bahdanau needs C++20' log.txt || { cat log.txt && exit 1; }
