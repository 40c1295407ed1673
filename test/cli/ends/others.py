#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What other tools do to end a command at a limit, written small, for ends.py to compare.

others.py reaper|group|walk SECONDS COMMAND [ARGUMENT...]

reaper  FreeBSD's timeout(1): it adopts orphans, signals all descendants, and waits for all.
group   The command has a process group, which is signalled at the limit, and killed at the end.
walk    At the limit all descendants are looked for in /proc by their parents' numbers, as psutil,
        execa and Deno do it, and signalled.

Each sends SIGTERM, and half a second later SIGKILL.
"""
import ctypes
import os
import signal
import subprocess
import sys
import time

GRACE = 0.5
PR_SET_CHILD_SUBREAPER = 36
ORDERS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]


def descendants(root):
    parents = {}
    for name in os.listdir('/proc'):
        if name.isdigit():
            try:
                with open(f'/proc/{name}/stat', encoding='utf-8', errors='replace') as file:
                    parents.setdefault(int(file.read().rpartition(')')[2].split()[1]), []).append(int(name))
            except OSError:  # it has ended
                continue
    found, todo = [], [root]
    while todo:
        children = parents.get(todo.pop(), [])
        found += children
        todo += children
    return found


def send(pid, number):
    try:
        os.kill(pid, number)
    except OSError:
        pass


def run_group(limit, command):
    process = subprocess.Popen(command, close_fds=False, preexec_fn=os.setpgrp)

    def send_all(number):
        try:
            os.killpg(process.pid, number)
        except OSError:
            pass

    try:
        status = process.wait(limit)
    except subprocess.TimeoutExpired:
        send_all(signal.SIGTERM)
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            pass
        status = 124
    send_all(signal.SIGKILL)
    process.wait()
    return status


def run_walk(limit, command):
    process = subprocess.Popen(command, close_fds=False)
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        pass
    targets = [process.pid] + descendants(process.pid)
    for pid in targets:
        send(pid, signal.SIGTERM)
    time.sleep(GRACE)
    for pid in targets + descendants(process.pid):
        send(pid, signal.SIGKILL)
    process.wait()
    return 124


def run_reaper(limit, command):
    """As the kernel of FreeBSD, which looks until it finds no other process; here 1000 times."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    awaited = ORDERS + [signal.SIGCHLD]
    signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    process = subprocess.Popen(command, close_fds=False,
                               preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, awaited))
    statuses = {}

    def wait(until):
        """True if no child is left."""
        while True:
            try:
                while pid := (ended := os.waitpid(-1, os.WNOHANG))[0]:
                    statuses[pid] = os.waitstatus_to_exitcode(ended[1])
            except ChildProcessError:
                return True
            left = until - time.monotonic()
            if left <= 0:
                return False
            got = signal.sigtimedwait(awaited, left)
            if got and got.si_signo in ORDERS:
                return False

    def send_all(number):
        signalled = set()
        for _ in range(1000):
            others = set(descendants(os.getpid())) - signalled
            if not others:
                break
            for pid in others:
                send(pid, number)
            signalled |= others

    if not wait(time.monotonic() + limit):
        statuses[process.pid] = 124
        send_all(signal.SIGTERM)
        if not wait(time.monotonic() + GRACE):
            send_all(signal.SIGKILL)
            wait(time.monotonic() + 1e6)
    return statuses[process.pid]


def main(tool, seconds, *command):
    status = {'group': run_group, 'walk': run_walk, 'reaper': run_reaper}[tool](float(seconds), command)
    return status if status >= 0 else 128 - status


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
