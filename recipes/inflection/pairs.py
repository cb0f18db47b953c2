"""Lines of the shared task (lemma TAB features TAB form) as sentence pairs: features, then the lemma's letters; the form's letters.

    python3 pairs.py data.tsv [--without other.tsv] [--every N] [--endings]

--without leaves out what the other file has, too: a pair of lemma and features. --every N takes each Nth line.
--endings prints, in place of the pairs, what an inflection without any learning would say of the first file, given the
other one: the share of forms, in percent, that are the lemma with the ending that its features have most often.
"""
import argparse
import collections
import os
import sys

SPACE = "▁"  # between two words of a lemma; a space is what stands between letters here


def read(path):
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file]


def letters(text):
    return " ".join(text.replace(" ", SPACE))


def change(lemma, form):
    """What is taken from the lemma's end, and what is put there."""
    same = len(os.path.commonprefix([lemma, form]))
    return lemma[same:], form[same:]


def right_by_endings(rows, known):
    changes = collections.defaultdict(collections.Counter)
    for lemma, features, form in known:
        changes[features][change(lemma, form)] += 1

    def guess(lemma, features):
        for (taken, put), _ in changes[features].most_common():
            if lemma.endswith(taken):
                return lemma[: len(lemma) - len(taken)] + put
        return lemma

    return 100 * sum(guess(lemma, features) == form for lemma, features, form in rows) / len(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--without")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--endings", action="store_true")
    given = parser.parse_args()
    rows = read(given.data)[:: given.every]
    other = read(given.without) if given.without else []
    known = {(lemma, features) for lemma, features, _ in other}
    rows = [row for row in rows if (row[0], row[1]) not in known]
    if given.endings:
        print(f"{right_by_endings(rows, other):.2f}")
        return
    sys.stdout.reconfigure(encoding="utf-8")
    for lemma, features, form in rows:
        print(features.replace(",", " "), letters(lemma) + "\t" + letters(form))


main()
