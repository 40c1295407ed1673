# SPDX-License-Identifier: MIT
"""Cases that run twice, by the module of the standard library and by the package: a case is a line,
whose result or exception must be the same both ways. What differs on purpose is in README.md."""
import array
import asyncio
import io
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import warnings
from ast import PyCF_ALLOW_TOP_LEVEL_AWAIT

import aspawn
from aspawn import aio

# Names that the lines use: those of the module, of LIBRARY, and of Case.names().
LIBRARY = {module.__name__: module for module in (array, io, os, pathlib, resource, signal, sys, tempfile, time)}

ARGUMENTS = r"""
run(["true"])
run("true")
run(b"true")
run(pathlib.Path("/bin/true"))
run(["sh", b"-c", pathlib.Path("exit 3")])
run(("sh", "-c", "exit 3"))
run(iter(["true"])).returncode
run(args=["true"], bufsize=0)
run([])
run(None)
run(3)
run([3])
run(["true", None])
run(["true", "a\0b"])
run(["a\0b"])
run(["true", "\ud800"])
run(["echo", "\udcff"], stdout=PIPE)
run({"true": 1})
run("exit 3", shell=True)
run(["exit $#", "a", "b", "c"], shell=True)
run(pathlib.Path("true"), shell=True)
run("echo $0", shell=True, executable="/bin/bash", stdout=PIPE)
run(["other", "-c", "echo $0"], executable="/bin/sh", stdout=PIPE)
run(["true"], executable="/none")
run(["true"], executable=3)
run(["/none"])
run(["none-of-this-name"])
run(["/etc"])
run(["/etc/passwd"])
run(["/etc/passwd/none"])
run([script("#!/none\n")])
run([script("exit 4")])
run([script("#!/bin/sh\nexit 5")])
run(["x" * 300])
run(["x" * 5000])
run(["/bin/echo", "x" * 200000])
run(["/bin/echo"] + ["x" * 100000] * 200)
run(["true"], unknown=1)
run()
run(["true"], 0, None, None, None, None, None, True, False, "/")
run(["true"], "bufsize")
run(["true"], check="yes")
run(["false"], check=True)
run(["sh", "-c", "echo a; echo b >&2; exit 9"], check=True, capture_output=True)
run(["true"], capture_output=True, stdout=PIPE)
run(["cat"], input=b"a", stdin=PIPE)
call(["sh", "-c", "exit 3"])
call(["true"], input=b"")
check_call(["false"])
check_call(["true"])
check_output(["echo", "a"])
check_output(["false"])
check_output(["true"], stdout=PIPE)
check_output(["true"], check=True) if v311 else 0
check_output(["cat"], input=None)
check_output(["cat"], input="a", text=True)
check_output(["cat"], input=None, universal_newlines=True)
getoutput("echo a; echo b >&2")
getstatusoutput("kill -9 $$")
getstatusoutput("exit 3")
Popen(["true"]).args
repr(Popen(["true"])), Popen(["true"]).wait()
[Popen(["true"], text=True).universal_newlines, Popen(["true"]).text_mode]
with_(["sh", "-c", "exit 3"], lambda p: (p.pid > 0, p.stdin, p.stdout, p.wait(), p.poll()))
"""

