#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random trees of ways.c below aspawn, which ends in several manners: nothing may be left.

TREES=200 in all, with the numbers from SEED=1 on. After the tool's own end nothing is left at once:
the tool has waited for everything. If the tool was killed, its helper needs some time; then none of
the tree stops the helper, which nobody would continue.
"""
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ends

# seconds; an end takes one, or three where the machine is busy
PATIENCE = int(os.environ.get("PATIENCE", 60))

TERM, KILL, INT = signal.SIGTERM, signal.SIGKILL, signal.SIGINT
# Of each kind: options, signals to the tool, the longest time before each in milliseconds, the exit
# codes. 125: the program had not begun.
KINDS = {
    'a limit': (['-t', '5ms', '-k', '5ms'], [], 0, {124, 7}),
    'a limit for the program alone': (['-t', '5ms', '-k', '5ms', '-f'], [], 0, {124, 7}),
    'the end of the program, or a limit': (['-t', '300ms', '-k', '5ms'], [], 0, {124, 7}),
    'SIGTERM': (['-k', '5ms'], [TERM], 20, {128 + TERM, 128 + KILL, 125, 7, -TERM}),
    'SIGTERM before the program exists': (['-k', '5ms'], [TERM], 2, {128 + TERM, 128 + KILL, 125, 7, -TERM}),
    'SIGTERM twice': (['-k', '1'], [TERM, TERM], 10, {128 + TERM, 128 + KILL, 125, 7, -TERM}),
    'SIGINT, SIGTERM': (['-k', '1'], [INT, TERM], 5, {128 + INT, 128 + TERM, 128 + KILL, 125, 7, -INT, -TERM}),
    'SIGKILL in the first milliseconds': ([], [KILL], 5, {-KILL, 7}),
    'SIGKILL later': ([], [KILL], 50, {-KILL, 7}),
    'SIGTERM, SIGKILL': ([], [TERM, KILL], 10, {-KILL, 128 + KILL, 128 + TERM, 125, 7, -TERM}),
}


def has_children():
    """True if this subreaper has a child that has not ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def run(number):
    """(kind, what is wrong or None)"""
    kind = list(KINDS)[number % len(KINDS)]
    options, signals, delay, codes = KINDS[kind]
    chance = random.Random(number)
    ready, ends_ready = os.pipe()
    environment = dict(os.environ, ENDS_READY=str(ends_ready), ENDS_DRIVER=str(os.getpid()))
    process = subprocess.Popen([ends.ASPAWN, '-q', *options, ends.WAYS, '@hostile', str(number // len(KINDS)),
                                *['gentle'] * (KILL in signals)],
                               env=environment, pass_fds=[ends_ready], preexec_fn=os.setpgrp,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    os.close(ends_ready)
    for order in signals:
        time.sleep(chance.uniform(0, delay) / 1000)
        process.send_signal(order)
    try:
        status = process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        status = None
    end = time.monotonic() + (PATIENCE if KILL in signals else 0)
    while (others := has_children()) and time.monotonic() < end:
        time.sleep(0.002)
    others = others and {ends.describe(pid) for pid in ends.below(os.getpid())}
    os.close(ready)
    if others or status is None:
        ends.end_processes([process], lambda: set(ends.below(os.getpid())))
    if status is None:
        return kind, f'tree {number}: the tool did not end in {PATIENCE} seconds'
    if others:
        return kind, f'tree {number}: status {status}, left are {", ".join(others)}'
    return kind, None if status in codes else f'tree {number}: status {status}'


def become_worker():
    ends.become_subreaper()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def main(*numbers):
    first, count = int(os.environ.get('SEED', 1)), int(os.environ.get('TREES', 200))
    jobs = [int(number) for number in numbers] or range(first, first + count)
    wrong = {kind: [] for kind in KINDS}
    with multiprocessing.Pool(8, become_worker) as pool:
        for kind, text in pool.imap_unordered(run, jobs, 4):
            wrong[kind] += [text] if text else []
        pool.close()
        pool.join()
    print(f'1..{len(KINDS)}')
    for number, (kind, texts) in enumerate(wrong.items(), 1):
        print(f"{'not ' if texts else ''}ok {number} - nothing of a hostile tree is left after {kind}")
        for text in texts[:10]:
            print(f'# {text}')
    print(f'# {len(jobs)} trees')


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
