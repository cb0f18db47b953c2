#!/usr/bin/env python3
"""Records what PyTorch computes, so that the C++ tests can ask for the same numbers without PyTorch.

The promise is "the same numbers as PyTorch from the same weights". So this script writes the model with PyTorch's own
layers (nn.GRU, nn.LSTM, nn.Linear, autograd, Adam), fills it with seeded weights, and records in float64 the logits,
the attention, the loss, every gradient, and every weight after five training steps. A mistake in the script would
become a wrong expectation, so each forward pass is also worked out a second time in numpy, one sentence at a time, with
no packing and no masks, from the formulas alone, and the two must agree before anything is written.

    pip install torch safetensors numpy
    python make.py            # writes data/
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
SOURCE_LENGTHS = [6, 2, 4, 1]  # neither sorted nor in the targets' order; each has a full row and a row of one
TARGET_LENGTHS = [3, 6, 1, 5]
BATCH = len(SOURCE_LENGTHS)

STEPS, RATE, THETA = 5, 0.005, 1.0  # training steps, Adam's rate, the norm that gradients are clipped to


# --- The cases -------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Case:
    cell: str  # gru, lstm
    score: str  # additive, scaled_dot
    bidirectional: bool
    layers: int
    final_state: str  # valid, padded

    @property
    def name(self):
        return f"{self.cell}_{self.score}_{'bi' if self.bidirectional else 'uni'}_l{self.layers}_{self.final_state}"

    @property
    def key_width(self):
        return 2 * HIDDEN if self.bidirectional else HIDDEN

    @property
    def config(self):
        return {
            "cell": self.cell, "score": self.score, "embed": EMBED, "hidden": HIDDEN, "layers": self.layers,
            "dropout": 0.0, "encoder": "bidirectional" if self.bidirectional else "unidirectional",
            "final_state": self.final_state,
        }


def all_cases():
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
SCALES = {"embedding": 1.0, "rnn": 0.9, "attention": 1.5, "bridge": 0.7, "dense": 0.4}


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
    def __init__(self, query, key, hidden):
        super().__init__()
        self.W_q = nn.Linear(query, hidden, bias=False)
        self.W_k = nn.Linear(key, hidden, bias=False)
        self.w_v = nn.Linear(hidden, 1, bias=False)

    def forward(self, queries, keys, values, lengths):
        return attend(additive_scores(self.W_q(queries), self.W_k(keys), self.w_v.weight), values, lengths)


class ScaledDotAttention(nn.Module):
    def forward(self, queries, keys, values, lengths):
        return attend(scaled_dot_scores(queries, keys), values, lengths)


def make_rnn(case, inputs, bidirectional):
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
        if self.case.final_state == "valid":
            packed, state = self.rnn(pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False))
            outputs, _ = pad_packed_sequence(packed, batch_first=True, total_length=MAX_LENGTH)
        else:  # as d2l runs it: on through <pad>; backwards, the reading starts there
            outputs, state = self.rnn(inputs)
        return outputs, (state if self.case.cell == "lstm" else (state,))


class Decoder(nn.Module):
    def __init__(self, case):
        super().__init__()
        self.case = case
        additive = case.score == "additive"
        self.attention = AdditiveAttention(HIDDEN, case.key_width, HIDDEN) if additive else ScaledDotAttention()
        self.embedding = nn.Embedding(len(TARGET_VOCABULARY), EMBED)
        self.rnn = make_rnn(case, case.key_width + EMBED, bidirectional=False)
        self.dense = nn.Linear(HIDDEN, len(TARGET_VOCABULARY))
        if case.bidirectional:
            parts = ["h"] if case.cell == "gru" else ["h", "c"]
            self.bridge = nn.ModuleDict({part: self.make_bridge(case.layers) for part in parts})

    @staticmethod
    def make_bridge(layers):
        return nn.ModuleList(nn.Linear(2 * HIDDEN, HIDDEN) for _ in range(layers))

    def initial_state(self, final):
        """The encoder's final state, two directions folded into one. -> (h,) or (h, c), each [layers, batch, hidden]"""
        if not self.case.bidirectional:
            return final
        folded = []
        for part, states in zip(["h", "c"], final):  # [2 * layers, batch, hidden]: l0 forward, l0 backward, l1 ...
            pairs = [torch.cat([states[2 * l], states[2 * l + 1]], dim=-1) for l in range(self.case.layers)]
            linear = torch.stack([layer(pair) for layer, pair in zip(self.bridge[part], pairs)])
            folded.append(torch.tanh(linear) if part == "h" else linear)  # a cell state is not bounded by 1
        return tuple(folded)

    def forward(self, inputs, encoder_outputs, final, source_lengths):
        """One pass over inputs [batch, max_length], the true previous tokens.

        -> logits [batch, max_length, vocabulary], attention [batch, max_length (target), max_length (source)]
        """
        state = self.initial_state(final)
        logits, attention = [], []
        for token in inputs.T:  # [batch]
            query = state[0][-1][:, None, :]  # the top layer's h, [batch, 1, hidden]
            context, weights = self.attention(query, encoder_outputs, encoder_outputs, source_lengths)
            x = torch.cat([context, self.embedding(token)[:, None, :]], dim=-1)  # [batch, 1, key_width + embed]
            output, state = self.rnn(x, state if self.case.cell == "lstm" else state[0])
            state = state if self.case.cell == "lstm" else (state,)
            logits.append(self.dense(output))
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


def train(model, batch):
    """Five steps on the same batch, in place. Returns the norm before clipping of each."""
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE, betas=(0.9, 0.999), eps=1e-8)
    norms = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss_of(model(batch)[1], batch).backward()
        norms.append(clip(list(model.parameters())))
        optimizer.step()
    return norms


