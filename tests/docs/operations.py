#!/usr/bin/env python3
"""operations.py source : every public operation stands in docs/operations.md, and examples keep what pages say of their length."""

import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
failed = False


def without_details(text):
    """The code of a header without comments, and without what stands in namespaces of their own."""
    text = re.sub(r"^namespace (?:bahdanau::)?(?:detail|pointwise) \{.*?^\}  // namespace", "", text, flags=re.S | re.M)
    return re.sub(r"//.*", "", text)


page = (source / "docs/operations.md").read_text()
code = " ".join(re.findall(r"`([^`]*)`", re.sub(r"^```.*?^```", "", page, flags=re.S | re.M)))
found = 0
for header in sorted((source / "include/bahdanau/autograd/ops").glob("*.hpp")):
    # A function begins its line with a type; operators stand between their arguments.
    names = re.findall(r"^(?:inline )?[\w:<>]+(?: [*&]?|[*&] )(\w+)\(", without_details(header.read_text()), re.M)
    for name in sorted(set(names)):
        found += 1
        if not re.search(rf"\b{name}\b(?=[(<`]|$|\s)", code):
            print(f"docs/operations.md: expected a line on {name} of {header.name}, got none")
            failed = True
if found < 40:
    print(f"operations.py: expected at least 40 operations, got {found}; are headers written in another way?")
    failed = True

for example in ("07_language_model", "08_tagger"):
    lines = [
        line
        for file in sorted((source / "examples" / example).glob("*pp"))
        for line in file.read_text().splitlines()
        if line.strip() and not line.lstrip().startswith("//")
    ]
    if len(lines) > 80:
        print(f"examples/{example}: expected at most 80 lines of program, got {len(lines)}")
        failed = True

page_of_authors = page.split("## An operation of one's own\n")[1].splitlines()
if len(page_of_authors) > 90:
    print(f"docs/operations.md: expected what an author must know on a page of 90 lines, got {len(page_of_authors)}")
    failed = True
sys.exit(failed)
