#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The options of aspawn(1): each with each other one has the effect that it has alone, or both are
refused; each wrong value, and what is no option, is refused. What is refused is one line that names
the option and the value, exit 125, and nothing is started.
"""
import concurrent.futures
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ASPAWN = Path(os.environ.get("BUILD_DIR", "build")).resolve() / "cli/aspawn"
IS_ROOT = os.getuid() == 0
STATUS = 7  # of the command that ends by itself
# What the command sees. It is a shell with two programs, as hundreds of it run.
PROBE = """
{ cat /proc/self/status /proc/self/limits
  readlink /proc/self/fd/0 | sed 's/^/stdin=/'
  read -r line <"/proc/self/stat" && echo "stat=$line"
  echo "directory=$PWD"; echo "home=$HOME"; } >"$1"
%s
echo out; echo err >&2
%s
"""
number = 0


def result(name, problems):
    global number
    number += 1
    print(f"{'not ok' if problems else 'ok'} {number} - {name}")
    for problem in problems[:30]:
        for line in problem.splitlines():
            print(f"# {line}")
    sys.stdout.flush()


class Run:
    """A run of the command with some options, and what is known afterwards."""

    def __init__(self, options, limit=.5):
        self.options = options
        self.directory = Path(tempfile.mkdtemp(dir=WORK))
        self.directory.chmod(0o777)
        bites = any(option.bites for option in options)
        left = any(option.name == "--leave" for option in options)
        self.begun, self.result, self.left = (self.directory / name for name in ("begun", "result", "left"))
        reading, writing = os.pipe()
        values = {"directory": self.directory, "fd": writing, "limit": limit}
        words = [word.format(**values) for option in options for word in option.words]
        probe = PROBE % ('setsid sleep 20 </dev/null >/dev/null 2>&1 & echo $! >"$2"' if left else "",
                         "exec sleep 9" if bites else f"exit {STATUS}")
        self.command = [ASPAWN, *words, "sh", "-c", probe, "sh", self.begun, self.left]
        ran = subprocess.run(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             pass_fds=(writing,), timeout=60)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            self.reported = pipe.read().decode()
        self.status = ran.returncode
        self.out, self.err = ran.stdout.decode(), ran.stderr.decode()
        self.seen = self.begun.read_text() if self.begun.exists() else ""
        self.own = [line for line in self.err.splitlines() if line.startswith("aspawn: ")]
        self.wrong = [f"{self}{problem}" for problem in self.problems()]

    def has(self, name):
        return any(option.name == name for option in self.options)

    def value(self, pattern):
        found = re.search(pattern, self.seen, re.MULTILINE)
        return re.sub(r"\s+", " ", found[1]) if found else None

    def is_left(self):
        """True if the descendant of --leave lives; it is ended then."""
        try:
            os.kill(int(self.left.read_text()), signal.SIGKILL)
            return True
        except (OSError, ValueError):
            return False

    def refused(self):
        """True if it is as a refusal has to be."""
        return self.status == 125 and len(self.own) == 1 and not self.seen and \
            (not self.has("--json") or '"not-started"' in self.result.read_text())

    def wanted_status(self):
        if self.has("--help") or self.has("--version"):
            return 0
        if not any(option.bites for option in self.options):
            return STATUS
        by = signal.SIGUSR1 if self.has("--signal") else signal.SIGTERM
        return 128 + by if self.has("--preserve-status") else 124

    def problems(self):
        if self.has("--help") or self.has("--version"):
            answers = re.match("aspawn [0-9]", self.out) or "aspawn [OPTIONS]" in self.out
            return [] if self.status == 0 and answers and not self.seen else ["no answer, or a start"]
        found = []
        if self.status != self.wanted_status():
            found.append(f"exit {self.status}, not {self.wanted_status()}")
        output = self.out.replace("\r", "")
        if "out\n" not in output or "err\n" not in (output if self.has("--pty") else self.err):
            found.append("output is missing")
        return found + [f"{option.name}: {wrong}" for option in self.options for wrong in [option.check(self)] if wrong]

    def __str__(self):
        words = " ".join(str(word) for word in self.command[:-4])
        return f"{words}: exit {self.status}\n" + "".join(f"  {line}\n" for line in self.err.splitlines()[:4])


class Option:
    """An option with a valid value; check returns what is wrong, or nothing."""

    def __init__(self, words, check=lambda run: None, bites=False):
        self.words, self.check, self.bites = words.split(), check, bites
        self.name = self.words[0].split("=")[0]


UNAVAILABLE = set()  # those that need a cgroup, if there is none here


def equals(wanted, pattern):
    def check(run):
        got = run.value(pattern)
        return None if got == wanted else f"{got}, not {wanted}"
    return check


def check_json(read):
    def check(run):
        try:
            found = json.loads(read(run))
        except (OSError, ValueError) as error:
            return f"no JSON: {error}"
        wanted = "exited"
        if any(option.bites for option in run.options):
            wanted = [option.name[2:] for option in run.options if option.bites]
        return None if found["outcome"] in wanted else f"outcome {found['outcome']}"
    return check


def stat_of(run):
    """Of /proc/PID/stat, from the state on: the session is the fourth, its terminal the fifth."""
    return (run.value("^stat=(.*)") or "").rpartition(")")[2].split() + ["0"] * 5


def check_terminal(run):
    if stat_of(run)[4] == "0":
        return "no terminal"
    is_terminal = re.match("/dev/pts/", run.value("^stdin=(.*)") or "")
    return None if is_terminal or run.has("--stdin") else "standard input is no terminal"


def check_session(run):
    if int(stat_of(run)[3]) == os.getsid(0):
        return "the caller's session"
    return None if run.has("--pty") or stat_of(run)[4] == "0" else "a terminal"


def check_left(run):
    return None if run.is_left() else "ended"


def check_verbose(run):
    if not any(option.bites for option in run.options):
        return None
    by = "USR1" if run.has("--signal") else "TERM"
    return None if any(by in line for line in run.own) else f"no line about {by}"


def options():
    yield Option("--leave", check_left)
    yield Option("--die-with-parent")
    yield Option("--no-new-privs", equals("1", r"^NoNewPrivs:\s*(\d)"))
    yield Option("--timeout 20")
    yield Option("--timeout={limit}", bites=True)
    yield Option("--idle=20s")
    yield Option("--idle {limit}", bites=True)
    yield Option("--signal USR1")
    yield Option("--kill-after=5s")
    yield Option("--foreground")
    yield Option("--preserve-status")
    yield Option("--stdin /etc/passwd", equals("/etc/passwd", "^stdin=(.*)"))
    yield Option("--output-limit=1M")
    yield Option("--pty", check_terminal)
    yield Option("--setsid", check_session)
    yield Option("--cpu-time=30", equals("30", r"^Max cpu time\s+(\d+)"))
    yield Option("--rlimit nofile=64:128", equals("64 128", r"^Max open files\s+(\d+\s+\d+)"))
    yield Option("--memory=512M")
    yield Option("--pids-limit 50")
    yield Option("--chdir=/usr", equals("/usr", "^directory=(.*)"))
    yield Option("--quiet", lambda run: None if not run.own or run.has("--verbose") else run.own[0])
    yield Option("--verbose", check_verbose)
    yield Option("--json {directory}/result", check_json(lambda run: run.result.read_text()))
    yield Option("--json-fd={fd}", lambda run: None if run.has("--json") else check_json(lambda run: run.reported)(run))
    yield Option("--help")
    yield Option("--version")
    if IS_ROOT:
        yield Option("--user nobody:nogroup", equals("65534", r"^Uid:\s*(\d+)"))


def run_again_if_late(options):
    """On a busy machine a limit can be reached before the command has begun."""
    run = Run(options)
    return Run(options, 5) if run.wrong and any(option.bites for option in options) else run


def test_pairs():
    every = list(options())
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        alone = dict(zip(every, pool.map(run_again_if_late, ([option] for option in every))))
        for option, run in alone.items():
            if option.name in ("--memory", "--pids-limit") and run.status == 125:
                UNAVAILABLE.add(option.name)
                result(f"{' '.join(option.words)} alone: refused, without a cgroup",
                       [] if run.refused() else [str(run)])
            else:
                result(f"{' '.join(option.words)} alone", run.wrong)
        pairs = [pair for pair in itertools.combinations(every, 2) if pair[0].name != pair[1].name]
        # Each second one in the other order.
        pairs = [pair[::-1] if i % 2 else pair for i, pair in enumerate(pairs)]
        runs = list(pool.map(run_again_if_late, pairs))
    problems = {option: [] for option in every}
    for run in runs:
        names = {option.name for option in run.options}
        if names & {"--help", "--version"}:
            found = run.wrong
        elif frozenset(names) in REFUSED or names & UNAVAILABLE:
            found = [] if run.refused() else [f"{run}is not refused as it has to be"]
        else:
            found = run.wrong
        problems[run.options[0]] += found
    for option, found in problems.items():
        count = sum(run.options[0] is option for run in runs)
        if count:
            result(f"{' '.join(option.words)} before {count} others", found)


# What contradicts itself.
REFUSED: set = set()

DURATIONS = ["", "x", "-1", "+1", "1x", "1 s", "1ss", "1S", "1e3", "0x10", ".", "1.2.3", "1,5", "ten", "nan", "inf",
             "1\ns"]
SIZES = ["", "x", "-1", "1.5", "1B", "1k", "1KB", "0x10", "1 K", "18446744073709551616", "17179869184G"]
WRONG = {
    "--timeout": DURATIONS, "--idle": DURATIONS, "--kill-after": DURATIONS, "--cpu-time": DURATIONS,
    "-t": DURATIONS, "-k": DURATIONS,
    "--signal": ["", "x", "TERMS", "-1", "SIG", "SIGSIGTERM", "999", "99999999999999999999", "1.5", "term "],
    "-s": ["", "NOSUCH"],
    "--output-limit": SIZES, "--memory": SIZES,
    "--pids-limit": ["", "x", "0", "-1", "1.5", "1K", "99999999999999999999999"],
    "--rlimit": ["", "x", "nofile", "nofile=", "=1", "nofile=x", "nofile=1:", "nofile=1:x", "nofile=2:1", "nofile=-1",
                 "nosuch=1", "NOFILE=", "nofile=1:2:3", "nofile=1 :2"],
    "--json-fd": ["", "x", "-1", "977", "1.5", "99999999999999999999", "4294967297"],
    "--stdin": ["", "/no/such/file"], "--json": ["", "/no/such/directory/file", "/"],
    "--chdir": ["", "/no/such/directory", "/etc/passwd"], "-C": ["", "/no/such/directory"],
    "--cgroup": ["", "/no/such/directory", "/etc", "/etc/passwd"],
    "--user": ["", "no-such-user", ":", "root:no-such-group", ":root", "4294967295", "99999999999", "-1"],
}
WRONG_LINES = [  # the arguments, and what the line names
    (["--no-such-option"], ["--no-such-option"]), (["--no-such-option=3"], ["--no-such-option"]),
    (["--time=3"], ["--time"]), (["---timeout=3"], ["---timeout"]), (["--"], ["COMMAND"]), ([], ["COMMAND"]),
    (["-x"], ["-x"]), (["-fx"], ["-x"]), (["-\n"], ["-"]), (["--a\nb"], ["--a"]), (["--timeout"], ["--timeout"]),
    (["-t"], ["-t"]), (["-fpt"], ["-t"]), (["--leave=yes"], ["--leave", "yes"]),
    (["--pty="], ["--pty"]), (["--" + "x" * 5000], ["--xxx"]),
    (["--timeout=" + "9" * 5000 + "x"], ["--timeout", "999"]), (["--user", "x" * 5000], ["--user", "xxx"]),
    (["--timeout=x", "--idle=y"], ["--timeout", "x"]), (["--signal=\x1b[31m"], ["--signal", "[31m"]),
    (["--signal=\x7f\x9b31m"], ["--signal", "31m"]), (["--\udc9b31m\udcff"], ["31m"]), (["-ä"], ["-?"]),
    (["--signal=ä€"], ["--signal", "ä€"]),
]


def refusal(words, named, command):
    """What is wrong with it, if anything."""
    started = Path(tempfile.mkdtemp(dir=WORK)) / "started"
    ran = subprocess.run([ASPAWN, *words, *(["touch", started] if command else [])], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    err = ran.stderr.decode(errors="backslashreplace")
    line = err.removesuffix("\n")
    right = ran.returncode == 125 and not ran.stdout and err.endswith("\n") and not started.exists() and \
        line.startswith("aspawn: ") and not re.search(r"[\x00-\x1f\x7f-\x9f\\]", line) and len(line) < 1000 and \
        all(name in line for name in named)
    then = ", started" if started.exists() else ""
    return [] if right else [f"{words!r:.200}: exit {ran.returncode}{then}, {err!r:.300}"]


def last_of_line(*words):
    """What the line says after the last colon."""
    line = subprocess.run([ASPAWN, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=60).stderr
    return line.rstrip("\n").rpartition(": ")[2] if len(line) < 500 else f"a line of {len(line)} characters"


def test_long_values():
    found = []
    for name in (name for name in WRONG if name.startswith("--")):
        expected = [last_of_line(name, "x/x", "true"), "ENAMETOOLONG"]
        said = last_of_line(name, "x" * 5000, "true")
        found += [] if said in expected else [f"{name}: {said}, not {expected}"]
    for words, expected in (["x" * 5000], "ENAMETOOLONG"), (["--" + "x" * 5000], "is no option (see aspawn --help)"):
        said = last_of_line(*words)
        found += [] if said == expected else [f"{words[0]:.20}: {said}, not {expected}"]
    result("the line about a long word says what is wrong with it", found)


def test_wrong_values():
    for name, values in WRONG.items():
        found = []
        for value in values:
            # The library says what has failed in the child, by the name of the action.
            named = ["chdir" if value and name in ("-C", "--chdir") else name, value.replace("\n", "?")]
            found += refusal([name, value], named, True)
            if name.startswith("--"):
                found += refusal([f"{name}={value}"], named, True)
            elif value:
                found += refusal([name + value], named, True)
        result(f"{name}: {len(values)} wrong values are refused", found)
    for words, named in WRONG_LINES:
        result(f"{' '.join(words)[:40]!r}: is refused", refusal(words, named, words and words[-1] not in (
            "--", "--timeout", "-t", "-fpt")))


# The seconds of RLIMIT_CPU. What nothing can reach is 1e15 milliseconds.
CPU_TIMES = {"1ms": 1, "1.5": 2, "2s": 2, "1000ms": 1, "1001ms": 2, ".0000001h": 1, "30d": 2592000,
             "10000000000ms": 10000000, "4294967296": 4294967296, "100000000000s": 100000000000}
ENDLESS = ["4294967296d", "9" * 30, "9" * 30 + "d", "9" * 30 + "ms", "10000000000000000ms", "277777777777h"]


def test_long_durations():
    def cpu_time(duration):
        seconds = subprocess.run([ASPAWN, f"--cpu-time={duration}", "sh", "-c", "ulimit -t"], stdout=subprocess.PIPE,
                                 timeout=60).stdout
        return float(seconds) if seconds != b"unlimited\n" else 0
    found = {duration: cpu_time(duration) for duration in CPU_TIMES}
    result("a duration keeps its length", [f"{duration}: {seconds} s" for duration, seconds in found.items()
                                           if seconds != CPU_TIMES[duration]])
    found = {duration: cpu_time(duration) for duration in ENDLESS}
    result("what is longer than 30 000 years stays so", [f"{duration}: {seconds} s" for duration, seconds
                                                         in found.items() if not 9e11 < seconds < 1e13 + 9e5])


def test_refused_by_the_kernel():
    """As an ordinary user, with limits."""
    ids = {"user": 65534, "group": 65534, "extra_groups": []} if IS_ROOT else {}
    tool = shutil.copy(ASPAWN, WORK)
    shell = 'ulimit -n 64; ulimit -t 9; exec "$@"'
    for words, line in (["--user=root"], '--user "root": EPERM'), (["--cpu-time", "1m"], '--cpu-time "1m": EPERM'), \
            (["--rlimit", "core=0", "--rlimit=nofile=64:65"], '--rlimit "nofile=64:65": EPERM'), \
            (["-C", "/etc/passwd"], '--chdir "/etc/passwd": ENOTDIR'):
        ran = subprocess.run(["sh", "-c", shell, "sh", tool, *words, "true"], stdin=subprocess.DEVNULL, cwd="/",
                             stderr=subprocess.PIPE, timeout=60, text=True, **ids)
        right = (ran.returncode, ran.stderr) == (125, f"aspawn: true: {line}\n")
        result(f"the line says {line}", [] if right else [f"exit {ran.returncode}, {ran.stderr}"])
    said = subprocess.run([ASPAWN, ""], stderr=subprocess.PIPE, timeout=60, text=True).stderr
    result("the line names an empty command", [] if said.startswith('aspawn: "": ') else [said])


def test_lost_results():
    def run(redirection, *words):
        ran = subprocess.run(["sh", "-c", f'"$@" {redirection}', "sh", ASPAWN, *words, "sh", "-c", "exit 3"],
                             stderr=subprocess.PIPE, timeout=60, text=True)
        return ran.returncode, ran.stderr
    for name, got, wanted in (
            ("a descriptor for reading alone", run("3</dev/null", "--json-fd=3"),
             (125, 'aspawn: --json-fd "3": is no descriptor that is open for writing\n')),
            ("a full file system", run("", "--json", "/dev/full"),
             (3, "aspawn: /dev/full: the result cannot be written: ENOSPC\n")),
            ("a full descriptor", run("3>/dev/full", "--json-fd=3"),
             (3, "aspawn: --json-fd: the result cannot be written: ENOSPC\n"))):
        result(f"the line tells that the result is lost: {name}", [] if got == wanted else [str(got)])


def outcome(*words):
    with tempfile.TemporaryDirectory(dir=WORK) as directory:
        file = Path(directory) / "result"
        subprocess.run([ASPAWN, *words, "--json", file, "true"], stderr=subprocess.DEVNULL, timeout=60)
        return json.loads(file.read_text())["outcome"] if file.exists() else None


with tempfile.TemporaryDirectory() as directory:
    WORK = directory
    os.chmod(WORK, 0o755)
    test_wrong_values()
    test_long_values()
    test_long_durations()
    test_refused_by_the_kernel()
    test_lost_results()
    wrong = [outcome("--timeout=x"), outcome("--no-such-option")]
    result("a wrong value has a result too", [] if wrong == ["not-started"] * 2 else [str(wrong)])
    test_pairs()
print(f"1..{number}")
