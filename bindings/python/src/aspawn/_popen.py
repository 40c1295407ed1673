# SPDX-License-Identifier: MIT
"""subprocess.Popen, whose _execute_child() starts the child by the library.

What subprocess.Popen does otherwise, it does here too: arguments, streams, communicate(), waiting
by os.waitpid(). Only a private child is waited for by its handle.
"""
from __future__ import annotations

import contextlib
import errno
import functools
import io
import locale
import math
import os
import select
import signal
import subprocess
import sys
import time
import warnings
from typing import (IO, TYPE_CHECKING, Any, AnyStr, Callable, Collection, Dict, Generic, Iterable, Iterator, List,
                    Literal, Mapping, Optional, Sequence, Tuple, TypeVar, Union, overload)

from . import actions
from ._action import Action, Descriptor, Packed, Path
from ._support import _aspawn, refuse, supported
from .constants import GRACE_NONE, CommandFlags, Fact, Memory, Owner, Step, Stream

Args = Union[Path, Sequence[Path]]
StreamOf = Union[None, int, IO[Any]]
Environment = Union[Mapping[bytes, Union[str, bytes]], Mapping[str, Union[str, bytes]]]
Preexec = Optional[Callable[[], Any]]
# resource.RLIMIT_...: both limits, or the soft and the hard one
Limits = Mapping[int, Union[int, Tuple[int, int]]]

RESTORE = actions.signals_default(
    getattr(signal, name) for name in ("SIGPIPE", "SIGXFZ", "SIGXFSZ") if hasattr(signal, name))
PTY = int(Stream.PTY)  # for stdin=, stdout= and stderr=, as subprocess.PIPE
SIGNALS_MS = 100  # how often a wait looks for Ctrl-C
POLL_SECONDS = 0.005  # where nothing can be polled
MOST_SECONDS = 1e6  # of one poll(), which takes 32 bits of milliseconds
NO_STREAM = -1  # in place of a descriptor: inherit
getpid = os.getpid  # also at the end of the interpreter
UNKNOWN = 255  # the status of a tree's program, if it is lost; as of asyncio
MANY_GAPS = 64  # descriptors below the highest of pass_fds that are closed one by one
ARGUMENTS = {b"action_count": b"actions", b"job.priority": b"priority", b"job_bytes": b"Queue(job_bytes=)",
             # what failures of the library name
             b"pty_columns": b"pty_size", b"pty_rows": b"pty_size"}
MADE = {"dup2": 2, "open": 1, "openat": 1, "openat2": 1, "dev_null": 1,
        "output_pipe": 1, "input_pipe": 1}  # which argument is the descriptor that it makes

SIGKILL = 9  # Windows has no signal.SIGKILL
OWN = ("actions", "limits", "cgroup", "owner", "dies_with_caller", "memory", "pty_size", "stop_signal")  # the library's
NOTHING: Tuple[Any, ...] = (None, False, (), [], {}, (0, 0))  # values of these that ask for nothing

fork_exec: Any = None
if supported:  # Windows has none of these modules
    import fcntl
    try:
        from subprocess import _fork_exec as fork_exec  # type: ignore[attr-defined,no-redef]
    except ImportError:  # before 3.11
        from _posixsubprocess import fork_exec


def is_standard() -> bool:
    """True if nobody has replaced what subprocess starts children by (mocks, sandboxes), nor
    switched off the use of shared memory, as its documentation tells how to."""
    theirs: Any = subprocess
    now = getattr(theirs, "_fork_exec", None) or theirs._posixsubprocess.fork_exec
    return now is fork_exec and getattr(theirs, "_USE_VFORK", True) is True


