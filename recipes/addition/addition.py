#!/usr/bin/env python3
"""Sums of two numbers with up to five digits.

  addition.py pairs PART COUNT [FORM]
      Lines of two numbers and their sum, 12+345 TAB 753. PART is train, dev or test, which have no two numbers in common,
      whatever their order. FORM says how a sum is written: reversed, least digit first, as people add on paper (the
      default), or forward.
  addition.py table PAIRS ANSWERS
      How many of the answers, a line for each reversed pair, are right: a table.
  addition.py show PAIRS ANSWERS COUNT
      The first answers as people write them.
"""
import collections
import hashlib
import random
import sys

DIGITS = 5


def part_of(a, b):
    """The part that the two numbers belong to: nine tenths, and a twentieth each."""
    number = hashlib.sha256(f"{min(a, b)}+{max(a, b)}".encode()).digest()[0]
    return "test" if number < 13 else "dev" if number < 26 else "train"


def pairs(part, count):
    """So many different pairs of numbers. Each number has one to five digits, any length as often, as in Keras's example."""
    stream = random.Random(f"addition, {part}")  # only random() is promised to stay the same in other versions

    def number():
        return int(stream.random() * 10 ** (1 + int(stream.random() * DIGITS)))

    seen = set()
    while len(seen) < count:
        a, b = number(), number()
        key = (min(a, b), max(a, b))
        if part_of(a, b) == part and key not in seen:
            seen.add(key)
            yield a, b


def carries(a, b):
    """How many columns carry."""
    count = carry = 0
    while a or b:
        carry = (a % 10 + b % 10 + carry) // 10
        count += carry
        a, b = a // 10, b // 10
    return count


def answered(pairs_file, answers_file):
    """The two numbers, their sum, and the answer, as people write it, of each line."""
    with open(pairs_file, encoding="utf-8") as file:
        sources = [line.split("\t")[0] for line in file]
    with open(answers_file, encoding="utf-8") as file:
        answers = [line.rstrip("\n")[::-1] for line in file]
    if len(sources) != len(answers):
        sys.exit(f"addition.py: expected {len(sources)} answers, got {len(answers)}")
    for source, answer in zip(sources, answers):
        a, b = map(int, source.split("+"))
        yield a, b, str(a + b), answer


def table(pairs_file, answers_file):
    """Right answers of a hundred, by the digits of the longer number and by the columns that carry; then what was wrong."""
    right, total = collections.Counter(), collections.Counter()
    wrong = []
    for a, b, result, answer in answered(pairs_file, answers_file):
        shorter, longer = sorted((len(str(a)), len(str(b))))
        lines = [f"up to {longer} digits"] + [f"both {DIGITS} digits"] * (shorter == DIGITS) + [f"carries: {carries(a, b)}", "all"]
        for line in lines:
            total[line] += 1
            right[line] += result == answer
        if result != answer:
            wrong.append(f"{a}+{b} is {result}, not {answer}")
    print(f"{'':<16}{'exact, %':>10}{'sums':>8}")
    for line in sorted(set(total) - {"all"}, key=lambda line: ("carries" in line, "both" in line, line)) + ["all"]:
        print(f"{line:<16}{100 * right[line] / total[line]:10.2f}{total[line]:8}")
    for line in wrong[:10]:
        print(f"wrong: {line}")
    if len(wrong) > 10:
        print(f"... and {len(wrong) - 10} more")


def main(arguments):
    if len(arguments) in (3, 4) and arguments[0] == "pairs" and arguments[1] in ("train", "dev", "test"):
        step = {"reversed": -1, "forward": 1}[(arguments + ["reversed"])[3]]
        for a, b in pairs(arguments[1], int(arguments[2])):
            print(f"{a}+{b}\t{str(a + b)[::step]}")
    elif len(arguments) == 3 and arguments[0] == "table":
        table(arguments[1], arguments[2])
    elif len(arguments) == 4 and arguments[0] == "show":
        for a, b, _, answer in list(answered(arguments[1], arguments[2]))[:int(arguments[3])]:
            print(f"{a} + {b} = {answer}")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
