#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lists the kernel's names that our headers lack: test/machines/headers/names.py

A subject is what our names begin with, up to the first underscore: CLONE_, PR_. Of names without an
underscore it is the kernel's header, as that of SIGINT. Each other name of a subject, in the newest
packaged kernel's headers of x86_64, is either added to our headers or has a row in names.txt.
"""
import fnmatch
import re
import sys

sys.dont_write_bytecode = True
from checks import kernel_headers
from constants import constants
from kernel import NEWEST, checked, clang, table, targets

ROWS = [pattern for row in table("names.txt") for pattern in row[:row.index("-")]]


def kernel_names(target):
    """Macros without arguments, and enumerators: name -> the header that defines it."""
    text = checked(clang(target, NEWEST, kernel_headers(target), "-E", "-dD"))
    names, header, code = {}, "", ""
    for line in text.splitlines() + ["# 1 \"\""]:
        marker = re.match(r'# \d+ "([^"]*)"', line)
        macro = re.match(r"#define (\w+) \S", line)
        if marker:
            # A header that includes others appears in pieces; an enumeration includes none.
            for body in re.findall(r"\benum\b[^{};]*\{([^}]*)\}", code):
                names.update((name, header) for name in re.findall(r"(?:^|,)\s*(\w+)", body))
            header, code = marker[1], ""
        elif macro:
            names[macro[1]] = header
        elif not line.startswith("#"):
            code += line + "\n"
    return names


def subject(name, header):
    begins = re.match(r"_*[A-Za-z0-9]+_", name)
    return begins[0] if begins else header


def lacking():
    """Yields the names of our subjects that our headers lack, each with its header."""
    target = targets()[0]
    theirs = kernel_names(target)
    ours = set(constants(target).values())
    subjects = {subject(name, theirs.get(name)) for name in ours if name}
    for name, header in theirs.items():
        if name not in ours and subject(name, header) in subjects - {"", "<built-in>"} and name.upper() == name:
            yield name, header


def excepted(name):
    return next((row for row in ROWS if fnmatch.fnmatchcase(name, row)), None)


def differences():
    """The names without a row, and the rows without a name."""
    found = list(lacking())
    for name, header in found:
        if not excepted(name):
            yield f"no PSYS_{name} ({header.partition('include/')[2]}), and names.txt has no reason"
    used = {excepted(name) for name, _ in found}
    yield from (f"names.txt: no name needs {row}" for row in ROWS if row not in used)


if __name__ == "__main__":
    print("\n".join(differences()) or "none")
