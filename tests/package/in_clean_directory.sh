#!/usr/bin/env bash
# in_clean_directory.sh folder script arguments... : runs the script in the folder, which is emptied before.
set -euo pipefail

folder=$1
shift
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
unset MAKEFLAGS CXXFLAGS CPATH CMAKE_PREFIX_PATH PKG_CONFIG_PATH  # a stranger has none of them
exec bash "$@"
