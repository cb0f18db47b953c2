"""All sides must compute the same before anything is timed."""

SAME, AFTER_A_STEP = 1e-4, 1e-3  # relative


def close(a, b, tolerance):
    return abs(a - b) <= tolerance * max(abs(a), abs(b))


def losses_agree(ours, theirs):
    """Two losses each: from the same weights, and after one step of backward, clipping and Adam."""
    (a, a_after), (b, b_after) = (map(float, line.split()) for line in (ours, theirs))
    return close(a, b, SAME) and close(a_after, b_after, AFTER_A_STEP)


def translations(line):
    """-> [(score, tokens)]"""
    rows = [row.split() for row in line.split(";") if row.strip()]
    return [(float(row[0]), row[1:]) for row in rows]


def greedy_agrees(ours, theirs):
    return [tokens for _, tokens in translations(ours)] == [tokens for _, tokens in translations(theirs)]


def beam_agrees(ours, theirs):
    """Scores only: of two hypotheses that are equally good to the last digit, either may win."""
    pairs = zip(translations(ours), translations(theirs), strict=True)
    return all(close(a, b, SAME) and len(x) == len(y) for (a, x), (b, y) in pairs)


def check(what, ours, peers):
    agree = {"train": losses_agree, "beam_5": beam_agrees}.get(what, greedy_agrees)
    said = ours.ask("check")
    for peer in peers:
        theirs = peer.ask("check")
        if not agree(said, theirs):
            raise SystemExit(f"{what}: {peer.name} does not compute what we do:\n  ours   {said[:200]}\n  theirs {theirs[:200]}")
    return said if what == "train" else f"{len(translations(said))} translations"
