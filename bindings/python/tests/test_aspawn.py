# SPDX-License-Identifier: MIT
"""What aspawn has and subprocess has not; what both have is tested by the standard library's own
tests: stdlib.py."""
import array
import asyncio
import contextlib
import errno
import gc
import inspect
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
from unittest import mock

import aspawn
from aspawn import actions, aio, constants

AS_ROOT = unittest.skipUnless(os.getuid() == 0, "needs root")


def control_groups():
    """A writable directory of control groups, version 2, or None."""
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        directory = line.split()[4]
        if " - cgroup2 " in line and os.access(directory, os.W_OK):
            return directory


CGROUP = control_groups()


def output(command, **keywords):
    return aspawn.check_output(["sh", "-c", command], text=True, **keywords).split()


def descriptors():
    return sorted(os.listdir("/proc/self/fd"))


class Test(unittest.TestCase):
    def setUp(self):
        self.before = descriptors()

    def tearDown(self):
        self.assertEqual(descriptors(), self.before)
        with self.assertRaises(ChildProcessError):
            os.waitpid(-1, 0)


class Terminals(Test):
    ON_TERMINAL = {"stdin": aspawn.PTY, "stdout": aspawn.PTY, "stderr": aspawn.PTY}

    def test_a_program_on_a_terminal_leads_its_session(self):
        for more in {}, {"owner": "private"}, {"start_new_session": True}, {"memory": "copied"}:
            with self.subTest(more):
                script = "stty size; echo error >&2; test -t 0 && cut -d' ' -f4-8 /proc/self/stat"
                done = aspawn.run(["sh", "-c", script], **self.ON_TERMINAL, **more, text=True)
                size, error, numbers = done.stdout.splitlines()
                parent, group, session, terminal, foreground = numbers.split()
                self.assertEqual((done.returncode, size, error), (0, "24 80", "error"))
                self.assertEqual((group, session), (foreground, group))
                self.assertNotEqual(terminal, "0")

    def test_communicate_types_and_collects(self):
        for text in b"", b"one", b"one\ntwo\n":
            with aspawn.Popen(["cat"], stdin=aspawn.PTY, stdout=aspawn.PTY) as process:
                self.assertIsNone(process.stdin or process.stdout)
                copy, nothing = process.communicate(text)
            # Both may mix, the copy and the echo.
            self.assertEqual(sorted(copy.replace(b"\r\n", b"")), sorted(2 * text.replace(b"\n", b"")))
            self.assertIsNone(nothing)
        big = b"x" * 100 + b"\n"
        with aspawn.Popen(["sh", "-c", "exec wc -c"], stdin=aspawn.PTY, stdout=aspawn.PTY) as process:
            self.assertTrue(process.communicate(2000 * big)[0].endswith(b"202000\r\n"))

    def test_a_terminal_is_a_file_that_ends_and_is_resized(self):
        script = "stty size; read line; stty size"
        with aspawn.Popen(["sh", "-c", script], pty_size=(7, 9), **self.ON_TERMINAL) as process:
            self.assertEqual(process.terminal.read(5), b"7 9\r\n")
            process.terminal.resize(30, 100)
            process.terminal.write(b"\n")
            self.assertEqual(process.terminal.read(), b"\r\n30 100\r\n")
            self.assertEqual(process.terminal.read(1), b"")
            with self.assertRaises(OSError):
                process.terminal.resize(65536, 1)
            for size in (2 ** 32 + 24, 80), (80, 2 ** 32 + 24), (-1, 80):
                with self.assertRaises((OverflowError, OSError)):
                    process.terminal.resize(*size)
        with self.assertRaises(ValueError):
            process.terminal.resize(1, 1)
        self.assertEqual(process.returncode, 0)

    def test_closing_a_terminal_hangs_the_program_up(self):
        with aspawn.Popen(["sleep", "100"], **self.ON_TERMINAL) as process:
            pass
        self.assertEqual(process.returncode, -signal.SIGHUP)

    def test_a_time_limit_keeps_the_terminal(self):
        with aspawn.Popen(["sh", "-c", "read line; echo $line; exit 3"], **self.ON_TERMINAL) as process:
            with self.assertRaises(aspawn.TimeoutExpired):
                process.wait(0.01)
            self.assertIn(b"text\r\n", process.communicate(b"text\n", 100)[0])
        with self.assertRaises(aspawn.TimeoutExpired), aspawn.Popen(["sleep", "100"], **self.ON_TERMINAL) as process:
            process.communicate(timeout=0.01)
        self.assertEqual(process.returncode, -signal.SIGHUP)

    def test_what_there_is_none_of(self):
        with self.assertRaisesRegex(ValueError, "PTY"):
            aspawn.Popen(["true"], stdout=aspawn.PTY, preexec_fn=lambda: None)
        with aspawn.Popen(["true"], stdout=aspawn.PTY, stderr=aspawn.PIPE) as process:
            with self.assertRaises(ValueError):
                process.communicate()
        with self.assertRaises(ValueError):
            asyncio.run(aio.create_subprocess_exec("true", stdout=aspawn.PTY))
        with self.assertRaises(FileNotFoundError):
            aspawn.Popen(["/no/such/program"], **self.ON_TERMINAL)
        with self.assertRaisesRegex(ValueError, "pty_size"):
            aspawn.Popen(["true"], pty_size=(24, 80))


