#!/usr/bin/env bash
# links.sh source : the files that our pages link to, or name in backticks, are there.
set -euo pipefail

cd "$1"
failed=0
checked=0

# expect page name base... : `name` is a file or a folder below one of the bases.
expect() {
  local base
  checked=$((checked + 1))
  for base in "${@:3}"; do [[ -e $base/$2 ]] && return; done
  echo "$1: expected a file or a folder $2"
  failed=1
}

for page in *.md */*.md */*/*.md; do
  [[ $page == build/* ]] && continue
  prose=$(sed '/^```/,/^```/d' "$page")  # in C++, too, a bracket may follow a bracket
  while IFS= read -r link; do expect "$page" "${link%%#*}" "$(dirname "$page")"; done \
    < <(grep -oP '\]\(\K(?!https?:|#)[^)]+' <<<"$prose" || true)
  # A path that starts with a folder of ours, at the top or among the headers; options may follow it.
  while IFS= read -r path; do expect "$page" "$path" . include/bahdanau; done \
    < <(grep -oP '`\K(benchmarks|cmake|conan|docs|examples|include|test_package|tests|align|autograd|backend|cell|core|decode|io|kernel|metric|model|nn|plot|score|text|train)/[\w./-]*' <<<"$prose" || true)
done
echo "$checked names"
if ((checked < 20)); then
  echo "expected to find more names than that"
  failed=1
fi
exit $failed
