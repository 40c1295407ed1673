# SPDX-License-Identifier: MIT
"""The queue: what aspawn.Queue and aspawn.aio.Queue share, and the former.

A job is submitted to the library, or, while the library's queue is full, kept in _later. The
descriptor of the library's queue is readable when there are results; then _pump() takes them.
"""
import concurrent.futures
import errno
import functools
import itertools
import math
import os
import resource
import select
import subprocess
import threading
from collections import deque
from subprocess import DEVNULL, PIPE, STDOUT

from . import _aspawn
from ._popen import RESTORE, command_of, error_of, limit_actions
from .actions import Action

# enum aspawn_job_flags and enum aspawn_outcome
TAIL, SAME_GROUP = 1, 2
RAN, NOT_STARTED, TIMED_OUT, CANCELLED, LOST = 1, 2, 3, 5, 6
OUTCOMES = {RAN: "ran", NOT_STARTED: "not started", TIMED_OUT: "timed out", CANCELLED: "cancelled",
            LOST: "lost"}


def milliseconds(seconds):
    return max(1, math.ceil(seconds * 1000))


class Result(subprocess.CompletedProcess):
    """How a job ended. As subprocess.CompletedProcess it has args, returncode, stdout, stderr (bytes,
    what was kept, or None) and check_returncode(); returncode is None if no program ran. And

    outcome       "ran", "not started", "timed out", "cancelled" or "lost"
    text          the outcome for people: "exit 3", "timed out, killed by SIGTERM"
    failure       why the program was not started, a Failure; or None
    pid           of the ended process; None: there was none
    stdout_total, stderr_total   bytes that the program wrote
    submitted, started, executed, ended   seconds of time.monotonic(); None: it has not come to that
    usage         as of resource.getrusage()
    """

    def __init__(self, args, taken):
        (_, self._end, pid, status, text, stdout, stderr, self.stdout_total, self.stderr_total, times,
         self._failed, self._usage) = taken
        ran = status != -1 and self._end != NOT_STARTED
        super().__init__(args, os.waitstatus_to_exitcode(status) if ran else None, stdout, stderr)
        self.outcome = OUTCOMES[self._end]
        self.text = os.fsdecode(text)
        self.failure = None
        self.pid = pid or None
        self.submitted, self.started, self.executed, self.ended = (time / 1e9 if time else None
                                                                   for time in times)

    @property
    def usage(self):
        # Made when asked for: CPython 3.11 reports an error if one is left to the end of the interpreter.
        return resource.struct_rusage(self._usage)

    @property
    def truncated(self):
        """True if the program wrote more than was kept."""
        return any(kept is not None and len(kept) < total for kept, total in
                   ((self.stdout, self.stdout_total), (self.stderr, self.stderr_total)))

    def __repr__(self):
        return f"<Result of {self.args!r}: {self.text}>"


class Command:
    """What a job, or a prepared command, executes."""

    def __init__(self, args, *, stderr=PIPE, shell=False, executable=None, cwd=None, env=None, limits=None,
                 actions=()):
        self.args, self.has_one_output = args, stderr == STDOUT
        self.executable, self.argv, self.variables = command_of(args, executable, shell, cwd, env)
        self.actions = [RESTORE, *limit_actions(limits or {})]
        if cwd is not None:
            self.actions.append(Action("chdir", cwd))
        self.first = len(self.actions)
        self.actions += actions

    def arguments(self):
        return self.argv, self.executable, self.variables, self.actions, self.has_one_output


class Prepared:
    """A command that a queue has copied, with its environment and actions: Queue.prepare()."""

    def __init__(self, queue, command):
        self._command = command
        self._queue = queue
        self._number = queue.prepare(*command.arguments())

    @property
    def args(self):
        return self._command.args

    def __repr__(self):
        return f"<Prepared {self.args!r}>"


