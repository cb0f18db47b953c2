"""The rows of the table: what is measured, at which size, with which model, and how much better it must be."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Size:
    embed: int
    hidden: int
    vocabulary: int
    steps: int


SIZES = {"d2l": Size(32, 32, 200, 10), "medium": Size(256, 256, 8000, 25), "large": Size(512, 512, 10000, 30)}
BATCH = 64

D2L, KEYS_ONCE, LIBTORCH = "PyTorch as d2l writes it", "PyTorch, keys once", "libtorch C++, keys once"
PEERS = (D2L, KEYS_ONCE, LIBTORCH)

# Models whose names say enough: of papers, and decoders without attention.
NAMED = ("rnnsearch", "luong", "nematus", "gehring", "plain", "fixed_context")


@dataclasses.dataclass(frozen=True)
class Case:
    what: str
    size: str
    bar: float  # ours must be at least so many times better than the best peer
    model: str = "gru_additive"
    peers: tuple = PEERS

    @property
    def words(self):
        """The model as people read it: cell, score, encoder, or its name."""
        if self.model in NAMED:
            return self.model
        named = self.model.replace("scaled_dot", "scaled-dot")
        return " ".join((named if "bidirectional" in named else named + "_unidirectional").split("_"))

    @property
    def title(self):
        return f"{self.what} {self.size} {self.words}"

    @property
    def task(self):
        """What a contestant is asked to do."""
        return "train" if self.what in ("train_ragged", "memory") else self.what

    @property
    def kind(self):
        """What benchmark_prepare is asked for."""
        if self.what == "train_ragged":
            return "ragged"
        return "train" if self.task == "train" else "decode"


CASES = (
    Case("train", "d2l", 6),
    Case("train", "medium", 1.8),
    Case("train", "large", 1.7),
    Case("train", "medium", 1.8, "lstm_additive"),
    Case("train", "medium", 1.8, "gru_scaled_dot"),
    Case("train", "medium", 1.8, "gru_additive_bidirectional"),
    Case("train", "medium", 1.5, "rnnsearch", (KEYS_ONCE, LIBTORCH)),
    Case("train", "medium", 1.5, "luong", (KEYS_ONCE, LIBTORCH)),
    Case("train", "medium", 1.5, "nematus", (KEYS_ONCE,)),
    Case("train", "medium", 1.5, "gru_local", (KEYS_ONCE,)),
    Case("train", "medium", 1.5, "gru_coverage", (KEYS_ONCE,)),
    Case("train", "medium", 1.5, "gru_four_heads", (KEYS_ONCE,)),
    Case("train", "medium", 1.15, "gehring", (KEYS_ONCE,)),
    Case("train", "medium", 1.15, "plain", (KEYS_ONCE,)),
    Case("train", "medium", 1.15, "fixed_context", (KEYS_ONCE,)),
    Case("train_ragged", "medium", 2.3),
    Case("greedy_1", "d2l", 20),
    Case("greedy_1", "large", 1.4),
    Case("greedy_64", "large", 1.6),
    Case("beam_5", "medium", 2.6, peers=(KEYS_ONCE, LIBTORCH)),
    Case("memory", "large", 2),
    Case("startup", "d2l", 20, peers=(KEYS_ONCE, LIBTORCH)),
)
