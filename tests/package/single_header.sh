#!/usr/bin/env bash
# The library as one header, copied into a directory where nothing else is: it compiles without a warning, in two files
# of one program, and works.
set -euo pipefail

command -v python3 >/dev/null || { echo "skipped: there is no python3" && exit 77; }
python3 "$SOURCE/cmake/amalgamate.py" >bahdanau-single.hpp
if grep -nE '# *include *<bahdanau/' bahdanau-single.hpp; then
  echo "expected all of our headers in the one"
  exit 1
fi
sed 's|<bahdanau/bahdanau.hpp>|"bahdanau-single.hpp"|' "$SOURCE/test_package/test_package.cpp" >main.cpp
cat >other.cpp <<'CPP'
#include "bahdanau-single.hpp"
#include "bahdanau-single.hpp"

std::size_t size_in_the_other_file() { return bahdanau::Vocabulary::numbered(7).size(); }
CPP
libraries=(-lopenblas -lutf8proc -pthread)
if command -v pkg-config >/dev/null; then
  read -ra libraries <<<"$(pkg-config --cflags --libs xtensor openblas libutf8proc) -pthread"
fi
set -x
"$CXX" -std=c++20 -O0 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror main.cpp other.cpp "${libraries[@]}" -o main
./main
