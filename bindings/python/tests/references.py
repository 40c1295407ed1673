# SPDX-License-Identifier: MIT
"""4000 starts, and as many calls of each other method that returns None. A wheel is compiled by the
headers of one Python and runs in others, where None is counted: without a reference for each call
the interpreter ends ("none_dealloc"), and with one too many None lives on by chance."""
import sys
import threading

import aspawn
from aspawn import _aspawn
from aspawn.constants import QueueFlags

TIMES = 4000


def queue_calls(queue):
    ticket = queue.submit(command={"argv": ["sleep", "20"]})
    assert queue.cancel(ticket) == 0
    while not queue.take(True):
        pass


def starts(times):
    for _ in range(times):
        with aspawn.Popen(["true"]) as process:
            assert process.poll() in (None, 0)
        assert process.returncode == 0


def calls(times):
    child = _aspawn.Child(argv=["sleep", "20"])
    queue = _aspawn.Queue(running=1, jobs=2, flags=QueueFlags.LOCAL)
    for _ in range(times):
        assert child.wait_started(-1) is None
        assert child.wait() is None
        assert child.kill(0) == 0
        assert child.kill_group(0) == 0
        queue_calls(queue)
    child.kill(9)
    for _ in range(times):
        assert child.release() == 0
        assert queue.close() is None


def main():
    starts(10)
    calls(1)
    before = sys.getrefcount(None)
    starts(TIMES)
    calls(TIMES // 10)
    change = sys.getrefcount(None) - before
    print("Python %d.%d.%d, references to None:" % sys.version_info[:3], before, "and", change)
    assert threading.active_count() == 1
    assert abs(change) < TIMES // 10


main()
