"""The tables, as text and as Markdown."""

import dataclasses
import statistics

from harness.contestant import BEFORE

NOISY = 0.1  # a spread above this is marked


@dataclasses.dataclass
class Row:
    case: object
    unit: str
    pairs: dict  # name -> [(ours, theirs)], one per round
    less_is_better: bool
    notes: dict = dataclasses.field(default_factory=dict)  # name -> the peer's settings

    @property
    def ours(self):
        return statistics.median(ours for list_ in self.pairs.values() for ours, _ in list_)

    def value(self, name):
        return statistics.median(theirs for _, theirs in self.pairs[name])

    def ratios(self, name):
        """How many times better ours is, round by round."""
        return [theirs / ours if self.less_is_better else ours / theirs for ours, theirs in self.pairs[name]]

    def ratio(self, name):
        return statistics.median(self.ratios(name))

    def spread(self, name):
        """The width of the middle half of the ratios, as a part of their median."""
        low, _, high = statistics.quantiles(self.ratios(name), n=4, method="inclusive") if len(self.pairs[name]) > 1 else [0] * 3
        return (high - low) / self.ratio(name)

    @property
    def best(self):
        """The peer that comes nearest to ours."""
        return min((name for name in self.pairs if name != BEFORE), key=self.ratio)

    def json(self):
        return {
            "what": self.case.what, "size": self.case.size, "model": self.case.words, "ours": self.ours,
            "peer": self.value(self.best), "peer_name": self.best, "unit": self.unit, "ratio": self.ratio(self.best),
            "spread": self.spread(self.best), "bar": self.case.bar, "pairs": self.pairs, "settings": self.notes,
        }


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def spread_text(spread):
    return f"{spread:.2f}" + (" noisy" if spread > NOISY else "")


def main_table(rows):
    head = ["what", "size", "model", "unit", "ours", "best peer", "its name", "ratio", "spread", "bar", ""]
    lines = [
        [
            row.case.what, row.case.size, row.case.words, row.unit, number(row.ours), number(row.value(row.best)),
            row.best, f"{row.ratio(row.best):.2f}", spread_text(row.spread(row.best)), f"{row.case.bar:g}",
            "ok" if row.ratio(row.best) >= row.case.bar else "BELOW",
        ]
        for row in rows
    ]
    return [head, *lines]


def peer_table(rows, names, ours="ours"):
    head = ["what", "size", "model", "unit", ours, *names]
    note = lambda row, name: f" ({row.notes[name]})" if row.notes.get(name) else ""
    cell = lambda row, name: number(row.value(name)) + note(row, name) if name in row.pairs else "-"
    lines = [
        [row.case.what, row.case.size, row.case.words, row.unit, number(row.ours), *(cell(row, name) for name in names)]
        for row in rows
    ]
    return [head, *lines]


def before_table(rows):
    """Ours beside another build of ours."""
    head = ["what", "size", "model", "unit", "ours", BEFORE, "ratio", "spread"]
    lines = [
        [
            row.case.what, row.case.size, row.case.words, row.unit, number(row.ours), number(row.value(BEFORE)),
            f"{row.ratio(BEFORE):.2f}", spread_text(row.spread(BEFORE)),
        ]
        for row in rows
    ]
    return [head, *lines]


def as_text(table):
    widths = [max(map(len, column)) for column in zip(*table)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in table)


def as_markdown(table):
    line = lambda cells: "| " + " | ".join(cells) + " |"
    return "\n".join([line(table[0]), "|" + "---|" * len(table[0]), *map(line, table[1:])])
