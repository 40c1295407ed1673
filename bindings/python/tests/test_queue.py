# SPDX-License-Identifier: MIT
"""aspawn.Queue and aspawn.aio.Queue."""
import array
import asyncio
import concurrent.futures
import errno
import gc
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

import aspawn
from aspawn import actions, aio
from aspawn._queue import Job
from aspawn.constants import Outcome

ECHO = "echo out; echo err >&2"


def shell(command):
    return ["sh", "-c", command]


def server():
    """The process ID of the only queue's server."""
    for pid in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if f"\nPPid:\t{os.getpid()}\n" in (status := (pid / "status").read_text()) \
                    and status.startswith("Name:\taspawn-queue"):
                return int(pid.name)
        except OSError:
            pass
    raise AssertionError("no server")


def is_running(pid):
    return os.path.exists(f"/proc/{pid}")


class Test(unittest.TestCase):
    def setUp(self):
        self.before = sorted(os.listdir("/proc/self/fd"))

    def assert_closed(self):
        for thread in threading.enumerate():
            if thread is not threading.current_thread():
                thread.join()
        self.assertEqual(sorted(os.listdir("/proc/self/fd")), self.before)

    def tearDown(self):
        gc.collect()
        self.assertEqual(sorted(os.listdir("/proc/self/fd")), self.before)
        self.assertEqual(threading.active_count(), 1)
        with self.assertRaises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)
        with self.assertRaises(AssertionError):
            server()


