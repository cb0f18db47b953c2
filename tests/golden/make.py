#!/usr/bin/env python3
"""Records what PyTorch computes, so that the C++ tests can ask for the same numbers without PyTorch.

The promise is "the same numbers as PyTorch from the same weights". So this script writes the model with PyTorch's own
layers (nn.GRU, nn.LSTM, nn.Linear, autograd, Adam), fills it with seeded weights, and records in float64 the logits,
the attention, the loss, every gradient, and every weight after five training steps. Only the GRU of the papers has no
layer there, and is written here. A mistake in the script would become a wrong expectation, so each forward pass is also
worked out a second time in numpy, one sentence at a time, with no packing and no masks, from the formulas alone, and
the two must agree before anything is written.

    pip install torch safetensors numpy
    python make.py            # writes data/; a file that holds these numbers already stays as it is
    python make.py --check    # computes everything again and compares with data/; exit code 1 on a difference
"""

import argparse
import dataclasses
import itertools
import json
import pathlib
import sys
import zlib

import numpy as np
import safetensors
import safetensors.torch
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

DATA = pathlib.Path(__file__).resolve().parent / "data"
TOLERANCE = 1e-13  # --check: the largest difference between two runs

UNK, PAD, BOS, EOS = range(4)
RESERVED = ["<unk>", "<pad>", "<bos>", "<eos>"]
SOURCE_VOCABULARY = RESERVED + ["go", "a1", "run", "b2", "."]
TARGET_VOCABULARY = RESERVED + ["va", "ça", "c3", "cours", "d4", "!", "."]  # "ça": the file's text is UTF-8

EMBED, HIDDEN, MAX_LENGTH = 5, 4, 6  # all differ, so that to mix up two of them is a wrong shape
DEEP = 3  # the width of a deep output
SOURCE_LENGTHS = [6, 2, 4, 1]  # neither sorted nor in the targets' order; each has a full row and a row of one
TARGET_LENGTHS = [3, 6, 1, 5]
BATCH = len(SOURCE_LENGTHS)

STEPS, RATE, THETA = 5, 0.005, 1.0  # training steps, Adam's rate, the norm that gradients are clipped to


# --- The cases -------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Case:
    cell: str  # gru, lstm, gru_reset_before, layer_norm(gru), layer_norm(lstm)
    score: str  # additive, scaled_dot, dot, general
    bidirectional: bool
    layers: int
    final_state: str  # valid, padded
    decoder: str = "attend_then_step"  # or step_then_attend, input_feeding
    readout: str = "linear"  # or concat, tanh, deep(3), deep(3,after)
    bridge: str = "both"  # or backward, mean
    tied: bool = False
    residual: bool = False  # from the second layer on a layer's input is added to its output
    title: str = ""  # of a member of the family, instead of a list of its policies

    @property
    def name(self):
        if self.title:
            return f"{self.title}_l{self.layers}"
        return f"{self.cell}_{self.score}_{'bi' if self.bidirectional else 'uni'}_l{self.layers}_{self.final_state}"

    @property
    def key_width(self):
        return 2 * HIDDEN if self.bidirectional else HIDDEN

    @property
    def state_parts(self):
        return ["h", "c"] if "lstm" in self.cell else ["h"]

    @property
    def config(self):
        sizes = {
            "cell": self.cell, "score": self.score, "embed": EMBED, "hidden": HIDDEN, "layers": self.layers,
            "dropout": 0.0, "encoder": "bidirectional" if self.bidirectional else "unidirectional",
            "final_state": self.final_state,
        }
        # What a file of 0.1 could not say is absent where it is as in 0.1.
        usual = {field.name: field.default for field in dataclasses.fields(Case)}
        later = {name: getattr(self, name) for name in ["decoder", "readout", "bridge", "tied", "residual"]}
        return sizes | {name: value for name, value in later.items() if value != usual[name]}


# Members of the family, chosen so that each policy that d2l's model does not have is in at least one of them.
FAMILY = {
    "rnnsearch": dict(  # Bahdanau, Cho, Bengio 2015
        cell="gru_reset_before", score="additive", bidirectional=True, bridge="backward", readout=f"deep({DEEP})"
    ),
    "luong": dict(cell="lstm", score="general", bidirectional=False, decoder="input_feeding"),  # Luong et al. 2015
    "dot_concat": dict(cell="gru", score="dot", bidirectional=False, decoder="step_then_attend", readout="concat"),
    "mean_tied": dict(cell="lstm", score="additive", bidirectional=True, bridge="mean", readout="tanh", tied=True),
    "fed_deep": dict(
        cell="gru_reset_before", score="general", bidirectional=True, decoder="input_feeding",
        readout=f"deep({DEEP},after)",
    ),
    "normed_gru": dict(cell="layer_norm(gru)", score="additive", bidirectional=True, residual=True),
    "normed_lstm": dict(cell="layer_norm(lstm)", score="general", bidirectional=False),
    "residual_gru": dict(cell="gru", score="additive", bidirectional=True, residual=True),
    "residual_luong": dict(
        cell="lstm", score="general", bidirectional=False, decoder="input_feeding", residual=True
    ),
}


def all_cases():
    yield from d2l_cases()
    for (title, policies), layers in itertools.product(FAMILY.items(), [1, 3]):
        yield Case(title=title, layers=layers, final_state="valid", **policies)


def d2l_cases():
    # Scaled dot needs keys as wide as queries, so it has no bidirectional case.
    attentions = [("additive", False), ("scaled_dot", False), ("additive", True)]
    for cell, (score, bidirectional), layers, final_state in itertools.product(
        ["gru", "lstm"], attentions, [1, 3], ["valid", "padded"]
    ):
        yield Case(cell, score, bidirectional, layers, final_state)


def generator(seed):
    """RandomState, because numpy freezes its stream for good; default_rng's may change with a release."""
    return np.random.RandomState(zlib.crc32(seed.encode()))


