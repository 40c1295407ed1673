#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure starts into a control group that has used up its cpu.max, where the host has no
controller of version 2 for processors: in a kernel that is booted under QEMU.
test/machines/kernels/fetch has fetched it.

waits_guest.py WAITS FILE   boots with WAITS (bench/waits); FILE (waits.json) gets the rows
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test/machines/kernels"))
from initramfs import initramfs
from matrix import CACHE, pairs

ARGUMENTS = "-accel tcg -nographic -net none -no-reboot".split()
COMMAND_LINE = "quiet loglevel=1 panic=-1".split()
PAIR = "x86_64-on-amd64-6.12"
CONDITION = ["group", "used up"]
INIT = """#!/bin/sh
mount -t proc proc /proc
mount -t cgroup2 cgroup2 /sys/fs/cgroup
echo +cpu >/sys/fs/cgroup/cgroup.subtree_control
{0} full /tmp/rows group
while read -r row; do echo "row $row"; done </tmp/rows
"""


def with_libraries(program):
    """A program and the shared libraries that it is linked with,
    by their paths without the first slash."""
    listed = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    paths = [str(program), *re.findall(r"(/\S+) \(0x", listed)]
    return {Path(path).relative_to("/"): Path(path).read_bytes() for path in paths}


def rows_of_guest(waits):
    [pair] = pairs([PAIR])
    machine = pair.kernel.machine
    child = waits.parent / "child"
    files = {Path("sys/fs/cgroup/place"): b"", **with_libraries("/bin/sh"), **with_libraries("/bin/mount"),
             **with_libraries(waits), child.relative_to("/"): child.read_bytes()}
    with tempfile.NamedTemporaryFile() as archive:
        archive.write(initramfs(INIT.format(waits).encode(), files))
        archive.flush()
        path = os.pathsep.join([str(CACHE), os.environ["PATH"]])
        ran = subprocess.run(
            ["timeout", "600", machine.emulator, *machine.arguments, *ARGUMENTS, "-kernel", CACHE / pair.kernel.name,
             "-initrd", archive.name, "-append", " ".join([*COMMAND_LINE, *machine.command_line])],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            env={**os.environ, "PATH": path})
    rows = [json.loads(row) for row in re.findall(r"^row (\{.*\})\r?$", ran.stdout, re.M)]
    rows = [row for row in rows if [row.get("table"), row.get("condition")] == CONDITION]
    if not rows or "skipped" in rows[0]:
        sys.exit(f"waits_guest.py: the guest has measured nothing:\n{ran.stdout[-2000:]}")
    return rows


def main(waits, file):
    rows = rows_of_guest(Path(waits).resolve())
    path = Path(file)
    others = [line for line in path.read_text().splitlines()
              if [json.loads(line).get("table"), json.loads(line).get("condition")] != CONDITION]
    path.write_text("\n".join([*others, *(json.dumps(row) for row in rows)]) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
