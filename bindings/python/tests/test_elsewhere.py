# SPDX-License-Identifier: MIT
"""Where the package has no library: on a simulated platform (simulated.py), or without the
extension. Children are those of subprocess and asyncio, and what these have not is an error with
the words of REASON."""
import asyncio
import os
import re
import subprocess
import sys
import tempfile
import unittest

import aspawn
from aspawn import actions, aio

REASON = os.environ["REASON"]
ASKED = {"actions": [actions.chdir("/")], "limits": {0: 1}, "cgroup": "/sys/fs/cgroup", "owner": "tree",
         "dies_with_caller": True, "memory": "shared", "pty_size": (2, 3), "stop_signal": 2}
NOTHING: dict = {"actions": (), "limits": {}, "cgroup": None, "owner": "caller", "dies_with_caller": False,
                 "memory": None, "pty_size": (0, 0), "stop_signal": 0}
SLEEPERS = ["sh", "-c", "sleep 100 & echo; wait"]


class Elsewhere(unittest.TestCase):
    def refused(self, *names):
        return self.assertRaisesRegex(NotImplementedError, f"^aspawn: {re.escape(', '.join(names))} {REASON}")

    def test_all_names_are_there(self):
        self.assertIs(aspawn.supported, False)
        for module in aspawn, aio, actions:
            for name in module.__all__:
                self.assertTrue(hasattr(module, name), name)

    def test_children_are_those_of_subprocess(self):
        self.assertEqual(aspawn.run(["sh", "-c", "exit 3"]).returncode, 3)
        self.assertEqual(aspawn.check_output(["cat"], input=b"a" * 200000), b"a" * 200000)
        self.assertEqual(aspawn.getstatusoutput("echo a; exit 4"), (4, "a"))
        self.assertRaises(FileNotFoundError, aspawn.Popen, ["/no/such"])
        with aspawn.Popen(["sleep", "100"], **NOTHING) as process:
            self.assertIsInstance(process, subprocess.Popen)
            self.assertRaises(subprocess.TimeoutExpired, process.wait, 0.01)
            process.kill()
        self.assertEqual(process.returncode, -9)
        with tempfile.TemporaryFile() as file:
            self.assertEqual(aspawn.call(["echo", "a"], stdout=file), 0)
            file.seek(0)
            self.assertEqual(file.read(), b"a\n")

    def test_the_output_before_a_time_limit_is_in_the_error(self):
        with self.assertRaises(aspawn.TimeoutExpired) as caught:
            aspawn.run(["sh", "-c", "echo a; exec sleep 100"], stdout=-1, timeout=2)
        self.assertEqual(caught.exception.output, b"a\n")

    def test_what_only_the_library_has_is_refused(self):
        async def main(name, value):
            for create in aio.create_subprocess_exec, aio.create_subprocess_shell:
                with self.refused(name):
                    await create("true", **{name: value})
        for name, value in ASKED.items():
            with self.refused(name):
                aspawn.run(["true"], **{name: value})
            asyncio.run(main(name, value))
        with self.refused("actions", "owner"):
            aspawn.Popen(["true"], owner="private", actions=[actions.umask(0)])
        for streams in {"stdin": aspawn.PTY}, {"stdout": aspawn.PTY, "stderr": aspawn.STDOUT}:
            with self.refused("PTY"):
                aspawn.Popen(["true"], **streams)
        with self.refused("PTY"):
            aspawn.Popen(["true"], -1, None, aspawn.PTY)
        with self.refused("a queue"):
            aspawn.Queue(8)
        with self.refused("kill_cgroup()"):
            aspawn.kill_cgroup("/sys/fs/cgroup")
        with aspawn.Popen(["true"]) as process, self.refused("kill_tree()"):
            process.kill_tree()

    def test_a_group_is_signalled(self):
        with aspawn.Popen(SLEEPERS, stdout=-1, start_new_session=True) as process:
            process.stdout.readline()
            if sys.platform == "win32":
                with self.refused("kill_group()"):
                    process.kill_group()
                os.kill(-process.pid, 9)
            else:
                process.kill_group()
            self.assertEqual(process.stdout.read(), b"")  # sleep has held it
        self.assertEqual(process.returncode, -9)
        if sys.platform != "win32":
            process.kill_group()
            with aspawn.Popen(["sleep", "100"]) as process:
                process.kill_group()
            self.assertEqual(process.returncode, -9)

    def test_asyncio(self):
        async def main():
            with self.refused("a queue"):
                aio.Queue()
            process = await aio.create_subprocess_exec("cat", stdin=-1, stdout=-1, **NOTHING)
            self.assertEqual((await process.communicate(b"a"), process.returncode), ((b"a", None), 0))
            process = await aio.create_subprocess_shell("exit 3")
            self.assertEqual(await process.wait(), 3)
            process = await aio.create_subprocess_exec(*SLEEPERS, stdout=-1, start_new_session=True)
            await process.stdout.readline()
            with self.refused("kill_tree()"):
                process.kill_tree()
            process.kill_group() if sys.platform != "win32" else os.kill(-process.pid, 9)
            self.assertEqual((await process.stdout.read(), await process.wait()), (b"", -9))
        asyncio.run(asyncio.wait_for(main(), 60))

    def test_install(self):
        aspawn.install()
        try:
            self.assertEqual(subprocess.run(["true"]).returncode, 0)
            with self.refused("owner"):
                subprocess.run(["true"], owner="tree")
        finally:
            aspawn.uninstall()


if __name__ == "__main__":
    unittest.main()
