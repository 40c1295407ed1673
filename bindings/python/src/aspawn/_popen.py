# SPDX-License-Identifier: MIT
"""subprocess.Popen, whose _execute_child() starts the child by the library.

What subprocess.Popen does otherwise, it does here too: arguments, streams, communicate(), waiting by
os.waitpid(). Only a private child is waited for by its handle.
"""
import codecs
import errno
import fcntl
import io
import os
import select
import signal
import subprocess
import sys
import time
from subprocess import DEVNULL, PIPE, STDOUT

from . import _aspawn
from .actions import Action

# enum aspawn_stream, aspawn_command_flags, aspawn_owner, aspawn_memory and aspawn_step
INHERIT, NULL, NEW_PIPE, TO_STDOUT = 0, -1, -2, -3
STARTED_FD, NO_PIDFD, DIES_WITH_CALLER = 1, 8, 32
CALLER, PRIVATE = 0, 1
SHARED, SUSPENDED, COPIED = 0, 1, 2
STEP_SEARCH, STEP_CLONE = -4, -8  # from the first to before the second: of the program itself

RESTORE = Action("signals_default", tuple(
    getattr(signal, name) for name in ("SIGPIPE", "SIGXFZ", "SIGXFSZ") if hasattr(signal, name)))
CLOEXEC = Action("cloexec_from", 3)
# wait(2): also a child that could not execute the library's image, and has no exit signal before its exec.
WALL = 0x40000000  # __WALL
MANY_GAPS = 64  # descriptors below the highest of pass_fds that are closed one by one

try:
    from subprocess import _fork_exec as fork_exec
except ImportError:  # before 3.11
    from _posixsubprocess import fork_exec


def is_standard():
    """True if nobody has replaced what subprocess starts children by (mocks, sandboxes), nor
    switched off the use of shared memory, as its documentation tells how to."""
    now = getattr(subprocess, "_fork_exec", None) or subprocess._posixsubprocess.fork_exec
    return now is fork_exec and getattr(subprocess, "_USE_VFORK", True) is True


class Failure:
    """Where a child failed: `step` is the index in actions=, or None for what Popen does itself;
    `action` the action, or None for the search and the exec; `text` says it for people."""

    def __init__(self, step, action, text):
        self.step, self.action, self.text = step, action, text

    def __repr__(self):
        return f"<Failure {self.text}>"