def random_rows(rng, lengths, vocabulary_size):
    """Token rows [batch, max_length]: random words (<unk> among them), then <eos>, then <pad>."""
    rows = np.full((len(lengths), MAX_LENGTH), PAD)
    words = [UNK, *range(len(RESERVED), vocabulary_size)]
    for row, length in zip(rows, lengths):
        row[: length - 1] = rng.choice(words, length - 1)
        row[length - 1] = EOS
    return torch.from_numpy(rows)


@dataclasses.dataclass
class Batch:
    source: torch.Tensor  # [batch, max_length]
    source_lengths: torch.Tensor  # [batch]
    target: torch.Tensor  # [batch, max_length]
    target_lengths: torch.Tensor  # [batch]

    @property
    def decoder_input(self):
        """<bos>, then the target shifted right by one. [batch, max_length]"""
        return torch.cat([torch.full((BATCH, 1), BOS), self.target[:, :-1]], dim=1)


def random_batch(rng):
    return Batch(
        random_rows(rng, SOURCE_LENGTHS, len(SOURCE_VOCABULARY)), torch.tensor(SOURCE_LENGTHS),
        random_rows(rng, TARGET_LENGTHS, len(TARGET_VOCABULARY)), torch.tensor(TARGET_LENGTHS),
    )


# Standard deviations: large enough that attention differs from a mean and three layers down a gradient is still felt,
# small enough that no gate saturates. The dense layer's decides whether the gradient's norm is above or below theta.
SCALES = {
    "embedding": 1.0, "rnn": 0.9, "attention": 1.5, "bridge": 0.7, "combine": 0.9, "readout": 0.7, "dense": 0.4
}


def fill(model, rng):
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            scale = SCALES[name.split(".")[1]]  # encoder.rnn.weight_ih_l0 -> rnn
            parameter.copy_(torch.from_numpy(scale * rng.standard_normal(tuple(parameter.shape))))


# --- The model in PyTorch --------------------------------------------------------------------------------------------


def is_valid(lengths, width=MAX_LENGTH):
    """True below each row's length. [batch] -> [batch, width]"""
    return torch.arange(width) < lengths[:, None]


def attend(scores, values, lengths):
    """Softmax over the positions below the valid length; exp(-inf) gives the others weight exactly 0.

    scores [batch, queries, keys], values [batch, keys, value] -> contexts [batch, queries, value], weights like scores
    """
    masked = scores.masked_fill(~is_valid(lengths, scores.shape[-1])[:, None, :], -torch.inf)
    weights = torch.softmax(masked, dim=-1)
    return weights @ values, weights


def additive_scores(projected_queries, projected_keys, w_v):
    """w_v tanh(W_q q + W_k k). [batch, queries, width], [batch, keys, width], [1, width] -> [batch, queries, keys]"""
    features = torch.tanh(projected_queries[:, :, None, :] + projected_keys[:, None, :, :])
    return (features @ w_v.T).squeeze(-1)


def scaled_dot_scores(queries, keys):
    """q.k / sqrt(width). [batch, queries, width], [batch, keys, width] -> [batch, queries, keys]"""
    return queries @ keys.transpose(1, 2) / queries.shape[-1] ** 0.5


class AdditiveAttention(nn.Module):
    def __init__(self, case):
        super().__init__()
        self.W_q = nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.W_k = nn.Linear(case.key_width, HIDDEN, bias=False)
        self.w_v = nn.Linear(HIDDEN, 1, bias=False)

    def forward(self, queries, keys, values, lengths):
        return attend(additive_scores(self.W_q(queries), self.W_k(keys), self.w_v.weight), values, lengths)


class ScaledDotAttention(nn.Module):
    def __init__(self, case):
        super().__init__()

    def forward(self, queries, keys, values, lengths):
        return attend(scaled_dot_scores(queries, keys), values, lengths)


class DotAttention(nn.Module):
    """q.k"""

    def __init__(self, case):
        super().__init__()

    def forward(self, queries, keys, values, lengths):
        return attend(queries @ keys.transpose(1, 2), values, lengths)


class GeneralAttention(nn.Module):
    """q^T W k, W [query, key]"""

    def __init__(self, case):
        super().__init__()
        self.W = nn.Linear(case.key_width, HIDDEN, bias=False)

    def forward(self, queries, keys, values, lengths):
        return attend(queries @ self.W(keys).transpose(1, 2), values, lengths)


ATTENTIONS = {
    "additive": AdditiveAttention, "scaled_dot": ScaledDotAttention, "dot": DotAttention, "general": GeneralAttention
}


class GruResetBefore(nn.Module):
    """nn.GRU, its names, layouts and order of states, but with n = tanh(W_in x + b_in + W_hn (r * h) + b_hn).

    The papers of 2014 and 2015 reset h before the product; nn.GRU, for the sake of speed, resets the product.
    """

    def __init__(self, inputs, layers, bidirectional):
        super().__init__()
        sides = ["", "_reverse"] if bidirectional else [""]
        self.suffixes = [[f"_l{layer}{side}" for side in sides] for layer in range(layers)]
        for layer, suffixes in enumerate(self.suffixes):
            width = inputs if layer == 0 else len(sides) * HIDDEN
            shapes = {"weight_ih": (width,), "weight_hh": (HIDDEN,), "bias_ih": (), "bias_hh": ()}
            for suffix, (name, columns) in itertools.product(suffixes, shapes.items()):
                self.register_parameter(name + suffix, nn.Parameter(torch.empty(3 * HIDDEN, *columns)))

    def step(self, suffix, x, h):
        """x [batch, input], h [batch, hidden] -> h [batch, hidden]"""
        weight_ih, weight_hh, bias_ih, bias_hh = (
            getattr(self, name + suffix) for name in ["weight_ih", "weight_hh", "bias_ih", "bias_hh"]
        )
        xr, xz, xn = nn.functional.linear(x, weight_ih, bias_ih).chunk(3, dim=-1)
        rows = 2 * HIDDEN  # of r and z, which see h as it is
        hr, hz = nn.functional.linear(h, weight_hh[:rows], bias_hh[:rows]).chunk(2, dim=-1)
        r, z = torch.sigmoid(xr + hr), torch.sigmoid(xz + hz)
        n = torch.tanh(xn + nn.functional.linear(r * h, weight_hh[rows:], bias_hh[rows:]))
        return (1 - z) * n + z * h

    def read(self, suffix, inputs, h, lengths):
        """One layer in one direction. -> outputs [batch, steps, hidden], 0 beyond the lengths, and the last h

        Beyond a sentence's end its state stays what it is: backwards that is h as given, up to its last valid token.
        """
        steps, outputs = range(inputs.shape[1]), {}
        for t in reversed(steps) if suffix.endswith("_reverse") else steps:
            valid = (t < lengths)[:, None]
            h = torch.where(valid, self.step(suffix, inputs[:, t], h), h)
            outputs[t] = h.masked_fill(~valid, 0)
        return torch.stack([outputs[t] for t in steps], dim=1), h

    def forward(self, inputs, state=None, lengths=None):
        """inputs [batch, steps, input], state [layers * directions, batch, hidden], 0 if None, lengths [batch], all
        steps if None -> outputs [batch, steps, directions * hidden], state
        """
        batch, steps, _ = inputs.shape
        lengths = torch.full((batch,), steps) if lengths is None else lengths
        first = itertools.repeat(inputs.new_zeros(batch, HIDDEN)) if state is None else iter(state)
        finals = []
        for suffixes in self.suffixes:
            sides = [self.read(suffix, inputs, next(first), lengths) for suffix in suffixes]
            inputs = torch.cat([outputs for outputs, _ in sides], dim=-1)
            finals += [h for _, h in sides]
        return inputs, torch.stack(finals)


