#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command aspawn on a terminal: below an interactive bash, and alone with --pty.

terminal.t [WORD...]   those of which the name has one of the words
"""
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

ASPAWN = os.path.abspath(os.environ.get('BUILD_DIR', 'build')) + '/cli/aspawn'
PATIENCE = 60  # seconds: only a failure takes as long
PROMPT = 'next> '
tests = []


class Terminal:
    """A program on a terminal of its own, as the leader of the session."""

    def __init__(self, *command):
        environment = dict(os.environ, TERM='vt100', PS1=PROMPT, HISTFILE='', aspawn=ASPAWN, INPUTRC='/dev/null')
        self.seen = ''
        begin, go_on = os.pipe()
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.close(go_on)
            os.read(begin, 1)
            for ignored in signal.SIGINT, signal.SIGQUIT, signal.SIGHUP:  # by a script, or nohup
                signal.signal(ignored, signal.SIG_DFL)
            os.execvpe(command[0], command, environment)
        os.close(begin)
        self.resize(30, 90)
        self.modes = termios.tcgetattr(self.master)
        os.close(go_on)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """The session gets SIGHUP: nothing but it is on the terminal."""
        os.close(self.master)
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def send(self, text):
        os.write(self.master, text.encode())

    def expect(self, pattern):
        """Reads until the pattern comes, and returns its groups. What came before is dropped."""
        deadline = time.monotonic() + PATIENCE
        while not (match := re.search(pattern, self.seen)):
            if not select.select([self.master], [], [], max(0, deadline - time.monotonic()))[0]:
                raise AssertionError(f'{pattern!r} does not come, only {self.seen!r}')
            try:
                self.seen += os.read(self.master, 4096).decode(errors='replace')
            except OSError:
                raise AssertionError(f'{pattern!r} did not come before the end, only {self.seen!r}') from None
        self.seen = self.seen[match.end():]
        return match.groups()

    def wait(self):
        """The exit code of the leader, or minus the signal. What it writes is read meanwhile."""
        deadline = time.monotonic() + PATIENCE
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = None
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() > deadline:
                raise AssertionError(f'there is no end after {PATIENCE} seconds')
            if select.select([self.master], [], [], 0.02)[0]:
                try:
                    self.seen += os.read(self.master, 4096).decode(errors='replace')
                except OSError:
                    time.sleep(0.02)

    def foreground(self):
        return os.tcgetpgrp(self.master)

    def has_its_modes(self):
        deadline = time.monotonic() + PATIENCE
        while termios.tcgetattr(self.master) != self.modes:
            if time.monotonic() > deadline:
                raise AssertionError(f'the modes are {termios.tcgetattr(self.master)}, not {self.modes}')
            time.sleep(0.01)


class Shell(Terminal):
    def __init__(self):
        super().__init__('bash', '--norc', '--noprofile', '-i')
        self.expect(PROMPT)

    def fg(self):
        """The job has the terminal, and runs. What is typed earlier is for the shell, and a stop is
        lost by SIGCONT."""
        own = self.foreground()
        self.run('fg')
        until(lambda: self.foreground() != own and 'T' not in states(self.foreground()))

    def run(self, line):
        """What is typed comes back as the line, which the patterns below do not match."""
        self.send(line + '\n')

    def code(self):
        self.run('echo "code:"$?')
        return int(self.expect(r'code:(\d+)\r\n(?s:.*)' + PROMPT)[0])


def until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f'nothing comes in {PATIENCE} seconds'
        time.sleep(0.01)


def states(group):
    """The states of a process group's processes, as /proc has them."""
    found = ''
    for name in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{name}/stat', encoding='utf-8', errors='replace') as file:
                state, _, its_group = file.read().rpartition(')')[2].split()[:3]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if its_group == str(group):
            found += state
    return found


def test(function):
    tests.append(function)
    return function


class Skip(Exception):
    pass


def equal(one, other):
    assert one == other, f'{one!r} instead of {other!r}'


# --- below a shell: the command is in the tool's process group -----------------------------------


@test
def ctrl_c_ends_the_program():
    with Shell() as shell:
        shell.run("$aspawn sh -c 'echo run''ning; exec sleep 1000'")
        shell.expect('running')
        shell.send('\x03')
        shell.expect(PROMPT)
        equal(shell.code(), 130)


