#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long a start blocks its caller, by the packages and by what the languages have, in one run.

    peers.py [LANGUAGE...]       measures, writes BUILD_DIR/peers/results.json, prints the table
    peers.py --table [LANGUAGE]  the table of the last run, or a language's part for its README

Each figure is of processes of its own, in turns: a program of this directory for each language,
PEER WAY WHAT PROGRAM COUNT SECONDS MIB. It touches so much memory, and prints how many microseconds
each of COUNT starts has blocked the caller (WHAT is "blocked", for at most so many seconds), or how
many commands it has done in a second, 16 at once, whose output it collects ("rate"). A start has
its output in a pipe, as each language's own best way does it. The same is measured while a process
for each processor is busy, and, as root, with a program whose exec takes 20 ms, as a scanner
(fanotify) allows it no sooner.

ROUNDS=3 STARTS=100 SECONDS=0.7 LIMIT=840: no round is begun that would end later than LIMIT. A
runtime that is missing is left out: bench/peers/install has them all. A program that fails is
reported, and its figure is "-".
"""
import atexit
import contextlib
import ctypes
import json
import os
import re
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("BUILD_DIR", "build")).resolve()
WORK = BUILD / "peers"
CACHE = Path(os.environ.get("ASPAWN_CACHE") or
             Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "aspawn")
RESULTS = WORK / "results.json"
ROUNDS, STARTS, SECONDS, LIMIT = (float(os.environ.get(name, default)) for name, default in
                                  (("ROUNDS", 3), ("STARTS", 100), ("SECONDS", 0.7), ("LIMIT", 840)))
GAIN = 1.2  # less is none
# column: what, MiB, busy, the program
COLUMNS = {
    "idle": ("blocked", 0, False, "echo"),
    "idle, 1 GiB": ("blocked", 1024, False, "echo"),
    "busy": ("blocked", 0, True, "echo"),
    "busy, 1 GiB": ("blocked", 1024, True, "echo"),
    "exec of 20 ms": ("blocked", 0, False, "slow"),
    "commands/s": ("rate", 0, False, "echo"),
}


def first(*paths):
    return next((str(path) for path in paths if path and Path(path).exists()), None)


def said(*command):
    """The version that a runtime prints."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    found = re.search(r"\d+(\.\d+)+", done.stdout)
    return found[0] if done.returncode == 0 and found else None


def runtimes():
    """Each language, version, command of its program, and ways: the language's own first."""
    node = [first(CACHE / "node/18/bin/node", shutil.which("node")), first(CACHE / "node/26/bin/node")]
    python = [first(*sorted(Path.home().glob(".pyenv/versions/3.9.*/bin/python3")), "/usr/bin/python3"),
              first(CACHE / "peers/newest/python", shutil.which("python3"))]
    java = [first(CACHE / "java/11/bin/java", shutil.which("java")),
            first(CACHE / "peers/newest/java", CACHE / "java/25/bin/java")]
    jar = ":".join(map(str, [*BUILD.glob("bindings/java/aspawn-*.jar"), WORK]))
    for path in filter(None, node):
        yield ("node", "Node", said(path, "--version"), [path, str(HERE / "peer.js")],
               ("child_process", "aspawn", "queue"))
    for path in filter(None, python):
        yield "python", "Python", said(path, "--version"), [path, str(HERE / "peer.py")], ("asyncio", "aspawn", "queue")
    for name, command in (("oldest", ["/usr/bin/go"]), ("newest", ["env", "GOTOOLCHAIN=go1.27.3", "go"])):
        if (WORK / f"go-{name}").exists():
            yield "go", "Go", said(*command, "version"), [str(WORK / f"go-{name}")], ("os/exec", "aspawn", "queue")
    for path in filter(None, java):
        version = said(path, "-version")
        own = "ProcessBuilder" if not version or int(version.split(".")[0]) < 21 else "ProcessBuilder, virtual threads"
        yield ("java", "Java", version, [path, "-Xmx256m", "-XX:MaxDirectMemorySize=4g", "-cp", jar, "Peer"],
               (own, "aspawn", "queue"))
    for name, path in (("oldest", "/usr/bin/rustc"), ("newest", shutil.which("rustc"))):
        if (WORK / f"rust-{name}").exists():
            yield "rust", "Rust", said(path, "--version"), [str(WORK / f"rust-{name}")], ("tokio", "aspawn", "queue")
    for name, source in (("oldest", "libuv1"), ("newest", "libuv1-crate")):
        if (WORK / f"libuv-{name}-with").exists():
            version = said("cat", str(CACHE / "programs" / source / ".version"))
            yield ("libuv", "libuv", version, [str(WORK / f"libuv-{name}-")],
                   ("uv_spawn", "aspawn", "uv_spawn, uid", "aspawn, uid"))


def command_of(language, command, way):
    """The command with its way, and what it needs in its environment."""
    if language == "libuv":
        copy, asked = ("with" if "aspawn" in way else "without"), ("user" if "uid" in way else "start")
        return [command[0] + copy, asked]
    return [*command, way.split(",")[0]]


