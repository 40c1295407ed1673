#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes each system call of the library fail in turn, and checks what scenarios.c promises.

faults.py [--all] [SCENARIO...]      injects faults, prints TAP
faults.py SCENARIO FAULT...          one run, as failures below are printed
faults.py SCENARIO trace             the calls of a run without faults

A fault is WHO:CALL:NUMBER:ERROR, "child:close:2:EIO": the child's second close() fails;
with ":on" it and all after it. The error KILL kills the process there instead, STOP stops it for a
moment, and HOST kills the parent: then the helper must end.

The scenario's process asks here before each call (SECCOMP_RET_USER_NOTIF, seccomp_unotify(2)). The
parent is the process that calls the library. A helper is a process that the library clones to wait
in the parent's place; its first call is rt_sigprocmask(2). A child is each other process that has
not executed a program yet.
"""
import collections
import ctypes
import errno
import fcntl
import itertools
import multiprocessing
import os
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

SCENARIOS = os.path.abspath(os.environ.get('BUILD_DIR', 'build')) + '/faults/scenarios'
PROGRAM = os.path.dirname(SCENARIOS) + '/program'

PATIENCE = 15         # seconds without a call: it hangs
MOST_SECONDS = 150    # of a scenario, which takes milliseconds on an idle machine
MOST_CALLS = 2000     # of one process; a few tens are usual, so it spins
MOST_OCCURRENCES = 8  # of one call by one process that are failed in turn
MOST_ALIKE = 2        # failures of the same calls that are printed

# A call with valid arguments may fail with these errors. Errors that call an argument invalid would
# be false: EBADF, ECHILD, ESRCH, EFAULT. A filter may return EPERM and ENOSYS for any call. Errors
# in lower case are transient: they occur once.
ERRORS = {
    'clone': 'EAGAIN ENOMEM EPERM ENOSYS EINVAL',
    'clone3': 'ENOSYS EAGAIN ENOMEM EPERM EINVAL E2BIG EACCES',
    'close': 'EIO eintr',
    'close_range': 'ENOSYS EPERM ENOMEM EMFILE',
    'dup2': 'EMFILE ebusy eintr', 'dup3': 'EMFILE ebusy eintr',
    'execve': 'ENOENT EACCES ETXTBSY etxtbsy ENOMEM EAGAIN EIO E2BIG ELOOP',
    'faccessat': 'EACCES ENOENT EIO',
    'fcntl': 'EMFILE EPERM eagain',
    'futex': 'EPERM ENOSYS ENOMEM eintr eagain',
    'getcwd': 'ENOENT ENOMEM',
    'mmap': 'ENOMEM EAGAIN', 'mprotect': 'ENOMEM EACCES', 'munmap': 'ENOMEM',
    'nanosleep': 'EPERM eintr',
    'openat': 'EMFILE ENFILE ENOENT EACCES eintr',
    'pidfd_getfd': 'EPERM EMFILE ENOSYS ENFILE',
    'pidfd_open': 'ENOSYS EMFILE EPERM',
    'pidfd_send_signal': 'ENOSYS EPERM',
    'pipe2': 'EMFILE ENFILE ENOMEM',
    'ppoll': 'ENOMEM EPERM EINVAL eintr',
    'read': 'EIO EPERM eintr eagain',
    'rt_sigtimedwait': 'EPERM eintr',
    'setresuid': 'EAGAIN EPERM', 'setresgid': 'EPERM',
    'unshare': 'ENOSYS EPERM ENOMEM',
    'wait4': 'EPERM ENOSYS eintr', 'waitid': 'EPERM ENOSYS EINVAL eintr',
    'write': 'EIO ENOSPC EPIPE eintr eagain',
}
OTHERS = 'EPERM ENOSYS ENOMEM'
WAITS = {'futex', 'waitid', 'wait4', 'kill', 'clock_gettime', 'nanosleep', 'ppoll'}
# No program can run without these calls.
NEVER = {'exit', 'exit_group', 'rt_sigreturn', 'restart_syscall'}

# No library could keep these promises for these faults in these scenarios. Each has its reason.
EXCEPTIONS = [
    (r'.*', r'parent:rt_sigprocmask:', r'(lost|left): (SigBlk|SigPnd|ShdPnd)',
     'it is the call that brings the mask back'),
    (r'aspawn_growing_stack|pool.*|own_memory.*', r'parent:rt_sigprocmask:2:',
     r'.* status 0x2b00$',
     'the second child inherits the mask that the first call could not bring back'),
    (r'aspawn_stack_wait', r'parent:clock_gettime:', r'aspawn_stack_wait: -110$',
     'without a clock each limit of time has passed'),
    (r'system.*', r'parent:rt_sigaction:', r'(lost|left): (SigIgn|SigCgt)',
     'it is the call that brings the dispositions back'),
    (r'.*', r'parent:close:', r'left: descriptor \d+ is /dev/null',
     'the place of the closed one, Supervisor.close'),
    (r'(posix|pidfd)_spawn.*|popen.*|system.*', r'parent:wait4:\d:(EPERM|ENOSYS)',
     r'(lost|left): children',
     'a child that may not be waited for stays a zombie'),
    (r'run.*|many_.*|join_killed_cgroup|join_cgroup_vfork',
     r'parent:waitid:\d:(EPERM|ENOSYS|EINVAL)', r'(lost|left): children',
     'the same: a run, a failed start, or the second start in a handle leaves no handle of the child'),
    (r'run.*', r'parent:pidfd_send_signal:\d:EPERM', r'(lost|left): children',
     'a child that may not be killed runs on'),
    (r'.*', r'child:(rt_sigprocmask|execve|write):\d:KILL',
     r'said to run, status 0x9$',
     'killed on the way into the exec: it cannot be told from killed behind it'),
    (r'.*', r'(parent|helper):mmap:', r'said to have failed, status 0x2a00$',
     'it could not write to the pipe, and without that memory there is nothing else'),
    (r'run_input|communicate', r'parent:write:\d:EPIPE', r'output of \d+ bytes$',
     'a program that does not read needs no input'),
    (r'run_pty', r'parent:write:\d:EPIPE', r'hangs',
     'no write to a terminal fails so, and the program waits for its input'),
    (r'(run|communicate)_.*', r'child:execve:\d:', r'run: not started, status 0xf$',
     'the signal of the limit came between the exec that failed and the exit'),
    (r'run_input|communicate', r'parent:rt_sigtimedwait:', r'ended with -13$',
     'SIGPIPE of a program that has let go, which cannot be taken back'),
    (r'.*', r'child:(set_robust_list|gettid):',
     r'said to have failed, status 0x2a00$|said to run, status 0x7f00$',
     'the caller, which has all filters of the child, has found that it works'),
    (r'.*', r'child:write:', r'said to run, status 0x7f00',
     'nobody hears of a failure that cannot be written'),
    (r'.*', r'child:(rt_sigtimedwait|rt_sigprocmask):', r'.*status 0xd$',
     'SIGPIPE of a parent that has let go, which can be neither blocked nor taken back'),
    (r'.*', r'(parent|child|helper):munmap:', r'(lost|left): mappings',
     'what is to be unmapped stays'),
    (r'private_.*|many_.*private', r'helper:\w+:\d+:KILL',
     r'aspawn_wait: -10|said to run|said to have failed, status 0xffffffff$',
     'the child may have ended, and been reaped by init, before the library looked'),
    (r'private_.*|many_.*private', r'helper:pipe2:\d:KILL', r'left: descriptor \d+ is pipe:',
     'it was made in the caller\'s table, and nobody else knows its number'),
    (r'private_tree_new_cgroup.*', r'(helper:(unlinkat|fchdir):\d:|helper:\w+:\d+:(KILL|HOST))', r'a group is left$',
     'nobody else removes it'),
    (r'.*', r'helper:mmap:\d:KILL', r'(lost|left): mappings',
     'it was killed before it could store the address'),
    (r'queue.*', r'parent:futex:\d:\w+:on', r'spins',
     'nothing can wake the caller, which looks each millisecond'),
    (r'queue.*', r'child:read:\d:\w+:on', r'spins',
     'an eventfd that cannot be read stays readable: until its jobs have ended the server spins'),
    (r'queue.*', r'parent:(wait4|waitid):\d:(EPERM|ENOSYS|EINVAL)', r'(lost|left): children',
     'a server or job that may not be waited for stays a zombie'),
    (r'queue_(local_)?tree', r'child:waitid:', r'ran, status 0xffffffff$',
     'the caller of waitid(2) is a helper, a child of the server, and nobody else sees the end'),
]

Fault = collections.namedtuple('Fault', 'who call number error on')
Run = collections.namedtuple('Run', 'trace hits broken skipped')

FAULTS_OFF, FAULTS_ON, BEGIN, FAILED, END = range(1000000, 1000005)  # harness.c's enum mark
STATE, FLAGS, PENDING, EXIT_SIGNAL = 3, 9, 31, 38  # fields of proc_pid_stat(5)
PF_EXITING = 4  # of the flags
CONTINUE = 1  # SECCOMP_USER_NOTIF_FLAG_CONTINUE
NOTIFICATION = struct.Struct('=QIIiIQ6Q')  # struct seccomp_notif
RECEIVE, SEND, ADD_DESCRIPTOR = 0xc0502100, 0xc0182101, 0x40182103  # linux/seccomp.h


def read_numbers():
    """Returns the names of the calls by number, from <sys/syscall.h> of this machine."""
    macros = subprocess.run([os.environ.get('CC', 'cc'), '-dM', '-E', '-x', 'c', '-'], text=True,
                            input='#include <sys/syscall.h>', stdout=subprocess.PIPE, check=True)
    values = dict(re.findall(r'#define (__NR\w+) (\w+)', macros.stdout))
    return {int(values.get(value, value)): name[len('__NR_'):] for name, value in values.items()
            if name.startswith('__NR_') and values.get(value, value).isdigit()}


names = read_numbers()


def parse(text):
    who, call, number, error, *on = text.split(':')
    return Fault(who, call, int(number), error, bool(on))


def unparse(fault):
    return ':'.join([fault.who, fault.call, str(fault.number), fault.error] + ['on'] * fault.on)


def stat(pid, field):
    """Returns a field of proc_pid_stat(5), the third or later, or None if the process has ended."""
    try:
        with open(f'/proc/{pid}/stat', encoding='utf-8', errors='replace') as file:
            return file.read().rpartition(')')[2].split()[field - 3]
    except OSError:
        return None


class Supervisor:
    """Decides about the system calls of one process and its children, until it ends."""

    def __init__(self, scenario, faults):
        self.faults, self.hits = faults, set()
        self.helped = re.search('private|user|ids|oom|cgroup$', scenario)
        self.dies = 'tree_dies' in scenario
        self.trace, self.counts, self.broken = [], collections.Counter(), []
        self.executable, self.calls = {}, collections.Counter()
        self.in_scenario = self.has_failed = False
        self.in_library = set()  # the threads that are
        self.helper = None  # the last one
        self.begins_as_helper = {}  # each process
        ours, its = socket.socketpair()
        self.process = subprocess.Popen([SCENARIOS, scenario, str(its.fileno())],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        pass_fds=[its.fileno()], preexec_fn=os.setpgrp)
        its.close()
        ours.settimeout(PATIENCE)
        _, fds, _, _ = socket.recv_fds(ours, 1, 1)
        ours.close()
        self.listener = fds[0] if fds else None

    def run(self):
        default = signal.signal(signal.SIGTERM, stop)
        try:
            if self.listener is not None:
                self.serve()
            skipped = self.finish()
        finally:  # without the listener their calls would fail with ENOSYS, and waits spin
            end_all()
            if self.listener is not None:
                os.close(self.listener)
            signal.signal(signal.SIGTERM, default)
        return Run(self.trace, self.hits, self.broken, skipped)

    def serve(self):
        end = os.pidfd_open(self.process.pid)
        poll = select.poll()
        poll.register(self.listener, select.POLLIN)
        poll.register(end, select.POLLIN)
        deadline = time.monotonic() + MOST_SECONDS
        try:
            while True:
                ready = dict(poll.poll(PATIENCE * 1000))
                if not ready or time.monotonic() > deadline:
                    return self.broken.append(f'hangs, {len(self.trace)} calls, {self.last}')
                if ready.get(self.listener, 0) & select.POLLIN:
                    if not self.answer_one():
                        return self.broken.append(f'spins, {MOST_CALLS} calls, {self.last}')
                elif end in ready or ready.get(self.listener):
                    if not self.is_helper_alive():
                        return
                    time.sleep(0.001)
                self.reap_orphans()
        finally:
            os.close(end)

    def reap_orphans(self):
        """Reaps as init does: this subreaper inherits the children of a killed helper."""
        for pid in children(os.getpid()):
            if pid != self.process.pid:
                os.waitpid(pid, os.WNOHANG)

    def is_helper_alive(self):
        """True for at most the patience: a killed parent's memory is not free while it runs."""
        return self.helper is not None and any(
            fault.error == 'HOST' for fault in self.hits) and os.path.exists(f'/proc/{self.helper}')

    def answer_one(self):
        buffer = bytearray(NOTIFICATION.size)
        try:
            fcntl.ioctl(self.listener, RECEIVE, buffer)
        except OSError:  # it was killed meanwhile
            return True
        key, pid, _, number, _, _, argument, *_ = NOTIFICATION.unpack(buffer)
        error = self.decide(pid, number, argument)
        if error and names[number] == 'close':
            self.close(key, argument)
        self.answer(key, error)
        self.calls[pid] += 1
        if self.calls[pid] == MOST_CALLS and any(map(is_being_killed, children(pid))):
            self.calls[pid] = 0  # a tree's helper checks each 10 ms if they have ended
        return self.calls[pid] < MOST_CALLS

    def answer(self, key, error):
        answer = struct.pack('=QqiI', key, 0, -error, 0) if error is not None else \
            struct.pack('=QqiI', key, 0, 0, CONTINUE)
        try:
            fcntl.ioctl(self.listener, SEND, answer)
        except OSError:
            pass

    def close(self, key, fd):
        """close(2) closes the descriptor even if it fails: replaces it by /dev/null."""
        null = os.open('/dev/null', os.O_RDWR)
        try:
            fcntl.ioctl(self.listener, ADD_DESCRIPTOR, struct.pack(
                '=QIIII', key, 1, null, fd & 0xffffffff, os.O_CLOEXEC))
        except OSError:
            pass
        os.close(null)

    def decide(self, pid, number, argument):
        """Returns the error of this call, 0 for a mark, None to let the kernel make the call."""
        if FAULTS_OFF <= number <= END:
            self.mark(pid, number, ctypes.c_int(argument).value)
            return 0
        self.last = call = names.get(number, str(number))
        who = self.role(pid, call) if self.in_scenario else None
        if not who:
            return None
        self.trace.append((who, call))
        self.counts[who, call] += 1
        for fault in self.faults:
            if (fault.who, fault.call) == (who, call) and \
                    (self.counts[who, call] == fault.number or
                     fault.on and self.counts[who, call] > fault.number):
                self.hits.add(fault)
                if fault.error == 'STOP':
                    os.kill(pid, signal.SIGSTOP)
                    threading.Timer(0.05, let_go_on, (pid,)).start()
                elif fault.error in ('KILL', 'HOST'):
                    os.kill(self.process.pid if fault.error == 'HOST' else pid, signal.SIGKILL)
                else:
                    return getattr(errno, fault.error)
        return None

    def role(self, pid, call):
        """Returns who calls, or None if no call of the library fails here."""
        if pid == self.process.pid:
            return 'parent' if pid in self.in_library else None
        if self.is_thread(pid) or self.has_executed(pid):
            return None
        if self.helped and pid not in self.begins_as_helper:
            self.begins_as_helper[pid] = call == 'rt_sigprocmask' and stat(pid, EXIT_SIGNAL) == '0'
        if self.begins_as_helper.get(pid):
            self.helper = pid
            return 'helper'
        return 'child'

    def is_thread(self, pid):
        """True for a second thread of the parent."""
        return os.path.exists(f'/proc/{self.process.pid}/task/{pid}')

    def has_executed(self, pid):
        try:
            self.executable[pid] = os.readlink(f'/proc/{pid}/exe')
        except OSError:  # killed
            return True
        return self.executable[pid] != SCENARIOS

    def mark(self, pid, mark, argument):
        if mark == FAULTS_ON:
            self.in_library.add(pid)
        elif mark == FAULTS_OFF:
            self.in_library.discard(pid)
        self.has_failed |= mark == FAILED
        self.in_scenario = mark == BEGIN or self.in_scenario and mark != END
        ran = list(self.executable.values()).count(PROGRAM)
        if mark == END and argument >= 0 and argument != ran:
            self.broken.append(f'{ran} programs ran, {argument} are said to have')

    def await_tree(self):
        """Waits until the helper has ended a tree that dies with its caller, which this process
        inherits."""
        deadline = time.monotonic() + PATIENCE
        while any(pid != self.process.pid for pid in children(os.getpid())):
            if time.monotonic() > deadline:
                return self.broken.append('survives its caller')
            self.reap_orphans()
            time.sleep(0.001)

    def finish(self):
        """Kills remaining processes, and returns the scenario's output."""
        if self.dies and any(fault.error == 'HOST' for fault in self.hits):
            self.await_tree()
        if self.broken and self.broken[-1].startswith(('hangs', 'spins')):
            os.kill(self.process.pid, signal.SIGKILL)
        end_children(self.process.pid)
        text = self.process.stdout.read().decode(errors='replace').splitlines()
        self.process.stdout.close()
        status = self.process.wait()
        if status == 77:
            return '; '.join(text)
        self.broken += text
        if status not in (0, 1, -signal.SIGKILL):
            self.broken.append(f'ended with {status}')
        return None


