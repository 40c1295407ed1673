# SPDX-License-Identifier: MIT
"""The queue: what aspawn.Queue and aspawn.aio.Queue share, and the former.

A job is submitted to the library, or, while the library's queue is full, kept in _later. _pump()
takes the results.
"""
from __future__ import annotations

import concurrent.futures
import contextlib
import errno
import functools
import itertools
import logging
import os
import subprocess
import threading
from array import array
from collections import deque
from subprocess import DEVNULL, PIPE, STDOUT
from typing import (TYPE_CHECKING, Any, Callable, Deque, Dict, Generic, Iterable, Iterator, List, Literal, Optional,
                    Tuple, TypeVar)

from . import actions as actions_of
from ._action import Action, Path
from ._command import RESTORE, Command, Failure, grace_ms, member_of, milliseconds, words_of
from ._support import _aspawn, refuse
from .constants import CommandFlags, JobFlags, Outcome, Owner, QueueFlags, Stream

if TYPE_CHECKING:
    import resource  # Windows has no such module

    from ._types import Args, Environment, Limits


class Result(subprocess.CompletedProcess[Any]):
    """How a job ended. As subprocess.CompletedProcess it has args, returncode, stdout, stderr
    (bytes, what was kept, or None) and check_returncode(); returncode is None if
    no program ran. And

    outcome       "ran", "not started", "timed out", "out of memory", "cancelled" or "lost"
    text          the outcome for people: "exit 3", "timed out, killed by SIGTERM"
    failure       why the program was not started, a Failure; or None
    pid           of the ended process; None: there was none
    stdout_total, stderr_total   bytes that the program wrote
    submitted, started, executed, ended   seconds of time.monotonic(); None: it has not come to that
    usage         as of resource.getrusage(); ru_maxrss is at least the peak of this process
    memory_peak   of actions.new_cgroup(): most bytes that it had at a time; None: not known
    stdout_cut, stderr_cut   True if another process still held it after the grace, so that more
                  may follow
    survivors     how many of a tree could not be ended; 1 for another program that may not be
                  killed, such as sudo, which runs on as pid
    """
    failure: Optional[Failure] = None

    def __init__(self, args: Any, taken: Dict[str, Any]) -> None:
        outcome, status = Outcome(taken["outcome"]), taken["status"]
        ran = status != -1 and outcome != Outcome.NOT_STARTED
        super().__init__(args, os.waitstatus_to_exitcode(status) if ran else None,  # type: ignore[arg-type]
                         taken["out"], taken["err"])
        self.outcome = outcome.name.lower().replace("_", " ")
        self.text = os.fsdecode(taken["text"])
        self.pid: Optional[int] = taken["pid"] or None
        self.stdout_total: int = taken["out_total"]
        self.stderr_total: int = taken["err_total"]
        self.submitted, self.started, self.executed, self.ended = (
            taken[f"{name}_ns"] / 1e9 or None for name in ("submitted", "started", "executed", "ended"))
        self._usage: bytes = taken["usage"]
        self.memory_peak: Optional[int] = taken["memory_peak"] or None
        self.stdout_cut, self.stderr_cut = bool(taken["cut"] & 1), bool(taken["cut"] & 2)
        self.survivors: int = taken["survivors"]

    @property
    def usage(self) -> resource.struct_rusage:
        import resource

        # Made when asked for: CPython 3.11 reports an error if one is left to the end of the
        # interpreter.
        words = array("q" if len(self._usage) == 18 * 8 else "i", self._usage)
        return resource.struct_rusage((words[0] + words[1] / 1e6, words[2] + words[3] / 1e6, *words[4:]))

    @property
    def truncated(self) -> bool:
        """True if the program wrote more than was kept."""
        return any(kept is not None and len(kept) < total for kept, total in
                   ((self.stdout, self.stdout_total), (self.stderr, self.stderr_total)))

    def __repr__(self) -> str:
        return f"<Result of {self.args!r}: {self.text}>"


def result_of(error: Optional[BaseException]) -> Optional[Result]:
    """The `result` of the exception of a job's future, or None."""
    return getattr(error, "result", None)


def command_of(args: Args, stderr: int, shell: Optional[bool], executable: Optional[Path], cwd: Optional[Path],
               env: Optional[Environment], limits: Optional[Limits], actions: Optional[Iterable[Action]],
               owner: Optional[str], stop_signal: Optional[int]) -> Tuple[Command, Dict[str, Any]]:
    """The command of a job, and its members."""
    kind = member_of(Owner, owner, ["tree"])
    command = Command(args, executable, bool(shell), cwd, env)
    command.actions.append(RESTORE)
    command.add_limits(limits)
    command.add(cwd is not None, actions_of.chdir, cwd)
    command.add_own(actions or ())
    return command, command.members(std_err=Stream.STDOUT if stderr == STDOUT else None, owner=kind,
                                    flags=CommandFlags.INHERIT_SIGNALS, stop_signal=stop_signal)