class SplitRnn(nn.Module):
    """nn.GRU or nn.LSTM step by step, its names, layouts and order of states, where PyTorch has no such layer: with
    layer normalisation of W_ih x + b_ih and W_hh h + b_hh, and of c before its tanh (Ba, Kiros, Hinton 2016), and with
    residual connections, from the second layer on (Wu et al. 2016).
    """

    def __init__(self, case, inputs, bidirectional):
        super().__init__()
        self.memory, self.normed, self.residual = "lstm" in case.cell, "layer_norm" in case.cell, case.residual
        rows = (4 if self.memory else 3) * HIDDEN
        sides = ["", "_reverse"] if bidirectional else [""]
        self.suffixes = [[f"_l{layer}{side}" for side in sides] for layer in range(case.layers)]
        for layer, suffixes in enumerate(self.suffixes):
            width = inputs if layer == 0 else len(sides) * HIDDEN
            shapes = {"weight_ih": (width,), "weight_hh": (HIDDEN,), "bias_ih": (), "bias_hh": ()}
            for suffix, (name, columns) in itertools.product(suffixes, shapes.items()):
                self.register_parameter(name + suffix, nn.Parameter(torch.empty(rows, *columns)))
            norms = {"norm_ih": rows, "norm_hh": rows} | ({"norm_c": HIDDEN} if self.memory else {})
            for suffix, (name, norm_width) in itertools.product(suffixes, norms.items() if self.normed else []):
                self.add_module(name + suffix, nn.LayerNorm(norm_width))  # a place for weight and bias

    def norm(self, name, v):
        if not self.normed:
            return v
        layer = getattr(self, name)
        return nn.functional.layer_norm(v, v.shape[-1:], layer.weight, layer.bias, eps=1e-5)

    def step(self, suffix, x, state):
        """x [batch, input], state (h,) or (h, c), each [batch, hidden] -> state"""
        weight_ih, weight_hh, bias_ih, bias_hh = (
            getattr(self, name + suffix) for name in ["weight_ih", "weight_hh", "bias_ih", "bias_hh"]
        )
        from_x = self.norm("norm_ih" + suffix, nn.functional.linear(x, weight_ih, bias_ih))
        from_h = self.norm("norm_hh" + suffix, nn.functional.linear(state[0], weight_hh, bias_hh))
        if self.memory:
            i, f, g, o = (from_x + from_h).chunk(4, dim=-1)
            c = torch.sigmoid(f) * state[1] + torch.sigmoid(i) * torch.tanh(g)
            return torch.sigmoid(o) * torch.tanh(self.norm("norm_c" + suffix, c)), c
        (xr, xz, xn), (hr, hz, hn) = from_x.chunk(3, dim=-1), from_h.chunk(3, dim=-1)
        r, z = torch.sigmoid(xr + hr), torch.sigmoid(xz + hz)
        n = torch.tanh(xn + r * hn)
        return ((1 - z) * n + z * state[0],)

    def read(self, suffix, inputs, state, lengths):
        """One layer in one direction. -> outputs [batch, steps, hidden], 0 beyond the lengths, and the last state"""
        steps, outputs = range(inputs.shape[1]), {}
        for t in reversed(steps) if suffix.endswith("_reverse") else steps:
            valid = (t < lengths)[:, None]
            state = tuple(torch.where(valid, *parts) for parts in zip(self.step(suffix, inputs[:, t], state), state))
            outputs[t] = state[0].masked_fill(~valid, 0)
        return torch.stack([outputs[t] for t in steps], dim=1), state

    def forward(self, inputs, state=None, lengths=None):
        """As nn.GRU's and nn.LSTM's, with lengths [batch], all steps if None."""
        batch, steps, _ = inputs.shape
        lengths = torch.full((batch,), steps) if lengths is None else lengths
        zero = inputs.new_zeros(batch, HIDDEN)
        if state is None:
            first = itertools.repeat((zero, zero) if self.memory else (zero,))
        else:
            first = zip(*state) if self.memory else zip(state)
        finals = []
        for layer, suffixes in enumerate(self.suffixes):
            sides = [self.read(suffix, inputs, next(first), lengths) for suffix in suffixes]
            outputs = torch.cat([side for side, _ in sides], dim=-1)
            inputs = outputs + inputs if self.residual and layer > 0 else outputs
            finals += [last for _, last in sides]
        stacked = tuple(torch.stack(parts) for parts in zip(*finals))
        return inputs, stacked if self.memory else stacked[0]


