#!/usr/bin/env bash
# Installs into a prefix with spaces, moves it, and looks at what is there: headers and text, nothing of this machine.
set -euo pipefail

rm -rf "$PREFIX" "$PREFIX before it moved"
"$CMAKE" --install "$BUILD" --prefix "$PREFIX before it moved" >log.txt || { cat log.txt && exit 1; }
mv "$PREFIX before it moved" "$PREFIX"

missing=$(diff <(cd "$SOURCE/include" && find . -name '*.hpp' | sort) \
               <(cd "$PREFIX/include" && find . -type f | sort)) || {
  echo "expected the headers of the source tree, got differences:"
  echo "$missing"
  exit 1
}
for file in share/cmake/bahdanau/{bahdanauConfig,bahdanauConfigVersion,bahdanauTargets,dependencies}.cmake \
            share/pkgconfig/bahdanau.pc share/doc/bahdanau/LICENSE; do
  [[ -f $PREFIX/$file ]] || { echo "expected the file $file" && exit 1; }
done
if grep -rlF -e "$SOURCE" -e "$BUILD" "$PREFIX"; then
  echo "expected no path of this build in what is installed"
  exit 1
fi
