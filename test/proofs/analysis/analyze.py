#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Static analysis beside that of `make lint`. Prints TAP, a test for each tool.

gcc -fanalyzer and cppcheck read the library without its drop-ins, ruff and mypy the scripts, clippy
the crates, go vet the Go module. answers.txt has the findings that are wrong, with the reason of
each: another finding fails, and so does an answer that nothing asks for any more.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
DIRECTORIES = ["syscall", "aspawn"]
SOURCES = sorted(str(path) for name in [*DIRECTORIES, "aspawn/*"] for path in Path().glob(f"{name}/*.c"))
BUILD = Path(os.environ.get("BUILD_DIR", "build")).absolute()
FLAGS = ["-Iinclude", "-DPSYS_NO_UNPREFIXED"]
# Modules that scripts find by sys.path, or that are written in C or made by the build,
# are not there. Debian 12's mypy calls Unpack incomplete.
MYPY = ["--ignore-missing-imports", "--scripts-are-modules", "--follow-imports=silent", "--no-error-summary",
        "--disable-error-code", "attr-defined", "--enable-incomplete-feature=Unpack"]
# Scripts change sys.path before they import, as .flake8 says. strict= of zip() needs Python 3.10.
RUFF = ["--line-length", "120", "--select", "E,W,F,B,C4,PLE", "--ignore", "E402,B905"]


def scripts():
    """Yields the files in git whose name or first line says that they are Python's."""
    names = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.splitlines()
    for name in names:
        path = Path(name)
        if path.suffix == ".py":
            yield name
        elif path.is_file() and re.match(rb"#!.*python3$", path.read_bytes().split(b"\n", 1)[0]):
            yield name


def output(command, **options):
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    return run.stdout.splitlines()


def gcc():
    flags = [*FLAGS, "-std=c11", "-ffreestanding", "-O2", "-fanalyzer", "-fdiagnostics-plain-output",
             '-DASPAWN_IMAGE="/dev/null"', "-c", "-o", "/dev/null"]
    with ThreadPoolExecutor(2) as pool:
        for lines in pool.map(lambda source: output(["gcc", *flags, source]), SOURCES):
            for line in lines:
                found = re.match(r"([^:]+):\d+:\d+: (?:warning|error): .*\[-W(analyzer[a-z-]*)", line)
                if found or re.search(r": (fatal )?error: ", line):
                    yield (found[1], found[2]) if found else (line, "error"), line


def cppcheck():
    command = ["cppcheck", "--quiet", "-j2", "--std=c11", "--enable=warning,performance,portability", *FLAGS,
               "-D__x86_64__", "-D__LP64__", "-D__linux__", "--template={file}:{line}: {id}: {message}", *DIRECTORIES]
    for line in output(command):
        found = re.match(r"([^:]+):\d+: (\w+): ", line)
        yield (found[1], found[2]) if found else (line, "error"), line


def ruff():
    for line in output(["ruff", "check", "--quiet", "--no-cache", "--output-format", "concise", *RUFF, *scripts()]):
        found = re.match(r"([^:]+):\d+:\d+: (\w+) ", line)
        yield (found[1], found[2]) if found else (line, "error"), line


def mypy():
    with tempfile.TemporaryDirectory() as cache:
        # Several scripts have the same name, so mypy reads one at a time.
        for name in scripts():
            for line in output(["mypy", *MYPY, "--cache-dir", cache, name]):
                found = re.match(r"([^:]+):\d+: error: .*\[([a-z-]+)\]$", line)
                if found or ": error: " in line:
                    yield (found[1], found[2]) if found else (line, "error"), line


def clippy():
    environment = {**os.environ, "CARGO_TARGET_DIR": f"{BUILD}/crates/newest"}
    for features in (["--all-features", "--all-targets"], ["-p", "aspawn", "--no-default-features"]):
        command = ["cargo", "clippy", "--quiet", "--locked", "--message-format", "json", *features]
        for line in output(command, cwd="bindings/rust", env=environment):
            if not line.startswith("{"):
                yield (line, "error"), line
                continue
            message = json.loads(line).get("message")
            if message and message["spans"]:
                file = f"bindings/rust/{message['spans'][0]['file_name']}"
                yield (file, (message["code"] or {}).get("code", "error")), f"{file}: {message['message']}"


def vet():
    """The Go in PATH checks the module as it is packed."""
    made = output(["make", "-s", f"BUILD_DIR={BUILD}", "bindings-go"])
    module = f"{BUILD}/bindings/go"
    environment = {**os.environ, "GOPROXY": "off", "GOTOOLCHAIN": "local"}
    made += output(["go", "vet", "./..."], cwd=module, env=environment)
    for line in made:
        found = re.match(r"(?:vet: )?(\S+\.go):\d+:\d+: ", line)
        if not line.startswith("#"):
            yield (f"bindings/go/{os.path.normpath(found[1])}", "vet") if found else (line, "error"), line


def read_answers():
    """Returns {tool: {(file, finding)}}."""
    answers = {}
    for line in (HERE / "answers.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            tool, file, finding = line.split()
            answers.setdefault(tool, set()).add((file, finding))
    return answers


def main():
    os.chdir(HERE.parent.parent.parent)
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    cache = os.environ.get("ASPAWN_CACHE") or f"{caches}/aspawn"
    os.environ["PATH"] = f"{cache}/ruff/bin:{os.environ['PATH']}"
    answers = read_answers()
    tools = {gcc: "gcc", cppcheck: "cppcheck", ruff: "ruff", mypy: "mypy", clippy: "cargo-clippy", vet: "go"}
    failed = False
    print(f"1..{len(tools)}")
    for number, (tool, program) in enumerate(tools.items(), 1):
        name = tool.__name__
        known = answers.get(name, set())
        title = f"{number} - {name} finds nothing without an answer ({len(known)} have one)"
        if not shutil.which(program):
            print(f"ok {title} # SKIP no {program}")
            continue
        findings = list(tool())
        wrong = [line for key, line in findings if key not in known]
        wrong += [f"{file}: {finding} is answered, and not found" for file, finding in
                  sorted(known - {key for key, _ in findings})]
        failed |= bool(wrong)
        print(f"{'not ' if wrong else ''}ok {title}", *wrong, sep="\n# ", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
