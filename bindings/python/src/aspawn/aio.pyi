# SPDX-License-Identifier: MIT
from asyncio.subprocess import Process
from typing import IO, Any, Union

from .actions import Path

_Stream = Union[None, int, IO[Any]]

async def create_subprocess_exec(
    program: Path, *args: Path, stdin: _Stream = ..., stdout: _Stream = ..., stderr: _Stream = ..., limit: int = ...,
    **keywords: Any,
) -> Process: ...
async def create_subprocess_shell(
    command: Union[str, bytes], stdin: _Stream = ..., stdout: _Stream = ..., stderr: _Stream = ..., limit: int = ...,
    **keywords: Any,
) -> Process: ...
