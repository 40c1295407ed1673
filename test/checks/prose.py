#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Comments and documents keep to their columns, to the project's words, and to their lengths."""
import ast
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
COLUMNS = 100
PAGES = [*(f"doc/aspawn_{page}.3" for page in ("start", "wait", "kill", "run", "pool", "queue", "action")),
         "doc/aspawn.3", "doc/aspawn.7"]
NOTHING = "$^"
WRITTEN_BY_TOOLS = r'(?ms)^\.\\" from .*?^\.\\" end\n'
# A text has so many words at most, without a part. Whoever shortens it lowers the number.
LENGTHS = (
    ("README.md", 1200, ["README.md"], NOTHING),
    ("the manual", 10000, PAGES, NOTHING),
    ("the manual without what tools/manual.py writes", 3300, PAGES, WRITTEN_BY_TOOLS),
)
# What nobody writes here, and what is written instead.
NEVER = {
    "but for": "other than, except",
    "folders?": "directory",
    "keepers?": "helper",
    "makes? room": "reserve, free",
    "stands? in for": "simulate",
    "storeys?": "layer",
    "that is none": "invalid",
    "to be had": "available",
}
GENERATED = {"doc/syscalls.md", "include/syscall/have.h"}

STRING = r'"(?:\\.|[^"\\])*"'
CHARACTERS = r"'(?:\\.|[^'\\\n])*'"
SLASHES = rf"(//[^\n]*|/\*.*?\*/)|{STRING}"
# What is prose is a group. Code, strings and tables are not.
C = re.compile(rf"{SLASHES}|'(?:\\[^'\n]*|[^'\\\n])'|`[^`]*`", re.S)
JAVASCRIPT = re.compile(rf"{SLASHES}|{CHARACTERS}|`(?:\\.|[^`\\])*`", re.S)
LUA = re.compile(rf"(--\[\[.*?\]\]|--[^\n]*)|{STRING}|{CHARACTERS}", re.S)
HASHES = re.compile(r"""^[ \t]*(#(?!!).*)|(?<=[ \t])(# (?!type:|noqa)[^'"\n]*)$""", re.M)
MARKDOWN = re.compile(r"^<!-- (?:from|waits).*?^<!-- end -->$|^ *```.*?^ *```$|^ *\|[^\n]*|^([^\n]+)", re.M | re.S)
MAN = re.compile(r'^\.\\" from .*?^\.\\" end$|^\.TS\n.*?^\.TE$|^\.(?:EX|nf)\n.*?^\.(?:EE|fi)$|^([^\n]+)', re.M | re.S)
SYNTAX = {**dict.fromkeys((".c", ".h", ".S", ".cc", ".go", ".rs", ".java"), C),
          **dict.fromkeys((".js", ".mjs", ".ts"), JAVASCRIPT), ".lua": LUA,
          **dict.fromkeys((".sh", ".t", ".py", ".mk"), HASHES), "Makefile": HASHES,
          ".md": MARKDOWN, **dict.fromkeys((".1", ".3", ".7"), MAN)}
ADDRESS = re.compile(r"(?<=\])\([^)]*\)|[a-z]+://\S*")
number = 0


def check(name, problems):
    global number
    number += 1
    problems = list(problems)
    print(f"{'not ok' if problems else 'ok'} {number} - {name}")
    for problem in problems:
        print(f"# {problem}")


def skip(name, reason):
    global number
    number += 1
    print(f"ok {number} - {name} # SKIP {reason}")


def docstrings(text):
    """(begin, end) of each, in characters."""
    lines = [0, *(found.end() for found in re.finditer("\n", text))]
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, kinds) and ast.get_docstring(node):
            string = node.body[0]
            yield lines[string.lineno - 1], lines[string.end_lineno] - 1


def syntax(path):
    """What finds prose in the file, or None."""
    found = SYNTAX.get(path.suffix) or SYNTAX.get(path.name)
    if not found and path.is_file():
        with path.open("rb") as file:
            found = HASHES if file.read(2) == b"#!" else None
    return found


def prose(path):
    """The lines of the file with blanks in place of what is not prose."""
    text = path.read_text(encoding="utf-8")
    spans = [found.span(found.lastindex) for found in syntax(path).finditer(text) if found.lastindex]
    if path.suffix == ".py" or text.startswith("#!/usr/bin/env python3"):
        spans = sorted({*spans, *docstrings(text)})
    parts, end = [], 0
    for begin, after in spans:
        parts += [re.sub(r"[^\n\t]", " ", text[end:begin]), text[max(begin, end):after]]
        end = max(end, after)
    return ("".join(parts) + re.sub(r"[^\n]", " ", text[end:])).split("\n")


def files():
    """Those that people write."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    for path in (ROOT / name for name in listed.splitlines() if name not in GENERATED):
        if path.is_file() and not path.is_symlink() and syntax(path):
            yield path


def words(path, without):
    """How many, as `wc -w` counts what mandoc or the file has."""
    text = re.sub(without, "", (ROOT / path).read_text(encoding="utf-8"))
    if path.endswith(".md"):
        return len(text.split())
    page = subprocess.run(["mandoc", "-Tutf8", "-Owidth=900"], input=text, stdout=subprocess.PIPE, text=True,
                          check=True)
    return len(re.sub(".\b", "", page.stdout).split())


def too_wide(texts):
    for path, lines in texts.items():
        for place, line in enumerate(lines, 1):
            width = len(ADDRESS.sub("", line).rstrip().expandtabs(8))
            if width > COLUMNS:
                yield f"{path}:{place}: {width} columns: {line.strip()}"


def unwanted(texts):
    patterns = {re.compile(rf"\b{phrase}\b".replace(" ", r"[\s*#/]+"), re.I): better
                for phrase, better in NEVER.items()}
    for path, lines in texts.items():
        text = re.sub(r"`[^`\n]*`", "", "\n".join(lines))
        for pattern, better in patterns.items():
            for found in pattern.finditer(text):
                yield f"{path}:{text.count(chr(10), 0, found.start()) + 1}: {found[0]!r}: write {better}"


def main():
    texts = {path.relative_to(ROOT): prose(path) for path in files()}
    lines = sum(bool(line.strip()) for lines in texts.values() for line in lines)
    check(f"{len(texts)} files with {lines} lines of prose are read", [] if lines > 15000 else ["more are expected"])
    check(f"comments and documents have {COLUMNS} columns at most", too_wide(texts))
    check("words that have a better one are not used", unwanted(texts))
    for name, most, paths, without in LENGTHS:
        text = f"{name} has {most} words at most"
        if paths[0].endswith(".md") or shutil.which("mandoc"):
            count = sum(words(path, without) for path in paths)
            check(text, [f"{count} words"] if count > most else [])
        else:
            skip(text, "no mandoc")
    print(f"1..{number}")


if __name__ == "__main__":
    main()
