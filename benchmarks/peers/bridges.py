"""From what an encoder leaves to the decoder's first state.

    forward(final states, values [batch, steps, width], source) -> [layers, batch, hidden], for the LSTM a pair
"""

import torch
from torch import nn


class Keep(nn.Module):
    """The final states as they are."""

    def forward(self, final, values, source):
        return final


class Bridge(nn.ModuleDict):
    """h_l = tanh(B_l x_l + b_l), and for the LSTM c_l = C_l x_l + d_l; one differs from another by x

    width: of x
    read(states or None, values, source) -> x of each layer
    """

    def __init__(self, config):
        parts = ("h", "c") if config["cell"] == "lstm" else ("h",)
        layer = lambda: nn.Linear(self.width(config), config["hidden"])
        super().__init__({part: nn.ModuleList(layer() for _ in range(config["layers"])) for part in parts})

    def forward(self, final, values, source):
        folded = []
        for (part, layers), states in zip(self.items(), final if isinstance(final, tuple) else (final,) * len(self)):
            linear = torch.stack([layer(x) for layer, x in zip(layers, self.read(states, values, source))])
            folded.append(torch.tanh(linear) if part == "h" else linear)
        return tuple(folded) if len(folded) > 1 else folded[0]


class Both(Bridge):
    """x = [forward_l ; backward_l]"""

    def width(self, config):
        return 2 * config["hidden"]

    def read(self, states, values, source):
        return torch.cat([states[0::2], states[1::2]], dim=-1)


class Backward(Bridge):
    """x = backward_l"""

    def width(self, config):
        return config["hidden"]

    def read(self, states, values, source):
        return states[1::2]


class Mean(Bridge):
    """x = the mean of the sentence's values, the same for all layers"""

    def width(self, config):
        return config["key_width"]

    def read(self, states, values, source):
        if source.full:
            mean = values.mean(dim=1)
        else:  # beyond a sentence's end values are 0
            mean = values.sum(dim=1) / source.lengths[:, None]
        return mean.expand(len(self["h"]), *mean.shape)


BRIDGES = {"both": Both, "backward": Backward, "mean": Mean}


def make_bridge(config):
    if config["encoder"] == "unidirectional":
        return Keep()
    return (BRIDGES[config["bridge"]] if config["bidirectional"] else Mean)(config)
