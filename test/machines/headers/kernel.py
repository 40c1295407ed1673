# SPDX-License-Identifier: MIT
"""The compared architectures, and compilations with the kernel's headers and with ours."""
import os
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parent.parent.parent
CACHE = Path(os.environ.get("ASPAWN_CACHE") or
             Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "aspawn") / "headers"
CLANG = os.environ.get("CLANG", "clang-19")

# The newest first: with it everything must agree, in both directions. With an older kernel, what
# that kernel knows must agree.
SUITES = ["sid", "bookworm"]
NEWEST = SUITES[0]


class Target(NamedTuple):
    architecture: str  # our directory in include/syscall/arch
    directory: str        # the kernel's in arch
    triple: str        # clang's
    flags: tuple       # clang's

    def has_calls(self):
        return (ROOT / "include/syscall/arch" / self.architecture / "call.h").exists()


def table(name):
    """The rows of a text file, without its comments."""
    lines = (HERE / name).read_text().splitlines()
    return [line.split() for line in lines if line.strip() and not line.startswith("#")]


def targets():
    return [Target(*row[:3], tuple(row[3:])) for row in table("architectures.txt")]


def suites(target):
    """Returns the suites whose package has the architecture."""
    return [suite for suite in SUITES if (CACHE / suite / "arch" / target.directory).is_dir()]


def version(suite):
    return (CACHE / suite / "version").read_text().strip()


def clang(target, suite, source, *options):
    """Compile source with our headers and, if a suite is named, the kernel's."""
    directories = [ROOT / "include"]
    if suite:
        directories += [CACHE / suite / "arch" / target.directory, CACHE / suite / "include"]
    return subprocess.run(
        [CLANG, f"--target={target.triple}", *target.flags, "-std=gnu11", "-ffreestanding", "-nostdlibinc", "-w",
         *(f"-I{directory}" for directory in directories), "-x", "c", *options, "-"],
        input=source, text=True, capture_output=True)


def checked(result):
    """Returns the compiler's output; raises an exception if it fails."""
    if result.returncode:
        raise RuntimeError(result.stderr.strip())
    return result.stdout


def macros(target, suite, source):
    """The macros without arguments that source defines: name -> text."""
    text = checked(clang(target, suite, source, "-E", "-dM"))
    return dict(re.findall(r"^#define (\w+)(?: (.*))?$", text, re.M))


def include(*names):
    return "".join(f"#include <{name}>\n" for name in names)


@cache
def our_headers(target):
    """Returns the macros of the calls; for an architecture without calls, its numbers."""
    if not target.has_calls():
        return (f"syscall/arch/{target.architecture}/numbers.h",)
    others = {path.name for path in (ROOT / "include/syscall").glob("*.h")}
    others -= {"table.h", "syscall.h"}  # table.h is no header, it is a list
    return ("syscall/syscall.h", *(f"syscall/{name}" for name in sorted(others)))


@cache
def our_macros(target):
    return macros(target, None, include(*our_headers(target)))