@test
def ctrl_c_is_for_the_program_to_handle():
    with Shell() as shell:
        shell.run("""$aspawn sh -c 'trap "echo cau""ght; exit 3" INT; echo run''ning; while :; do sleep 0.05; done'""")
        shell.expect('running')
        shell.send('\x03')
        shell.expect('caught\r\n')
        shell.expect(PROMPT)
        equal(shell.code(), 3)


@test
def ctrl_c_comes_once():
    with Shell() as shell:
        shell.run("""$aspawn sh -c 'n=0; trap "n=\\$((n+1))" INT; echo run''ning; read x; read x; echo n=$n'""")
        shell.expect('running')
        shell.send('\x03')
        time.sleep(0.3)
        shell.send('\n\n')
        shell.expect(r'n=1\r\n')


@test
def ctrl_backslash_ends_the_program():
    with Shell() as shell:
        shell.run("$aspawn sh -c 'ulimit -c 0; echo run''ning; exec sleep 1000'")
        shell.expect('running')
        shell.send('\x1c')
        shell.expect(PROMPT)
        equal(shell.code(), 131)


@test
def ctrl_z_and_fg():
    with Shell() as shell:
        shell.run("$aspawn sh -c 'echo run''ning; read x; echo got=$x'")
        shell.expect('running')
        shell.send('\x1a')
        shell.expect('Stopped(?s:.*)' + PROMPT)
        assert shell.code() in (128 + signal.SIGSTOP, 128 + signal.SIGTSTP)
        shell.fg()
        shell.expect('aspawn sh -c')
        shell.send('hel' 'lo\n')
        shell.expect('got=hello')
        shell.expect(PROMPT)
        equal(shell.code(), 0)


@test
def ctrl_z_and_fg_and_ctrl_c():
    with Shell() as shell:
        shell.run("$aspawn sh -c 'echo run''ning; exec sleep 1000'")
        shell.expect('running')
        for _ in range(3):
            shell.send('\x1a')
            shell.expect('Stopped(?s:.*)' + PROMPT)
            shell.fg()
        shell.send('\x03')
        shell.expect(PROMPT)
        equal(shell.code(), 130)


@test
def bg_goes_on():
    with tempfile.TemporaryDirectory() as directory, Shell() as shell:
        shell.run(f"cd {directory}; $aspawn sh -c 'echo run''ning; until test -e go; do sleep 0.05; done; exit 5'")
        shell.expect('running')
        shell.send('\x1a')
        shell.expect('Stopped(?s:.*)' + PROMPT)
        shell.run('bg; wait %1; echo code=$?')
        shell.expect('&\r\n')
        os.mknod(directory + '/go')
        shell.expect('code=5')


@test
def a_reader_in_the_background_is_stopped():
    with Shell() as shell:
        shell.run('$aspawn cat &')
        shell.expect(PROMPT)
        deadline = time.monotonic() + PATIENCE
        stopped = None
        while not stopped and time.monotonic() < deadline:
            shell.run('jobs; echo "jobs"-end')
            stopped = re.search('Stopped', shell.expect(r'((?s:.*))jobs-end\r\n(?s:.*)' + PROMPT)[0])
        assert stopped
        shell.fg()
        shell.expect('aspawn cat\r\n')
        shell.send('hel' 'lo\n')
        shell.expect('hello\r\nhello\r\n')
        shell.send('\x04')
        shell.expect(PROMPT)
        equal(shell.code(), 0)


@test
def a_program_reads_and_sets_modes():
    with Shell() as shell:
        shell.run("""$aspawn sh -c 'stty -echo; echo run''ning; read x; stty echo; echo "<$x>"'""")
        shell.expect('running\r\n')
        shell.send('secret\n')
        equal(shell.expect('((?s:.*))<secret>\r\n')[0], '')
        shell.run("""$aspawn bash -c 'read -sp pass''word: x; echo "<$x>"'""")
        shell.expect('password:')
        shell.send('secret\n')
        equal(shell.expect('((?s:.*))<secret>\r\n')[0], '')
        equal(shell.code(), 0)


