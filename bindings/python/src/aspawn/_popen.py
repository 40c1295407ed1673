# SPDX-License-Identifier: MIT
"""subprocess.Popen, whose _execute_child() starts the child by the library.

What subprocess.Popen does otherwise, it does here too: arguments, streams, communicate(), waiting
by os.waitpid(). Only a private child is waited for by its handle.
"""
from __future__ import annotations

import contextlib
import errno
import functools
import locale
import os
import select
import subprocess
import sys
import time
import warnings
from typing import (IO, TYPE_CHECKING, Any, AnyStr, Callable, Collection, Dict, Iterable, List, Mapping, Optional,
                    Tuple, Union, overload)

from . import actions
from ._action import Action, Descriptor, Path
from ._command import (RESTORE, Command, above_streams, duplicate, grace_ms, is_pipe, member_of, opened)
from ._support import _aspawn, refuse, supported
from ._terminal import Terminal, end_of, poll_until
from .constants import CommandFlags, Fact, Memory, Owner, Step, Stream

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import Args, Environment, Limits, Name, No, Options, Perhaps, Yes

PTY = int(Stream.PTY)  # for stdin=, stdout= and stderr=, as subprocess.PIPE
SIGNALS_MS = 100  # how often a wait looks for Ctrl-C
POLL_SECONDS = 0.005  # where nothing can be polled
NO_STREAM = -1  # in place of a descriptor: inherit
getpid = os.getpid  # also at the end of the interpreter
UNKNOWN = 255  # the status of a tree's program, if it is lost; as of asyncio
MANY_GAPS = 64  # descriptors below the highest of pass_fds that are closed one by one
MADE = {"dup2": 2, "open": 1, "openat": 1, "openat2": 1, "dev_null": 1,
        "output_pipe": 1, "input_pipe": 1}  # which argument is the descriptor that it makes

SIGKILL = 9  # Windows has no signal.SIGKILL
OWN = ("actions", "limits", "cgroup", "owner", "dies_with_caller", "memory", "pty_size", "stop_signal")  # the library's
NOTHING: Tuple[Any, ...] = (None, False, (), [], {}, (0, 0))  # values of these that ask for nothing


def fork_exec_now() -> Any:
    """What subprocess starts children by. Windows has no such function."""
    theirs: Any = subprocess
    return getattr(theirs, "_fork_exec", None) or theirs._posixsubprocess.fork_exec  # before 3.11


fork_exec = fork_exec_now() if supported else None


def is_standard() -> bool:
    """True if nobody has replaced fork_exec (mocks, sandboxes), nor switched off the use of shared
    memory, as the documentation of subprocess tells how to."""
    return fork_exec_now() is fork_exec and getattr(subprocess, "_USE_VFORK", True) is True


def asked_of(options: Mapping[str, Any]) -> List[str]:
    """The names of the options that ask for what only the library has."""
    return [name for name, value in options.items() if name in OWN and (name, value) != ("owner", "caller")
            and (value is Memory.SHARED or value not in NOTHING)]


class Signature:
    """Of Popen, for help() and the like: made when asked for,
    as the module inspect is slow to load."""

    def __get__(self, _: Any, owner: Any) -> Any:
        import inspect
        if owner is not Popen:
            raise AttributeError("__signature__")
        theirs, ours = (inspect.signature(one.__init__) for one in (subprocess.Popen, Popen))  # type: ignore[misc]
        own = [one for name, one in ours.parameters.items() if one.kind == one.KEYWORD_ONLY and name != "_early"]
        return theirs.replace(parameters=[*list(theirs.parameters.values())[1:], *own])


