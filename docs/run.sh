#!/usr/bin/env bash
# Makes the documentation from the headers and the pages in docs/, with Doxygen; a warning is an error. Installs Doxygen
# where it is missing, unless --no-install is given. BUILD_DIR says where the result goes (default build/docs).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BAHDANAU_DOCS=${BUILD_DIR:-$root/build/docs}
BAHDANAU_VERSION=$(sed -n 's/^#define BAHDANAU_VERSION_[A-Z]* \([0-9]*\)$/\1/p' "$root/include/bahdanau/version.hpp" |
  paste -sd .)
export BAHDANAU_DOCS BAHDANAU_VERSION

if [[ ${1-} != --no-install ]]; then "$root/cmake/install_dependencies.sh" doxygen; fi
if ! command -v doxygen >/dev/null; then
  echo "skipped: there is no doxygen"
  exit 77
fi
mkdir -p "$BAHDANAU_DOCS"
cd "$root"
doxygen docs/Doxyfile
echo "The documentation is in $BAHDANAU_DOCS/html/index.html"