STREAMS = r"""
run(["ls", "/proc/self/fd"], stdout=PIPE)
run(["ls", "/proc/self/fd"], stdout=PIPE, pass_fds=[0, 1, 2])
run(["ls", "/proc/self/fd"], stdout=PIPE, pass_fds=[open_])
run(["ls", "/proc/self/fd"], stdout=PIPE, pass_fds=(fd for fd in [open_]))
run(["ls", "/proc/self/fd"], stdout=PIPE, close_fds=False)
run(["ls", "/proc/self/fd"], stdout=PIPE, stderr=DEVNULL, stdin=DEVNULL)
run(["true"], pass_fds=[closed])
run(["true"], pass_fds=[-1])
run(["true"], pass_fds=["1"])
run(["true"], pass_fds=3)
run(["true"], pass_fds=[2 ** 40])
run(["true"], stdin=-7)
run(["true"], stdout=-7)
run(["true"], stderr=-7)
run(["true"], stdin=-6)
run(["true"], stdout=-4)
run(["true"], stderr=-100)
run(["true"], stdin=STDOUT)
run(["true"], stdout=STDOUT)
run(["sh", "-c", "echo a >&2"], stdout=PIPE, stderr=STDOUT)
run(["sh", "-c", "echo a >&2"], stdout=DEVNULL, stderr=STDOUT)
run(["true"], stdout=-7, stderr=STDOUT)
run(["true"], stdin=closed)
run(["true"], stdout=closed, stderr=closed)
run(["true"], stdin=2 ** 40)
run(["true"], stdout=1.5)
run(["true"], stdout="file")
run(["true"], stdout=io.BytesIO())
run(["true"], stdin=closed_file())
run(["cat"], stdin=file("text"), stdout=PIPE)
[run(["sh", "-c", "echo a; echo b >&2"], stdout=f, stderr=f) and f.seek(0) or f.read() for f in [file("")]]
run(["cat"], stdin=open_, stdout=PIPE)
run(["sh", "-c", "cat; echo b >&2"], input=b"a", stdout=PIPE, stderr=PIPE)
run(["sh", "-c", "cat <&0"], stdin=DEVNULL, stdout=PIPE)
run(["sh", "-c", "test -t 0 || echo no"], stdin=PIPE, stdout=PIPE)
run(["cat"], input="text", stdout=PIPE)
run(["cat"], input=5, stdout=PIPE)
run(["cat"], input=b"text", stdout=PIPE, text=True)
run(["cat"], input="a\r\nb", stdout=PIPE, text=True)
run(["cat"], input="a\n\xe9", stdout=PIPE, encoding="latin-1")
run(["printf", r"a\r\nb\rc"], stdout=PIPE, universal_newlines=True)
run(["printf", r"\377"], stdout=PIPE, encoding="utf-8")
run(["printf", r"\377"], stdout=PIPE, encoding="utf-8", errors="replace")
run(["true"], encoding="none of this name", stdout=PIPE)
run(["true"], text=True, universal_newlines=False)
run(["cat"], input=bytearray(b"ab"), stdout=PIPE)
run(["cat"], input=memoryview(b"abc")[1:], stdout=PIPE)
run(["cat"], input=b"", stdout=PIPE)
len(run(["cat"], input=b"x" * 1000000, stdout=PIPE).stdout)
len(run(["cat"], input=b"x" * 1000000, stdout=PIPE, stderr=PIPE, timeout=60).stdout)
run(["true"], input=b"x" * 1000000, stdout=PIPE)
run(["wc", "-c"], input=array.array("d", range(1000)), stdout=PIPE)
with_(["cat"], lambda p: p.communicate(b"a", timeout=60), stdin=PIPE, stdout=PIPE)
with_(["cat"], lambda p: (p.stdin.write(b"a"), p.stdin.close(), p.stdout.read()), stdin=PIPE, stdout=PIPE, bufsize=0)
with_(["cat"], lambda p: (p.stdin.write("a\n"), p.stdout.readline()), stdin=PIPE, stdout=PIPE, text=True, bufsize=1)
with_(["cat"], lambda p: (p.communicate(b"a"), p.communicate()), stdin=PIPE, stdout=PIPE)
with_(["true"], lambda p: p.communicate(b"a"))
with_(["true"], lambda p: (p.stdin.fileno() > 2, p.stdout.fileno() > 2, p.stderr), stdin=PIPE, stdout=PIPE)
with_(["true"], lambda p: p.stdout.readable(), stdout=PIPE, bufsize="x")
"""