if TYPE_CHECKING:
    from typing_extensions import TypedDict, Unpack

    Flag = TypeVar("Flag")
    Word = TypeVar("Word")
    Input = TypeVar("Input")
    No = Literal[False, None]
    Yes = Literal[True]
    Perhaps = Optional[bool]
    Name = Optional[str]
    Data = Union[bytes, bytearray, memoryview, None]

    # What Popen takes by name, without streams.
    AioOptions = TypedDict("AioOptions", {
        "executable": Optional[Path], "preexec_fn": Preexec, "close_fds": bool, "shell": bool, "cwd": Optional[Path],
        "env": Optional[Environment], "startupinfo": Any, "creationflags": int, "restore_signals": bool,
        "start_new_session": bool, "pass_fds": Collection[int], "user": Union[str, int, None],
        "group": Union[str, int, None], "extra_groups": Optional[Iterable[Union[str, int]]], "umask": int,
        "pipesize": int, "process_group": Optional[int], "actions": Iterable[Action], "limits": Optional[Limits],
        "cgroup": Union[Path, Descriptor, None], "owner": Optional[Literal["caller", "private", "tree"]],
        "dies_with_caller": bool, "memory": Optional[Literal["shared", "suspended", "copied"]],
        "pty_size": Tuple[int, int], "stop_signal": int}, total=False)

    class Options(AioOptions, Generic[Flag, Word], total=False):
        """All that it takes. Those that make the streams text have the types Flag and Word."""
        bufsize: int
        stdin: StreamOf
        stdout: StreamOf
        stderr: StreamOf
        text: Flag
        universal_newlines: Flag
        encoding: Word
        errors: Word

    class RunOptions(Options[Flag, Word], Generic[Flag, Word, Input], total=False):
        """What run() takes by name."""
        input: Input
        capture_output: bool
        timeout: Optional[float]
        check: bool


class Failure:
    """Where a child failed: `step` is the index in actions=, or None for what Popen does itself;
    `action` the action, or None for the search and the exec; `text` says it for people."""

    def __init__(self, step: Optional[int], action: Optional[Action], text: str) -> None:
        self.step, self.action, self.text = step, action, text

    def __repr__(self) -> str:
        return f"<Failure {self.text}>"


def failure_of(error: Optional[BaseException]) -> Optional[Failure]:
    """The `failure` of an exception of this package: where a child failed, or None."""
    return getattr(error, "failure", None)


def asked_of(options: Mapping[str, Any]) -> List[str]:
    """The names of the options that ask for what only the library has."""
    return [name for name, value in options.items() if name in OWN and (name, value) != ("owner", "caller")
            and (value is Memory.SHARED or value not in NOTHING)]


def member_of(among: Any, word: Optional[str], names: Iterable[str] = ()) -> Any:
    """The member of an enumeration that a word of the interface names, or None."""
    names = [*names] or [name.lower() for name in among.__members__]
    if word is not None and word not in names:
        raise ValueError(f"no such {among.__name__.lower()}: {word!r}, only {', '.join(names)}")
    return None if word is None else among[word.upper()]


def milliseconds(name: str, seconds: Optional[float], most: int = 1 << 62) -> Optional[int]:
    """At most `most`, which is for ever, also of an infinite time."""
    if seconds is None:
        return None
    if math.isnan(seconds):
        raise ValueError(f"{name} is not a number of seconds: {seconds}")
    return max(1, math.ceil(min(seconds * 1000, most)))


def grace_ms(seconds: Optional[float]) -> Optional[int]:
    if seconds is not None and seconds < 0:
        raise ValueError(f"grace is negative: {seconds}")
    return GRACE_NONE if seconds == 0 else milliseconds("grace", seconds, (1 << 31) - 1)


def duplicate(fd: int) -> int:
    """Above 2, where no stream of a child or of this process is put."""
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)


def above_streams(fd: int) -> int:
    """The descriptor, or if that is below 3 a duplicate in its place."""
    if fd > 2:
        return fd
    try:
        return duplicate(fd)
    finally:
        os.close(fd)


