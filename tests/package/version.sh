#!/usr/bin/env bash
# One version number: that of version.hpp is the one of the CMake package, pkg-config, the recipe, the changelog and
# the pages.
set -euo pipefail

version=$(sed -n 's/^#define BAHDANAU_VERSION_[A-Z]* \([0-9]*\)$/\1/p' "$SOURCE/include/bahdanau/version.hpp" |
  paste -sd .)
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || { echo "expected three numbers in version.hpp, got $version" && exit 1; }

# same what version : fails unless it is ours.
same() {
  [[ $2 == "$version" ]] || { echo "$1: expected version $version, got $2" && exit 1; }
  echo "$1: $2"
}

same 'the newest entry of CHANGELOG.md' "$(sed -n 's/^## \([0-9][0-9.]*\).*/\1/p' "$SOURCE/CHANGELOG.md" | head -n 1)"
while IFS=: read -r file line text; do
  same "$file, line $line" "${text#bahdanau/}"
done < <(cd "$SOURCE" && grep -noE 'bahdanau/[0-9]+\.[0-9]+\.[0-9]+' README.md docs/*.md)
if command -v pkg-config >/dev/null; then
  same pkg-config "$(PKG_CONFIG_PATH=$PREFIX/share/pkgconfig pkg-config --modversion bahdanau)"
fi

# asked version : what find_package says when a project asks for it.
asked() {
  cat >CMakeLists.txt <<CMAKE
cmake_minimum_required(VERSION 3.22)
project(asked LANGUAGES CXX)
find_package(bahdanau $1 CONFIG QUIET)
message(STATUS "found: \${bahdanau_FOUND} \${bahdanau_VERSION}")
CMAKE
  "$CMAKE" -S . -B build -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_CXX_COMPILER_WORKS=ON | sed -n 's/^-- found: //p'
}
IFS=. read -r major minor _ <<<"$version"
same 'find_package, this version' "$(asked "$version EXACT" | sed -n 's/^1 //p')"
same 'find_package, any patch' "$(asked "$major.$minor" | sed -n 's/^1 //p')"
[[ $(asked "$major.$((minor + 1))") == 0* ]] || { echo 'expected the next minor version not to be found' && exit 1; }

if grep -nE 'version *= *"[0-9]' "$SOURCE/conanfile.py"; then
  echo 'conanfile.py: expected no version of its own'
  exit 1
fi
