#!/usr/bin/env python3
"""The page of `bahdanau serve` in a real browser: typing, choosing a word, hostile words, a server that refuses or is gone.

    live.py TOOL FOLDER [--pictures]

TOOL is the command-line tool. With --pictures, screenshots go into FOLDER. Ends with 77 where there is no Chromium, or no server in
the tool.
"""

import pathlib
import re
import signal
import subprocess
import sys

import devtools
from check import checks_of, expect, links_of

PAIRS = """Go.\tVa !
Run.\tCours !
I go.\tJe vais.
I run.\tJe cours.
He goes.\tIl va.
He runs.\tIl court.
I see him.\tJe le vois.
He sees him.\tIl le voit.
I see it.\tJe le vois.
Go now!\tVa maintenant !
Run now!\tCours maintenant !
He runs now.\tIl court maintenant.
"""


def trained(tool, folder):
    model, pairs = folder / "m.safetensors", folder / "pairs.tsv"
    pairs.write_text(PAIRS, encoding="utf-8")
    subprocess.run([tool, "train", "--data", pairs, "--model", model, "--embed", "16", "--hidden", "16", "--layers", "1", "--batch", "4",
                    "--min-frequency", "1", "--epochs", "100", "--rate", "0.02", "--dropout", "0", "--seed", "1", "--quiet"], check=True)
    return model


def started(tool, model):
    server = subprocess.Popen([tool, "serve", "--model", model, "--port", "0"], stderr=subprocess.PIPE, text=True)
    line = server.stderr.readline()
    if "cpp-httplib" in line:
        return None, None
    return server, re.search(r"http://\S+/", line).group(0)


def said(browser):
    return browser.evaluate("document.getElementById('said').textContent")


def settle(browser):
    for _ in range(200):
        if browser.evaluate("!document.querySelector('.go').disabled"):
            return
        browser.wait(0.05)


def words(browser, side="target"):
    return browser.evaluate(f"[...document.querySelectorAll('.line.{side} .word bdi')].map(e => e.textContent)")


def tree(browser):
    return browser.evaluate("document.querySelector('main').textContent.includes('The beam')")


def asked(browser, sentence):
    browser.evaluate("document.getElementById('typed').value = ''; document.getElementById('typed').focus()")
    browser.call("Input.insertText", {"text": sentence})
    browser.key("Enter")
    settle(browser)


def check_typing(browser):
    expect("the field has the focus", browser.evaluate("document.activeElement.id"), "typed")
    asked(browser, "I see him.")
    expect("the translation is drawn", words(browser), ["je", "le", "vois", ".", "<eos>"])
    expect("its source, too", words(browser, "source"), ["i", "see", "him", ".", "<eos>"])
    expect("how long it took is said", bool(re.fullmatch(r"\d+ ms", said(browser))))
    browser.hover(".line.target .word[data-i='2']")
    expect("a word has its links", {link[0] for link in links_of(browser)}, {2})
    expect("the beam's tree is there", tree(browser))
    asked(browser, "He goes.")
    expect("the list grows", browser.evaluate("document.querySelectorAll('#list li').length"), 2)
    expect("the field stays where it is", browser.evaluate("document.getElementById('typed').getBoundingClientRect().top > 57"))
    expect("the new one is shown", words(browser), ["il", "va", ".", "<eos>"])
    browser.click("#list li:first-child a")
    expect("the first one can be seen again", words(browser), ["je", "le", "vois", ".", "<eos>"])


def check_choosing(browser):
    asked(browser, "I see him.")
    other = browser.evaluate("document.querySelector('#words tbody tr:nth-child(1) .force').textContent")
    browser.click("#words tbody tr:nth-child(1) .force")
    settle(browser)
    expect("the word that was chosen comes first", words(browser)[0], other)
    expect("and is in the field", browser.evaluate("document.getElementById('prefix').value"), other)
    second = browser.evaluate("document.querySelector('#words tbody tr:nth-child(2) .force').textContent")
    browser.click("#words tbody tr:nth-child(2) .force")
    settle(browser)
    expect("a second word keeps the first", words(browser)[:2], [other, second])
    asked(browser, "Go.")
    expect("another sentence begins as it likes", words(browser)[0], "va")
    browser.evaluate("document.getElementById('width').value = '1'; document.getElementById('nbest').value = '1'")
    asked(browser, "Go.")
    expect("without a beam there is no tree", tree(browser), False)