def make_rnn(case, inputs, bidirectional):
    if case.residual or "layer_norm" in case.cell:
        return SplitRnn(case, inputs, bidirectional)
    if case.cell == "gru_reset_before":
        return GruResetBefore(inputs, case.layers, bidirectional)
    layer = nn.GRU if case.cell == "gru" else nn.LSTM
    return layer(inputs, HIDDEN, case.layers, batch_first=True, bidirectional=bidirectional)


class Encoder(nn.Module):
    def __init__(self, case):
        super().__init__()
        self.case = case
        self.embedding = nn.Embedding(len(SOURCE_VOCABULARY), EMBED)
        self.rnn = make_rnn(case, EMBED, case.bidirectional)

    def forward(self, tokens, lengths):
        """-> outputs [batch, max_length, key_width], final (h,) or (h, c), each [layers * directions, batch, hidden]"""
        inputs = self.embedding(tokens)  # [batch, max_length, embed]
        if isinstance(self.rnn, (GruResetBefore, SplitRnn)):  # only "valid" cases; packing is for PyTorch's own layers
            outputs, state = self.rnn(inputs, lengths=lengths)
        elif self.case.final_state == "valid":
            packed, state = self.rnn(pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False))
            outputs, _ = pad_packed_sequence(packed, batch_first=True, total_length=MAX_LENGTH)
        else:  # as d2l runs it: on through <pad>; backwards, the reading starts there
            outputs, state = self.rnn(inputs)
        return outputs, (state if "lstm" in self.case.cell else (state,))


# What the dense layer reads: forward(before, output, context, y), with the top layer's h before the step, what the
# decoder gives after it (its top layer's h, or a), the context, and the previous token's embedding. [batch, 1, each]


class LinearReadout(nn.Module):
    width = HIDDEN

    def __init__(self, case):
        super().__init__()

    def forward(self, before, output, context, y):
        return output


class ConcatReadout(nn.Module):
    def __init__(self, case):
        super().__init__()
        self.width = HIDDEN + case.key_width + EMBED

    def forward(self, before, output, context, y):
        return torch.cat([output, context, y], dim=-1)


class SumReadout(nn.Module):
    """W_s s + W_y y + W_c c + b: what the two below begin with."""

    def __init__(self, case, rows):
        super().__init__()
        self.state = nn.Linear(HIDDEN, rows)
        self.token = nn.Linear(EMBED, rows, bias=False)
        self.context = nn.Linear(case.key_width, rows, bias=False)

    def sum(self, s, context, y):
        return self.state(s) + self.token(y) + self.context(context)


class TanhReadout(SumReadout):
    width = EMBED

    def __init__(self, case):
        super().__init__(case, rows=EMBED)

    def forward(self, before, output, context, y):
        return torch.tanh(self.sum(output, context, y))


class DeepReadout(SumReadout):
    width = DEEP

    def __init__(self, case):
        super().__init__(case, rows=2 * DEEP)
        self.reads_before = case.readout == f"deep({DEEP})"
        self.maxout = nn.MaxPool1d(2)  # of neighbours: t_j = max(t_2j, t_2j+1)

    def forward(self, before, output, context, y):
        return self.maxout(self.sum(before if self.reads_before else output, context, y))


READOUTS = {
    "linear": LinearReadout, "concat": ConcatReadout, "tanh": TanhReadout, f"deep({DEEP})": DeepReadout,
    f"deep({DEEP},after)": DeepReadout,
}


class Decoder(nn.Module):
    def __init__(self, case):
        super().__init__()
        self.case = case
        self.attention = ATTENTIONS[case.score](case)
        self.embedding = nn.Embedding(len(TARGET_VOCABULARY), EMBED)
        beside_token = {"attend_then_step": case.key_width, "step_then_attend": 0, "input_feeding": HIDDEN}
        self.rnn = make_rnn(case, beside_token[case.decoder] + EMBED, bidirectional=False)
        self.readout = READOUTS[case.readout](case)
        self.dense = nn.Linear(self.readout.width, len(TARGET_VOCABULARY))
        if case.tied:
            self.dense.weight = self.embedding.weight  # one parameter, which named_parameters() names but once
        if case.decoder != "attend_then_step":
            self.combine = nn.Linear(case.key_width + HIDDEN, HIDDEN, bias=False)
        if case.bidirectional:
            self.bridge = nn.ModuleDict({part: self.make_bridge(case) for part in case.state_parts})

    @staticmethod
    def make_bridge(case):
        inputs = HIDDEN if case.bridge == "backward" else 2 * HIDDEN
        return nn.ModuleList(nn.Linear(inputs, HIDDEN) for _ in range(case.layers))

    def bridge_inputs(self, states, encoder_outputs, source_lengths):
        """What each layer's part of the first state is made from. Per layer [batch, hidden or 2 * hidden]"""
        if self.case.bridge == "mean":  # of the keys below the valid length
            keys = encoder_outputs.masked_fill(~is_valid(source_lengths)[:, :, None], 0)
            return [keys.sum(dim=1) / source_lengths[:, None]] * self.case.layers
        forward, backward = states[0::2], states[1::2]  # [2 * layers, batch, hidden]: l0 forward, l0 backward, l1 ...
        return backward if self.case.bridge == "backward" else torch.cat([forward, backward], dim=-1)

    def initial_state(self, encoder_outputs, final, source_lengths):
        """The encoder's final state, two directions folded into one. -> (h,) or (h, c), each [layers, batch, hidden]"""
        if not self.case.bidirectional:
            return final
        folded = []
        for part, states in zip(self.case.state_parts, final):
            inputs = self.bridge_inputs(states, encoder_outputs, source_lengths)
            linear = torch.stack([layer(x) for layer, x in zip(self.bridge[part], inputs)])
            folded.append(torch.tanh(linear) if part == "h" else linear)  # a cell state is not bounded by 1
        return tuple(folded)

    def step_cells(self, x, state):
        """x [batch, 1, input] -> the top layer's h after the step [batch, 1, hidden], the state of all layers"""
        output, state = self.rnn(x, state if "lstm" in self.case.cell else state[0])
        return output, (state if "lstm" in self.case.cell else (state,))

    def forward(self, inputs, encoder_outputs, final, source_lengths):
        """One pass over inputs [batch, max_length], the true previous tokens.

        -> logits [batch, max_length, vocabulary], attention [batch, max_length (target), max_length (source)]
        """
        attend_to_source = lambda query: self.attention(query, encoder_outputs, encoder_outputs, source_lengths)
        state = self.initial_state(encoder_outputs, final, source_lengths)
        output = encoder_outputs.new_zeros(len(inputs), 1, HIDDEN)  # a_0, if it is fed
        logits, attention = [], []
        for token in inputs.T:  # [batch]
            y = self.embedding(token)[:, None, :]  # [batch, 1, embed]
            before = state[0][-1][:, None, :]  # the top layer's h, [batch, 1, hidden]
            if self.case.decoder == "attend_then_step":
                context, weights = attend_to_source(before)
                output, state = self.step_cells(torch.cat([context, y], dim=-1), state)
            else:
                fed = [output] if self.case.decoder == "input_feeding" else []
                query, state = self.step_cells(torch.cat([*fed, y], dim=-1), state)
                context, weights = attend_to_source(query)
                output = torch.tanh(self.combine(torch.cat([context, query], dim=-1)))  # a
            logits.append(self.dense(self.readout(before, output, context, y)))
            attention.append(weights)
        return torch.cat(logits, dim=1), torch.cat(attention, dim=1)


