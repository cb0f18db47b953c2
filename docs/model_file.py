# The Python of the page on model files: run beside the file that model_file.cpp has written.
import json
import struct

with open("model.safetensors", "rb") as file:
    (size,) = struct.unpack("<Q", file.read(8))
    header = json.loads(file.read(size))
    data = file.read()

metadata = header.pop("__metadata__")
config = json.loads(metadata["config"])
print(config["cell"], config["score"], config["hidden"])

begin, end = header["decoder.dense.bias"]["data_offsets"]
bias = struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])
print(len(bias), "numbers in decoder.dense.bias")
assert (config["cell"], len(bias)) == ("gru", 10)

source_tokens = sorted(json.loads(metadata["source_vocabulary"]))  # as d2l would have them, with rows that follow
target_tokens = json.loads(metadata["target_vocabulary"])
with open("source.json", "w") as file:
    json.dump(source_tokens, file)
with open("target.json", "w") as file:
    json.dump(target_tokens, file)

import os  # noqa: E402, not part of what the page shows
import subprocess  # noqa: E402
import sys  # noqa: E402

script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "attach_vocabularies.py")
subprocess.run([sys.executable, script, "model.safetensors", "source.json", "target.json", "attached.safetensors"],
               check=True)
with open("attached.safetensors", "rb") as file:
    (size,) = struct.unpack("<Q", file.read(8))
    attached = json.loads(file.read(size))["__metadata__"]
assert json.loads(attached["config"])["hidden"] == 6
assert json.loads(attached["source_vocabulary"])[:4] == ["<unk>", "<pad>", "<bos>", "<eos>"]