@test
def the_shell_keeps_the_terminal_after_a_limit():
    with Shell() as shell:
        shell.run("$aspawn -q -t 0.3 sh -c 'sleep 1000'; echo code=$?")
        shell.expect('code=124\r\n')
        shell.expect(PROMPT)
        equal(shell.foreground(), shell.pid)


@test
def the_shell_keeps_the_terminal_after_sigkill_of_the_tool():
    with Shell() as shell:
        shell.run("$aspawn sh -c 'echo run''ning; exec sleep 1000' & kill -9 %1; wait %1; echo code=$?")
        shell.expect('code=137')
        shell.run("$aspawn sh -c 'echo group=$(ps -o pgid= $$) run''ning; exec sleep 1000'; echo code=$?")
        group = int(shell.expect(r'group= *(\d+) running')[0])
        os.kill(group, signal.SIGKILL)
        shell.expect('code=137')
        equal(shell.code(), 0)


@test
def an_interactive_shell_below():
    with Shell() as shell:
        shell.run("PS1='in''ner> ' $aspawn bash --norc --noprofile -i")
        shell.expect('inner> ')
        shell.run("sh -c 'echo run''ning; exec sleep 1000'")
        shell.expect('running')
        shell.send('\x1a')
        shell.expect('Stopped(?s:.*)inner> ')
        shell.fg()
        shell.expect('sh -c')
        shell.send('\x03')
        shell.expect('inner> ')
        shell.run('exit 4')
        shell.expect(PROMPT)
        equal(shell.code(), 4)


@test
def an_editor():
    editor = shutil.which('vi') or shutil.which('vim') or shutil.which('nano')
    if not editor:
        raise Skip('no vi, no nano')
    for options in '', '--pty ':
        with tempfile.TemporaryDirectory() as directory, Shell() as shell:
            shell.run(f'cd {directory}; $aspawn {options}{editor} text')
            keys = 'hel' 'lo\x18y\r' if 'nano' in editor else 'ihel' 'lo\x1b:wq\r'
            shell.expect('text')
            time.sleep(0.5)
            shell.send(keys)
            shell.expect(PROMPT)
            equal(shell.code(), 0)
            with open(directory + '/text', encoding='utf-8') as file:
                equal(file.read(), 'hello\n')


@test
def an_interactive_shell_ends_with_its_input():
    """Readline reads the end of the file as a character, and not from the terminal's line
    discipline."""
    environment = dict(os.environ, TERM='vt100', HISTFILE='', INPUTRC='/dev/null')
    ran = subprocess.run([ASPAWN, '--pty', '--idle', '40', 'bash', '--norc', '-i'], input=b'echo hi\n', env=environment,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE)
    equal(ran.returncode, 0)
    equal(b'hi\r\n' in ran.stdout, True)


@test
def nested():
    with Shell() as shell:
        shell.run("$aspawn $aspawn $aspawn sh -c 'echo run''ning; read x; echo got=$x; exec sleep 1000'")
        shell.expect('running')
        shell.send('\x1a')
        shell.expect('Stopped(?s:.*)' + PROMPT)
        shell.fg()
        shell.expect('aspawn sh -c')
        shell.send('hel' 'lo\n')
        shell.expect('got=hello')
        shell.send('\x03')
        shell.expect(PROMPT)
        equal(shell.code(), 130)


@test
def nested_with_a_terminal():
    with Shell() as shell:
        shell.run("$aspawn --pty $aspawn --pty sh -c 'stty size; tty; read x; echo got=$x; exit 6'")
        shell.expect(r'30 90\r\n/dev/pts/\d+\r\n')
        shell.send('hel' 'lo\n')
        shell.expect('got=hello')
        shell.expect(PROMPT)
        equal(shell.code(), 6)


# --- a terminal of the command's own, by --pty ----------------------------------------------------


@test
def a_terminal_of_its_own():
    with Shell() as shell:
        shell.run("tty; $aspawn --pty sh -c 'tty; stty size; ps -o tpgid= -o pgid= $$'")
        outer, inner = shell.expect(r'(/dev/pts/\d+)\r\n(/dev/pts/\d+)\r\n30 90\r\n')
        assert outer != inner, outer
        front, group = shell.expect(r'(\d+) +(\d+)\r\n')
        equal(front, group)


