#!/usr/bin/env bash
# messages.sh tool folder recipes/*/run.sh... : what a recipe says, in one sentence, when it cannot begin.
set -euo pipefail

tool=$1 out=$2/messages
shift 2
rm -rf "$out"*

# expect code pattern command... : that exit code, and a first line on standard error that has the pattern.
expect() {
  local code=0 expected=$1 pattern=$2 first
  shift 2
  "$@" >"$out.stdout" 2>"$out.stderr" || code=$?
  read -r first <"$out.stderr" || first=
  if ((code != expected)) || [[ $first != *$pattern* ]]; then
    echo "$*: expected exit code $expected and $pattern, got $code and: $(cat "$out.stderr")" >&2
    exit 1
  fi
}
# one_line : that nothing else was said.
one_line() {
  if [[ $(wc -l <"$out.stderr") != 1 || -s $out.stdout ]]; then
    echo "expected one sentence, got: $(cat "$out.stdout" "$out.stderr")" >&2
    exit 1
  fi
}

for recipe in "$@"; do
  bash -n "$recipe"
  bash "$recipe" --help >"$out.stdout"
  if ! grep -q -- --short "$out.stdout" || grep -q '^#\|^task=\|^source' "$out.stdout"; then
    echo "$recipe --help: expected what it does and its options, got: $(cat "$out.stdout")" >&2
    exit 1
  fi
  expect 2 'got --shrot' bash "$recipe" --out "$out" --tool "$tool" --shrot
  if grep -q need_data "$recipe"; then
    expect 2 "no such folder/" bash "$recipe" --out "$out" --tool "$tool" --data "$out/no such folder"
    one_line
    expect 77 "no such folder/" bash "$recipe" --out "$out" --tool "$tool" --data "$out/no such folder" --short
    one_line
  fi
done
expect 2 'no such file.tsv: not there' bash "$(dirname "$1")/../headlines/run.sh" --out "$out" --tool "$tool" \
  --pairs 'no such file.tsv'
one_line
