#!/usr/bin/env bash
# Installs what is missing, builds the examples and the command-line tool, and runs the main example: d2l's
# experiment on the first 600 pairs of the example data, or with --data PATH of a file of one's own. Then the tool makes
# a page for a browser of some of them.
# BUILD_DIR says where to build (default build/examples).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${BUILD_DIR:-$root/build/examples}
main=04_d2l_table
data=$root/examples/data/eng-fra.tsv
pairs=600
note=

case ${1-} in
  --data)
    data=$(realpath -- "${2:?--data needs a path}")
    note=" Of $data it takes the first $pairs pairs, as d2l does."
    ;;
  '') ;;
  *)
    echo "usage: examples/run.sh [--data PATH]" >&2
    exit 2
    ;;
esac

"$root/cmake/install_dependencies.sh" libsentencepiece-dev libcpp-httplib-dev  # for the tool
"$root/cmake/build.sh" "$root" "$build" \
  -DCMAKE_BUILD_TYPE=Release -DBAHDANAU_BUILD_TESTS=OFF -DBAHDANAU_BUILD_BENCHMARKS=OFF
echo "The examples and the tool are in $build/bin; this is example_$main (examples/$main/main.cpp).$note"
echo
"$build/bin/example_$main" "$data" "$pairs" "$build/d2l"

head -n "$pairs" "$data" | awk 'NR % 40 == 1' >"$build/d2l/sentences.tsv"
echo "Some of them on a page for a browser, where each word shows what it attends to:"
"$build/bin/bahdanau" explain --model "$build/d2l/model.safetensors" --data "$build/d2l/sentences.tsv" \
  --title "d2l's experiment" --out "$build/d2l/page.html"
