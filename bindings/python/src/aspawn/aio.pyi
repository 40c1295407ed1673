# SPDX-License-Identifier: MIT
from asyncio import Future
from asyncio.subprocess import Process
from typing import IO, Any, Iterable, Optional, Union

from ._popen import _Command, _Environment, _Limits
from ._queue import Prepared, Result
from .actions import Action, Fd, Path

_Stream = Union[None, int, IO[Any]]

async def create_subprocess_exec(
    program: Path, *args: Path, stdin: _Stream = ..., stdout: _Stream = ..., stderr: _Stream = ..., limit: int = ...,
    **keywords: Any,
) -> Process: ...
async def create_subprocess_shell(
    command: Union[str, bytes], stdin: _Stream = ..., stdout: _Stream = ..., stderr: _Stream = ..., limit: int = ...,
    **keywords: Any,
) -> Process: ...

class Queue:
    def __init__(self, running: int = ..., *, jobs: int = ..., job_bytes: int = ..., delay: float = ...) -> None: ...
    def prepare(
        self, args: _Command, *, stderr: int = ..., shell: bool = ..., executable: Optional[Path] = ...,
        cwd: Optional[Path] = ..., env: Optional[_Environment] = ..., limits: Optional[_Limits] = ...,
        actions: Iterable[Action] = ...,
    ) -> Prepared: ...
    def submit(
        self, args: Optional[_Command], *, input: Optional[bytes] = ..., stdout: int = ..., stderr: int = ...,
        output_size: int = ..., tail: bool = ..., timeout: Optional[float] = ..., grace: Optional[float] = ...,
        check: bool = ..., shell: bool = ..., executable: Optional[Path] = ..., cwd: Optional[Path] = ...,
        env: Optional[_Environment] = ..., limits: Optional[_Limits] = ..., actions: Iterable[Action] = ...,
        same_group: bool = ..., key: int = ..., key_limit: int = ..., priority: int = ...,
        prepared: Optional[Prepared] = ...,
    ) -> Future[Result]: ...
    async def join(self) -> None: ...
    def close(self) -> None: ...
    async def __aenter__(self) -> Queue: ...
    async def __aexit__(self, exception: Any, *_: Any) -> None: ...
