#!/usr/bin/env bash
# pkg-config and one compiler command; the strictest warnings are errors, in our headers too, which are no system
# headers here.
set -euo pipefail

command -v pkg-config >/dev/null || { echo "skipped: there is no pkg-config" && exit 77; }
cp "$SOURCE/test_package/test_package.cpp" .
export PKG_CONFIG_PATH=$PREFIX/share/pkgconfig
pkg-config --print-errors --exists 'bahdanau >= 0.1'
flags=()
eval "flags=($(pkg-config --cflags --libs bahdanau))"  # pkg-config quotes for the shell
warnings=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
set -x
"$CXX" -std=c++20 -O2 "${warnings[@]}" test_package.cpp "${flags[@]}" -o test_package
./test_package
