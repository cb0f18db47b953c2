"""A Python peer: answers the driver's commands on stdin (support/serve.hpp has the list).

    peer.py d2l|keys_once [DEVICE]      serves
    peer.py startup MODEL TOKEN...      loads a model and translates one sentence
"""

import sys
import time

import torch

from batches import EOS, Rows
from decode import DecodeTask, greedy
from model import EncoderDecoder
from train import TrainTask


def make(keys_once, _, what, model, batches):
    if what == "train":
        return TrainTask(model, batches, keys_once)
    return DecodeTask(what, model, batches, keys_once)


def peak_megabytes():
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024 / 1e6


def answer(command, words, task, keys_once):
    """-> answer, task"""
    if command == "load":
        return "ok", make(keys_once, *words)
    if command == "memory":
        return f"{peak_megabytes():.9g}", task
    if command == "set":
        if words[0] == "threads":
            torch.set_num_threads(int(words[1]))
        else:
            task.set(*words)
        return "ok", task
    if command == "check":
        return task.check(), task
    if command == "run":
        iterations = int(words[0])
        start = time.perf_counter()
        task.run(iterations)
        if torch.get_default_device().type == "cuda":
            torch.cuda.synchronize()
        return f"{(time.perf_counter() - start) * 1e3 / iterations:.9g}", task
    raise ValueError(f"unknown command {command}")


def serve(keys_once):
    task = None
    for line in sys.stdin:
        command, *words = line.split()
        try:
            if command == "load":
                task = None  # first, so that two never share the memory
            said, task = answer(command, words, task, keys_once)
        except Exception as error:
            said = f"error {type(error).__name__}: {error}".replace("\n", " ")
        print(said, flush=True)


def startup(path, tokens):
    model, max_length = EncoderDecoder.load(path, keys_once=True)
    model.eval()
    with torch.inference_mode():
        source = Rows(torch.tensor([[*map(int, tokens), EOS]]), torch.tensor([len(tokens) + 1]))
        print(*greedy(model, source, max_length)[0].tolist())


if __name__ == "__main__":
    if sys.argv[1] == "startup":
        startup(sys.argv[2], sys.argv[3:])
    else:
        if sys.argv[2:]:
            torch.set_default_device(sys.argv[2])
            torch.backends.cudnn.allow_tf32 = False  # as precise as everybody else
        serve(keys_once=sys.argv[1] == "keys_once")