class EncoderDecoder(nn.Module):
    def __init__(self, case):
        super().__init__()
        self.encoder = Encoder(case)
        self.decoder = Decoder(case)

    def forward(self, batch):
        outputs, final = self.encoder(batch.source, batch.source_lengths)
        logits, attention = self.decoder(batch.decoder_input, outputs, final, batch.source_lengths)
        # What lies beyond a sentence's end is nobody's business: 0.
        no_source = ~is_valid(batch.source_lengths)[:, :, None]
        no_target = ~is_valid(batch.target_lengths)[:, :, None]
        return outputs.masked_fill(no_source, 0), logits.masked_fill(no_target, 0), attention.masked_fill(no_target, 0)


# --- Training --------------------------------------------------------------------------------------------------------


def token_log_probs(logits, batch):
    """Log-probability of each valid target token, 0 beyond. [batch, max_length]"""
    chosen = torch.log_softmax(logits, dim=-1).gather(-1, batch.target[:, :, None]).squeeze(-1)
    return chosen.masked_fill(~is_valid(batch.target_lengths), 0)


def loss_of(logits, batch):
    """Each sentence's summed cross-entropy over max_length (never over its own length), summed over the batch."""
    return -token_log_probs(logits, batch).sum() / MAX_LENGTH


def global_norm(parameters):
    return torch.sqrt(sum((p.grad**2).sum() for p in parameters))


def clip(parameters):
    """g *= theta / norm if norm > theta. By hand: torch's clip_grad_norm_ divides by norm + 1e-6. Returns the norm."""
    norm = global_norm(parameters)
    if norm > THETA:
        for p in parameters:
            p.grad *= THETA / norm
    return norm.item()


def maxout_lead(model, batch):
    """By how much, at least, the larger of two neighbours leads in a maxout; infinite where there is none."""
    if not isinstance(model.decoder.readout, DeepReadout):
        return torch.inf
    sums = []  # of each step [batch, 1, 2 * deep]
    hook = model.decoder.readout.maxout.register_forward_pre_hook(lambda _, arguments: sums.append(arguments[0]))
    with torch.no_grad():
        model(batch)
    hook.remove()
    valid = torch.cat(sums, dim=1)[is_valid(batch.target_lengths)]  # [tokens, 2 * deep]
    return (valid[:, 0::2] - valid[:, 1::2]).abs().min().item()


def train(model, batch):
    """Five steps on the same batch, in place. Returns of each the norm before clipping, and the maxout's lead."""
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE, betas=(0.9, 0.999), eps=1e-8)
    norms, leads = [], []
    for _ in range(STEPS):
        leads.append(maxout_lead(model, batch))
        optimizer.zero_grad()
        loss_of(model(batch)[1], batch).backward()
        norms.append(clip(list(model.parameters())))
        optimizer.step()
    return norms, leads


# --- The same forward pass by hand -----------------------------------------------------------------------------------


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def norm_by_hand(w, name, v):
    """v [width], to mean 0 and variance 1, then scaled and shifted"""
    away = v - v.sum() / len(v)
    return w[name + ".weight"] * away / np.sqrt((away**2).sum() / len(v) + 1e-5) + w[name + ".bias"]


def step_by_hand(cell, w, suffix, x, state):
    """One step of one sentence. x [input], state (h,) or (h, c), each [hidden]"""
    h = state[0]
    from_x = w["weight_ih" + suffix] @ x + w["bias_ih" + suffix]
    from_h = w["weight_hh" + suffix] @ h + w["bias_hh" + suffix]
    normed = cell.startswith("layer_norm(")
    if normed:
        cell = cell.removeprefix("layer_norm(").removesuffix(")")
        from_x, from_h = norm_by_hand(w, "norm_ih" + suffix, from_x), norm_by_hand(w, "norm_hh" + suffix, from_h)
    if cell == "gru_reset_before":
        (xr, xz, xn), (hr, hz, _) = np.split(from_x, 3), np.split(from_h, 3)
        r, z = sigmoid(xr + hr), sigmoid(xz + hz)
        W_hn, b_hn = np.split(w["weight_hh" + suffix], 3)[2], np.split(w["bias_hh" + suffix], 3)[2]
        n = np.tanh(xn + W_hn @ (r * h) + b_hn)
        return ((1 - z) * n + z * h,)
    if cell == "gru":
        (xr, xz, xn), (hr, hz, hn) = np.split(from_x, 3), np.split(from_h, 3)
        r, z = sigmoid(xr + hr), sigmoid(xz + hz)
        n = np.tanh(xn + r * hn)
        return ((1 - z) * n + z * h,)
    i, f, g, o = np.split(from_x + from_h, 4)
    c = sigmoid(f) * state[1] + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(norm_by_hand(w, "norm_c" + suffix, c) if normed else c), c