def let_go_on(pid):
    try:
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:  # it was killed meanwhile
        pass


def children(pid):
    try:
        with open(f'/proc/{pid}/task/{pid}/children', encoding='utf-8') as file:
            return [int(child) for child in file.read().split()]
    except OSError:  # it was killed meanwhile
        return []


def is_being_killed(pid):
    """Returns true if the process is killed, but has not ended: it waits for a processor."""
    return stat(pid, STATE) != 'Z' and (int(stat(pid, PENDING) or 0) & 1 << signal.SIGKILL - 1 or
                                        int(stat(pid, FLAGS) or 0) & PF_EXITING)


def end_children(main):
    """Reaps children of the ended main process, which this subreaper inherits."""
    os.waitid(os.P_PID, main, os.WEXITED | os.WNOWAIT)
    while rest := [pid for pid in children(os.getpid()) if pid != main]:
        for pid in rest:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def end_all():
    """Kills all processes below this subreaper."""
    while rest := children(os.getpid()):
        for pid in rest:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def stop(number, _):
    """Ends this process by way of each finally."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(128 + number)


def become_worker():
    """Makes this process a worker of a pool, which ends what it has started when it is terminated,
    or loses its parent."""
    become_subreaper()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too
    # Supervisor.run() catches it; a wait for a job must not
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(1, signal.SIGTERM, 0, 0, 0)  # PR_SET_PDEATHSIG


def in_pool(function, jobs):
    """Yields the results in order. This process inherits the processes of a killed worker."""
    become_subreaper()
    signal.signal(signal.SIGTERM, stop)
    try:
        with multiprocessing.Pool(2, become_worker) as pool:
            yield from pool.imap(function, jobs, 1)
            pool.close()
            pool.join()
    finally:
        end_all()


def excused(scenario, faults, broken):
    return any(re.fullmatch(where, scenario) and re.match(what, broken) and
               any(re.match(fault, unparse(hit)) for hit in faults)
               for where, fault, what, _ in EXCEPTIONS)


def is_never(who, call):
    return call in NEVER or (who, call) == ('helper', 'waitid')  # nobody else sees the end


def errors_of(call):
    return ERRORS.get(call, OTHERS).split()


def single_faults(trace, everything):
    """Yields each call of the trace with each error, once and persistently; or a selection."""
    for (who, call), count in collections.Counter(trace).items():
        if is_never(who, call):
            continue
        numbers = range(1, min(count, MOST_OCCURRENCES) + 1) if everything else sorted({1, count})
        errors = errors_of(call) if everything else errors_of(call)[:2]
        errors += {'child': ['kill'], 'helper': ['kill', 'stop', 'host']}.get(who, [])
        for number, error in itertools.product(numbers, errors):
            yield (Fault(who, call, number, error.upper(), False),)
            if error.isupper() and (everything or (number == 1 and error == errors[0])):
                yield (Fault(who, call, number, error, True),)


def second_faults(first, trace):
    """Yields second faults: calls of the library's error path fail too."""
    fault = first[0]
    seen = collections.Counter()
    after = False
    for key in trace:
        seen[key] += 1
        if after and not is_never(*key) and seen[key] <= MOST_OCCURRENCES and not (
                fault.on and key == (fault.who, fault.call)):
            yield first + (Fault(*key, seen[key], errors_of(key[1])[0].upper(), False),)
        after = after or (key == (fault.who, fault.call) and seen[key] == fault.number)


