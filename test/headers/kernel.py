"""What is compared, and the compiler's view of the kernel's headers and of ours."""
import os
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
CACHE = Path(os.environ.get("ASPAWN_CACHE") or
             Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "aspawn") / "headers"
CLANG = os.environ.get("CLANG", "clang-19")

# The newest first: with it everything has to agree, both ways. With an older
# kernel no more can be asked than that what it knows has not changed.
SUITES = ["sid", "bookworm"]
NEWEST = SUITES[0]


class Target(NamedTuple):
    architecture: str  # our directory in include/syscall/arch
    folder: str        # the kernel's in arch
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
    """Those whose package has the architecture."""
    return [suite for suite in SUITES if (CACHE / suite / "arch" / target.folder).is_dir()]


def version(suite):
    return (CACHE / suite / "version").read_text().strip()


def clang(target, suite, source, *options):
    """Compile source with our headers and, if a suite is named, the kernel's."""
    folders = [ROOT / "include"]
    if suite:
        folders += [CACHE / suite / "arch" / target.folder, CACHE / suite / "include"]
    return subprocess.run(
        [CLANG, f"--target={target.triple}", *target.flags, "-std=gnu11", "-ffreestanding", "-nostdlibinc", "-w",
         *(f"-I{folder}" for folder in folders), "-x", "c", *options, "-"],
        input=source, text=True, capture_output=True)


def checked(result):
    """What the compiler printed; an exception if it could not compile."""
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
    """Those of the calls; before an architecture has any, its numbers."""
    if not target.has_calls():
        return (f"syscall/arch/{target.architecture}/numbers.h",)
    others = {path.name for path in (ROOT / "include/syscall").glob("*.h")}
    others -= {"table.h", "syscall.h"}  # table.h is no header, it is a list
    return ("syscall/syscall.h", *(f"syscall/{name}" for name in sorted(others)))


@cache
def our_macros(target):
    return macros(target, None, include(*our_headers(target)))
