# SPDX-License-Identifier: MIT
from subprocess import (
    DEVNULL as DEVNULL,
    PIPE as PIPE,
    STDOUT as STDOUT,
    CalledProcessError as CalledProcessError,
    CompletedProcess as CompletedProcess,
    SubprocessError as SubprocessError,
    TimeoutExpired as TimeoutExpired,
    list2cmdline as list2cmdline,
)
from typing import Any, Optional, Tuple, Union

from . import actions as actions
from ._popen import Failure as Failure, Popen as Popen
from ._queue import Future as Future, Prepared as Prepared, Queue as Queue, Result as Result
from .actions import Fd, Path

# As the functions of subprocess: with the arguments of Popen, and these.
def call(*popenargs: Any, timeout: Optional[float] = ..., **kwargs: Any) -> int: ...
def check_call(*popenargs: Any, **kwargs: Any) -> int: ...
def check_output(*popenargs: Any, timeout: Optional[float] = ..., **kwargs: Any) -> Any: ...
def run(
    *popenargs: Any, input: Union[str, bytes, None] = ..., capture_output: bool = ..., timeout: Optional[float] = ...,
    check: bool = ..., **kwargs: Any,
) -> CompletedProcess[Any]: ...
def getoutput(cmd: Path, *, encoding: Optional[str] = ..., errors: Optional[str] = ...) -> str: ...
def getstatusoutput(cmd: Path, *, encoding: Optional[str] = ..., errors: Optional[str] = ...) -> Tuple[int, str]: ...
def install() -> None: ...
def uninstall() -> None: ...
def kill_cgroup(group: Union[Path, Fd]) -> None: ...
