"""Training in PyTorch: the loss, the clipping and Adam of both Python peers."""

import contextlib
import copy

import torch
from torch import nn

from batches import read_batches
from model import EncoderDecoder

RATE, CLIP = 0.005, 1.0


def d2l_nats(logits, batch):
    """Masked cross-entropy as d2l computes it: no reduction, over logits permuted to [batch, vocabulary, steps]."""
    losses = nn.functional.cross_entropy(logits.permute(0, 2, 1), batch.labels, reduction="none")
    return (losses * batch.weights).sum()


def flat_nats(logits, batch):
    return nn.functional.cross_entropy(logits.flatten(0, 1), batch.masked_labels.flatten(), reduction="sum")


def d2l_clip(parameters):
    norm = torch.sqrt(sum(torch.sum(p.grad**2) for p in parameters))
    if norm > CLIP:
        for p in parameters:
            p.grad[:] *= CLIP / norm


def flat_clip(parameters):
    nn.utils.clip_grad_norm_(parameters, CLIP)


@contextlib.contextmanager
def without_dropout(model):
    """Not by eval(): cuDNN computes no gradients of a layer in that mode."""
    rates = [(layer, name, rate) for layer in model.modules() for name in ("p", "dropout")
             if isinstance(rate := getattr(layer, name, None), float)]
    for layer, name, _ in rates:
        setattr(layer, name, 0.0)
    yield
    for layer, name, rate in rates:
        setattr(layer, name, rate)


class TrainTask:
    def __init__(self, model, batches, keys_once):
        self.model, self.max_length = EncoderDecoder.load(model, keys_once)
        self.parameters = list(self.model.parameters())
        self.nats, self.clip = (flat_nats, flat_clip) if keys_once else (d2l_nats, d2l_clip)
        self.batches = read_batches(batches)
        self.set("adam", "fused")
        self.model.train()

    def set(self, key, value):
        assert key == "adam", key
        self.optimizer = torch.optim.Adam(self.parameters, lr=RATE, **{value: True})  # fused or foreach

    def step(self, batch):
        self.optimizer.zero_grad()
        nats = self.nats(self.model(batch.source, batch.inputs), batch)
        (nats / self.max_length).backward()
        with torch.no_grad():
            self.clip(self.parameters)
        self.optimizer.step()
        return nats

    def run(self, iterations):
        for i in range(iterations):
            self.step(self.batches[i % len(self.batches)])

    def check(self):
        """Nats of the first batch before and after one step, without dropout; the weights are put back."""
        kept = copy.deepcopy(self.model.state_dict())
        with without_dropout(self.model):
            before = self.step(self.batches[0]).item()
            with torch.inference_mode():
                after = self.nats(self.model(self.batches[0].source, self.batches[0].inputs), self.batches[0]).item()
        self.model.load_state_dict(kept)
        self.set("adam", "fused")
        return f"{before:.9g} {after:.9g}"
