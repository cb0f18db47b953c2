"""How a query meets the keys. What depends on the keys alone is `project`: it can be computed once per batch.

    project(keys [batch, steps, width]) -> [batch, steps, hidden]
    scores(queries [batch, n, hidden], projected) -> [batch, n, steps]
    context(queries, projected, values [batch, steps, width], mask [batch, steps], dropout) -> [batch, n, width]

Whoever has more to do than softmax over scores has a `context` of its own.
"""

import torch
from torch import nn


class Score(nn.Module):
    def begin(self):
        """Before the first step of a batch"""

    def weights(self, queries, projected, mask):
        scores = self.scores(queries, projected)
        if mask is not None:
            scores = scores.masked_fill(mask.unsqueeze(1), -1e6)
        return torch.softmax(scores, dim=-1)

    def context(self, queries, projected, values, mask, dropout):
        return torch.bmm(dropout(self.weights(queries, projected, mask)), values)


class NoScore(Score):
    """For decoders that do not attend"""

    def __init__(self, hidden, key_width):
        super().__init__()

    def project(self, keys):
        return None


class Additive(Score):
    """w_v^T tanh(W_q q + W_k k)"""

    def __init__(self, hidden, key_width):
        super().__init__()
        self.W_q = nn.Linear(hidden, hidden, bias=False)
        self.W_k = nn.Linear(key_width, hidden, bias=False)
        self.w_v = nn.Linear(hidden, 1, bias=False)

    def project(self, keys):
        return self.W_k(keys)

    def scores(self, queries, projected):
        features = torch.tanh(self.W_q(queries).unsqueeze(2) + projected.unsqueeze(1))
        return self.w_v(features).squeeze(-1)


class ScaledDot(Score):
    """q^T k / sqrt(hidden)"""

    def __init__(self, hidden, key_width):
        super().__init__()

    def project(self, keys):
        return keys

    def scores(self, queries, projected):
        return torch.bmm(queries, projected.transpose(1, 2)) / queries.shape[-1] ** 0.5


class General(Score):
    """q^T W k: with W folded into the keys a dot product"""

    def __init__(self, hidden, key_width):
        super().__init__()
        self.W = nn.Linear(key_width, hidden, bias=False)

    def project(self, keys):
        return self.W(keys)

    def scores(self, queries, projected):
        return torch.bmm(queries, projected.transpose(1, 2))


class Local(General):
    """General's over the keys within `reach` of a position p that the query predicts, times a Gaussian around p"""

    reach = 10

    def __init__(self, hidden, key_width):
        super().__init__(hidden, key_width)
        self.W_p = nn.Linear(hidden, hidden, bias=False)
        self.v_p = nn.Linear(hidden, 1, bias=False)

    def weights(self, queries, projected, mask):
        steps = projected.shape[1]
        count = steps if mask is None else (~mask).sum(1)[:, None, None]
        p = count * torch.sigmoid(self.v_p(torch.tanh(self.W_p(queries))))  # [batch, n, 1]
        distance = torch.arange(steps) - p  # [batch, n, steps]
        outside = distance.detach().abs() > self.reach
        if mask is not None:
            outside = outside | mask.unsqueeze(1)
        scores = self.scores(queries, projected).masked_fill(outside, -1e6)
        return torch.softmax(scores, dim=-1) * torch.exp(distance * distance * (-2 / self.reach**2))


class Coverage(Additive):
    """Additive's of the sum of a key's earlier weights too"""

    def __init__(self, hidden, key_width):
        super().__init__(hidden, key_width)
        self.w_m = nn.Linear(1, hidden, bias=False)

    def begin(self):
        self.covered = None  # [batch, 1, steps]

    def scores(self, queries, projected):
        features = self.W_q(queries).unsqueeze(2) + projected.unsqueeze(1)
        if self.covered is not None:
            features = torch.addcmul(features, self.covered.unsqueeze(-1), self.w_m.weight[:, 0])
        return self.w_v(torch.tanh(features)).squeeze(-1)

    def weights(self, queries, projected, mask):
        now = super().weights(queries, projected, mask)
        self.covered = now if self.covered is None else self.covered + now
        return now


class MultiHead(nn.MultiheadAttention, Score):
    """PyTorch's own weights; keys and values are projected once, which its own forward cannot do.

    Written out: for one query at a time `scaled_dot_product_attention` was slower, by a tenth of a training step."""

    def __init__(self, hidden, key_width):
        super().__init__(hidden, 4, kdim=key_width, vdim=key_width, batch_first=True)

    def heads(self, x):
        """[batch, n, hidden] -> [batch, heads, n, hidden / heads]"""
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def project(self, keys):
        width = self.embed_dim
        both = nn.functional.linear(keys, self.in_proj_weight[width:], self.in_proj_bias[width:])
        return tuple(map(self.heads, both.split(width, dim=-1)))

    def context(self, queries, projected, values, mask, dropout):
        width = self.embed_dim
        query = nn.functional.linear(queries, self.in_proj_weight[:width], self.in_proj_bias[:width])
        q = self.heads(query)
        scores = torch.matmul(q, projected[0].transpose(-1, -2)) * (q.shape[-1] ** -0.5)
        if mask is not None:
            scores = scores.masked_fill(mask[:, None, None, :], -1e6)
        found = torch.matmul(dropout(torch.softmax(scores, -1)), projected[1])
        return self.out_proj(found.transpose(1, 2).flatten(-2))


SCORES = {"none": NoScore, "additive": Additive, "scaled_dot": ScaledDot, "general": General,
          "local(general,10)": Local, "coverage(additive)": Coverage, "multi_head(scaled_dot,4)": MultiHead}
