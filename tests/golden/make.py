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
REACH, HEADS = 2, 2  # of local attention, to each side; of multi-head attention
SOURCE_LENGTHS = [6, 2, 4, 1]  # neither sorted nor in the targets' order; each has a full row and a row of one
TARGET_LENGTHS = [3, 6, 1, 5]
BATCH = len(SOURCE_LENGTHS)

STEPS, RATE, THETA = 5, 0.005, 1.0  # training steps, Adam's rate, the norm that gradients are clipped to


# --- The cases -------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Case:
    cell: str  # gru, lstm, gru_reset_before, rnn, layer_norm(gru), layer_norm(lstm)
    score: str  # additive, scaled_dot, dot, general, local(general,2), coverage(additive), multi_head(scaled_dot,2), none
    bidirectional: bool
    layers: int
    final_state: str  # valid, padded
    decoder: str = "attend_then_step"  # or step_then_attend, input_feeding, conditional, fixed_context, plain
    readout: str = "linear"  # or concat, tanh, deep(3), deep(3,after)
    bridge: str = "both"  # or backward, mean
    tied: bool = False
    reverse_source: bool = False  # a text option: the encoder reads each row from its end, <eos> first
    residual: bool = False  # from the second layer on a layer's input is added to its output
    title: str = ""  # of a member of the family, instead of a list of its policies
    convolutional: tuple = ()  # layers and width of a convolutional encoder, instead of a recurrent one

    @property
    def name(self):
        if self.title:
            return f"{self.title}_l{self.layers}"
        return f"{self.cell}_{self.score}_{'bi' if self.bidirectional else 'uni'}_l{self.layers}_{self.final_state}"

    @property
    def key_width(self):
        return 2 * HIDDEN if self.bidirectional else HIDDEN

    @property
    def context_width(self):
        """Of what the decoder gives its readout; without attention a first state, or nothing."""
        attended = HIDDEN if self.score.startswith("multi_head") else self.key_width
        return {"fixed_context": HIDDEN, "plain": 0}.get(self.decoder, attended)

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
        if self.convolutional:
            sizes["encoder"] = "convolutional({},{})".format(*self.convolutional)
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
    # Scores that change another.
    "local_general": dict(cell="lstm", score=f"local(general,{REACH})", bidirectional=False, decoder="input_feeding"),
    "coverage": dict(cell="gru", score="coverage(additive)", bidirectional=True),
    "multi_head": dict(cell="gru", score=f"multi_head(scaled_dot,{HEADS})", bidirectional=False),
    "multi_head_bi": dict(
        cell="lstm", score=f"multi_head(scaled_dot,{HEADS})", bidirectional=True, readout="concat"
    ),
    "nematus": dict(  # Sennrich et al. 2017
        cell="gru", score="additive", bidirectional=True, bridge="mean", decoder="conditional", readout="tanh", tied=True
    ),
    "gehring": dict(  # Gehring et al. 2016
        cell="lstm", score="general", bidirectional=False, bridge="mean", convolutional=(2, 3)
    ),
    "conditional": dict(
        cell="lstm", score="scaled_dot", bidirectional=False, decoder="conditional", readout="concat"
    ),
    "rnn": dict(cell="rnn", score="additive", bidirectional=False),
    "sutskever": dict(  # Sutskever et al. 2014
        cell="lstm", score="none", bidirectional=False, decoder="plain", reverse_source=True
    ),
    "cho": dict(  # Cho et al. 2014
        cell="gru_reset_before", score="none", bidirectional=False, decoder="fixed_context",
        readout=f"deep({DEEP},after)",
    ),
    "fixed_concat": dict(
        cell="gru", score="none", bidirectional=True, decoder="fixed_context", readout="concat"
    ),
    "plain_tanh": dict(
        cell="gru", score="none", bidirectional=True, bridge="mean", decoder="plain", readout="tanh", tied=True
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
    "embedding": 1.0, "rnn": 0.9, "attention": 1.5, "bridge": 0.7, "combine": 0.9, "readout": 0.7, "dense": 0.4,
    "rnn2": 0.9, "position": 0.5, "project": 0.3, "keys": 0.25, "values": 0.25,
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


def reverse_valid(rows, lengths):
    """Each row's first `length` entries in reverse order; what follows stays. rows [batch, width, ...]"""
    return torch.stack([torch.cat([row[:n].flip(0), row[n:]]) for row, n in zip(rows, lengths.tolist())])


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


class LocalAttention(GeneralAttention):
    """Luong's local-p: softmax over the keys within reach of p = n sigma(v_p tanh(W_p q)), times a Gaussian."""

    def __init__(self, case):
        super().__init__(case)
        self.W_p = nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.v_p = nn.Linear(HIDDEN, 1, bias=False)
        self.lead = torch.inf  # of all calls: see window_lead

    def forward(self, queries, keys, values, lengths):
        p = lengths[:, None, None] * torch.sigmoid(self.v_p(torch.tanh(self.W_p(queries))))  # [batch, queries, 1]
        distance = torch.arange(keys.shape[1]) - p  # [batch, queries, keys]
        scores = queries @ self.W(keys).transpose(1, 2)
        beyond = distance.detach().abs() - REACH
        self.lead = min(self.lead, beyond.abs().min().item())
        _, weights = attend(scores.masked_fill(beyond > 0, -torch.inf), values, lengths)
        weights = weights * torch.exp(-(distance**2) / (2 * (REACH / 2) ** 2))
        return weights @ values, weights


class CoverageAttention(AdditiveAttention):
    """w_v tanh(W_q q + W_k k + m w_m), m the sum of the key's earlier weights; for one query a call."""

    def __init__(self, case):
        super().__init__(case)
        self.w_m = nn.Linear(1, HIDDEN, bias=False)
        self.covered = None  # m [batch, keys]; Decoder.forward begins anew

    def forward(self, queries, keys, values, lengths):
        if self.covered is None:
            self.covered = keys.new_zeros(keys.shape[:2])
        covered_keys = self.W_k(keys) + self.w_m(self.covered[:, :, None])
        context, weights = attend(additive_scores(self.W_q(queries), covered_keys, self.w_v.weight), values, lengths)
        self.covered = self.covered + weights[:, 0]
        return context, weights


class MultiHeadAttention(nn.MultiheadAttention):
    """PyTorch's own. It also keeps each head's weights, of which it returns the mean, in the order of the calls."""

    def __init__(self, case):
        super().__init__(HIDDEN, HEADS, kdim=case.key_width, vdim=case.key_width, batch_first=True)
        self.heads = []  # each [batch, heads, 1, keys]; Decoder.forward begins anew

    def forward(self, queries, keys, values, lengths):
        padding = ~is_valid(lengths, keys.shape[1])
        context, weights = super().forward(
            queries, keys, values, key_padding_mask=padding, need_weights=True, average_attn_weights=False
        )
        self.heads.append(weights)
        return context, weights.mean(dim=1)


ATTENTIONS = {
    "additive": AdditiveAttention, "scaled_dot": ScaledDotAttention, "dot": DotAttention, "general": GeneralAttention,
    f"local(general,{REACH})": LocalAttention, "coverage(additive)": CoverageAttention,
    f"multi_head(scaled_dot,{HEADS})": MultiHeadAttention,
}


class NoAttention(nn.Module):
    """Nothing is attended to: weights [batch, queries, 0]"""

    def __init__(self, case):
        super().__init__()


ATTENTIONS["none"] = NoAttention


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
    layer = {"gru": nn.GRU, "lstm": nn.LSTM, "rnn": nn.RNN}[case.cell]  # nn.RNN's default is tanh
    return layer(inputs, HIDDEN, case.layers, batch_first=True, bidirectional=bidirectional)


class Encoder(nn.Module):
    def __init__(self, case):
        super().__init__()
        self.case = case
        self.embedding = nn.Embedding(len(SOURCE_VOCABULARY), EMBED)
        self.rnn = make_rnn(case, EMBED, case.bidirectional)

    def forward(self, tokens, lengths):
        """-> outputs [batch, max_length, key_width], final (h,) or (h, c), each [layers * directions, batch, hidden]

        Of a row that is read from its end the outputs are in that order, too.
        """
        if self.case.reverse_source:
            tokens = reverse_valid(tokens, lengths)
        inputs = self.embedding(tokens)  # [batch, max_length, embed]
        if isinstance(self.rnn, (GruResetBefore, SplitRnn)):  # only "valid" cases; packing is for PyTorch's own layers
            outputs, state = self.rnn(inputs, lengths=lengths)
        elif self.case.final_state == "valid":
            packed, state = self.rnn(pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False))
            outputs, _ = pad_packed_sequence(packed, batch_first=True, total_length=MAX_LENGTH)
        else:  # as d2l runs it: on through <pad>; backwards, the reading starts there
            outputs, state = self.rnn(inputs)
        return outputs, (state if "lstm" in self.case.cell else (state,))