class Prepared:
    """A command that a queue has copied, with its environment and actions: Queue.prepare()."""

    def __init__(self, queue: Any, args: Args, stderr: int, *options: Any) -> None:
        self.args = args
        self._queue = queue
        self._has_one_output = stderr == STDOUT
        self._command, members = command_of(args, stderr, *options)
        self._number = self._command.given_to(queue.submit, command=members, prepared=-1)

    def __repr__(self) -> str:
        return f"<Prepared {self.args!r}>"


class Job:
    future: Any
    ticket: Optional[int] = None  # while the library has it

    def __init__(self, args: Any, command: Command, members: Dict[str, Any], timeout: Optional[float],
                 check: bool) -> None:
        self.args, self.command, self.members, self.timeout, self.check = args, command, members, timeout, check

    def outcome(self, taken: Dict[str, Any]) -> Tuple[Optional[Result], Optional[BaseException]]:
        """Returns the Result and None, or None and the exception whose `result` it is."""
        result = Result(self.args, taken)
        error: Any = None
        if result.outcome == "not started":
            error = self.command.error_of(taken["failure"])
            result.failure = error.failure
            result.text = f"not started: {error.failure.text}"
        elif result.outcome == "timed out":
            error = subprocess.TimeoutExpired(self.args, self.timeout or 0, result.stdout, result.stderr)
        elif result.outcome == "out of memory":
            error = OSError(errno.ENOMEM, os.strerror(errno.ENOMEM), self.args)
        elif result.outcome == "lost":
            error = concurrent.futures.BrokenExecutor("lost: the queue's server, or the tree's helper, was killed")
        elif result.outcome == "cancelled":
            error = concurrent.futures.CancelledError()
        elif self.check and result.returncode:
            error = subprocess.CalledProcessError(result.returncode, self.args, result.stdout, result.stderr)
        if error is None:
            return result, None
        error.result = result
        return None, error


FutureType = TypeVar("FutureType")
LOGGER = logging.getLogger("concurrent.futures")  # as the futures' own


