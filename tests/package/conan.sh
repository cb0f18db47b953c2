#!/usr/bin/env bash
# `conan create . -pr:a conan/system.profile --no-remote` in a copy of the source tree: with Conan from PyPI, with the
# system's packages in place of Conan Center's, and with a cache of its own. It ends with test_package.
set -euo pipefail

venv=$BUILD/conan  # stays from run to run
export PIP_DISABLE_PIP_VERSION_CHECK=1 CONAN_HOME=$PWD/cache
if [[ ! -x $venv/bin/conan ]]; then
  { python3 -m venv "$venv" &&
    "$venv/bin/pip" install --quiet --retries 1 --timeout 20 'conan>=2.3,<3'; } || {
    rm -rf "$venv"
    echo "skipped: Conan cannot be had from PyPI"
    exit 77
  }
fi
conan=$venv/bin/conan
"$conan" --version
"$SOURCE/tests/package/copy_source.sh" source
cd source
unset CMAKE_GENERATOR CXX  # the profile's business

"$conan" create . -pr:a conan/system.profile --no-remote

version=$(sed -n 's/^#define BAHDANAU_VERSION_[A-Z]* \([0-9]*\)$/\1/p' include/bahdanau/version.hpp | paste -sd .)
"$conan" list "bahdanau/$version:*" --format=compact 2>/dev/null | grep -F "bahdanau/$version" ||
  { echo "expected the package bahdanau/$version" && exit 1; }

echo 'An older standard is refused in one sentence:'
if "$conan" create . -pr:a conan/system.profile -s compiler.cppstd=17 --no-remote -tf= >log.txt 2>&1; then
  echo 'expected an error'
  exit 1
fi
grep -F 'bahdanau needs C++20' log.txt || { cat log.txt && exit 1; }
