# SPDX-License-Identifier: MIT
"""Runs a program with the package as it is on another system, or without what it needs:

    simulated.py PLATFORM PROGRAM

sys.platform is PLATFORM, and win32 also lacks what Python has not there; all else is this Linux.
"old" is a Linux of 32 bits before 5.1.
"""
import asyncio  # noqa: F401  # the modules of the standard library are this system's
import os
import runpy
import select
import signal
import subprocess  # noqa: F401
import sys
import tempfile  # noqa: F401
from unittest import mock

MODULES = ("_posixsubprocess", "fcntl", "resource")
LACKING = {os: ("O_DIRECTORY", "killpg", "pidfd_open", "uname"), select: ("poll",),
           signal: ("SIGKILL", "SIGPIPE", "SIGXFSZ")}

platform, sys.argv = sys.argv[1], sys.argv[2:]
kept = vars(signal).copy()
if platform == "win32":
    sys.modules.update(dict.fromkeys(MODULES))  # type: ignore[arg-type]  # None: no import finds it
    for module, names in LACKING.items():
        for name in names:
            vars(module).pop(name, None)
if platform == "old":
    with mock.patch("os.uname", lambda: mock.Mock(release="4.19.0-armmp")), mock.patch("sys.maxsize", (1 << 31) - 1):
        import aspawn.aio
else:
    sys.platform = platform
    import aspawn.aio
assert not aspawn.supported
# What subprocess and the program use.
vars(signal).update(kept)
for name in MODULES:
    if not sys.modules.get(name, True):
        del sys.modules[name]
runpy.run_path(sys.argv[0], run_name="__main__")
