"""Splits cmn.txt into training, dev and test, by a fixed seed.

    split.py cmn.txt folder [--pairs N] [--held-out N]

Writes train.tsv, dev.tsv and test.tsv, lines of English TAB Chinese. Pairs that share a sentence on either side stay together,
so that no sentence of dev or test, in either direction, is in training. Of such a group dev and test take one pair, so that
no sentence is judged twice; the other pairs of it are left out. With --pairs only so many pairs are used, the shortest ones.
"""

import argparse
import os
import random


def key(text):
    """The sentence without case, spaces and marks: "Hi!" and "Hi." are one to a model."""
    return "".join(c for c in text.lower() if c.isalnum()) or text


def groups_of(pairs):
    """Lists of pairs; two pairs that share a sentence are in the same one."""
    parent = list(range(len(pairs)))

    def root(i):
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    first_with = {}
    for i, pair in enumerate(pairs):
        for side, text in enumerate(pair):
            parent[root(i)] = root(first_with.setdefault((side, key(text)), i))
    groups = {}
    for i, pair in enumerate(pairs):
        groups.setdefault(root(i), []).append(pair)
    return list(groups.values())


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("data")
    arguments.add_argument("folder")
    arguments.add_argument("--pairs", type=int, default=0)
    arguments.add_argument("--held-out", type=int, default=1000)
    given = arguments.parse_args()

    with open(given.data, encoding="utf-8") as file:
        pairs = [tuple(line.rstrip("\n").split("\t")[:2]) for line in file]
    if given.pairs:
        pairs = sorted(pairs, key=lambda pair: len(pair[0]) + 3 * len(pair[1]))[: given.pairs]
    # Python promises the stream of random(), but not that of shuffle(), from release to release.
    generator = random.Random(1)
    groups = [group for _, group in sorted((generator.random(), group) for group in groups_of(pairs))]

    test, dev = given.held_out, given.held_out + given.held_out // 2
    parts = {
        "test": [group[0] for group in groups[:test]],
        "dev": [group[0] for group in groups[test:dev]],
        "train": [pair for group in groups[dev:] for pair in group],
    }
    os.makedirs(given.folder, exist_ok=True)
    for name, part in parts.items():
        with open(os.path.join(given.folder, name + ".tsv"), "w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{english}\t{chinese}\n" for english, chinese in part)
        print(name, len(part))


if __name__ == "__main__":
    main()