CHILD = r"""
run(["env"], env={}, stdout=PIPE)
run(["env"], env={"A": "b", b"C": b"d"}, stdout=PIPE)
run(["env"], env={"A=B": "c"})
run(["env"], env={"A": "b\0"})
run(["env"], env={"A": 1})
run(["env"], env={"A": None})
run(["env"], env={"": "b"}, stdout=PIPE)
run(["env"], env=5)
run(["env"], env=[("A", "b")])
run(["env"], env={"A": "\udcff"}, stdout=PIPE)
run(["true"], env={"PATH": "/none"})
run(["true"], env={"PATH": ""})
run(["true"], env={"PATH": "/etc:/bin"})
run(["true"], env={})
run(["pwd"], cwd="/usr", stdout=PIPE)
run(["pwd"], cwd=b"/usr", stdout=PIPE)
run(["pwd"], cwd=pathlib.Path("/usr"), stdout=PIPE)
run(["pwd"], cwd="/none")
run(["pwd"], cwd="/etc/passwd")
run(["pwd"], cwd="")
run(["pwd"], cwd="a\0b")
run(["pwd"], cwd=3)
run(["/none"], cwd="/none-either")
run(["./true"], cwd="/bin")
run("umask", shell=True, umask=0o27, stdout=PIPE)
run("umask", shell=True, umask=-1, stdout=PIPE) == run("umask", shell=True, stdout=PIPE)
run("umask", shell=True, umask=2 ** 40)
run("umask", shell=True, umask="7")
run(["true"], user="none-of-this-name")
run(["true"], user=-1)
run(["true"], user=2 ** 40)
run(["true"], user=1.5)
run(["true"], group="none-of-this-name")
run(["true"], group=-1)
run(["true"], extra_groups=[-1])
run(["true"], extra_groups=["none-of-this-name"])
run(["true"], extra_groups="root")
run(["true"], extra_groups=3)
run("id -u; id -g; id -G", shell=True, user=65534, group=65534, extra_groups=[5, "root"], stdout=PIPE) if root else 0
run("id -u; id -g", shell=True, user="nobody", stdout=PIPE) if root else 0
run(["cut", "-d ", "-f6", "/proc/self/stat"], start_new_session=True, stdout=PIPE).stdout == b"%d\n" % os.getsid(0)
with_(["ps", "-o", "pid=,pgid=,sid="], lambda p: leads(p), start_new_session=True, stdout=PIPE)
with_(["ps", "-o", "pid=,pgid="], lambda p: leads(p), process_group=0, stdout=PIPE) if v311 else 0
run(["true"], process_group=2 ** 22 + 5) if v311 else 0
run(["true"], process_group="0") if v311 else 0
run(["grep", "SigIgn", "/proc/self/status"], stdout=PIPE)
run(["grep", "SigIgn", "/proc/self/status"], stdout=PIPE, restore_signals=False)
run(["grep", "SigBlk", "/proc/self/status"], stdout=PIPE)
[signal.signal(15, signal.SIG_IGN), run(["grep", "SigIgn", "/proc/self/status"], stdout=PIPE), signal.signal(15, 0)][1]
[signal.pthread_sigmask(0, [1]), check_output(["grep", "SigBlk", "/proc/self/status"]), signal.pthread_sigmask(1, [1])]
run(["true"], preexec_fn=lambda: 1 / 0)
run(["sh", "-c", "pwd"], preexec_fn=lambda: os.chdir("/usr"), stdout=PIPE)
run(["true"], preexec_fn=3)
run(["true"], startupinfo=1)
run(["true"], creationflags=1)
[run(["sh", "-c", f"ulimit -c 0; kill -{n} $$"]).returncode for n in {*range(1, 65)} - {*range(17, 24), 28, 32, 33}]
[str(error(["sh", "-c", f"ulimit -c 0; kill -{n} $$"])) for n in (1, 6, 9, 15, 29, 30, 34, 64)]
"""

END = r"""
run(["sleep", "100"], timeout=0)
run(["sleep", "100"], timeout=-1)
run(["sleep", "100"], timeout=0.01)
run(["sleep", "100"], timeout=-1e30)
run(["sleep", "100"], timeout="1")
run(["true"], timeout=1e7)
run(["true"], timeout=60, stdout=PIPE)
call(["sleep", "100"], timeout=0)
check_output(["sleep", "100"], timeout=0)
run(["sh", "-c", "echo a; exec sleep 100"], timeout=0, stdout=PIPE, text=True)
with_(["sleep", "100"], lambda p: p.wait(0))
with_(["sleep", "100"], lambda p: p.wait(-1))
with_(["sleep", "100"], lambda p: p.wait(timeout=0.01))
with_(["sleep", "100"], lambda p: p.wait("1"))
with_(["sleep", "100"], lambda p: p.communicate(timeout=-1))
with_(["sleep", "100"], lambda p: p.poll())
with_(["sleep", "100"], lambda p: (p.kill(), p.wait(), p.poll(), p.kill()))
with_(["sleep", "100"], lambda p: (p.terminate(), p.wait(60), p.returncode))
with_(["sleep", "100"], lambda p: (p.send_signal(0), p.send_signal(signal.SIGHUP), p.wait()))
with_(["sleep", "100"], lambda p: p.send_signal(65))
with_(["sleep", "100"], lambda p: p.send_signal(-1))
with_(["sleep", "100"], lambda p: p.send_signal(2 ** 40))
with_(["sleep", "100"], lambda p: p.send_signal("SIGTERM"))
with_(["sleep", "100"], lambda p: p.send_signal(None))
with_(["true"], lambda p: (p.wait(), p.send_signal(65)))
with_(["true"], lambda p: (p.wait(), p.communicate()), stdout=PIPE)
with_(["sh", "-c", "sleep 0.05; exit 4"], lambda p: (p.wait(), p.wait(0), p.poll()))
with_(["true"], lambda p: (os.waitpid(p.pid, 0)[1], p.wait(), p.returncode))
with_(["sh", "-c", "exit 3"], lambda p: (os.waitpid(p.pid, 0)[1], p.poll(), p.returncode))
with_(["sleep", "100"], lambda p: p.stdout.close(), stdout=PIPE)
few(lambda: run(["true"], stdout=PIPE))
few(lambda: run(["true"], input=b""))
"""

