"""Decoders: what happens in one step, and what goes on to the next."""

from typing import NamedTuple

import torch
from torch import nn
from torch.nn.functional import linear

from bridges import make_bridge
from cells import CELLS, LstmWrittenOut, make_cells
from readouts import make_readout
from scores import SCORES


class Encoded(NamedTuple):
    """What every step needs."""

    keys: torch.Tensor  # [batch, steps, width]
    values: torch.Tensor  # [batch, steps, width]
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
        if config["tied"]:
            self.dense.weight = self.embedding.weight

    def begin(self, keys, values, final, source):
        """-> first state, Encoded"""
        self.attention.begin()
        projected = self.attention.project(keys) if self.keys_once else None
        state = self.rnn.start(self.bridge(final, values, source))
        return state, Encoded(keys, values, projected, source.mask, self.weights())

    def weights(self):
        return self.rnn.weights(self.fed_width)

    def products(self, embedded, weights):
        return self.rnn.products(embedded, weights)

    def attend(self, queries, encoded):
        """queries [rows, hidden], as many for each sentence -> contexts [rows, width]"""
        keys, values, projected, mask, _ = encoded
        if projected is None:
            projected = self.attention.project(keys)
        queries = queries.view(keys.shape[0], -1, queries.shape[-1])
        return self.attention.context(queries, projected, values, mask, self.dropout).flatten(0, 1)

    def one_step(self, tokens, state, encoded):
        """tokens [rows] -> logits [rows, vocabulary], state"""
        embedded = self.embedding(tokens)
        seen, state = self.step(self.products(embedded, encoded.weights), state, encoded)
        return self.dense(self.readout(embedded, *seen)), state

    def forward(self, inputs, keys, values, final, source):
        """inputs [batch, steps], the true previous tokens -> logits [batch, steps, vocabulary]"""
        state, encoded = self.begin(keys, values, final, source)
        embedded, seen = self.embedding(inputs.T), []  # [steps, batch, embed]
        for product in self.products(embedded, encoded.weights).unbind():
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

    def begin(self, keys, values, final, source):
        state, encoded = super().begin(keys, values, final, source)
        return (state, keys.new_zeros(keys.shape[0], self.fed_width)), encoded

    def step(self, product, state, encoded):
        cells, fed = state
        s, cells = self.rnn.step(fed, product, cells, encoded.weights)
        context = self.attend(s, encoded)
        fed = torch.tanh(self.combine(torch.cat((context, s), dim=-1)))
        return self.readout.seen(fed, context), (cells, fed)


class Conditional(Decoder):
    """Nematus's: the first cell reads the embedding; the second one, for the state that the first one leaves, the context.

    One layer of GRUs, written out: the first cell's products with embeddings leave the loop."""

    def __init__(self, config, vocabulary, keys_once):
        super().__init__(config, vocabulary, keys_once, 0)
        assert config["cell"] == "gru" and config["layers"] == 1
        self.rnn2 = nn.GRU(config["key_width"], config["hidden"])

    def weights(self):
        """-> of both cells: W_ih^T, b_ih, W_hh^T, b_hh"""
        named = lambda rnn: (rnn.weight_ih_l0.t(), rnn.bias_ih_l0, rnn.weight_hh_l0.t(), rnn.bias_hh_l0)
        return named(self.rnn), named(self.rnn2)

    def products(self, embedded, weights):
        return linear(embedded, self.rnn.weight_ih_l0, self.rnn.bias_ih_l0)

    def begin(self, keys, values, final, source):
        state, encoded = super().begin(keys, values, final, source)
        return state[0], encoded

    @staticmethod
    def cell(x, h, w_hh, b_hh):
        """x: W_ih times the input, with its bias -> h'"""
        x_rz, x_n = x.tensor_split([2 * h.shape[-1]], dim=-1)
        h_rz, h_n = torch.addmm(b_hh, h, w_hh).tensor_split([2 * h.shape[-1]], dim=-1)
        r, z = torch.sigmoid(x_rz + h_rz).chunk(2, dim=-1)
        return torch.lerp(torch.tanh(torch.addcmul(x_n, r, h_n)), h, z)

    def step(self, product, state, encoded):
        (_, _, *first), (w_ih, b_ih, *second) = encoded.weights
        between = self.cell(product, state, *first)
        context = self.attend(between, encoded)
        state = self.cell(torch.addmm(b_ih, context, w_ih), between, *second)
        return self.readout.seen(state, context), state


class Plain(Decoder):
    """Sutskever's: no attention, so nothing that a cell reads waits for a step, and one call of nn runs them all."""

    def __init__(self, config, vocabulary, keys_once, fed_width=0):
        super().__init__(config, vocabulary, keys_once, fed_width)

    def run(self, embedded, state):
        """embedded [steps, batch, embed] -> outputs [steps, batch, hidden], state"""
        return self.rnn(embedded, state)

    def read(self, embedded, outputs):
        return self.readout(embedded, *self.readout.seen(outputs, None))

    def one_step(self, tokens, state, encoded):
        embedded = self.embedding(tokens)
        outputs, state = self.run(embedded.unsqueeze(0), state)
        return self.dense(self.read(embedded, outputs[0])), state

    def forward(self, inputs, keys, values, final, source):
        state, _ = self.begin(keys, values, final, source)
        embedded = self.embedding(inputs.T)
        outputs, _ = self.run(embedded, state)
        return self.dense(self.read(embedded, outputs).transpose(0, 1).contiguous())


class FixedContext(Plain):
    """Cho's: the cells read [c ; embedded], c being the top state that the decoder starts from."""

    def __init__(self, config, vocabulary, keys_once):
        super().__init__(config, vocabulary, keys_once, config["hidden"])

    def begin(self, keys, values, final, source):
        state, encoded = super().begin(keys, values, final, source)
        return (state, self.rnn.top(state)), encoded

    def run(self, embedded, state):
        cells, context = state
        outputs, cells = self.rnn(torch.cat((context.expand(*embedded.shape[:2], -1), embedded), dim=-1), cells)
        return outputs, (cells, context)


DECODERS = {
    "attend_then_step": AttendThenStep, "input_feeding": InputFeeding, "conditional": Conditional, "plain": Plain,
    "fixed_context": FixedContext,
}
