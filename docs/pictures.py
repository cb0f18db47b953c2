#!/usr/bin/env python3
"""Takes docs/pictures/page.png and beam.png anew: trains the README's program, makes a page of seven sentences by
`bahdanau explain`, and photographs it in Chromium. Ends with an error where the page's attention is not the README's.

    docs/pictures.py [BIN]    after examples/run.sh, whose programs are in BIN (default build/examples/bin)
"""

import base64
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/browser"), str(ROOT / "tests/readme")]
import devtools  # noqa: E402
import heatmap  # noqa: E402

PAIRS = """\
She found a blue coat.\tElle a trouvé un manteau bleu.
Buy flowers.\tAchète des fleurs !
It's two o'clock.\tIl est deux heures.
Where are you now?\tOù es-tu maintenant ?
We're alone this morning.\tNous sommes seuls ce matin.
The phone is on the chair.\tLe téléphone est sur la chaise.
You found this green book.\tTu as trouvé ce livre vert.
"""
EXPLAIN = ["explain", "--model", "eng-fra.safetensors", "--data", "pairs.tsv", "--out", "page.html", "--beam", "5", "--nbest", "3",
           "--runners-up", "1", "--title", "English to French"]
MARGIN = 12
PAGE, BEAM = (1180, 900), (1160, 900)  # windows


def page_of(programs, folder):
    data = ROOT / "examples/data/eng-fra.tsv"
    (folder / data.name).write_bytes(data.read_bytes())
    subprocess.run([programs / "example_01_translate"], cwd=folder, check=True)
    (folder / "pairs.tsv").write_text(PAIRS)
    subprocess.run([programs / "bahdanau", *EXPLAIN], cwd=folder, check=True)
    return folder / "page.html"


def box(browser, first, last):
    """What holds both elements: x, y, width, height in the page"""
    return browser.evaluate(f"""(() => {{ const of = s => document.querySelector(s).getBoundingClientRect();
        const a = of({first!r}), b = of({last!r});
        return [a.left + scrollX, a.top + scrollY, b.right - a.left, b.bottom - a.top]; }})()""")


def picture(browser, path, clip):
    x, y, width, height = clip
    shot = browser.call("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True,
                        "clip": {"x": x, "y": y, "width": width, "height": height, "scale": 1}})
    path.write_bytes(base64.b64decode(shot["data"]))
    print(f"{path}: {round(width)} x {round(height)}, {path.stat().st_size // 1000} kB")


def take(browser, url, pictures):
    browser.media("light")
    browser.size(*PAGE)
    browser.open(url)
    browser.hover(".line.target .word[data-i='5']")  # bleu
    browser.evaluate("scrollTo(0, 0)")
    browser.wait(0.5)
    _, top, _, height = box(browser, ".twins", "#words")
    picture(browser, pictures / "page.png", (0, 0, PAGE[0], top + height + MARGIN))

    browser.media("dark")
    browser.size(*BEAM)
    browser.open(url + "?dark")
    browser.evaluate("""[...document.querySelectorAll('.tree .node.gone')].filter(node => node.getBoundingClientRect().right <
        document.querySelector('.tree').getBoundingClientRect().right).pop().focus()""")  # the last one that was dropped
    browser.evaluate("scrollTo(0, 0)")
    browser.wait(0.5)
    x, y, width, height = box(browser, "#best", "#beam")
    picture(browser, pictures / "beam.png", (x - MARGIN, y - MARGIN, width + 2 * MARGIN, height + 2 * MARGIN))


def main(programs="build/examples/bin"):
    if devtools.find_browser() is None:
        return "expected Chromium or Chrome, got neither"
    programs = pathlib.Path(programs).resolve()
    with tempfile.TemporaryDirectory() as folder:
        page = page_of(programs, pathlib.Path(folder))
        wrong = list(heatmap.differences((ROOT / "README.md").read_text(), page.read_text()))
        if wrong:
            return "\n".join(wrong)
        browser = devtools.Browser(devtools.find_browser())
        try:
            take(browser, page.as_uri(), ROOT / "docs/pictures")
        finally:
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
