#!/usr/bin/env python3
"""The page of the README's sentence, made by the tool from the model that its program has saved, shows the attention
that the README shows as text.

    page.py README TOOL MODEL PAGE
"""

import pathlib
import subprocess
import sys

import heatmap


def main(readme, tool, model, page):
    subprocess.run([tool, "explain", "--model", model, "--data", "-", "--out", page], check=True, text=True,
                   input="she found a blue coat .\n")
    readme, html = pathlib.Path(readme).read_text(), pathlib.Path(page).read_text()
    wrong = list(heatmap.differences(readme, html))
    count = len(heatmap.strongest(heatmap.shown(readme)))
    print(count, "words that look at another")
    if count < 4:
        wrong.append("expected to compare more of them than that")
    # The test itself: a word that looks elsewhere is noticed.
    moved = heatmap.shown(readme).replace("bleu │                  ██████      ", "bleu │                        ██████")
    if moved == heatmap.shown(readme) or not list(heatmap.differences(f"```text\n{moved}```\n", html)):
        wrong.append("expected it to be noticed that bleu looks elsewhere")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
