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
