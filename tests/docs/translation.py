#!/usr/bin/env python3
"""README.zh-CN.md says what README.md says: the same blocks of code and commands, and in each section the same figures,
links, pictures, names in backticks and rows of tables. Both have at most 150 lines.

    translation.py ROOT
"""

import collections
import pathlib
import re
import sys

ORIGINAL, TRANSLATION = "README.md", "README.zh-CN.md"
# The book has a Chinese edition of its own.
SAME = {"https://zh.d2l.ai/chapter_attention-mechanisms/bahdanau-attention.html":
        "https://d2l.ai/chapter_attention-mechanisms-and-transformers/bahdanau-attention.html"}


def blocks(text):
    """-> [(language, lines)]; in commands, what follows a # may be translated"""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)
    return [(language, [re.sub(r" *#.*", "", line) if language == "sh" else line for line in code.split("\n")])
            for language, code in found]


def sections(text):
    """-> [{what: how often each occurs}], one for each heading and what stands below it"""
    text = re.sub(r"^```\w*\n.*?^```$", "", text, flags=re.M | re.S)
    result = []
    for part in re.split(r"^#+ .*$", text, flags=re.M):
        links = [SAME.get(link, link) for link in re.findall(r"\]\(([^)]+)\)", part) if link not in (ORIGINAL, TRANSLATION)]
        pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", part)
        names = re.findall(r"`([^`]+)`", part)
        prose = re.sub(r"\]\([^)]+\)|`[^`]+`", " ", part)
        result.append({
            "links": links,
            "pictures": pictures,
            "names": names,
            "figures": re.findall(r"(?<![A-Za-z\d])\d+(?:[.,]\d+)*(?![A-Za-z])", prose),
            "rows of tables": ["|"] * len(re.findall(r"^\|", part, re.M)),
        })
    return result


def difference(ours, theirs):
    missing = collections.Counter(ours) - collections.Counter(theirs)
    surplus = collections.Counter(theirs) - collections.Counter(ours)
    return f"without {sorted(missing.elements())}, with {sorted(surplus.elements())}" if missing or surplus else ""


def compare(original, translation):
    """-> sentences about what differs"""
    ours, theirs = blocks(original), blocks(translation)
    if len(ours) != len(theirs):
        yield f"expected {len(ours)} blocks of code, got {len(theirs)}"
    for number, (expected, got) in enumerate(zip(ours, theirs), 1):
        if expected != got:
            yield f"block {number}, {expected[0]}: expected that of {ORIGINAL}, got {got}"
    ours, theirs = sections(original), sections(translation)
    if len(ours) != len(theirs):
        yield f"expected {len(ours) - 1} headings, got {len(theirs) - 1}"
    for number, (expected, got) in enumerate(zip(ours, theirs)):
        for what in expected:
            if found := difference(expected[what], got[what]):
                yield f"section {number}: {what} {found}"


def main(root):
    original, translation = ((pathlib.Path(root) / name).read_text() for name in (ORIGINAL, TRANSLATION))
    wrong = list(compare(original, translation))
    for name, text, other in ((ORIGINAL, original, TRANSLATION), (TRANSLATION, translation, ORIGINAL)):
        if text.count("\n") > 150:
            wrong.append(f"{name}: expected at most 150 lines, got {text.count(chr(10))}")
        if f"]({other})" not in text:
            wrong.append(f"{name}: expected a link to {other}")
    found = sections(original)
    counts = {what: sum(len(section[what]) for section in found) for what in found[0]}
    print(len(blocks(original)), "blocks,", ", ".join(f"{count} {what}" for what, count in counts.items()))
    if len(blocks(original)) < 3 or counts["links"] < 20 or counts["figures"] < 20 or counts["pictures"] < 1:
        wrong.append("expected to compare more than that")
    # The test itself: a figure, a link, a command and a line of the program that differ are found.
    for before, after in (("8.5", "8.6"), ("docs/tool.md", "docs/use.md"), ("tests/run.sh ", "tests/go.sh "),
                          (".epochs = 50", ".epochs = 51"), ("`docs/run.sh`", "`docs/go.sh`")):
        if before not in translation or not list(compare(original, translation.replace(before, after, 1))):
            wrong.append(f"expected {before} in {TRANSLATION}, and {after} in its place to be noticed")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
