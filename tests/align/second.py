#!/usr/bin/env python3
"""A second implementation of what align/ does, from the papers' own descriptions, on random cases.

    second.py PROGRAM [CASES]

PROGRAM is bahdanau_align_cases. Sets, loops over whole tables, and exact fractions: slow, and nothing like the library's code.
"""

import random
import subprocess
import sys
from fractions import Fraction

AROUND = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]
NAMES = ["intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and"]


def symmetrised(name, forward, backward, sources, targets):
    """Links are (source, target). The pseudocode of Moses's manual, e the target and f the source."""
    if name == "intersection":
        return forward & backward
    if name == "union":
        return forward | backward
    links = forward & backward

    def aligned_e(e):
        return any((f, e) in links for f in range(sources))

    def aligned_f(f):
        return any((f, e) in links for e in range(targets))

    added = True
    while added:
        added = False
        for e in range(targets):
            for f in range(sources):
                if (f, e) not in links:
                    continue
                for de, df in AROUND:
                    new = (f + df, e + de)
                    if (not aligned_e(new[1]) or not aligned_f(new[0])) and new in forward | backward:
                        links.add(new)
                        added = True
    if name == "grow-diag":
        return links
    for direction in (forward, backward):
        for e in range(targets):
            for f in range(sources):
                if (f, e) not in direction:
                    continue
                free = [not aligned_e(e), not aligned_f(f)]
                if all(free) if name.endswith("-and") else any(free):
                    links.add((f, e))
    return links


def written(links, possible=frozenset()):
    marks = {**{link: "-" for link in links}, **{link: random.choice("?p") for link in possible - set(links)}}
    return " ".join(f"{f}{mark}{e}" for (f, e), mark in sorted(marks.items()))


def expected_symmetrisations(forward, backward, sure, possible, sources, targets):
    fields = []
    for name in NAMES:
        links = symmetrised(name, forward, backward, sources, targets)
        precision = Fraction(len(links & possible), len(links)) if links else Fraction(1)
        recall = Fraction(len(links & sure), len(sure)) if sure else Fraction(1)
        total = len(links) + len(sure)
        error = 1 - Fraction(len(links & sure) + len(links & possible), total) if total else Fraction(0)
        fields.append((written(links), precision, recall, error))
    return fields


def random_links(sources, targets, share):
    return {(f, e) for f in range(sources) for e in range(targets) if random.random() < share}


def main(program, cases):
    random.seed(7)
    lines, answers = [], []
    for case in range(cases):
        sources, targets = random.randint(1, 9), random.randint(1, 9)
        if case % 3 == 2:  # a table of weights; few values, so that many are equal
            weights = [[random.choice([0, 0.125, 0.25, 0.375, 0.5, 0.75]) for _ in range(sources)] for _ in range(targets)]
            threshold = random.choice([0.125, 0.3, 0.5])
            flat = " ".join(str(weight) for row in weights for weight in row)
            lines.append(f"attention\t{targets}\t{sources}\t{threshold}\t{flat}")
            best, above = set(), set()
            for t, row in enumerate(weights[:-1]):
                words = row[:-1]
                if words and max(words) > 0:
                    best.add((words.index(max(words)), t))
                above |= {(s, t) for s, weight in enumerate(words) if weight >= threshold}
            answers.append([written(best), written(above)])
        else:
            share = random.choice([0.05, 0.15, 0.3, 0.6])
            forward, backward, sure = (random_links(sources, targets, share) for _ in range(3))
            possible = sure | random_links(sources, targets, share)
            lines.append("\t".join(["symmetrize", written(forward), written(backward), written(sure, possible)]))
            answers.append(expected_symmetrisations(forward, backward, sure, possible, sources, targets))
    result = subprocess.run([program], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    printed = result.stdout.rstrip("\n").split("\n")
    assert len(printed) == len(lines), f"expected {len(lines)} answers, got {len(printed)}"
    wrong = 0
    for line, got, answer in zip(lines, printed, answers):
        fields = got.split("\t")
        if line.startswith("attention"):
            same = fields == answer
        else:
            same = len(fields) == 4 * len(NAMES) + 1
            for i, (links, *numbers) in enumerate(answer):
                same = same and fields[4 * i] == links
                for number, text in zip(numbers, fields[4 * i + 1:4 * i + 4]):
                    same = same and abs(float(number) - float(text)) < 1e-12
        if not same:
            wrong += 1
        if not same and wrong <= 5:
            print(f"case: {line}\ngot: {got}\nexpected: {answer}")
    print(f"{cases - wrong} of {cases} cases agree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3000))
