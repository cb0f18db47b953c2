"""Sets both sides' figures side by side, checks that they are comparable, and judges.

    python report.py folder    # exit code 1 if our BLEU is more than a point below PyTorch's, or a check fails
"""

import json
import pathlib
import re
import sys

import sacrebleu

import peer
import text

POINTS = 1.0  # of BLEU that we may be below PyTorch
EPOCH = re.compile(r"epoch (\d+)/\d+ +loss ([\d.]+) +([\d.]+) nats/token.* (\d+) tokens/s")


def corpus_bleu(lines, references):
    # Every kind of space parts tokens to sacrebleu, only the plain one to the library: no thin space reaches sacrebleu.
    visible = lambda sentences: ["".join("_" if c != " " and c.isspace() else c for c in s) for s in sentences]
    return sacrebleu.corpus_bleu(visible(lines), [visible(references)], tokenize="none", force=True).score


def read_epochs(path, tokens):
    """{epoch: (d2l's loss, nats per token)}, seconds of all epochs"""
    found = EPOCH.findall(path.read_text())
    losses = {int(epoch): (float(loss), float(nats)) for epoch, loss, nats, _ in found}
    return losses, sum(tokens / float(speed) for *_, speed in found)


class Side:
    """One trained model: `own` names what trained it and made its greedy translations, `other` the other one."""

    def __init__(self, folder, own, other, references, tokens):
        lines = lambda name: (folder / name).read_text(encoding="utf-8").split("\n")[:-1]
        self.losses, self.seconds = read_epochs(folder / f"{own}.log", tokens)
        self.greedy, self.by_other = lines(f"{own}.by-{own}.txt"), lines(f"{own}.by-{other}.txt")
        self.bleu = corpus_bleu(self.greedy, references)
        self.beam_bleu = corpus_bleu(lines(f"{own}.beam.txt"), references)
        # `bahdanau evaluate` on the same model
        self.tool = json.loads((folder / f"{own}.evaluate.json").read_text())
        self.tool_beam = json.loads((folder / f"{own}.evaluate-beam.json").read_text())
        self.torch_perplexity = float((folder / f"{own}.perplexity").read_text())


def print_table(ours, torch):
    def row(name, value, digits):
        print(f"| {name} | {value(ours):.{digits}f} | {value(torch):.{digits}f} |")

    print("| | bahdanau | PyTorch |\n|---|---|---|")
    for epoch in sorted(ours.losses.keys() & torch.losses.keys()):  # an epoch of less than a second has no line
        row(f"training loss, epoch {epoch}, nats per token", lambda side: side.losses[epoch][1], 3)
    if ours.losses and torch.losses:
        row("training loss at the end, as d2l counts it", lambda side: side.losses[max(side.losses)][0], 4)
    row("training, seconds", lambda side: side.seconds, 0)
    row("held-out perplexity", lambda side: side.tool["perplexity"], 2)
    row("held-out BLEU, greedy", lambda side: side.bleu, 2)
    row("held-out BLEU, beam of 5", lambda side: side.beam_bleu, 2)
    print()


def check_alike(ours, torch):
    """From the same weights both must translate alike, or the comparison compares something else. -> all is well"""
    good = True

    def check(ok, sentence):
        nonlocal good
        good &= ok
        print(f"{'ok ' if ok else 'BAD'} {sentence}")

    for name, where, side in [("our", "PyTorch", ours), ("PyTorch's", "ours", torch)]:
        count, same = len(side.greedy), sum(a == b for a, b in zip(side.greedy, side.by_other))
        # Rounding may decide between two words that are equally probable, not more often.
        check(same >= 0.99 * count, f"{name} weights in {where} give the same translations: {same} of {count}")
        tool, other = side.tool["perplexity"], side.torch_perplexity
        near = abs(tool / other - 1) < 1e-3
        check(near, f"{name} weights' perplexity: {tool:.4f} by the tool, {other:.4f} by PyTorch")
    by_ours = [("ours, greedy", ours.tool["bleu"], ours.bleu), ("ours, beam", ours.tool_beam["bleu"], ours.beam_bleu),
               ("PyTorch's, beam", torch.tool_beam["bleu"], torch.beam_bleu)]
    for name, tool, expected in by_ours:
        check(abs(tool - expected) < 0.01, f"BLEU, {name}: {tool:.4f} by the tool, {expected:.4f} by sacrebleu")
    return good


def main(folder):
    folder = pathlib.Path(folder)
    references = [" ".join(text.tokenize(target)) for _, target in text.read_pairs(folder / "test.tsv")]
    max_length = peer.description(folder / "ours.safetensors")["text"]["max_length"]
    targets = [text.tokenize(target) for _, target in text.read_pairs(folder / "train.tsv")]
    tokens = sum(min(len(target) + 1, max_length) for target in targets)
    ours = Side(folder, "ours", "torch", references, tokens)
    torch = Side(folder, "torch", "ours", references, tokens)
    print_table(ours, torch)
    good = check_alike(ours, torch)
    near = ours.bleu >= torch.bleu - POINTS
    print(f"\nheld-out BLEU {ours.bleu:.2f}, PyTorch {torch.bleu:.2f}: {ours.bleu - torch.bleu:+.2f} points, "
          f"{'good' if near else f'TOO LOW: at most {POINTS:g} below is allowed'}")
    return 0 if good and near else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
