#!/usr/bin/env bash
# output.sh readme program : what the program prints is what the README shows below it: the sentence exactly; of the
# heatmap the words, and where a row of the README is dark (more than half of the attention), the same column as the
# program's darkest. Weights themselves differ a little from build to build.
set -euo pipefail

readme=$(awk '/^```text$/ { inside = 1; next } /^```$/ { if (inside) exit } inside' "$1")
printed=$("$2" 2>progress.txt) || { cat progress.txt && exit 1; }
printf '%s\n' "$printed"
python3 - "$readme" "$printed" <<'PYTHON'
import sys

SHADES = " ░▒▓█"


def rows(text):
    """-> sentence, header, [(target word, [shade of each column])]; a column is as wide as all others"""
    lines = text.splitlines()
    found = [line.split("│")[:2] for line in lines if "│" in line]
    columns = len(lines[1].split())
    width = len(found[0][1]) // columns
    return lines[0], lines[1].split(), [(word.strip(), [SHADES.index(cells[c * width]) for c in range(columns)])
                                        for word, cells in found]


sentence, header, shown = rows(sys.argv[1])
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