class Job:
    prepared = None

    def __init__(self, future, args, *, input=None, stdout=PIPE, stderr=PIPE, output_size=1 << 14, tail=False,
                 timeout=None, grace=None, check=False, same_group=False, key=0, key_limit=0, priority=0, **options):
        self.future, self.timeout, self.check = future, timeout, check
        self.ticket = None  # until the library has it
        if stdout not in (PIPE, DEVNULL) or stderr not in (PIPE, DEVNULL, STDOUT):
            raise ValueError("stdout and stderr are PIPE or DEVNULL, or stderr is STDOUT")
        number, command = self._command(args, stderr, **options)
        self.arguments = (
            *command, None if input is None else bytes(input), output_size + 1 if stdout == PIPE else 0,
            output_size + 1 if stderr == PIPE and not self.command.has_one_output else 0,
            (TAIL if tail else 0) | (SAME_GROUP if same_group else 0), 0 if timeout is None else milliseconds(timeout),
            0 if grace is None else milliseconds(grace) if grace > 0 else -1, key, key_limit, priority, number)

    def _command(self, args, stderr, *, prepared=None, **options):
        """The number of the prepared command, and what is instead of it."""
        if prepared is None:
            self.command = Command(args, stderr=stderr, **options)
            self.args = args
            return 0, self.command.arguments()
        self.prepared, self.command = prepared, prepared._command
        if options or (stderr == STDOUT and not self.command.has_one_output):
            raise TypeError(f"the prepared command has what it has: {', '.join(options) or 'stderr'}")
        self.args = prepared.args if args is None else args
        argv = None if args is None else command_of(args, self.command.executable, False, None, None)[1]
        return prepared._number, (argv, None, None, (), False)

    def outcome(self, taken):
        """Returns the Result and None, or None and the exception whose `result` it is."""
        result = Result(self.args, taken)
        error = None
        if result._end == NOT_STARTED:
            command = self.command
            error = error_of(result._failed, command.executable, command.actions, command.first,
                             len(command.actions) - command.first)
            result.failure = error.failure
            result.text = f"not started: {error.failure.text}"
        elif result._end == TIMED_OUT:
            error = subprocess.TimeoutExpired(self.args, self.timeout, result.stdout, result.stderr)
        elif result._end == LOST:
            error = concurrent.futures.BrokenExecutor("lost: the server of the queue was killed")
        elif result._end == CANCELLED:
            error = concurrent.futures.CancelledError()
        elif self.check and result.returncode:
            error = subprocess.CalledProcessError(result.returncode, self.args, result.stdout, result.stderr)
        if error is None:
            return result, None
        error.result = result
        return None, error


class Jobs:
    """The base class of both queues."""

    def __init__(self, running=16, *, jobs=256, job_bytes=1 << 17, delay=0.0, local=False):
        self._native = _aspawn.Queue(running, jobs, job_bytes, round(delay * 1000), local)
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._cookies = itertools.count()
        self._now = {}  # the jobs that the library has, by their cookies
        self._later = deque()
        self._is_shut = False

    def prepare(self, args, **options):
        """Copy a command once, for jobs that differ in their arguments alone: submit(args,
        prepared=...), where args replaces all of these, and is None for these. The options are
        executable, shell, cwd, env, limits, actions, and stderr=STDOUT; the environment is that of now. It takes one
        of the `jobs` places, until the queue is closed. BlockingIOError: none is free."""
        return Prepared(self._native, Command(args, **options))

    def _add(self, job):
        if os.getpid() != self._pid:  # the lock may be held for ever
            raise OSError(errno.ESTALE, "the queue is that of the process before fork()")
        if job.prepared is not None and job.prepared._queue is not self._native:
            raise ValueError("another queue has prepared the command")
        with self._lock:
            if self._is_shut:
                raise RuntimeError("the queue is shut down")
            if self._later or not self._submit(job):
                self._later.append(job)

    def _submit(self, job):
        """Returns False if the queue is full."""
        cookie = next(self._cookies)
        try:
            job.ticket = self._native.submit(cookie, *job.arguments)
        except BlockingIOError:
            if not self._now:  # no result will make room
                raise
            return False
        except OSError as error:
            if error.errno == errno.E2BIG:
                error.strerror = "the command, environment, input and output do not fit in job_bytes"
            raise
        self._now[cookie] = job
        if len(self._now) == 1:
            self._watch()
        return True

    def _cancel(self, job):
        if os.getpid() != self._pid:
            return
        with self._lock:
            if job.ticket is not None:
                try:
                    self._native.cancel(job.ticket)
                except ProcessLookupError:  # it has just ended
                    pass

    def _pump(self, wait=False):
        """Takes all results, and gives each to its future, after the later jobs have followed."""
        while True:
            ended = []
            taken = self._native.take(wait)
            with self._lock:
                for result in taken:
                    job = self._now.pop(result[0])
                    job.ticket = None
                    ended.append((job, result, None))
                while self._later:
                    job = self._later[0]
                    try:
                        if not job.future.cancelled() and not self._submit(job):
                            break
                        if job.future.cancelled():
                            ended.append((job, None, None))
                    except Exception as error:
                        ended.append((job, None, error))
                    self._later.popleft()
            for job, result, error in ended:
                self._end(job, result, error)
            if len(taken) < _aspawn.BATCH:
                return
            wait = False

    def _end(self, job, taken, error):
        if not self._is_wanted(job.future):
            return
        result = None
        if error is None:
            result, error = job.outcome(taken)
        if error is None:
            job.future.set_result(result)
        else:
            job.future.set_exception(error)


