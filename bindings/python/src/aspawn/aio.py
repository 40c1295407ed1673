# SPDX-License-Identifier: MIT
"""asyncio.create_subprocess_exec() and create_subprocess_shell(), which await the exec; and Queue.

The event loop is blocked for the clone alone, not until the program executes. The end is seen by a
descriptor: no child watcher, no SIGCHLD and no thread, in the loop of any thread. All arguments of
aspawn.Popen that are not about text are accepted; with private=True no other part of the program can
reap the child. The result is an asyncio.subprocess.Process.
"""
import asyncio
import os
import signal
from asyncio import base_subprocess

from ._popen import Popen
from ._queue import Job, Jobs

__all__ = ["Queue", "create_subprocess_exec", "create_subprocess_shell"]

LIMIT = 1 << 16  # bytes, of a line of StreamReader, as in asyncio
POLL_SECONDS = 0.01  # where there are no pidfds


class _Transport(base_subprocess.BaseSubprocessTransport):
    """The pipes and the end of a process that has been started."""

    def _start(self, process, **_):
        self._proc = process
        child = process._child
        # A copy, as whoever reaps the child closes the handle's.
        self._watched = os.dup(child.ended_fd) if child and child.ended_fd >= 0 else process._pidfd()
        if child and not process._private:
            child.release()
        if self._watched >= 0:
            self._loop.add_reader(self._watched, self._look)
        else:
            self._look()

    def _look(self):
        # _proc is None after the end, and _returncode is set.
        returncode = self._proc.poll() if self._returncode is None else self._returncode
        if returncode is None:  # there is no descriptor, or somebody has killed the child's helper
            self._unwatch()
            self._loop.call_later(POLL_SECONDS, self._look)
            return
        self._unwatch()
        if self._returncode is None:
            self._process_exited(returncode)

    def _unwatch(self):
        if self._watched >= 0:
            if not self._loop.is_closed():
                self._loop.remove_reader(self._watched)
            os.close(self._watched)
            self._watched = -1

    def send_signal(self, signal):
        self._check_proc()
        self._proc.send_signal(signal)

    def terminate(self):
        self.send_signal(signal.SIGTERM)

    def kill(self):
        self.send_signal(signal.SIGKILL)


async def _executed(process, loop):
    """Waits for the exec; raises the OSError of the child."""
    fds = [fd for fd in (process._child.started_fd, process._child.ended_fd) if fd >= 0]
    while True:
        try:
            return process._finish_start(0)
        except TimeoutError:
            pass
        ready = loop.create_future()
        for fd in fds:
            loop.add_reader(fd, lambda: ready.done() or ready.set_result(None))
        try:
            await asyncio.wait_for(ready, None if fds else POLL_SECONDS)
        except asyncio.TimeoutError:
            pass
        finally:
            for fd in fds:
                loop.remove_reader(fd)


async def _create(arguments, shell, stdin, stdout, stderr, limit, keywords):
    for name in ("bufsize", "universal_newlines", "text", "encoding", "errors"):
        if keywords.get(name):
            raise ValueError(f"{name} is not for asyncio, whose streams are of bytes")
        keywords.pop(name, None)
    loop = asyncio.get_running_loop()
    process = Popen(arguments, 0, stdin=stdin, stdout=stdout, stderr=stderr, shell=shell, _early=True,
                    **keywords)
    try:
        if process._by_library:
            await _executed(process, loop)
        protocol = asyncio.subprocess.SubprocessStreamProtocol(limit=limit, loop=loop)
        waiter = loop.create_future()
        transport = _Transport(loop, protocol, arguments, shell, stdin, stdout, stderr, 0,
                               waiter=waiter, process=process)
    except BaseException:
        for stream in filter(None, (process.stdin, process.stdout, process.stderr)):
            stream.close()
        if process.returncode is None:
            process.kill()
            process.wait()
        raise
    try:
        await waiter
    except BaseException:
        transport.close()
        await transport._wait()
        raise
    return asyncio.subprocess.Process(transport, protocol, loop)


async def create_subprocess_exec(program, *args, stdin=None, stdout=None, stderr=None, limit=LIMIT,
                                 **keywords):
    """As asyncio.create_subprocess_exec(), with the arguments of aspawn.Popen."""
    return await _create((program, *args), False, stdin, stdout, stderr, limit, keywords)


async def create_subprocess_shell(command, stdin=None, stdout=None, stderr=None, limit=LIMIT, **keywords):
    """As asyncio.create_subprocess_shell(), with the arguments of aspawn.Popen."""
    return await _create(command, True, stdin, stdout, stderr, limit, keywords)


class Queue(Jobs):
    """A queue of commands in the running event loop, which polls a descriptor; there is no thread.

        async with aspawn.aio.Queue(running=8) as queue:
            for result in await asyncio.gather(*map(queue.submit, commands)):
                print(result.stdout)

    As aspawn.Queue, but submit() returns an asyncio.Future. The methods are for the loop's thread.
    """

    def __init__(self, running=16, *, jobs=256, job_bytes=1 << 17, delay=0.0):
        self._loop = asyncio.get_running_loop()
        super().__init__(running, jobs=jobs, job_bytes=job_bytes, delay=delay)
        self._empty = None  # while there are jobs: a future of their end

    def submit(self, args, **options):
        """Submit a command. Returns an asyncio.Future of the Result; the options and the exceptions
        are those of aspawn.Queue.submit(). To cancel the future cancels the job."""
        future = self._loop.create_future()
        job = Job(future, args, **options)
        self._add(job)
        future.add_done_callback(lambda future: future.cancelled() and self._cancel(job))
        return future

    async def join(self):
        """Wait until there is no job, also none that has been cancelled and has not ended."""
        while self._empty is not None:
            await asyncio.shield(self._empty)

    def close(self):
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

    async def __aenter__(self):
        return self

    async def __aexit__(self, exception, *_):
        """Waits for all jobs; if an exception has been raised, kills them."""
        try:
            if exception is None:
                await self.join()
        finally:
            self.close()

    def _watch(self):
        if self._empty is None:
            self._empty = self._loop.create_future()
            self._loop.add_reader(self._native.fd, self._look)

    def _unwatch(self):
        if self._empty is not None:
            if not self._loop.is_closed():
                self._loop.remove_reader(self._native.fd)
                self._empty.set_result(None)
            self._empty = None

    def _look(self):
        self._pump()
        if not self._now:
            self._unwatch()

    @staticmethod
    def _is_wanted(future):
        return not future.cancelled()