def encode_by_hand(case, w, tokens):
    """-> outputs [steps, key_width], per layer the final states of its directions"""
    row, finals = list(w["encoder.embedding.weight"][tokens]), []
    rnn = under(w, "encoder.rnn.")
    for layer in range(case.layers):
        sides, finals_here = [], []
        for reverse in [False, True] if case.bidirectional else [False]:
            state, side = [np.zeros(HIDDEN) for _ in case.state_parts], []
            for x in row[::-1] if reverse else row:
                state = step_by_hand(case.cell, rnn, f"_l{layer}" + "_reverse" * reverse, x, state)
                side.append(state[0])
            sides.append(side[::-1] if reverse else side)
            finals_here.append(state)
        outputs = [np.concatenate(outputs) for outputs in zip(*sides)]
        row = [a + b for a, b in zip(outputs, row)] if case.residual and layer > 0 else outputs
        finals.append(finals_here)
    return np.array(row), finals


def bridge_by_hand(case, w, finals, keys):
    """-> the decoder's first state: per layer (h,) or (h, c)"""
    if not case.bidirectional:
        return [here[0] for here in finals]
    states, bridge = [], under(w, "decoder.bridge.")
    for l, (forward, backward) in enumerate(finals):
        inputs = {
            "both": [np.concatenate(pair) for pair in zip(forward, backward)],
            "backward": backward,
            "mean": [sum(keys) / len(keys) for _ in case.state_parts],
        }[case.bridge]
        linear = [bridge[f"{part}.{l}.weight"] @ x + bridge[f"{part}.{l}.bias"] for part, x in zip("hc", inputs)]
        states.append((np.tanh(linear[0]), *linear[1:]))
    return states


def attend_by_hand(case, w, query, keys):
    """query [hidden], keys [valid source steps, key_width] -> weights [valid source steps]"""
    a = under(w, "decoder.attention.")
    score = {
        "additive": lambda key: a["w_v.weight"][0] @ np.tanh(a["W_q.weight"] @ query + a["W_k.weight"] @ key),
        "scaled_dot": lambda key: query @ key / np.sqrt(HIDDEN),
        "dot": lambda key: query @ key,
        "general": lambda key: query @ a["W.weight"] @ key,
    }[case.score]
    exp = np.exp([score(key) for key in keys])
    return exp / exp.sum()


def readout_by_hand(case, w, before, output, context, y):
    """-> what the dense layer reads. Each [width]"""
    if case.readout == "linear":
        return output
    if case.readout == "concat":
        return np.concatenate([output, context, y])
    r, s = under(w, "decoder.readout."), before if case.readout == f"deep({DEEP})" else output
    t = r["state.weight"] @ s + r["token.weight"] @ y + r["context.weight"] @ context + r["state.bias"]
    return np.tanh(t) if case.readout == "tanh" else np.array([max(t[2 * j], t[2 * j + 1]) for j in range(DEEP)])


def translate_by_hand(case, w, source, source_length, target):
    """One sentence, nothing masked: what is not valid is simply not there.

    source [max_length], target [valid steps] -> outputs [source_length, key_width],
    logits [valid steps, vocabulary], attention [valid steps, source_length]
    """
    # "padded" reads on through <pad>, "valid" never sees one; both attend only to valid positions.
    outputs, finals = encode_by_hand(case, w, source if case.final_state == "padded" else source[:source_length])
    keys = outputs[:source_length]
    states, rnn = bridge_by_hand(case, w, finals, keys), under(w, "decoder.rnn.")
    dense = w["decoder.embedding.weight" if case.tied else "decoder.dense.weight"]

    def step_all_layers(x):
        for l in range(case.layers):
            states[l] = step_by_hand(case.cell, rnn, f"_l{l}", x, states[l])
            x = states[l][0] + x if case.residual and l > 0 else states[l][0]
        return x

    logits, attention, a = [], [], np.zeros(HIDDEN)
    for previous in [BOS, *target[:-1]]:
        y, before = w["decoder.embedding.weight"][previous], states[-1][0]
        if case.decoder == "attend_then_step":
            weights = attend_by_hand(case, w, before, keys)
            context = weights @ keys
            output = step_all_layers(np.concatenate([context, y]))
        else:
            s = step_all_layers(y if case.decoder == "step_then_attend" else np.concatenate([a, y]))
            weights = attend_by_hand(case, w, s, keys)
            context = weights @ keys
            output = a = np.tanh(w["decoder.combine.weight"] @ np.concatenate([context, s]))
        logits.append(dense @ readout_by_hand(case, w, before, output, context, y) + w["decoder.dense.bias"])
        attention.append(weights)
    return keys, np.array(logits), np.array(attention)


def check_by_hand(case, weights, expected):
    """The recorded forward pass must be the one the formulas give, sentence by sentence."""
    close = lambda a, b: np.testing.assert_allclose(a, b, rtol=0, atol=1e-12, err_msg=case.name)
    loss = 0
    for b, (s, t) in enumerate(zip(SOURCE_LENGTHS, TARGET_LENGTHS)):
        target = expected["target.tokens"][b, :t]
        outputs, logits, attention = translate_by_hand(case, weights, expected["source.tokens"][b], s, target)
        close(expected["encoder_outputs"][b, :s], outputs)
        close(expected["logits"][b, :t], logits)
        close(expected["attention"][b, :t, :s], attention)
        log_probs = logits[range(t), target] - np.log(np.exp(logits).sum(axis=1))
        close(expected["log_probs"][b, :t], log_probs)
        loss -= log_probs.sum() / MAX_LENGTH
        # Beyond the ends: exactly 0, not nearly.
        assert not expected["encoder_outputs"][b, s:].any() and not expected["logits"][b, t:].any()
        assert not expected["attention"][b, t:].any() and not expected["attention"][b, :, s:].any()
    close(expected["loss"], loss)


