"""From the final states of an encoder with two directions to the decoder's first one."""

import torch
from torch import nn


class Both(nn.ModuleDict):
    """h_l = tanh(B_l [forward_l ; backward_l] + b_l), and for the LSTM c_l = C_l [forward_l ; backward_l] + d_l"""

    directions = 2

    def __init__(self, config):
        hidden, parts = config["hidden"], ("h", "c") if config["cell"] == "lstm" else ("h",)
        layer = lambda: nn.Linear(self.directions * hidden, hidden)
        super().__init__({part: nn.ModuleList(layer() for _ in range(config["layers"])) for part in parts})

    def read(self, states):
        return torch.cat([states[0::2], states[1::2]], dim=-1)

    def forward(self, final):
        """final [layers * 2, batch, hidden], for the LSTM a pair -> [layers, batch, hidden], or a pair"""
        folded = []
        for (part, layers), states in zip(self.items(), final if isinstance(final, tuple) else (final,)):
            linear = torch.stack([layer(read) for layer, read in zip(layers, self.read(states))])
            folded.append(torch.tanh(linear) if part == "h" else linear)
        return tuple(folded) if isinstance(final, tuple) else folded[0]


class Backward(Both):
    """The same from the backward states alone."""

    directions = 1

    def read(self, states):
        return states[1::2]


BRIDGES = {"both": Both, "backward": Backward}


def make_bridge(config):
    return BRIDGES[config["bridge"]](config) if config["bidirectional"] else nn.Identity()
