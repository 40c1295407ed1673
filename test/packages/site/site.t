#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The web site that `make site` makes: that it has all documents, that each link leads to a file
and an anchor, that it asks for nothing elsewhere, that its HTML is valid, and, in Chromium, that no
page is wider than a phone's window or a wide one, and that its text can be read on a light and a
dark screen.
"""
import functools
import html.parser
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from urllib.parse import unquote, urlsplit

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
WIDTHS = (390, 1280)
number = 0


def result(name, problems):
    global number
    number += 1
    print(f"{'not ok' if problems else 'ok'} {number} - {name}")
    for problem in problems[:30]:
        print(f"# {problem}")
    sys.stdout.flush()


def skip(name, reason):
    global number
    number += 1
    print(f"ok {number} - {name} # SKIP {reason}")


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.fetched, self.active = set(), [], [], []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.anchors.add(attributes.get("id"))
        self.active += [tag] if tag in ("script", "iframe", "object", "embed", "form", "base") else []
        self.active += [name for name in attributes if name.startswith("on")]
        for name in ("href", "src", "srcset", "action"):
            if name in attributes:
                self.links.append(attributes[name])
                self.fetched += [attributes[name]] if tag != "a" else []


def dead(site, pages):
    """Links that lead to no file below the site, or to no anchor of its page."""
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            to = Path(os.path.normpath(path.parent / unquote(parts.path))) if parts.path else path
            if not to.is_file() or site not in to.parents:
                yield f"{path.relative_to(site)}: {link}: no such file"
            elif parts.fragment and (to not in pages or unquote(parts.fragment) not in pages[to].anchors):
                yield f"{path.relative_to(site)}: {link}: no such anchor"


def asks(site, pages):
    for path, page in pages.items():
        yield from (f"{path.relative_to(site)}: {what}" for what in page.active)
        yield from (f"{path.relative_to(site)}: {link}" for link in page.fetched
                    if urlsplit(link).scheme or urlsplit(link).netloc)
    for path in [*site.rglob("*.css"), *site.rglob("*.svg")]:
        yield from (f"{path.relative_to(site)}: {found}" for found in re.findall(
            r"""@import.*|url\(['"]?[^#'"].*|<script.*|href=['"][^#'"].*""", path.read_text()))


def missing(site, pages):
    """Documents that have no page, or that the front page does not link to."""
    front = pages[site / "index.html"].links
    for path in [*ROOT.glob("doc/*.md"), *ROOT.glob("doc/*.[1-9]")]:
        name = f"doc/{path.name.removesuffix('.md')}.html"
        if site / name not in pages or name not in front:
            yield name
    for name in ("CHANGELOG", "CONTRIBUTING", "SECURITY", "SUPPORT"):
        if f"{name}.html" not in front:
            yield name


def altered(site, pages):
    """Examples of the manual that do not have the lines of their source."""
    for path in ROOT.glob("doc/*.[1-9]"):
        source = re.findall(r"(?ms)^\.EX\n(.*?)^\.EE$", path.read_text())
        shown = re.findall(r"(?s)<pre>(.*?)</pre>", (site / f"doc/{path.name}.html").read_text())
        shown = {html.unescape(re.sub("<[^>]*>", "", pre)).strip("\n") for pre in shown}
        for example in source:
            example = re.sub(r"\\f[A-Z]|\\&|\\c", "", example).replace("\\-", "-").replace("\\e", "\\").strip("\n")
            if example not in shown:
                yield f"{path.name}: {example.splitlines()[0]}"


def invalid(pages):
    for path in pages:
        ran = subprocess.run(["tidy", "-q", "-e", "-utf8", path], capture_output=True, text=True)
        yield from (f"{path.name}: {line}" for line in ran.stderr.splitlines())


class Server(http.server.SimpleHTTPRequestHandler):
    found = None

    def do_POST(self):
        Server.found = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()
        self.server.done.set()

    def log_message(self, *_):
        pass


def looks(site, pages, work):
    """None if Chromium does not say."""
    names = sorted(str(path.relative_to(site)) for path in pages)
    text = (HERE / "looks.html").read_text().replace("PAGES", json.dumps(names)).replace("WIDTHS", json.dumps(WIDTHS))
    (site / "looks.html").write_text(text)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, directory=site))
    server.done = threading.Event()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with open(work / "chromium.log", "w") as log:
        browser = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={work / 'profile'}",
             "--remote-debugging-port=0", f"http://127.0.0.1:{server.server_port}/looks.html"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    server.done.wait(300)
    browser.terminate()
    browser.wait()
    server.shutdown()
    (site / "looks.html").unlink()
    return Server.found


def test_looks(site, pages, work):
    name = f"pages of {' and '.join(map(str, WIDTHS))} pixels, light and dark"
    if not shutil.which("chromium"):
        skip(name, "no chromium")
        return
    found = looks(site, pages, work)
    if found is None:
        result(name, ["Chromium says nothing", *(work / "chromium.log").read_text().splitlines()])
        return
    problems = [f"{page}, {width}, {scheme}: {', '.join(of)}" for page, width, scheme, of in found if of]
    if len(found) != 4 * len(pages):
        problems.append(f"{len(found)} looks at {len(pages)} pages")
    result(name, problems)


def main(work):
    needs = [tool for tool in ("mandoc", "cmark-gfm") if not shutil.which(tool)]
    if needs:
        skip("a web site", f"no {' and no '.join(needs)}")
        return
    inherited = ("MAKEFLAGS", "MAKELEVEL", "BUILD_DIR")
    environment = {name: value for name, value in os.environ.items() if name not in inherited}
    ran = subprocess.run(["make", "-s", "site", f"BUILD_DIR={work}"], cwd=ROOT, env=environment,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    result("it is made", ran.stdout.splitlines() or ["make fails"] if ran.returncode else [])
    if ran.returncode:
        return
    site = work / "site"
    pages = {path: Page(path) for path in site.rglob("*.html")}
    result("it has all documents, and its front page leads there", list(missing(site, pages)))
    result("examples of the manual are as in the manual", list(altered(site, pages)))
    result("each link leads to a file, and to an anchor", list(dead(site, pages)))
    result("no script, and nothing from another host", list(asks(site, pages)))
    if shutil.which("tidy"):
        result("the HTML is valid", list(invalid(pages)))
    else:
        skip("the HTML is valid", "no tidy")
    test_looks(site, pages, work)


with tempfile.TemporaryDirectory() as directory:
    main(Path(directory).resolve())
print(f"1..{number}")
