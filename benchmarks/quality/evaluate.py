"""Translates held-out sentences with PyTorch, from any model file: the library's or PyTorch's own.

    python evaluate.py model.safetensors test.tsv translations.txt    # prints the perplexity of the true translations
"""

import math
import sys

import torch

import peer
import text

BATCH = 50


def main(model_path, data, out):
    model, about = peer.load(model_path)
    sides = []
    for name, sentences in zip(["source_vocabulary", "target_vocabulary"], zip(*text.read_pairs(data))):
        ids = {token: i for i, token in enumerate(about[name])}
        sides.append([text.encode(text.tokenize(sentence), ids) for sentence in sentences])
    words, nats = about["target_vocabulary"], 0.0
    with open(out, "w", encoding="utf-8", newline="\n") as file, torch.no_grad():
        for begin in range(0, len(sides[0]), BATCH):
            sources, targets = (side[begin : begin + BATCH] for side in sides)
            nats += model.nats(sources, targets).item()
            for row in model.translate(sources, about["text"]["max_length"]):
                file.write(" ".join(words[i] for i in row) + "\n")
    print(math.exp(nats / sum(map(len, sides[1]))))


if __name__ == "__main__":
    main(*sys.argv[1:])
