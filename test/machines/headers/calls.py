# SPDX-License-Identifier: MIT
"""The table of calls lacks no number of the kernel, and each of its lines is a function
of exactly these types (those of irregular.h too)."""
import re
import sys

from kernel import NEWEST, ROOT, clang, include, our_headers, our_macros, table

sys.path.append(str(ROOT / "tools"))
from reference import WRITTEN, Call, lines, text

EXCEPTIONS = {name for name, *_ in table("exceptions.txt")}
used = set()


def differences(target, suite):
    ours = our_macros(target)
    if suite == NEWEST:
        for name in ours:
            number = re.fullmatch(r"PSYS_NR_(\w+)", name)
            if number and f"PSYS_HAVE_{number[1].upper()}" not in ours:
                used.add(number[1])
                if number[1] not in EXCEPTIONS:
                    yield f"no call {number[1]}, and exceptions.txt has no reason"
        yield from wrong_types(target)


def wrong_types(target):
    """Yields each call as a pointer to a function of the table's type, within the table's #if."""
    table_lines = list(lines())
    source = include(*our_headers(target)) + '#line 1 "calls"\n'
    source += "\n".join(pointer(line) if isinstance(line, Call) else line for line in table_lines) + "\n"
    result = clang(target, None, source, "-fsyntax-only", "-ferror-limit=0",
                   "-Werror=incompatible-pointer-types", "-fno-caret-diagnostics")
    for line, message in re.findall(r"^calls:(\d+):\d+: (.*)$", result.stderr, re.M):
        yield f"psys_{table_lines[int(line) - 1].name}: {message}"
    if result.returncode and "calls:" not in result.stderr:
        raise RuntimeError(result.stderr.strip())


def pointer(call):
    types = ", ".join(kind for kind, _ in call.parameters) or "void"
    return f"{call.type} (*const call_{call.name})({types}) = psys_{call.name};"


def unused():
    """Returns the rows of exceptions.txt that no number needs."""
    return [f"exceptions.txt: {name}" for name in sorted(EXCEPTIONS - used)]


def outdated():
    """The files that differ from what reference.py writes."""
    return [f"{path.name}: run `make reference`" for what, (path, _) in WRITTEN.items()
            if path.read_text() != text(what)]
