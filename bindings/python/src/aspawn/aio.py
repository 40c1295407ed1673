# SPDX-License-Identifier: MIT
"""asyncio.create_subprocess_exec() and create_subprocess_shell(), which await the exec.

The event loop is blocked for the clone alone, not until the program executes. The end is seen by a
pidfd: no child watcher, no SIGCHLD and no thread, in the loop of any thread. All arguments of
aspawn.Popen that are not about text are accepted; with private=True no other part of the program can
reap the child. The result is an asyncio.subprocess.Process.
"""
import asyncio
import os
import signal
from asyncio import base_subprocess

from ._popen import Popen

__all__ = ["create_subprocess_exec", "create_subprocess_shell"]

LIMIT = 1 << 16  # bytes, of a line of StreamReader, as in asyncio
POLL_SECONDS = 0.01  # where there is no pidfd


class _Transport(base_subprocess.BaseSubprocessTransport):
    """The pipes and the end of a process that has been started."""

    def _start(self, process, **_):
        self._proc = process
        child = process._child
        # A copy, as whoever reaps the child closes the handle's.
        self._watched = os.dup(child.pidfd) if child and child.pidfd >= 0 else process._pidfd()
        if child and not process._private:
            child.release()
        if self._watched >= 0:
            self._loop.add_reader(self._watched, self._look)
        else:
            self._look()

    def _look(self):
        # _proc is None after the end, and _returncode is set.
        returncode = self._proc.poll() if self._returncode is None else self._returncode
        if returncode is None:
            if self._watched < 0:
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
    fds = [fd for fd in (process._child.started_fd, process._child.pidfd) if fd >= 0]
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
