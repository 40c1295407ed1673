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

import subprocess
from subprocess import (DEVNULL, PIPE, STDOUT, CalledProcessError, CompletedProcess, SubprocessError,
                        TimeoutExpired, list2cmdline)
from types import FunctionType
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional, Tuple, TypeVar, Union, overload

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


Function = TypeVar("Function", bound=Callable[..., Any])
_globals: Dict[str, Any] = {**vars(subprocess), "__name__": __name__, "Popen": Popen}


def _of_subprocess(named: Function) -> Function:
    """The function of subprocess with this name, which finds this package's Popen."""
    theirs: Any = getattr(subprocess, named.__name__)
    ours: Any = FunctionType(theirs.__code__, _globals, theirs.__name__, theirs.__defaults__, theirs.__closure__)
    ours.__kwdefaults__, ours.__doc__ = theirs.__kwdefaults__, named.__doc__
    _globals[named.__name__] = ours
    return ours  # type: ignore[no-any-return]


if TYPE_CHECKING:
    @overload  # type: ignore[misc]  # without the options of text both are right
    def run(args: Args, *rest: Any, **options: Unpack[RunOptions[No, None, Data]]) -> CompletedProcess[bytes]: ...
    @overload
    def run(args: Args, *rest: Any, **options: Unpack[RunOptions[Yes, str, Name]]) -> CompletedProcess[str]: ...
    @overload
    def run(args: Args, *rest: Any, **options: Unpack[RunOptions[Perhaps, Name, Any]]) -> CompletedProcess[Any]: ...


@_of_subprocess
def run(*popenargs: Any, **kwargs: Any) -> Any:
    """subprocess.run() with this Popen."""


@_of_subprocess
def call(args: Args, *rest: Any, timeout: Optional[float] = None,  # type: ignore[empty-body]
         **kwargs: Unpack[Options[Perhaps, Name]]) -> int:
    """subprocess.call() with this Popen."""


@_of_subprocess
def check_call(args: Args, *rest: Any, timeout: Optional[float] = None,  # type: ignore[empty-body]
               **kwargs: Unpack[Options[Perhaps, Name]]) -> int:
    """subprocess.check_call() with this Popen."""


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
    return done.returncode, done.stdout.removesuffix("\n")


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
