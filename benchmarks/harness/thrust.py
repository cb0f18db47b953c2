"""Training on Thrust's device systems beside the CPU backend; with a GPU, on CUDA beside PyTorch on the same GPU."""

import subprocess
import sys

from harness.cases import SIZES, Case
from harness.contestant import GPU, THRUST, command
from harness.report import as_text, peer_table
from harness.rows import training_row


def has_gpu():
    try:
        return bool(subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout.strip())
    except FileNotFoundError:
        return False


def contestants(build):
    there = [name for name in THRUST if command(name, build)[0].exists()]
    if not has_gpu():
        return tuple(name for name in there if "CUDA" not in name)
    import torch

    return (*there, GPU) if torch.cuda.is_available() else tuple(there)


def gpu_sentence(names):
    if not has_gpu():
        return "There is no GPU here: with one, and nvcc, this table has CUDA and PyTorch on the GPU too."
    import torch

    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "a GPU that this PyTorch does not use"
    return f"GPU: {device}." + ("" if any("CUDA" in name for name in names) else " Without nvcc nothing of ours runs there.")


def thrust_report(bench):
    """-> text: target tokens a second, one row per size"""
    names = contestants(bench.build)
    if not names:
        raise SystemExit("no program of the Thrust backend was built: Thrust's headers, OpenMP or TBB are missing")
    rows = []
    for size in SIZES:
        rows.append(training_row(bench, Case("train", size, 0, peers=names)))
        print(as_text(peer_table(rows[-1:], names)[1:]), file=sys.stderr)
    return f"{as_text(peer_table(rows, names, ours='Xtensor'))}\n\nTarget tokens a second. {gpu_sentence(names)}"
