# SPDX-License-Identifier: MIT
"""Compares each constant PSYS_X with the kernel's X.

What is compared follows from our headers. constants.txt has those whose
counterpart has another name, and those that have none, with the reason.
"""
import fnmatch
import re

from checks import failures, kernel_headers
from kernel import NEWEST, include, macros, our_headers, our_macros, table

ROWS = table("constants.txt")
used = set()  # rows that were needed; the others are out of date


def counterpart(name):
    """The kernel's expression, or None for a constant that is our own."""
    for pattern, theirs, *_ in ROWS:
        if fnmatch.fnmatchcase(name, pattern):
            used.add(pattern)
            return None if theirs == "-" else theirs
    return name.removeprefix("PSYS_")


def constants(target):
    """Returns our constants, without the numbers of calls and without macros that have no value."""
    return {name: counterpart(name) for name, text in our_macros(target).items()
            if name.startswith("PSYS_") and not re.match(r"PSYS_(NR|HAVE)_", name)
            and text}


def differences(target, suite):
    pairs = [(ours, theirs) for ours, theirs in constants(target).items() if theirs]
    headers = include(*our_headers(target)) + kernel_headers(target)
    checks = [f"(long long)({ours}) == (long long)({theirs})" for ours, theirs in pairs]
    for index, failure in failures(target, suite, headers, checks).items():
        ours, theirs = pairs[index]
        if not failure.absent:
            yield f"{ours} is not the kernel's {theirs}: {failure}"
        elif suite == NEWEST:
            yield f"{ours}: the kernel's headers have no {theirs} (or constants.txt a reason)"


def alone(target):
    """A header defines the same constants alone as with the others."""
    together = our_macros(target)
    for header in our_headers(target):
        for name, text in macros(target, None, include(header)).items():
            if name.startswith("PSYS_") and together.get(name) != text:
                yield f"<{header}> alone: {name} is {text}, with the others {together.get(name)}"


def unused():
    """Returns the rows of constants.txt that no constant needs."""
    return [f"constants.txt: {pattern}" for pattern, *_ in ROWS if pattern not in used]