class Actions(Test):
    def test_are_performed_in_their_order(self):
        with tempfile.NamedTemporaryFile() as file:
            words = output('pwd; echo "$A ${HOME-none}"; umask; ulimit -t; echo error >&2', actions=[
                actions.chdir("/usr"), actions.chdir("lib"), actions.setenv("A", "b"),
                actions.unsetenv("HOME"), actions.umask(0o27), actions.rlimit(resource.RLIMIT_CPU, 17, 18),
                actions.open(2, file.name, os.O_WRONLY)])
            self.assertEqual(words, ["/usr/lib", "b", "none", "0027", "17"])
            self.assertEqual(file.read(), b"error\n")

    def test_follow_what_popen_does_itself(self):
        self.assertEqual(output("pwd", cwd="/", actions=[actions.chdir("usr")]), ["/usr"])

    def test_each_function_makes_what_the_library_knows(self):
        # An action that the library does not know, or with other arguments, is an error of the
        # start before the child; -1 as the last descriptor makes it fail after all are converted.
        samples = {"path": "/", "new_root": "/", "put_old": "/", "from_": 0, "fd": 0, "dirfd": None, "ruleset_fd": 0,
                   "set": [1], "mask": [0], "nodes": [0], "groups": [1], "filter": b"", "data": b"",
                   "name": "a", "value": "b", "text": "", "source": None, "target": "/", "options": None}
        functions = [function for name, function in inspect.getmembers(actions, inspect.isfunction)
                     if function.__module__ == actions.__name__]
        self.assertGreaterEqual(len(functions), 53)
        for function in functions:
            arguments = {name: samples.get(name, 1) for name in inspect.signature(function).parameters}
            if function.__name__ in ("nice", "oom_score_adj", "ioprio", "fcntl"):
                arguments["value"] = 1
            if function.__name__ in ("mount", "umask"):
                arguments.update({"type": "tmpfs"} if "type" in arguments else {"mask": 0})
            made = function(**arguments)
            self.assertEqual(made.name, function.__name__)
            self.assertRegex(function.__doc__, "(?s)^[A-Z].*[.]")
            with self.subTest(repr(made)), self.assertRaises(OSError) as caught:
                aspawn.Popen(["true"], actions=[made, actions.close(-1)])
            self.assertEqual((caught.exception.errno, caught.exception.failure.step,
                              caught.exception.failure.text), (errno.EINVAL, 1, "action 1, close: EINVAL"))

    def test_with_wrong_arguments_are_errors_before_the_start(self):
        for wrong, error in ((lambda: actions.rlimit(0, "a", 1), TypeError),
                             (lambda: actions.chdir(7), TypeError),
                             (lambda: actions.chdir("a\0b"), ValueError),
                             (lambda: actions.dup2(2 ** 40, 1), (OverflowError, ValueError)),
                             (lambda: actions.umask(2 ** 40), OverflowError),
                             # Modulo 2 ** 64 these would be limits of 5 seconds,
                             # and of almost none.
                             (lambda: actions.rlimit(resource.RLIMIT_CPU, 2 ** 64 + 5, 2 ** 64 + 5), OverflowError),
                             (lambda: actions.rlimit(resource.RLIMIT_CPU, -5, -5), OverflowError),
                             (lambda: actions.sigmask([0]), OverflowError),
                             (lambda: actions.groups([-2]), ValueError),
                             (lambda: actions.Action("nothing"), ValueError),
                             (lambda: actions.Action("chdir"), TypeError),
                             (lambda: "chdir", TypeError), (lambda: (), TypeError), (lambda: None, TypeError)):
            with self.assertRaises(error):
                aspawn.Popen(["true"], actions=[wrong()])
        with self.assertRaisesRegex(TypeError, "'str' object"):
            actions.signals_ignore(["SIGHUP"])

    def test_take_what_python_has(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "file")
            aspawn.run(["sh", "-c", "echo text; ulimit -t"], check=True, actions=[
                actions.chdir(pathlib.Path(directory)), actions.openat(1, None, "file", os.O_WRONLY | os.O_CREAT),
                actions.pdeathsig(signal.SIGTERM),
                actions.rlimit(resource.RLIMIT_CPU, resource.RLIM_INFINITY, resource.RLIM_INFINITY)])
            self.assertEqual(path.read_text(), "text\nunlimited\n")
            with path.open("w") as file:
                aspawn.run(["echo", "other"], check=True, actions=[actions.dup2(file, 1)])
            self.assertEqual(path.read_text(), "other\n")
        self.assertEqual(repr(actions.sigmask({signal.SIGHUP, signal.SIGINT})),
                         f"sigmask({(signal.SIGHUP, signal.SIGINT)!r})")
        self.assertEqual(actions.sigmask([1, 2]), actions.sigmask({2, 1}))

    def test_pipes(self):
        both = [actions.output_pipe(3), actions.input_pipe(4)]
        for owner in (None, "private"):
            with aspawn.Popen(["sh", "-c", "tr a-z A-Z <&4 >&3"], actions=both, owner=owner) as process:
                process.pipes[4].write(b"text")
                process.pipes[4].close()
                self.assertEqual(process.pipes[3].read(), b"TEXT")
            self.assertEqual(process.returncode, 0)
        with self.assertRaises(FileNotFoundError):
            aspawn.Popen(["/no/such"], actions=both)

    def test_make_descriptors_that_the_program_has(self):
        for fd in (inherited := os.pipe()):
            os.set_inheritable(fd, True)
        made = [actions.dup2(inherited[0], 17), actions.open(300, "/dev/null"), actions.dev_null(19),
                actions.output_pipe(20), actions.dev_null(21), actions.close(21)]
        try:
            for options in ({}, {"owner": "private"}, {"memory": "copied"}, {"pass_fds": [17, inherited[1]]},
                            {"pass_fds": [300]}, {"user": 65534} if os.getuid() == 0 else {}):
                with self.subTest(options), \
                        aspawn.Popen(["ls", "/proc/self/fd"], stdout=aspawn.PIPE, actions=made, **options) as process:
                    self.assertEqual({*map(int, process.stdout.read().split())} - {3},  # of ls
                                     {0, 1, 2, 17, 300, 19, 20, *options.get("pass_fds", ())})
        finally:
            for fd in inherited:
                os.close(fd)

    def test_signals(self):
        command = [sys.executable, "-c", "import signal as s; print(sorted(s.pthread_sigmask(s.SIG_BLOCK, [])),"
                   " s.getsignal(s.SIGUSR1) == s.SIG_IGN)"]
        blocked = aspawn.check_output(command, text=True, actions=[
            actions.sigmask([signal.SIGUSR2]), actions.signals_ignore([signal.SIGUSR1])])
        self.assertIn("SIGUSR2", blocked)
        self.assertIn("True", blocked)
        self.assertEqual(aspawn.check_output(command, text=True, actions=[actions.reset_signals()]),
                         "[] False\n")

    def test_affinity(self):
        cpu = max(os.sched_getaffinity(0))
        self.assertEqual(aspawn.check_output(
            [sys.executable, "-c", "import os; print(os.sched_getaffinity(0))"], text=True,
            actions=[actions.affinity({cpu})]), f"{{{cpu}}}\n")

    @AS_ROOT
    def test_user(self):
        self.assertEqual(output("id -u; id -g; id -G", actions=[actions.user(65534, 65534, [5])]),
                         ["65534", "65534", "65534", "5"])

    @AS_ROOT
    def test_of_another_user_copy_no_memory(self):
        for options in ({"user": 65534}, {"group": 65534}, {"extra_groups": [5], "user": 65534},
                        {"user": 65534, "owner": "private"},
                        {"user": 65534, "stdout": aspawn.PIPE, "actions": [actions.nice(19)]},
                        {"actions": [actions.user(65534, 65534)]}, {"actions": [actions.oom_score_adj(1000)]}):
            for memory, mode in ((None, constants.CloneMode.IMAGE), ("copied", constants.CloneMode.FORK)):
                with self.subTest(memory=memory, **options), \
                        aspawn.Popen(["true"], memory=memory, **options) as process:
                    self.assertEqual(process._child.describe(constants.Fact.MODE), mode)
                    self.assertEqual(process.wait(), 0)
        with aspawn.Popen(["true"]) as process:
            self.assertNotEqual(process._child.describe(constants.Fact.MODE), constants.CloneMode.IMAGE)

    @AS_ROOT
    def test_run_as_the_user_as_preexec_fn_does(self):
        with self.assertRaises(PermissionError) as caught:
            aspawn.Popen(["true"], user=65534, actions=[actions.nice(19), actions.chroot("/")])
        self.assertEqual(caught.exception.failure.step, 1)

    def filtered(self, number, result, code):
        """Python with a filter, as assembled for BPF, that allows all but one call of x86_64."""
        def instruction(code, jt, jf, k):
            return code.to_bytes(2, sys.byteorder) + bytes((jt, jf)) + k.to_bytes(4, sys.byteorder)
        if os.uname().machine != "x86_64":
            self.skipTest("the number of a system call of x86_64")
        filter_ = (instruction(0x20, 0, 0, 0) + instruction(0x15, 0, 1, number)
                   + instruction(0x06, 0, 0, result) + instruction(0x06, 0, 0, 0x7fff0000))
        return aspawn.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True,
                          actions=[actions.no_new_privs(), actions.seccomp(filter_)])

    def test_seccomp(self):
        done = self.filtered(39, 0x80000000, "import os; os.getpid()")  # killed
        self.assertEqual(done.returncode, -signal.SIGSYS)

    def test_asyncio_raises_the_etimedout_of_an_action(self):
        done = self.filtered(80, 0x50000 + errno.ETIMEDOUT, """if True:  # chdir fails
            import asyncio
            from aspawn import actions, aio
            try:
                asyncio.run(aio.create_subprocess_exec("true", actions=[actions.chdir("/usr")]))
            except TimeoutError as error:
                print(error.failure.text)""")
        self.assertEqual((done.returncode, done.stdout), (0, 'action 0, chdir "/usr": ETIMEDOUT\n'))

    def test_landlock_passes_its_flags_to_the_kernel(self):
        def error(*flags):
            with self.assertRaises(OSError) as caught, open("/dev/null", encoding="ascii") as file:
                aspawn.run(["true"], actions=[actions.no_new_privs(), actions.landlock(file, *flags)])
            return caught.exception.errno
        if error() == errno.EBADFD:  # no ruleset; without Landlock both are ENOSYS or the like
            self.assertEqual(error(1 << 31), errno.EINVAL)

    def test_leave_no_zombie_where_no_image_can_be_made(self):
        done = self.filtered(319, 0x50001, """if True:  # memfd_create fails with EPERM
            import os, aspawn
            try:
                aspawn.Popen(["/no/program"], actions=[aspawn.actions.resuid(-1, -1, -1)])
            except FileNotFoundError:
                pass
            statuses = []
            try:
                while not statuses or statuses[-1] is not None:
                    pid, status = os.waitpid(-1, os.WNOHANG | 0x40000000)  # __WALL
                    statuses.append(status if pid else None)
            except ChildProcessError:
                pass
            print(127 << 8 in statuses)""")
        self.assertEqual(done.stdout, "False\n")

    def test_need_no_python_in_the_child(self):
        # Other threads hold locks all the time: a fork would copy them held.
        stop = threading.Event()

        def allocate():
            while not stop.is_set():
                [object() for _ in range(1000)]
        threads = [threading.Thread(target=allocate) for _ in range(4)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(50):
                self.assertEqual(output("pwd", actions=[actions.chdir("/usr")]), ["/usr"])
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def test_are_no_company_for_preexec_fn(self):
        for extra in ({"actions": [actions.setsid()]}, {"owner": "private"}, {"limits": {0: 1}}):
            with self.assertRaises(ValueError):
                aspawn.Popen(["true"], preexec_fn=os.getpid, **extra)


class Failures(Test):
    def fails(self, *arguments, **keywords):
        with self.assertRaises(OSError) as caught:
            aspawn.Popen(*arguments, **keywords)
        return caught.exception

    def test_name_the_action_and_its_path(self):
        error = self.fails(["true"], cwd="/", actions=[actions.umask(0), actions.chdir("/no/such")])
        self.assertIsInstance(error, FileNotFoundError)
        self.assertEqual(error.filename, "/no/such")
        self.assertEqual(error.failure.step, 1)
        self.assertEqual(error.failure.action, actions.chdir("/no/such"))
        self.assertEqual(error.failure.text, 'action 1, chdir "/no/such": ENOENT')
        if sys.version_info >= (3, 11):
            self.assertEqual(error.__notes__, [error.failure.text])

    def test_count_no_action_that_the_caller_has_not_given(self):
        for keywords, text in (({"cwd": "/no/such"}, 'chdir "/no/such": ENOENT'),
                               ({"limits": {99: 1}}, "rlimit 99: EINVAL"),
                               ({"pass_fds": [999]}, "dup2 999: EBADF")):
            failure = self.fails(["true"], **keywords, actions=[actions.umask(0), actions.chdir("/")]).failure
            self.assertEqual((failure.text, failure.step), (text, None))

    def test_are_those_of_subprocess(self):
        with tempfile.TemporaryDirectory() as directory:
            script = os.path.join(directory, "script")
            for name, text, mode in (("script", "#!/no/such\n", 0o755), ("text", "text\n", 0o755),
                                     ("data", "", 0o644)):
                path = pathlib.Path(directory, name)
                path.write_text(text)
                path.chmod(mode)
            for command, keywords in (
                    (["/no/such"], {}), (["no-such-program"], {}), ([directory], {}), ([script], {}),
                    ([os.path.join(directory, "text")], {}), ([os.path.join(directory, "data")], {}),
                    (["true"], {"cwd": "/no/such"}), (["true"], {"cwd": script}),
                    (["no-such-program"], {"env": {"PATH": "/no:" + directory}}),
                    (["data"], {"env": {"PATH": "/no:" + directory}}),
                    (["data"], {"env": {"PATH": script + ":" + directory}}),
                    ([b"no-such"], {"executable": pathlib.Path("/none")})):
                with self.subTest(command=command, **keywords):
                    with self.assertRaises(OSError) as caught:
                        subprocess.Popen(command, **keywords)
                    theirs, ours = caught.exception, self.fails(command, **keywords)
                    self.assertEqual((type(ours), ours.errno, ours.strerror, os.fspath(ours.filename)),
                                     (type(theirs), theirs.errno, theirs.strerror, os.fspath(theirs.filename)))

    def test_of_descriptors(self):
        for keywords in ({"pass_fds": [999]}, {"stdout": 999}):
            error = self.fails(["true"], **keywords)
            self.assertEqual((error.errno, error.filename), (errno.EBADF, None))

    def test_leave_no_descriptor(self):
        for _ in range(3):
            self.fails(["/no/such"], stdin=aspawn.PIPE, stdout=aspawn.PIPE, stderr=aspawn.PIPE)
            with self.assertRaises(LookupError), \
                    mock.patch("aspawn._popen._aspawn.Child", side_effect=AssertionError):
                aspawn.Popen(["true"], stdout=aspawn.PIPE, encoding="no such encoding")

    def test_name_a_stream_that_is_no_descriptor(self):
        for stream in "stdin", "stdout", "stderr":
            self.assertEqual(self.fails(["true"], **{stream: -7}).failure.text, f"streams {stream}: EBADF")

    def test_are_read_from_any_exception(self):
        self.assertEqual(aspawn.failure_of(self.fails(["/no/such"])).text, 'exec "/no/such": ENOENT')
        self.assertIsNone(aspawn.failure_of(ValueError()))

    def test_name_the_parameter(self):
        error = self.fails(["true"], stdin=aspawn.PTY, pty_size=(70000, 1))
        self.assertEqual(str(error), '[Errno 22] argument "pty_size": EINVAL')

    def test_name_the_member(self):
        error = self.fails(["true"], owner="private", memory="suspended")
        self.assertEqual((error.errno, error.failure.text, error.failure.step),
                         (errno.EINVAL, 'argument "memory": EINVAL', None))
        self.assertIn("memory", str(error))

    def test_of_the_group_and_the_limits(self):
        self.assertEqual(self.fails(["true"], cgroup="/no/such").filename, "/no/such")
        self.assertEqual(self.fails(["true"], limits={resource.RLIMIT_CPU: (2, 1)}).errno, errno.EINVAL)


class Streams(Test):
    def test_standard_descriptors_in_any_order(self):
        for numbers in ((1, 2), (2, 1), (2, 2), (1, 1)):
            with self.subTest(numbers), tempfile.TemporaryDirectory() as directory:
                names = [os.path.join(directory, name) for name in "ab"]
                aspawn.run([sys.executable, "-c", f"""if True:
                    import aspawn, os, sys
                    os.dup2(os.open({names[0]!r}, os.O_CREAT | os.O_WRONLY | os.O_APPEND), 1)
                    os.dup2(os.open({names[1]!r}, os.O_CREAT | os.O_WRONLY | os.O_APPEND), 2)
                    os.set_inheritable(1, False)
                    os.set_inheritable(2, False)
                    aspawn.run(["sh", "-c", "echo 1; echo 2 >&2"], stdout={numbers[0]}, stderr={numbers[1]})
                """], check=True)
                expected = ["".join(f"{i}\n" for i in (1, 2) if numbers[i - 1] == file) for file in (1, 2)]
                self.assertEqual([pathlib.Path(name).read_text() for name in names], expected)

    def test_few_and_many_descriptors_below_pass_fds(self):
        read, write = os.pipe()
        high = os.dup2(write, 300)
        os.set_inheritable(read, True)  # closed nevertheless
        try:
            for fds in ([write], [high], [write, high], [1]):
                found = output("ls /proc/self/fd", pass_fds=fds)
                self.assertEqual({fd for fd in map(int, found) if fd > 3} - set(fds), set())
                self.assertEqual(set(fds) - set(map(int, found)), set())
        finally:
            for fd in (read, write, high):
                os.close(fd)

    def test_standard_streams_are_closed_in_the_caller(self):
        code = "import aspawn, os; os.closerange(0, 3); " \
               "p = aspawn.Popen(['sh', '-c', 'cat; echo 2 >&2'], stdin=-1, stdout=-1, stderr=-1); " \
               "os._exit(p.communicate(b'1') != (b'1', b'2\\n'))"
        self.assertEqual(aspawn.call([sys.executable, "-c", code]), 0)

    def test_no_descriptor_of_the_package_is_a_standard_stream(self):
        # Otherwise a program that reopens its streams by dup2() would replace it.
        code = """if True:
            import asyncio, os, select, sys, aspawn
            from aspawn import aio
            sys.stderr = os.fdopen(os.dup2(2, 50), "w")
            def assert_closed():
                assert not any(os.path.lexists(f"/proc/self/fd/{fd}") for fd in range(3))
            async def main():
                os.closerange(0, 3)
                for owner in "caller", "private":
                    process = await aio.create_subprocess_exec("sleep", "100", owner=owner)
                    assert_closed()
                    process.kill()
                    await process.wait()
            asyncio.run(main())
            with aspawn._popen.opened("/") as directory:
                assert directory > 2
                assert_closed()
            os.closerange(0, 3)
            registered = []
            with aspawn.Popen(["sleep", "100"], owner="private") as process:
                assert_closed()
                process.kill()
            class Poll:
                def register(self, fd, events):
                    registered.append(fd)
                def poll(self, timeout):
                    process.kill()
            select.poll = Poll
            with aspawn.Popen(["sleep", "100"]) as process:
                assert_closed()
                process.wait(60)
            assert [fd > 2 for fd in registered] in ([True], [])  # none without pidfds
            """
        done = aspawn.run([sys.executable, "-c", code], stderr=aspawn.PIPE, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


class Limits(Test):
    def test_what_is_no_limit_is_named(self):
        for limit in 1.5, "5", (1, 2, 3), (), (1, "2"), None:
            with self.assertRaisesRegex(TypeError, rf"^limits\[0\]: {re.escape(repr(limit))} is not a number"):
                aspawn.Popen(["true"], limits={0: limit})
        for limit in 2 ** 64 + 5, (1, 2 ** 64), -5:
            with self.assertRaises(OverflowError):
                aspawn.Popen(["true"], limits={resource.RLIMIT_CPU: limit})

    def test_one_number_or_two(self):
        self.assertEqual(output("ulimit -Sn; ulimit -Hn; ulimit -t", limits={
            resource.RLIMIT_NOFILE: (50, 60), resource.RLIMIT_CPU: 7}), ["50", "60", "7"])

    @AS_ROOT
    def test_are_raised_before_the_user_changes(self):
        hard = resource.getrlimit(resource.RLIMIT_RTPRIO)[1]
        raised = {resource.RLIMIT_RTPRIO: (hard, hard + 1)}
        try:
            aspawn.run(["true"], limits=raised)
        except PermissionError:
            self.skipTest("no CAP_SYS_RESOURCE")
        code = "import resource; print(resource.getrlimit(resource.RLIMIT_RTPRIO)[1])"
        found = aspawn.check_output(["/usr/bin/python3", "-c", code], limits=raised, user=65534)
        self.assertEqual(int(found), hard + 1)

    @unittest.skipUnless(CGROUP, "no writable control group of version 2")
    def test_cgroup(self):
        group = tempfile.mkdtemp(prefix="aspawn-python-", dir=CGROUP)
        try:
            process = aspawn.Popen(["sh", "-c", "sleep 100 & setsid sleep 100"], cgroup=group)
            self.assertIn(str(process.pid), pathlib.Path(group, "cgroup.procs").read_text().split())
            aspawn.kill_cgroup(group)
            self.assertEqual(process.wait(), -signal.SIGKILL)
        finally:
            while "populated 1" in pathlib.Path(group, "cgroup.events").read_text():
                time.sleep(0.01)
            os.rmdir(group)


class Private(Test):
    def test_is_not_found_by_waits(self):
        process = aspawn.Popen(["sh", "-c", "exit 3"], owner="private")
        with self.assertRaises(ChildProcessError):
            os.waitpid(-1, 0)
        self.assertEqual(process.wait(), 3)

    def test_tree_ends_with_its_child(self):
        escapes = ["sh", "-c", "setsid sleep 1000 & echo; exec sleep 1000"]
        for end in (aspawn.Popen.kill, aspawn.Popen.kill_tree, lambda process: process.kill_tree(0)):
            with aspawn.Popen(escapes, stdout=aspawn.PIPE, owner="tree") as process:
                process.stdout.readline()
                end(process)
                process.stdout.read()  # until the last has closed it
            self.assertIn(process.returncode, (-signal.SIGKILL, -signal.SIGTERM))

    def test_tree_ends_by_its_stop_signal(self):
        for number in signal.SIGINT, signal.SIGUSR1:
            with aspawn.Popen(["sh", "-c", f"trap 'exit 7' {number.name[3:]}; echo; while :; do sleep 1; done"],
                              stdout=aspawn.PIPE, owner="tree", stop_signal=number) as process:
                process.stdout.readline()
                process.kill_tree(1000)
                self.assertEqual(process.wait(), 7)
        with self.assertRaises(OSError) as caught:
            aspawn.Popen(["true"], stop_signal=signal.SIGKILL)
        self.assertEqual(caught.exception.failure.text, 'argument "stop_signal": EINVAL')
        with self.assertRaisesRegex(ValueError, "^preexec_fn cannot be used with stop_signal$"):
            aspawn.Popen(["true"], stop_signal=signal.SIGINT, preexec_fn=int)

    def test_tree_needs_a_tree_and_no_negative_grace(self):
        for owner in (None, "private"):
            with aspawn.Popen(["true"], owner=owner) as process, self.assertRaisesRegex(ValueError, "tree"):
                process.kill_tree()
        with aspawn.Popen(["true"], owner="tree") as process, self.assertRaisesRegex(ValueError, "^grace is negative"):
            process.kill_tree(-1)
        with aspawn.Popen(["sleep", "100"], owner="tree") as process:
            with self.assertRaisesRegex(ValueError, "^grace is not a number of seconds: nan"):
                process.kill_tree(float("nan"))
            process.kill_tree(float("inf"))

    def test_a_tree_that_has_not_ended_is_an_error_once(self):
        lost = {"args": ["sh", "-c", "kill -9 $PPID; read none"], "stdin": aspawn.PIPE, "owner": "tree"}
        process = aspawn.Popen(**lost)
        with process, self.assertRaises(OSError) as raised:
            process.wait()
        self.assertEqual((raised.exception.errno, process.poll(), process.wait()), (errno.EOWNERDEAD, 255, 255))
        with self.assertRaises(OSError) as raised:
            aspawn.run(**lost)
        self.assertEqual(raised.exception.errno, errno.EOWNERDEAD)

    def test_a_dropped_tree_that_has_not_ended_is_no_error_of_another_start(self):
        theirs, own = os.pipe()
        with self.assertWarns(ResourceWarning):
            process = aspawn.Popen(["sh", "-c", "read none; kill -9 $PPID"], stdin=theirs, owner="tree")
            del process
        self.assertEqual(len(subprocess._active), 1)
        os.close(theirs)
        os.close(own)  # now it goes on
        while subprocess._active:
            self.assertEqual(aspawn.call(["true"]), 0)

    def test_words_are_known(self):
        for word, known in ("owner", "caller, private, tree"), ("memory", "shared, suspended, copied"):
            for unknown in "me", "", 1, known.split(", ")[1].upper(), known.split(", ")[2].title():
                with self.assertRaisesRegex(ValueError, f"no such {word}: {unknown!r}, only {known}"):
                    aspawn.Popen(["true"], **{word: unknown})

    def test_raises_no_sigchld(self):
        seen = []
        before = signal.signal(signal.SIGCHLD, lambda *_: seen.append(1))
        try:
            self.assertEqual(aspawn.run(["true"], owner="private").returncode, 0)
            self.assertEqual(seen, [])
            aspawn.run(["true"])
            self.assertEqual(seen, [1])
        finally:
            signal.signal(signal.SIGCHLD, before)

    def test_is_killed_waited_for_and_polled(self):
        process = aspawn.Popen(["sleep", "100"], owner="private")
        self.assertIsNone(process.poll())
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(0.01)
        process.terminate()
        self.assertEqual(process.wait(10), -signal.SIGTERM)
        self.assertEqual(process.poll(), -signal.SIGTERM)
        process.kill()

    def test_communicates(self):
        self.assertEqual(aspawn.check_output(["cat"], input=b"a" * 1000000, owner="private"), b"a" * 1000000)
        with self.assertRaises(subprocess.TimeoutExpired):
            aspawn.run(["sleep", "100"], capture_output=True, timeout=0.05, owner="private")

    def test_dies_with_the_process(self):
        self.assertEqual(aspawn.Popen(["sh", "-c", "exit 3"], dies_with_caller=True).wait(), 3)
        code = "import aspawn; p = aspawn.Popen(['sleep', '60'], dies_with_caller=True); print(p.pid, flush=True); " \
               "import os; os._exit(0)"
        pid = int(aspawn.check_output([sys.executable, "-c", code]))
        for _ in range(1000):
            try:
                if ") Z" in pathlib.Path(f"/proc/{pid}/stat").read_text():
                    break
            except (FileNotFoundError, ProcessLookupError):  # the latter if it is reaped meanwhile
                break
            time.sleep(0.01)
        else:
            self.fail("it runs on")

    def test_fails_as_others(self):
        with self.assertRaises(FileNotFoundError):
            aspawn.Popen(["/no/such"], owner="private")

    def test_is_waited_for_by_several_threads(self):
        process = aspawn.Popen(["sleep", "0.1"], owner="private")
        results = []
        threads = [threading.Thread(target=lambda timeout=timeout: results.append(process.wait(timeout)))
                   for timeout in (None, None, 10, 10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [0] * 4)

    def test_is_not_waited_for_by_a_number_that_is_anothers(self):
        process = aspawn.Popen(["true"], owner="private")
        kind = os.readlink(f"/proc/self/fd/{process._child.ended_fd}")
        polled = []

        class Poll:
            """Before it begins another thread reaps the child,
            and gets descriptors of the same numbers."""
            def __init__(self):
                while process.poll() is None:
                    time.sleep(0.001)
                self.pipe = os.pipe()

            def register(self, fd, events):
                polled.append(os.readlink(f"/proc/self/fd/{fd}"))

            def poll(self, timeout):
                for fd in self.pipe:
                    os.close(fd)

        with mock.patch("select.poll", Poll):
            self.assertEqual(process.wait(), 0)
        self.assertEqual(polled, [kind])

    def test_is_waited_for_after_another_thread_has_reaped_it(self):
        process = aspawn.Popen(["true"], owner="private")
        lock = process._waitpid_lock

        class Lock:
            """Before wait() has it another thread reaps the child."""
            def __enter__(self):
                process._waitpid_lock = lock
                while process.poll() is None:
                    time.sleep(0.001)
                return lock.__enter__()

            def __exit__(self, *details):
                lock.__exit__(*details)

        process._waitpid_lock = Lock()
        self.assertEqual(process.wait(), 0)

    def test_is_not_the_child_of_a_fork(self):
        process = aspawn.Popen(["sleep", "100"], owner="private")
        pid = os.fork()
        if pid == 0:
            try:
                process.kill()
                os._exit(process.poll() != 0)  # as subprocess of a child that is not its own
            finally:
                os._exit(2)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        self.assertIsNone(process.poll())
        process.kill()
        self.assertEqual(process.wait(), -signal.SIGKILL)

    def test_is_left_at_the_end_of_the_interpreter(self):
        done = aspawn.run([sys.executable, "-c", "import aspawn; p = aspawn.Popen(['sleep', '0.1'], owner='private')"],
                          capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_is_dropped_while_it_runs(self):
        with self.assertWarns(ResourceWarning):
            process = aspawn.Popen(["sleep", "0.05"], owner="private")
            pid = process.pid
            del process
        while os.path.exists(f"/proc/{pid}"):
            time.sleep(0.01)
        for _ in range(1000):  # its helper ends after it
            subprocess._cleanup()
            if not subprocess._active:
                break
            time.sleep(0.01)
        self.assertEqual(subprocess._active, [])


class End(Test):
    def test_what_leads_no_group_is_signalled_alone(self):
        for owner in (None, "private"):
            with aspawn.Popen(["sleep", "100"], owner=owner) as process:
                process.kill_group()
            self.assertEqual(process.returncode, -signal.SIGKILL)

    def test_group_is_killed(self):
        for owner in (None, "private"):
            with self.subTest(owner=owner):
                process = aspawn.Popen(["sh", "-c", "echo; sleep 100 & wait"], start_new_session=True,
                                       stdout=aspawn.PIPE, owner=owner)
                process.stdout.readline()
                process.kill_group()
                self.assertEqual(process.stdout.read(), b"")  # sleep has ended too
                self.assertEqual(process.wait(), -signal.SIGKILL)
                process.kill_group()
                process.stdout.close()

    @unittest.skipUnless(hasattr(os, "pidfd_open"), "this Python has no pidfd_open()")
    def test_wait_with_a_timeout_looks_once(self):
        # subprocess asks every 0.5 to 50 ms: more than 10 times in this time.
        process = aspawn.Popen(["sleep", "0.3"])
        with mock.patch("os.waitpid", wraps=os.waitpid) as waitpid:
            self.assertEqual(process.wait(10), 0)
        self.assertLessEqual(waitpid.call_count, 1)  # newer versions have a reference of their own

    def test_limits_of_any_length(self):
        for timeout in (1e7, float("inf")):
            for owner in (None, "private"):
                self.assertEqual(aspawn.run(["sleep", "0.05"], timeout=timeout, owner=owner).returncode, 0)
            self.assertEqual(aspawn.run(["echo", "a"], stdout=aspawn.PTY, timeout=timeout).stdout, b"a\r\n")

    def test_wait_is_interrupted(self):
        before = signal.signal(signal.SIGALRM, signal.default_int_handler)
        try:
            for owner in (None, "private"):
                for timeout in (None, 100):
                    process = aspawn.Popen(["sleep", "100"], owner=owner)
                    signal.setitimer(signal.ITIMER_REAL, 0.05)
                    with self.assertRaises(KeyboardInterrupt):
                        process.wait(timeout)
                    process.kill()
                    process.wait()
        finally:
            signal.signal(signal.SIGALRM, before)

    def test_exec_that_blocks_is_interrupted(self):
        before = signal.signal(signal.SIGALRM, signal.default_int_handler)
        with tempfile.TemporaryDirectory() as directory:
            fifo = os.path.join(directory, "fifo")
            os.mkfifo(fifo)
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.05)
                with self.assertRaises(KeyboardInterrupt):
                    aspawn.Popen(["true"], actions=[actions.open(0, fifo, os.O_RDONLY)], stdout=aspawn.PIPE)
            finally:
                signal.signal(signal.SIGALRM, before)

    def test_other_threads_run_until_the_exec(self):
        with tempfile.TemporaryDirectory() as directory:
            fifo = os.path.join(directory, "fifo")
            os.mkfifo(fifo)
            # Opens the other end: never, if Popen held the interpreter's lock until the exec.
            thread = threading.Thread(target=lambda: os.close(os.open(fifo, os.O_WRONLY)))
            thread.start()
            aspawn.run(["true"], check=True, actions=[actions.open(0, fifo, os.O_RDONLY)])
            thread.join()


class OldFaults(Test):
    """Faults of subprocess and asyncio that newer versions have not, and the package in none."""

    def test_input_after_a_time_limit_is_written(self):
        for owner in None, "private":
            with aspawn.Popen(["sh", "-c", "read line <&5; wc -c"], stdin=-1, stdout=-1, owner=owner,
                              actions=[actions.input_pipe(5)]) as process:
                with self.assertRaises(aspawn.TimeoutExpired):
                    process.communicate(b"x" * 1000000, timeout=0.01)
                process.pipes[5].close()
                self.assertEqual(process.communicate(timeout=60)[0], b"1000000\n")

    def test_input_of_larger_elements_is_whole(self):
        numbers = array.array("d", range(30000))
        for data in numbers, memoryview(numbers), memoryview(numbers)[:0], memoryview(numbers.tobytes()):
            size = memoryview(data).nbytes
            self.assertEqual(aspawn.run(["wc", "-c"], input=data, capture_output=True).stdout, b"%d\n" % size)

    def test_a_wait_of_asyncio_is_not_for_the_pipe_of_a_grandchild(self):
        async def main():
            process = await aio.create_subprocess_exec("sh", "-c", "sleep 1000 & echo $!", stdout=-1)
            pid = int(await process.stdout.readline())
            try:
                return await asyncio.wait_for(process.wait(), 60)
            finally:
                os.kill(pid, signal.SIGKILL)
                await process.stdout.read()
        self.assertEqual(asyncio.run(main()), 0)


class Interface(Test):
    def test_signature_has_the_parameters_of_subprocess_too(self):
        ours, theirs = (inspect.signature(module.Popen).parameters for module in (aspawn, subprocess))
        self.assertEqual([*ours][:len(theirs)], [*theirs])
        self.assertEqual([*ours][len(theirs):], ["actions", "limits", "cgroup", "owner", "dies_with_caller", "memory",
                                                 "pty_size", "stop_signal"])

        class Other(aspawn.Popen):
            def __init__(self, name):
                super().__init__([name])
        self.assertEqual([*inspect.signature(Other).parameters], ["name"])

    @unittest.skipUnless(sys.version_info >= (3, 11), "subprocess warns from Python 3.11")
    def test_a_warning_of_the_encoding_names_the_caller(self):
        code = ("import subprocess, aspawn", "aspawn.run(['true'], text=True)", "aspawn.install()",
                "subprocess.run(['true'], errors='strict')", "subprocess.call(['true'], universal_newlines=True)",
                "aspawn.check_output(['true'], encoding='utf-8')")
        command = [sys.executable, "-X", "warn_default_encoding", "-W", "always", "-c", "\n".join(code)]
        lines = aspawn.run(command, capture_output=True, encoding="utf-8").stderr.splitlines()
        lines = [line for line in lines if "Warning" in line]  # without those of the source
        self.assertEqual(lines, [f"<string>:{number}: EncodingWarning: 'encoding' argument not specified."
                                 for number in (2, 4, 5)])

    @unittest.skipUnless(sys.version_info >= (3, 12), "Python 3.12 has the first interpreters with locks of their own")
    def test_interpreters_with_their_own_locks_have_it(self):
        code = """if True:
            import aspawn
            assert aspawn.run(["sh", "-c", "exit 3"]).returncode == 3
            assert aspawn.check_output(["cat"], input=b"a", owner="private") == b"a"
            with aspawn.Queue(2) as queue:
                assert [result.stdout for result in queue.map([["echo", "1"], ["echo", "2"]])] == [b"1\\n", b"2\\n"]
            """
        program = f"""if True:
            import sys, threading
            if sys.version_info >= (3, 13):
                import _interpreters
                def execute():
                    results.append(_interpreters.exec(_interpreters.create("isolated"), {code!r}))
            else:
                import _xxsubinterpreters as _interpreters
                def execute():
                    results.append(_interpreters.run_string(_interpreters.create(), {code!r}))
            results = []
            threads = [threading.Thread(target=execute) for _ in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            print(results, flush=True)
            import os
            os._exit(0)  # as some versions crash, or complain, at the end of interpreters
            """
        done = aspawn.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertEqual((done.stdout, done.returncode), ("[None, None, None]\n", 0), done.stderr)


class Environment(Test):
    def test_strings_without_an_equals_sign_are_inherited(self):
        strings = [b"none", b"A=b", b"A=c", b"PYTHONCOERCECLOCALE=0", b"PYTHONPATH=" + ":".join(sys.path).encode()]
        program = """if True:
            import subprocess, aspawn
            command = ["cat", "/proc/self/environ"]
            with aspawn.Queue() as queue:
                print(*(module.check_output(command) for module in (subprocess, aspawn)),
                      queue.submit(command).result().stdout)"""
        code = f"""if True:
            import ctypes
            def strings(*words):
                return (ctypes.c_char_p * (len(words) + 1))(*words, None)
            file = {sys.executable!r}.encode()
            ctypes.CDLL(None).execve(file, strings(file, b"-c", {program!r}.encode()), strings(*{strings!r}))"""
        value = b"\0".join(strings) + b"\0"
        self.assertEqual(aspawn.check_output([sys.executable, "-c", code], text=True), f"{value} {value} {value}\n")


class Install(Test):
    def test_puts_it_under_subprocess(self):
        theirs = subprocess.Popen
        aspawn.install()
        try:
            self.assertIs(subprocess.Popen, aspawn.Popen)
            self.assertEqual(subprocess.check_output(["pwd"], actions=[actions.chdir("/usr")]), b"/usr\n")
            self.assertEqual(subprocess.getoutput("echo a"), "a")
        finally:
            aspawn.uninstall()
        self.assertIs(subprocess.Popen, theirs)
        self.assertTrue(issubclass(aspawn.Popen, subprocess.Popen))

    def test_functions_are_those_of_subprocess(self):
        with mock.patch("subprocess.Popen", side_effect=AssertionError):
            self.assertEqual(aspawn.call(["true"]), 0)
            self.assertEqual(aspawn.check_call(["true"]), 0)
            self.assertEqual(aspawn.getoutput("pwd", **{}), os.getcwd())
            self.assertEqual(aspawn.getstatusoutput("exit 3"), (3, ""))
            with self.assertRaises(subprocess.CalledProcessError):
                aspawn.run(["false"], check=True)

    def test_functions_refuse_what_those_of_subprocess_do(self):
        for name, value in {"stdout": aspawn.PIPE, "check": True}.items():
            with self.assertRaisesRegex(ValueError, f"^{name} argument not allowed, it will be overridden.$"):
                aspawn.check_output(["true"], **{name: value})
        for function in aspawn.call, aspawn.check_call:
            for name, value in {"input": b"", "capture_output": True, "check": True}.items():
                with self.subTest(function=function, name=name), self.assertRaisesRegex(TypeError, name):
                    function(["true"], **{name: value})

    @unittest.skipUnless(hasattr(subprocess, "_USE_VFORK"), "only Python 3.11 to 3.13 have the switch")
    def test_obeys_the_switch_of_subprocess(self):
        with mock.patch("subprocess._USE_VFORK", False), \
                mock.patch("aspawn._popen._aspawn.Child", side_effect=AssertionError):
            self.assertEqual(aspawn.call(["true"]), 0)

    @unittest.skipUnless(hasattr(subprocess, "_USE_VFORK"), "only Python 3.11 to 3.13 have the switch")
    def test_copies_the_memory_if_told_so(self):
        memories = []

        def start(**command):
            memories.append(command["memory"])
            return real(**command)
        real = aspawn._popen._aspawn.Child
        with mock.patch("subprocess._USE_VFORK", False), mock.patch("aspawn._popen._aspawn.Child", start):
            self.assertEqual(output("pwd", actions=[actions.chdir("/usr")]), ["/usr"])
            self.assertEqual(output("echo 1", limits={resource.RLIMIT_CPU: 100}), ["1"])
        self.assertEqual(memories, [constants.Memory.COPIED] * 2)

    def test_is_started_by_the_library(self):
        fork_exec = "subprocess._fork_exec" if sys.version_info >= (3, 11) else "_posixsubprocess.fork_exec"
        with mock.patch("aspawn._popen.is_standard", return_value=True), \
                mock.patch(fork_exec, side_effect=AssertionError):
            self.assertEqual(aspawn.call(["true"]), 0)
            with self.assertRaises(AssertionError):
                aspawn.call(["true"], preexec_fn=os.getpid)


class Asyncio(Test):
    def test_the_loop_polls_no_killed_helper(self):
        async def run():
            process = await aio.create_subprocess_exec("sleep", "100", owner="private")
            helper = int(pathlib.Path(f"/proc/{process.pid}/stat").read_text().split()[3])
            os.kill(helper, signal.SIGKILL)
            while process._transport._watched >= 0:
                await asyncio.sleep(0.01)
            process.kill()
            await process.wait()

        asyncio.run(asyncio.wait_for(run(), 60))

    def test_a_tree_that_has_not_ended_is_told_once(self):
        told = []

        async def run():
            asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(context["exception"]))
            process = await aio.create_subprocess_exec("sh", "-c", "kill -9 $PPID; read none", stdin=-1, owner="tree")
            return await process.wait()

        self.assertEqual(asyncio.run(asyncio.wait_for(run(), 60)), 255)
        self.assertEqual([error.errno for error in told], [errno.EOWNERDEAD])

    def test_a_wait_polls_no_killed_helper(self):
        process = aspawn.Popen(["sleep", "100"], owner="private")
        os.kill(int(pathlib.Path(f"/proc/{process.pid}/stat").read_text().split()[3]), signal.SIGKILL)
        with mock.patch("time.sleep", side_effect=lambda seconds: process.kill()):
            process.wait()

    def setUp(self):
        self.loop = asyncio.new_event_loop()
        self.addCleanup(self.loop.close)
        self.run_(asyncio.sleep(0))
        super().setUp()

    def run_(self, coroutine):
        return self.loop.run_until_complete(coroutine)

    def test_output_and_status(self):
        async def main(**keywords):
            process = await aio.create_subprocess_exec("sh", "-c", "cat; echo 2 >&2; exit 3", stdin=-1, stdout=-1,
                                                       stderr=-1, **keywords)
            return await process.communicate(b"1" * 1000000), process.returncode
        for owner in (None, "private"):
            self.assertEqual(self.run_(main(owner=owner)), ((b"1" * 1000000, b"2\n"), 3))

    def test_shell_and_actions(self):
        async def main():
            process = await aio.create_subprocess_shell("pwd", stdout=-1, actions=[actions.chdir("/usr")])
            return await process.communicate()
        self.assertEqual(self.run_(main()), (b"/usr\n", None))

    def test_shell_is_said_as_to_asyncio(self):
        async def main():
            for module in aio, asyncio:
                for create, is_shell in (module.create_subprocess_exec, False), (module.create_subprocess_shell, True):
                    self.assertEqual(await (await create("true", shell=is_shell)).wait(), 0)
                    with self.assertRaisesRegex(ValueError, f"^shell must be {is_shell}$"):
                        await create("true", shell=not is_shell)
        self.run_(main())

    def test_failure(self):
        async def main():
            with self.assertRaises(FileNotFoundError):
                await aio.create_subprocess_exec("/no/such", stdin=-1, stdout=-1)
            with self.assertRaises(OSError) as caught:
                await aio.create_subprocess_exec("true", actions=[actions.chdir("/no/such")], owner="private")
            return caught.exception.failure.text
        self.assertEqual(self.run_(main()), 'action 0, chdir "/no/such": ENOENT')
        with self.assertRaises(ValueError):
            self.run_(aio.create_subprocess_exec("true", text=True))

    def test_kill_and_many_at_a_time(self):
        async def one(number):
            process = await aio.create_subprocess_exec("sleep", "100", owner=["private", None][number % 2])
            self.assertIsNone(process.returncode)
            process.terminate()
            return await process.wait()

        async def main():
            return await asyncio.gather(*(one(number) for number in range(50)))
        self.assertEqual(self.run_(main()), [-signal.SIGTERM] * 50)

    def test_group_and_tree_are_killed(self):
        async def main(kill, **keywords):
            process = await aio.create_subprocess_exec("sh", "-c", "sleep 100 & echo; wait", stdout=-1, **keywords)
            await process.stdout.readline()
            kill(process)
            self.assertEqual(await process.stdout.read(), b"")  # sleep has ended too
            self.assertIn(await process.wait(), (-signal.SIGKILL, -signal.SIGTERM))
            kill(process)
        for owner in (None, "private"):
            self.run_(main(aio.Process.kill_group, start_new_session=True, owner=owner))
        self.run_(main(lambda process: process.kill_tree(60), owner="tree"))

    def test_descriptors_are_closed(self):
        async def main(**keywords):
            process = await aio.create_subprocess_exec("ls", "/proc/self/fd", stdout=-1, **keywords)
            return (await process.communicate())[0].split()
        read, write = os.pipe()
        os.set_inheritable(read, True)
        try:
            self.assertEqual(self.run_(main()), [b"0", b"1", b"2", b"3"])  # 3: of ls
            self.assertIn(b"%d" % write, self.run_(main(pass_fds=[write])))
        finally:
            os.close(read)
            os.close(write)

    def test_loop_goes_on_until_the_exec(self):
        async def main(fifo):
            async def open_it():
                os.close(os.open(fifo, os.O_WRONLY))
            other = asyncio.ensure_future(open_it())
            process = await aio.create_subprocess_exec("true", actions=[actions.open(0, fifo, os.O_RDONLY)])
            await other
            return await process.wait()
        with tempfile.TemporaryDirectory() as directory:
            fifo = os.path.join(directory, "fifo")
            os.mkfifo(fifo)
            self.assertEqual(self.run_(main(fifo)), 0)

    def test_start_is_cancelled(self):
        async def main(fifo):
            for owner in (None, "private"):
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(aio.create_subprocess_exec(
                        "true", actions=[actions.open(0, fifo, os.O_RDONLY)], stdout=-1, owner=owner), 0.05)
        with tempfile.TemporaryDirectory() as directory:
            fifo = os.path.join(directory, "fifo")
            os.mkfifo(fifo)
            self.run_(main(fifo))

    def test_in_the_loop_of_another_thread(self):
        results = []

        async def main():
            process = await aio.create_subprocess_exec("sh", "-c", "exit 5")
            results.append(await process.wait())
        thread = threading.Thread(target=lambda: asyncio.run(main()))
        thread.start()
        thread.join()
        self.assertEqual(results, [5])

    def test_a_failed_start_closes_the_pipes_of_actions(self):
        async def main():
            try:
                await aio.create_subprocess_exec("/no/such", actions=[actions.output_pipe(3), actions.input_pipe(4)])
            except FileNotFoundError as error:  # whose traceback refers to the process
                return error, descriptors()
        _, after = self.run_(main())
        self.assertEqual(after, self.before)

    def test_a_loop_that_ends_before_a_process_leaves_nothing(self):
        async def main():
            return await aio.create_subprocess_exec("sleep", "0.05")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # of asyncio's transport
            asyncio.run(main())
            gc.collect()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)

    def test_transport_is_closed_while_it_runs(self):
        async def main(owner):
            process = await aio.create_subprocess_exec("sleep", "100", stdout=-1, owner=owner)
            process._transport.close()
            return await process.wait()
        for owner in (None, "private"):
            self.assertEqual(self.run_(main(owner)), -signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
