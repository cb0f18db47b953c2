#!/usr/bin/env python3
"""predictions.py ROOT : what docs/distributed.md says of networks is what benchmarks/processes/run.py predicts from the
page's own times of a step."""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
sys.dont_write_bytecode = True
sys.path.insert(0, str(root / "benchmarks/processes"))
from run import communication  # noqa: E402

WEIGHTS = {"medium": 8058944, "large": 22984976}  # as the benchmark prints them
NETWORKS = [(100, 2), (10, 20), (1, 50)]  # Gb/s, microseconds
page = (root / "docs/distributed.md").read_text()
for size, weights in WEIGHTS.items():
    seconds = float(re.search(rf"^\| {size} \| (\d+) ms \|", page, re.M).group(1)) / 1000
    cells = []
    for gigabits, latency in NETWORKS:
        sent = [communication(weights, hosts, latency * 1e-6, gigabits * 1e9 / 8) for hosts in (8, 64, 512)]
        shares = [100 * s / (seconds + s) for s in sent]
        cells.append(", ".join(f"{x:.0f}" if x > 5 else f"{x:.1f}" for x in shares) + " %")
    line = f"| {size} | {' | '.join(cells)} |"
    if line not in page:
        sys.exit(f"docs/distributed.md: expected, from {1000 * seconds:.0f} ms a step, the line\n{line}")
