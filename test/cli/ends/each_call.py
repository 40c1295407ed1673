#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tool gets a signal at each of its own system calls: nothing of its command may be left.

each_call.py [KIND [NUMBER]]

By the way of test/proofs/faults: each system call of the tool, and of all that it starts, asks here
first (seccomp_unotify(2)). The descriptor for that hangs up when no process has the filter any
more: then nothing is left, as nobody can drop a filter. The command is a daemon that ignores
signals, and a program that waits for a limit of time.
"""
import collections
import ctypes
import errno
import fcntl
import multiprocessing
import os
import select
import signal
import socket
import struct
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + '/../../proofs/faults']
import ends
import faults

PATIENCE = 20  # seconds; an end takes a fifth of one
EVERY = 1 if os.environ.get('WHOLE') else 7
MOST_CALLS = 400  # of the tool before its end; some tens are usual
SET_MODE_FILTER, NEW_LISTENER, WAIT_KILLABLE = 1, 8, 32  # linux/seccomp.h
PR_SET_NO_NEW_PRIVS = 38
number_of = {name: number for number, name in faults.names.items()}

# What the tool gets, and whether it goes on after a stop.
KINDS = {'SIGKILL': signal.SIGKILL, 'SIGTERM': signal.SIGTERM, 'SIGHUP': signal.SIGHUP, 'a stop': signal.SIGSTOP}
Run = collections.namedtuple('Run', 'calls was_signalled is_left status name')


def install_filter():
    """Returns the listener. All calls but sendmsg(2) ask there."""
    code = b''.join(struct.pack('=HBBI', *line) for line in (
        (0x20, 0, 0, 0),                          # the number of the call
        (0x15, 0, 1, number_of['sendmsg']),
        (0x06, 0, 0, 0x7fff0000),                 # SECCOMP_RET_ALLOW
        (0x06, 0, 0, 0x7fc00000)))                # SECCOMP_RET_USER_NOTIF
    buffer = ctypes.create_string_buffer(code)
    program = struct.pack('@HP', len(code) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return libc.syscall(number_of['seccomp'], SET_MODE_FILTER, NEW_LISTENER | WAIT_KILLABLE, program)


def start_filtered(command, environment):
    """(pid, listener)"""
    ours, its = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        try:
            os.setpgrp()
            os.dup2(os.open('/dev/null', os.O_RDWR), 1)
            listener = install_filter()
            socket.send_fds(its, [b'x'], [listener] if listener >= 0 else [])
            os.execve(command[0], command, environment)
        finally:
            os._exit(99)
    its.close()
    _, fds, _, _ = socket.recv_fds(ours, 1, 1)
    ours.close()
    return pid, fds[0] if fds else None


class Supervisor:
    def __init__(self, kind, number):
        self.kind, self.number = kind, number
        self.calls, self.is_tool, self.name = 0, False, None
        self.continue_at = None
        self.ready, ready = os.pipe()
        os.set_inheritable(ready, True)
        environment = dict(os.environ, ENDS_READY=str(ready), ENDS_DRIVER=str(os.getpid()))
        self.tool, self.listener = start_filtered(
            [ends.ASPAWN, '-q', '-t', '0.1', '-k', '0.05', ends.WAYS, 'daemon'], environment)
        os.close(ready)

    def decide(self, pid, call):
        if pid != self.tool:
            return
        if self.is_tool:
            self.calls += 1
            if self.calls == self.number:
                self.name = faults.names.get(call, str(call))
                os.kill(self.tool, KINDS[self.kind])
                if KINDS[self.kind] == signal.SIGSTOP:
                    self.continue_at = time.monotonic() + 0.3
        elif call == number_of['execve']:
            self.is_tool = True

    def answer_one(self):
        buffer = bytearray(faults.NOTIFICATION.size)
        try:
            fcntl.ioctl(self.listener, faults.RECEIVE, buffer)
            key, pid, _, call, *_ = faults.NOTIFICATION.unpack(buffer)
            self.decide(pid, call)
            fcntl.ioctl(self.listener, faults.SEND, struct.pack('=QqiI', key, 0, 0, faults.CONTINUE))
        except OSError as error:
            if error.errno != errno.ENOENT:  # it was killed meanwhile
                raise

    def serve(self):
        """True when no process is left."""
        poll = select.poll()
        poll.register(self.listener, select.POLLIN)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            ready = poll.poll(20)
            if self.continue_at and time.monotonic() > self.continue_at:
                self.continue_at = None
                os.kill(self.tool, signal.SIGCONT)
            if ready and ready[0][1] & select.POLLIN:
                self.answer_one()
            elif ready:
                return True
            self.reap()
        return False

    def reap(self):
        """The tool stays a zombie, whose number is nobody else's."""
        while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if ended.si_pid == self.tool:
                return
            os.waitpid(ended.si_pid, 0)

    def run(self):
        if self.listener is None:
            os.waitpid(self.tool, 0)
            return None
        is_left = not self.serve()
        os.close(self.ready)
        if is_left:
            for pid in ends.below(os.getpid()):
                os.kill(pid, signal.SIGKILL)
        os.close(self.listener)
        status = os.waitstatus_to_exitcode(os.waitpid(self.tool, 0)[1])
        ends.end_processes([], lambda: set(ends.below(os.getpid())))
        return Run(self.calls, self.name is not None, is_left, status, self.name)


def run(job):
    return Supervisor(*job).run()


def wrong_of(kind, number, run):
    """124: it has reached its limit; 125: the program had not begun; the rest:
    the signal has ended it."""
    codes = {124, 125, -KINDS[kind], 128 + KINDS[kind], 128 + signal.SIGKILL}
    if run.is_left:
        return f'call {number}, {run.name}: something is left after {PATIENCE} seconds'
    if run.status not in codes:
        return f'call {number}, {run.name}: status {run.status}'
    return None


def main(kind=None, number=None):
    kinds = [kind] if kind else list(KINDS)
    with multiprocessing.Pool(4, ends.become_subreaper) as pool:
        first = pool.apply(run, ((kinds[0], 0),))
        if first is None:
            print('1..0 # SKIP no seccomp filters')
            return
        print(f'1..{len(kinds)}', flush=True)
        for index, kind in enumerate(kinds, 1):
            numbers = [int(number)] if number else range(1, min(first.calls, MOST_CALLS) + 1, EVERY)
            runs = pool.map(run, [(kind, number) for number in numbers], 1)
            wrong = list(filter(None, map(wrong_of, [kind] * len(runs), numbers, runs)))
            signalled = sum(run.was_signalled for run in runs)
            print(f"{'not ' if wrong or not signalled else ''}ok {index} - nothing is left after {kind} at "
                  f"{'a call' if number else 'each call' if EVERY == 1 else 'some calls'} of the tool", flush=True)
            for line in wrong[:20]:
                print(f'# {line}')
            print(f'# {signalled} calls')


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
