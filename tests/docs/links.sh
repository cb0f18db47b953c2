#!/usr/bin/env bash
# links.sh source : the files that our pages link to, or name in backticks, are there, and so are the headings; pages are
# plain Markdown, without Doxygen's commands and labels, which other readers would show as text.
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

# expect_anchor page file anchor : the file, Markdown, has a heading with GitHub's anchor.
expect_anchor() {
  checked=$((checked + 1))
  awk -v anchors=1 -f docs/pages.awk "$2" | grep -xF -- "$3" >/dev/null && return
  echo "$1: expected a heading of $2 with the anchor #$3"
  failed=1
}

# The rule itself, as GitHub has it.
anchors=$(printf '%s\n' "# C++, \`a_b\`: what's [it](x.md)?" '```sh' '# no heading' '```' '## Twice' '### Twice' |
  awk -v anchors=1 -f docs/pages.awk - | paste -sd ' ')
if [[ $anchors != "c-a_b-whats-it twice twice-1" ]]; then
  echo "docs/pages.awk: expected the anchors of headings, got $anchors"
  failed=1
fi

for page in *.md */*.md */*/*.md; do
  [[ $page == build/* ]] && continue
  prose=$(sed '/^```/,/^```/d' "$page")  # in C++, too, a bracket may follow a bracket
  while IFS= read -r link; do expect "$page" "${link%%#*}" "$(dirname "$page")"; done \
    < <(grep -oP '\]\(\K(?!https?:|#)[^)]+' <<<"$prose" || true)
  while IFS='#' read -r file anchor; do
    expect_anchor "$page" "${file:+$(dirname "$page")/}${file:-$page}" "$anchor"
  done < <(grep -oP '\]\(\K(?!https?:)[^)#]*#[^)]+' <<<"$prose" || true)
  if grep -nP '[@\\](ref|page|anchor|section|subsection|image)\b|\s\{#' <<<"$prose"; then
    echo "$page: expected links and headings of plain Markdown, got what Doxygen alone understands"
    failed=1
  fi
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