class Popen(subprocess.Popen[AnyStr]):
    """subprocess.Popen without fork. The arguments are the same, and

    actions    what the child does in place of preexec_fn: aspawn.actions
    limits     {resource.RLIMIT_...: both limits, or (soft, hard)}, set before the user changes
    cgroup     the control group (version 2) that the child begins in, a path or a descriptor
    owner      "private": nobody else can reap the child; no SIGCHLD. "tree": the same, and all that
               descends from the child ends with it
    dies_with_caller   True: as "private", and SIGKILL for the child when this process ends
    pty_size   (rows, columns) of the terminal of stdin=PTY, stdout=PTY, stderr=PTY
    memory     "shared", "suspended" (as by vfork) or "copied" (as by fork), until the exec; None:
               what is best

    `pipes` has the files of this process's ends of actions.output_pipe() and input_pipe(), by the
    program's numbers. `terminal` is this process's end of the terminal, a Terminal, or None.
    """
    pipes: Dict[int, IO[bytes]] = {}
    terminal: Optional[Terminal] = None
    _private = False
    _child: Any = None
    _input: Any  # of subprocess
    __signature__ = Signature()

    if TYPE_CHECKING:
        @overload
        def __init__(self: Popen[bytes], args: Args, *rest: Any, **options: Unpack[Options[No, None]]) -> None: ...
        @overload
        def __init__(self: Popen[str], args: Args, *rest: Any, **options: Unpack[Options[Yes, str]]) -> None: ...
        @overload
        def __init__(self: Popen[Any], args: Args, *rest: Any, **options: Unpack[Options[Perhaps, Name]]) -> None: ...

    def __init__(self, args: Args, *positional: Any, actions: Iterable[Action] = (), limits: Optional[Limits] = None,
                 cgroup: Union[Path, Descriptor, None] = None, owner: Optional[str] = None,
                 dies_with_caller: bool = False, memory: Optional[str] = None,
                 pty_size: Tuple[int, int] = (0, 0), stop_signal: int = 0, _early: bool = False,
                 **keywords: Any) -> None:
        self._extras = {"actions": [*actions], "limits": limits, "cgroup": cgroup, "owner": member_of(Owner, owner),
                        "dies_with_caller": dies_with_caller, "memory": member_of(Memory, memory),
                        "stop_signal": stop_signal, "pty_size": pty_size}
        if not supported:
            streams = [*positional[2:5], *map(keywords.get, ("stdin", "stdout", "stderr"))]
            refuse(*asked_of(self._extras), *["PTY"] * (PTY in streams))
        # Waited for by the handle alone.
        self._private = bool(self._extras["owner"] or dies_with_caller)
        self._early = _early  # the caller calls _finish_start()
        self._waits = not self._private and not _early  # for the exec, and then by os.waitpid()
        set_default_encoding(keywords)
        super().__init__(args, *positional, **keywords)

    # --- start ---

    def _execute_child(self, args: Args, executable: Optional[Path], preexec_fn: Any, *rest: Any) -> None:
        # What only the library has is not for the fork of preexec_fn.
        has_terminal = PTY in rest[7:13]
        if self._extras["pty_size"] != (0, 0) and not has_terminal:
            raise ValueError("pty_size is for a terminal: stdin=PTY, stdout=PTY or stderr=PTY")
        extras = asked_of(self._extras) + ["PTY"] * has_terminal
        if extras and preexec_fn is not None:
            raise ValueError(f"preexec_fn cannot be used with {', '.join(extras)}")
        self._by_library = supported and preexec_fn is None and (is_standard() or bool(extras))
        if self._by_library:
            self._start(args, executable, *rest)
        else:
            super()._execute_child(args, executable, preexec_fn, *rest)  # type: ignore[misc]

    def _start(self, args: Args, executable: Optional[Path], close_fds: bool, pass_fds: Collection[int],
               cwd: Optional[Path], env: Optional[Environment], startupinfo: Any, creationflags: int, shell: bool,
               p2cread: int, p2cwrite: int, c2pread: int, c2pwrite: int, errread: int, errwrite: int,
               restore_signals: bool, gid: Optional[int], gids: Optional[List[int]], uid: Optional[int], umask: int,
               start_new_session: bool, process_group: Optional[int] = -1) -> None:
        command = Command(args, executable, shell, cwd, env)
        own: Any = self._extras
        add = command.add
        with contextlib.ExitStack() as stack:
            streams = self._streams((p2cread, c2pwrite, errwrite), command, stack)
            # In the order of subprocess.
            add(cwd is not None, actions.chdir, cwd)
            add(umask >= 0, actions.umask, umask)
            add(restore_signals, lambda: RESTORE)
            has_terminal = PTY in streams.values()
            add(start_new_session and not has_terminal, actions.setsid)  # a terminal has a session
            add(process_group is not None and process_group >= 0, actions.setpgid, process_group)
            command.add_limits(own["limits"])
            if own["cgroup"] is not None:
                add(True, actions.join_cgroup, stack.enter_context(opened(own["cgroup"])))
            add(gids is not None, actions.groups, gids)
            add(gid is not None, actions.resgid, gid, gid, gid)
            add(uid is not None, actions.resuid, uid, uid, uid)
            made = (action[MADE[action.name]] for action in own["actions"]
                    if isinstance(action, Action) and action.name in MADE)
            is_marked = close_fds and any(fd not in (0, 1, 2) for fd in made)
            add(is_marked, actions.cloexec_from, 3)  # before them, as what they make is kept
            command.add_own(own["actions"])
            if close_fds:
                command.actions += closing(sorted({*map(int, pass_fds)}), is_marked)
            flags = (CommandFlags.INHERIT_SIGNALS  # as subprocess: restore_signals is an action
                     + (CommandFlags.DIES_WITH_CALLER if own["dies_with_caller"] else 0)
                     + (CommandFlags.NO_PIDFD if self._waits else 0) + (CommandFlags.STARTED_FD if self._early else 0))
            self._child = command.given_to(
                _aspawn.Child, **command.members(), **streams, flags=flags,
                pty_rows=own["pty_size"][0], pty_columns=own["pty_size"][1], stop_signal=own["stop_signal"],
                owner=own["owner"], memory=self._memory(bool(own["actions"]) or gid is not None or uid is not None))
        self._child_created = True
        self._owner = os.getpid()
        self._command = command
        try:
            if has_terminal:
                self.terminal = Terminal(self._child)
            self.pipes = {number: open(int.from_bytes(end, sys.byteorder), "rb" if name == "output_pipe" else "wb")
                          for name, number, end in filter(is_pipe, command.actions)}
            self._close_pipe_fds(p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)  # type: ignore[attr-defined]
            while not self._early and not self._finish_start(SIGNALS_MS):
                pass  # and Ctrl-C has its turn
        except BaseException:
            self._abandon()
            raise

    def _abandon(self) -> None:
        """The start has failed; pid may not be known yet."""
        for stream in filter(None, (self.stdin, self.stdout, self.stderr)):
            stream.close()
        self._close_pipes()
        if not self._by_library:
            self.kill()
            self.wait()
        elif self.returncode is None:
            self._child.kill(SIGKILL)
            self._reap()

    def _streams(self, descriptors: Iterable[int], command: Command, stack: contextlib.ExitStack) -> Dict[str, int]:
        """The members std_in, std_out and std_err. Descriptors below 3 other than the stream's own
        are duplicated, until the start."""
        members: Dict[str, int] = {}
        for number, (name, fd) in enumerate(zip(("in", "out", "err"), descriptors)):
            if fd == number:
                command.add(True, actions.dup2, fd, fd)  # not close-on-exec any more
                continue
            if 0 <= fd < 3:
                fd = duplicate(fd)
                stack.callback(os.close, fd)
            if fd not in (NO_STREAM, PTY) and fd < 0:
                raise command.error_of((Step.STREAMS, errno.EBADF, f"streams std{name}: EBADF".encode()))
            members[f"std_{name}"] = Stream.INHERIT if fd == NO_STREAM else fd
        return members

    def _memory(self, is_slow: bool) -> Memory:
        """Popen returns after the exec. To be suspended until then is cheapest, above all where the
        processors are busy: one wake-up instead of two. But an action of the caller's that blocks
        must be interruptible, and for another user the image is cheaper than a
        copy of the memory."""
        if self._extras["memory"] is not None:
            return Memory(self._extras["memory"])
        if not is_standard():
            return Memory.COPIED
        return Memory.SUSPENDED if self._waits and not is_slow else Memory.SHARED

    def _finish_start(self, timeout_ms: int) -> bool:
        """Waits for the exec; False: not yet. Raises an OSError if the child has failed."""
        try:
            failed = self._child.wait_started(timeout_ms)
        except TimeoutError:
            return False
        self.pid = self._child.describe(Fact.PID)  # 0: the child could not be cloned
        command = self._command
        del self._command
        if self._waits:
            self._child.release()
        if failed is not None:
            self._reap()
            if failed[1] != errno.ECHILD:  # otherwise killed by a signal, as the return code says
                raise command.error_of(failed)
        return True

    def _reap(self) -> None:
        self._poll_handle()
        while self.returncode is None:
            time.sleep(POLL_SECONDS)
            self._poll_handle()

    def _poll_handle(self) -> None:
        """Sets returncode if the child has ended. Raises an OSError, once, if its tree has not."""
        try:
            ended = self._child.wait()
        except ChildProcessError:
            ended = 0, 0  # as subprocess
        if ended is None:
            return
        status, number = ended
        if status == -1:
            self.returncode = UNKNOWN
        else:
            self._handle_exitstatus(status)  # type: ignore[attr-defined]
        if number:
            raise OSError(number, f"the tree has not ended: {os.strerror(number)}")

    def _close_pipes(self) -> None:
        for pipe in filter(None, (*self.pipes.values(), self.terminal)):
            pipe.close()

    def __exit__(self, *details: Any) -> None:
        self._close_pipes()
        super().__exit__(*details)

    # --- a terminal ---

    def communicate(self, input: Any = None, timeout: Optional[float] = None) -> Tuple[Any, Any]:
        """As subprocess's. A terminal gets the input as if it was typed, and Ctrl-D; what comes
        from it is the first result."""
        if self.terminal is None:
            return super().communicate(input, timeout)
        if self.stdin or self.stdout or self.stderr:
            raise ValueError("communicate() is for a terminal or for pipes, not for both")
        own: Any = self
        named = own.encoding not in (None, "locale")  # "locale" is what Python 3.10 has for none
        coding = own.encoding if named else locale.getpreferredencoding(False), own.errors or "strict"
        end = end_of(timeout)
        if not self.terminal._converse(input.encode(*coding) if isinstance(input, str) else input or b"", end):
            raise subprocess.TimeoutExpired(self.args, timeout or 0, output=bytes(self.terminal._output))
        self.wait(None if timeout is None else max(0, end - time.monotonic()))
        self.terminal.close()
        if own.text_mode:
            return self.terminal._output.decode(*coding).replace("\r\n", "\n"), None
        return bytes(self.terminal._output), None

    # Two faults of subprocess before 3.14: the rest of the input after a time limit is not written,
    # which the child waits for, and of an array of larger elements than bytes only a part is.

    def _communicate(self, input: Any, *rest: Any) -> Any:
        if input is None and self.stdin and not self.stdin.closed:
            input = self._input
        return super()._communicate(input, *rest)  # type: ignore[misc]

    def _save_input(self, input: Any) -> None:
        super()._save_input(input)  # type: ignore[misc]
        if self._input is not None:
            self._input = memoryview(self._input).cast("B")

    # --- the end ---

    def _internal_poll(self, *rest: Any, **keywords: Any) -> Optional[int]:
        if not self._private:
            return super()._internal_poll(*rest, **keywords)  # type: ignore[misc,no-any-return]
        if self.returncode is None and self._waitpid_lock.acquire(False):  # type: ignore[attr-defined]
            try:
                if self.returncode is None and getpid() == self._owner:
                    try:
                        self._poll_handle()
                    except OSError:
                        if not rest and not keywords:  # otherwise it was dropped, and this is another's start
                            raise
                elif self.returncode is None:
                    self.returncode = 0  # a process that was forked has no say
            finally:
                self._waitpid_lock.release()  # type: ignore[attr-defined]
        return self.returncode

    def _wait(self, timeout: Optional[float]) -> int:
        """Waits by a descriptor, where subprocess looks again and again."""
        if not supported or self.returncode is not None or not (self._private or timeout is not None):
            return super()._wait(timeout)  # type: ignore[misc,no-any-return]
        end = end_of(timeout)
        fd = self._end_fd()
        poll = select.poll()
        with contextlib.ExitStack() as stack:
            if fd >= 0:
                stack.callback(os.close, fd)
                poll.register(fd, select.POLLIN)
            while True:
                if fd >= 0:
                    poll_until(poll, end)
                if self._internal_poll() is not None:
                    break
                if not time.monotonic() < end:  # NaN is over
                    raise subprocess.TimeoutExpired(self.args, timeout or 0)
                # Another thread reaps it, there is no pidfd,
                # or somebody has killed the child's helper.
                time.sleep(POLL_SECONDS)
        return self.returncode  # type: ignore[return-value]

    def _end_fd(self) -> int:
        """A descriptor above 2 that is readable at the end, or -1. It is a duplicate of the
        handle's, as another thread's poll() may close that, or a pidfd."""
        with contextlib.suppress(AttributeError, OSError), self._waitpid_lock:  # type: ignore[attr-defined]
            if self._child and self._child.ended_fd >= 0:
                return duplicate(self._child.ended_fd)
            if not self._private:  # otherwise it is reaped, and its number may be another's
                return above_streams(os.pidfd_open(self.pid))
        return -1  # it is reaped, or this Python, kernel or sandbox has no pidfds

    def send_signal(self, sig: int) -> None:
        if not self._private:
            super().send_signal(sig)
        else:
            self.poll()
            self._signal(self._child.kill, sig)  # by its handle, as its pid may be another's

    def kill_group(self, sig: int = SIGKILL) -> None:
        """Send a signal to the process group that the child leads (start_new_session=True, or
        process_group=0), also if the child itself has ended (a private one: if it was signalled
        before). A child that leads none gets it alone; after a preexec_fn, not at all. Does nothing
        after wait(), poll() or communicate() have set returncode."""
        if not supported:
            signal_group(self, sig)
            return
        self._signal(self._child.kill_group if self._child else functools.partial(os.killpg, self.pid), sig)

    def kill_tree(self, grace: Optional[float] = None) -> None:
        """End a child with owner="tree" and all that descends from it: its stop_signal, and after
        the grace, in seconds, SIGKILL. Does not wait. None: one second. ValueError:
        the child is no tree."""
        refuse("kill_tree()")
        if self._extras["owner"] != Owner.TREE:
            raise ValueError('kill_tree() is for a child with owner="tree"')
        self._signal(self._child.kill_tree, grace_ms(grace) or 0)

    def _signal(self, send: Callable[[int], Any], sig: int) -> None:
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                send(sig)


