"""Splits fra.txt into training, dev and test, by a fixed seed.

    split.py fra.txt folder [--pairs N] [--held-out N] [--longest N]

Writes train.tsv, dev.tsv and test.tsv, lines of English TAB French. All French translations of an English sentence are in the same
part, and dev and test have the first of them alone, so that each sentence is judged once. --pairs is the number of
pairs in training; --longest leaves out English sentences of more characters.

The test's pairs are as they stand in the file. Training and dev are spelt in one way: the file has five kinds of spaces before
French marks (none, plain, thin, no-break and narrow no-break), and two apostrophes; here French has the spaces that its
typesetters use.
"""

import argparse
import os
import random
import re

ANY_SPACE = "[ \u00a0\u2009\u202f]*"


def key(text):
    """The sentence without case, spaces and marks: "Go!" and "Go." are one to a model."""
    return "".join(c for c in text.lower() if c.isalnum()) or text


def spelt(text):
    """Text without invisible characters, and with one apostrophe."""
    return re.sub("[\u00ad\u200b]", "", text).replace("\u2019", "'")


def french(text):
    """The same with a narrow no-break space before ! ? ; and a no-break space inside « » and before : and %."""
    text = spelt(text)
    text = re.sub(f"(?<=[^ \u00a0\u2009\u202f!?]){ANY_SPACE}([!?;])", "\u202f\\1", text)  # "?!" stays together
    text = re.sub(f"{ANY_SPACE}(»|%|:(?![0-9]))", "\u00a0\\1", text)  # and so does 10:30
    return re.sub(f"«{ANY_SPACE}", "«\u00a0", text)


def write(path, pairs):
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{source}\t{target}\n" for source, target in pairs)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("data")
    arguments.add_argument("folder")
    arguments.add_argument("--pairs", type=int, default=140000)
    arguments.add_argument("--held-out", type=int, default=3000)
    arguments.add_argument("--longest", type=int, default=0)
    given = arguments.parse_args()

    groups = {}
    with open(given.data, encoding="utf-8") as file:
        for line in file:
            source, target = line.rstrip("\n").split("\t")[:2]
            if not given.longest or len(source) <= given.longest:
                groups.setdefault(key(source), []).append((source, target))
    # Python promises the stream of random(), but not that of shuffle(), from release to release.
    generator = random.Random(1)
    groups = [group for _, group in sorted((generator.random(), group) for group in groups.values())]

    test, dev = given.held_out, given.held_out + given.held_out // 2
    training = [pair for group in groups[dev:] for pair in group]
    if len(training) < given.pairs:
        raise SystemExit(f"{given.data}: {len(training)} pairs are left for training, too few for --pairs {given.pairs}")
    os.makedirs(given.folder, exist_ok=True)
    write(os.path.join(given.folder, "test.tsv"), [group[0] for group in groups[:test]])
    for name, part in [("dev", [group[0] for group in groups[test:dev]]), ("train", training[: given.pairs])]:
        write(os.path.join(given.folder, name + ".tsv"), [(spelt(source), french(target)) for source, target in part])
    print(f"{given.pairs} pairs in training, {test} in test and {dev - test} in dev, of {len(groups)} English sentences")


if __name__ == "__main__":
    main()
