"""The same model in PyTorch, as one would write it there to be fast.

The encoder runs over packed sentences, the keys are projected once per batch, the dense layer sees all steps at once and
no padding. Parameters have the names and layouts of the library's model file, so that weights go both ways.
"""

import json

import safetensors
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn.functional import cross_entropy, dropout
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from text import BOS, EOS, PAD


def padded(rows):
    """-> ids [batch, longest], lengths [batch]"""
    ids = pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD)
    return ids, torch.tensor([len(row) for row in rows])


class Encoder(nn.Module):
    def __init__(self, vocabulary, config):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, config["embed"])
        self.rnn = nn.GRU(
            config["embed"], config["hidden"], config["layers"], batch_first=True, dropout=config["dropout"]
        )

    def forward(self, ids, lengths):
        """-> outputs [batch, steps, hidden], state [layers, batch, hidden] after each sentence's last token"""
        packed = pack_padded_sequence(self.embedding(ids), lengths, batch_first=True, enforce_sorted=False)
        outputs, state = self.rnn(packed)
        return pad_packed_sequence(outputs, batch_first=True)[0], state


class Attention(nn.Module):
    def __init__(self, hidden, drop):
        super().__init__()
        self.W_q, self.W_k = nn.Linear(hidden, hidden, bias=False), nn.Linear(hidden, hidden, bias=False)
        self.w_v = nn.Linear(hidden, 1, bias=False)
        self.drop = drop

    def forward(self, query, projected_keys, values, beyond):
        """query [batch, hidden], projected_keys and values [batch, steps, hidden], beyond [batch, steps] -> context"""
        scores = self.w_v(torch.tanh(self.W_q(query)[:, None] + projected_keys)).squeeze(-1)
        weights = torch.softmax(scores.masked_fill(beyond, -torch.inf), dim=-1)
        return torch.bmm(dropout(weights, self.drop, self.training)[:, None], values)  # [batch, 1, hidden]


class Decoder(nn.Module):
    def __init__(self, vocabulary, config):
        super().__init__()
        hidden, embed = config["hidden"], config["embed"]
        self.attention = Attention(hidden, config["dropout"])
        self.embedding = nn.Embedding(vocabulary, embed)
        self.rnn = nn.GRU(hidden + embed, hidden, config["layers"], batch_first=True, dropout=config["dropout"])
        self.dense = nn.Linear(hidden, vocabulary)

    def step(self, embedded, state, projected_keys, values, beyond):
        """embedded [batch, 1, embed] -> output [batch, 1, hidden], state"""
        context = self.attention(state[-1], projected_keys, values, beyond)
        return self.rnn(torch.cat([context, embedded], dim=-1), state)


class EncoderDecoder(nn.Module):
    def __init__(self, source_vocabulary, target_vocabulary, config):
        super().__init__()
        self.encoder = Encoder(source_vocabulary, config)
        self.decoder = Decoder(target_vocabulary, config)
        # PyTorch's own first values are ours but for the matrices: Xavier with the fans of the whole stacked matrix.
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2 and "embedding" not in name:
                nn.init.xavier_uniform_(parameter)

    def encode(self, rows):
        """-> state, and what every step of the decoder needs: projected keys, values, which positions are padding"""
        ids, lengths = padded(rows)
        values, state = self.encoder(ids, lengths)
        beyond = torch.arange(ids.shape[1]) >= lengths[:, None]
        return state, (self.decoder.attention.W_k(values), values, beyond)

    def nats(self, sources, targets):
        """Summed cross-entropy of all target tokens, <eos> included, given those before them."""
        state, source = self.encode(sources)
        ids, lengths = padded(targets)
        before = torch.cat([torch.full((len(targets), 1), BOS), ids[:, :-1]], dim=1)
        outputs = []
        for embedded in self.decoder.embedding(before).split(1, dim=1):
            output, state = self.decoder.step(embedded, state, *source)
            outputs.append(output)
        valid = torch.arange(ids.shape[1]) < lengths[:, None]
        logits = self.decoder.dense(torch.cat(outputs, dim=1)[valid])
        return cross_entropy(logits, ids[valid], reduction="sum")

    @torch.no_grad()
    def translate(self, sources, max_length):
        """Greedy translations, as rows of ids without <eos>; as long at most as the library lets them be."""
        limits = [max(max_length, 2 * len(row) + 10) for row in sources]
        state, source = self.encode(sources)
        token = torch.full((len(sources), 1), BOS)
        steps, ended = [], torch.zeros(len(sources), dtype=torch.bool)
        while len(steps) < max(limits) and not ended.all():
            output, state = self.decoder.step(self.decoder.embedding(token), state, *source)
            token = self.decoder.dense(output).argmax(dim=-1)
            ended |= token[:, 0] == EOS
            steps.append(token)
        rows = [row[:limit] for row, limit in zip(torch.cat(steps, dim=1).tolist(), limits)]
        return [row[: row.index(EOS)] if EOS in row else row for row in rows]


def description(path):
    """What a model file says of itself: config, vocabularies, text."""
    with safetensors.safe_open(path, "pt") as file:
        return {key: json.loads(value) for key, value in file.metadata().items()}


def model_of(about):
    return EncoderDecoder(len(about["source_vocabulary"]), len(about["target_vocabulary"]), about["config"])


def load(path):
    """-> the model with its weights, what the file says of it"""
    about = description(path)
    model = model_of(about)
    model.load_state_dict(load_file(path))
    return model.eval(), about


def save(path, model, about):
    save_file(model.state_dict(), path, {key: json.dumps(value, ensure_ascii=False) for key, value in about.items()})
