# Prepares a page for Doxygen, docs/<page>.md, and leaves blocks of code as they are:
# - the title is labelled <page>, with a table of contents below it, and each other heading <page>-<anchor>, with
#   GitHub's anchor: lower case, letters, digits, _ and - alone, - for a space, -1 behind the second of two alike;
# - a link to a page or a heading is one to that label;
# - what is linked to outside of docs/, which is not part of the site, becomes text.
# awk -v anchors=1 -f docs/pages.awk FILE prints the anchors of a page instead, one per line.

function anchor_of(heading,   anchor) {
  anchor = tolower(heading)
  sub(/^#+ +/, "", anchor)
  gsub(/\]\([^)]*\)/, "", anchor)  # of a link, its text
  gsub(/[^a-z0-9 _-]/, "", anchor)
  gsub(/ /, "-", anchor)
  return seen[anchor]++ ? anchor "-" (seen[anchor] - 1) : anchor
}

# Links as they are in Markdown -> links to labels.
function with_labels(line,   done, link, at) {
  while (match(line, /\]\(([a-z0-9_]+\.md)?(#[a-z0-9_-]+)?\)/)) {
    link = substr(line, RSTART + 2, RLENGTH - 3)
    done = done substr(line, 1, RSTART + 1)
    line = substr(line, RSTART + RLENGTH - 1)
    at = index(link, "#")
    if (at == 1) link = page link
    sub(/\.md/, "", link)
    sub(/#/, "-", link)
    done = done (link == "" ? "" : "@ref " link)
  }
  return done line
}

BEGIN {
  page = ARGV[ARGC - 1]
  sub(/.*\//, "", page)
  sub(/\.md$/, "", page)
}
/^```/ { code = !code }
!code && /^#+ / {
  anchor = anchor_of($0)
  if (anchors) print anchor
  else if (/^# /) print $0 " {#" page "}\n\n[TOC]"
  else print $0 " {#" page "-" anchor "}"
  next
}
anchors { next }
code { print; next }
{
  while (match($0, /\[[^]]*\]\(\.\.\/[^)]*\)/)) {
    link = substr($0, RSTART + 1, RLENGTH - 1)
    sub(/\].*/, "", link)
    $0 = substr($0, 1, RSTART - 1) link substr($0, RSTART + RLENGTH)
  }
  print with_labels($0)
}
