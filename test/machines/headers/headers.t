#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Our numbers, constants and structures are the kernel's, on every architecture.

    test/machines/headers/fetch.py          once, and whenever a new kernel is packaged
    prove -v test/machines/headers/headers.t
    prove -v test/machines/headers/headers.t :: mips s390x

The last compares only the targets whose name contains one of the words.
"""
import shutil
import sys

sys.dont_write_bytecode = True
import call_numbers
import calls
import constants
import names
import structures
from kernel import CACHE, CLANG, NEWEST, suites, targets, version

COMPARED = {"numbers": call_numbers, "calls": calls, "constants": constants, "structures": structures}


def tests(words):
    """Each as (name, reason to skip it or None, function that yields differences)."""
    for target in targets():
        if words and not any(word in target.triple for word in words):
            continue
        skip = None if target.has_calls() else f"no include/syscall/arch/{target.architecture}/call.h yet"
        if NEWEST not in suites(target):
            yield f"{target.triple}: headers in {NEWEST}", None, lambda: ["there are none"]
        for suite in suites(target):
            for what, module in COMPARED.items():
                yield (f"{target.triple}: {what} of Linux {version(suite)}",
                       None if what == "numbers" else skip,
                       lambda module=module, target=target, suite=suite:
                       module.differences(target, suite))
        yield (f"{target.triple}: each header alone says the same", skip,
               lambda target=target: constants.alone(target))


def main(words):
    planned = list(tests(words))
    if not (CACHE / NEWEST).is_dir():
        print("1..0 # SKIP no kernel headers: run test/machines/headers/fetch.py")
        return
    if not shutil.which(CLANG):
        print(f"Bail out! no {CLANG}: CLANG names another")
        sys.exit(1)
    if not words:
        planned.append(("constants.txt has no row too many", None, constants.unused))
        planned.append(("a new kernel's names are in our headers, or have a reason in names.txt", None,
                        names.differences))
        planned.append(("upcoming.txt has no row of a packaged kernel", None, call_numbers.outdated))
        planned.append(("have.h and doc/syscalls.md are those of the table", None, calls.outdated))
        planned.append(("exceptions.txt has no row too many", None, calls.unused))
    print(f"1..{len(planned)}")
    for number, (name, skip, differences) in enumerate(planned, 1):
        if skip:
            print(f"ok {number} - {name} # SKIP {skip}", flush=True)
            continue
        try:
            found = list(differences())
        except RuntimeError as error:  # what did not compile
            found = str(error).splitlines()
        print(f"{'not ok' if found else 'ok'} {number} - {name}", flush=True)
        for line in found:
            print(f"# {line}", flush=True)


main(sys.argv[1:])
