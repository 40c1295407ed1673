# SPDX-License-Identifier: MIT
from typing import Optional, Sequence, Tuple, final

from .actions import Action, Fd, Path

LIBRARY_VERSION: int

@final
class Child:
    pid: int
    pidfd: int
    started_fd: int
    in_fd: int
    out_fd: int
    err_fd: int
    def wait_started(self, timeout_ms: int, /) -> Optional[Tuple[int, int, bytes, bytes]]: ...
    def wait(self) -> Optional[int]: ...
    def kill(self, signal: int, /) -> None: ...
    def kill_group(self, signal: int, /) -> None: ...
    def release(self) -> None: ...

def start(
    argv: Sequence[Path], file: Path, env: Optional[Sequence[bytes]], std_in: int, std_out: int, std_err: int,
    actions: Sequence[Action], flags: int, /,
) -> Child: ...
def kill_cgroup(fd: Fd, /) -> None: ...
