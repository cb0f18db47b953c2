"""Greedy and beam search in PyTorch, for one sentence or for a batch."""

import torch

from batches import BOS, EOS, Rows, read_batches
from model import EncoderDecoder


def greedy(model, source, max_length):
    """-> tokens [batch, at most max_length]"""
    state, encoded = model.decoder.begin(*model.encoder(source), source)
    tokens = torch.full((source.tokens.shape[0],), BOS)
    ended = torch.zeros_like(tokens, dtype=torch.bool)
    found = []
    for _ in range(max_length):
        logits, state = model.decoder.one_step(tokens, state, encoded)
        tokens = logits.argmax(dim=-1)
        found.append(tokens)
        ended |= tokens == EOS
        if ended.all():
            break
    return torch.stack(found, dim=1)


def reordered(state, rows):
    """state: a tensor [..., rows, width], or a list or tuple of states"""
    if isinstance(state, torch.Tensor):
        return state.index_select(-2, rows)
    return type(state)(reordered(part, rows) for part in state)


def beam(model, source, max_length, width):
    """All sentences and hypotheses in one batch of batch * width rows. -> scores [batch], tokens [batch, max_length]

    A sentence's hypotheses attend to the same keys, so these are never copied.
    """
    batch = source.tokens.shape[0]
    state, encoded = model.decoder.begin(*model.encoder(source), source)
    state = reordered(state, torch.arange(batch).repeat_interleave(width))
    scores = torch.full((batch, width), -torch.inf)
    scores[:, 0] = 0  # at the first step all hypotheses are one
    first = torch.arange(batch)[:, None] * width  # of each sentence's rows
    tokens = torch.full((batch * width,), BOS)
    ended = torch.zeros(batch, width, dtype=torch.bool)
    found = torch.empty(batch, width, 0, dtype=torch.long)
    for _ in range(max_length):
        logits, state = model.decoder.one_step(tokens, state, encoded)
        log_probs = torch.log_softmax(logits, dim=-1)
        vocabulary = log_probs.shape[-1]
        if ended.any():  # an ended hypothesis goes on as itself, at no cost
            log_probs[ended.view(-1)] = -torch.inf
            log_probs[ended.view(-1), EOS] = 0
        candidates = (scores.view(-1, 1) + log_probs).view(batch, width * vocabulary)
        scores, best = candidates.topk(width, dim=-1)
        parents, chosen = best // vocabulary, best % vocabulary
        found = torch.cat([found.gather(1, parents[:, :, None].expand_as(found)), chosen[:, :, None]], dim=2)
        ended = ended.gather(1, parents) | (chosen == EOS)
        state = reordered(state, (first + parents).view(-1))
        tokens = chosen.view(-1)
        if ended.all():
            break
    return scores[:, 0], found[:, 0]


class DecodeTask:
    def __init__(self, what, model, batches, keys_once):
        self.model, self.max_length = EncoderDecoder.load(model, keys_once)
        self.model.eval()
        source = read_batches(batches)[0].source
        self.width = 5 if what == "beam_5" else 0
        at_once = 1 if what == "greedy_1" else len(source.lengths)
        pieces = zip(source.tokens.split(at_once), source.lengths.split(at_once))
        self.pieces = [Rows(tokens, lengths) for tokens, lengths in pieces]

    def decode(self, source):
        """-> scores or None, tokens"""
        with torch.inference_mode():
            if self.width:
                return beam(self.model, source, self.max_length, self.width)
            return None, greedy(self.model, source, self.max_length)

    def run(self, iterations):
        for i in range(iterations):
            self.decode(self.pieces[i % len(self.pieces)])

    def check(self):
        """Score (0 where the search does not need it) and tokens of every translation."""
        out = ""
        for piece in self.pieces:
            scores, found = self.decode(piece)
            for r, row in enumerate(found.tolist()):
                out += " ".join(map(str, [0 if scores is None else scores[r].item(), *row])) + " ; "
        return out
