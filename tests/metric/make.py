#!/usr/bin/env python3
"""Records what sacrebleu and rouge-score say, so that the C++ tests can ask for the same numbers without them.

Every data/hypotheses_NAME.txt is scored against data/references_NAME.txt, one sentence per line, tokens between spaces, as
tokenised text with one reference: corpus BLEU-4 with sacrebleu, and the mean of d2l's sentence BLEU, worked out here
from its formula with Python's counters. That goes to data/expected.json.

The sentences of sentences.py are text as people write it. Each set is scored as a whole, and each of its pairs alone, by
sacrebleu's BLEU, chrF and TER and by rouge-score's ROUGE; error rates and exact matches are worked out here. That, with
the sentences, goes to data/metrics.json.

    pip install sacrebleu rouge-score
    python make.py            # writes data/
    python make.py --check    # computes everything again and compares with data/; exit code 1 on a difference
"""

import argparse
import json
import math
import pathlib
import sys
from collections import Counter

import sacrebleu
from rouge_score import rouge_scorer
from sacrebleu.significance import PairedTest
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

import sentences

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


def edit_distance(a, b):
    table = {(i, 0): i for i in range(len(a) + 1)} | {(0, j): j for j in range(len(b) + 1)}
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (a[i - 1] != b[j - 1]))
    return table[len(a), len(b)]


def error_rate(pairs, split):
    edits = length = 0
    for prediction, references in pairs:
        # The nearest reference, and of equally near ones the longest.
        near = min((edit_distance(split(prediction), split(r)), -len(split(r))) for r in references)
        edits, length = edits + near[0], length - near[1]
    return 100 * edits / length if length else 100.0 * (edits > 0)


def matches(pairs):
    return 100 * sum(p.split() in [r.split() for r in references] for p, references in pairs) / len(pairs)


class Words:
    """ROUGE's tokens as they stand between spaces."""

    def tokenize(self, text):
        return text.split()


SACREBLEU = {
    "bleu": lambda: sacrebleu.BLEU(force=True),
    "bleu_lowercase": lambda: sacrebleu.BLEU(force=True, lowercase=True),
    "bleu_none": lambda: sacrebleu.BLEU(force=True, tokenize="none"),
    "bleu_char": lambda: sacrebleu.BLEU(force=True, tokenize="char"),
    "chrf": lambda: sacrebleu.CHRF(),
    "chrf_lowercase": lambda: sacrebleu.CHRF(lowercase=True),
    "chrf_beta_3": lambda: sacrebleu.CHRF(beta=3),
    "chrf++": lambda: sacrebleu.CHRF(word_order=2),
    "ter": lambda: sacrebleu.TER(),
    "ter_case": lambda: sacrebleu.TER(case_sensitive=True),
}
ROUGE = {
    "ascii": rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"]),
    "none": rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], tokenizer=Words()),
}


def columns(pairs):
    """References as sacrebleu takes them: the first of all sentences, the second of all, ...; None where there is none."""
    most = max(len(references) for _, references in pairs)
    return [[r[i] if i < len(r) else None for _, r in pairs] for i in range(most)]


def rouge(pairs):
    result = {}
    for tokens, scorer in ROUGE.items():
        scores = [scorer.score_multi(references, prediction) for prediction, references in pairs]
        for kind in ("rouge1", "rouge2", "rougeL"):
            for part in ("precision", "recall", "fmeasure"):
                total = sum(getattr(score[kind], part) for score in scores)
                result[f"{kind}_{tokens}_{part}"] = 100 * total / len(scores)
    return result


def values(pairs, signatures=None):
    predictions = [prediction for prediction, _ in pairs]
    result = {}
    for name, make in SACREBLEU.items():
        metric = make()
        result[name] = metric.corpus_score(predictions, columns(pairs)).score
        if signatures is not None:
            signatures[name] = str(metric.get_signature()).rsplit("|version:", 1)[0]
    result["wer"] = error_rate(pairs, str.split)
    result["cer"] = error_rate(pairs, lambda line: " ".join(line.split()))
    result["exact"] = matches(pairs)
    return result | rouge(pairs)


def confidence(systems):
    """sacrebleu's interval of each score, and whether two systems differ, from its own random numbers."""
    result = {}
    references = [systems["references"]]
    for name in ("bleu", "chrf", "ter"):
        score = SACREBLEU[name]().corpus_score(systems["first"], references, n_bootstrap=1000)
        result[name] = {"score": score.score, "mean": float(score._mean), "half_width": float(score._ci)}
        named = [(system, systems[system]) for system in ("first", "second", "worse")]
        test = PairedTest(named, {name: SACREBLEU[name]()}, references, test_type="bs", n_samples=1000)
        (compared,) = (scores for metric, scores in test()[1].items() if metric != "System")
        result[name] |= {"second": compared[1].p_value, "worse": compared[2].p_value}
    return result


def measure_text():
    tokenize, lines_13a = Tokenizer13a(), {}
    result = {"sets": {}}
    for name, pairs in sentences.SETS.items():
        signatures = {}
        result["sets"][name] = {
            "predictions": [prediction for prediction, _ in pairs],
            "references": [references for _, references in pairs],
            "corpus": values(pairs, signatures),
            "signatures": signatures,
        }
        if name in ("long", "short"):  # where words are moved
            alone = [{"ter": sacrebleu.TER().sentence_score(*pair).score} for pair in pairs]
        else:
            alone = [values([pair]) for pair in pairs]
        result["sets"][name]["sentences"] = alone
    for prediction, references in sentences.ODD:
        for line in [prediction] + references:
            lines_13a[line] = {"tokens": tokenize(line.rstrip()).split(), "lower": line.lower()}
    result["lines"] = [{"line": line} | values for line, values in lines_13a.items()]
    result["systems"] = sentences.systems()
    result["confidence"] = confidence(result["systems"])
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with data/ instead of writing it")
    check = parser.parse_args().check
    names = sorted(path.stem.removeprefix("hypotheses_") for path in DATA.glob("hypotheses_*.txt"))
    files = {"expected.json": {name: measure(name) for name in names}, "metrics.json": measure_text()}
    for name, content in files.items():
        path, text = DATA / name, json.dumps(content, indent=2 if name == "expected.json" else 1) + "\n"
        if not check:
            path.write_text(text, encoding="utf-8")
        elif text != path.read_text(encoding="utf-8"):
            sys.exit(f"{path} is not what sacrebleu {sacrebleu.__version__} and rouge-score say")


if __name__ == "__main__":
    main()
