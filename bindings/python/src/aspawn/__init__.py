# SPDX-License-Identifier: MIT
"""subprocess without fork: Popen, run and the others start the child beside the caller, whatever
the size of its memory and the number of its descriptors.

    import aspawn
    print(aspawn.check_output(["uname", "-sr"], text=True))

The interface is that of the module subprocess, and more: actions= in place of preexec_fn
(aspawn.actions), limits=, cgroup=, owner=. install() puts Popen under subprocess itself.
aspawn.aio has create_subprocess_exec() and create_subprocess_shell() for asyncio. Queue runs many
commands, some at a time, and is an Executor of concurrent.futures; aspawn.aio has one for asyncio.

`supported` is False on other systems than Linux, and without the extension. Then children are
started by subprocess itself, and what only this package has is a NotImplementedError.
"""
from __future__ import annotations

import contextlib
import subprocess
import sys
from subprocess import (DEVNULL, PIPE, STDOUT, CalledProcessError, CompletedProcess, SubprocessError,
                        TimeoutExpired, list2cmdline)
from typing import TYPE_CHECKING, Any, Iterator, Optional, Tuple, Union, overload

from . import actions, constants
from ._action import Descriptor, Path
from ._command import Failure, failure_of, opened
from ._popen import PTY, Popen
from ._queue import Future, Prepared, Queue, Result, result_of
from ._support import _aspawn, refuse, supported
from ._terminal import Terminal

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import Args, Data, Name, No, Options, Perhaps, RunOptions, Yes

__all__ = ["CalledProcessError", "CompletedProcess", "DEVNULL", "Failure", "Future", "PIPE", "PTY", "Popen",
           "Prepared", "Queue", "Result", "STDOUT", "SubprocessError", "Terminal", "TimeoutExpired", "actions", "call",
           "check_call", "check_output", "constants", "failure_of", "getoutput", "getstatusoutput", "install",
           "kill_cgroup", "list2cmdline", "result_of", "run", "supported", "uninstall"]


if TYPE_CHECKING:
    @overload  # type: ignore[misc]  # without the options of text both are right
    def run(args: Args, *rest: Any, **options: Unpack[RunOptions[No, None, Data]]) -> CompletedProcess[bytes]: ...
    @overload
    def run(args: Args, *rest: Any, **options: Unpack[RunOptions[Yes, str, Name]]) -> CompletedProcess[str]: ...
    @overload
    def run(args: Args, *rest: Any, **options: Unpack[RunOptions[Perhaps, Name, Any]]) -> CompletedProcess[Any]: ...


def run(*popenargs: Any, input: Any = None, capture_output: bool = False, timeout: Optional[float] = None,
        check: bool = False, **kwargs: Any) -> CompletedProcess[Any]:
    """subprocess.run() with this Popen."""
    if input is not None:
        if kwargs.get("stdin") is not None:
            raise ValueError("stdin and input are both given")
        kwargs["stdin"] = PIPE
    if capture_output:
        if kwargs.get("stdout") is not None or kwargs.get("stderr") is not None:
            raise ValueError("stdout or stderr and capture_output are both given")
        kwargs["stdout"] = kwargs["stderr"] = PIPE
    with _killed(Popen(*popenargs, **kwargs)) as process:
        try:
            stdout, stderr = process.communicate(input, timeout)
        except TimeoutExpired as error:
            if sys.platform == "win32":  # only there the output is not in the error yet
                process.kill()
                error.stdout, error.stderr = process.communicate()
            raise
    done: CompletedProcess[Any] = CompletedProcess(process.args, process.returncode, stdout, stderr)
    if check:
        done.check_returncode()
    return done


@contextlib.contextmanager
def _killed(process: Popen[Any]) -> Iterator[Popen[Any]]:
    """Kills it after an exception, and waits for its end."""
    with process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise


def call(args: Args, *popenargs: Any, timeout: Optional[float] = None,
         **kwargs: Unpack[Options[Perhaps, Name]]) -> int:
    """subprocess.call() with this Popen."""
    with _killed(Popen(args, *popenargs, **kwargs)) as process:
        return process.wait(timeout)


def check_call(args: Args, *popenargs: Any, timeout: Optional[float] = None,
               **kwargs: Unpack[Options[Perhaps, Name]]) -> int:
    """subprocess.check_call() with this Popen."""
    CompletedProcess(args, call(args, *popenargs, timeout=timeout, **kwargs)).check_returncode()
    return 0


if TYPE_CHECKING:
    @overload  # type: ignore[misc]
    def check_output(args: Args, *rest: Any, **options: Unpack[RunOptions[No, None, Data]]) -> bytes: ...
    @overload
    def check_output(args: Args, *rest: Any, **options: Unpack[RunOptions[Yes, str, Name]]) -> str: ...
    @overload
    def check_output(args: Args, *rest: Any, **options: Unpack[RunOptions[Perhaps, Name, Any]]) -> Any: ...


def check_output(*popenargs: Any, timeout: Optional[float] = None, **kwargs: Any) -> Any:
    """subprocess.check_output() with this Popen."""
    for name in ("stdout", "check"):
        if name in kwargs:
            raise ValueError(f"{name} argument not allowed, it will be overridden.")
    if "input" in kwargs and kwargs["input"] is None:  # an empty one, not that of this process
        is_text = any(kwargs.get(name) for name in ("text", "encoding", "errors", "universal_newlines"))
        kwargs["input"] = "" if is_text else b""
    return run(*popenargs, stdout=PIPE, timeout=timeout, check=True, **kwargs).stdout


def getstatusoutput(cmd: Path, *, encoding: Optional[str] = None, errors: Optional[str] = None) -> Tuple[int, str]:
    """subprocess.getstatusoutput() with this Popen."""
    done = run(cmd, shell=True, text=True, stdout=PIPE, stderr=STDOUT, encoding=encoding, errors=errors)
    return done.returncode, done.stdout[:-1] if done.stdout.endswith("\n") else done.stdout


def getoutput(cmd: Path, *, encoding: Optional[str] = None, errors: Optional[str] = None) -> str:
    """subprocess.getoutput() with this Popen."""
    return getstatusoutput(cmd, encoding=encoding, errors=errors)[1]


_popen_of_subprocess = subprocess.Popen


def install() -> None:
    """Make subprocess.Popen this Popen, for subprocess.run(), asyncio and all else that looks it up
    there. What has imported the class itself before (from subprocess import Popen), or is derived
    from it, keeps it."""
    subprocess.Popen = Popen  # type: ignore[misc,assignment]


def uninstall() -> None:
    """Undo install()."""
    subprocess.Popen = _popen_of_subprocess  # type: ignore[misc]


def kill_cgroup(group: Union[Path, Descriptor]) -> None:
    """Send SIGKILL to every process of a control group (version 2) and of those below. group: its
    directory, as a path or an open descriptor. With Popen(cgroup=group) this ends a command with
    all that it has started."""
    refuse("kill_cgroup()")
    with opened(group) as fd:
        _aspawn.kill_cgroup(fd)
