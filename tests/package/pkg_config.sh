#!/usr/bin/env bash
# pkg-config and one compiler command; the strictest warnings are errors, in our headers too, which are no system
# headers here. An older standard is refused in one sentence: g++ 12 compiles C++17 unless it is told otherwise.
set -euo pipefail

command -v pkg-config >/dev/null || { echo "skipped: there is no pkg-config" && exit 77; }
cp "$SOURCE/test_package/test_package.cpp" .
export PKG_CONFIG_PATH=$PREFIX/share/pkgconfig
pkg-config --print-errors --exists 'bahdanau >= 0.2'
flags=()
eval "flags=($(pkg-config --cflags --libs bahdanau))"  # pkg-config quotes for the shell
warnings=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)

if errors=$("$CXX" -std=c++17 -fsyntax-only test_package.cpp "${flags[@]}" 2>&1); then
  echo 'expected an error for C++17'
  exit 1
fi
if ! grep -m 1 'error' <<<"$errors" | grep -F 'bahdanau needs C++20: compile with -std=c++20 or later'; then
  head -n 20 <<<"$errors"
  echo 'expected the first error for C++17 to say that C++20 is needed'
  exit 1
fi

set -x
"$CXX" -std=c++20 -O2 "${warnings[@]}" test_package.cpp "${flags[@]}" -o test_package
./test_package
