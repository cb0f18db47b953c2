"""The model in PyTorch; parameter names are those of our model files, whose config chooses its parts.

`keys_once` is the one difference between the two Python peers: d2l's attention is a module that projects the keys
whenever it is called, that is at every step of the decoder; the other peer projects them once per batch.
"""

import json

from safetensors import safe_open
from torch import nn

from decoders import DECODERS
from encoders import make_encoder

USUAL = {"encoder": "unidirectional", "bridge": "both", "decoder": "attend_then_step", "readout": "linear",
         "tied": False}


class EncoderDecoder(nn.Module):
    def __init__(self, config, source_vocabulary, target_vocabulary, keys_once):
        super().__init__()
        self.encoder = make_encoder(config, source_vocabulary)
        self.decoder = DECODERS[config["decoder"]](config, target_vocabulary, keys_once)

    def forward(self, source, inputs):
        return self.decoder(inputs, *self.encoder(source), source)

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
        if config["tied"]:
            weights["decoder.dense.weight"] = weights["decoder.embedding.weight"]
        model.load_state_dict(weights, strict=True)
        return model, described["text"]["max_length"]
