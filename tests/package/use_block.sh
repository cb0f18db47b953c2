#!/usr/bin/env bash
# use_block.sh heading [language] : prints the first block of that language (sh, unless it is given) below that heading
# of docs/use.md; fails if there is none, and for more than five shell commands.
set -euo pipefail

language=${2-sh}
block=$(awk -v heading="## $1" -v opening="\`\`\`$language" '
  $0 == heading { below = 1 } inside && /^```$/ { exit } inside { print } below && $0 == opening { inside = 1 }
  below && /^## / && $0 != heading { exit }' "$SOURCE/docs/use.md")
count=$(grep -c . <<<"$block" || true)
if ((count == 0)) || [[ $language == sh && $count -gt 5 ]]; then
  echo "docs/use.md, $1: expected one to five commands, or lines of $language, got $count" >&2
  exit 1
fi
printf '%s\n' "$block"