class Jobs(Test):
    """What both queues share, by the first."""

    def result(self, command, **options):
        with aspawn.Queue(1) as queue:
            return queue.submit(command, **options).result()

    def test_results_are_complete(self):
        begin = time.monotonic()
        result = self.result(shell(ECHO + "; exit 3"))
        self.assertEqual((result.args, result.returncode, result.stdout, result.stderr),
                         (shell(ECHO + "; exit 3"), 3, b"out\n", b"err\n"))
        self.assertEqual((result.outcome, result.text, result.failure, result.truncated),
                         ("ran", "exit 3", None, False))
        self.assertEqual((result.stdout_total, result.stderr_total), (4, 4))
        self.assertGreater(result.pid, 0)
        self.assertEqual([begin, *sorted([result.submitted, result.started, result.executed, result.ended])],
                         [begin, result.submitted, result.started, result.executed, result.ended])
        self.assertLessEqual(begin, result.submitted)
        self.assertGreater(result.usage.ru_maxrss, 0)
        with self.assertRaises(subprocess.CalledProcessError):
            result.check_returncode()
        self.assertEqual(self.result(shell("kill -9 $$")).returncode, -signal.SIGKILL)

    def test_output_goes_where_it_is_sent(self):
        for options, expected in (({"stderr": subprocess.STDOUT}, (b"out\nerr\n", None)),
                                  ({"stderr": subprocess.DEVNULL}, (b"out\n", None)),
                                  ({"stdout": subprocess.DEVNULL}, (None, b"err\n"))):
            result = self.result(shell(ECHO), **options)
            self.assertEqual((result.stdout, result.stderr), expected)

    def test_long_output_is_cut(self):
        result = self.result(["seq", "1", "1000"], output_size=10)
        self.assertEqual((result.stdout, result.stdout_total, result.truncated), (b"1\n2\n3\n4\n5\n", 3893, True))
        self.assertEqual(self.result(["seq", "1", "1000"], output_size=10, tail=True).stdout, b"\n999\n1000\n")

    def test_options(self):
        result = self.result("pwd; echo $A-$B; ulimit -t; umask; cat", shell=True, cwd="/usr", env={"A": "1"},
                             limits={resource.RLIMIT_CPU: 17}, actions=[actions.setenv("B", "2"), actions.umask(0o27)],
                             input=b"input")
        self.assertEqual(result.stdout.split(), [b"/usr", b"1-2", b"17", b"0027", b"input"])
        self.assertEqual(self.result(["a", "-c", "echo $0"], executable="/bin/sh").stdout, b"a\n")
        os.environ["ASPAWN_TEST"] = "inherited"
        try:
            self.assertEqual(self.result(shell("echo $ASPAWN_TEST")).stdout, b"inherited\n")
        finally:
            del os.environ["ASPAWN_TEST"]

    def test_signals_that_python_ignores_are_default(self):
        self.assertEqual(self.result(shell("kill -PIPE $$")).returncode, -signal.SIGPIPE)

    def test_failures_are_named(self):
        with aspawn.Queue() as queue:
            error = queue.submit(["no-such-program"]).exception()
            self.assertIsInstance(error, FileNotFoundError)
            self.assertEqual((error.filename, error.failure.text, error.failure.step),
                             ("no-such-program", 'search "no-such-program": ENOENT', None))
            self.assertEqual((error.result.outcome, error.result.returncode, error.result.failure),
                             ("not started", None, error.failure))
            error = queue.submit(["true"], limits={0: 1}, actions=[
                actions.umask(0), actions.chdir("/no/such")]).exception()
            self.assertEqual((error.filename, error.failure.step, error.failure.text, error.result.text),
                             ("/no/such", 1, 'action 1, chdir "/no/such": ENOENT',
                              'not started: action 1, chdir "/no/such": ENOENT'))
            error = queue.submit(["true"], cwd="/no/such").exception()
            self.assertEqual((error.filename, error.failure.step, error.failure.text),
                             ("/no/such", None, 'chdir "/no/such": ENOENT'))
            error = queue.submit(shell("echo a; exit 3"), check=True).exception()
            self.assertIsInstance(error, subprocess.CalledProcessError)
            self.assertEqual((error.returncode, error.stdout, error.result.pid > 0), (3, b"a\n", True))

    def test_what_a_job_cannot_have_is_refused(self):
        with aspawn.Queue(job_bytes=50000) as queue:
            for options, error in (({"actions": [actions.dup2(9999, 0)]}, OSError), ({"stdout": 1}, ValueError),
                                   ({"stdout": subprocess.STDOUT}, ValueError), ({"input": b"a" * 50000}, OSError),
                                   ({"output_size": 50000}, OSError), ({"no": 1}, TypeError),
                                   ({"actions": ["chdir"]}, TypeError), ({"input": "text"}, TypeError),
                                   ({"input": 5}, TypeError), ({"limits": {0: 2 ** 64}}, OverflowError)):
                with self.subTest(options), self.assertRaises(error):
                    queue.submit(["true"], **options)
            for options, text in (({"priority": 8}, 'argument "priority": EINVAL'),
                                  ({"input": b"a" * 50000}, 'argument "Queue(job_bytes=)": E2BIG'),
                                  ({"actions": [actions.umask(0), actions.close(-1)]}, "action 1, close: EINVAL")):
                with self.subTest(options), self.assertRaises(OSError) as caught:
                    queue.submit(["true"], **options)
                self.assertEqual(caught.exception.failure.text, text)
                self.assertEqual(text in str(caught.exception), text.startswith("argument"))
            for args in ([], None, ["a\0b"]):
                with self.subTest(args), self.assertRaises((IndexError, TypeError, ValueError)):
                    queue.submit(args)
            self.assertEqual(queue.submit(["true"], env={}).result().returncode, 0)
            self.assertEqual(queue.submit(["true"], key=1).result().returncode, 0)  # no limit
            for option in "output_size", "key", "key_limit", "grace":
                with self.assertRaisesRegex(ValueError, f"^{option} is negative: -1$"):
                    queue.submit(["true"], **{option: -1})
            with self.assertRaises(TypeError):
                queue.submit(None, prepared=3)

    def test_what_a_queue_cannot_be_is_named(self):
        for option, numbers in (("running", (0, -1, 1 << 20)), ("jobs", (0, -1, 1 << 20)),
                                ("job_bytes", (0, -1, 1 << 25)), ("delay", (-1, 1e9, float("nan")))):
            for number in numbers:
                with self.assertRaisesRegex(ValueError, f"^{option} is not from"):
                    aspawn.Queue(**{option: number})

    def test_input_is_what_bytes_there_are(self):
        for data, expected in ((bytearray(b"ab"), b"ab"), (memoryview(b"abc")[1:], b"bc"),
                               (array.array("H", [1, 2]), array.array("H", [1, 2]).tobytes())):
            self.assertEqual(self.result(["cat"], input=data).stdout, expected)

    def test_an_infinite_time_is_no_limit(self):
        for seconds in float("inf"), 1e30, 1e7:
            self.assertEqual(self.result(["true"], timeout=seconds, grace=seconds).returncode, 0)
        for option in "timeout", "grace":
            with self.assertRaisesRegex(ValueError, f"^{option} is not a number of seconds: nan$"):
                self.result(["true"], **{option: float("nan")})
        with self.assertRaises(subprocess.TimeoutExpired):
            self.result(["sleep", "100"], timeout=-1)

    def test_a_time_limit_ends_the_group(self):
        with aspawn.Queue() as queue:
            error = queue.submit(shell("echo a; sleep 100 & wait"), timeout=2).exception()
            self.assertIsInstance(error, subprocess.TimeoutExpired)
            self.assertEqual((error.timeout, error.stdout, error.result.outcome, error.result.text),
                             (2, b"a\n", "timed out", "timed out, killed by SIGTERM"))
            # How long its end takes, and the time that it has for that.
            for seconds, grace, returncode in ((0, None, 5), (0, 0, -signal.SIGKILL),
                                               (1, 0.05, -signal.SIGKILL), (1, 100, 5)):
                error = queue.submit(shell(f"trap 'sleep {seconds}; exit 5' TERM; sleep 100 & wait"), timeout=2,
                                     grace=grace).exception()
                self.assertEqual(error.result.returncode, returncode)

    def test_a_time_limit_sends_the_stop_signal(self):
        with aspawn.Queue() as queue:
            job = shell("trap 'exit 6' USR1; sleep 100 & wait")
            prepared = queue.prepare(job, stop_signal=signal.SIGUSR1)
            for args, options in (job, {"stop_signal": signal.SIGUSR1}), (None, {"prepared": prepared}):
                error = queue.submit(args, timeout=2, grace=100, **options).exception()
                self.assertEqual(error.result.returncode, 6)

    def test_a_result_says_what_was_given_up(self):
        with aspawn.Queue() as queue:
            result = queue.submit(shell("sleep 100 2>&- & echo a"), grace=0.05).result()
            os.killpg(result.pid, signal.SIGKILL)
            self.assertEqual((result.stdout, result.stdout_cut, result.stderr_cut), (b"a\n", True, False))
            result = queue.submit(["echo", "a"]).result()
            self.assertEqual((result.stdout_cut, result.stderr_cut, result.survivors, result.memory_peak),
                             (False, False, 0, None))

    def test_a_tree_ends_with_its_program(self):
        escape = shell("setsid sleep 100 >/dev/null 2>&1 & echo $!")
        for local in (False, True):
            with aspawn.Queue(local=local) as queue:
                prepared = queue.prepare(escape, owner="tree")
                for future in queue.submit(escape, owner="tree"), queue.submit(None, prepared=prepared):
                    self.assertFalse(is_running(int(future.result().stdout)))
                for refused in queue.submit, queue.prepare:
                    for owner in "private", "Tree", "":
                        with self.assertRaisesRegex(ValueError, f"no such owner: '{owner}', only tree"):
                            refused(["true"], owner=owner)

    def test_a_key_limits_its_jobs(self):
        with aspawn.Queue(4) as queue:
            results = list(queue.map([["sleep", "0.02"]] * 5, key=7, key_limit=1))
        results.sort(key=lambda result: result.started)
        for one, other in zip(results, results[1:]):
            self.assertLessEqual(one.ended, other.started)

    def test_a_higher_priority_starts_first(self):
        read, write = os.pipe()
        with aspawn.Queue(1) as queue:
            first = queue.submit(shell(f"echo >/proc/{os.getpid()}/fd/{write}; sleep 100"))
            os.read(read, 1)
            jobs = [queue.submit(["true"], priority=priority) for priority in (0, 2, 1, 7)]
            first.cancel()
            self.assertEqual(sorted(range(4), key=lambda job: jobs[job].result().started), [3, 1, 2, 0])
            for priority in (-1, 8):
                with self.assertRaises(OSError):
                    queue.submit(["true"], priority=priority)
        os.close(read)
        os.close(write)

    def test_a_prepared_command_has_other_arguments(self):
        with aspawn.Queue(jobs=4) as queue, aspawn.Queue() as other:
            prepared = queue.prepare(["sh", "-c", "pwd; echo $A; echo $0", "own"], cwd="/usr", env={"A": "1"},
                                     actions=[actions.setenv("A", "2")])
            self.assertEqual(prepared.args, ["sh", "-c", "pwd; echo $A; echo $0", "own"])
            result = queue.submit(None, prepared=prepared).result()
            self.assertEqual((result.args, result.stdout), (prepared.args, b"/usr\n2\nown\n"))
            commands = [["sh", "-c", f"echo $A {number}"] for number in range(20)]
            results = list(queue.map(commands, prepared=prepared))
            self.assertEqual([result.stdout for result in results], [b"2 %d\n" % number for number in range(20)])
            self.assertEqual(results[7].args, commands[7])
            missing = queue.prepare(["no-such-program"])
            error = queue.submit(["other"], prepared=missing).exception()
            self.assertEqual((type(error), error.filename), (FileNotFoundError, "no-such-program"))
            wrong = queue.prepare(["true"], actions=[actions.umask(0), actions.chdir("/no/such")])
            error = queue.submit(None, prepared=wrong).exception()
            self.assertEqual((error.filename, error.failure.step), ("/no/such", 1))
            with self.assertRaises(ValueError):
                other.submit(None, prepared=prepared)
            for option in ({"env": {}}, {"cwd": "/"}, {"actions": []}, {"stderr": subprocess.STDOUT}):
                with self.subTest(option), self.assertRaises(TypeError):
                    queue.submit(["true"], prepared=prepared, **option)
            joined = other.prepare(shell("echo out; echo err >&2"), stderr=subprocess.STDOUT)
            self.assertEqual(other.submit(None, prepared=joined).result().stdout, b"out\nerr\n")
            queue.prepare(["true"])
            with self.assertRaises(BlockingIOError):
                queue.prepare(["true"])
            with self.assertRaises(BlockingIOError):
                queue.submit(["true"])

    def test_the_environment_of_a_prepared_command_is_that_of_its_preparation(self):
        with aspawn.Queue() as queue, mock.patch.dict(os.environ, ASPAWN_TEST="before"):
            prepared = queue.prepare(shell("echo $ASPAWN_TEST"))
            os.environ["ASPAWN_TEST"] = "after"
            self.assertEqual(queue.submit(None, prepared=prepared).result().stdout, b"before\n")

    def test_a_job_has_the_files_that_its_actions_use(self):
        with aspawn.Queue() as queue, tempfile.TemporaryFile() as file:
            job = queue.submit(["echo", "text"], stdout=subprocess.DEVNULL, actions=[actions.dup2(file, 1)])
            self.assertEqual(job.result().returncode, 0)
            file.seek(0)
            self.assertEqual(file.read(), b"text\n")
            closed = os.dup(file.fileno())
            os.close(closed)
            with self.assertRaises(OSError) as caught:
                queue.submit(["true"], actions=[actions.dup2(closed, 1)])
            self.assertEqual(caught.exception.errno, errno.EBADF)

    def test_a_lost_server_is_replaced(self):
        with aspawn.Queue(1) as queue:
            jobs = [queue.submit(["sleep", "100"]), queue.submit(["true"])]
            os.kill(server(), signal.SIGKILL)
            for job in jobs:
                error = job.exception()
                self.assertIsInstance(error, concurrent.futures.BrokenExecutor)
                self.assertEqual(error.result.outcome, "lost")
            self.assertEqual(queue.submit(["true"]).result().returncode, 0)

    def test_a_server_that_a_job_stops_is_continued(self):
        with aspawn.Queue() as queue:
            self.assertEqual(queue.submit(shell("kill -STOP $PPID")).result(60).returncode, 0)

    def test_an_end_by_the_oom_killer_is_an_error(self):
        """Of a result as the library has it: the OOM killer cannot be asked for one."""
        taken = dict.fromkeys(["pid", "out_total", "err_total", "submitted_ns", "started_ns", "executed_ns", "ended_ns",
                               "memory_peak", "cut", "survivors"], 0)
        taken.update(outcome=Outcome.OUT_OF_MEMORY, status=signal.SIGKILL, out=b"", err=b"", usage=b"",
                     text=b"out of memory, killed by SIGKILL")
        result, error = Job(["true"], None, {}, None, False).outcome(taken)
        self.assertIsNone(result)
        self.assertEqual((error.errno, error.result.outcome), (errno.ENOMEM, "out of memory"))

    def test_the_process_sees_no_child(self):
        seen = []
        before = signal.signal(signal.SIGCHLD, lambda *_: seen.append(1))
        try:
            with aspawn.Queue() as queue:
                queue.submit(["true"]).result()
                with self.assertRaises(ChildProcessError):
                    os.waitpid(-1, 0)
            self.assertEqual(seen, [])
        finally:
            signal.signal(signal.SIGCHLD, before)