class Jobs(Generic[FutureType]):
    """The base class of both queues, which have these methods."""
    _new_future: Callable[[Job], FutureType]  # whose cancel() cancels the job
    _watch: Callable[[], None]  # lets _pump() be called when there are results: there is a job
    _is_wanted: Callable[[Any], bool]

    def __init__(self, running: int = 16, *, jobs: int = 256, job_bytes: int = 1 << 17, delay: float = 0.0,
                 local: bool = False) -> None:
        refuse("a queue")
        for name, number, least, most in (("running", running, 1, 1 << 15), ("jobs", jobs, 1, 1 << 15),
                                          ("job_bytes", job_bytes, 1, 1 << 24), ("delay", delay, 0, 1 << 22)):
            if not least <= number <= most:
                raise ValueError(f"{name} is not from {least} to {most}: {number}")
        self._native = _aspawn.Queue(running=running, jobs=jobs, job_bytes=job_bytes, delay_ms=round(delay * 1000),
                                     flags=QueueFlags.LOCAL if local else 0)
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._cookies = itertools.count()
        self._now: Dict[int, Job] = {}  # the jobs that the library has, by their cookies
        self._later: Deque[Job] = deque()
        self._is_shut = False

    def prepare(self, args: Args, *, stderr: int = PIPE, shell: bool = False, executable: Optional[Path] = None,
                cwd: Optional[Path] = None, env: Optional[Environment] = None, limits: Optional[Limits] = None,
                actions: Iterable[Action] = (), owner: Optional[Literal["tree"]] = None,
                stop_signal: Optional[int] = None) -> Prepared:
        """Copy a command once, for jobs that differ in their arguments alone: submit(args,
        prepared=...), where args replaces all of these, and is None for these. The environment is
        that of now. It takes one of the `jobs` places, until the queue is closed. BlockingIOError:
        none is free."""
        return Prepared(self._native, args, stderr, shell, executable, cwd, env, limits, actions, owner, stop_signal)

    def submit(self, args: Optional[Args], *, input: Optional[bytes] = None, stdout: int = PIPE, stderr: int = PIPE,
               output_size: int = 1 << 14, tail: bool = False, timeout: Optional[float] = None,
               grace: Optional[float] = None, check: bool = False, shell: Optional[bool] = None,
               executable: Optional[Path] = None, cwd: Optional[Path] = None, env: Optional[Environment] = None,
               limits: Optional[Limits] = None, actions: Optional[Iterable[Action]] = None,
               owner: Optional[Literal["tree"]] = None, stop_signal: Optional[int] = None, key: int = 0,
               key_limit: int = 0, priority: int = 0, prepared: Optional[Prepared] = None) -> FutureType:
        """Submit a command. Returns a future of the Result.

        args, shell, executable, cwd, env, limits, actions, check and owner="tree" are as of
        aspawn.run(); but that some of a tree has not ended only the Result's `text` says. Files of
        this process that actions use stay open until the job has ended. prepared: a command of
        prepare(), whose arguments args replaces unless it is None. input: bytes. stdout: PIPE,
        which keeps the output, or DEVNULL; stderr: also STDOUT, which is said to prepare() of a
        prepared command. output_size: bytes to keep of each, the first, or with tail=True the last;
        the rest is dropped. timeout: seconds from the start to stop_signal, SIGTERM if it is not
        given, which goes to the job's process group or tree, and grace: from there to SIGKILL, one
        second if it is not given.
        key and key_limit: of the jobs with the same key, a number, at most key_limit run at the
        same time. priority: from 0 to 7; of the jobs that the library has, those with the highest
        start first.

        The future's exception is the OSError of a program that was not started, whose `failure`
        says why, OSError (ENOMEM) if the OOM killer has ended the program in the group of its
        new_cgroup(), subprocess.TimeoutExpired, concurrent.futures.BrokenExecutor if the library's
        process was killed, and with check=True subprocess.CalledProcessError. The `result` of each
        is the Result. To cancel the future cancels the job.
        """
        if stdout not in (PIPE, DEVNULL) or stderr not in (PIPE, DEVNULL, STDOUT):
            raise ValueError("stdout and stderr are PIPE or DEVNULL, or stderr is STDOUT")
        for name, number in ("output_size", output_size), ("key", key), ("key_limit", key_limit):
            if number < 0:
                raise ValueError(f"{name} is negative: {number}")
        options = (shell, executable, cwd, env, limits, actions, owner, stop_signal)
        members: Dict[str, Any]
        if prepared is None:
            command, own = command_of(args, stderr, *options)  # type: ignore[arg-type]
            members = {"command": own}
            has_one_output = stderr == STDOUT
        else:
            if not isinstance(prepared, Prepared):
                raise TypeError("prepared is not of prepare()")
            command, has_one_output = prepared._command, prepared._has_one_output
            if any(option is not None for option in options) or (stderr == STDOUT and not has_one_output):
                raise TypeError("the prepared command has its own options")
            if prepared._queue is not self._native:
                raise ValueError("another queue has prepared the command")
            members = {"prepared": prepared._number, "argv": None if args is None else words_of(args, False)}
            args = prepared.args if args is None else args
        members.update(
            input=None if input is None else bytes(memoryview(input)),
            out_size=output_size + 1 if stdout == PIPE else 0,
            err_size=output_size + 1 if stderr == PIPE and not has_one_output else 0,
            flags=JobFlags.TAIL if tail else 0,
            time_limit_ms=milliseconds("timeout", timeout),
            grace_ms=grace_ms(grace),
            key=key, key_limit=key_limit, priority=priority)
        job = Job(args, command, members, timeout, check)
        future = job.future = self._new_future(job)
        if os.getpid() != self._pid:  # the lock may be held for ever
            raise OSError(errno.ESTALE, "the queue is that of the process before fork()")
        with self._lock:
            if self._is_shut:
                raise RuntimeError("the queue is shut down")
            if self._later or not self._submit(job):
                self._later.append(job)
        return future

    def _submit(self, job: Job) -> bool:
        """Returns False if the queue is full."""
        cookie = next(self._cookies)
        try:
            job.ticket = job.command.given_to(self._native.submit, cookie=cookie, **job.members)
        except BlockingIOError:
            if not self._now:  # no result will free a place
                raise
            return False
        self._now[cookie] = job
        try:
            self._watch()
        except BaseException:  # no thread: the result is taken with that of a later job
            with contextlib.suppress(ProcessLookupError):
                self._native.cancel(job.ticket)
            raise
        return True

    def _cancel(self, job: Job) -> None:
        if os.getpid() != self._pid:
            return
        with self._lock, contextlib.suppress(ProcessLookupError):  # it has just ended
            if job.ticket is not None:
                self._native.cancel(job.ticket)

    def _pump(self, wait: bool) -> None:
        """Takes all results, and gives each to its future, after the later jobs have followed."""
        while True:
            ended: List[Tuple[Job, Any, Optional[BaseException]]] = []
            taken = self._native.take(wait)
            with self._lock:
                for result in taken:
                    job = self._now.pop(result["cookie"])
                    job.ticket = None
                    ended.append((job, result, None))
                while self._later:
                    job = self._later[0]
                    try:
                        if job.future.cancelled():
                            ended.append((job, None, None))
                        elif not self._submit(job):
                            break
                    except Exception as error:
                        ended.append((job, None, error))
                    self._later.popleft()
            for job, result, failed in ended:
                self._end(job, result, failed)
            if len(taken) < _aspawn.BATCH:
                return
            wait = False

    def _end(self, job: Job, taken: Any, error: Optional[BaseException]) -> None:
        if not self._is_wanted(job.future):
            return
        result = None
        if error is None:
            result, error = job.outcome(taken)
        try:
            job.future.set_result(result) if error is None else job.future.set_exception(error)
        except BaseException:  # of a callback, such as SystemExit: it must not end the queue's thread
            LOGGER.exception("exception calling callback for %r", job.future)


