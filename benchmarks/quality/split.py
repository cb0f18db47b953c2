"""Draws the pairs for training, and held-out pairs whose source sentence is in none of those, by a fixed seed.

    python split.py fra.txt 40000 1000 train.tsv test.tsv
"""

import random
import sys

from text import read_pairs, tokenize


def main(data, training, held_out, training_path, held_out_path):
    pairs = read_pairs(data)
    # Python promises this stream, but not the one of shuffle(), from release to release.
    generator = random.Random(1)
    pairs = [pair for _, pair in sorted((generator.random(), pair) for pair in pairs)]

    chosen, rest = pairs[: int(training)], pairs[int(training) :]
    # As tokens, for "Go!" and "go !" are one sentence to a model.
    seen = {tuple(tokenize(source)) for source, _ in chosen}
    unseen = []
    for source, target in rest:
        key = tuple(tokenize(source))
        if key not in seen and len(unseen) < int(held_out):
            seen.add(key)  # and so each only once
            unseen.append((source, target))
    if len(chosen) < int(training) or len(unseen) < int(held_out):
        sys.exit(f"{data}: {len(pairs)} pairs are too few for {training} and {held_out} others")

    for path, part in [(training_path, chosen), (held_out_path, unseen)]:
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{source}\t{target}\n" for source, target in part)


if __name__ == "__main__":
    main(*sys.argv[1:])
