"""The model in PyTorch, with nn.GRU and nn.LSTM; parameter names are those of our model files.

`keys_once` is the one difference between the two Python peers: d2l's attention is a module that projects the keys
whenever it is called, that is at every step of the decoder; the other peer projects them once per batch.
"""

import json

import torch
from safetensors import safe_open
from torch import nn


class AdditiveAttention(nn.Module):
    def __init__(self, query_width, key_width, hidden):
        super().__init__()
        self.W_q = nn.Linear(query_width, hidden, bias=False)
        self.W_k = nn.Linear(key_width, hidden, bias=False)
        self.w_v = nn.Linear(hidden, 1, bias=False)

    def project(self, keys):
        return self.W_k(keys)

    def scores(self, queries, projected):
        """queries [batch, n, hidden], projected keys [batch, steps, hidden] -> [batch, n, steps]"""
        features = torch.tanh(self.W_q(queries).unsqueeze(2) + projected.unsqueeze(1))
        return self.w_v(features).squeeze(-1)


class ScaledDotAttention(nn.Module):
    def project(self, keys):
        return keys

    def scores(self, queries, projected):
        return torch.bmm(queries, projected.transpose(1, 2)) / queries.shape[-1] ** 0.5


def make_rnn(cell, inputs, config, bidirectional=False):
    layer = nn.GRU if cell == "gru" else nn.LSTM
    return layer(inputs, config["hidden"], config["layers"], dropout=config["dropout"], bidirectional=bidirectional)


class Encoder(nn.Module):
    def __init__(self, config, vocabulary):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, config["embed"])
        self.rnn = make_rnn(config["cell"], config["embed"], config, config["bidirectional"])

    def forward(self, source):
        """-> outputs [batch, steps, width], final states [layers * directions, batch, hidden]"""
        inputs = self.embedding(source.tokens.T)  # [steps, batch, embed]
        if source.full:
            outputs, state = self.rnn(inputs)
        else:
            packed = nn.utils.rnn.pack_padded_sequence(inputs, source.lengths, enforce_sorted=False)
            outputs, state = self.rnn(packed)
            outputs, _ = nn.utils.rnn.pad_packed_sequence(outputs)
        return outputs.permute(1, 0, 2), state


class Decoder(nn.Module):
    def __init__(self, config, vocabulary, keys_once):
        super().__init__()
        self.keys_once = keys_once
        hidden, key_width = config["hidden"], config["hidden"] * (2 if config["bidirectional"] else 1)
        additive = config["score"] == "additive"
        self.attention = AdditiveAttention(hidden, key_width, hidden) if additive else ScaledDotAttention()
        self.dropout = nn.Dropout(config["dropout"])
        self.embedding = nn.Embedding(vocabulary, config["embed"])
        self.rnn = make_rnn(config["cell"], key_width + config["embed"], config)
        self.dense = nn.Linear(hidden, vocabulary)
        self.cell, self.layers = config["cell"], config["layers"]
        if config["bidirectional"]:
            make_bridge = lambda: nn.ModuleList(nn.Linear(2 * hidden, hidden) for _ in range(self.layers))
            self.bridge = nn.ModuleDict({part: make_bridge() for part in ("h", "c")[: 2 if self.cell == "lstm" else 1]})
        else:
            self.bridge = None

    def first_state(self, final):
        """The encoder's final state; two directions become one through the bridge."""
        if self.bridge is None:
            return final
        folded = []
        for part, states in zip(("h", "c"), final if self.cell == "lstm" else (final,)):
            pairs = torch.cat([states[0::2], states[1::2]], dim=-1)  # [layers, batch, 2 * hidden]
            linear = torch.stack([layer(pair) for layer, pair in zip(self.bridge[part], pairs)])
            folded.append(torch.tanh(linear) if part == "h" else linear)
        return tuple(folded) if self.cell == "lstm" else folded[0]

    def top(self, state):
        return (state[0] if self.cell == "lstm" else state)[-1]  # [batch, hidden]

    def prepare(self, keys):
        return self.attention.project(keys) if self.keys_once else None

    def attend(self, queries, keys, projected, source):
        """queries [batch, n, hidden] -> contexts [batch, n, width]"""
        if not self.keys_once:
            projected = self.attention.project(keys)
        scores = self.attention.scores(queries, projected)
        if source.mask is not None:
            scores = scores.masked_fill(source.mask.unsqueeze(1), -1e6)
        return torch.bmm(self.dropout(torch.softmax(scores, dim=-1)), keys)

    def step(self, embedded, state, keys, projected, source):
        """embedded [batch, embed] -> output [1, batch, hidden], state"""
        context = self.attend(self.top(state).unsqueeze(1), keys, projected, source)
        inputs = torch.cat((context, embedded.unsqueeze(1)), dim=-1)
        return self.rnn(inputs.permute(1, 0, 2), state)

    def forward(self, inputs, keys, final, source):
        """inputs [batch, steps], the true previous tokens -> logits [batch, steps, vocabulary]"""
        state, projected, outputs = self.first_state(final), self.prepare(keys), []
        for embedded in self.embedding(inputs).permute(1, 0, 2):
            output, state = self.step(embedded, state, keys, projected, source)
            outputs.append(output)
        if self.keys_once:
            return self.dense(torch.cat(outputs).permute(1, 0, 2))
        return self.dense(torch.cat(outputs, dim=0)).permute(1, 0, 2)  # as d2l has it


class EncoderDecoder(nn.Module):
    def __init__(self, config, source_vocabulary, target_vocabulary, keys_once):
        super().__init__()
        self.encoder = Encoder(config, source_vocabulary)
        self.decoder = Decoder(config, target_vocabulary, keys_once)

    def forward(self, source, inputs):
        keys, final = self.encoder(source)
        return self.decoder(inputs, keys, final, source)

    @staticmethod
    def load(path, keys_once):
        """-> model, max_length"""
        with safe_open(path, framework="pt") as file:
            described = {key: json.loads(value) for key, value in file.metadata().items() if key != "format"}
            weights = {name: file.get_tensor(name) for name in file.keys()}
        config = described["config"]
        config["bidirectional"] = config.get("encoder", "unidirectional") == "bidirectional"
        sizes = len(described["source_vocabulary"]), len(described["target_vocabulary"])
        model = EncoderDecoder(config, *sizes, keys_once)
        model.load_state_dict(weights, strict=True)
        return model, described["text"]["max_length"]
