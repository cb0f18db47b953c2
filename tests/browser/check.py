#!/usr/bin/env python3
"""The pages in a real browser: Chromium, headless. What they do with a pointer, with keys, with hostile words, at a phone's width.

    check.py PROGRAM FOLDER [--pictures]

PROGRAM is bahdanau_browser_pages, which writes the pages into FOLDER. With --pictures, screenshots go there, too. Ends with 77
where there is no Chromium.
"""

import pathlib
import subprocess
import sys
import time

import devtools

checks = 0
failures = []


def expect(what, got, wanted=True):
    global checks
    checks += 1
    if got != wanted:
        failures.append(f"{what}: expected {wanted!r}, got {got!r}")


def checks_of():
    """What came of all checks, printed; the exit code."""
    print("\n".join(failures))
    print(f"{checks - len(failures)} of {checks} checks passed")
    return 1 if failures else 0


def word(side, i):
    return f".line.{side} .word[data-i='{i}']"


def links_of(browser):
    return browser.evaluate("[...document.querySelectorAll('.links path')].map(p => [+p.dataset.target, +p.dataset.source, +p.dataset.weight])")


def focused_word(browser):
    return browser.evaluate("(() => { const e = document.activeElement; return e.classList.contains('word') ? [e.closest('.line').classList[1], +e.dataset.i] : null; })()")


def check_pointer(browser):
    faint = links_of(browser)
    expect("links of all words are there, faintly", len(faint) >= 8)
    height = browser.evaluate("document.documentElement.scrollHeight")
    browser.hover(word("target", 4))
    expect("the page stays as high as it is", browser.evaluate("document.documentElement.scrollHeight"), height)
    links = links_of(browser)
    expect("a word under the pointer has links of its own alone", {link[0] for link in links}, {4})
    expect("its strongest link is that of the greatest weight", max(links, key=lambda link: link[2])[1], 4)
    expect("words are shaded by their weight", browser.evaluate(f"getComputedStyle(document.querySelector(\"{word('source', 4)}\")).getPropertyValue('--weight') > .8"))
    expect("the readout has the runners-up", "mot4" in browser.evaluate("document.getElementById('readout').textContent"))
    expect("the heatmap's label is lit", browser.evaluate("document.querySelector('.matrix .rows .on').textContent"), "manteau")
    browser.hover(word("source", 3))
    expect("a source word has links to what attends to it", {link[1] for link in links_of(browser)}, {3})
    browser.mouse("mouseMoved", 5, 5)
    expect("nothing is left when the pointer goes", len(links_of(browser)), len(faint))
    top = "document.querySelector('.matrix').getBoundingClientRect().top + scrollY"
    before = browser.evaluate(top)
    browser.hover(".matrix canvas")
    expect("nothing moves away from the pointer", browser.evaluate(top), before)
    expect("a cell of the heatmap is one link", len(links_of(browser)), 1)
    browser.mouse("mouseMoved", 5, 5)


def check_keys(browser):
    browser.evaluate("document.querySelector('#theme').focus()")
    for _ in range(12):
        browser.key("Tab")
        if focused_word(browser):
            break
    expect("Tab reaches the words", focused_word(browser), ["source", 0])
    expect("focus shows links", {link[1] for link in links_of(browser)}, {0})
    browser.key("ArrowRight")
    browser.key("ArrowRight")
    browser.key("ArrowRight")
    expect("arrows go from word to word", focused_word(browser), ["source", 3])
    browser.key("ArrowDown")
    expect("and across to the word that attends most", focused_word(browser), ["target", 5])
    expect("its links are shown", {link[0] for link in links_of(browser)}, {5})
    expect("a reader is told", "bleu" in browser.evaluate("document.getElementById('readout').textContent"))
    browser.key("End")
    expect("End goes to the last", focused_word(browser), ["target", 7])
    browser.key("Home")
    browser.key("ArrowUp")
    expect("and back", focused_word(browser), ["source", 0])
    browser.key("Tab")
    expect("a line is one stop of Tab", focused_word(browser), ["target", 0])
    browser.key("Tab")
    expect("then comes the heatmap", browser.evaluate("document.activeElement.className"), "matrix")
    browser.key("ArrowDown")
    browser.key("ArrowDown")
    browser.key("ArrowRight")
    expect("in which arrows move a cursor", [link[:2] for link in links_of(browser)], [[1, 1]])
    browser.key("Escape")
    browser.evaluate("document.activeElement.blur()")
    browser.key("j", "j")
    expect("j goes on", browser.evaluate("location.hash"), "#2")
    browser.key("k", "k")
    expect("k goes back", browser.evaluate("location.hash"), "#1")
    browser.key("/", "/")
    expect("/ searches", browser.evaluate("document.activeElement.id"), "search")
    for letter in "mainten":
        browser.key(letter, letter)
    expect("the list is what was found", browser.evaluate("document.querySelectorAll('#list li').length"), 1)
    browser.evaluate("(() => { const s = document.getElementById('search'); s.value = ''; s.dispatchEvent(new Event('input')); s.blur(); })()")


