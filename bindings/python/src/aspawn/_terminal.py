# SPDX-License-Identifier: MIT
"""This process's end of a child's terminal, and waits by poll()."""
from __future__ import annotations

import errno
import io
import math
import os
import select
import time
from typing import Any, Optional

MOST_SECONDS = 1e6  # of one poll(), which takes 32 bits of milliseconds


def end_of(timeout: Optional[float]) -> float:
    return math.inf if timeout is None else time.monotonic() + timeout


def poll_until(poll: Any, end: float) -> Any:
    """Polls, but not longer than MOST_SECONDS."""
    return poll.poll(min(max(0, end - time.monotonic()), MOST_SECONDS) * 1000)


class Terminal(io.FileIO):
    """This process's end of a child's terminal, a raw file: read() returns what there is, and b""
    when no process has the terminal any more. Closing it hangs the child up."""

    def __init__(self, child: Any) -> None:
        super().__init__(child.pty_fd, "r+")
        self._child = child
        self._typed: Optional[memoryview] = None  # what converse() has still to write
        self._output = bytearray()  # and what it has read

    # by readinto()
    read, readall = io.RawIOBase.read, io.RawIOBase.readall  # type: ignore[assignment]

    def readinto(self, buffer: Any) -> Any:
        try:
            return super().readinto(buffer)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return 0

    def resize(self, rows: int, columns: int) -> None:
        self.fileno()  # ValueError if it is closed
        self._child.resize(rows, columns)

    def _converse(self, input: bytes, end: float) -> bool:
        """Types the input and Ctrl-D, and reads, until the terminal ends. False: until `end`, and
        the next call goes on with the same input."""
        if self._typed is None:
            self._typed = memoryview(input + (b"\4" if not input or input.endswith(b"\n") else b"\4\4"))
        poll = select.poll()
        while not self.closed:
            os.set_blocking(self.fileno(), False)
            poll.register(self, select.POLLIN | (select.POLLOUT if self._typed else 0))
            events = poll_until(poll, end)
            if not events and not time.monotonic() < end:
                return False
            for _, event in events:
                if event & select.POLLOUT:
                    self._typed = self._typed[self.write(self._typed) or 0:]
                if event & ~select.POLLOUT:
                    piece = bytearray(4096)
                    count = self.readinto(piece)
                    if count == 0:
                        return True
                    self._output += piece[:count or 0]
        return True
