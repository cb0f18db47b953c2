#!/usr/bin/env python3
"""Makes a model file of weights from PyTorch: attaches the vocabularies, and says what the tensors are.

Plain Python, no packages. WEIGHTS is what safetensors.torch.save_file(model.state_dict(), path) wrote; SOURCE and TARGET
are the vocabularies, index = row of the embedding: a JSON array of tokens, or a text file with one token per line. d2l has
them as `data.src_vocab.idx_to_token` and `data.tgt_vocab.idx_to_token`. Sizes, cell, score and encoder are read off the
tensors. Where <unk> <pad> <bos> <eos> are not the first four tokens, as d2l sorts them, they are moved there, and the
rows of the embeddings and of the output layer with them.
"""
import argparse
import json
import os
import re
import struct
import sys

RESERVED = ["<unk>", "<pad>", "<bos>", "<eos>"]
BYTES = {"F32": 4, "F64": 8}


def fail(where, expected, got):
    sys.exit(f"{where}: expected {expected}, got {got}")


def read_weights(path):
    """-> {name: (dtype, shape, bytes)}, by our names: d2l wraps the recurrent layer, others the model."""
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        data = file.read()
    header.pop("__metadata__", None)
    if not header:
        fail(path, "tensors", "none")
    names = list(header)
    prefix = re.match(r"(.*?)(encoder|decoder)\.", names[0])
    if not prefix or not all(re.match(re.escape(prefix[1]) + r"(encoder|decoder)\.", name) for name in names):
        fail(path, "tensors of an encoder and a decoder", names[0])
    tensors = {}
    for name, tensor in header.items():
        if tensor["dtype"] not in BYTES:
            fail(f"{path}: {name}", "dtype F32 or F64 (model.float() makes it)", tensor["dtype"])
        ours = re.sub(r"^((?:en|de)coder\.rnn\.)rnn\.", r"\1", name[len(prefix[1]):])
        if ours in tensors:
            fail(path, f"one tensor {ours}", f"also {name}")
        begin, end = tensor["data_offsets"]
        tensors[ours] = (tensor["dtype"], tensor["shape"], data[begin:end])
    return tensors


def read_vocabulary(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        tokens = json.loads(text)
    except ValueError:
        tokens = text.splitlines()
    if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
        fail(path, "a JSON array of tokens, or one token per line", "something else")
    missing = [token for token in RESERVED if token not in tokens]
    if missing:
        fail(path, "the tokens " + " ".join(RESERVED), "none of " + " ".join(missing))
    if len(set(tokens)) != len(tokens):
        fail(path, "distinct tokens", "some twice")
    return tokens


def attach(tensors, names, vocabulary, path):
    """Moves the rows of these tensors into the order that is returned: the reserved tokens first."""
    order = [vocabulary.index(token) for token in RESERVED]
    order += [i for i, token in enumerate(vocabulary) if token not in RESERVED]
    for name in names:
        if name not in tensors:
            fail("the weights", f"a tensor {name}", "none")
        dtype, shape, data = tensors[name]
        if shape[0] != len(vocabulary):
            fail(path, f"{shape[0]} tokens, the rows of {name}", len(vocabulary))
        row = len(data) // shape[0]
        tensors[name] = (dtype, shape, b"".join(data[i * row:(i + 1) * row] for i in order))
    return [vocabulary[i] for i in order]


def describe(tensors, options):
    """The model's sizes and policies, as its tensors have them."""
    def shape(name):
        if name not in tensors:
            fail("the weights", f"a tensor {name}", "none")
        return tensors[name][1]

    gates, hidden = shape("decoder.rnn.weight_hh_l0")
    cells = {3: "gru", 4: "lstm"}
    if gates // hidden not in cells:
        fail("decoder.rnn.weight_hh_l0", "three gates (GRU) or four (LSTM)", gates // hidden)
    return {
        "cell": cells[gates // hidden],
        "score": "additive" if "decoder.attention.W_q.weight" in tensors else "scaled_dot",
        "embed": shape("encoder.embedding.weight")[1],
        "hidden": hidden,
        "layers": sum(1 for name in tensors if re.fullmatch(r"decoder\.rnn\.weight_hh_l\d+", name)),
        "dropout": options.dropout,
        "encoder": "bidirectional" if "encoder.rnn.weight_ih_l0_reverse" in tensors else "unidirectional",
        "final_state": options.final_state,
    }


def write_model(path, tensors, metadata):
    header, offset = {"__metadata__": metadata}, 0
    for name, (dtype, shape, data) in sorted(tensors.items()):
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + len(data)]}
        offset += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path + ".part", "wb") as file:  # beside its place, then renamed: never half a file
        file.write(struct.pack("<Q", len(text)) + text)
        for _, (_, _, data) in sorted(tensors.items()):
            file.write(data)
    os.replace(path + ".part", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ["weights", "source", "target", "model"]:
        parser.add_argument(name, metavar=name.upper())
    parser.add_argument("--final-state", choices=["valid", "padded"], default="valid",
                        help="padded for a model whose encoder ran through <pad> in training, as d2l's own code does")
    parser.add_argument("--max-length", type=int, help="tokens that training rows were cut and padded to (d2l: num_steps)")
    parser.add_argument("--tokens", choices=["words", "characters", "none"], default="words")
    parser.add_argument("--keep-case", action="store_true", help="the text was not lower-cased")
    parser.add_argument("--dropout", type=float, default=0, help="for training on")
    options = parser.parse_args()
    if options.final_state == "padded" and options.max_length is None:
        fail("--final-state padded", "a --max-length", "none")

    tensors = read_weights(options.weights)
    source = attach(tensors, ["encoder.embedding.weight"], read_vocabulary(options.source), options.source)
    target = attach(tensors, ["decoder.embedding.weight", "decoder.dense.weight", "decoder.dense.bias"],
                    read_vocabulary(options.target), options.target)
    text = {"tokens": options.tokens, "lowercase": not options.keep_case}
    if options.max_length is not None:
        text["max_length"] = options.max_length
    metadata = {"format": "bahdanau/1", "config": describe(tensors, options), "text": text,
                "source_vocabulary": source, "target_vocabulary": target}
    write_model(options.model, tensors, {key: json.dumps(value) for key, value in metadata.items()})


if __name__ == "__main__":
    main()
