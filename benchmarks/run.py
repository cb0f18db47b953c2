"""Checks, times and tabulates; run.sh installs and builds what this needs."""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from harness import floor
from harness.cases import CASES, PEERS
from harness.contestant import CORES, OURS
from harness.report import as_markdown, as_text, before_table, main_table, peer_table
from harness.rows import Bench, measured
from harness.thrust import thrust_report


def find_pairs():
    path = Path(os.environ.get("BAHDANAU_DATA_DIR", "")) / "fra-eng" / "fra.txt"
    return path if path.exists() else None


def machine(bench):
    import torch

    model = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), "unknown CPU")
    about = bench.contestant(OURS).ask("about")
    return f"{model}, {CORES} cores, {about}, PyTorch {torch.__version__.split('+')[0]}"


def parsed_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--only", type=re.compile, default=re.compile(""))
    parser.add_argument("--scaling", action="store_true")
    parser.add_argument("--micro", action="store_true")
    parser.add_argument("--serving", action="store_true")
    parser.add_argument("--thrust", action="store_true")
    return parser.parse_args()


def scaling(build):
    """-> exit code"""
    pairs = find_pairs()
    return subprocess.run([build / "bin" / "benchmark_scaling", *([pairs] if pairs else [])]).returncode


def main():
    arguments = parsed_arguments()
    if arguments.micro:
        return subprocess.run([arguments.build / "bin" / "benchmark_micro"]).returncode
    if arguments.serving:
        return subprocess.run([arguments.build / "bin" / "benchmark_serving"]).returncode
    if arguments.scaling:
        return scaling(arguments.build)
    if arguments.thrust:
        bench = Bench(arguments.build, arguments.quick, None)
        print(f"\n{thrust_report(bench)}\n{machine(bench)}.")
        bench.close()
        return 0
    everything, start = arguments.only.pattern == "", time.monotonic()

    bench = Bench(arguments.build, arguments.quick, find_pairs(), arguments.beside, arguments.rounds)
    rows = []
    for case in CASES:
        if arguments.only.search(case.title):
            if row := measured(bench, case):
                rows.append(row)
                print(as_text(main_table([row])[1:]), file=sys.stderr)
    floor_text = floor.floor_report(bench) if arguments.only.search("floor large") else ""
    said = machine(bench)
    bench.close()
    print(f"{time.monotonic() - start:.0f} s", file=sys.stderr)

    notes = (
        f"{said}. Medians over rounds in turns; a ratio above 1 means that ours is "
        "better; spread: the middle half of the ratios, as a part of their median. Training: forward, "
        "backward, clip and Adam of a batch of 64, dropout 0.1, target tokens a second; ragged: real sentences in "
        "random order, d2l's way, the peers pack and trim. Decoding: as many steps as the size says."
    )
    tables = [main_table(rows), peer_table(rows, PEERS)] + ([before_table(rows)] if arguments.beside else [])
    if rows:
        print("\n" + "\n\n".join([*map(as_text, tables), notes]))
    print("\n" + floor_text)
    if arguments.markdown:
        first_line = floor_text.split("\n")[0]
        arguments.markdown.write_text("\n\n".join([*map(as_markdown, tables), first_line, notes]) + "\n")
    if arguments.json:
        arguments.json.write_text(json.dumps([row.json() for row in rows], indent=1) + "\n")
    return scaling(arguments.build) if everything and not arguments.quick else 0


if __name__ == "__main__":
    sys.exit(main())
