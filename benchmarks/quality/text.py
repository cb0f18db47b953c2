"""The library's rules for text, once more in Python: what a token is, and which tokens a vocabulary has.

The comparison is only fair if both sides read the same rows; train.py checks that the vocabularies come out equal.
"""

import collections

RESERVED = ["<unk>", "<pad>", "<bos>", "<eos>"]
UNK, PAD, BOS, EOS = range(4)


def read_pairs(path):
    """[(source, target)] from tab-separated lines; what follows the second column is ignored."""
    with open(path, encoding="utf-8-sig", newline="\n") as lines:
        return [tuple(line.rstrip("\r\n").split("\t")[:2]) for line in lines]


def tokenize(sentence):
    """Plain spaces, lower case, a space before each of , . ! ? that has none; split on spaces, and on nothing else."""
    text = ""
    for character in sentence.replace("\u00a0", " ").replace("\u202f", " "):
        if character in ",.!?" and text and text[-1] != " ":
            text += " "
        text += character.lower()  # one at a time: Python's rule for a final sigma looks at its neighbours
    return [token for token in text.split(" ") if token]


def vocabulary(sentences, min_frequency):
    """The reserved tokens, then all that are frequent enough: most frequent first, equals in order of appearance."""
    counts = collections.Counter(token for sentence in sentences for token in sentence)
    frequent = [token for token, count in counts.most_common() if count >= min_frequency and token not in RESERVED]
    return RESERVED + frequent


def encode(sentence, ids, max_length=None):
    """Token ids with <eos>; training cuts rows to max_length, translating cuts nothing."""
    return ([ids.get(token, UNK) for token in sentence] + [EOS])[:max_length]