def check_list(browser):
    def order(name):
        browser.evaluate(f"(() => {{ const s = document.getElementById('order'); s.value = '{name}'; s.dispatchEvent(new Event('change')); }})()")
        return browser.evaluate("[...document.querySelectorAll('#list a')].map(a => +a.hash.slice(1))")
    expect("the longest comes first", order("lengthDown")[0], 8)
    expect("the shortest comes first", order("lengthUp")[0], 7)
    expect("BLEU's best comes first", order("bleuDown")[0], 4)
    expect("the lowest score comes first", order("scoreUp")[0], 8)
    expect("or their order", order("file"), list(range(1, 9)))
    browser.click("#list a[href='#3']")
    expect("a click shows a sentence", browser.evaluate("document.querySelector('.line.target .word').textContent"), "va")


def check_search_views(browser):
    expect("the tree has all fates", set(browser.evaluate("[...document.querySelectorAll('.tree .node')].map(n => n.dataset.fate)")), {"kept", "ended", "dropped", "pruned"})
    nodes = browser.evaluate("document.querySelectorAll('.tree .node').length")
    browser.click("#gone")
    expect("what was dropped can be left out", browser.evaluate("document.querySelectorAll('.tree .node').length") < nodes)
    browser.click("#gone")
    browser.evaluate("document.querySelector('.tree .node').focus()")
    browser.key("ArrowRight")
    browser.key("ArrowDown")
    browser.key("ArrowDown")
    note = browser.evaluate("document.querySelector('.tree-note').textContent")
    expect("a hypothesis that was dropped says when, and its score", "dropped at step 2" in note and "ln p" in note)
    expect("the n best stand side by side, and the reference", browser.evaluate("document.querySelectorAll('#best button').length"), 3)
    expect("words that differ are marked", browser.evaluate("[...document.querySelectorAll('#best button')[1].querySelectorAll('mark')].map(m => m.textContent)"), ["le", "manteau"])
    expect("of a translation that is not the reference there is no gold", browser.evaluate("document.querySelectorAll('.matrix .gold').length"), 0)
    browser.click("#best button:nth-child(2)")
    expect("one of them is shown when chosen", browser.evaluate(f"document.querySelector(\"{word('target', 3)}\").textContent"), "le")
    browser.click("#best button:nth-child(3)")
    expect("the reference has gold links", browser.evaluate("[document.querySelectorAll('.matrix .gold').length, document.querySelectorAll('.matrix .gold.possible').length]"), [8, 1])
    browser.click("#best button:nth-child(1)")


def check_tree(browser):
    browser.evaluate("location.hash = '#6'")
    browser.wait(0.1)
    family = "👩‍👩‍👧‍👧"
    names = browser.evaluate("[...document.querySelectorAll('.tree .node')].map(n => n.querySelector('text').textContent)")
    expect("what people take for one sign is never cut", names, ["<eos>", 2 * family, 9 * family + "…", "mot"])
    browser.evaluate("document.querySelectorAll('.tree .node')[3].dispatchEvent(new Event('focus'))")
    expect("how wide the beam is, is not guessed", "the beam keeps 3" in browser.evaluate("document.querySelector('.tree-note').textContent"))


def check_hostile(browser):
    browser.evaluate("location.hash = '#2'")
    browser.wait(0.1)
    expect("a word that is a script is a word", browser.evaluate(f"document.querySelector(\"{word('source', 0)}\").textContent"), "<script>window.taken=1</script>")
    expect("and none has run", browser.evaluate("typeof window.taken"), "undefined")
    expect("nor made an element", browser.evaluate("document.querySelectorAll('img, b[onclick], iframe').length"), 0)
    expect("the scripts are ours", browser.evaluate("document.scripts.length"), 2)
    expect("what would turn text round is shown", "\ufffd" in browser.evaluate(f"document.querySelector(\"{word('source', 6)}\").textContent"))
    browser.hover(word("target", 0))
    expect("in the readout, too", "<b onclick" in browser.evaluate("document.getElementById('readout').textContent"))


