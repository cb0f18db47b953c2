#!/usr/bin/env python3
"""The site that docs/run.sh makes: every page of docs/ is in it and in its tree, its own links and pictures are there;
in a real browser, where there is one, its search finds, dark is dark, and nothing is wider than a phone.

    site.py ROOT HTML [SCREENSHOTS]
"""

import functools
import html
import http.server
import os
import pathlib
import re
import sys
import threading
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "browser"))
from devtools import Browser, find_browser  # noqa: E402

WIDE, PHONE = (1400, 1000), (400, 850)
SHOWN = ["index.html", "tutorial.html", "models.html", "performance.html", "see.html", "classbahdanau_1_1Frozen.html"]


def page_of(markdown):
    return "index.html" if markdown.stem == "start" else markdown.stem + ".html"


def broken_links(root, site):
    """-> page: link, for those of the site's own files that are not there, and for headings that our pages do not have"""
    ours = {page_of(markdown) for markdown in (root / "docs").glob("*.md")}
    text = {page.name: page.read_text(errors="replace") for page in sorted(site.glob("*.html"))}
    for page in text:
        for link in set(re.findall(r'(?:href|src|data)="([^"#?]+)', text[page])):
            link = urllib.parse.unquote(html.unescape(link))
            if not re.match(r"[a-z]+:", link) and not (site / link).exists():
                yield f"{page}: {link}"
        for target, anchor in set(re.findall(r'<a class="el" href="([^"#:]+\.html)#([^"]+)"', text[page])):
            if target in ours and f'id="{anchor}"' not in text[target] and f'name="{anchor}"' not in text[target]:
                yield f"{page}: {target}#{anchor}"


def left_as_text(site):
    """-> page: what Doxygen did not understand and printed as it is, after a link over two lines, say"""
    for page in sorted(site.glob("*.html")):
        if page.stem.endswith("_source"):
            continue
        text = re.sub(r"<(pre|div class=\"fragment\")>.*?</(pre|div><!-- fragment --)>|<code>.*?</code>", "",
                      page.read_text(errors="replace"), flags=re.DOTALL)
        for command in re.findall(r"[@\\\\](?:ref|section|subsection|page|image|anchor) \S+", re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)):
            yield f"{page.name}: expected {command} to be understood"


def in_pages(root, site):
    tree = "".join(file.read_text() for file in sorted(site.glob("navtree*.js")))
    for markdown in sorted((root / "docs").glob("*.md")):
        page = page_of(markdown)
        if not (site / page).exists():
            yield f"docs/{markdown.name}: expected {page}"
        elif f'"{page}"' not in tree:
            yield f"docs/{markdown.name}: expected {page} in docs/layout.xml"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path == "/favicon.ico":  # which browsers ask for by themselves
            self.send_response(204)
            self.end_headers()
        else:
            super().do_GET()


def in_browser(browser, site, awesome, screenshots):
    # From a server of its own: the results of a search are a frame, which cannot be looked into among files.
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/"

    def shoot(name):
        if screenshots:
            browser.picture(str(screenshots / name))

    for page in SHOWN:
        for scheme in ("light", "dark"):
            for width, height in (WIDE, PHONE):
                browser.size(width, height, mobile=width == PHONE[0])
                browser.media(scheme)
                browser.open(address + page)
                browser.wait(0.5)
                shoot(f"{page[:-5]}-{scheme}-{width}.png")
                inner = browser.evaluate("document.documentElement.scrollWidth")
                if awesome and inner > width:
                    yield f"{page}: expected at most {width} pixels, got {inner}"
                dark = browser.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3)"
                                        ".reduce((sum, part) => sum + Number(part), 0) < 300")
                if awesome and dark != (scheme == "dark"):
                    yield f"{page}: expected it to be {scheme}"
    browser.size(*WIDE)
    browser.media("light")
    for word in ("Trainer", "translate_nbest", "Tutorial"):  # a class, a function, a page
        browser.open(address + "index.html")
        browser.wait(0.5)
        browser.click("#MSearchField")
        browser.call("Input.insertText", {"text": word})
        browser.key("a", "")  # a key, as the script waits for one
        browser.evaluate("searchBox.Search && searchBox.Search()")
        browser.wait(2)
        found = browser.evaluate("""(() => { const results = document.querySelector('#MSearchResults');
            const inside = results && results.contentDocument ? results.contentDocument : document;
            return [...inside.querySelectorAll('.SRResult')].filter(r => r.offsetParent !== null).map(r => r.textContent).join(' | '); })()""")
        shoot(f"search-{word}.png")
        if word not in found:
            yield f"expected the search for {word} to find it, got {found[:200]!r}"
    yield from (f"expected no error, got {problem}" for problem in browser.problems())
    yield from (f"expected nothing to be fetched, got {url}" for url in browser.requests() if url.startswith("http") and not url.startswith(address))
    server.shutdown()


def main(root, site, screenshots=None):
    root, site = pathlib.Path(root), pathlib.Path(site).resolve()
    if not (site / "index.html").exists():
        print("skipped: there is no site")
        return 77
    if screenshots:
        screenshots = pathlib.Path(screenshots)
        screenshots.mkdir(parents=True, exist_ok=True)
    wrong = list(broken_links(root, site)) + list(left_as_text(site)) + list(in_pages(root, site))
    if find_browser() is None:
        print("There is no browser: links alone were looked at")
    else:
        browser = Browser(find_browser())
        try:
            wrong += in_browser(browser, site, (site / "doxygen-awesome.css").exists(), screenshots)
        finally:
            browser.close()
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