def path_of(trace):
    """Returns the calls of each process, without those that depend on timing."""
    def of(who):
        calls = (call for process, call in trace if process == who and call not in WAITS)
        return tuple(call for call, _ in itertools.groupby(calls))
    return of('parent'), of('child')


def test(scenario, everything):
    """Returns (injections, lines about what broke, why it was skipped)."""
    quiet = Supervisor(scenario, ()).run()
    if quiet.skipped is not None or quiet.broken:
        return 0, [f'without faults: {line}' for line in quiet.broken], quiet.skipped
    injections, lines, paths, alike = 0, [], {path_of(quiet.trace)}, collections.Counter()
    hung = set()
    todo = collections.deque(single_faults(quiet.trace, everything))
    while todo:
        faults = todo.popleft()
        kind = tuple((fault.who, fault.call) for fault in faults)
        if kind in hung:
            continue
        run = Supervisor(scenario, faults).run()
        injections += len(run.hits)
        broken = [line for line in run.broken if not excused(scenario, run.hits, line)]
        if broken:
            alike[kind] += 1
            if alike[kind] <= MOST_ALIKE:
                lines.append(f'test/proofs/faults/faults.py {scenario} {" ".join(map(unparse, faults))}')
                lines += [f'    {line}' for line in broken[:6]]
            if alike[kind] == MOST_ALIKE and broken[0].startswith('hangs'):
                hung.add(kind)  # they take long
        elif everything and len(faults) == 1 and path_of(run.trace) not in paths and not any(
                line.startswith('hangs') for line in run.broken):  # each more would take long
            paths.add(path_of(run.trace))
            todo += second_faults(faults, run.trace)
    return injections, lines, None


