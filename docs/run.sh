#!/usr/bin/env bash
# Makes the documentation from the headers and the pages in docs/, with Doxygen; a warning is an error. Installs Doxygen
# where it is missing, unless --no-install is given. BUILD_DIR says where the result goes (default build/docs).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=${BUILD_DIR:-$root/build/docs}
version=$(sed -n 's/^#define BAHDANAU_VERSION_[A-Z]* \([0-9]*\)$/\1/p' "$root/include/bahdanau/version.hpp" |
  paste -sd .)

if [[ ${1-} != --no-install ]]; then "$root/cmake/install_dependencies.sh" doxygen; fi
if ! command -v doxygen >/dev/null; then
  echo "skipped: there is no doxygen"
  exit 77
fi
mkdir -p "$out"
cd "$root"
{ cat docs/Doxyfile && printf '%s = "%s"\n' PROJECT_NUMBER "$version" OUTPUT_DIRECTORY "$out"; } | doxygen -
echo "The documentation is in $out/html/index.html"
