#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs each way of ways.c below aspawn, and counts the processes that survive its end.

ends.py [--jobs N] [WAY...]          TAP: none survives aspawn but what its manual names
ends.py --table [--tool NAME] ...    the same below other tools too, as the table of doc/ends.md

A survivor is a process that has become a descendant of the worker here, which is a subreaper: the
kernel gives it all orphans. No process can leave that by accident, nor on purpose without the help
of a service. So the environment has a mark too, by which processes of services are found. Neither
needs the name of a process, and neither is what a tool compared here goes by. Survivors are
counted a second after the tool's end, as what was killed needs some time.

As root everything runs as a user of its own.
"""
import argparse
import ctypes
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ.get('BUILD_DIR', 'build'))
WAYS, ASPAWN = BUILD + '/test/cli/ways', BUILD + '/cli/aspawn'
# Another user may be unable to execute the Python that root has in a directory of its own.
OTHERS = ['/usr/bin/python3' if os.path.exists('/usr/bin/python3') else sys.executable, HERE + '/others.py']
LIMIT = 1       # second
PATIENCE = 8    # seconds behind the limit: then the tool waits for something that does not end
SETTLING = 1    # second
BUSY = 10       # times as long on a busy machine, where only a failure takes that long
NOT_HERE = 77   # ways.c
PR_SET_CHILD_SUBREAPER = 36

# Their names in the table, and their command lines before the command.
TOOLS = {
    'timeout': ('GNU timeout', lambda limit: ['timeout', '-k', '0.5', str(limit)]),
    'group': ('kill of the process group', lambda limit: OTHERS + ['group', str(limit)]),
    'walk': ('walk of /proc by parents', lambda limit: OTHERS + ['walk', str(limit)]),
    'reaper': ("FreeBSD's way: a subreaper that walks", lambda limit: OTHERS + ['reaper', str(limit)]),
    'systemd-run': ('systemd-run --scope', lambda limit: systemd_run(limit)),
    'aspawn': ('aspawn', lambda limit: [ASPAWN, '-t', str(limit), '-k', '0.5']),
}


def systemd_run(limit):
    user = [f'--uid={user_here()}'] if os.geteuid() == 0 else ['--user']
    return ['systemd-run', '--quiet', '--scope', *user, '-p', f'RuntimeMaxSec={limit}', '-p', 'TimeoutStopSec=500ms']


def user_here():
    """A user without other processes, of whom RLIMIT_NPROC counts those of one way."""
    return 10000 + os.getpid() % 50000


def is_zombie(pid, state):
    """False for a process whose main thread alone has ended."""
    try:
        return state == 'Z' and len(os.listdir(f'/proc/{pid}/task')) == 1
    except OSError:
        return True


def table_of_processes():
    """The children of each process."""
    children = {}
    for name in os.listdir('/proc'):
        if name.isdigit():
            try:
                with open(f'/proc/{name}/stat', encoding='utf-8', errors='replace') as file:
                    state, parent = file.read().rpartition(')')[2].split()[:2]
            except OSError:  # it has ended
                continue
            children.setdefault(int(parent), []).append((int(name), state))
    return children


def describe(pid):
    """A line about a process, for who reads of a failure."""
    try:
        with open(f'/proc/{pid}/stat', encoding='utf-8', errors='replace') as file:
            return ' '.join(file.read().split()[:6])
    except OSError:
        return f'{pid} (ended)'


def below(root):
    children = table_of_processes()
    todo = [root]
    while todo:
        for pid, state in children.get(todo.pop(), []):
            todo.append(pid)
            if not is_zombie(pid, state):
                yield pid


def marked(mark):
    for name in os.listdir('/proc'):
        if name.isdigit() and int(name) != os.getpid():
            try:
                with open(f'/proc/{name}/environ', 'rb') as file:
                    if mark in file.read():
                        yield int(name)
            except OSError:
                continue


class Attempt:
    """One way below one tool."""

    def __init__(self, tool, way, limit, directory):
        self.tool, self.way, self.limit, self.directory = tool, way, limit, directory
        self.mark = f'ENDS_MARK={os.getpid()}-{time.monotonic_ns()}'
        self.ready, ready = os.pipe()
        os.set_blocking(self.ready, False)
        self.output = tempfile.TemporaryFile()
        name, value = self.mark.split('=')
        self.environment = dict(os.environ, ENDS_READY=str(ready), ENDS_DRIVER=str(os.getpid()), **{name: value})
        if os.path.exists(directory + '/ways-of-root'):
            self.environment['ENDS_SET_USER_ID'] = directory + '/ways-of-root'
        self.service = self.start_service(ready) if way == 'service' else None
        self.process = self.start(TOOLS[tool][1](limit) + [directory + '/ways', way], ready, self.environment)
        os.close(ready)

    def start(self, command, ready, environment):
        ids = {'user': user_here(), 'group': user_here(), 'extra_groups': []} if os.geteuid() == 0 else {}
        if command[0] == 'systemd-run':
            ids = {}
        return subprocess.Popen(command, pass_fds=[ready], env=environment, preexec_fn=os.setpgrp, cwd='/',
                                stdin=subprocess.DEVNULL, stdout=self.output, stderr=self.output, **ids)

    def start_service(self, ready):
        """It has no mark; those that it starts are its children."""
        path = f'{self.directory}/{self.mark}'
        self.environment['ENDS_SERVICE'] = path
        environment = {name: value for name, value in self.environment.items() if name != 'ENDS_MARK'}
        service = self.start([self.directory + '/ways', '@service'], ready, environment)
        while not os.path.exists(path) and service.poll() is None:
            time.sleep(0.01)
        return service

    def others(self):
        known = {self.process.pid, self.service.pid if self.service else 0}
        return (set(below(os.getpid())) | set(marked(self.mark.encode()))) - known

    def has_children(self):
        """Exact, where a look through /proc may miss a process that forks and
        exits again and again."""
        if self.service or self.process.returncode is None or self.tool == 'systemd-run':
            return bool(self.others())
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return False
        return True

    def run(self, times):
        """(survivors, whether the tool waits without end, whether the way was tried,
        status, output), with so many times the patience"""
        try:
            try:
                status = self.process.wait(self.limit + times * PATIENCE)
            except subprocess.TimeoutExpired:
                status = None
            end = time.monotonic() + times * SETTLING
            if self.tool == 'systemd-run':
                end += self.limit + 1  # the command took the place of the tool
            while (more := self.has_children()) and time.monotonic() < end:
                time.sleep(0.02)
            left = max([1] + [len(self.others()) for _ in range(3)]) if more else len(self.others())
            try:
                tried = bool(os.read(self.ready, 1))
            except BlockingIOError:
                tried = False
        finally:
            os.close(self.ready)
            end_processes(filter(None, [self.service, self.process]), self.others)
        self.output.seek(0)
        return left, status is None, tried, status, self.output.read().decode(errors='replace')


def end_processes(known, others):
    """By their numbers, as long as there are others: some make new ones."""
    for process in known:
        if process.poll() is None:
            process.kill()
            process.wait()
    while True:
        for pid in others():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def prepare(directory):
    """What another user may execute. Returns why no set-user-ID program is there, or None."""
    os.chmod(directory, 0o1777 if os.geteuid() == 0 else 0o700)
    shutil.copy(WAYS, directory + '/ways')
    shutil.copy(HERE + '/others.py', directory + '/others.py')
    if os.path.exists(ASPAWN):
        shutil.copy(ASPAWN, directory + '/aspawn')
    if os.geteuid() == 0 and not os.statvfs(directory).f_flag & os.ST_NOSUID:
        shutil.copy(WAYS, directory + '/ways-of-root')
        os.chmod(directory + '/ways-of-root', 0o4755)


def become_subreaper():
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def attempt(job):
    """The last line of the output is the reason where a way was not tried.
    A busy machine gets more time."""
    tool, way, directory, times = job
    for limit in (LIMIT, 3 * LIMIT, 10 * LIMIT):
        left, waits, tried, status, output = Attempt(tool, way, limit, directory).run(times)
        if tried or status == NOT_HERE:
            break
    lines = output.strip().splitlines()
    reason = None if tried else lines[-1] if lines else f'not tried, status {status}'
    return tool, way, left, waits, reason, status == NOT_HERE, lines


def run_all(tools, ways, jobs, directory, is_test=False):
    todo = [(tool, way, directory, BUSY if is_test and not ways[way][0] else 1) for way in ways for tool in tools]
    become_subreaper()  # what a worker leaves that is ended itself
    try:
        with multiprocessing.Pool(jobs, become_subreaper) as pool:
            yield from pool.imap(attempt, todo, 1)
            pool.close()
            pool.join()
    finally:
        end_processes([], lambda: set(below(os.getpid())))


def why_missing(tool, directory):
    """Why this machine cannot run the tool, or None."""
    command = TOOLS[tool][1](LIMIT)
    if not shutil.which(command[0]):
        return f'no {command[0]}'
    run = subprocess.run(command + ['true'], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True)
    return run.stdout.strip().splitlines()[-1] if run.returncode and run.stdout.strip() else None


def show_tests(ways, results):
    print(f'1..{len(ways)}', flush=True)
    for number, (_, way, left, waits, reason, skipped, lines) in enumerate(results, 1):
        named = ways[way][0]
        good = skipped or named or not (left or waits or reason)
        text = f"{'' if good else 'not '}ok {number} - {way}"
        print(text + (f' # SKIP {reason}' if skipped else ''), flush=True)
        if named and (left or waits):
            print(f'# {left} left{", the tool waits" if waits else ""}: the manual names it, {named}')
        if not good:
            print(f'# {left} left{", the tool waits" if waits else ""}{", " + reason if reason else ""}')
            for line in lines[-5:]:
                print(f'# {line}')


def cell(left, waits, reason):
    if reason is not None:
        return '-'
    return f"{left or ''}{', ' if left and waits else ''}{'waits' if waits else ''}" or '0'


def show_table(tools, missing, ways, results):
    cells, reasons = {}, []
    for tool, way, left, waits, reason, _, _ in results:
        cells[tool, way] = (left, waits, reason)
        if reason is not None:
            reasons.append(f'<!-- {tool}, {way}: {reason} -->')
    print('| tool | ways after which something is left | of |\n| --- | ---: | ---: |')
    for tool in tools:
        tried = [cells[tool, way] for way in ways if cells[tool, way][2] is None]
        print(f'| {TOOLS[tool][0]} | {sum(left > 0 for left, _, _ in tried)} | {len(tried)} |')
    for tool, reason in missing.items():
        print(f'\n{TOOLS[tool][0]}: not measured, {reason}')
    print(f"\n| way | what is tried | {' | '.join(tools)} |\n| --- | --- |{' ---: |' * len(tools)}")
    for way, (_, what) in ways.items():
        print(f"| {way} | {what} | {' | '.join(cell(*cells[tool, way]) for tool in tools)} |")
    print('\n' + '\n'.join(reasons))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--table', action='store_true')
    parser.add_argument('--tool', action='append', choices=TOOLS)
    parser.add_argument('--jobs', type=int, default=8)
    parser.add_argument('ways', nargs='*')
    arguments = parser.parse_args()
    rows = (line.split('\t') for line in subprocess.run([WAYS], stdout=subprocess.PIPE, text=True, check=True)
            .stdout.splitlines())
    ways = {name: (named, what) for name, named, what in rows
            if not arguments.ways or any(re.search(word, name) for word in arguments.ways)}
    with tempfile.TemporaryDirectory() as directory:
        prepare(directory)
        global ASPAWN
        ASPAWN = directory + '/aspawn'
        OTHERS[1] = directory + '/others.py'
        if not arguments.table:
            show_tests(ways, run_all(['aspawn'], ways, arguments.jobs, directory, True))
            return
        tools = arguments.tool or list(TOOLS)
        missing = {tool: reason for tool in tools if (reason := why_missing(tool, directory))}
        tools = [tool for tool in tools if tool not in missing]
        show_table(tools, missing, ways, run_all(tools, ways, arguments.jobs, directory))


if __name__ == '__main__':
    sys.exit(main())
