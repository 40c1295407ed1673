# SPDX-License-Identifier: MIT
import concurrent.futures
import subprocess
from resource import struct_rusage
from typing import Any, Iterable, Iterator, Optional

from ._popen import Failure, _Command, _Environment, _Limits
from .actions import Action, Fd, Path

class Result(subprocess.CompletedProcess[Any]):
    returncode: Any  # int, or None
    stdout: Any  # bytes, or None
    stderr: Any
    outcome: str
    text: str
    failure: Optional[Failure]
    pid: Optional[int]
    stdout_total: int
    stderr_total: int
    submitted: Optional[float]
    started: Optional[float]
    executed: Optional[float]
    ended: Optional[float]
    def __init__(self, args: Any, taken: Any) -> None: ...
    @property
    def usage(self) -> struct_rusage: ...
    @property
    def truncated(self) -> bool: ...

class Prepared:
    def __init__(self, queue: Any, command: Any) -> None: ...
    @property
    def args(self) -> Any: ...

class Future(concurrent.futures.Future[Result]): ...

class Queue(concurrent.futures.Executor):
    def __init__(self, running: int = ..., *, jobs: int = ..., job_bytes: int = ..., delay: float = ...,
                 local: bool = ...) -> None: ...
    def prepare(
        self, args: _Command, *, stderr: int = ..., shell: bool = ..., executable: Optional[Path] = ...,
        cwd: Optional[Path] = ..., env: Optional[_Environment] = ..., limits: Optional[_Limits] = ...,
        actions: Iterable[Action] = ...,
    ) -> Prepared: ...
    def submit(  # type: ignore[override]
        self, args: Optional[_Command], *, input: Optional[bytes] = ..., stdout: int = ..., stderr: int = ...,
        output_size: int = ..., tail: bool = ..., timeout: Optional[float] = ..., grace: Optional[float] = ...,
        check: bool = ..., shell: bool = ..., executable: Optional[Path] = ..., cwd: Optional[Path] = ...,
        env: Optional[_Environment] = ..., limits: Optional[_Limits] = ..., actions: Iterable[Action] = ...,
        same_group: bool = ..., key: int = ..., key_limit: int = ..., priority: int = ...,
        prepared: Optional[Prepared] = ...,
    ) -> Future: ...
    def map(  # type: ignore[override]
        self, commands: Iterable[Optional[_Command]], *, timeout: Optional[float] = ..., **options: Any,
    ) -> Iterator[Result]: ...
    def shutdown(self, wait: bool = ..., *, cancel_futures: bool = ...) -> None: ...
