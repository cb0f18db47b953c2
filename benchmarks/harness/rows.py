"""How a row is measured."""

import statistics
import subprocess
import sys
from pathlib import Path

from harness.cases import BATCH, KEYS_ONCE, LIBTORCH, SIZES
from harness.check import check
from harness.contestant import OURS, Contestant, command
from harness.report import Row


class Bench:
    """The processes that wait, the files that they read, and how long to measure."""

    def __init__(self, build, quick, pairs):
        self.build, self.quick, self.pairs = build, quick, pairs
        self.data = build / "data"
        self.data.mkdir(exist_ok=True)
        self.waiting, self.prepared = {}, set()

    def contestant(self, name):
        if name not in self.waiting:
            self.waiting[name] = Contestant(name, self.build)
        return self.waiting[name]

    def files(self, case):
        """The model file and the batches file of a case, written by our program."""
        name = f"{case.kind}-{case.size}-{case.model}"
        if name not in self.prepared:
            size = SIZES[case.size]
            words = [name, case.model, size.embed, size.hidden, size.vocabulary, size.steps, case.kind]
            extra = [self.pairs] if case.kind == "ragged" else []
            program = self.build / "bin" / "benchmark_prepare"
            subprocess.run([program, self.data, *map(str, words), *extra], check=True)
            self.prepared.add(name)
        return [self.data / f"{name}.{part}.safetensors" for part in ("model", "batches")]

    def close(self):
        for contestant in self.waiting.values():
            contestant.close()


def in_turns(contestants, times, iterations, rounds):
    """ours, peer, ours, peer ...: appends milliseconds an iteration to times[name]"""
    ours, *others = contestants
    for _ in range(rounds):
        for other in others:
            times[ours.name].append(ours.run(iterations[ours.name]))
            times[other.name].append(other.run(iterations[other.name]))


def measure(bench, case):
    """-> milliseconds an iteration by name (medians), settings by name"""
    contestants = [bench.contestant(name) for name in (OURS, *case.peers)]
    for contestant in contestants:
        contestant.load(case.model, case.task, bench.files(case))
    ours, *peers = contestants
    said = check(case.task, ours, peers)
    print(f"{case.title}: all sides agree ({said})", file=sys.stderr)
    ours.run(1)
    first = {ours.name: ours.run(1)} | {peer.name: peer.tune(case.task) for peer in peers}
    # A turn is long enough to be timed; on ragged data it is all the batches.
    least = 8 if case.kind == "ragged" else 1
    turn = 200 if bench.quick else 500
    iterations = {name: max(least, round(turn / ms)) for name, ms in first.items()}
    if case.kind == "ragged":
        iterations = {name: -(-n // least) * least for name, n in iterations.items()}
    one_round = sum((iterations[p.name] * first[p.name] + iterations[OURS] * first[OURS]) / 1e3 for p in peers)
    budget = 2.8 if bench.quick else 60
    rounds = max(3, min(15, round(budget / one_round)))
    times = {contestant.name: [] for contestant in contestants}
    in_turns(contestants, times, iterations, rounds)
    medians = {name: statistics.median(list_) for name, list_ in times.items()}
    return medians, {peer.name: peer.settings for peer in peers}


def target_tokens(files):
    """Valid target tokens of a batch, on average."""
    from safetensors.numpy import load_file

    lengths = [rows for name, rows in load_file(files[1]).items() if name.endswith("target.lengths")]
    return sum(int(rows.sum()) for rows in lengths) / len(lengths)


def training_row(bench, case):
    ms, settings = measure(bench, case)
    tokens = target_tokens(bench.files(case))
    rates = {name: tokens / one * 1e3 for name, one in ms.items()}
    return Row(case, "tokens/s", rates.pop(OURS), rates, less_is_better=False, notes=settings)


def decoding_row(bench, case):
    ms, settings = measure(bench, case)
    sentences = 1 if case.what == "greedy_1" else BATCH
    each = {name: one / sentences for name, one in ms.items()}
    return Row(case, "ms/sentence", each.pop(OURS), each, less_is_better=True, notes=settings)


def memory_row(bench, case):
    """Peak resident memory of a few training steps, each side in a fresh process."""
    peak = {}
    for name in (OURS, *case.peers):
        contestant = Contestant(name, bench.build)
        contestant.load(case.model, case.task, bench.files(case))
        contestant.run(3)
        peak[name] = float(contestant.ask("memory"))
        contestant.close()
    return Row(case, "MB", peak.pop(OURS), peak, less_is_better=True)


def startup_row(bench, case):
    """Wall time of whole processes that load a model and translate one sentence."""
    import time

    model, sentence = str(bench.files(case)[0]), ["4", "5", "6", "7"]
    peer = lambda name: [*command(name, bench.build)[:2][: 1 if name == LIBTORCH else 2], "startup", model, *sentence]
    commands = {OURS: [bench.build / "bin" / "benchmark_startup", model, " ".join(sentence)]}
    commands |= {name: peer(name) for name in case.peers}
    times, said = {name: [] for name in commands}, {}
    for _ in range(3 if bench.quick else 9):
        for name, words in commands.items():
            for _ in range(1 if name == KEYS_ONCE else 3):
                start = time.perf_counter()
                done = subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True)
                times[name].append((time.perf_counter() - start) * 1e3)
                said[name] = done.stdout.split()
    if len(set(map(tuple, said.values()))) != 1:
        raise SystemExit(f"startup: the translations differ: {said}")
    medians = {name: statistics.median(list_) for name, list_ in times.items()}
    return Row(case, "ms", medians.pop(OURS), medians, less_is_better=True)


def measured(bench, case):
    """-> Row, or None with a message where the data are missing"""
    if case.kind == "ragged" and not bench.pairs:
        print(f"{case.title}: skipped, BAHDANAU_DATA_DIR has no fra-eng/fra.txt", file=sys.stderr)
        return None
    makers = {"train": training_row, "train_ragged": training_row, "memory": memory_row, "startup": startup_row}
    return makers.get(case.what, decoding_row)(bench, case)
