"""A program that is timed: a process of its own that waits for commands (support/serve.hpp has the list)."""

import os
import subprocess
import sys
import time
from pathlib import Path

from harness.cases import D2L, KEYS_ONCE, LIBTORCH

OURS, FLOOR, GPU = "ours", "floor", "PyTorch on the GPU, keys once"
BEFORE = "ours, the other build"
THRUST = {f"Thrust on {system}": f"benchmark_thrust_{system.lower()}" for system in ("OMP", "TBB", "CUDA")}
CORES = len(os.sched_getaffinity(0))


def command(name, build):
    if name in THRUST:
        return [build / "bin" / THRUST[name]]
    peer = str(Path(__file__).resolve().parent.parent / "peers" / "peer.py")
    return {
        OURS: [build / "bin" / "benchmark_ours"],
        BEFORE: [build / "bin" / "benchmark_ours"],
        FLOOR: [build / "bin" / "benchmark_floor"],
        D2L: [sys.executable, peer, "d2l"],
        KEYS_ONCE: [sys.executable, peer, "keys_once"],
        GPU: [sys.executable, peer, "keys_once", "cuda"],
        LIBTORCH: [build / "bin" / "benchmark_libtorch"],
    }[name]


class Contestant:
    def __init__(self, name, build):
        self.name, self.settings = name, ""
        # Threads of OpenMP that wait busily cost several times over where a core is not theirs alone.
        environment = {"OMP_WAIT_POLICY": "passive"} if name in THRUST else {}
        self.process = subprocess.Popen(
            command(name, build), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
            env=environment | os.environ,
        )

    def ask(self, *words):
        print(*words, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline().rstrip("\n")
        if not answer or answer.startswith("error"):
            raise RuntimeError(f"{self.name}: {' '.join(map(str, words))}: {answer or 'ended'}")
        return answer

    def load(self, model, task, files):
        self.settings = ""
        self.ask("load", model, task, *files)

    def run(self, iterations):
        """-> milliseconds an iteration"""
        # Threads of whoever worked before spin for some milliseconds before they sleep.
        time.sleep(0.03)
        return float(self.ask("run", iterations))

    def tune(self, task):
        """Finds the number of threads, and for training the kind of Adam, with which this peer is fastest."""
        if self.name in THRUST or self.name == BEFORE:  # nothing to choose
            self.run(1)
            return self.run(1)

        def run(threads, adam, iterations):
            self.ask("set", "threads", threads)
            if task == "train":
                self.ask("set", "adam", adam)
            return self.run(iterations), threads, adam

        ms, *_ = run(CORES, "fused", 1)  # the first one warms up
        enough = max(1, round(100 / ms))
        tried = [run(threads, "fused", enough) for threads in sorted({1, CORES})]
        if task == "train":
            other = "plain" if self.name == LIBTORCH else "foreach"
            tried.append(run(min(tried)[1], other, enough))
        ms, threads, adam = min(tried)
        run(threads, adam, 1)
        self.settings = f"{threads} thread{'s' if threads > 1 else ''}" + (f", {adam} Adam" if task == "train" else "")
        return ms

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
