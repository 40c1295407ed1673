# SPDX-License-Identifier: MIT
"""The extension, or why it is not there: on other systems, and where it lacks something, children
are started by subprocess itself."""
import importlib
import os
import platform
import re
import sys
from typing import Any

_aspawn: Any = None
problem = ""


def kernel_is_old() -> bool:
    """True if a machine of 32 bits has no calls with 64 bits of time,
    by which the library waits."""
    release = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return sys.maxsize < 1 << 32 and release is not None and (int(release[1]), int(release[2])) < (5, 1)


if sys.platform != "linux":
    problem = f"is on Linux only, not on {sys.platform}"
elif kernel_is_old():
    problem = f"is not supported here: the kernel is older than Linux 5.1: {os.uname().release}"
else:
    try:
        _aspawn = importlib.import_module("._aspawn", __package__)
    except ModuleNotFoundError:
        problem = (f"is not supported here: there is no extension for {platform.machine()} and "
                   f"{platform.python_implementation()}: pip install --no-binary aspawn aspawn compiles it")
    except ImportError as error:
        problem = f"is not supported here: {error}"
supported: bool = not problem


def refuse(*names: str) -> None:
    """Raises an error for names of what only the library has, where it does not work."""
    if problem and names:
        raise NotImplementedError(f"aspawn: {', '.join(names)} {problem}")