class Local(Test):
    def test_the_commands_are_children(self):
        with aspawn.Queue(2, local=True) as queue, tempfile.TemporaryFile() as file:
            with self.assertRaises(AssertionError):
                server()
            jobs = [queue.submit(shell("echo $PPID; cat"), input=b"%d" % number) for number in range(20)]
            for number, job in enumerate(jobs):
                self.assertEqual(job.result().stdout, b"%d\n%d" % (os.getpid(), number))
            queue.submit(["echo", "text"], stdout=subprocess.DEVNULL, actions=[actions.dup2(file, 1)]).result()
            file.seek(0)
            self.assertEqual(file.read(), b"text\n")

    def test_submits_while_a_command_runs(self):
        with aspawn.Queue(2, jobs=4, local=True) as queue:
            first = queue.submit(["sleep", "100"])
            self.assertEqual([result.returncode for result in queue.map([["true"]] * 10)], [0] * 10)
            self.assertTrue(first.cancel())

    def test_an_exception_cancels(self):
        with self.assertRaises(ZeroDivisionError):
            with aspawn.Queue(1, jobs=2, local=True) as queue:
                for _ in range(4):
                    queue.submit(["sleep", "100"])
                1 / 0


class Futures(Test):
    def test_more_jobs_than_places(self):
        with aspawn.Queue(4, jobs=8) as queue:
            futures = [queue.submit(["echo", str(number)]) for number in range(300)]
            self.assertTrue(queue._later)
            self.assertEqual([int(future.result().stdout) for future in futures], list(range(300)))

    def test_an_empty_queue_that_is_full_is_an_error(self):
        with aspawn.Queue() as queue:
            with mock.patch.object(queue, "_native", mock.Mock(submit=mock.Mock(side_effect=BlockingIOError))):
                with self.assertRaises(BlockingIOError):  # no process for the server
                    queue.submit(["true"])

    def test_is_an_executor(self):
        with aspawn.Queue() as queue:
            self.assertIsInstance(queue, concurrent.futures.Executor)
            futures = {queue.submit(["echo", str(number)]) for number in range(20)}
            self.assertEqual({int(future.result().stdout) for future in concurrent.futures.as_completed(futures)},
                             set(range(20)))
            self.assertEqual([result.stdout for result in queue.map([["echo", "1"], ["echo", "2"]])], [b"1\n", b"2\n"])
            called = threading.Event()
            queue.submit(["true"]).add_done_callback(lambda _: called.set())
            self.assertTrue(called.wait(10))

            async def main():
                return await asyncio.get_running_loop().run_in_executor(queue, ["echo", "a"])
            self.assertEqual(asyncio.run(main()).stdout, b"a\n")

    def test_submits_from_several_threads(self):
        results = []
        with aspawn.Queue(8, jobs=16) as queue:
            def submit(number):
                futures = [queue.submit(["echo", f"{number}-{i}"]) for i in range(50)]
                results.extend(future.result().stdout.decode() for future in futures)
            threads = [threading.Thread(target=submit, args=(number,)) for number in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(sorted(results), sorted(f"{number}-{i}\n" for number in range(4) for i in range(50)))

    def test_a_callback_may_submit_and_cancel(self):
        with aspawn.Queue(1) as queue:
            other = queue.submit(["sleep", "100"])
            first = queue.submit(["true"], key=1, key_limit=1)
            done = concurrent.futures.Future()

            def callback(_):
                other.cancel()
                done.set_result(queue.submit(["echo", "next"]))
            first.cancel()
            first.add_done_callback(callback)
            self.assertEqual(done.result(10).result().stdout, b"next\n")

    def test_a_later_job_may_be_cancelled_while_it_gets_its_place(self):
        with aspawn.Queue(1, jobs=1) as queue:
            queue.submit(["sleep", "0.05"])
            later = queue.submit(["sleep", "100"])
            submit = queue._submit

            def submit_and_cancel(job):
                if not submit(job):
                    return False
                threading.Thread(target=later.cancel).start()
                while not later.cancelled():
                    time.sleep(0.001)
                return True
            with mock.patch.object(queue, "_submit", submit_and_cancel):
                self.assertEqual(concurrent.futures.wait([later], 60).not_done, set())
            self.assertEqual(queue.submit(["true"]).result(60).returncode, 0)

    def test_a_callback_that_exits_ends_no_other_job(self):
        with self.assertLogs("concurrent.futures", "ERROR") as logs, aspawn.Queue(1) as queue:
            read, write = os.pipe()  # all futures get their callbacks before the first job ends
            futures = [queue.submit(["sh", "-c", f"read line </proc/{os.getpid()}/fd/{read}"]) for _ in range(5)]
            for future, error in zip(futures, (SystemExit, KeyboardInterrupt, GeneratorExit, ValueError)):
                future.add_done_callback(mock.Mock(side_effect=error))
            os.write(write, b"\n" * 5)
            self.assertEqual([future.result(60).returncode for future in futures], [0] * 5)
            self.assertEqual(queue.submit(["echo", "a"]).result(60).stdout, b"a\n")
            os.close(read)
            os.close(write)
        self.assertEqual(len(logs.records), 4)

    def test_cancels_jobs_that_run_wait_and_come_later(self):
        with aspawn.Queue(1, jobs=2) as queue:
            read, write = os.pipe()
            path = f"/proc/{os.getpid()}/fd/{write}"
            runs = queue.submit(shell(f"echo $$ >{path}; exec sleep 100"))
            futures = [runs] + [queue.submit(["sleep", "100"]) for _ in range(3)]
            pid = int(os.read(read, 100))
            self.assertEqual([future.cancel() for future in futures], [True] * 4)
            self.assertEqual([future.cancelled() for future in futures], [True] * 4)
            self.assertTrue(runs.cancel())
            with self.assertRaises(concurrent.futures.CancelledError):
                runs.result()
            # wait() is for the job's end.
            self.assertEqual(concurrent.futures.wait(futures, 10).not_done, set())
            self.assertFalse(is_running(pid))
            ended = queue.submit(["true"])
            self.assertEqual(ended.result().returncode, 0)
            self.assertFalse(ended.cancel())
        os.close(read)
        os.close(write)

    def test_waiting_is_interrupted(self):
        before = signal.signal(signal.SIGALRM, signal.default_int_handler)
        try:
            with self.assertRaises(KeyboardInterrupt), aspawn.Queue() as queue:
                future = queue.submit(["sleep", "100"])
                signal.setitimer(signal.ITIMER_REAL, 0.05)
                future.result()  # and the with statement cancels it
        finally:
            signal.signal(signal.SIGALRM, before)

    def test_a_thread_that_cannot_start_leaves_a_queue_that_works(self):
        queue = aspawn.Queue(1)
        with mock.patch("threading.Thread.start", side_effect=RuntimeError), self.assertRaises(RuntimeError):
            queue.submit(["sleep", "100"])
        self.assertEqual(queue.submit(["echo", "a"]).result(60).stdout, b"a\n")
        queue.shutdown()

    def test_the_start_of_the_thread_is_interrupted(self):
        start, threads = threading.Thread.start, []

        def interrupted(thread):
            threads.append(thread)
            if not late:
                start(thread)
            raise KeyboardInterrupt

        for late in False, True:
            for submits_again in False, True:
                with self.subTest(late=late, submits_again=submits_again):
                    queue = aspawn.Queue(1)
                    with mock.patch("threading.Thread.start", interrupted), self.assertRaises(KeyboardInterrupt):
                        queue.submit(["sleep", "100"])
                    if submits_again:
                        self.assertEqual(queue.submit(["echo", "a"]).result(60).stdout, b"a\n")
                    queue.shutdown()
                    with mock.patch("threading.excepthook") as failed:
                        if late:
                            threads[-1].start()
                        threads[-1].join()
                    failed.assert_not_called()

    def test_shutdown_waits(self):
        queue = aspawn.Queue(1)
        futures = [queue.submit(["echo", "a"]) for _ in range(5)]
        queue.shutdown()
        self.assertEqual([future.done() for future in futures], [True] * 5)
        with self.assertRaises(RuntimeError):
            queue.submit(["true"])
        queue.shutdown()

    def test_shutdown_does_not_wait(self):
        queue = aspawn.Queue(1)
        futures = [queue.submit(["echo", "a"]) for _ in range(5)]
        queue.shutdown(wait=False)
        self.assertEqual([future.result().stdout for future in futures], [b"a\n"] * 5)
        self.assert_closed()
        queue.shutdown()

    def test_shutdown_cancels(self):
        queue = aspawn.Queue(1, jobs=4)
        futures = [queue.submit(["sleep", "100"]) for _ in range(8)]
        queue.shutdown(cancel_futures=True)
        self.assertEqual([future.cancelled() for future in futures], [True] * 8)

    def test_a_queue_that_is_dropped_is_closed(self):
        gc.disable()
        self.addCleanup(gc.enable)
        future, failed = aspawn.Queue().submit(["echo", "a"]), aspawn.Queue().submit(["no-such-program"])
        self.assertEqual(future.result().stdout, b"a\n")
        self.assertIsNotNone(failed.exception())
        aspawn.Queue()
        self.assert_closed()

    def test_a_forked_copy_refuses_jobs(self):
        with aspawn.Queue(1) as queue:
            running = queue.submit(["sleep", "0.1"])
            later = queue.submit(["sleep", "100"])
            queue._lock.acquire()  # as another thread may
            pid = os.fork()
            if pid != 0:
                queue._lock.release()
            else:
                try:
                    later.cancel()  # not that of the parent
                    queue.submit(["true"])
                except OSError as error:
                    queue.shutdown()
                    with aspawn.Queue() as own:
                        os._exit(error.errno == errno.ESTALE and own.submit(["true"]).result().returncode)
                finally:
                    os._exit(2)
            self.assertEqual(os.waitpid(pid, 0)[1], 0)
            self.assertEqual(running.result().returncode, 0)
            self.assertFalse(later.done())
            later.cancel()

    def test_the_interpreter_waits_for_jobs_at_its_end(self):
        with subprocess.Popen(
                [sys.executable, "-c", "import aspawn; aspawn.Queue().submit(['sh', '-c', 'sleep 0.1; echo a >&2'])"
                                       ".add_done_callback(lambda future: print(future.result().stderr))"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            self.assertEqual(process.communicate(), (b"b'a\\n'\n", b""))
            self.assertEqual(process.returncode, 0)


class Asyncio(Test):
    def run_(self, body, *arguments, **options):
        async def main():
            async with aio.Queue(*arguments, **options) as queue:
                return await body(queue)
        return asyncio.run(main())

    def test_many_jobs_and_no_thread(self):
        async def body(queue):
            futures = [queue.submit(["echo", str(number)]) for number in range(300)]
            self.assertTrue(queue._later)
            results = await asyncio.gather(*futures)
            self.assertEqual(threading.active_count(), 1)
            return [int(result.stdout) for result in results]
        self.assertEqual(self.run_(body, 4, jobs=8), list(range(300)))

    def test_the_loop_goes_on(self):
        async def body(queue):
            read, write = os.pipe()
            future = queue.submit(["cat", f"/proc/{os.getpid()}/fd/{read}"])
            await asyncio.sleep(0.01)
            os.write(write, b"text")
            os.close(write)
            result = await future
            os.close(read)
            return result.stdout
        self.assertEqual(self.run_(body), b"text")

    def test_failures_are_raised(self):
        async def body(queue):
            with self.assertRaises(FileNotFoundError) as caught:
                await queue.submit(["no-such-program"])
            self.assertEqual(caught.exception.failure.text, 'search "no-such-program": ENOENT')
            with self.assertRaises(subprocess.TimeoutExpired):
                await queue.submit(["sleep", "100"], timeout=0.05)
            with self.assertRaises(subprocess.CalledProcessError):
                await queue.submit(["false"], check=True)
            with self.assertRaises(TypeError):
                queue.submit(["true"], no=1)
        self.run_(body)

    def test_to_cancel_the_future_ends_the_job(self):
        async def body(queue):
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(queue.submit(["sleep", "100"]), 0.05)
            queue.submit(["sleep", "100"]).cancel()
            await queue.join()
            queue.submit(["sleep", "100"])
            raise ZeroDivisionError  # and the async with statement kills it
        with self.assertRaises(ZeroDivisionError):
            self.run_(body, 1, jobs=2)

    def test_prepared_with_a_file(self):
        async def body(queue):
            with tempfile.TemporaryFile() as file:
                prepared = queue.prepare(["echo", "own"], actions=[actions.dup2(file, 2)])
                results = await asyncio.gather(queue.submit(None, prepared=prepared, priority=1),
                                               queue.submit(["echo", "other"], prepared=prepared))
                return [result.stdout for result in results]
        self.assertEqual(self.run_(body), [b"own\n", b"other\n"])

    def test_the_end_of_the_statement_waits(self):
        async def body(queue):
            return queue.submit(["echo", "a"])
        for _ in range(2):
            self.assertEqual(self.run_(body).result().stdout, b"a\n")

    def test_one_after_the_other_in_one_loop(self):
        async def main():
            for _ in range(3):
                queue = aio.Queue()
                queue.submit(["sleep", "100"])
                queue.close()
                async with aio.Queue() as queue:
                    await queue.submit(["true"])
        asyncio.run(main())

    def test_close_kills(self):
        async def main():
            read, write = os.pipe()
            queue = aio.Queue(1, jobs=2)
            path = f"/proc/{os.getpid()}/fd/{write}"
            futures = [queue.submit(shell(f"trap '' TERM; echo $$ >{path}; sleep 100; sleep 100")) for _ in range(4)]
            await asyncio.sleep(0)
            pid = int(os.read(read, 100))
            queue.close()
            self.assertFalse(is_running(pid))
            self.assertEqual([future.cancelled() for future in futures], [True] * 4)
            with self.assertRaises(RuntimeError):
                queue.submit(["true"])
            queue.close()
            await queue.join()
            os.close(read)
            os.close(write)
        asyncio.run(main())

    def test_a_lost_server_is_replaced(self):
        async def body(queue):
            future = queue.submit(["sleep", "100"])
            os.kill(server(), signal.SIGKILL)
            with self.assertRaises(concurrent.futures.BrokenExecutor):
                await future
            return (await queue.submit(["echo", "a"])).stdout
        self.assertEqual(self.run_(body), b"a\n")

    def test_a_server_that_a_job_stops_is_continued(self):
        async def body(queue):
            return (await asyncio.wait_for(queue.submit(shell("kill -STOP $PPID")), 60)).returncode
        self.assertEqual(self.run_(body), 0)

    def test_in_the_loop_of_another_thread(self):
        results = []

        async def body(queue):
            results.append((await queue.submit(["echo", "a"])).stdout)
        thread = threading.Thread(target=self.run_, args=(body,))
        thread.start()
        thread.join()
        self.assertEqual(results, [b"a\n"])

    def test_a_loop_that_ended_leaves_nothing(self):
        async def main():
            aio.Queue().submit(["sleep", "100"])
        asyncio.run(main())

    def test_needs_a_running_loop(self):
        with self.assertRaises(RuntimeError):
            aio.Queue()


if __name__ == "__main__":
    unittest.main()
