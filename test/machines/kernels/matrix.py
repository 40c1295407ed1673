# SPDX-License-Identifier: MIT
"""The matrix of the tables kernels and machines: pairs of a program and a kernel."""
import os
import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "headers"))  # which has the cache and the private apt
from kernel import CACHE as HEADERS, ROOT, table

CACHE = HEADERS.parent / "kernels"
BUILD = ROOT / os.environ.get("BUILD_DIR", "build")
RESULTS = BUILD / "kernels"  # of each pair what it reported, and all that its console said


class Machine(NamedTuple):
    emulator: str
    arguments: list
    command_line: list


class Kernel(NamedTuple):
    name: str
    suite: str
    architecture: str
    package: str
    machine: Machine
    targets: list


class Pair(NamedTuple):
    name: str
    program: Path
    kernel: Kernel


def machine(emulator, *rest):
    bar = rest.index("|")
    return Machine(emulator, rest[:bar], rest[bar + 1:])


MACHINES = {name: machine(*rest) for name, *rest in table(HERE / "machines")}
KERNELS = [Kernel(name, suite, architecture, package, MACHINES[machine], targets)
           for name, suite, architecture, package, machine, *targets in table(HERE / "kernels")]
PAIRS = {pair.name: pair for pair in (
    Pair(f"{target}-on-{kernel.name}", BUILD / target / "suite", kernel)
    for kernel in KERNELS for target in kernel.targets)}


def pairs(names):
    """Returns the named pairs, or all."""
    unknown = [name for name in names if name not in PAIRS]
    if unknown:
        sys.exit(f"no such pair: {' '.join(unknown)}; there are:\n  " + "\n  ".join(PAIRS))
    return [PAIRS[name] for name in names or PAIRS]
