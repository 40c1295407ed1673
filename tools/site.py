#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""site.py DIRECTORY: the manual and the documents as a web site, which needs no script and no
server. Standard input has the paths of the repository's files, a line each.

README.md, the manual and doc/ become pages, and so does what they link to: another document, a
source file as its text, a directory as a list, or its README.md.
mandoc and cmark-gfm make the HTML.
"""
import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
FILES = sys.stdin.read().splitlines()
MANUAL = sorted((path for path in FILES if re.fullmatch(r"doc/\w+\.\d", path)), key=lambda path: (path[-1], path))
DOCUMENTS = sorted(path for path in FILES if re.fullmatch(r"doc/[\w-]+\.md", path))
COPIED = (".svg", ".json")
RELEASE = dict(re.findall(r"^(\w+)=(.*)", (ROOT / "RELEASE").read_text(), re.MULTILINE))
VERSION = RELEASE["TAG"][1:]
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="stylesheet" href="{top}site.css">
</head>
<body>
<header><nav><a href="{top}index.html">aspawn</a> <a href="{top}index.html#the-manual">Manual</a>
<a href="{top}index.html#documents">Documents</a> <a href="{top}CHANGELOG.html">Changes</a></nav></header>
<main>
{body}
</main>
<footer>{source} of aspawn {version}</footer>
</body>
</html>
"""


def run(command, text):
    if not shutil.which(command[0]):
        sys.exit(f"no {command[0]} command")
    return subprocess.run(command, input=text, check=True, capture_output=True, text=True, cwd=ROOT).stdout


def plain(body):
    return " ".join(re.sub(r"<[^>]*>", "", body).split())


def made_of(path):
    """The path, in the site, of a file's or directory's page."""
    if path == "README.md":
        return "index.html"
    if path.endswith(COPIED):
        return path
    if path not in FILES:
        return f"{path}/index.html"
    return re.sub(r"(\.md)?$", ".html", path, count=1)


def from_manual(text):
    """mandoc 1.14.6 loses empty lines of an example, and breaks lines that begin with a blank."""
    text = re.sub(r"(?ms)^\.EX$.*?^\.EE$", lambda match: re.sub(r"(?m)^(?=$| )", r"\\&", match[0]), text)
    body = run(["mandoc", "-T", "html", "-O", "fragment"], re.sub(r"(?m)^\\&$", r"\\ ", text))
    body = re.sub(r'(?s)<table class="(?:head|foot)">.*?</table>|<p class="Pp">\s*(?:<br/>\s*)?</p>|'
                  r'</dl>\s*<dl class="Bl-tag">|<dt></dt>|<dd></dd>|(?m:^&#x00A0;$)', "", body)
    return re.sub(r"(</?h)(\d)", lambda match: match[1] + str(int(match[2]) + 1), body)


def slug(title):
    """The anchor that GitHub gives to a heading."""
    return re.sub(r"[^\w\- ]", "", html.unescape(plain(title)).lower()).replace(" ", "-")


def from_markdown(text):
    seen = {}

    def heading(match):
        anchor = slug(match[2])
        seen[anchor] = seen.get(anchor, -1) + 1
        return f'<{match[1]} id="{anchor}{f"-{seen[anchor]}" if seen[anchor] else ""}">{match[2]}</{match[1]}>'

    text = re.sub(r"(?m)^<!--.*-->\n", "", text)
    body = run(["cmark-gfm", "-e", "table", "--table-prefer-style-attributes"], text)
    return re.sub(r"<(h\d)>(.*?)</\1>", heading, body)


def names(path):
    """The functions of a page of the manual, and what they do."""
    section = re.search(r'(?s)id="NAME">.*?<p class="Pp">(.*?)</p>', from_manual((ROOT / path).read_text()))
    of, _, purpose = plain(section[1]).partition(" - ")
    return of.split(", "), purpose


NAMES = {path: names(path) for path in MANUAL}
PAGES = {(name, path[-1]): path for path in MANUAL for name in NAMES[path][0]}


def listed(title, level, rows):
    lines = "".join(f'<li><a href="{path}">{name}</a>{text}</li>\n' for path, name, text in rows)
    return f'<h{level} id="{slug(title)}">{title}</h{level}>\n<ul>\n{lines}</ul>\n'


def manual(section):
    for path in MANUAL:
        if path.endswith(section):
            yield path, f"{Path(path).stem}({section})", f": {NAMES[path][1]}"


