#!/usr/bin/env bash
# check.sh source : numbers reach messages, files and the tool's output through core/digits.hpp, never through what asks
# the locale for its decimal point: printf's %f, %e, %g and %a, std::to_string of a floating-point number (detail::text
# takes whole numbers only), streams' precision, and strtod and its like for reading.
set -euo pipefail
cd "$1"
found=$(grep -rnE \
  -e 'to_string ?\(' \
  -e '%[-+ #0-9.*]*l?[fFeEgGaA]([^a-zA-Z]|$)' \
  -e 'setprecision|std::(fixed|scientific|defaultfloat)|\.precision\([^)]' \
  -e '\b(sto[df]|stold|strto[df]|strtold|atof|sscanf|imbue)\b' \
  --include='*.hpp' --include='*.cpp' include examples/cli |
  grep -v 'include/bahdanau/core/error.hpp:.*std::integral' || true)
if [[ -n $found ]]; then
  echo "$found"
  echo "expected numbers by core/digits.hpp (fixed_digits, exact_digits) or detail::text, got what the locale changes"
  exit 1
fi
