#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long a start blocks its caller, by subprocess and by aspawn, in turns in one run:

    bindings/python/bench [ROUNDS]

Every processor is busy meanwhile. Medians in microseconds, and 95th percentiles. Only the ratios
carry over to another machine.
"""
import asyncio
import atexit
import concurrent.futures
import contextlib
import os
import platform
import resource
import statistics
import subprocess
import sys
import threading
import time

import aspawn
from aspawn import aio

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 200
PROGRAM = ["/bin/true"]
ECHO = ["/bin/echo", "text"]
DESCRIPTORS = 19000


@contextlib.contextmanager
def memory(size):
    touched = bytearray(size)
    touched[::4096] = b"\1" * len(touched[::4096])
    yield


@contextlib.contextmanager
def descriptors(count):
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (count + 100, max(most, count + 100)))
    first = os.open(os.devnull, os.O_RDONLY)
    opened = [first] + [os.dup(first) for _ in range(count - 1)]
    yield
    for fd in opened:
        os.close(fd)


def popen(module, **keywords):
    """The seconds that Popen() takes, and those until the end has been waited for."""
    def once():
        begin = time.perf_counter()
        process = module.Popen(PROGRAM, **keywords)
        started = time.perf_counter()
        if process.stdout:
            process.stdout.close()
        process.wait()
        return started - begin, time.perf_counter() - begin
    return once


def lock_blocked(module, **keywords):
    """The same of another thread that computes: how long it does not get the interpreter's lock."""
    def once():
        longest, last, ends = 0.0, 0.0, False

        def compute():
            nonlocal longest, last
            while not ends:
                now = time.perf_counter()
                longest, last = max(longest, now - (last or now)), now
        thread = threading.Thread(target=compute)
        thread.start()
        while not last:
            time.sleep(0.001)
        longest, begin = 0.0, time.perf_counter()
        process = module.Popen(PROGRAM, **keywords)
        started = time.perf_counter()
        while last < started:
            time.sleep(0.001)
        blocked, ends = longest, True
        process.wait()
        thread.join()
        return blocked, time.perf_counter() - begin
    return once


def loop_blocked(create):
    """The same of an event loop: the longest callback of the start."""
    async def main():
        callbacks = []
        run = asyncio.Handle._run

        def timed(handle):
            begin = time.perf_counter()
            run(handle)
            callbacks.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        asyncio.Handle._run = timed
        await asyncio.sleep(0)  # go on in a callback that is timed
        try:
            process = await create(*PROGRAM)
            await asyncio.sleep(0)
        finally:
            asyncio.Handle._run = run
        await process.wait()
        return max(callbacks), time.perf_counter() - begin
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)

    def once():
        asyncio.set_event_loop(loop)
        if sys.version_info < (3, 12):  # newer versions choose a pidfd themselves
            watcher = asyncio.PidfdChildWatcher()
            watcher.attach_loop(loop)
            asyncio.set_child_watcher(watcher)
        return loop.run_until_complete(main())
    return once


def compare(name, theirs, ours, rounds):
    times = {theirs: [], ours: []}
    for number in range(rounds + 5):
        for way in times:
            measured = way()
            if number >= 5:
                times[way].append(measured)
    cells = []
    for way in times:
        blocked, total = ([1e6 * value for value in column] for column in zip(*times[way]))
        cells.append((statistics.median(blocked), statistics.quantiles(blocked, n=20)[-1],
                      statistics.median(total)))
    (a, a_90, a_total), (b, b_90, b_total) = cells
    print(f"| {name} | {a:.0f} | {b:.0f} | {a / b:.1f} | {a_90:.0f} | {b_90:.0f} | {a_total:.0f} | {b_total:.0f} |",
          flush=True)


def starts(where, rounds, **also):
    for name, keywords in {"": {}, ", stdout=PIPE": {"stdout": subprocess.PIPE}, **also}.items():
        compare(f"`Popen`{name}, {where}", popen(subprocess, **keywords), popen(aspawn, **keywords), rounds)


def locks(where, rounds, **keywords):
    compare(f"another thread: `Popen`{''.join(f', {name}=' for name in keywords)}, {where}",
            lock_blocked(subprocess, **keywords), lock_blocked(aspawn, **keywords), rounds)


def loops(where, rounds):
    compare(f"`create_subprocess_exec`, {where}", loop_blocked(asyncio.create_subprocess_exec),
            loop_blocked(aio.create_subprocess_exec), rounds)


def many(name, count, running, rounds):
    """The time and the processor time of `count` commands, `running` at a time, all of which are
    submitted at once."""
    def theirs():
        with concurrent.futures.ThreadPoolExecutor(running) as pool:
            for future in [pool.submit(subprocess.run, ECHO, capture_output=True) for _ in range(count)]:
                future.result()

    def ours():
        with aspawn.Queue(running) as queue:
            for future in [queue.submit(ECHO) for _ in range(count)]:
                future.result()

    def processor():
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return [usage.ru_utime + usage.ru_stime for usage in used]
    measured = {theirs: [], ours: []}
    for _ in range(rounds):
        for way in measured:
            begin, before = time.perf_counter(), processor()
            way()
            own, children = (after - value for after, value in zip(processor(), before))
            measured[way].append((time.perf_counter() - begin, own, own + children))
    medians = [[1e6 / count * statistics.median(column) for column in zip(*measured[way])] for way in measured]
    print(f"| {name} | {' | '.join(f'{value:.0f}' for pair in zip(*medians) for value in pair)} |", flush=True)


print(f"CPython {platform.python_version()}, Linux {platform.release()}, {os.cpu_count()} processors, "
      f"{ROUNDS} rounds; us\n")
print("| | blocked: subprocess | aspawn | ratio | 95 %: subprocess | aspawn | until the end: subprocess | aspawn |")
print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
atexit.register(lambda: [process.kill() for process in busy])
user = {", user=": {"user": 65534}} if os.getuid() == 0 else {}
starts("small", ROUNDS, **user)
loops("small", ROUNDS)
sys.setswitchinterval(1e-5)
locks("small", ROUNDS)
with memory(1 << 30):
    starts("1 GiB touched", ROUNDS, **{})
    loops("1 GiB touched", ROUNDS)
    locks("1 GiB touched", ROUNDS)
    for name, keywords in user.items():
        compare(f"`Popen`{name}, 1 GiB touched", popen(subprocess, **keywords), popen(aspawn, **keywords),
                max(5, ROUNDS // 10))
        locks("1 GiB touched", max(5, ROUNDS // 10), user=65534)
if os.getuid() == 0:
    with descriptors(DESCRIPTORS):
        starts(f"{DESCRIPTORS} descriptors", max(5, ROUNDS // 2))
        loops(f"{DESCRIPTORS} descriptors", max(5, ROUNDS // 2))

print("\n| | a command: ThreadPoolExecutor | aspawn.Queue | processor, this process: ThreadPoolExecutor "
      "| aspawn.Queue | processor, with children: ThreadPoolExecutor | aspawn.Queue |")
print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
for running in (4, 16):
    many(f"300 `echo`, {running} at a time, small", 300, running, max(5, ROUNDS // 20))
with memory(1 << 30):
    many("300 `echo`, 16 at a time, 1 GiB touched", 300, 16, max(5, ROUNDS // 20))
