"""Trains the PyTorch model, with the sizes and vocabularies of the library's model file.

    python train.py --like ours.safetensors --data train.tsv --model theirs.safetensors --epochs 4 ...

Prints the lines that `bahdanau train` prints, to standard error.
"""

import argparse
import sys
import time

import torch

import peer
import text


def read_rows(path, about, min_frequency):
    """-> source rows, target rows; ends here if the library's vocabularies are not the ones that its rules give"""
    sides = [[text.tokenize(sentence) for sentence in side] for side in zip(*text.read_pairs(path))]
    rows = []
    for name, sentences in zip(["source_vocabulary", "target_vocabulary"], sides):
        if text.vocabulary(sentences, min_frequency) != about[name]:
            sys.exit(f"{name}: not the tokens that the library has")
        ids = {token: i for i, token in enumerate(about[name])}
        rows.append([text.encode(sentence, ids, about["text"]["max_length"]) for sentence in sentences])
    return rows


def train_epoch(model, optimizer, sources, targets, options, max_length):
    """-> summed nats"""
    total = 0.0
    for picked in torch.randperm(len(sources)).split(options.batch):
        nats = model.nats([sources[i] for i in picked], [targets[i] for i in picked])
        optimizer.zero_grad()
        # A sentence's loss is divided by the rows' full width, not by its length; Adam would not mind, clipping does.
        (nats / max_length).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), options.clip)
        optimizer.step()
        total += nats.item()
    return total


def main():
    parser = argparse.ArgumentParser()
    for name in ["like", "data", "model"]:
        parser.add_argument(f"--{name}", required=True)
    for name in ["epochs", "batch", "min-frequency", "seed"]:
        parser.add_argument(f"--{name}", type=int, required=True)
    for name in ["rate", "clip"]:
        parser.add_argument(f"--{name}", type=float, required=True)
    options = parser.parse_args()

    about = peer.description(options.like)
    max_length = about["text"]["max_length"]
    sources, targets = read_rows(options.data, about, options.min_frequency)
    tokens = sum(map(len, targets))
    torch.manual_seed(options.seed)
    model = peer.model_of(about)
    optimizer = torch.optim.Adam(model.parameters(), lr=options.rate)
    for epoch in range(1, options.epochs + 1):
        start = time.monotonic()
        nats = train_epoch(model, optimizer, sources, targets, options, max_length) / tokens
        speed = tokens / (time.monotonic() - start)
        line = f"epoch {epoch}/{options.epochs}  loss {nats / max_length:.4f}  {nats:.3f} nats/token"
        print(f"{line}  {speed:.0f} tokens/s", file=sys.stderr, flush=True)
    peer.save(options.model, model, about)


if __name__ == "__main__":
    main()