def check_scripts(browser):
    browser.evaluate("location.hash = '#4'")
    browser.wait(0.1)
    expect("Arabic runs from right to left", browser.evaluate("(() => { const x = i => document.querySelector(`.line.source .word[data-i='${i}']`).getBoundingClientRect().left; return x(0) > x(1) && x(1) > x(2); })()"))
    expect("Chinese from left to right", browser.evaluate("document.querySelector('.line.target').dir"), "ltr")
    browser.evaluate(f"document.querySelector(\"{word('source', 0)}\").focus()")
    browser.key("ArrowLeft")
    expect("and so do its arrows", focused_word(browser), ["source", 1])
    for nowhere in ("#x", "#0", "#99", "#1.5"):
        browser.evaluate(f"location.hash = '{nowhere}'")
    browser.wait(0.1)
    expect("an address of no sentence leads nowhere", browser.evaluate("document.getElementById('place').textContent"), "4 / 8")
    browser.evaluate("location.hash = '#6'")
    browser.wait(0.1)
    expect("an emoji of several signs is whole", browser.evaluate(f"document.querySelector(\"{word('source', 0)}\").textContent"), "👩‍👩‍👧‍👧")
    browser.evaluate("location.hash = '#7'")
    browser.wait(0.1)
    expect("without attention there is no heatmap", browser.evaluate("document.querySelectorAll('.matrix').length"), 0)
    browser.evaluate("location.hash = '#3'")
    browser.wait(0.1)
    expect("each head has a picture", browser.evaluate("document.querySelectorAll('.heads button').length"), 5)
    browser.click(".heads button:nth-child(2)")
    browser.hover(word("target", 1))
    expect("and shows its own attention", max(links_of(browser), key=lambda link: link[2])[1:], [1, 0.7])
    browser.mouse("mouseMoved", 5, 5)
    for width in (1200, 900):
        browser.size(width, 900)
        browser.wait(0.1)
        expect(f"pictures of heads leave the table of words its room, {width} wide", browser.evaluate("(() => { const t = document.querySelector('#words .scroll'); return t.scrollWidth <= t.clientWidth; })()"))
    browser.size(1280, 900)


