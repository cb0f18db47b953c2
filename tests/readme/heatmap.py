"""Heatmaps as text, as the README shows one, and the attention of a page for a browser."""

import json
import re

SHADES = " ░▒▓█"
BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def shown(readme):
    """-> the text that the README's program prints: the first block of text"""
    return re.search(r"^```text\n(.*?)^```$", readme, re.M | re.S)[1]


def rows(text):
    """-> sentence, source words, [(target word, [shade of each column])]; a column is as wide as all others"""
    lines = text.splitlines()
    found = [line.split("│")[:2] for line in lines if "│" in line]
    columns = len(lines[1].split())
    width = len(found[0][1]) // columns
    return lines[0], lines[1].split(), [(word.strip(), [SHADES.index(cells[c * width]) for c in range(columns)])
                                        for word, cells in found]


def strongest(text):
    """-> {target word: source word} for the rows in which one column is dark"""
    _, header, found = rows(text)
    return {word: header[shades.index(max(shades))] for word, shades in found if max(shades) >= 3}


def of_page(html, number=0):
    """-> sentence, source words, [(target word, [weight of each source word])] of a page's sentence"""
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)[1]
    sentence = json.loads(data)["sentences"][number]
    best = sentence["nbest"][0]
    digits = [BASE64.index(digit) for digit in best["attention"]]
    weights = [(64 * high + low) / 4095 for high, low in zip(digits[::2], digits[1::2])]
    keys = best["keys"]
    return best["text"], sentence["source"], [(word, weights[t * keys:(t + 1) * keys]) for t, word in enumerate(best["target"])]


def differences(readme, html):
    """-> what the page's first sentence has otherwise than the README's heatmap"""
    text = shown(readme)
    sentence, header, _ = rows(text)
    got, source, found = of_page(html)
    if (got, source) != (sentence, header):
        yield f"expected {sentence!r} for {header}, got {got!r} for {source}"
        return
    looked = {word: source[weights.index(max(weights))] for word, weights in found}
    for word, at in strongest(text).items():
        if looked.get(word) != at:
            yield f"{word}: expected it to look at {at!r} most, got {looked.get(word)!r}"
