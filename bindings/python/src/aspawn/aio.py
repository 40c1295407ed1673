# SPDX-License-Identifier: MIT
"""asyncio.create_subprocess_exec() and create_subprocess_shell(), which await the exec; and Queue.

The event loop is blocked for the clone alone, not until the program executes. The end is seen by a
descriptor: no child watcher, no SIGCHLD and no thread, in the loop of any thread. All arguments of
aspawn.Popen that are not about text are accepted; with owner="private" no other part of the program
can reap the child. The result is an asyncio.subprocess.Process, with kill_group() and kill_tree().
"""
from __future__ import annotations

import asyncio
import os
from asyncio import base_subprocess
from typing import TYPE_CHECKING, Any, Optional, Union

from ._action import Path
from ._popen import OWN, PTY, SIGKILL, Popen, asked_of, signal_group
from ._queue import Job, Jobs, Result
from ._support import refuse, supported

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import AioOptions, StreamOf

__all__ = ["Process", "Queue", "create_subprocess_exec", "create_subprocess_shell"]

LIMIT = 1 << 16  # bytes, of a line of StreamReader, as in asyncio
POLL_SECONDS = 0.01  # where there are no pidfds


class Process(asyncio.subprocess.Process):
    """asyncio's, and two methods of aspawn.Popen."""

    def kill_group(self, sig: int = SIGKILL) -> None:
        process: Any = self._transport.get_extra_info("subprocess")  # type: ignore[attr-defined]
        process.kill_group(sig) if supported else signal_group(process, sig)

    def kill_tree(self, grace: Optional[float] = None) -> None:
        refuse("kill_tree()")
        self._transport.get_extra_info("subprocess").kill_tree(grace)  # type: ignore[attr-defined]


class _Transport(base_subprocess.BaseSubprocessTransport):
    """The pipes and the end of a process that has been started."""
    _watched = -1

    def _start(self, process: Popen[bytes], **_: Any) -> None:  # type: ignore[override]
        self._proc: Any = process
        child = process._child
        self._watched = process._end_fd()
        if child and not process._private:
            child.release()
        if self._watched >= 0:
            self._loop.add_reader(self._watched, self._look)
        else:
            self._look()

    def _look(self) -> None:
        # _proc is None after the end, and _returncode is set.
        returncode = self._returncode
        if returncode is None:
            try:
                returncode = self._proc.poll()
            except OSError as error:
                self._loop.call_exception_handler({"message": str(error), "exception": error, "transport": self})
                returncode = self._proc.returncode
        self._unwatch()
        if returncode is None:  # there is no descriptor, or somebody has killed the child's helper
            self._loop.call_later(POLL_SECONDS, self._look)
        elif self._returncode is None:
            self._process_exited(returncode)

    def _process_exited(self, returncode: int) -> None:
        super()._process_exited(returncode)
        # Some versions of asyncio wait for the end of pipes too, which a grandchild may hold.
        waiters = self._exit_waiters or ()  # None where asyncio has woken them, as on 3.15
        if waiters:
            self._exit_waiters = type(waiters)()  # a list or a set
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(returncode)

    def _unwatch(self) -> None:
        if self._watched >= 0:
            if not self._loop.is_closed():
                self._loop.remove_reader(self._watched)
            os.close(self._watched)
            self._watched = -1

    def __del__(self, *rest: Any) -> None:
        super().__del__(*rest)  # type: ignore[misc]
        self._unwatch()  # the loop has ended before the process

    def send_signal(self, signal: int) -> None:  # not by its number, which may be another's
        self._check_proc()
        self._proc.send_signal(signal)


async def _executed(process: Popen[bytes], loop: asyncio.AbstractEventLoop) -> None:
    """Waits for the exec; raises the OSError of the child."""
    fds = [fd for fd in (process._child.started_fd, process._child.ended_fd) if fd >= 0]
    while not process._finish_start(0):
        ready: asyncio.Future[None] = loop.create_future()
        for fd in fds:
            loop.add_reader(fd, lambda: None if ready.done() else ready.set_result(None))
        try:
            await asyncio.wait([ready], timeout=None if fds else POLL_SECONDS)
        finally:
            for fd in fds:
                loop.remove_reader(fd)