def measured(language, command, way, column):
    what, mib, _, program = COLUMNS[column]
    environment = {**os.environ, "PACKAGE": str(BUILD / "bindings/node/installed/node_modules/aspawn"),
                   "PYTHONPATH": str(WORK / "wheel"), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore"}
    words = [*command_of(language, command, way), what, str(WORK / program), f"{STARTS:.0f}", str(SECONDS), str(mib)]
    try:
        done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        print(f"{error}\n{getattr(error, 'stderr', None) or ''}", file=sys.stderr)
        return []
    return [float(word) for word in done.stdout.split()]


@contextlib.contextmanager
def busy(is_asked):
    children = [subprocess.Popen(["sh", "-c", "while :; do :; done"])
                for _ in range(len(os.sched_getaffinity(0)) if is_asked else 0)]
    ends = [lambda child=child: child.kill() for child in children]
    for end in ends:
        atexit.register(end)
    try:
        yield
    finally:
        for child, end in zip(children, ends):
            child.kill()
            child.wait()
            atexit.unregister(end)


def scanner(path):
    """A process that lets programs execute the file after 20 ms; None where it may not."""
    FAN_CLASS_CONTENT, FAN_CLOEXEC, FAN_MARK_ADD, FAN_OPEN_EXEC_PERM, AT_FDCWD = 4, 1, 1, 0x40000, -100
    libc = ctypes.CDLL(None, use_errno=True)
    events = libc.fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, os.O_RDONLY)
    if events < 0 or libc.fanotify_mark(events, FAN_MARK_ADD, ctypes.c_uint64(FAN_OPEN_EXEC_PERM), AT_FDCWD,
                                        os.fsencode(path)):
        return None
    child = os.fork()
    if child:
        os.close(events)
        atexit.register(os.kill, child, signal.SIGKILL)
        return child
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    while True:
        for _, _, _, _, _, fd, _ in struct.iter_unpack("=IBBHQii", os.read(events, 24)):
            time.sleep(0.02)
            os.write(events, struct.pack("=iI", fd, 1))  # FAN_ALLOW
            os.close(fd)


def measure(asked):
    found = [row for row in runtimes() if row[2] and row[0] in asked]
    if not found:
        sys.exit("no runtime: bench/peers/install and make bench-bindings")
    shutil.copy(WORK / "echo", WORK / "slow")
    columns = {name: of for name, of in COLUMNS.items() if of[3] != "slow" or scanner(WORK / "slow")}
    machine = f"Linux {os.uname().release}, {os.uname().machine}, {len(os.sched_getaffinity(0))} processors"
    results = {"machine": machine, "rounds": 0, "starts": STARTS, "rows": []}
    for language, title, version, _, ways in found:
        for number, way in enumerate(ways):
            own = ways[number - number % 2] if language == "libuv" else ways[0]
            results["rows"].append({"language": language, "title": f"{title} {version}", "way": way, "own": own,
                                    "figures": {name: [] for name in columns}})
    begin = time.monotonic()
    longest = 0.0
    while results["rounds"] < ROUNDS and time.monotonic() - begin + longest <= LIMIT:
        begun = time.monotonic()
        for name, (_, _, is_busy, _) in columns.items():
            rows = iter(results["rows"])
            with busy(is_busy):
                for language, _, _, command, ways in found:
                    for way in ways:
                        next(rows)["figures"][name] += measured(language, command, way, name)
        results["rounds"] += 1
        longest = max(longest, time.monotonic() - begun)
        with tempfile.NamedTemporaryFile("w", dir=WORK, delete=False) as file:
            json.dump(results, file)
        os.replace(file.name, RESULTS)
        print(f"round {results['rounds']}: {time.monotonic() - begun:.0f} seconds", file=sys.stderr)


def figure(value):
    return f"{value / 1000:.0f} ms" if value >= 9950 else f"{value / 1000:.1f} ms" if value >= 995 else f"{value:.0f}"


def cell(name, times):
    if not times:
        return "-"
    if COLUMNS[name][0] == "rate":
        return f"{statistics.median(times):.0f}"
    return f"{figure(statistics.median(times))} / {figure(sorted(times)[int(len(times) * 0.95)])}"


def gains(row, rows, name):
    """How many times better than the language's own way the median is; GAIN if one has failed."""
    own = next(other for other in rows if (other["title"], other["way"]) == (row["title"], row["own"]))
    if not row["figures"][name] or not own["figures"][name]:
        return GAIN
    mine, theirs = (statistics.median(of["figures"][name]) for of in (row, own))
    return mine / theirs if COLUMNS[name][0] == "rate" else theirs / mine


def table(asked):
    results = json.loads(RESULTS.read_text())
    rows = [row for row in results["rows"] if row["language"] in asked]
    names = list(rows[0]["figures"])
    print(f"How long a start blocks its caller, median / 95th percentile, in microseconds where there is no unit, and\n"
          f"how many commands are done in a second, 16 at once, with their output. {results['machine']}, "
          f"{results['rounds']} rounds of\n{results['starts']:.0f} starts at most for each figure, in turns.\n")
    print(f"| | {' | '.join(names)} |\n| --- |{' ---: |' * len(names)}")
    for row in rows:
        print(f"| {row['title']}, {row['way']} | {' | '.join(cell(name, row['figures'][name]) for name in names)} |")
    print(f"\nLess than {GAIN} times better than the language's own way, by the medians:\n")
    none = []
    for row in rows:
        bad = [f"{name} ({gains(row, rows, name):.1f})" for name in names
               if row["way"] != row["own"] and gains(row, rows, name) < GAIN]
        none += [f"* {row['title']}, {row['way']}: {', '.join(bad)}"] if bad else []
    print("\n".join(none) or "* nothing")


def main(words):
    known = ["node", "python", "go", "java", "rust", "libuv"]
    is_table = words[:1] == ["--table"]
    asked = words[is_table:] or known
    if set(asked) - set(known):
        sys.exit(__doc__)
    if not is_table:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # as that ends the other processes
        measure(asked)
    table(asked)


main(sys.argv[1:])