def check_long(browser):
    browser.evaluate("location.hash = '#8'")
    browser.wait(0.3)
    expect("a long matrix scrolls", browser.evaluate("(() => { const m = document.querySelector('.matrix'); return m.scrollWidth > m.clientWidth && m.scrollHeight > m.clientHeight; })()"))
    expect("its labels stay", browser.evaluate("""(() => { const m = document.querySelector('.matrix'); m.scrollTo(900, 900);
        const frame = m.getBoundingClientRect(), rows = document.querySelector('.matrix .rows').getBoundingClientRect(), columns = document.querySelector('.matrix .columns').getBoundingClientRect();
        return Math.abs(rows.left - frame.left) < 2 && Math.abs(columns.top - frame.top) < 2; })()"""))
    expect("they can be read", browser.evaluate("parseFloat(getComputedStyle(document.querySelector('.matrix .rows span')).fontSize) >= 11"))
    expect("the page itself does not scroll sideways", browser.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def check_surroundings(browser, pictures):
    light = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    browser.media("dark")
    dark = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    expect("dark is dark", dark != light and max(int(x) for x in dark[4:-1].split(",")) < 60)
    browser.media("light")
    browser.click("#theme")
    browser.click("#theme")
    expect("the button makes it dark, too", browser.evaluate("getComputedStyle(document.body).backgroundColor"), dark)
    browser.click("#theme")
    browser.size(390, 844, mobile=True)
    for sentence in range(1, 9):
        browser.evaluate(f"location.hash = '#{sentence}'")
        browser.wait(0.15)
        expect(f"sentence {sentence} fits a phone", browser.evaluate("document.documentElement.scrollWidth <= 390"))
    expect("there the list is out of the way", browser.evaluate("getComputedStyle(document.getElementById('side')).display"), "none")
    browser.click(".toggle-list")
    expect("until it is asked for", browser.evaluate("getComputedStyle(document.getElementById('side')).display"), "flex")
    browser.click("#list a[href='#1']")
    expect("and goes when a sentence was chosen", browser.evaluate("getComputedStyle(document.getElementById('side')).display"), "none")
    browser.size(1280, 900)
    browser.media("light", "print")
    expect("on paper there is no list", browser.evaluate("getComputedStyle(document.getElementById('side')).display"), "none")
    expect("nothing is cut", browser.evaluate("getComputedStyle(document.querySelector('.tree')).overflow"), "visible")
    browser.media("light")
    check_print(browser)
    pdf = browser.pdf()
    expect("it prints", pdf.startswith(b"%PDF") and len(pdf) > 10000)
    if pictures:
        (pictures / "print.pdf").write_bytes(pdf)


def check_print(browser):
    for sentence in (8, 1, 3, 8):
        browser.evaluate(f"location.hash = '#{sentence}'")
        browser.wait(0.2)
    expect("each event of the window has one listener, whatever was shown", browser.listeners("window", "beforeprint", "afterprint"), [1, 1])
    # As wide as A4 and Letter leave between their margins, whichever is less.
    browser.size(717, 1000)
    browser.media("dark", "print")
    browser.evaluate("dispatchEvent(new Event('beforeprint'))")
    browser.wait(0.2)
    expect("200 columns are no wider than the paper", browser.evaluate("document.querySelector('.matrix .grid').getBoundingClientRect().right <= innerWidth"))
    expect("nor is anything else", browser.evaluate("document.documentElement.scrollWidth <= innerWidth"))
    colours = "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
    for theme in ("as the system has it", "light", "dark"):
        expect(f"what is dark on a screen is light on paper, {theme}", browser.evaluate(colours), ["rgb(255, 255, 255)", "rgb(0, 0, 0)"])
        browser.evaluate("document.getElementById('theme').click()")
    corner = """(() => { const c = document.querySelector('.matrix canvas'), copy = new OffscreenCanvas(c.width, c.height).getContext('2d', {willReadFrequently: true});
        copy.drawImage(c, 0, 0); return [...copy.getImageData(c.width - 1, 0, 1, 1).data].slice(0, 3); })()"""
    expect("and so is the matrix", browser.evaluate(corner), [247, 251, 255])
    browser.media("dark")
    browser.evaluate("dispatchEvent(new Event('afterprint'))")
    browser.wait(0.1)
    expect("then it is dark again", browser.evaluate(corner), [27, 32, 40])
    expect("and as large as before", browser.evaluate("document.querySelector('.matrix .grid').getBoundingClientRect().width > 2000"))
    browser.media("light")
    browser.size(1280, 900)


def check_touch(browser):
    browser.touchable(True)
    browser.size(390, 844, mobile=True)
    browser.evaluate("location.hash = '#1'")
    browser.wait(0.3)
    browser.touch(word("target", 4))
    browser.wait(0.3)
    expect("a word that is touched has its links", {link[0] for link in links_of(browser)}, {4})
    browser.touch(word("source", 3))
    browser.wait(0.3)
    expect("and then another one", {link[1] for link in links_of(browser)}, {3})
    browser.touchable(False)
    browser.size(1280, 900)


def check_many(browser, folder):
    """Bounds that a slow machine holds: what is quadratic in the sentences would not."""
    size = (folder / "empty.html").stat().st_size
    expect(f"a page without sentences has about 56 KB, {size}", 53_000 < size < 59_000)
    each = ((folder / "many.html").stat().st_size - size) / 2000
    expect(f"a sentence of 20 words has about 3 KB, {each:.0f}", 2500 < each < 3500)

    def seconds(what):
        start = time.monotonic()
        what()
        browser.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return time.monotonic() - start

    def choose(name, value, event):
        browser.evaluate(f"(() => {{ const e = document.getElementById('{name}'); e.value = '{value}'; e.dispatchEvent(new Event('{event}')); }})()")

    def listed():
        return browser.evaluate("document.querySelectorAll('#list li').length")

    took = {"load": seconds(lambda: browser.open((folder / "many.html").as_uri()))}
    expect("2,000 sentences are listed", listed(), 2000)
    took["search"] = seconds(lambda: choose("search", "sentence199", "input"))
    expect("and searched", listed(), 11)
    choose("search", "", "input")
    took["sort"] = seconds(lambda: choose("order", "lengthDown", "change"))
    expect("and sorted", browser.evaluate("document.querySelector('#list a .number span').textContent"), "18")
    took["next"] = seconds(lambda: browser.evaluate("document.querySelector('[title=\"next sentence\"]').click()"))
    print("2,000 sentences: " + ", ".join(f"{name} {value:.2f} s" for name, value in took.items()))
    for name, most in (("load", 30), ("search", 10), ("sort", 10), ("next", 5)):
        expect(f"{name} of 2,000 sentences within {most} s, {took[name]:.1f}", took[name] < most)


def check_report(browser, url, pictures):
    browser.size(1280, 900)
    browser.open(url)
    expect("four charts", browser.evaluate("document.querySelectorAll('.chart path.curve').length") >= 6)
    expect("the last samples", browser.evaluate("document.querySelector('output').textContent"), "after epoch 30")
    if pictures:
        browser.picture(pictures / "report.png", whole=True)
    def loaded():
        return sum(event.get("method") == "Page.loadEventFired" for event in browser.events)
    loads = loaded()
    browser.mouse("mouseMoved", 2, 2)
    def loads_again(before):
        for _ in range(60):
            browser.wait(0.25)
            if loaded() > before:
                return True
        return False
    expect("it loads itself anew", loads_again(loads))

    def still(what):
        before = loaded()
        browser.wait(2.6)
        expect(what, loaded(), before)
    browser.hover(".plot")
    still("not while somebody reads a value off")
    browser.mouse("mouseMoved", 2, 2)
    browser.evaluate("document.querySelector('.sample .word[tabindex=\"0\"]').focus()")
    still("nor while a word has the focus")
    browser.evaluate("document.activeElement.blur()")
    expect("then it goes on", loads_again(loaded()))
    browser.click("#pause")
    still("unless it is told not to")
    browser.evaluate("(() => { const s = document.getElementById('epoch'); s.value = 0; s.dispatchEvent(new Event('input')); })()")
    expect("earlier samples can be seen", browser.evaluate("document.querySelector('.line.target .word:nth-child(2)').textContent"), "vu")
    browser.hover(".sample .line.target .word")
    expect("with their attention", browser.evaluate("document.querySelectorAll('.sample .links path').length") > 0)
    browser.evaluate("document.querySelector('.plot').focus()")
    browser.key("ArrowLeft")
    expect("charts are read by keys", browser.evaluate("document.querySelector('.chart .legend').textContent").startswith("epoch 29"))
    browser.size(390, 844, mobile=True)
    browser.wait(0.2)
    expect("it fits a phone", browser.evaluate("document.documentElement.scrollWidth <= 390"))
    browser.media("dark")
    if pictures:
        browser.picture(pictures / "report-phone.png", whole=True)
    browser.media("light")


def take_pictures(browser, url, pictures):
    for name, width, height, mobile, scheme, sentence in (
            ("desktop", 1280, 900, False, "light", 1), ("dark", 1280, 900, False, "dark", 1), ("phone", 390, 844, True, "light", 1),
            ("phone-dark", 390, 844, True, "dark", 3), ("long", 1280, 900, False, "light", 8), ("arabic", 1280, 900, False, "light", 4),
            ("hostile", 1280, 900, False, "light", 2), ("heads", 1280, 900, False, "dark", 3)):
        browser.size(width, height, mobile)
        browser.media(scheme)
        browser.open(f"{url}?{name}#{sentence}")
        if not mobile:
            browser.hover(word("target", 4 if sentence == 1 else 1))
            browser.evaluate("scrollTo(0, 0)")
        browser.wait(0.3)
        browser.picture(pictures / f"{name}.png", whole=True)


def main(program, folder, *options):
    path = devtools.find_browser()
    if not path:
        print("there is no Chromium")
        return 77
    folder = pathlib.Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([program, folder], check=True)
    url = (folder / "pages.html").as_uri()
    pictures = folder if "--pictures" in options else None
    browser = devtools.Browser(path)
    try:
        browser.size(1280, 900)
        browser.media("light")
        browser.open(url)
        expect("a page of eight sentences", browser.evaluate("document.querySelectorAll('#list li').length"), 8)
        check_pointer(browser)
        check_keys(browser)
        check_search_views(browser)
        check_tree(browser)
        check_list(browser)
        check_hostile(browser)
        check_scripts(browser)
        check_long(browser)
        check_surroundings(browser, pictures)
        check_touch(browser)
        if pictures:
            take_pictures(browser, url, pictures)
        check_many(browser, folder)
        check_report(browser, (folder / "report.html").as_uri(), pictures)
        expect("no error on the console", browser.problems(), [])
        left = [request for request in browser.requests() if not request.startswith((folder.as_uri(), "data:"))]
        expect("no request leaves the page", left, [])
        expect("requests were seen at all", len(browser.requests()) >= 2)
    finally:
        browser.close()
    return checks_of()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