class Popen(subprocess.Popen):
    _private = False
    _child = None

    def __init__(self, args, bufsize=-1, executable=None, stdin=None, stdout=None, stderr=None,
                 preexec_fn=None, *positional, actions=(), limits=None, cgroup=None, private=False,
                 dies_with_caller=False, image=True, _early=False, **keywords):
        # What only the library has is not for the fork of preexec_fn.
        extras = [name for name, value in (("actions", actions), ("limits", limits),
                                           ("cgroup", cgroup), ("private", private),
                                           ("dies_with_caller", dies_with_caller)) if value]
        self._by_library = preexec_fn is None and (is_standard() or bool(extras))
        if extras and preexec_fn is not None:
            raise ValueError(f"preexec_fn cannot be used with {', '.join(extras)}")
        self._actions = tuple(actions)
        self._limits = limits or {}
        self._cgroup = cgroup
        # Waited for by the handle alone.
        self._private = private or dies_with_caller
        self._flags = DIES_WITH_CALLER if dies_with_caller else 0
        self._image = image
        self._early = _early  # the caller calls _finish_start()
        self._bufsize = bufsize
        super().__init__(args, bufsize, executable, stdin, stdout, stderr, preexec_fn, *positional,
                         **keywords)

    # --- streams ---

    def _get_handles(self, stdin, stdout, stderr):
        """The library makes pipes and opens /dev/null: they are in _streams, and not among the
        descriptors that are returned."""
        if not self._by_library or getattr(self, "pipesize", -1) > 0:
            self._streams = None
            return super()._get_handles(stdin, stdout, stderr)
        self._streams = [INHERIT] * 3
        rest = [stdin, stdout, stderr]
        for number, stream in enumerate(rest):
            if stream is None:
                continue
            elif stream == PIPE:
                self._streams[number] = NEW_PIPE
            elif stream == DEVNULL:
                self._streams[number] = NULL
            elif stream == STDOUT and number == 2 and stdout is not None:
                self._streams[number] = TO_STDOUT
            else:
                continue
            rest[number] = None
        return super()._get_handles(*rest)

    def _open_streams(self):
        """Makes stdin, stdout and stderr of the caller's ends of the library's pipes."""
        by_line = bool(self.text_mode and self._bufsize == 1)
        bufsize = -1 if by_line or self._bufsize is None else self._bufsize
        ends = {"stdin": self._child.in_fd, "stdout": self._child.out_fd, "stderr": self._child.err_fd}
        ends = {name: fd for name, fd in ends.items() if fd >= 0}
        try:
            for name, fd in list(ends.items()):
                stream = io.open(fd, "wb" if name == "stdin" else "rb", bufsize)
                del ends[name]
                setattr(self, name, stream)
                if self.text_mode:
                    of_input = {"write_through": True, "line_buffering": by_line} if name == "stdin" else {}
                    setattr(self, name, io.TextIOWrapper(stream, encoding=self.encoding,
                                                         errors=self.errors, **of_input))
        except BaseException:
            for fd in ends.values():
                os.close(fd)
            raise

    def _sources(self, descriptors, actions, opened):
        """The members std_in, std_out and std_err. Descriptors below 3 other than the stream's own
        are duplicated, into opened."""
        made = list(self._streams or [INHERIT] * 3)
        for number, fd in enumerate(descriptors):
            if fd == number:
                actions.append(Action("dup2", fd, fd))  # not close-on-exec any more
            elif fd == 1 and number == 2 and made[1] == INHERIT and descriptors[1] in (-1, 1):
                made[2] = TO_STDOUT
            elif fd > 2:
                made[number] = fd
            elif fd >= 0:
                made[number] = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)
                opened.append(made[number])
        return made

    # --- start ---

    def _setup(self, close_fds, pass_fds, cwd, restore_signals, gid, gids, uid, umask,
               start_new_session, process_group, actions, opened):
        """Appends the actions, in the order of subprocess. Returns the index of the first of the
        caller's own."""
        if cwd is not None:
            actions.append(Action("chdir", cwd))
        if umask >= 0:
            actions.append(Action("umask", umask))
        if restore_signals:
            actions.append(RESTORE)
        if start_new_session:
            actions.append(Action("setsid"))
        if process_group is not None and process_group >= 0:
            actions.append(Action("setpgid", process_group))
        actions += limit_actions(self._limits)
        if self._cgroup is not None:
            group = self._cgroup
            if isinstance(group, (str, bytes, os.PathLike)):
                group = os.open(group, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                opened.append(group)
            actions.append(Action("join_cgroup", group))
        if gids is not None:
            actions.append(Action("groups", tuple(gids)))
        if gid is not None:
            actions.append(Action("resgid", gid, gid, gid))
        if uid is not None:
            actions.append(Action("resuid", uid, uid, uid))
        first = len(actions)
        actions += self._actions
        if close_fds:
            self._close_fds(sorted(map(int, pass_fds)), actions)
        return first

    def _close_fds(self, kept, actions):
        above = [fd for fd in kept if fd > 2]
        if above and above[-1] - 2 - len(above) > MANY_GAPS:
            actions.append(CLOEXEC)
        else:
            open_ = set(above)
            last = above[-1] if above else 2
            actions += [Action("close", fd) for fd in range(3, last) if fd not in open_]
            actions.append(Action("closefrom", last + 1))
        actions += [Action("dup2", fd, fd) for fd in kept]

    def _execute_child(self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, startupinfo,
                       creationflags, shell, p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite,
                       restore_signals, gid, gids, uid, umask, start_new_session, process_group=-1):
        if not self._by_library:
            group = () if sys.version_info < (3, 11) else (process_group,)
            return super()._execute_child(
                args, executable, preexec_fn, close_fds, pass_fds, cwd, env, startupinfo,
                creationflags, shell, p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite,
                restore_signals, gid, gids, uid, umask, start_new_session, *group)

        executable, args, variables = command_of(args, executable, shell, cwd, env)

        if self._streams and NEW_PIPE in self._streams and self.text_mode:
            # Found before the program runs, as by subprocess, which wraps pipes before.
            if self.encoding not in (None, "locale"):
                codecs.lookup(self.encoding)
            codecs.lookup_error(self.errors or "strict")

        # Popen returns after the exec. To be suspended until then is cheapest, above all where the
        # processors are busy: one wake-up instead of two. But an action of the caller's that blocks
        # must be interruptible, and for another user the image is cheaper than a copy of the memory.
        changes_user = gid is not None or uid is not None
        waits = not self._private and not self._early
        flags = self._flags | (NO_PIDFD if waits else 0) | (STARTED_FD if self._early else 0)
        if not self._image or not is_standard():
            memory = COPIED
        else:
            memory = SUSPENDED if waits and not self._actions and not changes_user else SHARED
        actions, opened = [], []
        try:
            streams = self._sources((p2cread, c2pwrite, errwrite), actions, opened)
            first = self._setup(close_fds, pass_fds, cwd, restore_signals, gid, gids, uid, umask,
                                start_new_session, process_group, actions, opened)
            owner = PRIVATE if self._private else CALLER
            self._child = _aspawn.start(args, executable, variables, *streams, actions, flags, owner, memory)
        finally:
            for fd in opened:
                os.close(fd)
        if not self._private:
            self.pid = self._child.pid
        self._child_created = True
        self._owner = os.getpid()
        self._started_as = executable, actions, first
        try:
            self._close_pipe_fds(p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)
            if self._streams:
                self._open_streams()
            if not self._early:
                self._finish_start(-1)
        except BaseException:
            if self.returncode is None:
                self._child.kill(signal.SIGKILL)
                self._wait(None)
            raise

    def _finish_start(self, timeout_ms):
        """Waits for the exec. Raises an OSError if the child has failed."""
        failed = self._child.wait_started(timeout_ms)
        self.pid = self._child.pid  # of a private child: by now it has one, or none for ever
        executable, actions, first = self._started_as
        del self._started_as
        if not self._private and not self._early:
            self._child.release()  # os.waitpid() waits for it
        if failed is None:
            return
        self._wait(None)
        if failed[1] == errno.ECHILD:  # killed by a signal, as the return code says
            return
        raise error_of(failed, executable, actions, first, len(self._actions))

    # --- the end ---

    def _waitpid(self, _getpid=os.getpid):
        """os.waitpid() of a private child, without waiting."""
        if _getpid() != self._owner:  # a process that was forked has no say
            raise ChildProcessError
        status = self._child.wait()
        return (0, 0) if status is None else (self.pid, status)

    def _try_wait(self, wait_flags):
        if not self._private:
            return super()._try_wait(wait_flags | WALL)
        try:
            return self._waitpid()
        except ChildProcessError:
            return self.pid, 0

    def _internal_poll(self, _deadstate=None, *rest, **keywords):
        if not self._private:
            return super()._internal_poll(_deadstate, *rest, **keywords)
        if self.returncode is None and self._waitpid_lock.acquire(False):
            try:
                if self.returncode is None:
                    pid, status = self._waitpid()
                    if pid != 0:
                        self._handle_exitstatus(status)
            except OSError:
                self.returncode = 0 if _deadstate is None else _deadstate
            finally:
                self._waitpid_lock.release()
        return self.returncode

    def _wait(self, timeout):
        """Waits by a descriptor, where subprocess looks again and again."""
        if self.returncode is None and self._private:
            self._wait_by(self._child.ended_fd, timeout)
        elif self.returncode is None and timeout is not None:
            fd = self._pidfd()
            if fd >= 0:
                try:
                    self._wait_by(fd, timeout)
                finally:
                    os.close(fd)
        return super()._wait(timeout)

    def _pidfd(self):
        try:
            return os.pidfd_open(self.pid)
        except (AttributeError, OSError):  # not in this Python, kernel or sandbox; reaped
            return -1

    def _wait_by(self, fd, timeout):
        end = None if timeout is None else time.monotonic() + timeout
        poll = select.poll()
        if fd >= 0:
            poll.register(fd, select.POLLIN)
        while self.returncode is None:
            left = -1 if end is None else max(0, end - time.monotonic())
            # Held meanwhile, as by a wait of subprocess: nobody else reaps the child.
            if self._waitpid_lock.acquire(timeout=left):
                try:
                    if self.returncode is not None:
                        break
                    if fd >= 0:
                        poll.poll(None if left < 0 else left * 1000)
                    pid, status = self._try_wait(os.WNOHANG)
                    if pid == self.pid:
                        self._handle_exitstatus(status)
                        break
                    if fd >= 0 and poll.poll(0):  # somebody has killed the child's helper
                        fd = -1
                finally:
                    self._waitpid_lock.release()
                if fd < 0:
                    time.sleep(0.005)
            if end is not None and time.monotonic() >= end:
                raise subprocess.TimeoutExpired(self.args, timeout)

    def send_signal(self, sig):
        if not self._private:
            return super().send_signal(sig)
        self.poll()
        if self.returncode is None:
            try:
                self._child.kill(sig)  # by its handle, as its pid may be another's
            except ProcessLookupError:
                pass

    def kill_group(self, sig=signal.SIGKILL):
        """Send a signal to the process group that the child leads (start_new_session=True, or
        process_group=0), also if the child itself has ended (a private one: if it was signalled
        before). Does nothing after wait(), poll() or communicate() have set returncode."""
        if self.returncode is None:
            try:
                if self._child is not None:
                    self._child.kill_group(sig)
                else:
                    os.killpg(self.pid, sig)
            except ProcessLookupError:
                pass


def command_of(args, executable, shell, cwd, env):
    """The program, its arguments and its environment, bytes name=value or None, as subprocess
    makes them of these parameters."""
    if isinstance(args, (str, bytes)):
        args = [args]
    elif isinstance(args, os.PathLike):
        if shell:
            raise TypeError("path-like args is not allowed when shell is true")
        args = [args]
    else:
        args = list(args)
    if shell:
        args = [executable or "/bin/sh", "-c", *args]
    if executable is None:
        executable = args[0]
    sys.audit("subprocess.Popen", executable, args, cwd, env)
    variables = None
    if env is not None:
        variables = []
        for name, value in env.items():
            name = os.fsencode(name)
            if b"=" in name:
                raise ValueError("illegal environment variable name")
            variables.append(name + b"=" + os.fsencode(value))
    return executable, args, variables


def limit_actions(limits):
    for resource, limit in limits.items():
        soft, hard = (limit, limit) if isinstance(limit, int) else limit
        yield Action("rlimit", resource, soft, hard)


def error_of(failed, executable, actions, first, count):
    """The OSError of a tuple as of Child.wait_started(). The caller's own actions are `count`, from
    the index `first`."""
    step, number, kind, subject = failed
    action = actions[step] if step >= 0 else None
    own = action is not None and first <= step < first + count
    if action is not None:
        name = next((argument for argument in action[1:]
                     if isinstance(argument, (str, bytes, os.PathLike))), None)
    else:
        name = executable if STEP_CLONE < step <= STEP_SEARCH else None
    index = step - first if own else None  # the caller's own numbers
    text = os.fsdecode(_aspawn.failure_text(step if index is None else index, number, kind, subject))
    error = OSError(number, os.strerror(number), *(() if name is None else (name,)))
    error.failure = Failure(index, action, text)
    if action is not None and hasattr(error, "add_note"):  # 3.11
        error.add_note(error.failure.text)
    return error
