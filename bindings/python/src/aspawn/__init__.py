# SPDX-License-Identifier: MIT
"""subprocess without fork: Popen, run and the others start the child beside the caller, whatever
the size of its memory and the number of its descriptors.

    import aspawn
    print(aspawn.check_output(["uname", "-sr"], text=True))

The interface is that of the module subprocess, and more: actions= in place of preexec_fn
(aspawn.actions), limits=, cgroup=, private=. install() puts Popen under subprocess itself.
aspawn.aio has create_subprocess_exec() and create_subprocess_shell() for asyncio. Queue runs many
commands, some at a time, and is an Executor of concurrent.futures; aspawn.aio has one for asyncio.
"""
import functools
import os
import subprocess
import types
from subprocess import (DEVNULL, PIPE, STDOUT, CalledProcessError, CompletedProcess, SubprocessError,
                        TimeoutExpired, list2cmdline)

from . import _aspawn, actions
from ._popen import Failure, Popen
from ._queue import Future, Prepared, Queue, Result

__all__ = ["CalledProcessError", "CompletedProcess", "DEVNULL", "Failure", "Future", "PIPE", "Popen",
           "Prepared", "Queue", "Result", "STDOUT", "SubprocessError", "TimeoutExpired", "actions", "call",
           "check_call", "check_output", "getoutput", "getstatusoutput", "install", "kill_cgroup",
           "list2cmdline", "run", "uninstall"]

_namespace = {**vars(subprocess), "Popen": Popen}


def _with_our_popen(function):
    """The function of subprocess, calling our Popen and our copies of its siblings."""
    copy = types.FunctionType(function.__code__, _namespace, function.__name__,
                              function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    functools.update_wrapper(copy, function)
    copy.__module__ = __name__
    _namespace[function.__name__] = copy
    return copy


call = _with_our_popen(subprocess.call)
check_call = _with_our_popen(subprocess.check_call)
run = _with_our_popen(subprocess.run)
check_output = _with_our_popen(subprocess.check_output)
getstatusoutput = _with_our_popen(subprocess.getstatusoutput)
getoutput = _with_our_popen(subprocess.getoutput)

_popen_of_subprocess = subprocess.Popen


def install():
    """Make subprocess.Popen this Popen, for subprocess.run(), asyncio and all else that looks it up
    there. What has imported the class itself before (from subprocess import Popen), or is derived
    from it, keeps it."""
    subprocess.Popen = Popen


def uninstall():
    """Undo install()."""
    subprocess.Popen = _popen_of_subprocess


def kill_cgroup(group):
    """Send SIGKILL to every process of a control group (version 2) and of those below. group: its
    directory, as a path or an open descriptor. With Popen(cgroup=group) this ends a command with
    all that it has started."""
    if isinstance(group, (str, bytes, os.PathLike)):
        fd = os.open(group, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _aspawn.kill_cgroup(fd)
        finally:
            os.close(fd)
    else:
        _aspawn.kill_cgroup(group)
