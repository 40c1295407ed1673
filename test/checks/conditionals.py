#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The core has no conditional expression within another: a table, or `if` with an early return,
is easier to read."""
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PYTHON = "/usr/bin/python3"  # has what the distribution packages
NAME = "no conditional expression is an operand of another"

try:
    from clang.cindex import Config, CursorKind, Index, LibclangError
    Config.set_library_file("libclang-19.so.1")
    index = Index.create()
except ImportError:
    if sys.executable != PYTHON and os.path.exists(PYTHON):
        os.execv(PYTHON, [PYTHON, __file__])
    sys.exit(print(f"ok 1 - {NAME} # SKIP no python3-clang\n1..1"))
except LibclangError:
    sys.exit(print(f"ok 1 - {NAME} # SKIP no libclang1-19\n1..1"))

CHOICE = CursorKind.CONDITIONAL_OPERATOR


def chained(cursor, within=False):
    """(file, line) of each conditional expression that is an operand of another,
    in parentheses or not."""
    if cursor.kind == CHOICE and within:
        yield os.path.relpath(cursor.location.file.name, ROOT), cursor.location.line
    parts = list(cursor.get_children())
    for part in parts:
        inherits = within and cursor.kind in (CursorKind.PAREN_EXPR, CursorKind.UNEXPOSED_EXPR) and len(parts) == 1
        yield from chained(part, inherits or (cursor.kind == CHOICE and part != parts[0]))


def sources():
    yield from sorted(ROOT.glob("syscall/*.c"))
    yield from sorted(ROOT.glob("aspawn/**/*.c"))


found = set()
for path in sources():
    unit = index.parse(str(path), ["-std=c11", f"-I{ROOT}/include", "-ffreestanding", "-DPSYS_NO_UNPREFIXED"])
    errors = [error for error in unit.diagnostics if error.severity >= error.Error]
    if errors:
        found.add((os.path.relpath(path, ROOT), errors[0].spelling))
    found.update(place for part in unit.cursor.get_children() for place in chained(part))
print("not ok" if found else "ok", f"1 - {NAME}")
for file, line in sorted(found):
    print(f"# {file}:{line}")
print("1..1")