class Future(concurrent.futures.Future[Result]):
    """A job's. It is pending until the job has ended."""
    _cancel: Callable[[], None] = staticmethod(lambda: None)

    def cancel(self) -> bool:
        """Cancel the job: one that runs gets SIGTERM, and SIGKILL after its grace. The future is
        cancelled at once; concurrent.futures.wait() waits until the job has ended. False: the
        result is there."""
        if not super().cancel():
            return False
        self._cancel()
        return True


class Queue(Jobs[Future], concurrent.futures.Executor):  # type: ignore[misc]
    """A queue of commands, with the interface of a concurrent.futures.Executor:

        with aspawn.Queue(running=8) as queue:
            for future in concurrent.futures.as_completed([queue.submit(["uname", "-r"])]):
                print(future.result().stdout)

    The commands are started by a process of the library, not by this one: no SIGCHLD, nothing for
    os.wait(), no descriptor of this process in them, and no fork(). A thread takes the results
    while there are jobs.

    running    jobs that run at the same time
    jobs       jobs that the library holds, up to 32768; more wait here
    job_bytes  memory for each: command, environment, input and the output kept
    delay      least seconds between two starts
    local      no process of the library: the thread starts the commands, as children of this
               process. For commands that need its current credentials, directory and descriptors,
               and for emulators, where processes cannot share memory. Nothing may ignore SIGCHLD
               or call os.wait().

    The process keeps the credentials, namespaces and limits that this one has now: see
    aspawn_queue(3). After os.fork() the copy of the queue refuses jobs (ESTALE).
    """
    _thread: Optional[threading.Thread] = None

    def map(self, commands: Iterable[Optional[Args]], *, timeout: Optional[float] = None,  # type: ignore[override]
            **options: Any) -> Iterator[Result]:
        """The Results of the commands, in their order. timeout is of the job, as for submit()."""
        futures = deque([self.submit(args, timeout=timeout, **options) for args in commands])

        def results() -> Iterator[Result]:
            try:
                while futures:
                    yield futures.popleft().result()
            finally:
                for future in futures:
                    future.cancel()
        return results()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no more jobs, and free the queue after the last. cancel_futures: cancel those that
        have not ended, also those that run."""
        if os.getpid() != self._pid:
            self._native.close()
            return
        with self._lock:
            self._is_shut = True
            thread = self._thread = self._thread if self._thread and self._thread.is_alive() else None
            jobs = [*self._now.values(), *self._later] if cancel_futures else []
        for job in jobs:
            job.future.cancel()
        if thread is None:
            self._native.close()
        elif wait:
            thread.join()

    def __exit__(self, exception: Any, *_: Any) -> None:
        """Waits for all jobs; if an exception has been raised, cancels them."""
        self.shutdown(cancel_futures=exception is not None)

    def _new_future(self, job: Job) -> Future:
        future = Future()
        future._cancel = functools.partial(self._cancel, job)
        return future

    def _watch(self) -> None:
        if not (self._thread and self._thread.is_alive()):  # start() may have been interrupted
            self._thread = threading.Thread(target=self._collect, name="aspawn.Queue")
            self._thread.start()

    def _collect(self) -> None:
        with self._lock:  # which submit() has
            goes_on = self._thread is threading.current_thread()  # or nobody counts on it any more
        while goes_on:
            self._pump(True)
            with self._lock:
                if not (goes_on := bool(self._now)):
                    self._thread = None
                    if self._is_shut:
                        self._native.close()

    def _is_wanted(self, future: Any) -> bool:
        vars(future).pop("_cancel", None)  # which refers to the job and the queue
        return bool(future.set_running_or_notify_cancel())