ASYNCIO = r"""
await done(create_subprocess_exec("true"))
await done(create_subprocess_exec("sh", "-c", "exit 3"))
await done(create_subprocess_exec(b"sh", "-c", "kill -9 $$"))
await done(create_subprocess_exec("echo", "a", stdout=PIPE))
await done(create_subprocess_exec("cat", stdin=PIPE, stdout=PIPE), b"a")
await done(create_subprocess_exec("cat", stdin=PIPE, stdout=PIPE), b"x" * 1000000)
await done(create_subprocess_exec("sh", "-c", "echo a; echo b >&2", stdout=PIPE, stderr=PIPE))
await done(create_subprocess_exec("sh", "-c", "echo a; echo b >&2", stdout=PIPE, stderr=STDOUT))
await done(create_subprocess_exec("cat", stdin=DEVNULL, stdout=PIPE))
await done(create_subprocess_exec("pwd", cwd="/usr", stdout=PIPE))
await done(create_subprocess_exec("env", env={"A": "b"}, stdout=PIPE))
await done(create_subprocess_exec("ls", "/proc/self/fd", stdout=PIPE))
await done(create_subprocess_shell("echo $0; exit 4", stdout=PIPE))
await done(create_subprocess_shell(b"exit 5"))
await done(create_subprocess_shell("cat", PIPE, PIPE), b"in")
await done(create_subprocess_shell("true", shell=False))
await done(create_subprocess_shell(["true"]))
await done(create_subprocess_shell(3))
await done(create_subprocess_exec("true", shell=True))
await done(create_subprocess_exec("/none"))
await done(create_subprocess_exec("none-of-this-name", stdin=PIPE, stdout=PIPE))
await done(create_subprocess_exec("/etc"))
await done(create_subprocess_exec("true", cwd="/none"))
await done(create_subprocess_exec("true", 3))
await done(create_subprocess_exec(3))
await done(create_subprocess_exec())
await done(create_subprocess_exec("true", "a\0b"))
await done(create_subprocess_exec("true", text=True))
await done(create_subprocess_exec("true", universal_newlines=True))
await done(create_subprocess_exec("true", encoding="utf-8"))
await done(create_subprocess_exec("true", errors="strict"))
await done(create_subprocess_exec("true", bufsize=1))
await done(create_subprocess_exec("true", unknown=1))
await done(create_subprocess_exec("true", stdin=-7))
await done(create_subprocess_exec("true", stdout=STDOUT))
await done(create_subprocess_exec("true", stdout=closed))
await done(create_subprocess_exec("true", preexec_fn=lambda: 1 / 0))
await done(create_subprocess_exec("sh", "-c", "kill -34 $$"))
await done(create_subprocess_exec("cat", stdin=PIPE), "text")
await done(create_subprocess_exec("true", stdin=PIPE), b"x" * 1000000)
await end(create_subprocess_exec("sleep", "100"), lambda p: p.kill())
await end(create_subprocess_exec("sleep", "100"), lambda p: p.terminate())
await end(create_subprocess_exec("sleep", "100"), lambda p: p.send_signal(signal.SIGHUP))
await end(create_subprocess_exec("sleep", "100", stdout=PIPE), lambda p: p._transport.close())
await end(create_subprocess_exec("true"), lambda p: (p.returncode in (None, 0), p.pid > 0))
await after(create_subprocess_exec("true"), lambda p: p.kill())
await after(create_subprocess_exec("true"), lambda p: p.send_signal(65))
await after(create_subprocess_exec("sh", "-c", "exit 3"), lambda p: p.returncode)
await lines(create_subprocess_exec("seq", "5", stdout=PIPE))
await lines(create_subprocess_exec("printf", "%0100d", "1", stdout=PIPE, limit=10))
"""


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.open = os.dup2(os.open("/dev/null", os.O_RDONLY), 30)
        self.made = 0
        warnings.simplefilter("ignore")  # such as that of pass_fds without close_fds

    def file(self, text):
        self.made += 1
        path = pathlib.Path(self.directory.name, f"file{self.made}")
        path.write_text(text)
        return path.open("rb+")

    def script(self, text):
        path = pathlib.Path(self.directory.name, "script")
        path.write_text(text)
        path.chmod(0o755)
        return path

    def closed_file(self):
        file = self.file("")
        file.close()
        return file

    def names(self, module):
        def with_(args, body, **options):
            with module.Popen(args, **options) as process:
                try:
                    return body(process), process.returncode
                finally:
                    process.kill()

        def error(args):
            return module.CalledProcessError(module.run(args).returncode, args)

        def few(body):
            """Without a free descriptor."""
            limits = resource.getrlimit(resource.RLIMIT_NOFILE)
            free = min({*range(99)} - {*map(int, os.listdir("/proc/self/fd"))})
            resource.setrlimit(resource.RLIMIT_NOFILE, (free, limits[1]))
            try:
                return body()
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, limits)

        def leads(process):
            return {*map(int, process.stdout.read().split())} == {process.pid}
        return {**LIBRARY, **vars(module), "with_": with_, "error": error, "few": few, "leads": leads,
                "closed": 999, "open_": self.open, "file": self.file, "closed_file": self.closed_file,
                "script": self.script, "root": os.getuid() == 0, "v311": sys.version_info >= (3, 11)}

    def outcome(self, line, names, run=lambda result: result):
        try:
            return repr(run(eval(compile(line, "a case", "eval", PyCF_ALLOW_TOP_LEVEL_AWAIT), names)))
        except OSError as error:
            return type(error), error.errno, error.strerror, error.filename and os.fspath(error.filename)
        except subprocess.TimeoutExpired as error:  # whose time is also what is left of it
            return type(error), error.cmd, error.output, error.stderr
        except subprocess.SubprocessError as error:
            return type(error), str(error), vars(error)
        except Exception as error:
            return type(error)

    def compare(self, lines, theirs, ours, run=lambda result: result):
        for line in lines.strip().splitlines():
            with self.subTest(line):
                self.assertEqual(self.outcome(line, ours, run), self.outcome(line, theirs, run))

    def test_arguments(self):
        self.compare(ARGUMENTS, self.names(subprocess), self.names(aspawn))

    def test_streams(self):
        self.compare(STREAMS, self.names(subprocess), self.names(aspawn))

    def test_what_the_child_has(self):
        self.compare(CHILD, self.names(subprocess), self.names(aspawn))

    def test_ends_and_time_limits(self):
        self.compare(END, self.names(subprocess), self.names(aspawn))

    def test_asyncio(self):
        async def done(process, data=None):
            process = await process
            try:
                return await process.communicate(data), process.returncode, await process.wait()
            except Exception:
                process._transport.close()
                await process.wait()
                raise

        async def end(process, body):
            process = await process
            return body(process), await process.wait()

        async def after(process, body):
            process = await process
            await process.wait()
            for _ in range(9):  # until the transport has let go of it
                await asyncio.sleep(0)
            return body(process)

        async def lines(process):
            process = await process
            try:
                return [line async for line in process.stdout]
            finally:
                await process.stdout.read()
                await process.wait()

        def run(coroutine):
            async def main():
                return await asyncio.wait_for(coroutine, 60)
            return asyncio.run(main())
        own = {**LIBRARY, "PIPE": -1, "STDOUT": -2, "DEVNULL": -3, "closed": 999, "done": done, "end": end,
               "after": after, "lines": lines}
        self.compare(ASYNCIO, {**own, **vars(asyncio.subprocess)}, {**own, **vars(aio)}, run)


if __name__ == "__main__":
    unittest.main()
