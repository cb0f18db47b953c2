#!/usr/bin/env bash
# Makes the documentation as a site, from the headers and the pages in docs/, with Doxygen; a warning is an error.
# Installs Doxygen and the look (doxygen-awesome-css) where they are missing, unless --no-install is given; without the
# look the site is plain. BUILD_DIR says where the result goes (default build/docs).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=${BUILD_DIR:-$root/build/docs}
look=/usr/share/doxygen-awesome-css
version=$(sed -n 's/^#define BAHDANAU_VERSION_[A-Z]* \([0-9]*\)$/\1/p' "$root/include/bahdanau/version.hpp" |
  paste -sd .)

if [[ ${1-} != --no-install ]]; then
  "$root/cmake/install_dependencies.sh" doxygen
  "$root/cmake/install_dependencies.sh" doxygen-awesome-css  # by itself: not every system has it
fi
if ! command -v doxygen >/dev/null; then
  echo "skipped: there is no doxygen"
  exit 77
fi
rm -rf "$out/html"
mkdir -p "$out"
cd "$root"

settings=("PROJECT_NUMBER = \"$version\"" "OUTPUT_DIRECTORY = \"$out\"")
if [[ -e $look/doxygen-awesome.css ]]; then
  # This Doxygen's own header, with the scripts of the look at the end of its head.
  (cd "$out" && doxygen -w html header.html footer.html style.css >/dev/null 2>&1)
  sed -i -e "/<\/head>/{
r $root/docs/head.html
N
}" "$out/header.html"
  settings+=("HTML_HEADER = \"$out/header.html\""
    "HTML_EXTRA_STYLESHEET = $look/doxygen-awesome.css $look/doxygen-awesome-sidebar-only.css \
$look/doxygen-awesome-sidebar-only-darkmode-toggle.css docs/site.css"
    "HTML_EXTRA_FILES += $look/doxygen-awesome-darkmode-toggle.js $look/doxygen-awesome-fragment-copy-button.js \
$look/doxygen-awesome-paragraph-link.js $look/doxygen-awesome-interactive-toc.js")
  # The look has its own dark mode; Doxygen before 1.9.5 has none to turn off.
  if doxygen -g - 2>/dev/null | grep -q '^HTML_COLORSTYLE '; then settings+=("HTML_COLORSTYLE = LIGHT"); fi
else
  echo "There is no doxygen-awesome-css: the site has Doxygen's own look"
fi
{ cat docs/Doxyfile && printf '%s\n' "${settings[@]}"; } | doxygen -
echo "The documentation is in $out/html/index.html"
