"""The tables, as text and as Markdown."""

import dataclasses


@dataclasses.dataclass
class Row:
    case: object
    unit: str
    ours: float
    peers: dict  # name -> value
    less_is_better: bool
    notes: dict = dataclasses.field(default_factory=dict)  # name -> the peer's settings

    @property
    def best(self):
        choose = min if self.less_is_better else max
        return choose(self.peers, key=self.peers.get)

    @property
    def ratio(self):
        peer = self.peers[self.best]
        return peer / self.ours if self.less_is_better else self.ours / peer

    def json(self):
        return {
            "what": self.case.what, "size": self.case.size, "model": self.case.words, "ours": self.ours,
            "peer": self.peers[self.best], "peer_name": self.best, "unit": self.unit, "ratio": self.ratio,
            "bar": self.case.bar, "peers": self.peers, "settings": self.notes,
        }


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def main_table(rows):
    head = ["what", "size", "model", "unit", "ours", "best peer", "its name", "ratio", "bar", ""]
    lines = [
        [
            row.case.what, row.case.size, row.case.words, row.unit, number(row.ours), number(row.peers[row.best]),
            row.best, f"{row.ratio:.2f}", f"{row.case.bar:g}", "ok" if row.ratio >= row.case.bar else "BELOW",
        ]
        for row in rows
    ]
    return [head, *lines]


def peer_table(rows, names, ours="ours"):
    head = ["what", "size", "model", "unit", ours, *names]
    cell = lambda row, name: (
        number(row.peers[name]) + (f" ({row.notes[name]})" if row.notes.get(name) else "") if name in row.peers else "-"
    )
    lines = [
        [row.case.what, row.case.size, row.case.words, row.unit, number(row.ours), *(cell(row, name) for name in names)]
        for row in rows
    ]
    return [head, *lines]


def as_text(table):
    widths = [max(map(len, column)) for column in zip(*table)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in table)


def as_markdown(table):
    line = lambda cells: "| " + " | ".join(cells) + " |"
    return "\n".join([line(table[0]), "|" + "---|" * len(table[0]), *map(line, table[1:])])
