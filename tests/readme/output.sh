#!/usr/bin/env bash
# output.sh readme program : what the program prints is what the README shows below it: the sentence exactly; of the
# heatmap the words, and where a row of the README is dark (more than half of the attention), the same column as the
# program's darkest. Weights themselves differ a little from build to build.
set -euo pipefail

printed=$("$2" 2>progress.txt) || { cat progress.txt && exit 1; }
printf '%s\n' "$printed"
PYTHONPATH=$(dirname "${BASH_SOURCE[0]}") python3 - "$1" "$printed" <<'PYTHON'
import pathlib
import sys

from heatmap import rows, shown as shown_by

sentence, header, shown = rows(shown_by(pathlib.Path(sys.argv[1]).read_text()))
got_sentence, got_header, got = rows(sys.argv[2])
failed = False
if (sentence, header) != (got_sentence, got_header):
    sys.exit(f"expected {sentence!r} for {header}, got {got_sentence!r} for {got_header}")
dark = 0
for (word, shades), (got_word, got_shades) in zip(shown, got, strict=True):
    if word != got_word:
        sys.exit(f"expected the row {word!r}, got {got_word!r}")
    if max(shades) < 3:
        continue
    dark += 1
    column = shades.index(max(shades))
    if got_shades[column] != max(got_shades):
        print(f"{word}: expected it to look at {header[column]!r} most, got {got_shades}")
        failed = True
if dark < 4:
    sys.exit(f"expected at least four rows of the README's heatmap to be dark, got {dark}")
sys.exit(failed)
PYTHON
