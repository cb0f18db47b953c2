"""Stacked cells, with the parameters of nn.GRU and nn.LSTM.

    encode(inputs [steps, batch, width], source) -> outputs [steps, batch, hidden * directions], final states
    start(final states) -> the state of a decoder, in the form in which its steps have it
    weights(context_width) -> weights as the steps need them, made once per batch
    products(embedded [steps, batch, embed], weights) -> [steps, batch, ...], of all steps what needs no step before it
    step(context [batch, width], product [batch, ...], state, weights) -> output [batch, hidden], state
    top(state) -> [batch, hidden]

Final states are [layers * directions, batch, hidden]; the LSTM has a pair of them, h and c.
"""

import torch
from torch import nn
from torch.nn.functional import dropout, linear


class LayersOfNn:
    """What nn has: packed in an encoder, called with sequences of one step by a decoder."""

    def encode(self, inputs, source):
        if source.full:
            return self(inputs)
        packed = nn.utils.rnn.pack_padded_sequence(inputs, source.lengths, enforce_sorted=False)
        outputs, final = self(packed)
        return nn.utils.rnn.pad_packed_sequence(outputs)[0], final

    def start(self, final):
        return final

    def weights(self, context_width):
        return None

    def products(self, embedded, weights):
        return embedded

    def step(self, context, product, state, weights):
        outputs, state = self(torch.cat((context, product), dim=-1).unsqueeze(0), state)
        return outputs[0], state


class Gru(LayersOfNn, nn.GRU):
    def top(self, state):
        return state[-1]


class Lstm(LayersOfNn, nn.LSTM):
    def top(self, state):
        return state[0][-1]


class WrittenOut:
    """Steps of a few operations: products with embeddings leave the loop; a state is a list, one item per layer."""

    def named(self, suffix):
        """-> W_ih, W_hh, b_ih + b_hh"""
        parameter = lambda name: getattr(self, f"{name}_{suffix}")
        return parameter("weight_ih"), parameter("weight_hh"), parameter("bias_ih") + parameter("bias_hh")

    def weights(self, context_width):
        """-> of the embeddings: W, bias; of each layer: bias, what layer_step needs"""
        (w_ih, w_hh, bias), *above = (self.named(f"l{layer}") for layer in range(self.num_layers))
        w_context, w_embedded = w_ih.split([context_width, w_ih.shape[1] - context_width], dim=1)
        layers = [(w_context, w_hh, bias), *above]
        return (w_embedded, bias), [(bias, *self.layer_weights(w_ih, w_hh)) for w_ih, w_hh, bias in layers]

    def products(self, embedded, weights):
        return linear(embedded, *weights[0])

    def step(self, context, product, state, weights):
        x, after = context, []
        for (bias, *layer), before in zip(weights[1], state):
            if after:
                x, product = dropout(x, self.dropout, self.training), bias
            after.append(self.layer_step(x, product, before, *layer))
            x = self.top(after)
        return x, after


class LstmWrittenOut(WrittenOut, nn.LSTM):
    """For decoders: c' = f c + i g, h' = o tanh(c'), with one matrix product a layer and step."""

    def start(self, final):
        return list(zip(*(part.unbind() for part in final)))

    def top(self, state):
        return state[-1][0]

    def layer_weights(self, w_ih, w_hh):
        return (torch.cat((w_ih, w_hh), dim=1).t(),)

    def layer_step(self, x, product, state, w):
        h, c = state
        i, f, g, o = torch.addmm(product, torch.cat((x, h), dim=-1), w).chunk(4, dim=-1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c


class GruResetBefore(WrittenOut, nn.GRU):
    """As nn.GRU, but n = tanh(W_in x + b_in + W_hn (r h) + b_hn), which nn does not have."""

    def start(self, final):
        return list(final.unbind())

    def top(self, state):
        return state[-1]

    def layer_weights(self, w_ih, w_hh):
        w_rz, w_n = w_hh.split([2 * self.hidden_size, self.hidden_size])
        return w_ih.t(), w_rz.t(), w_n.t()

    def layer_step(self, x, product, h, w_x, w_rz, w_n):
        return self.gates(*self.split(torch.addmm(product, x, w_x)), h, w_rz, w_n)

    def split(self, products):
        """[..., 3 * hidden] -> of r and z, of n"""
        return products.split([2 * self.hidden_size, self.hidden_size], dim=-1)

    def gates(self, x_rz, x_n, h, w_rz, w_n):
        """-> (1 - z) n + z h"""
        r, z = torch.sigmoid(torch.addmm(x_rz, h, w_rz)).chunk(2, dim=-1)
        return torch.lerp(torch.tanh(torch.addmm(x_n, r * h, w_n)), h, z)

    def run(self, inputs, suffix, source):
        """One direction of one layer. -> outputs [steps, batch, hidden], h after the last step"""
        w_ih, w_hh, bias = self.named(suffix)
        _, w_rz, w_n = self.layer_weights(w_ih, w_hh)
        x = list(zip(*(part.unbind() for part in self.split(linear(inputs, w_ih, bias)))))
        h, outputs = inputs.new_zeros(inputs.shape[1], self.hidden_size), [None] * len(x)
        for t in reversed(range(len(x))) if suffix.endswith("reverse") else range(len(x)):
            after = self.gates(*x[t], h, w_rz, w_n)
            h = outputs[t] = after if source.full else torch.where(source.mask[:, t, None], h, after)
        return torch.stack(outputs), h

    def encode(self, inputs, source):
        final = []
        for layer in range(self.num_layers):
            if layer > 0:
                inputs = dropout(inputs, self.dropout, self.training)
            suffixes = [f"l{layer}", f"l{layer}_reverse"][: 2 if self.bidirectional else 1]
            outputs, last = zip(*(self.run(inputs, suffix, source) for suffix in suffixes))
            inputs = torch.cat(outputs, dim=-1)
            final += last
        return inputs, torch.stack(final)


CELLS = {"gru": Gru, "lstm": Lstm, "gru_reset_before": GruResetBefore}


def make_cells(kind, inputs, config, bidirectional=False):
    between = config["dropout"] if config["layers"] > 1 else 0  # nn warns where there is nothing between layers
    return kind(inputs, config["hidden"], config["layers"], dropout=between, bidirectional=bidirectional)
