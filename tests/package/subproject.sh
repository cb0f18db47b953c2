#!/usr/bin/env bash
# subproject.sh add_subdirectory|fetch_content : the library's source tree as a part of the consumer's project. The
# strictest warnings are errors: our headers are no system headers here.
set -euo pipefail

here=$SOURCE/tests/package
cp "$SOURCE/test_package/test_package.cpp" "$here/$1/CMakeLists.txt" "$here/CMakeLists.common.txt" .
library=$SOURCE
if [[ $1 == fetch_content ]]; then
  command -v git >/dev/null || { echo "skipped: there is no git" && exit 77; }
  # The working tree as it is, committed to a repository of its own.
  library=$PWD/repository
  "$here/copy_source.sh" "$library"
  git -C "$library" init --quiet --initial-branch=main
  git -C "$library" add --all
  git -C "$library" -c user.name=test -c user.email=test@localhost commit --quiet --message=copy
fi
"$CMAKE" -S . -B build -DSOURCE="$library" \
  -DCMAKE_CXX_FLAGS='-O0 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
"$CMAKE" --build build --verbose
./build/consumer
