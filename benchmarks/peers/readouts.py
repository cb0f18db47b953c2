"""From what a decoder's steps have seen to what its dense layer reads.

    seen(after, context, before) -> those that `forward` wants; a step's, each [batch, width]
    forward(embedded [..., embed], *seen [..., width]) -> [..., self.width], for all steps at once

after: the top hidden state, or what the decoder has in its place; before: the one that the step began with.
"""

import re

import torch
from torch import nn


class Linear(nn.Module):
    """The dense layer reads the state."""

    def __init__(self, config):
        super().__init__()
        self.width = config["hidden"]

    def seen(self, after, context, before=None):
        return (after,)

    def forward(self, embedded, after):
        return after


class Tanh(nn.Module):
    """tanh(W_s s + W_y y + W_c c + b), s after the step"""

    def __init__(self, config):
        super().__init__()
        self.width = config["embed"]
        self.state = nn.Linear(config["hidden"], self.width)
        self.token = nn.Linear(config["embed"], self.width, bias=False)
        self.context = nn.Linear(config["key_width"], self.width, bias=False)

    def seen(self, after, context, before=None):
        return after, context

    def forward(self, embedded, after, context):
        return torch.tanh(self.state(after) + self.token(embedded) + self.context(context))


class Deep(nn.Module):
    """t_j = max(u_2j, u_2j+1) with u = U s + V y + C c + b, s before the step"""

    def __init__(self, config, width):
        super().__init__()
        self.width = int(width)
        self.state = nn.Linear(config["hidden"], 2 * self.width)
        self.token = nn.Linear(config["embed"], 2 * self.width, bias=False)
        self.context = nn.Linear(config["key_width"], 2 * self.width, bias=False)

    def seen(self, after, context, before):
        return before, context

    def forward(self, embedded, before, context):
        pieces = self.state(before) + self.token(embedded) + self.context(context)
        return pieces.unflatten(-1, (self.width, 2)).max(dim=-1).values


READOUTS = {"linear": Linear, "tanh": Tanh, "deep": Deep}


def make_readout(config):
    """By its name in a model file: `linear`, `tanh`, `deep(500)`"""
    name, *sizes = re.findall(r"\w+", config["readout"])
    return READOUTS[name](config, *sizes)
