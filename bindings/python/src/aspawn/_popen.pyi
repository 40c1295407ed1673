# SPDX-License-Identifier: MIT
import subprocess
from typing import (
    IO, Any, AnyStr, Callable, Collection, Iterable, Literal, Mapping, Optional, Sequence, Tuple, Union, overload,
)

from .actions import Action, Fd, Path

_Command = Union[Path, Sequence[Path]]
_Stream = Union[None, int, IO[Any]]
_Environment = Union[Mapping[bytes, Union[str, bytes]], Mapping[str, Union[str, bytes]]]
# resource.RLIMIT_...: both limits, or the soft and the hard one
_Limits = Mapping[int, Union[int, Tuple[int, int]]]

class Failure:
    step: Optional[int]
    action: Optional[Action]
    text: str
    def __init__(self, step: Optional[int], action: Optional[Action], text: str) -> None: ...

class Popen(subprocess.Popen[AnyStr]):
    @overload
    def __init__(
        self: Popen[str], args: _Command, bufsize: int = ..., executable: Optional[Path] = ..., stdin: _Stream = ...,
        stdout: _Stream = ..., stderr: _Stream = ..., preexec_fn: Optional[Callable[[], Any]] = ..., *,
        text: Literal[True], close_fds: bool = ..., shell: bool = ..., cwd: Optional[Path] = ...,
        env: Optional[_Environment] = ..., universal_newlines: Optional[bool] = ..., restore_signals: bool = ...,
        start_new_session: bool = ..., pass_fds: Collection[int] = ..., user: Union[str, int, None] = ...,
        group: Union[str, int, None] = ..., extra_groups: Optional[Iterable[Union[str, int]]] = ...,
        encoding: Optional[str] = ..., errors: Optional[str] = ..., umask: int = ..., pipesize: int = ...,
        process_group: Optional[int] = ..., actions: Iterable[Action] = ..., limits: Optional[_Limits] = ...,
        cgroup: Union[Path, Fd, None] = ..., private: bool = ..., dies_with_caller: bool = ...,
        image: bool = ...,
    ) -> None: ...
    @overload
    def __init__(
        self: Popen[str], args: _Command, bufsize: int = ..., executable: Optional[Path] = ..., stdin: _Stream = ...,
        stdout: _Stream = ..., stderr: _Stream = ..., preexec_fn: Optional[Callable[[], Any]] = ..., *,
        encoding: str, close_fds: bool = ..., shell: bool = ..., cwd: Optional[Path] = ...,
        env: Optional[_Environment] = ..., universal_newlines: Optional[bool] = ..., restore_signals: bool = ...,
        start_new_session: bool = ..., pass_fds: Collection[int] = ..., user: Union[str, int, None] = ...,
        group: Union[str, int, None] = ..., extra_groups: Optional[Iterable[Union[str, int]]] = ...,
        text: Optional[bool] = ..., errors: Optional[str] = ..., umask: int = ..., pipesize: int = ...,
        process_group: Optional[int] = ..., actions: Iterable[Action] = ..., limits: Optional[_Limits] = ...,
        cgroup: Union[Path, Fd, None] = ..., private: bool = ..., dies_with_caller: bool = ...,
        image: bool = ...,
    ) -> None: ...
    @overload
    def __init__(
        self: Popen[bytes], args: _Command, bufsize: int = ..., executable: Optional[Path] = ..., stdin: _Stream = ...,
        stdout: _Stream = ..., stderr: _Stream = ..., preexec_fn: Optional[Callable[[], Any]] = ..., *,
        close_fds: bool = ..., shell: bool = ..., cwd: Optional[Path] = ..., env: Optional[_Environment] = ...,
        universal_newlines: Literal[False, None] = ..., restore_signals: bool = ..., start_new_session: bool = ...,
        pass_fds: Collection[int] = ..., user: Union[str, int, None] = ..., group: Union[str, int, None] = ...,
        extra_groups: Optional[Iterable[Union[str, int]]] = ..., encoding: None = ..., errors: None = ...,
        text: Literal[False, None] = ..., umask: int = ..., pipesize: int = ..., process_group: Optional[int] = ...,
        actions: Iterable[Action] = ..., limits: Optional[_Limits] = ..., cgroup: Union[Path, Fd, None] = ...,
        private: bool = ..., dies_with_caller: bool = ..., image: bool = ...,
    ) -> None: ...
    def kill_group(self, sig: int = ...) -> None: ...
