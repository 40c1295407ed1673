#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""column.py LANGUAGE: prints the names that doc/bindings.md's table "What each language has" has
for the package of a language, one a line, which the test of the package looks up in the package.

A new language is a column of that table, with its name as heading, and a test LANGUAGE.t that calls
this with it and fails if a name is not there. test/checks/interface.t checks that the first
column has the interface of C, and that each test has its column.

A cell has names in ``, in the language's own spelling; it is - if there is nothing, and other
words say what the language does without a name. A name that ends with * is one for each action.
"""
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent.parent


def table():
    """The cells of each row, by the headings of the columns."""
    text = (ROOT / "doc/bindings.md").read_text()
    rows = [[cell.strip() for cell in row.split("|")[1:-1]]
            for row in text.partition("## What each language has")[2].partition("\n## ")[0].splitlines()
            if row.startswith("|")]
    return [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]


def names(cell):
    return re.findall(r"`([^`]+)`", cell)


def main(language):
    actions = [action["name"] for action in json.loads((ROOT / "doc/interface.json").read_text())["actions"]
               if action["name"] not in ("call", "syscall")]  # which take addresses
    for row in table():
        for name in names(row[language]):
            print(*([name[:-1] + action for action in actions] if name.endswith("*") else [name]), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