# --- Recording -------------------------------------------------------------------------------------------------------


def under(tensors, prefix):
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def numpy_of(tensor):
    return tensor.detach().numpy().copy()


def int32(tensor):
    return tensor.numpy().astype(np.int32)


def named(prefix, tensors):
    return {prefix + name: numpy_of(tensor) for name, tensor in tensors}


def model_metadata(case):
    values = {
        "format": "bahdanau/1",
        "config": case.config,
        "source_vocabulary": SOURCE_VOCABULARY,
        "target_vocabulary": TARGET_VOCABULARY,
        "text": {"tokens": "words", "lowercase": True, "max_length": MAX_LENGTH},
    }
    return {key: json.dumps(value, ensure_ascii=False) for key, value in values.items()}


def draw(case, seed):
    rng = generator(seed)
    batch = random_batch(rng)
    model = EncoderDecoder(case).double()
    fill(model, rng)
    return model, batch


def record_pass(model, batch):
    """One forward and backward pass: name -> array."""
    outputs, logits, attention = model(batch)
    loss = loss_of(logits, batch)
    loss.backward()
    return {
        "source.tokens": int32(batch.source),
        "source.lengths": int32(batch.source_lengths),
        "target.tokens": int32(batch.target),
        "target.lengths": int32(batch.target_lengths),
        "encoder_outputs": numpy_of(outputs),
        "logits": numpy_of(logits),
        "attention": numpy_of(attention),
        "log_probs": numpy_of(token_log_probs(logits, batch)),
        "loss": numpy_of(loss.reshape(1)),
        "grad_norm": numpy_of(global_norm(model.parameters()).reshape(1)),
        **named("gradient.", ((name, p.grad) for name, p in model.named_parameters())),
    }


def is_telling(case, expected):
    """False if the numbers drawn are so trivial that a wrong implementation could pass, or so delicate that a right
    one could fail: Adam turns any gradient g into a step of about rate * g / (|g| + 1e-8), so a rounding error in g
    grows most where g is next to nothing.

    A row of a maxout that is never the larger of its two has no gradient, and would be tested by nothing.
    """
    attention = expected["attention"][0, : TARGET_LENGTHS[0]]  # [3, 6]: the sentence without padding
    gradients = [np.abs(gradient).ravel() for gradient in under(expected, "gradient.").values()]
    largest = 0.99 * (case.layers if case.residual else 1)  # residual connections add up what each layer gives
    every = np.concatenate(gradients)
    return (
        0.2 < np.abs(expected["encoder_outputs"]).max() < largest
        and attention.max() < 0.9
        and np.ptp(attention, axis=1).max() > 0.02  # not a mean over the positions,
        and np.ptp(attention, axis=0).max() > 0.005  # and not the same at every step
        and min(gradient.max() for gradient in gradients) > 1e-4
        and every[every > 0].min() > 2e-7
        and all(gradient.all() for gradient in under(expected, "gradient.decoder.readout.").values())
    )


def record(case):
    """The case's first draw that can tell right from wrong.

    -> weights, expected (both name -> array), the gradient's norm in each training step
    """
    for attempt in range(1000):
        model, batch = draw(case, f"{case.name} {attempt}")
        weights = named("", model.named_parameters())
        expected = record_pass(model, batch)
        if not is_telling(case, expected):
            continue
        norms, leads = train(model, batch)
        if min(abs(norm - THETA) for norm in norms) < 0.01:  # whether to clip must not hang on the last bit,
            continue
        if min(leads) < 0.01:  # nor where a maxout's gradient goes
            continue
        expected |= named("after_five.", model.named_parameters())
        check_by_hand(case, weights, expected)
        return weights, expected, norms
    raise RuntimeError(f"{case.name}: no draw was good enough; see SCALES")


def state_dict_file(case, weights):
    """What a d2l user's own script leaves behind: float32 weights, no metadata."""
    model = EncoderDecoder(case)
    model.load_state_dict({name: torch.from_numpy(value).float() for name, value in weights.items()})
    return safetensors.torch.save(model.state_dict())  # the bytes that save_file writes


class LayerRecorder:
    """One layer's inputs, weights, outputs, and the gradients of sum(outputs * g), under one prefix."""

    def __init__(self, prefix):
        self.prefix, self.rng, self.tensors, self.leaves = prefix, generator(prefix), {}, {}

    def leaf(self, name, *shape):
        value = torch.from_numpy(0.7 * self.rng.standard_normal(shape)).requires_grad_()
        self.leaves[name] = self.tensors[name] = value
        return value

    def outputs(self, differentiated, **others):
        total = 0
        for name, value in differentiated.items():
            g = torch.from_numpy(self.rng.standard_normal(tuple(value.shape)))  # the adjoint handed to the layer
            self.tensors["g." + name] = g
            total = total + (value * g).sum()
        total.backward()
        self.tensors.update({"out." + name: value for name, value in (differentiated | others).items()})
        self.tensors.update({"gradient." + name: leaf.grad for name, leaf in self.leaves.items()})
        return {f"{self.prefix}.{name}": numpy_of(tensor) for name, tensor in self.tensors.items()}


def record_cell(prefix, cell, parts):
    """One step of nn.GRUCell or nn.LSTMCell: x [3, 5], h (and c) [3, 4]."""
    layer = LayerRecorder(prefix)
    x = layer.leaf("x", 3, 5)
    state = tuple(layer.leaf(part, 3, 4) for part in parts)
    parameters = {name: layer.leaf(name, *p.shape) for name, p in cell.named_parameters()}
    out = torch.func.functional_call(cell, parameters, (x, state if len(parts) == 2 else state[0]))
    recorded = layer.outputs(dict(zip(parts, out if len(parts) == 2 else (out,))))

    w = {name + "_l0": value for name, value in under(recorded, prefix + ".").items()}
    for row in range(3):
        by_hand = step_by_hand(prefix, w, "_l0", w["x_l0"][row], [w[part + "_l0"][row] for part in parts])
        for part, value in zip(parts, by_hand):
            np.testing.assert_allclose(recorded[f"{prefix}.out.{part}"][row], value, rtol=0, atol=1e-12)
    return recorded


