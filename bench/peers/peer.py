#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""As peers.py says, for Python. A start blocks the loop by its longest callback."""
import asyncio
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE

WAY, WHAT, PROGRAM = sys.argv[1:4]
COUNT, MIB = int(sys.argv[4]), int(sys.argv[6])
SECONDS = float(sys.argv[5])
if WAY != "asyncio":
    from aspawn import aio
CREATE = asyncio.create_subprocess_exec if WAY == "asyncio" else aio.create_subprocess_exec if WAY == "aspawn" else None


def started():
    return CREATE(PROGRAM, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL)


async def output(queue):
    if queue:
        return (await queue.submit([PROGRAM])).stdout
    return (await (await started()).communicate())[0]


async def blocked_once(queue):
    callbacks = []
    run = asyncio.Handle._run

    def timed(handle):
        begin = time.perf_counter()
        run(handle)
        callbacks.append(time.perf_counter() - begin)
    if queue:
        begin = time.perf_counter()
        future = queue.submit([PROGRAM])
        callbacks.append(time.perf_counter() - begin)
        await future
        return max(callbacks)
    asyncio.Handle._run = timed
    await asyncio.sleep(0)  # go on in a callback that is timed
    try:
        process = await started()
        await asyncio.sleep(0)
    finally:
        asyncio.Handle._run = run
    await process.communicate()
    return max(callbacks)


async def blocked(queue):
    for number in range(-3, COUNT):
        if number == 0:
            begin = time.perf_counter()
        if number > 0 and time.perf_counter() - begin > SECONDS:
            break
        took = await blocked_once(queue)
        if number >= 0:
            print(f"{took * 1e6:.1f}")


async def rate(queue):
    done = 0
    begin = time.perf_counter()

    async def worker():
        nonlocal done
        while time.perf_counter() - begin < SECONDS:
            assert await output(queue) in (b"text\n", "text\n")
            done += 1
    await asyncio.gather(*(worker() for _ in range(16)))
    print(f"{done / (time.perf_counter() - begin):.1f}")


async def main():
    if WAY == "asyncio" and sys.version_info < (3, 12):  # newer versions choose a pidfd themselves
        watcher = asyncio.PidfdChildWatcher()
        watcher.attach_loop(asyncio.get_running_loop())
        asyncio.set_child_watcher(watcher)
    await (blocked if WHAT == "blocked" else rate)(aio.Queue(16) if WAY == "queue" else None)

touched = bytearray(MIB << 20)
touched[::4096] = b"\1" * len(touched[::4096])
asyncio.run(main())
