"""How a row is measured."""

import subprocess
import sys
from pathlib import Path

from harness.cases import BATCH, KEYS_ONCE, LIBTORCH, SIZES
from harness.check import check
from harness.contestant import BEFORE, OURS, Contestant, command
from harness.report import Row


class Bench:
    """The processes that wait, the files that they read, and how long to measure.

    before: another build of ours to compare with, or None; rounds: how often, or None for as time allows"""

    def __init__(self, build, quick, pairs, before=None, rounds=None):
        self.build, self.quick, self.pairs, self.before, self.rounds = build, quick, pairs, before, rounds
        self.data = build / "data"
        self.data.mkdir(exist_ok=True)
        self.waiting, self.prepared = {}, set()

    def start(self, name):
        return Contestant(name, self.before if name == BEFORE else self.build)

    def contestant(self, name):
        if name not in self.waiting:
            self.waiting[name] = self.start(name)
        return self.waiting[name]

    def others(self, case):
        """Whom ours is measured beside."""
        return (*case.peers, *([BEFORE] if self.before else []))

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


def pairs_of(run, names, rounds):
    """ours and another in turns -> {name: [(what run(OURS) gives, what run(name) gives)]}

    A machine that others use is slow for seconds at a time, and then for both of a pair. Who is first changes from
    round to round: whoever worked before leaves caches and threads behind."""
    pairs = {name: [] for name in names}
    for round_ in range(rounds):
        for name, list_ in pairs.items():
            if round_ % 2 == 0:
                ours = run(OURS)
                list_.append((ours, run(name)))
            else:
                theirs = run(name)
                list_.append((run(OURS), theirs))
    return pairs


def in_turns(ours, others, iterations, rounds):
    """-> {name: [(milliseconds an iteration of ours, of the other)]}"""
    by_name = {contestant.name: contestant for contestant in (ours, *others)}
    return pairs_of(lambda name: by_name[name].run(iterations[name]), [other.name for other in others], rounds)


def measure(bench, case):
    """-> pairs of times by name as in_turns has them, settings by name"""
    contestants = [bench.contestant(name) for name in (OURS, *bench.others(case))]
    for contestant in contestants:
        contestant.load(case.model, case.task, bench.files(case))
    ours, *others = contestants
    said = check(case.task, ours, others)
    print(f"{case.title}: all sides agree ({said})", file=sys.stderr)
    ours.run(1)
    first = {ours.name: ours.run(1)} | {other.name: other.tune(case.task) for other in others}
    # A turn is long enough to be timed; on ragged data it is all the batches.
    least = 8 if case.kind == "ragged" else 1
    turn = 200 if bench.quick else 500
    iterations = {name: max(least, round(turn / ms)) for name, ms in first.items()}
    if case.kind == "ragged":
        iterations = {name: -(-n // least) * least for name, n in iterations.items()}
    one_round = sum((iterations[o.name] * first[o.name] + iterations[OURS] * first[OURS]) / 1e3 for o in others)
    budget = 2.8 if bench.quick else 60
    rounds = bench.rounds or max(6, min(16, round(budget / one_round)))
    return in_turns(ours, others, iterations, rounds), {other.name: other.settings for other in others}


def target_tokens(files):
    """Valid target tokens of a batch, on average."""
    from safetensors.numpy import load_file

    lengths = [rows for name, rows in load_file(files[1]).items() if name.endswith("target.lengths")]
    return sum(int(rows.sum()) for rows in lengths) / len(lengths)


def training_row(bench, case):
    pairs, settings = measure(bench, case)
    tokens = target_tokens(bench.files(case))
    rates = {name: [(tokens / a * 1e3, tokens / b * 1e3) for a, b in list_] for name, list_ in pairs.items()}
    return Row(case, "tokens/s", rates, less_is_better=False, notes=settings)


def decoding_row(bench, case):
    pairs, settings = measure(bench, case)
    sentences = 1 if case.what == "greedy_1" else BATCH
    each = {name: [(a / sentences, b / sentences) for a, b in list_] for name, list_ in pairs.items()}
    return Row(case, "ms/sentence", each, less_is_better=True, notes=settings)


def memory_row(bench, case):
    """Peak resident memory of a few training steps, each side in a fresh process."""
    peak = {name: [] for name in (OURS, *bench.others(case))}
    for _ in range(bench.rounds or 3):
        for name, list_ in peak.items():
            contestant = bench.start(name)
            contestant.load(case.model, case.task, bench.files(case))
            contestant.run(3)
            list_.append(float(contestant.ask("memory")))
            contestant.close()
    ours = peak.pop(OURS)
    return Row(case, "MB", {name: list(zip(ours, list_)) for name, list_ in peak.items()}, less_is_better=True)


def startup_row(bench, case):
    """Wall time of whole processes that load a model and translate one sentence."""
    import time

    model, sentence = str(bench.files(case)[0]), ["4", "5", "6", "7"]
    peer = lambda name: [*command(name, bench.build)[:2][: 1 if name == LIBTORCH else 2], "startup", model, *sentence]
    mine = lambda build: [build / "bin" / "benchmark_startup", model, " ".join(sentence)]
    commands = {OURS: mine(bench.build)} | {name: peer(name) for name in case.peers}
    if bench.before:
        commands[BEFORE] = mine(bench.before)
    said = {}

    def run(name):
        start = time.perf_counter()
        done = subprocess.run(list(map(str, commands[name])), check=True, capture_output=True, text=True)
        said[name] = done.stdout.split()
        return (time.perf_counter() - start) * 1e3

    pairs = pairs_of(run, [name for name in commands if name != OURS], bench.rounds or (6 if bench.quick else 10))
    if len(set(map(tuple, said.values()))) != 1:
        raise SystemExit(f"startup: the translations differ: {said}")
    return Row(case, "ms", pairs, less_is_better=True)


def measured(bench, case):
    """-> Row, or None with a message where the data are missing"""
    if case.kind == "ragged" and not bench.pairs:
        print(f"{case.title}: skipped, BAHDANAU_DATA_DIR has no fra-eng/fra.txt", file=sys.stderr)
        return None
    makers = {"train": training_row, "train_ragged": training_row, "memory": memory_row, "startup": startup_row}
    return makers.get(case.what, decoding_row)(bench, case)