class ConvolutionalEncoder(nn.Module):
    POSITIONS = 1024

    def __init__(self, case):
        super().__init__()
        layers, width = case.convolutional
        stack = lambda: nn.ModuleList(nn.Conv1d(HIDDEN, HIDDEN, width, padding=width // 2) for _ in range(layers))
        self.embedding = nn.Embedding(len(SOURCE_VOCABULARY), EMBED)
        self.position = nn.Embedding(self.POSITIONS, EMBED)
        self.project = nn.Linear(EMBED, HIDDEN)
        self.keys, self.values = stack(), stack()

    def convolve(self, stack, x, valid):
        """x [batch, max_length, hidden], which is 0 beyond a sentence's end before each convolution"""
        for conv in stack:
            x = torch.tanh(conv(x.masked_fill(~valid, 0).transpose(1, 2)).transpose(1, 2) + x)
        return x

    def forward(self, tokens, lengths):
        """-> keys [batch, max_length, hidden], (values,) like them, in place of final states"""
        positions = torch.arange(tokens.shape[1]).clamp(max=self.POSITIONS - 1)
        x, valid = self.project(self.embedding(tokens) + self.position(positions)), is_valid(lengths)[:, :, None]
        return self.convolve(self.keys, x, valid), (self.convolve(self.values, x, valid),)


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
        self.width = HIDDEN + case.context_width + EMBED

    def forward(self, before, output, context, y):
        return torch.cat([output, y] if context is None else [output, context, y], dim=-1)


class SumReadout(nn.Module):
    """W_s s + W_y y + W_c c + b: what the two below begin with."""

    def __init__(self, case, rows):
        super().__init__()
        self.state = nn.Linear(HIDDEN, rows)
        self.token = nn.Linear(EMBED, rows, bias=False)
        if case.context_width > 0:
            self.context = nn.Linear(case.context_width, rows, bias=False)

    def sum(self, s, context, y):
        without = self.state(s) + self.token(y)
        return without if context is None else without + self.context(context)


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
        beside_token = {"attend_then_step": case.context_width, "input_feeding": HIDDEN, "fixed_context": HIDDEN}
        self.rnn = make_rnn(case, beside_token.get(case.decoder, 0) + EMBED, bidirectional=False)
        if case.decoder == "conditional":
            self.rnn2 = make_rnn(dataclasses.replace(case, layers=1), case.context_width, bidirectional=False)
        self.readout = READOUTS[case.readout](case)
        self.dense = nn.Linear(self.readout.width, len(TARGET_VOCABULARY))
        if case.tied:
            self.dense.weight = self.embedding.weight  # one parameter, which named_parameters() names but once
        if case.decoder in ["step_then_attend", "input_feeding"]:
            self.combine = nn.Linear(case.context_width + HIDDEN, HIDDEN, bias=False)
        if case.bidirectional or case.convolutional:
            self.bridge = nn.ModuleDict({part: self.make_bridge(case) for part in case.state_parts})

    @staticmethod
    def make_bridge(case):
        inputs = case.key_width if case.bridge != "backward" else HIDDEN
        return nn.ModuleList(nn.Linear(inputs, HIDDEN) for _ in range(case.layers))

    def bridge_inputs(self, states, values, source_lengths):
        """What each layer's part of the first state is made from. Per layer [batch, hidden or 2 * hidden]"""
        if self.case.bridge == "mean":  # of the values below the valid length
            values = values.masked_fill(~is_valid(source_lengths)[:, :, None], 0)
            return [values.sum(dim=1) / source_lengths[:, None]] * self.case.layers
        forward, backward = states[0::2], states[1::2]  # [2 * layers, batch, hidden]: l0 forward, l0 backward, l1 ...
        return backward if self.case.bridge == "backward" else torch.cat([forward, backward], dim=-1)

    def initial_state(self, values, final, source_lengths):
        """The encoder's final state, two directions folded into one. -> (h,) or (h, c), each [layers, batch, hidden]"""
        if not self.case.bidirectional and not self.case.convolutional:
            return final
        folded = []
        for part, states in itertools.zip_longest(self.case.state_parts, final):
            inputs = self.bridge_inputs(states, values, source_lengths)
            linear = torch.stack([layer(x) for layer, x in zip(self.bridge[part], inputs)])
            folded.append(torch.tanh(linear) if part == "h" else linear)  # a cell state is not bounded by 1
        return tuple(folded)

    def step_cells(self, x, state):
        """x [batch, 1, input] -> the top layer's h after the step [batch, 1, hidden], the state of all layers"""
        output, state = self.rnn(x, state if "lstm" in self.case.cell else state[0])
        return output, (state if "lstm" in self.case.cell else (state,))

    def step_layer(self, rnn, layer, x, state):
        """One layer of an nn.GRU or nn.LSTM, as PyTorch's cell. x [batch, input], state (h,) or (h, c) -> the same"""
        names = ["weight_ih", "weight_hh", "bias_ih", "bias_hh"]
        weights = [getattr(rnn, f"{name}_l{layer}") for name in names]
        if self.case.cell == "lstm":
            return torch.lstm_cell(x, state, *weights)
        return (torch.gru_cell(x, state[0], *weights),)

    def step_conditional(self, y, state, attend_to_source):
        """s' = Cell1(y, s), c with query s', s = Cell2(c, s') of layer 0, and the others on top

        y [batch, 1, embed] -> the top layer's h [batch, 1, hidden], the state of all layers, context, weights
        """
        states = list(zip(*state))  # per layer (h,) or (h, c)
        between = self.step_layer(self.rnn, 0, y[:, 0], states[0])
        context, weights = attend_to_source(between[0][:, None, :])
        states[0] = self.step_layer(self.rnn2, 0, context[:, 0], between)
        for l in range(1, self.case.layers):
            states[l] = self.step_layer(self.rnn, l, states[l - 1][0], states[l])
        state = tuple(torch.stack(parts) for parts in zip(*states))
        return states[-1][0][:, None, :], state, context, weights

    def forward(self, inputs, encoder_outputs, final, source_lengths):
        """One pass over inputs [batch, max_length], the true previous tokens.

        -> logits [batch, max_length, vocabulary], attention [batch, max_length (target), max_length (source)]
        """
        values = final[0] if self.case.convolutional else encoder_outputs
        attend_to_source = lambda query: self.attention(query, encoder_outputs, values, source_lengths)
        self.attention.covered, self.attention.heads = None, []  # of those that remember
        state = self.initial_state(values, final, source_lengths)
        fixed = state[0][-1][:, None, :]  # the top layer's first h, [batch, 1, hidden]
        output = encoder_outputs.new_zeros(len(inputs), 1, HIDDEN)  # a_0, if it is fed
        logits, attention = [], []
        for token in inputs.T:  # [batch]
            y = self.embedding(token)[:, None, :]  # [batch, 1, embed]
            before = state[0][-1][:, None, :]  # the top layer's h, [batch, 1, hidden]
            if self.case.decoder == "attend_then_step":
                context, weights = attend_to_source(before)
                output, state = self.step_cells(torch.cat([context, y], dim=-1), state)
            elif self.case.decoder == "conditional":
                output, state, context, weights = self.step_conditional(y, state, attend_to_source)
            elif self.case.score == "none":
                context = fixed if self.case.decoder == "fixed_context" else None
                weights = y.new_zeros(len(inputs), 1, 0)
                x = y if context is None else torch.cat([context, y], dim=-1)
                output, state = self.step_cells(x, state)
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
        self.encoder = ConvolutionalEncoder(case) if case.convolutional else Encoder(case)
        self.decoder = Decoder(case)

    def forward(self, batch):
        outputs, final = self.encoder(batch.source, batch.source_lengths)
        logits, attention = self.decoder(batch.decoder_input, outputs, final, batch.source_lengths)
        if self.decoder.case.reverse_source:  # back to the order of the source
            outputs = reverse_valid(outputs, batch.source_lengths)
            if self.decoder.case.score != "none":
                keys_first = reverse_valid(attention.transpose(1, 2), batch.source_lengths)
                attention = keys_first.transpose(1, 2)
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


def window_lead(model, batch):
    """By how much, at least, a key is inside or outside of a local window; infinite where there is none."""
    if not isinstance(model.decoder.attention, LocalAttention):
        return torch.inf
    model.decoder.attention.lead = torch.inf
    with torch.no_grad():
        model(batch)
    return model.decoder.attention.lead


def train(model, batch):
    """Five steps on the same batch, in place. Returns of each the norm before clipping, and the smaller lead."""
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE, betas=(0.9, 0.999), eps=1e-8)
    norms, leads = [], []
    for _ in range(STEPS):
        leads.append(min(maxout_lead(model, batch), window_lead(model, batch)))
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
    if cell == "rnn":
        return (np.tanh(from_x + from_h),)
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


def convolve_by_hand(case, w, tokens):
    """-> keys and values, each [steps, hidden]"""
    e, (layers, width) = under(w, "encoder."), case.convolutional
    word_and_position = e["embedding.weight"][tokens] + e["position.weight"][: len(tokens)]
    x = word_and_position @ e["project.weight"].T + e["project.bias"]
    stacks = []
    for stack in ["keys", "values"]:
        row = x
        for l in range(layers):
            beyond = np.zeros((width // 2, HIDDEN))
            padded = np.concatenate([beyond, row, beyond])
            weight, bias = e[f"{stack}.{l}.weight"], e[f"{stack}.{l}.bias"]  # [out, in, width], [out]
            conv = [sum(weight[:, :, k] @ padded[t + k] for k in range(width)) + bias for t in range(len(row))]
            row = np.tanh(np.array(conv) + row)
        stacks.append(row)
    return stacks


def bridge_by_hand(case, w, finals, keys):
    """-> the decoder's first state: per layer (h,) or (h, c)"""
    if case.convolutional:  # whose finals are values, and whose states come from their mean
        finals, keys = [((), ())] * case.layers, finals
    elif not case.bidirectional:
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


def attend_by_hand(case, w, query, keys, values, earlier):
    """query [hidden], keys and values [valid source steps, key_width], earlier: the weights of all steps before
    -> context [context_width], weights [valid source steps]
    """
    a = under(w, "decoder.attention.")
    if case.score.startswith("multi_head"):
        return attend_with_heads_by_hand(a, query, keys, values)
    if case.score.startswith("local"):
        p = len(keys) * sigmoid(a["v_p.weight"][0] @ np.tanh(a["W_p.weight"] @ query))
        near = [i for i in range(len(keys)) if abs(i - p) <= REACH]
        exp = {i: np.exp(query @ a["W.weight"] @ keys[i]) for i in near}
        weights = np.zeros(len(keys))
        for i in near:
            weights[i] = exp[i] / sum(exp.values()) * np.exp(-((i - p) ** 2) / (2 * (REACH / 2) ** 2))
        return weights @ values, weights
    score = {
        "additive": lambda key, m: a["w_v.weight"][0] @ np.tanh(a["W_q.weight"] @ query + a["W_k.weight"] @ key),
        "scaled_dot": lambda key, m: query @ key / np.sqrt(HIDDEN),
        "dot": lambda key, m: query @ key,
        "general": lambda key, m: query @ a["W.weight"] @ key,
        "coverage(additive)": lambda key, m: a["w_v.weight"][0] @ np.tanh(
            a["W_q.weight"] @ query + a["W_k.weight"] @ key + m * a["w_m.weight"][:, 0]
        ),
    }[case.score]
    exp = np.exp([score(key, m) for key, m in zip(keys, sum(earlier, np.zeros(len(keys))))])
    return exp / exp.sum() @ values, exp / exp.sum()


def attend_with_heads_by_hand(a, query, keys, values):
    """Head after head. -> context [hidden], the mean of the heads' weights [valid source steps]"""
    packed = "in_proj_weight" in a
    W_q, W_k, W_v = np.split(a["in_proj_weight"], 3) if packed else (a[f"{n}_proj_weight"] for n in "qkv")
    b_q, b_k, b_v = np.split(a["in_proj_bias"], 3)
    width, contexts, weights = HIDDEN // HEADS, [], []
    for head in range(HEADS):
        rows = slice(head * width, (head + 1) * width)
        q = (W_q @ query + b_q)[rows]
        exp = np.exp([q @ (W_k @ key + b_k)[rows] / np.sqrt(width) for key in keys])
        weights.append(exp / exp.sum())
        contexts.append(sum(weight * (W_v @ value + b_v)[rows] for weight, value in zip(weights[-1], values)))
    return a["out_proj.weight"] @ np.concatenate(contexts) + a["out_proj.bias"], sum(weights) / HEADS


def readout_by_hand(case, w, before, output, context, y):
    """-> what the dense layer reads. Each [width]"""
    if case.readout == "linear":
        return output
    if case.readout == "concat":
        return np.concatenate([output, context, y])  # a context of width 0 is none
    r, s = under(w, "decoder.readout."), before if case.readout == f"deep({DEEP})" else output
    t = r["state.weight"] @ s + r["token.weight"] @ y + r["state.bias"]
    if case.context_width > 0:
        t = t + r["context.weight"] @ context
    return np.tanh(t) if case.readout == "tanh" else np.array([max(t[2 * j], t[2 * j + 1]) for j in range(DEEP)])


def translate_by_hand(case, w, source, source_length, target):
    """One sentence, nothing masked: what is not valid is simply not there.

    source [max_length], target [valid steps] -> outputs [source_length, key_width],
    logits [valid steps, vocabulary], attention [valid steps, source_length]
    """
    # "padded" reads on through <pad>, "valid" never sees one; both attend only to valid positions.
    encode = convolve_by_hand if case.convolutional else encode_by_hand
    words = source[:source_length][:: -1 if case.reverse_source else 1]
    outputs, finals = encode(
        case, w, np.concatenate([words, source[source_length:]]) if case.final_state == "padded" else words
    )
    keys = outputs[:source_length]
    values = finals if case.convolutional else keys
    states, rnn = bridge_by_hand(case, w, finals, keys), under(w, "decoder.rnn.")
    dense = w["decoder.embedding.weight" if case.tied else "decoder.dense.weight"]

    def step_all_layers(x, first=0):
        for l in range(first, case.layers):
            states[l] = step_by_hand(case.cell, rnn, f"_l{l}", x, states[l])
            x = states[l][0] + x if case.residual and l > 0 else states[l][0]
        return x

    logits, attention, a = [], [], np.zeros(HIDDEN)
    fixed = states[-1][0] if case.decoder == "fixed_context" else np.zeros(0)
    for previous in [BOS, *target[:-1]]:
        y, before = w["decoder.embedding.weight"][previous], states[-1][0]
        if case.decoder == "attend_then_step":
            context, weights = attend_by_hand(case, w, before, keys, values, attention)
            output = step_all_layers(np.concatenate([context, y]))
        elif case.decoder == "conditional":
            between = step_by_hand(case.cell, rnn, "_l0", y, states[0])
            context, weights = attend_by_hand(case, w, between[0], keys, values, attention)
            states[0] = step_by_hand(case.cell, under(w, "decoder.rnn2."), "_l0", context, between)
            output = step_all_layers(states[0][0], first=1)
        elif case.score == "none":
            weights, context = np.zeros(0), fixed
            output = step_all_layers(np.concatenate([context, y]))
        else:
            s = step_all_layers(y if case.decoder == "step_then_attend" else np.concatenate([a, y]))
            context, weights = attend_by_hand(case, w, s, keys, values, attention)
            output = a = np.tanh(w["decoder.combine.weight"] @ np.concatenate([context, s]))
        logits.append(dense @ readout_by_hand(case, w, before, output, context, y) + w["decoder.dense.bias"])
        attention.append(weights)
    back = -1 if case.reverse_source else 1
    return keys[::back], np.array(logits), np.array(attention)[:, ::back]


def check_by_hand(case, weights, expected):
    """The recorded forward pass must be the one the formulas give, sentence by sentence."""
    close = lambda a, b: np.testing.assert_allclose(a, b, rtol=0, atol=1e-12, err_msg=case.name)
    loss = 0
    for b, (s, t) in enumerate(zip(SOURCE_LENGTHS, TARGET_LENGTHS)):
        target = expected["target.tokens"][b, :t]
        outputs, logits, attention = translate_by_hand(case, weights, expected["source.tokens"][b], s, target)
        close(expected["encoder_outputs"][b, :s], outputs)
        close(expected["logits"][b, :t], logits)
        if case.score != "none":
            close(expected["attention"][b, :t, :s], attention)
        log_probs = logits[range(t), target] - np.log(np.exp(logits).sum(axis=1))
        close(expected["log_probs"][b, :t], log_probs)
        loss -= log_probs.sum() / MAX_LENGTH
        # Beyond the ends: exactly 0, not nearly.
        assert not expected["encoder_outputs"][b, s:].any() and not expected["logits"][b, t:].any()
        if case.score != "none":
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
    text = {"tokens": "words", "lowercase": True, "max_length": MAX_LENGTH}
    if case.reverse_source:
        text["reverse_source"] = True
    values = {
        "format": "bahdanau/1",
        "config": case.config,
        "source_vocabulary": SOURCE_VOCABULARY,
        "target_vocabulary": TARGET_VOCABULARY,
        "text": text,
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
    heads = {}
    if model.decoder.attention.heads:  # [batch, heads, max_length (target), max_length (source)]
        valid = is_valid(batch.target_lengths)[:, None, :, None]
        heads = {"heads": numpy_of(torch.cat(model.decoder.attention.heads, dim=2).masked_fill(~valid, 0))}
    return heads | {
        "source.tokens": int32(batch.source),
        "source.lengths": int32(batch.source_lengths),
        "target.tokens": int32(batch.target),
        "target.lengths": int32(batch.target_lengths),
        "encoder_outputs": numpy_of(outputs),
        "logits": numpy_of(logits),
        **({"attention": numpy_of(attention)} if attention.shape[-1] > 0 else {}),
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
    gradients = [np.abs(gradient).ravel() for gradient in under(expected, "gradient.").values()]
    largest = 0.99 * (case.layers if case.residual else 1)  # residual connections add up what each layer gives
    every = np.concatenate(gradients)
    return (
        0.2 < np.abs(expected["encoder_outputs"]).max() < largest
        and attends_tellingly(expected)
        and min(gradient.max() for gradient in gradients) > 1e-4
        and every[every > 1e-15].min() > 2e-7  # less is 0 but for rounding, as that of a bias that softmax does not see
        and all(gradient.all() for gradient in under(expected, "gradient.decoder.readout.").values())
    )


def attends_tellingly(expected):
    if "attention" not in expected:  # a model without
        return True
    attention = expected["attention"][0, : TARGET_LENGTHS[0]]  # [3, 6]: the sentence without padding
    return (
        attention.max() < 0.9
        and np.ptp(attention, axis=1).max() > 0.02  # not a mean over the positions,
        and np.ptp(attention, axis=0).max() > 0.005  # and not the same at every step
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
        if min(leads) < 0.01:  # nor where a maxout's gradient goes, nor what a window holds
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
