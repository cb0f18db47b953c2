#!/usr/bin/env bash
# copy_source.sh folder : a copy of the source tree without what was built in it.
set -euo pipefail

mkdir -p "$1"
tar -C "$SOURCE" --exclude=./.git --exclude=./build --exclude=./test_package/build --exclude=__pycache__ -cf - . |
  tar -C "$1" -xf -
