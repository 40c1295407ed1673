# SPDX-License-Identifier: MIT
"""The programs, fragments and commands that README.md, doc/*.md and the man pages show."""
import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent.parent
PAGES = sorted(ROOT.glob("doc/*.[37]"))
TEXTS = [ROOT / "README.md", *sorted(ROOT.glob("doc/*.md"))]


class Block(NamedTuple):
    document: str  # as README.md or psys.3
    number: int    # of the document's blocks of this kind, from 1
    kind: str      # program, fragment, synopsis, c++, sh or text
    line: int      # of its first line, in the document
    code: str
    shown: str     # what the text says it prints, or ""

    @property
    def name(self):
        return f"{self.document}, {self.kind} {self.number} (line {self.line})"


def kind_of(code):
    """What holds no semicolon is no C, but a table."""
    if re.search(r"\bint main\(", code):
        return "program"
    return "fragment" if ";" in code else "text"


def numbered(document, found):
    """Blocks of (kind, line, code); text a few lines below a program is its output."""
    counts, blocks = {}, []
    for kind, line, code in found:
        counts[kind] = counts.get(kind, 0) + 1
        last = blocks[-1] if blocks else None
        if kind == "text" and last and last.kind in ("program", "c++") \
                and line - last.line - last.code.count("\n") < 8:
            blocks[-1] = last._replace(shown=code)
        blocks.append(Block(document, counts[kind], kind, line, code, ""))
    return blocks


def without_escapes(line):
    return (line.replace("\\-", "-").replace("\\(aq", "'").replace("\\&", "")
            .replace("\\e", "\\"))


def in_bold(line):
    """The text of a line of a SYNOPSIS: arguments of .B have a space between them."""
    macro, _, rest = line.partition(" ")
    words = [quoted or word for quoted, word in re.findall(r'"([^"]*)"|(\S+)', rest)]
    return (" " if macro == ".B" else "").join(words)


def of_page(path):
    """What lies between .EX and .EE, and the SYNOPSIS, without roff's escapes."""
    found, code = [], None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line in (".EX", ".nf"):
            code, begin, is_synopsis = [], number + 1, line == ".nf"
        elif line in (".EE", ".fi"):
            text = "\n".join(code) + "\n"
            found.append(("synopsis" if is_synopsis else kind_of(text), begin, text))
            code = None
        elif code is not None and (is_synopsis and not line.startswith(".\\\"") or not line.startswith(".")):
            code.append(without_escapes(in_bold(line) if is_synopsis else line))
    return numbered(path.name, found)


def of_text(path):
    """The fenced blocks of Markdown."""
    found, code = [], None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if code is None and line.startswith("```"):
            language, code, begin = line[3:].strip().lower(), [], number + 1
        elif code is not None and line.startswith("```"):
            text = "\n".join(code) + "\n"
            kind = {"c": kind_of(text), "c++": "c++", "cpp": "c++", "sh": "sh"}.get(language, "text")
            found.append((kind, begin, text))
            code = None
        elif code is not None:
            code.append(line)
    return numbered(path.name, found)


def documents():
    """{name: its blocks}"""
    return {path.name: (of_page if path in PAGES else of_text)(path) for path in [*PAGES, *TEXTS]}


def compiler_lines():
    """(document, line) of each `cc FILE.c ...`, in a block of shell or in the prose, once; the
    image may be made before."""
    for path in TEXTS:
        lines = re.findall(r"(?<!`)`(cc [^`]*\.c [^`]+)`(?!`)", path.read_text())
        for block in of_text(path):
            if block.kind == "sh":
                lines += re.findall(r"^(?:sh aspawn-image\.sh .* )?cc [^#\n]+",
                                    block.code.replace("\\\n", " "), re.MULTILINE)
        for line in dict.fromkeys(" ".join(line.split()) for line in lines):
            yield path.name, line
