"""Decoders: what happens in one step, and what goes on to the next."""

from typing import NamedTuple

import torch
from torch import nn

from bridges import make_bridge
from cells import CELLS, LstmWrittenOut, make_cells
from readouts import make_readout
from scores import SCORES


class Encoded(NamedTuple):
    """What every step needs."""

    keys: torch.Tensor  # [batch, steps, width]
    projected: torch.Tensor | None  # [batch, steps, hidden]; None: by every step anew, as d2l does
    mask: torch.Tensor | None  # [batch, steps], None if all rows are full
    weights: object  # the cells', as their steps need them


class Decoder(nn.Module):
    """What all decoders have. One differs from another by

    step(product [rows, ...], state, encoded) -> what the readout wants to see, state
    """

    cells = CELLS

    def __init__(self, config, vocabulary, keys_once, fed_width):
        """fed_width: of what the cells read beside the embedding"""
        super().__init__()
        self.keys_once, self.fed_width = keys_once, fed_width
        self.attention = SCORES[config["score"]](config["hidden"], config["key_width"])
        self.dropout = nn.Dropout(config["dropout"])
        self.embedding = nn.Embedding(vocabulary, config["embed"])
        self.rnn = make_cells(self.cells[config["cell"]], fed_width + config["embed"], config)
        self.bridge = make_bridge(config)
        self.readout = make_readout(config)
        self.dense = nn.Linear(self.readout.width, vocabulary)

    def begin(self, keys, final, source):
        """-> first state, Encoded"""
        projected = self.attention.project(keys) if self.keys_once else None
        state = self.rnn.start(self.bridge(final))
        return state, Encoded(keys, projected, source.mask, self.rnn.weights(self.fed_width))

    def attend(self, queries, encoded):
        """queries [rows, hidden], as many for each sentence -> contexts [rows, width]"""
        keys, projected, mask, _ = encoded
        if projected is None:
            projected = self.attention.project(keys)
        scores = self.attention.scores(queries.view(keys.shape[0], -1, queries.shape[-1]), projected)
        if mask is not None:
            scores = scores.masked_fill(mask.unsqueeze(1), -1e6)
        return torch.bmm(self.dropout(torch.softmax(scores, dim=-1)), keys).flatten(0, 1)

    def one_step(self, tokens, state, encoded):
        """tokens [rows] -> logits [rows, vocabulary], state"""
        embedded = self.embedding(tokens)
        seen, state = self.step(self.rnn.products(embedded, encoded.weights), state, encoded)
        return self.dense(self.readout(embedded, *seen)), state

    def forward(self, inputs, keys, final, source):
        """inputs [batch, steps], the true previous tokens -> logits [batch, steps, vocabulary]"""
        state, encoded = self.begin(keys, final, source)
        embedded, seen = self.embedding(inputs.T), []  # [steps, batch, embed]
        for product in self.rnn.products(embedded, encoded.weights).unbind():
            now, state = self.step(product, state, encoded)
            seen.append(now)
        read = self.readout(embedded, *map(torch.stack, zip(*seen)))  # [steps, batch, width]
        if self.keys_once:
            return self.dense(read.transpose(0, 1).contiguous())
        return self.dense(read).transpose(0, 1)  # as d2l has it


class AttendThenStep(Decoder):
    """d2l's: the query is the state before the step, the cells read [context ; embedded]."""

    def __init__(self, config, vocabulary, keys_once):
        super().__init__(config, vocabulary, keys_once, config["key_width"])

    def step(self, product, state, encoded):
        before = self.rnn.top(state)
        context = self.attend(before, encoded)
        after, state = self.rnn.step(context, product, state, encoded.weights)
        return self.readout.seen(after, context, before), state


class InputFeeding(Decoder):
    """Luong's: the cells read [a ; embedded]; the query is s, the state after the step; a = tanh(W_c [context ; s])."""

    cells = CELLS | {"lstm": LstmWrittenOut}  # faster than nn.LSTM with one step per call

    def __init__(self, config, vocabulary, keys_once):
        super().__init__(config, vocabulary, keys_once, config["hidden"])
        self.combine = nn.Linear(config["key_width"] + config["hidden"], config["hidden"], bias=False)

    def begin(self, keys, final, source):
        state, encoded = super().begin(keys, final, source)
        return (state, keys.new_zeros(keys.shape[0], self.fed_width)), encoded

    def step(self, product, state, encoded):
        cells, fed = state
        s, cells = self.rnn.step(fed, product, cells, encoded.weights)
        context = self.attend(s, encoded)
        fed = torch.tanh(self.combine(torch.cat((context, s), dim=-1)))
        return self.readout.seen(fed, context), (cells, fed)


DECODERS = {"attend_then_step": AttendThenStep, "input_feeding": InputFeeding}
