#!/usr/bin/env python3
"""Writes the whole library as one header, for those who copy a header into their tree.

    cmake/amalgamate.py >bahdanau-single.hpp

Other headers of the library may be named to be included too (backend/thrust.hpp, say). Every header of ours stands
where it was included first; all other includes stay as they are, in their order.
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent / "include" / "bahdanau"
INCLUDE = re.compile(r"\s*#\s*include\s*([<\"][^>\"]+[>\"])")
CONDITION = re.compile(r"\s*#\s*(if|endif)")


class Amalgamation:
    def __init__(self):
        self.lines = []
        self._ours = set()
        self._others = set()

    def add(self, name):
        """Adds one of our headers, and before it, where it asks for them, those that it includes."""
        if name in self._ours:
            return
        self._ours.add(name)
        self.lines.append(f"// ---- bahdanau/{name}")
        depth = 0  # of #if
        for number, line in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), 1):
            if condition := CONDITION.match(line):
                depth += 1 if condition[1] == "if" else -1
            if line.strip() == "#pragma once":
                continue
            include = INCLUDE.match(line)
            if include and include[1].startswith("<bahdanau/"):
                if depth:
                    sys.exit(f"{ROOT / name}:{number}: expected no include of our own inside of #if")
                self.add(include[1][len("<bahdanau/"):-1])
                continue
            if include and depth == 0:
                if include[1] in self._others:
                    continue
                self._others.add(include[1])
            self.lines.append(line)

    def text(self, version):
        license_text = (ROOT.parent.parent / "LICENSE").read_text(encoding="utf-8").rstrip()
        head = [f"bahdanau {version}, the whole library in one header.",
                "Made by cmake/amalgamate.py: change the headers that it was made from, not this file.", "",
                *license_text.splitlines()]
        lines = [f"// {line}".rstrip() for line in head] + ["#pragma once", "", *self.lines]
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("headers", nargs="*", help="more headers, relative to include/bahdanau")
    arguments = parser.parse_args()
    numbers = re.findall(r"#define BAHDANAU_VERSION_[A-Z]+ (\d+)", (ROOT / "version.hpp").read_text(encoding="utf-8"))
    amalgamation = Amalgamation()
    for header in ["bahdanau.hpp", *arguments.headers]:
        amalgamation.add(header)
    sys.stdout.write(amalgamation.text(".".join(numbers)))


if __name__ == "__main__":
    main()