def titles():
    for path in ["CONTRIBUTING.md", "SECURITY.md", "SUPPORT.md", *DOCUMENTS]:
        yield path, html.escape(re.search(r"(?m)^# (.*)", (ROOT / path).read_text())[1]), ""


def index():
    """What the front page has below README.md."""
    sections = {"1": "Section 1: the command", "3": "Section 3: functions", "7": "Section 7: overview"}
    lists = "".join(listed(title, 3, manual(number)) for number, title in sections.items())
    return '<h2 id="the-manual">The manual</h2>\n' + lists + listed("Documents", 2, titles())


def directory(path):
    """Of a directory below it there is the README.md, or a list too."""
    below = sorted({file.removeprefix(path + "/").split("/")[0] for file in FILES if file.startswith(path + "/")})
    return f"<h1>{path}</h1>\n<ul>\n" + "".join(f'<li><a href="{name}">{name}</a></li>\n' for name in below) + "</ul>\n"


def content(path):
    if path not in FILES:
        return directory(path)
    # The Go module's placeholder, which its packing replaces too.
    text = (ROOT / path).read_text().replace("aspawn.example", RELEASE["ADDRESS"].split("//")[-1])
    if path in MANUAL:
        return f"<h1>{Path(path).stem}({path[-1]})</h1>\n" + from_manual(text)
    if path == "README.md":
        return from_markdown(text) + index()
    if path.endswith(".md"):
        return from_markdown(text)
    return f"<h1>{path}</h1>\n<pre>{html.escape(text)}</pre>\n"


def contents(body):
    """A list of sections below the title."""
    sections = re.findall(r'(?s)<h([23]) (?:class="S[hs]" )?id="([^"]*)">(.*?)</h\1>', body)
    if len(sections) < 4:
        return body
    lines = "".join(f'<li{" class=below" if level == "3" else ""}><a href="#{anchor}">{plain(title)}</a></li>\n'
                    for level, anchor, title in sections)
    return body.replace("</h1>", f"</h1>\n<details><summary>Contents</summary>\n<ul>\n{lines}</ul>\n</details>", 1)


def linked(path, body, found):
    """The page with links that lead to pages. What it links to is added to those found."""
    here = os.path.dirname(made_of(path))
    base = path if path not in FILES else os.path.dirname(path)

    def to(target):
        if target not in FILES and f"{target}/README.md" in FILES:
            target += "/README.md"
        if target not in FILES and not any(file.startswith(target + "/") for file in FILES):
            sys.exit(f"{path} links to {target}, which is no file of the repository")
        found.append(target)
        return os.path.relpath(made_of(target), here or ".")

    def link(match):
        target, sharp, anchor = html.unescape(match[2]).partition("#")
        if not target or ":" in target:
            return match[0]
        target = to(os.path.normpath(os.path.join(base, unquote(target))))
        return match[1] + html.escape(target + sharp + anchor) + '"'

    def mention(match):
        """Of a page of the manual, or of a file in a page of the manual."""
        target = PAGES.get((match["name"], match["section"])) or (match["file"] if match["file"] in FILES else None)
        return f'<a href="{to(target)}">{match[0]}</a>' if target and target != path else match[0]

    body = re.sub(r'(<a href="|<img src=")([^"]*)"', link, body)
    return re.sub(r"(?s)<a\b.*?</a>|<pre\b.*?</pre>|<h\d.*?</h\d>|<i>(?P<file>[\w/.-]+)</i>|"
                  r"(?:<b>)?\b(?P<name>[a-z]\w+)(?:</b>)?\((?P<section>\d)\)", mention, body)


def main():
    site = Path(sys.argv[1])
    waiting = ["README.md", *MANUAL, *DOCUMENTS]
    made = set()
    while waiting:
        path = waiting.pop()
        to = site / made_of(path)
        if path in made:
            continue
        made.add(path)
        to.parent.mkdir(parents=True, exist_ok=True)
        if path.endswith(COPIED):
            shutil.copyfile(ROOT / path, to)
            continue
        body = contents(linked(path, content(path), waiting))
        title = plain(re.search(r"(?s)<h1.*?</h1>", body)[0])
        to.write_text(PAGE.format(
            title=title if path == "README.md" else f"{title} - aspawn", body=body, version=VERSION,
            top="../" * made_of(path).count("/"), source=path))
    shutil.copyfile(ROOT / "tools/site.css", site / "site.css")


main()