@test
def a_new_size_arrives():
    with Shell() as shell:
        shell.run("$aspawn --pty bash -c 'trap \"stty size; exit 0\" WINCH; "
                  "echo run''ning; while :; do sleep 0.05; done'")
        shell.expect('running')
        shell.resize(25, 70)
        shell.expect('25 70\r\n')
        shell.expect(PROMPT)


@test
def ctrl_c_with_a_terminal():
    with Shell() as shell:
        shell.run("$aspawn --pty sh -c 'echo run''ning; exec sleep 1000'")
        shell.expect('running')
        shell.send('\x03')
        shell.expect(PROMPT)
        equal(shell.code(), 130)


PROGRAM = 'echo running; exec sleep 1000'
ENDS = {
    'the end of the program': (['sh', '-c', 'echo running; exit 3'], None, {3}),
    'a limit': (['-q', 'sh', '-c', PROGRAM], signal.SIGALRM, {124}),
    'a limit and SIGKILL': (['-q', '-k', '0.1', 'sh', '-c', 'trap "" TERM; ' + PROGRAM], signal.SIGALRM, {124}),
    'Ctrl-C': (['-q', 'sh', '-c', PROGRAM], '\x03', {130}),
    'SIGTERM': (['-q', 'sh', '-c', PROGRAM], signal.SIGTERM, {143}),
    'SIGHUP': (['-q', 'sh', '-c', PROGRAM], signal.SIGHUP, {129}),
    'SIGINT': (['-q', 'sh', '-c', PROGRAM], signal.SIGINT, {130}),
    'SIGQUIT': (['-q', 'sh', '-c', 'ulimit -c 0; ' + PROGRAM], signal.SIGQUIT, {131}),
    'SIGKILL of the tool': (['sh', '-c', PROGRAM], signal.SIGKILL, {-9}),
    'SIGSEGV of the tool': (['sh', '-c', PROGRAM], signal.SIGSEGV, {-11, 139}),
    'SIGKILL of the program': (['-q', 'sh', '-c', 'echo running; kill -9 $$'], None, {137}),
    'SIGKILL of its parent': (['-q', 'sh', '-c', 'echo running; kill -9 $PPID; exec sleep 1000'], None, {137, 125}),
    'a missing program': (['-q', 'no-such-program'], None, {127}),
    'a program that sets modes': (['sh', '-c', 'stty raw -echo; echo running; exit 3'], None, {3}),
}


def has_modes_after(name):
    arguments, order, codes = ENDS[name]
    with Terminal(ASPAWN, '--pty', *arguments) as terminal:
        if 'missing' not in name:
            terminal.expect('running')
        if isinstance(order, str):
            terminal.send(order)
        elif order:
            os.kill(terminal.pid, order)
        code = terminal.wait()
        assert code in codes, f'exit code {code} instead of {codes}'
        terminal.has_its_modes()


for ending in ENDS:
    def restores(name=ending):
        has_modes_after(name)
    restores.__name__ = f'the modes are restored after {ending}'
    test(restores)


@test
def a_stop_gives_the_terminal_back():
    """Ctrl-Z is the inner terminal's: SIGTSTP for the tool stops all,
    and the user has usual modes."""
    with Shell() as shell:
        shell.run("$aspawn --pty sh -c 'echo run''ning; read x; echo got=$x' & fg")
        shell.expect('running')
        until(lambda: shell.foreground() != shell.pid)
        os.kill(shell.foreground(), signal.SIGTSTP)
        shell.expect('Stopped(?s:.*)' + PROMPT)
        shell.fg()
        shell.expect('aspawn --pty')
        shell.send('hel' 'lo\n')
        shell.expect('got=hello')
        shell.expect(PROMPT)
        equal(shell.code(), 0)


def main(*words):
    chosen = [each for each in tests if not words or any(word in each.__name__ for word in words)]
    if not shutil.which('bash'):
        print('1..0 # SKIP no bash')
        return
    print(f'1..{len(chosen)}', flush=True)
    for number, each in enumerate(chosen, 1):
        try:
            each()
            print(f'ok {number} - {each.__name__}', flush=True)
        except Skip as reason:
            print(f'ok {number} - {each.__name__} # SKIP {reason}', flush=True)
        except AssertionError as error:
            print(f'not ok {number} - {each.__name__}\n# {error}', flush=True)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
