#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generates files from the table of system calls, include/syscall/table.h:

    tools/reference.py have   include/syscall/have.h, a macro for each call
    tools/reference.py list   doc/syscalls.md, the reference: needs clang 19

Both files are in the repository; `make reference` writes them, and a test checks that they match
the table.
"""
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
CALL = re.compile(r"PSYS_(?:CALL\d|IRREGULAR)\(([\d.]+), ([^,]+), psys_(\w+)"
                  r"(?:, PSYS_NR_(\w+))?(?:, (.*))?\)")


class Call(NamedTuple):
    since: str
    type: str
    name: str         # without psys_
    parameters: list  # (type, name)
    section: str      # the comment before it

    def have(self):
        return f"PSYS_HAVE_{self.name.upper()}"

    def prototype(self, name):
        words = ", ".join(f"{kind}{'' if kind.endswith('*') else ' '}{argument}"
                          for kind, argument in self.parameters)
        return f"{self.type}{'' if self.type.endswith('*') else ' '}{name}({words or 'void'})"


def lines():
    """The table's lines: a Call, or a line of the preprocessor."""
    text = (ROOT / "include/syscall/table.h").read_text().split("*/", 2)[2]
    section = ""
    for piece in re.findall(r"^#.*$|^PSYS_.*$|^/\*[\s\S]*?\*/", text, re.M):
        found = CALL.fullmatch(piece)
        if found:
            since, kind, name, number, rest = found.groups()
            if number and number != name:
                sys.exit(f"reference.py: psys_{name} has the number of {number}")
            words = rest.split(", ") if rest and rest != "void" else []
            yield Call(since, kind, name, list(zip(words[::2], words[1::2])), section)
        elif piece.startswith("#"):
            yield re.sub(r" */\*.*", "", piece)
        elif piece.startswith("/*"):
            section = " ".join(piece.strip("/* ").replace("\n *", " ").split())
        else:
            sys.exit(f"reference.py: not understood: {piece[:70]}")


def calls():
    return [line for line in lines() if isinstance(line, Call)]


def classes():
    """Call -> where ASPAWN_SYSCALL makes it, from aspawn/action/syscall_classes.h."""
    text = (ROOT / "aspawn/action/syscall_classes.h").read_text()
    listed = [(name, kind.lower().replace("_", " "))
              for kind, name in re.findall(r"\b(SHARED|BY_ARGUMENT|IMAGE|REFUSED)\((\w+)\)", text)]
    wanted = list(dict.fromkeys(call.name for call in calls()))
    names = [name for name, _ in listed]
    for name in wanted:
        if names.count(name) != 1:
            sys.exit(f"reference.py: {name} is {names.count(name)} times in aspawn/action/syscall_classes.h")
    return dict(listed)


def have():
    yield """/* SPDX-License-Identifier: MIT */
/*
 * PSYS_HAVE_<NAME> is defined for each call that the architecture has.
 * Written by reference.py, from table.h.
 */
#ifndef PSYS_HAVE_H
#define PSYS_HAVE_H

#include <syscall/arch.h>
"""
    for line in lines():
        yield f"#define {line.have()}" if isinstance(line, Call) else line
    yield "\n#endif"


def architectures():
    """Architecture -> the macros that have.h defines for it."""
    if not shutil.which("clang-19"):
        sys.exit("reference.py: needs clang-19")
    rows = (ROOT / "test/machines/headers/architectures.txt").read_text()
    for name, triple, flags in sorted(re.findall(r"^(\w+) +\w+ +(\S+)(.*)", rows, re.M)):
        macros = subprocess.run(
            ["clang-19", f"--target={triple}", *flags.split(), "-ffreestanding",
             f"-I{ROOT}/include", "-include", "syscall/have.h", "-E", "-dM", "-x", "c", "/dev/null"],
            check=True, text=True, stdout=subprocess.PIPE).stdout
        yield name, set(re.findall(r"#define (PSYS_HAVE_\w+)", macros))


def reference():
    known = dict(architectures())
    class_of = classes()
    table = calls()
    counts = ", ".join(f"{architecture} {len(macros) - 1}" for architecture, macros in known.items())
    yield f"""# System calls

Every system call of Linux is a function without errno: `#include <syscall/syscall.h>`. This list is
generated from `include/syscall/table.h`, which has **{len({call.name for call in table})} calls**.

Calls of each architecture: {counts}.

*since* is the kernel version that brought the call to its first architecture. If an architecture
lacks a call, the function is missing: use `#ifdef PSYS_HAVE_<NAME>`.
`test/machines/headers/exceptions.txt` lists the newest kernel's other numbers, and why each has no
function.

*action* says where the child makes the call of an `ASPAWN_SYSCALL`:

* *shared*: in the caller's memory, which the child shares;
* *by argument*: the same for the arguments in
  [`aspawn/action/syscall_classes.h`](../aspawn/action/syscall_classes.h), otherwise *image*;
* *image*: in its own memory ([copy] in aspawn_action(3)), as for unlisted numbers of this ABI;
* *refused*: nowhere.

[`CONTRIBUTING.md`](../CONTRIBUTING.md) says how to add a call."""
    section = None
    for call in table:
        if call.section != section:
            section = call.section
            yield f"\n## {section}\n\n| since | | architectures | action |\n| --- | --- | --- | --- |"
        having = [architecture for architecture, macros in known.items() if call.have() in macros]
        lacking = [architecture for architecture in known if architecture not in having]
        where = ("all" if not lacking else "all except " + ", ".join(lacking)
                 if len(lacking) < len(having) else ", ".join(having))
        yield f"| {call.since} | `{call.prototype('psys_' + call.name)}` | {where} | {class_of[call.name]} |"


WRITTEN = {"have": (ROOT / "include/syscall/have.h", have),
           "list": (ROOT / "doc/syscalls.md", reference)}


def text(what):
    return "\n".join(WRITTEN[what][1]()) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in WRITTEN:
        sys.exit(__doc__)
    WRITTEN[sys.argv[1]][0].write_text(text(sys.argv[1]))