def signal_group(process: subprocess.Popen[Any], sig: int) -> None:
    """Popen.kill_group() without the library."""
    if not hasattr(os, "killpg"):
        refuse("kill_group()")
    try:
        if process.returncode is None:
            os.killpg(process.pid, sig)
    except (ProcessLookupError, PermissionError):  # it leads no group; on macOS it has ended
        process.send_signal(sig)


def set_default_encoding(keywords: Dict[str, Any]) -> None:
    """If the streams are text without an encoding, warns as subprocess does from Python 3.11 on,
    but with the line that has called this package, and sets what subprocess would."""
    if (not hasattr(subprocess, "_text_encoding") or not sys.flags.warn_default_encoding
            or keywords.get("encoding") is not None
            or not any(map(keywords.get, ("text", "universal_newlines", "errors")))):
        return
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in ("aspawn", "subprocess"):
        level, frame = level + 1, frame.f_back
    warnings.warn("'encoding' argument not specified.", EncodingWarning, level)
    keywords["encoding"] = "utf-8" if sys.flags.utf8_mode else locale.getencoding()


def closing(kept: List[int], is_marked: bool) -> Iterable[Action]:
    """The actions of close_fds: all above 2 but these. is_marked:
    the others are closed at the exec."""
    if kept and not 0 <= kept[0] <= kept[-1] < 1 << 31:
        raise ValueError("bad value(s) in fds_to_keep")
    above = [fd for fd in kept if fd > 2]
    if not is_marked and above and above[-1] - 2 - len(above) > MANY_GAPS:
        yield actions.cloexec_from(3)
    elif not is_marked:
        last = above[-1] if above else 2
        yield from (actions.close(fd) for fd in sorted(set(range(3, last)) - set(above)))
        yield actions.closefrom(last + 1)
    yield from (actions.dup2(fd, fd) for fd in kept)
