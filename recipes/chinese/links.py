"""Shows alignments as words and characters.

    links.py pairs.tsv links.txt

Of lines of English TAB Chinese, and those that `bahdanau align` has for them, 0-0 1-2, one per line: Tom-汤 loves-爱
"""

import re
import sys


def main(pairs, links):
    with open(pairs, encoding="utf-8") as sentences, open(links, encoding="utf-8") as alignments:
        for sentence, alignment in zip(sentences, alignments, strict=True):
            english, chinese = sentence.rstrip("\n").split("\t")
            words = re.findall(r"\w+|[^\w\s]", english)
            positions = [map(int, link.split("-")) for link in alignment.split()]
            print(*(f"{words[i]}-{chinese[j]}" for i, j in positions))


if __name__ == "__main__":
    main(*sys.argv[1:])
