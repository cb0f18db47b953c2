"""How a query meets the keys. What depends on the keys alone is `project`: it can be computed once per batch.

    project(keys [batch, steps, width]) -> [batch, steps, hidden]
    scores(queries [batch, n, hidden], projected) -> [batch, n, steps]
"""

import torch
from torch import nn


class NoScore(nn.Module):
    """For decoders that do not attend"""

    def __init__(self, hidden, key_width):
        super().__init__()

    def project(self, keys):
        return None


class Additive(nn.Module):
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


class ScaledDot(nn.Module):
    """q^T k / sqrt(hidden)"""

    def __init__(self, hidden, key_width):
        super().__init__()

    def project(self, keys):
        return keys

    def scores(self, queries, projected):
        return torch.bmm(queries, projected.transpose(1, 2)) / queries.shape[-1] ** 0.5


class General(nn.Module):
    """q^T W k: with W folded into the keys a dot product"""

    def __init__(self, hidden, key_width):
        super().__init__()
        self.W = nn.Linear(key_width, hidden, bias=False)

    def project(self, keys):
        return self.W(keys)

    def scores(self, queries, projected):
        return torch.bmm(queries, projected.transpose(1, 2))


SCORES = {"none": NoScore, "additive": Additive, "scaled_dot": ScaledDot, "general": General}
