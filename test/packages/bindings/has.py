# SPDX-License-Identifier: MIT
"""Reads names of doc/bindings.md's column (column.py), and prints those that the package has not:
an attribute of the module, or of what it makes, or a parameter, which takes a value where it does
not take another."""
import inspect
import re
import sys

import aspawn
from aspawn import aio


def made():
    queue = aspawn.Queue()
    future = queue.submit(["true"])
    try:
        aspawn.Popen(["/no/such"])
    except OSError as error:
        failure = error.failure
    return {"Popen": aspawn.Popen(["true"]), "Queue": queue, "Future": future, "Result": future.result(),
            "Failure": failure, "aio": aio}


def attribute(path, objects):
    first, *parts = path.split(".")
    found = objects[first] if parts and first in objects else getattr(aspawn, first)
    for part in parts:
        found = getattr(found, part)
    return found


def takes(function, parameter, value):
    try:
        function(["true"], **{parameter: value})
    except ValueError:
        return False
    return True


def has(name, objects):
    path, parameter, value = re.fullmatch(r'([\w.]+)(?:\((\w+)=(?:"(\w+)")?\))?', name).groups()
    try:
        found = attribute(path, objects)
    except AttributeError:
        return False
    if value:
        return takes(found, parameter, value) and not takes(found, parameter, "another")
    return not parameter or parameter in inspect.signature(found).parameters


def main():
    names = sys.stdin.read().splitlines()
    objects = made()
    lacking = [name for name in names if not has(name, objects)]
    objects["Popen"].wait()
    objects["Queue"].shutdown()
    sys.exit("\n".join(f"it has not: {name}" for name in lacking) if lacking or len(names) < 50 else 0)


main()