# --- The same forward pass by hand -----------------------------------------------------------------------------------


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def step_by_hand(cell, w, suffix, x, state):
    """One step of one sentence. x [input], state (h,) or (h, c), each [hidden]"""
    h = state[0]
    from_x = w["weight_ih" + suffix] @ x + w["bias_ih" + suffix]
    from_h = w["weight_hh" + suffix] @ h + w["bias_hh" + suffix]
    if cell == "gru":
        (xr, xz, xn), (hr, hz, hn) = np.split(from_x, 3), np.split(from_h, 3)
        r, z = sigmoid(xr + hr), sigmoid(xz + hz)
        n = np.tanh(xn + r * hn)
        return ((1 - z) * n + z * h,)
    i, f, g, o = np.split(from_x + from_h, 4)
    c = sigmoid(f) * state[1] + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def zero_state(cell):
    return (np.zeros(HIDDEN),) * (1 if cell == "gru" else 2)


def encode_by_hand(case, w, tokens):
    """-> outputs [steps, key_width], per layer the final states of its directions"""
    row, finals = list(w["encoder.embedding.weight"][tokens]), []
    rnn = under(w, "encoder.rnn.")
    for layer in range(case.layers):
        sides, finals_here = [], []
        for reverse in [False, True] if case.bidirectional else [False]:
            state, side = zero_state(case.cell), []
            for x in row[::-1] if reverse else row:
                state = step_by_hand(case.cell, rnn, f"_l{layer}" + "_reverse" * reverse, x, state)
                side.append(state[0])
            sides.append(side[::-1] if reverse else side)
            finals_here.append(state)
        row = [np.concatenate(outputs) for outputs in zip(*sides)]
        finals.append(finals_here)
    return np.array(row), finals


def bridge_by_hand(case, w, finals):
    """-> the decoder's first state: per layer (h,) or (h, c)"""
    if not case.bidirectional:
        return [here[0] for here in finals]
    states, bridge = [], under(w, "decoder.bridge.")
    for l, (forward, backward) in enumerate(finals):
        both = [np.concatenate(pair) for pair in zip(forward, backward)]
        linear = [bridge[f"{part}.{l}.weight"] @ x + bridge[f"{part}.{l}.bias"] for part, x in zip("hc", both)]
        states.append((np.tanh(linear[0]), *linear[1:]))
    return states


def attend_by_hand(case, w, query, keys):
    """query [hidden], keys [valid source steps, key_width] -> weights [valid source steps]"""
    if case.score == "additive":
        a = under(w, "decoder.attention.")
        scores = [a["w_v.weight"][0] @ np.tanh(a["W_q.weight"] @ query + a["W_k.weight"] @ key) for key in keys]
    else:
        scores = keys @ query / np.sqrt(HIDDEN)
    exp = np.exp(scores)
    return exp / exp.sum()


def translate_by_hand(case, w, source, source_length, target):
    """One sentence, nothing masked: what is not valid is simply not there.

    source [max_length], target [valid steps] -> outputs [source_length, key_width],
    logits [valid steps, vocabulary], attention [valid steps, source_length]
    """
    # "padded" reads on through <pad>, "valid" never sees one; both attend only to valid positions.
    outputs, finals = encode_by_hand(case, w, source if case.final_state == "padded" else source[:source_length])
    keys = outputs[:source_length]
    states, rnn = bridge_by_hand(case, w, finals), under(w, "decoder.rnn.")
    logits, attention = [], []
    for previous in [BOS, *target[:-1]]:
        weights = attend_by_hand(case, w, states[-1][0], keys)
        x = np.concatenate([weights @ keys, w["decoder.embedding.weight"][previous]])
        for l in range(case.layers):
            states[l] = step_by_hand(case.cell, rnn, f"_l{l}", x, states[l])
            x = states[l][0]
        logits.append(w["decoder.dense.weight"] @ x + w["decoder.dense.bias"])
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


def is_telling(expected):
    """False if the numbers drawn are so trivial that a wrong implementation could pass, or so delicate that a right
    one could fail: Adam turns any gradient g into a step of about rate * g / (|g| + 1e-8), so a rounding error in g
    grows most where g is next to nothing.
    """
    attention = expected["attention"][0, : TARGET_LENGTHS[0]]  # [3, 6]: the sentence without padding
    gradients = [np.abs(gradient).ravel() for gradient in under(expected, "gradient.").values()]
    every = np.concatenate(gradients)
    return (
        0.2 < np.abs(expected["encoder_outputs"]).max() < 0.99
        and attention.max() < 0.9
        and np.ptp(attention, axis=1).max() > 0.02  # not a mean over the positions,
        and np.ptp(attention, axis=0).max() > 0.005  # and not the same at every step
        and min(gradient.max() for gradient in gradients) > 1e-4
        and every[every > 0].min() > 2e-7
    )


def record(case):
    """The case's first draw that can tell right from wrong.

    -> weights, expected (both name -> array), the gradient's norm in each training step
    """
    for attempt in range(1000):
        model, batch = draw(case, f"{case.name} {attempt}")
        weights = named("", model.state_dict().items())
        expected = record_pass(model, batch)
        if not is_telling(expected):
            continue
        norms = train(model, batch)
        if min(abs(norm - THETA) for norm in norms) < 0.01:  # whether to clip must not hang on the last bit
            continue
        expected |= named("after_five.", model.state_dict().items())
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
                (DATA / name).write_bytes(made)
            print(label)
    for stray in sorted(path.name for path in DATA.glob("*") if path.name not in seen):
        good = False
        print(f"{stray}: not one of the files this script makes")
    print(f"{len(seen)} files, {size / 1e6:.2f} MB")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
