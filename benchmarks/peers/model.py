"""The model in PyTorch; parameter names are those of our model files, whose config chooses its parts.

`keys_once` is the one difference between the two Python peers: d2l's attention is a module that projects the keys
whenever it is called, that is at every step of the decoder; the other peer projects them once per batch.
"""

import json

from safetensors import safe_open
from torch import nn

from cells import CELLS, make_cells
from decoders import DECODERS

USUAL = {"encoder": "unidirectional", "bridge": "both", "decoder": "attend_then_step", "readout": "linear"}


class Encoder(nn.Module):
    def __init__(self, config, vocabulary):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, config["embed"])
        self.rnn = make_cells(CELLS[config["cell"]], config["embed"], config, config["bidirectional"])

    def forward(self, source):
        """-> outputs [batch, steps, width], final states as cells.py has them"""
        outputs, final = self.rnn.encode(self.embedding(source.tokens.T), source)
        return outputs.permute(1, 0, 2), final


class EncoderDecoder(nn.Module):
    def __init__(self, config, source_vocabulary, target_vocabulary, keys_once):
        super().__init__()
        self.encoder = Encoder(config, source_vocabulary)
        self.decoder = DECODERS[config["decoder"]](config, target_vocabulary, keys_once)

    def forward(self, source, inputs):
        keys, final = self.encoder(source)
        return self.decoder(inputs, keys, final, source)

    @staticmethod
    def load(path, keys_once):
        """-> model, max_length"""
        with safe_open(path, framework="pt") as file:
            described = {key: json.loads(value) for key, value in file.metadata().items() if key != "format"}
            weights = {name: file.get_tensor(name) for name in file.keys()}
        config = USUAL | described["config"]
        config["bidirectional"] = config["encoder"] == "bidirectional"
        config["key_width"] = config["hidden"] * (2 if config["bidirectional"] else 1)
        sizes = len(described["source_vocabulary"]), len(described["target_vocabulary"])
        model = EncoderDecoder(config, *sizes, keys_once)
        model.load_state_dict(weights, strict=True)
        return model, described["text"]["max_length"]