def become_subreaper():
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def show(scenario, faults):
    become_subreaper()
    run = Supervisor(scenario, [parse(fault) for fault in faults if fault != 'trace']).run()
    if 'trace' in faults:
        print('\n'.join(f'{who:7}{call}' for who, call in run.trace))
    print('\n'.join(run.broken) or 'all promises are kept')
    return 1 if run.broken else 0


def main(arguments):
    everything = '--all' in arguments
    chosen = [argument for argument in arguments if argument != '--all']
    if len(chosen) > 1 and (':' in chosen[1] or chosen[1] == 'trace'):
        return show(chosen[0], chosen[1:])
    known = subprocess.run([SCENARIOS], stdout=subprocess.PIPE, text=True, check=True)
    # The scheduler decides how many stacks two threads need, and so what is left. test-instants
    # tests such threads.
    chosen = chosen or [name for name in known.stdout.split() if name != 'pool_threads']
    total = 0
    print(f'1..{len(chosen)}', flush=True)
    results = in_pool(Test(everything), chosen)
    for number, (scenario, (injections, lines, skipped)) in enumerate(zip(chosen, results), 1):
        total += injections
        print(f"{'not ' if lines else ''}ok {number} - {scenario}: {injections} injections" +
              (f' # SKIP {skipped}' if skipped is not None else ''), flush=True)
        for line in lines:
            print('# ' + line, flush=True)
    print(f'# {total} injections in all')
    return 0


class Test:
    def __init__(self, everything):
        self.everything = everything

    def __call__(self, scenario):
        return test(scenario, self.everything)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
