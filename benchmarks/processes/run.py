#!/usr/bin/env python3
"""Times one training in 1, 2 and 4 processes on this machine, in turns, and predicts it on a network.

    run.py --program benchmark_processes --launch tests/mpi/launch.sh --mpiexec mpirun
           [--rounds 7] [--seconds 5] [--sizes medium,large] [--latency 2e-6] [--bandwidth 12.5e9]

Speed is the median of the rounds' ratios, one process's time to that of several in the same round, with their quartiles.
Latency in seconds, bandwidth in bytes a second: of a network on which a host sends and receives at the same time.
"""

import argparse
import math
import statistics
import subprocess

BATCH = 64


def run(options, processes, size, batch, replicas, threads):
    command = [options.program, size, str(batch), str(replicas), str(threads), str(options.seconds)]
    if processes > 1:
        command = ["bash", options.launch, options.mpiexec, str(processes)] + command
    words = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(words[0]), int(words[1]), int(words[2]), int(words[3]), float(words[4])


def communication(weights, hosts, latency, bandwidth, scalar=4, message=1 << 18, part=1 << 16):
    """Seconds: halving and gathering blocks, in messages of a fixed size, and two rounds of short ones."""
    seconds, parts = 0.0, math.ceil(weights / part)
    for level in range(int(math.log2(hosts))):
        numbers = min(weights, math.ceil(parts / 2 ** (level + 1)) * part)
        seconds += 2 * (math.ceil(numbers / message) * latency + numbers * scalar / bandwidth) + 2 * latency
    return seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--launch", required=True)
    parser.add_argument("--mpiexec", default="mpirun")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--sizes", default="medium,large")
    parser.add_argument("--latency", type=float, default=2e-6)
    parser.add_argument("--bandwidth", type=float, default=12.5e9)
    options = parser.parse_args()
    print(f"{'size':8} {'processes':>9} {'threads':>7} {'ms/step':>10} {'speed':>6} {'quartiles':>12} "
          f"{'MB sent':>8} {'messages':>8} {'MB peak':>8}")
    for size in options.sizes.split(","):
        # name, processes, replicas, threads of each
        contestants = [(1, 1, 2), (2, 2, 1), (4, 4, 1)]
        times = {c: [] for c in contestants}
        facts = {}
        for _ in range(options.rounds):
            for c in contestants:
                seconds, weights, sent, messages, peak = run(options, c[0], size, BATCH, c[1], c[2])
                times[c].append(seconds)
                facts[c] = weights, sent, messages, peak
        base = times[contestants[0]]
        for c in contestants:
            # Of each round, as others use the machine: the median of ratios is not the ratio of medians.
            ratios = [a / b for a, b in zip(base, times[c])]
            low, speed, high = statistics.quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else 3 * ratios
            weights, sent, messages, peak = facts[c]
            print(f"{size:8} {c[0]:9} {c[2]:7} {1000 * statistics.median(times[c]):10.1f} "
                  f"{speed:6.2f} {f'{low:.2f} to {high:.2f}':>12} {sent / 1e6:8.1f} {messages:8} {peak:8.0f}")
        # A host of many: a batch of 64 rows each, as long as one process with two threads needs for them.
        compute = statistics.median(base)
        for hosts in (8, 64, 512):
            seconds = communication(weights, hosts, options.latency, options.bandwidth)
            print(f"{size}: {hosts} hosts with {BATCH} rows each, {options.latency * 1e6:g} us and "
                  f"{options.bandwidth / 1e9:g} GB/s: predicted {1000 * (compute + seconds):.1f} ms per step, "
                  f"{1000 * seconds:.1f} of them to communicate; efficiency {compute / (compute + seconds):.3f}")


if __name__ == "__main__":
    main()
