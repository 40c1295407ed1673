# SPDX-License-Identifier: MIT
"""The types of arguments, for annotations alone: no program imports this module."""
from typing import (IO, Any, Callable, Collection, Generic, Iterable, Literal, Mapping, Optional, Sequence, Tuple,
                    TypeVar, Union)

from typing_extensions import TypedDict

from ._action import Action, Descriptor, Path

Args = Union[Path, Sequence[Path]]
StreamOf = Union[None, int, IO[Any]]
Environment = Union[Mapping[bytes, Union[str, bytes]], Mapping[str, Union[str, bytes]]]
# resource.RLIMIT_...: both limits, or the soft and the hard one
Limits = Mapping[int, Union[int, Tuple[int, int]]]

Flag = TypeVar("Flag")
Word = TypeVar("Word")
Input = TypeVar("Input")
No = Literal[False, None]
Yes = Literal[True]
Perhaps = Optional[bool]
Name = Optional[str]
Data = Union[bytes, bytearray, memoryview, None]

# What Popen takes by name, without streams.
AioOptions = TypedDict("AioOptions", {
    "executable": Optional[Path], "preexec_fn": Optional[Callable[[], Any]], "close_fds": bool, "shell": bool,
    "cwd": Optional[Path], "env": Optional[Environment], "startupinfo": Any, "creationflags": int,
    "restore_signals": bool, "start_new_session": bool, "pass_fds": Collection[int], "user": Union[str, int, None],
    "group": Union[str, int, None], "extra_groups": Optional[Iterable[Union[str, int]]], "umask": int, "pipesize": int,
    "process_group": Optional[int], "actions": Iterable[Action], "limits": Optional[Limits],
    "cgroup": Union[Path, Descriptor, None], "owner": Optional[Literal["caller", "private", "tree"]],
    "dies_with_caller": bool, "memory": Optional[Literal["shared", "suspended", "copied"]],
    "pty_size": Tuple[int, int], "stop_signal": int}, total=False)


class Options(AioOptions, Generic[Flag, Word], total=False):
    """All that it takes. Those that make the streams text have the types Flag and Word."""
    bufsize: int
    stdin: StreamOf
    stdout: StreamOf
    stderr: StreamOf
    text: Flag
    universal_newlines: Flag
    encoding: Word
    errors: Word


class RunOptions(Options[Flag, Word], Generic[Flag, Word, Input], total=False):
    """What run() takes by name."""
    input: Input
    capture_output: bool
    timeout: Optional[float]
    check: bool