@contextlib.contextmanager
def opened(group: Union[Path, Descriptor]) -> Iterator[Descriptor]:
    """A descriptor of a directory, which may be one."""
    if not isinstance(group, (str, bytes, os.PathLike)):
        yield group
        return
    fd = above_streams(os.open(group, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    try:
        yield fd
    finally:
        os.close(fd)


def poll_until(poll: Any, end: Optional[float]) -> Any:
    """Polls, but not longer than MOST_SECONDS."""
    return poll.poll(None if end is None else min(max(0, end - time.monotonic()), MOST_SECONDS) * 1000)


def is_over(end: Optional[float]) -> bool:
    return end is not None and not time.monotonic() < end


def words_of(args: Args, shell: bool) -> List[Path]:
    if isinstance(args, os.PathLike) and shell:
        raise TypeError("path-like args is not allowed when shell is true")
    return [args] if isinstance(args, (str, bytes, os.PathLike)) else list(args)


class Command:
    """What a child executes, of the parameters of subprocess, and does before: the actions of Popen
    itself, and the caller's own."""

    def __init__(self, args: Args, executable: Optional[Path], shell: bool, cwd: Optional[Path],
                 env: Optional[Environment]) -> None:
        self.argv = words_of(args, shell)
        if shell:
            self.argv = [executable or "/bin/sh", "-c", *self.argv]
        self.executable = self.argv[0] if executable is None else executable
        sys.audit("subprocess.Popen", self.executable, self.argv, cwd, env)
        self.envp = None
        if env is not None:
            variables = [(os.fsencode(name), os.fsencode(value)) for name, value in env.items()]
            if any(b"=" in name for name, _ in variables):
                raise ValueError("illegal environment variable name")
            self.envp = [name + b"=" + value for name, value in variables]
        self.actions: List[Action] = []
        self.own = range(0)  # which of them are the caller's

    def add(self, is_wanted: bool, make: Callable[..., Action], *operands: Any) -> None:
        if is_wanted:
            self.actions.append(make(*operands))

    def add_limits(self, limits: Optional[Limits]) -> None:
        for resource, limit in (limits or {}).items():
            pair = limit if isinstance(limit, (list, tuple)) else (limit, limit)
            if len(pair) != 2 or not all(hasattr(number, "__index__") for number in pair):
                raise TypeError(f"limits[{resource!r}]: {limit!r} is not a number, or a soft and a hard one")
            self.add(True, actions.rlimit, resource, *pair)

    def add_own(self, own: Iterable[Action]) -> None:
        first = len(self.actions)
        # A pipe gets the memory that the library stores its end to.
        self.actions += (Action(*action[:-1], bytearray(4)) if is_pipe(action) else action for action in own)
        self.own = range(first, len(self.actions))

    def members(self) -> Dict[str, Any]:
        return {"file": self.executable, "argv": self.argv, "envp": self.envp, "actions": self.actions}

    def given_to(self, function: Callable[..., Any], **members: Any) -> Any:
        """Calls a function of the library, whose error gets a Failure."""
        try:
            return function(**members)
        except OSError as error:
            failed: Any = getattr(error, "failure", None)
            if failed is None:
                raise
            raise self.error_of(failed) from None

    def error_of(self, failed: Tuple[int, int, int, bytes]) -> OSError:
        """The OSError of a tuple as of Child.wait_started()."""
        step, number, kind, subject = failed
        action = self.actions[step] if step >= 0 else None
        index = self.own.index(step) if step in self.own else None
        text = os.fsdecode(_aspawn.failure_text(step if index is None else index, number, kind,
                                                ARGUMENTS.get(subject, subject)))
        if action is not None and index is None:
            text = text.partition(", ")[2]  # without "action N", which is no index in actions=
        name: Any = None
        if action is not None:
            name = next((argument for argument in action[1:] if isinstance(argument, (str, bytes, os.PathLike))
                         and not isinstance(argument, Packed)), None)
        elif step in (Step.SEARCH, Step.EXEC, Step.INTERPRETER):
            name = self.executable
        error: Any = OSError(number, text if step == Step.ARGUMENT else os.strerror(number),
                             *(() if name is None else (name,)))
        error.failure = Failure(index, action, text)
        if action is not None and hasattr(error, "add_note"):  # 3.11
            error.add_note(text)
        return error  # type: ignore[no-any-return]


def is_pipe(action: Action) -> bool:
    return isinstance(action, Action) and action.name in ("output_pipe", "input_pipe")


def makes_descriptor(action: Action) -> bool:
    """True if the program gets another descriptor above 2 by it."""
    return (isinstance(action, Action) and action.name in MADE
            and action[MADE[action.name]] not in (0, 1, 2))


class Terminal(io.FileIO):
    """This process's end of a child's terminal, a raw file: read() returns what there is, and b""
    when no process has the terminal any more. Closing it hangs the child up."""

    def __init__(self, child: Any) -> None:
        super().__init__(child.pty_fd, "r+")
        self._child = child

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
        self._typed: Optional[memoryview] = None  # what communicate() has still to write
        self._output = bytearray()  # and what it has read
        # Waited for by the handle alone.
        self._private = bool(self._extras["owner"] or dies_with_caller)
        self._early = _early  # the caller calls _finish_start()
        if is_text(keywords) and getattr(sys.flags, "warn_default_encoding", False):
            keywords["encoding"] = default_encoding()
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
        start = self._start if self._by_library else super()._execute_child  # type: ignore[misc]
        start(args, executable, *(() if self._by_library else (preexec_fn,)), *rest)

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
            is_marked = close_fds and any(map(makes_descriptor, own["actions"]))
            add(is_marked, actions.cloexec_from, 3)  # before them, as what they make is kept
            command.add_own(own["actions"])
            if close_fds:
                command.actions += closing(sorted({*map(int, pass_fds)}), is_marked)
            self._child = command.given_to(
                _aspawn.Child, **command.members(), **streams, flags=self._flags(),
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
            if not self._early:
                self._finish_start(-1)
        except BaseException:
            self._abandon()
            raise

    def _abandon(self) -> None:
        """The start has failed; pid may not be known yet."""
        self._close_pipes()
        if self.returncode is None:
            self._child.kill(SIGKILL)
            self._reap()

    def _streams(self, descriptors: Iterable[int], command: Command, stack: contextlib.ExitStack) -> Dict[str, int]:
        """The members std_in, std_out and std_err. Descriptors below 3 other than the stream's own
        are duplicated, until the start."""
        members: Dict[str, int] = {}
        for number, (name, fd) in enumerate(zip(("std_in", "std_out", "std_err"), descriptors)):
            if fd == number:
                command.add(True, actions.dup2, fd, fd)  # not close-on-exec any more
                continue
            if 0 <= fd < 3:
                fd = duplicate(fd)
                stack.callback(os.close, fd)
            if fd not in (NO_STREAM, PTY) and fd < 0:
                raise command.error_of((Step.STREAMS, errno.EBADF, 0, name.replace("_", "").encode()))
            members[name] = Stream.INHERIT if fd == NO_STREAM else fd
        return members

    def _waits(self) -> bool:
        return not self._private and not self._early

    def _flags(self) -> int:
        return (CommandFlags.INHERIT_SIGNALS  # as subprocess: restore_signals is an action
                + (CommandFlags.DIES_WITH_CALLER if self._extras["dies_with_caller"] else 0)
                + (CommandFlags.NO_PIDFD if self._waits() else 0) + (CommandFlags.STARTED_FD if self._early else 0))

    def _memory(self, is_slow: bool) -> Memory:
        """Popen returns after the exec. To be suspended until then is cheapest, above all where the
        processors are busy: one wake-up instead of two. But an action of the caller's that blocks
        must be interruptible, and for another user the image is cheaper than a
        copy of the memory."""
        if self._extras["memory"] is not None:
            return Memory(self._extras["memory"])
        if not is_standard():
            return Memory.COPIED
        return Memory.SUSPENDED if self._waits() and not is_slow else Memory.SHARED

    def _finish_start(self, timeout_ms: int) -> None:
        """Waits for the exec. Raises an OSError if the child has failed."""
        while True:
            try:
                failed = self._child.wait_started(SIGNALS_MS if timeout_ms < 0 else timeout_ms)
                break
            except TimeoutError:  # and Ctrl-C has its turn
                if timeout_ms >= 0:
                    raise
        self.pid = self._child.describe(Fact.PID)  # 0: the child could not be cloned
        command = self._command
        del self._command
        if self._waits():
            self._child.release()  # os.waitpid() waits for it
        if failed is None:
            return
        self._reap()
        if failed[1] != errno.ECHILD:  # otherwise killed by a signal, as the return code says
            raise command.error_of(failed)

    def _reap(self) -> None:
        while self.returncode is None:
            self._poll_handle()
            if self.returncode is None:
                time.sleep(POLL_SECONDS)

    def _poll_handle(self) -> None:
        """Sets returncode if the child has ended. Raises an OSError, once, if its tree has not."""
        try:
            ended = self._child.wait()
        except ChildProcessError:
            self.returncode = 0  # as subprocess
            return
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
        for pipe in (*self.pipes.values(), self.terminal):
            if pipe:
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
        if isinstance(input, str):
            input = input.encode(*coding)
        if self._typed is None:  # otherwise a communicate() before was too short
            self._typed = memoryview((input or b"") + (b"\4" if not input or input.endswith(b"\n") else b"\4\4"))
        end = None if timeout is None else time.monotonic() + timeout
        while not self.terminal.closed and self._converse(end, timeout):
            pass
        self.wait(None if end is None else max(0, end - time.monotonic()))
        self.terminal.close()
        if own.text_mode:
            return self._output.decode(*coding).replace("\r\n", "\n"), None
        return bytes(self._output), None

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

    def _converse(self, end: Optional[float], timeout: Optional[float]) -> bool:
        """Writes and reads what is possible. Returns False at the end."""
        terminal: Any = self.terminal
        typed: Any = self._typed
        os.set_blocking(terminal.fileno(), False)
        poll = select.poll()
        poll.register(terminal, select.POLLIN | (select.POLLOUT if typed else 0))
        events = poll_until(poll, end)
        if not events:
            if is_over(end):
                raise subprocess.TimeoutExpired(self.args, timeout or 0, output=bytes(self._output))
            return True
        if events[0][1] & select.POLLOUT:
            self._typed = typed[terminal.write(typed) or 0:]
        if not events[0][1] & ~select.POLLOUT:
            return True
        piece = terminal.read(4096)
        self._output += piece
        return bool(piece)

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
        end = None if timeout is None else time.monotonic() + timeout
        fd = self._ended_fd() if self._private else self._pidfd()
        poll = select.poll()
        if fd >= 0:
            poll.register(fd, select.POLLIN)
        try:
            while True:
                if fd >= 0:
                    poll_until(poll, end)
                if self._internal_poll() is not None:
                    break
                if is_over(end):
                    raise subprocess.TimeoutExpired(self.args, timeout or 0)
                # Another thread reaps it, there is no pidfd,
                # or somebody has killed the child's helper.
                time.sleep(POLL_SECONDS)
        finally:
            if fd >= 0:
                os.close(fd)
        return self.returncode  # type: ignore[return-value]

    def _ended_fd(self) -> int:
        """A duplicate, as another thread's poll() may close the child's own."""
        with self._waitpid_lock:  # type: ignore[attr-defined]
            try:
                return duplicate(self._child.ended_fd)
            except (OSError, ValueError):  # no descriptor left; -1: none here, or reaped
                return -1

    def _pidfd(self) -> int:
        try:
            return above_streams(os.pidfd_open(self.pid))
        except (AttributeError, OSError):  # not in this Python, kernel or sandbox; reaped
            return -1

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


def is_text(options: Mapping[str, Any]) -> bool:
    """True if the options make streams text, without its encoding."""
    return options.get("encoding") is None and any(map(options.get, ("text", "universal_newlines", "errors")))


def default_encoding() -> Optional[str]:
    """That of subprocess, after its warning, which here is one for who has called this package."""
    if not hasattr(subprocess, "_text_encoding"):  # before 3.11, which warns nobody
        return None
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in ("aspawn", "subprocess"):
        level, frame = level + 1, frame.f_back
    warnings.warn("'encoding' argument not specified.", EncodingWarning, level)
    return "utf-8" if sys.flags.utf8_mode else locale.getencoding()


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
