"""Training at large against the time that its matrix products alone take."""

import statistics
import subprocess

from harness.cases import SIZES, Case
from harness.contestant import FLOOR, OURS
from harness.rows import in_turns

BAR = 1.3
CASE = Case("train", "large", 0)


def floor_report(bench):
    """-> text: the ratio, the products one by one, and where our time goes"""
    size, files = SIZES[CASE.size], bench.files(CASE)
    ours, floor = bench.contestant(OURS), bench.contestant(FLOOR)
    ours.load(CASE.model, CASE.task, files)
    floor.ask("load", size.embed, size.hidden, size.vocabulary, size.steps)
    ours.run(1), floor.run(1)
    pairs = in_turns(ours, [floor], {OURS: 1, FLOOR: 1}, bench.rounds or (5 if bench.quick else 15))[FLOOR]
    ms = {name: statistics.median(times) for name, times in zip((OURS, FLOOR), zip(*pairs))}
    gigaflops = float(floor.ask("check"))
    ratio = statistics.median(a / b for a, b in pairs)
    lines = [
        f"The floor, train {CASE.size}: {ms[OURS]:.0f} ms a batch, its {gigaflops:.0f} GFLOP of matrix products alone "
        f"{ms[FLOOR]:.0f} ms ({gigaflops / ms[FLOOR] * 1e3:.0f} GFLOP/s): ratio {ratio:.2f}, "
        f"must be at most {BAR}: {'ok' if ratio <= BAR else 'ABOVE'}"
    ]
    if not bench.quick:
        products = [line.split("\t") for line in floor.ask("tell", "products").rstrip(";").split(";")]
        lines += ["", "The products alone:"]
        lines += [f"  {what:<24} {shape:>22} {took:>12} {rate:>16}" for what, shape, took, rate in products]
    program = [bench.build / "bin" / "benchmark_breakdown", *files, "3"]
    lines += ["", "Where our time goes:", subprocess.run(program, check=True, capture_output=True, text=True).stdout]
    return "\n".join(lines)
