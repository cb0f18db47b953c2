#!/usr/bin/env python3
"""Records what sacrebleu says about the files in data/, so that the C++ tests can ask for the same numbers without it.

Every data/hypotheses_NAME.txt is scored against data/references_NAME.txt, one sentence per line, tokens between spaces, as
tokenised text with one reference: corpus BLEU-4 with sacrebleu, and the mean of d2l's sentence BLEU, worked out here
from its formula with Python's counters.

    pip install sacrebleu
    python make.py            # writes data/expected.json
    python make.py --check    # computes everything again and compares with data/; exit code 1 on a difference
"""

import argparse
import json
import math
import pathlib
import sys
from collections import Counter

import sacrebleu

DATA = pathlib.Path(__file__).resolve().parent / "data"


def lines(path):
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def ngrams(tokens, n):
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def sentence_bleu(predicted, label, k):
    predicted, label = predicted.split(), label.split()
    if not predicted:
        return 0.0
    score = math.exp(min(0, 1 - len(label) / len(predicted)))
    for n in range(1, min(k, len(predicted)) + 1):
        matches = (ngrams(predicted, n) & ngrams(label, n)).total()
        score *= (matches / (len(predicted) - n + 1)) ** (0.5**n)
    return score


def measure(name):
    hypotheses = lines(DATA / f"hypotheses_{name}.txt")
    references = lines(DATA / f"references_{name}.txt")
    if len(hypotheses) != len(references):
        sys.exit(f"{name}: {len(hypotheses)} hypotheses, {len(references)} references")
    bleu = sacrebleu.BLEU(tokenize="none", smooth_method="exp", force=True).corpus_score(hypotheses, [references])
    pairs = list(zip(hypotheses, references))
    return {
        "sentences": len(pairs),
        "bleu": bleu.score,
        "brevity_penalty": bleu.bp,
        "precisions": bleu.precisions,
        "predicted_length": bleu.sys_len,
        "reference_length": bleu.ref_len,
        "mean_sentence_bleu_2": sum(sentence_bleu(p, r, 2) for p, r in pairs) / len(pairs),
        "mean_sentence_bleu_4": sum(sentence_bleu(p, r, 4) for p, r in pairs) / len(pairs),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with data/expected.json instead of writing it")
    check = parser.parse_args().check
    names = sorted(path.stem.removeprefix("hypotheses_") for path in DATA.glob("hypotheses_*.txt"))
    text = json.dumps({name: measure(name) for name in names}, indent=2) + "\n"
    path = DATA / "expected.json"
    if not check:
        path.write_text(text, encoding="utf-8")
    elif text != path.read_text(encoding="utf-8"):
        sys.exit(f"{path} is not what sacrebleu {sacrebleu.__version__} says")


if __name__ == "__main__":
    main()