def check_earlier(browser):
    """Choosing a word goes on with the sentence that is shown, whatever stands in the field."""
    chosen = "#words tbody tr:nth-child(1) .force"
    field = "document.getElementById('typed').value"
    for left in ("He goes.", ""):
        asked(browser, "I see him.")
        asked(browser, "He goes.")
        browser.click("#list li:nth-last-child(2) a")
        browser.evaluate(f"{field} = {left!r}")
        other = browser.evaluate(f"document.querySelector('{chosen}').textContent")
        browser.click(chosen)
        settle(browser)
        expect(f"a word that is chosen in an earlier sentence stays in it, {left!r} in the field", words(browser, "source"), ["i", "see", "him", ".", "<eos>"])
        expect("and comes first", words(browser)[0], other)
        expect("the field has that sentence as it was typed", browser.evaluate(field), "I see him.")


def check_beam(browser):
    """Another width asks again, but never for what is still being typed."""
    listed = "document.querySelectorAll('#list li').length"

    def change(name, value):
        browser.evaluate(f"(() => {{ const e = document.getElementById('{name}'); e.value = '{value}'; e.dispatchEvent(new Event('change')); }})()")
        settle(browser)

    asked(browser, "I see him.")
    before = browser.evaluate(listed)
    change("nbest", 2)
    expect("other numbers ask again", [browser.evaluate(listed), browser.evaluate("document.querySelectorAll('#best button').length")], [before + 1, 2])
    browser.click("#words tbody tr:nth-child(1) .force")
    settle(browser)
    first = words(browser)[0]
    change("width", 3)
    expect("with the words that were chosen", [words(browser, "source")[:2], words(browser)[0]], [["i", "see"], first])
    before = browser.evaluate(listed)
    browser.evaluate("document.getElementById('typed').value = ''; document.getElementById('typed').focus()")
    browser.call("Input.insertText", {"text": "He g"})
    change("width", 5)
    expect("half a sentence is not asked for", [browser.evaluate(listed), browser.evaluate("document.getElementById('typed').value")], [before, "He g"])
    change("nbest", 3)


def check_refusals(browser):
    before = browser.evaluate("document.querySelectorAll('#list li').length")
    asked(browser, "   ")
    expect("nothing is asked of nothing", said(browser), "Type a sentence first.")
    hostile = "<script>window.hacked = 1</script> <img src=x onerror='window.hacked=1'>"
    asked(browser, hostile)
    expect("hostile words stay text", browser.evaluate("window.hacked"), None)
    expect("and are not markup", browser.evaluate("document.querySelectorAll('.line img, .line script, #list img').length"), 0)
    expect("they were translated all the same", browser.evaluate("document.querySelectorAll('#list li').length"), before + 1)
    expect("no error on the console", browser.problems(), [])
    asked(browser, "a " * 300)
    expect("a refusal is said", "at most 250 tokens" in said(browser))
    expect("as one", browser.evaluate("document.getElementById('said').className"), "said bad")


def main(tool, folder, *options):
    path = devtools.find_browser()
    if not path:
        print("there is no Chromium")
        return 77
    folder = pathlib.Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    server, url = started(tool, trained(tool, folder))
    if server is None:
        print("the tool was built without a server")
        return 77
    browser = devtools.Browser(path)
    try:
        browser.size(1280, 900)
        browser.media("light")
        browser.open(url)
        browser.evaluate("document.getElementById('width').dispatchEvent(new Event('change'))")
        expect("before there is a sentence, no number asks for one", said(browser), "")
        check_typing(browser)
        check_earlier(browser)
        check_beam(browser)
        check_choosing(browser)
        check_refusals(browser)
        if "--pictures" in options:
            browser.evaluate("document.getElementById('width').value = '5'; document.getElementById('nbest').value = '3'")
            asked(browser, "I see him.")
            browser.picture(folder / "live.png")
            browser.size(390, 844, mobile=True)
            browser.wait(0.3)
            browser.picture(folder / "live-phone.png")
            browser.size(1280, 900)
        expect("no request leaves the server", [r for r in browser.requests() if not r.startswith((url, "data:", "about:"))], [])
        server.send_signal(signal.SIGTERM)
        expect("SIGTERM ends it well", server.wait(30), 0)
        asked(browser, "Go.")
        expect("a server that is gone is said", said(browser), "The server does not answer.")
    finally:
        browser.close()
        server.kill()
    return checks_of()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
