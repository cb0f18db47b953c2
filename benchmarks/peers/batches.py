"""The batches that our program wrote, as tensors."""

import torch
from safetensors.torch import load_file

UNK, PAD, BOS, EOS = range(4)


class Rows:
    """tokens [rows, steps] as wide as the longest row, lengths [rows], mask [rows, steps], None if all are full."""

    def __init__(self, tokens, lengths):
        width = int(lengths.max())
        self.tokens, self.lengths = tokens[:, :width].long().contiguous(), lengths.long()
        self.full = bool((self.lengths == width).all())
        self.mask = None if self.full else torch.arange(width) >= self.lengths[:, None]


class Batch:
    def __init__(self, source, target):
        self.source, self.target = source, target
        bos = torch.full((target.tokens.shape[0], 1), BOS)
        self.inputs = torch.cat([bos, target.tokens[:, :-1]], dim=1)
        self.labels = target.tokens
        self.weights = torch.ones(target.tokens.shape) if target.full else (~target.mask).float()
        self.masked_labels = self.labels if target.full else self.labels.masked_fill(target.mask, -100)


def read_batches(path):
    tensors = {name: tensor.to(torch.get_default_device()) for name, tensor in load_file(path).items()}
    rows = lambda name: Rows(tensors[name + ".tokens"], tensors[name + ".lengths"])
    count = sum(name.endswith(".source.tokens") for name in tensors)
    return [Batch(rows(f"{b}.source"), rows(f"{b}.target")) for b in range(count)]
