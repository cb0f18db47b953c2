"""Encoders: source -> keys [batch, steps, width], values (often the same), final states as cells.py has them, or None."""

import re

import torch
from torch import nn

from cells import CELLS, make_cells


class Recurrent(nn.Module):
    def __init__(self, config, vocabulary):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, config["embed"])
        self.rnn = make_cells(CELLS[config["cell"]], config["embed"], config, config["bidirectional"])

    def forward(self, source):
        outputs, final = self.rnn.encode(self.embedding(source.tokens.T), source)
        keys = outputs.permute(1, 0, 2)
        return keys, keys, final


class Convolutional(nn.Module):
    """x = P (word + position) + b; x <- tanh(conv(x) + x) in two stacks, one for keys and one for values."""

    def __init__(self, config, vocabulary, layers, width):
        super().__init__()
        embed, hidden, width = config["embed"], config["hidden"], int(width)
        self.embedding, self.position = nn.Embedding(vocabulary, embed), nn.Embedding(1024, embed)
        self.project = nn.Linear(embed, hidden)
        stack = lambda: nn.ModuleList(nn.Conv1d(hidden, hidden, width, padding=width // 2) for _ in range(int(layers)))
        self.keys, self.values = stack(), stack()
        self.dropout = nn.Dropout(config["dropout"])

    def forward(self, source):
        steps = source.tokens.shape[1]
        position = self.position(torch.arange(steps).clamp(max=1023))
        x = self.project(self.embedding(source.tokens) + position).transpose(1, 2)  # [batch, hidden, steps]
        return *(self.run(stack, x, source.mask).transpose(1, 2) for stack in (self.keys, self.values)), None

    def run(self, stack, x, mask):
        zeros_beyond = (lambda x: x) if mask is None else (lambda x: x.masked_fill(mask[:, None], 0))
        x = zeros_beyond(x)
        for i, layer in enumerate(stack):
            if i > 0:
                x = self.dropout(x)
            x = zeros_beyond(torch.tanh(layer(x) + x))
        return x


def make_encoder(config, vocabulary):
    """By its name in a model file: `unidirectional`, `bidirectional`, `convolutional(6,3)`"""
    name, *sizes = re.findall(r"\w+", config["encoder"])
    return Convolutional(config, vocabulary, *sizes) if name == "convolutional" else Recurrent(config, vocabulary)