async def _create(arguments: Any, shell: bool, limit: int, /, **keywords: Any) -> Process:
    stdin, stdout, stderr = streams = [keywords[name] for name in ("stdin", "stdout", "stderr")]
    if PTY in streams:
        raise ValueError("the streams of asyncio are no terminals: use Popen(stdin=PTY, ...).terminal")
    if bool(keywords.pop("shell", shell)) != shell:
        raise ValueError(f"shell must be {shell}")
    for name in ("bufsize", "universal_newlines", "text", "encoding", "errors"):
        if keywords.pop(name, None):
            raise ValueError(f"{name} is not for asyncio, whose streams are of bytes")
    loop = asyncio.get_running_loop()
    if not supported:
        refuse(*asked_of(keywords))
        create: Any = asyncio.create_subprocess_shell if shell else asyncio.create_subprocess_exec
        theirs = await create(*[arguments] if shell else arguments, limit=limit,
                              **{name: value for name, value in keywords.items() if name not in OWN})
        return Process(theirs._transport, theirs._protocol, loop)
    popen: Any = Popen
    process = popen(arguments, 0, shell=shell, _early=True, **keywords)
    try:
        if process._by_library:
            await _executed(process, loop)
        protocol = asyncio.subprocess.SubprocessStreamProtocol(limit=limit, loop=loop)
        waiter = loop.create_future()
        transport: Any = _Transport(loop, protocol, arguments, shell, stdin, stdout, stderr, 0,
                                    waiter=waiter, process=process)
    except BaseException:
        process._abandon()
        raise
    try:
        await waiter
    except BaseException:
        transport.close()
        await transport._wait()
        raise
    return Process(transport, protocol, loop)


async def create_subprocess_exec(program: Path, *args: Path, stdin: StreamOf = None, stdout: StreamOf = None,
                                 stderr: StreamOf = None, limit: int = LIMIT,
                                 **keywords: Unpack[AioOptions]) -> Process:
    """As asyncio.create_subprocess_exec(), with the arguments of aspawn.Popen."""
    return await _create((program, *args), False, limit, stdin=stdin, stdout=stdout, stderr=stderr, **keywords)


async def create_subprocess_shell(command: Union[str, bytes], stdin: StreamOf = None, stdout: StreamOf = None,
                                  stderr: StreamOf = None, limit: int = LIMIT,
                                  **keywords: Unpack[AioOptions]) -> Process:
    """As asyncio.create_subprocess_shell(), with the arguments of aspawn.Popen."""
    if not isinstance(command, (str, bytes)):
        raise ValueError("cmd must be a string")
    return await _create(command, True, limit, stdin=stdin, stdout=stdout, stderr=stderr, **keywords)


class Queue(Jobs["asyncio.Future[Result]"]):
    """A queue of commands in the running event loop, which polls a descriptor; there is no thread.

        async with aspawn.aio.Queue(running=8) as queue:
            for result in await asyncio.gather(*map(queue.submit, commands)):
                print(result.stdout)

    As aspawn.Queue, but submit() returns an asyncio.Future. The methods are for the loop's thread.
    """

    def __init__(self, running: int = 16, *, jobs: int = 256, job_bytes: int = 1 << 17, delay: float = 0.0) -> None:
        self._loop = asyncio.get_running_loop()
        super().__init__(running, jobs=jobs, job_bytes=job_bytes, delay=delay)
        # while there are jobs: a future of their end
        self._empty: Optional[asyncio.Future[None]] = None

    async def join(self) -> None:
        """Wait until there is no job, also none that has been cancelled and has not ended."""
        while self._empty is not None:
            await asyncio.shield(self._empty)

    def close(self) -> None:
        """Kill all jobs, cancel their futures, and free the queue."""
        with self._lock:
            self._is_shut = True
            jobs = [*self._now.values(), *self._later]
            self._now.clear()
            self._later.clear()
            self._unwatch()
            self._native.close()
        for job in jobs:
            job.ticket = None
            job.future.cancel()

    async def __aenter__(self) -> Queue:
        return self

    async def __aexit__(self, exception: Any, *_: Any) -> None:
        """Waits for all jobs; if an exception has been raised, kills them."""
        try:
            if exception is None:
                await self.join()
        finally:
            self.close()

    def _new_future(self, job: Job) -> asyncio.Future[Result]:
        future: asyncio.Future[Result] = self._loop.create_future()
        future.add_done_callback(lambda future: self._cancel(job) if future.cancelled() else None)
        return future

    def _watch(self) -> None:
        if self._empty is None:
            self._empty = self._loop.create_future()
            self._loop.add_reader(self._native.fd, self._look)
            self._timer = self._loop.call_later(1, self._tick)

    def _unwatch(self) -> None:
        if self._empty is not None:
            if not self._loop.is_closed():
                self._loop.remove_reader(self._native.fd)
                self._timer.cancel()
                self._empty.set_result(None)
            self._empty = None

    def _tick(self) -> None:
        """Continues a server that a job has stopped, which the descriptor does not show."""
        self._timer = self._loop.call_later(1, self._tick)
        self._look()

    def _look(self) -> None:
        self._pump(False)
        if not self._now:
            self._unwatch()

    def _is_wanted(self, future: Any) -> bool:
        return not future.cancelled()
