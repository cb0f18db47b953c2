#!/usr/bin/env python3
"""The settings that the pages of recipes show are those of their scripts.

    recipe_settings.py ROOT

A block of bash in recipes/TASK/README.md is part of run.sh beside it, line by line but for the indentation, and each page has
one with the options of the training.
"""

import pathlib
import re
import sys


def lines_of(text):
    return "\n".join(line.strip() for line in text.strip("\n").split("\n"))


def main(root):
    failed = False
    pages = sorted(pathlib.Path(root, "recipes").glob("*/README.md"))
    for page in pages:
        script = "\n" + lines_of((page.parent / "run.sh").read_text()) + "\n"
        blocks = re.findall(r"^```bash\n(.*?)^```$", page.read_text(), re.M | re.S)
        for block in blocks:
            if "\n" + lines_of(block) + "\n" not in script:
                print(f"{page}: expected this block in run.sh:\n{block}")
                failed = True
        if not any("--rate" in block for block in blocks):
            print(f"{page}: expected a block of bash with the training's options")
            failed = True
    if not pages:
        sys.exit("expected pages of recipes")
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