class Future(concurrent.futures.Future):
    """A job's. It is pending until the job has ended."""
    _cancel = staticmethod(lambda: None)

    def cancel(self):
        """Cancel the job: one that runs gets SIGTERM, and SIGKILL after its grace. The future is
        cancelled at once; concurrent.futures.wait() waits until the job has ended. False: the
        result is there."""
        if not super().cancel():
            return False
        self._cancel()
        return True


class Queue(Jobs, concurrent.futures.Executor):
    """A queue of commands, with the interface of a concurrent.futures.Executor:

        with aspawn.Queue(running=8) as queue:
            for future in concurrent.futures.as_completed([queue.submit(["uname", "-r"])]):
                print(future.result().stdout)

    The commands are started by a process of the library, not by this one: no SIGCHLD, nothing for
    os.wait(), no descriptor of this process in them, and no fork(). A thread takes the results while
    there are jobs.

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

    def __init__(self, running=16, *, jobs=256, job_bytes=1 << 17, delay=0.0, local=False):
        super().__init__(running, jobs=jobs, job_bytes=job_bytes, delay=delay, local=local)
        self._is_local = local
        self._thread = None

    def submit(self, args, **options):
        """Submit a command. Returns a Future of the Result.

        args, shell, executable, cwd, env, limits, actions and check are as of aspawn.run(). Files
        of this process that actions use stay open until the job has ended. prepared: a command of
        prepare(), whose arguments args replaces unless it is None. input: bytes. stdout: PIPE,
        which keeps the output, or DEVNULL; stderr: also STDOUT, which is said to prepare() of a
        prepared command. output_size: bytes to keep of each, the first, or with tail=True the last;
        the rest is dropped. timeout: seconds from the start to SIGTERM, which goes to the job's
        process group, and grace: from there to SIGKILL, one second if it is not given. same_group:
        make no process group. key and key_limit: of the jobs with the same key, a number, at most
        key_limit run at the same time. priority: from 0 to 7; of the jobs that the library has,
        those with the highest start first.

        The future's exception is the OSError of a program that was not started, whose `failure` says
        why, subprocess.TimeoutExpired, concurrent.futures.BrokenExecutor if the library's process was
        killed, and with check=True subprocess.CalledProcessError. The `result` of each is the Result.
        """
        future = Future()
        job = Job(future, args, **options)
        future._cancel = functools.partial(self._cancel, job)
        self._add(job)
        return future

    def map(self, commands, *, timeout=None, **options):
        """The Results of the commands, in their order. timeout is of the job, as for submit()."""
        futures = deque([self.submit(args, timeout=timeout, **options) for args in commands])

        def results():
            try:
                while futures:
                    yield futures.popleft().result()
            finally:
                for future in futures:
                    future.cancel()
        return results()

    def shutdown(self, wait=True, *, cancel_futures=False):
        """Accept no more jobs, and free the queue after the last. cancel_futures: cancel those that
        have not ended, also those that run."""
        if os.getpid() != self._pid:
            self._native.close()
            return
        with self._lock:
            self._is_shut = True
            thread = self._thread
            jobs = [*self._now.values(), *self._later] if cancel_futures else []
        for job in jobs:
            job.future.cancel()
        if thread is None:
            self._native.close()
        elif wait:
            thread.join()

    def __exit__(self, exception, *_):
        """Waits for all jobs; if an exception has been raised, cancels them."""
        self.shutdown(cancel_futures=exception is not None)
        return False

    def _watch(self):
        if self._thread is None:
            self._thread = threading.Thread(target=self._collect, name="aspawn.Queue")
            self._thread.start()

    def _collect(self):
        poll = select.poll()
        poll.register(self._native.fd, select.POLLIN)
        while True:
            if not self._is_local:
                poll.poll()
            self._pump(self._is_local)
            with self._lock:
                if not self._now:
                    self._thread = None
                    if self._is_shut:
                        self._native.close()
                    return

    @staticmethod
    def _is_wanted(future):
        vars(future).pop("_cancel", None)  # which refers to the job and the queue
        return future.set_running_or_notify_cancel()
