#!/usr/bin/env bash
# copy_source.sh folder : a copy of the source tree without what was built in it.
set -euo pipefail

excluded=(./.git ./build ./test_package/build __pycache__)
if [[ $BUILD == "$SOURCE"/* ]]; then excluded+=(".${BUILD#"$SOURCE"}"); fi
mkdir -p "$1"
tar -C "$SOURCE" "${excluded[@]/#/--exclude=}" -cf - . | tar -C "$1" -xf -