def record_attention(prefix, key_width):
    """queries [2, 3, 5], keys [2, 4, key_width], values [2, 4, 7]; the second sentence has two valid positions."""
    layer = LayerRecorder(prefix)
    lengths = torch.tensor([4, 2])
    queries, keys = layer.leaf("queries", 2, 3, 5), layer.leaf("keys", 2, 4, key_width)
    values = layer.leaf("values", 2, 4, 7)
    if prefix == "additive":
        W_q, W_k, w_v = layer.leaf("W_q", 8, 5), layer.leaf("W_k", 8, key_width), layer.leaf("w_v", 1, 8)
        scores = additive_scores(queries @ W_q.T, keys @ W_k.T, w_v)
    else:
        scores = scaled_dot_scores(queries, keys)
    contexts, weights = attend(scores, values, lengths)
    recorded = layer.outputs({"contexts": contexts}, weights=weights)
    recorded[f"{prefix}.valid_lengths"] = int32(lengths)
    assert not recorded[f"{prefix}.out.weights"][1, :, 2:].any()
    assert not recorded[f"{prefix}.gradient.keys"][1, 2:].any()
    return recorded


def record_layers():
    return {
        **record_cell("gru", nn.GRUCell(5, 4).double(), ["h"]),
        **record_cell("lstm", nn.LSTMCell(5, 4).double(), ["h", "c"]),
        **record_attention("additive", key_width=6),
        **record_attention("scaled_dot", key_width=5),
    }


# --- Files -----------------------------------------------------------------------------------------------------------

DTYPES = {"F64": np.dtype("<f8"), "F32": np.dtype("<f4"), "I32": np.dtype("<i4")}


def serialize(tensors, metadata):
    """A .safetensors file as bytes. Written here because safetensors.numpy.save leaves __metadata__ in a random order.

    Little-endian u64 header length, JSON header padded with spaces to a multiple of 8, then the arrays without gaps;
    8-byte types first, so that every array is aligned.
    """
    code_of = {dtype: code for code, dtype in DTYPES.items()}
    header, chunks, offset = {"__metadata__": dict(sorted(metadata.items()))}, [], 0
    for name in sorted(tensors, key=lambda name: (-tensors[name].itemsize, name)):
        chunk = np.ascontiguousarray(tensors[name]).tobytes()
        header[name] = {
            "dtype": code_of[tensors[name].dtype], "shape": list(tensors[name].shape),
            "data_offsets": [offset, offset + len(chunk)],
        }
        chunks.append(chunk)
        offset += len(chunk)
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(chunks)


def parse(content):
    """bytes -> name -> array, metadata. safetensors itself reads the arrays, so a malformed file is an error here."""
    tensors = {name: tensor.numpy() for name, tensor in safetensors.torch.load(content).items()}
    length = int.from_bytes(content[:8], "little")
    return tensors, json.loads(content[8 : 8 + length]).get("__metadata__", {})


def make_all():
    """Yields (label, {file name: bytes}), one for every case and one for the layers."""
    torch_version = {"torch": torch.__version__.split("+")[0]}
    norms = []
    for case in all_cases():
        weights, expected, case_norms = record(case)
        norms += case_norms
        files = {
            f"{case.name}.model.safetensors": serialize(weights, model_metadata(case)),
            f"{case.name}.expected.safetensors": serialize(expected, torch_version),
        }
        if case.name == "gru_additive_uni_l1_valid":
            files[f"{case.name}.state_dict.safetensors"] = state_dict_file(case, weights)
        loss, (first, *_, last) = expected["loss"][0], case_norms
        yield f"{case.name:30} loss {loss:.3f}  norm {first:.3f} .. {last:.3f}", files
    assert min(norms) < THETA < max(norms), "some steps must be clipped and some not"
    yield "layers", {"layers.expected.safetensors": serialize(record_layers(), torch_version)}


def difference(made, stored):
    """The largest difference between two files' arrays; a string if they are not even alike."""
    (new, new_metadata), (old, old_metadata) = parse(made), parse(stored)
    layout = lambda tensors: {name: (array.dtype, array.shape) for name, array in tensors.items()}
    if layout(new) != layout(old):
        return "names, types or shapes differ"
    if {**new_metadata, "torch": ""} != {**old_metadata, "torch": ""}:  # another release may give the same numbers
        return "metadata differ"
    # A NaN comes through np.max, and is not <= TOLERANCE.
    return float(np.max([np.abs(new[name].astype("f8") - old[name].astype("f8")).max() for name in new]))


def check(name, made):
    """-> is it the same, a few words about it"""
    path = DATA / name
    if not path.exists():
        return False, f"{name} is missing"
    try:
        found = difference(made, path.read_bytes())
    except safetensors.SafetensorError as error:
        found = str(error)
    if isinstance(found, str):
        return False, f"{name}: {found}"
    return found <= TOLERANCE, f"{found:.1e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the files in data/, write nothing")
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # a sum's order, and so its last bit, must not depend on the machine's cores

    if not arguments.check:
        DATA.mkdir(exist_ok=True)
    seen, size, good = set(), 0, True
    for label, files in make_all():
        seen |= files.keys()
        size += sum(map(len, files.values()))
        if arguments.check:
            results = [check(name, made) for name, made in files.items()]
            same = all(ok for ok, _ in results)
            good &= same
            words = ", ".join(words for _, words in results)
            print(f"{'same' if same else 'DIFFERENT':9}  {label}  differences: {words}")
        else:
            for name, made in files.items():
                parse(made)
                if not check(name, made)[0]:  # another CPU's last bits are no reason to replace a file
                    (DATA / name).write_bytes(made)
            print(label)
    for stray in sorted(path.name for path in DATA.glob("*") if path.name not in seen):
        good = False
        print(f"{stray}: not one of the files this script makes")
    print(f"{len(seen)} files, {size / 1e6:.2f} MB")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
