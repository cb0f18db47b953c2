#!/usr/bin/env python3
"""Includes run one way: a header includes only its own room and the rooms above it in CONTRIBUTING.md's list.

    includes.py ROOT
"""

import pathlib
import re
import sys

ROOMS = ["core", "kernel", "backend", "distributed", "autograd", "nn", "cell", "score", "text", "model", "decode",
         "io", "frozen.hpp", "session.hpp", "ensemble.hpp", "translator.hpp", "encoder_decoder.hpp", "train", "metric", "align", "plot",
         "models", "bahdanau.hpp"]
# Where programs of 0.1 include some from.
KEPT = {"model/encoder_decoder.hpp", "model/search_options.hpp"}


def room_of(path):
    return path.split("/")[0]


def main(root):
    include = pathlib.Path(root) / "include" / "bahdanau"
    rank = {room: i for i, room in enumerate(ROOMS)} | {"version.hpp": -1}
    wrong = []
    for header in sorted(include.rglob("*.hpp")):
        name = header.relative_to(include).as_posix()
        if room_of(name) not in rank:
            wrong.append(f"{name}: its room is not in the list")
            continue
        for target in re.findall(r"#include <bahdanau/([^>]+)>", header.read_text()):
            if rank[room_of(target)] > rank[room_of(name)] and name not in KEPT:
                wrong.append(f"{name} includes {target}, which is below it in the list")
    # CONTRIBUTING.md's list is the same.
    listed = re.findall(r"^  (\w+(?:\.hpp|/)) ", (pathlib.Path(root) / "CONTRIBUTING.md").read_text(), re.M)
    ours = [room if room.endswith(".hpp") else room + "/" for room in ROOMS if room != "bahdanau.hpp"]
    if [room for room in listed if room in ours] != ours:
        wrong.append(f"CONTRIBUTING.md lists {listed}, and this test {ours}")
    # model/ knows nothing of searches, and autograd nothing of decoders.
    for room, words in (("model", r"\b(Greedy|Beam)\b"), ("autograd", r"[Dd]ecoder|[Ee]ncoder|hypothes")):
        for header in sorted((include / room).rglob("*.hpp")):
            for number, line in enumerate(header.read_text().split("\n"), 1):
                if re.search(words, line) and f"{room}/{header.name}" not in KEPT:
                    wrong.append(f"{room}/{header.name}:{number}: {line.strip()}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
