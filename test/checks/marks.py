#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints which function of the core calls a function that is not marked for its process
(aspawn/marks.h), and which file of the child or the helper includes one of the caller,
also through another file."""

import os
import re
import sys
from pathlib import Path

CALLS = {
    "IN_CHILD": {"IN_CHILD", "IN_ANY"},
    "IN_HELPER": {"IN_HELPER", "IN_ANY"},
    "IN_SERVER": {"IN_SERVER", "IN_ANY"},
    "IN_ANY": {"IN_ANY"},
    "": {"", "IN_SERVER", "IN_ANY"},
}
INLINE = ("PSYS_INLINE", "QUEUE_INLINE")
FILES = sorted([*Path("syscall").glob("*.[ch]"), *Path("aspawn").glob("*/*.[ch]")])


def code(path):
    """The text without comments, strings and directives."""
    text = re.sub(r'/\*.*?\*/|"(\\.|[^"\\])*"', "", path.read_text(), flags=re.S)
    return re.sub(r"^#(.*\\\n)*.*|^[ \t]+$", "", text, flags=re.M)


def functions():
    """(name, mark, names that it calls) of each."""
    for path in FILES:
        for found in re.finditer(r"^((?:[\w \t][^\n;{}]*\n)+)\{\n(.*?)^\}", code(path), re.M | re.S):
            head = re.sub(r"__attribute__\(\(\w+\)\)", "", found[1])
            name = re.search(r"(\w+)\(", head)
            mark = re.search(r"\b(IN_[A-Z]+|PSYS_UNINSTRUMENTED|PSYS_INLINE|QUEUE_INLINE)\b", head)
            if name:
                mark = mark[0] if mark else ""
                yield name[1], mark.replace("PSYS_UNINSTRUMENTED", "IN_ANY"), set(re.findall(r"(\w+)\(", found[2]))


def includes(path, seen):
    """The files that it includes, and those that they include."""
    for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M):
        file = Path(os.path.normpath(path.parent / name))
        if file not in seen:
            seen.add(file)
            includes(file, seen)
    return seen


def main():
    known = {name: (mark, called) for name, mark, called in functions()}
    faults = []

    def expanded(called):
        """An inline function runs where its caller does."""
        for name in called & known.keys():
            mark, calls = known[name]
            if mark in INLINE:
                yield from expanded(calls)
            else:
                yield name

    for name, (mark, called) in known.items():
        faults += [f"{name}(), {mark or 'without a mark'}, calls {other}(), {known[other][0] or 'without one'}"
                   for other in expanded(called) if mark not in INLINE and known[other][0] not in CALLS[mark]]
    for path in FILES:
        if path.parts[1] in ("child", "helper"):
            faults += [f"{path} includes {file}" for file in includes(path, set())
                       if file.parts[1] in ("caller", "queue")]
    print("\n".join([*faults, f"{len(known)} functions"]))
    return bool(faults) or len(known) < 500


if __name__ == "__main__":
    sys.exit(main())
