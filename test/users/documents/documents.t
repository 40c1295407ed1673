#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What README.md and the man pages show is right: each program is built by each compiler
and run, each fragment compiles after the declarations of test/users/documents/PAGE.h, structures
are as the headers have them, and the shell lines that compile do so.

All of it against an installation in a temporary directory, found by pkg-config; the
amalgamation lies beside the program.
"""
import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from extract import ROOT, compiler_lines, documents

HERE = Path(__file__).parent
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
C = ["-x", "c", "-std=gnu99", "-Wpedantic", *WARNINGS]  # the oldest that the headers are for
CPLUSPLUS = ["-x", "c++", "-std=c++11", *WARNINGS]
SANITIZED = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
HARNESS = """#include <stdio.h>
#include <unistd.h>

#include <aspawn/aspawn.h>
#include <aspawn/command.h>
#include <syscall/exec.h>
#include <syscall/syscall.h>
{prelude}
int fragment(void);
int fragment(void)
{{
#line {line} "{document}"
{code}	return 0;
}}
"""

# Fragments of which the text says that C++ takes them too.
IN_CPLUSPLUS = [("aspawn_action.3", 1)]

# Programs that need more said than "exits with 0, and prints what the text shows":
# (document, number): [(arguments, status, standard output, standard error)].
RUNS = {
    ("aspawn.3", 1): [([], 0, "hello\n", "")],
    ("aspawn_action.3", 1): [
        ([], 0, None, "") if os.getuid() == 0 else
        ([], 1, "id: not started: action 3, user 65534: EPERM\n", "")],
    ("aspawn_kill.3", 1): [([], 0, "status 15\n", "")],
    ("aspawn_queue.3", 1): [
        ([], 0, "", ""),
        (["printf one", "printf two; exit 2", "kill -9 $$"], 0,
         ["[killed by SIGKILL]", "one[exit 0]", "two[exit 2]"], "")],
    ("aspawn_recipes.7", 1): [([], 0, "exit 0, kept 4095 of 588895 bytes\n", "")],
    ("aspawn_recipes.7", 2): [(["sh", "-c", "echo one; sleep 0.2; echo two"], 0, "one\ntwo\n", "")],
    ("aspawn_recipes.7", 3): [
        ([], 0, "CapEff:\t0000000000000400\ngrep: exit 0\n", "") if os.getuid() == 0 else
        ([], 1, "grep: not started: action 3, user 65534: EPERM\n", "")],
    ("aspawn_recipes.7", 4): [
        (["sh", "-c", "stty -echo; printf 'Password: '; read -r word; echo; test -t 2 && echo $word"], 0,
         "Password: \nsecret\n", "")],
    ("aspawn_recipes.7", 5): [
        (["60", "sh", "-c", "echo one; echo two >&2; exit 3"], 1, "one\ntwo\n[exit 3]\n", ""),
        (["1", "sh", "-c", "setsid sh -c 'echo $$ >daemon; exec sleep 100' & sleep 100"], 1,
         "[timed out, killed by SIGTERM]\n", ""),
        (["60", "sh", "-c", "kill -0 $(cat daemon 2>/dev/null) 2>/dev/null || echo none"], 0, "none\n[exit 0]\n", "")],
    ("aspawn_recipes.7", 6): [([], 0, "written\nexit 0\n", "")],
    ("aspawn_recipes.7", 7): [([], 0, "Linux\n", ""), (["unmae"], 1, "", 'not started: search "unmae": ENOENT')],
    ("aspawn_recipes.7", 8): [([], 0, "0 0\n0 0\n", "")],
    ("aspawn_recipes.7", 9): [([], 0, "wait -1, SIGCHLD 0, exit 3\n", "")],
    ("aspawn_recipes.7", 10): [
        (["sh", "-c", "echo kept >kept; cat kept; echo lost 2>/dev/null >../lost || echo refused"], 0,
         "kept\nrefused\n", None)],
    ("aspawn_recipes.7", 11): [([], 0, "bin\ndev\nlib\nlib64\nproc\nusr\nwork\n", "")],
    ("aspawn_run.3", 1): [([], 0, "two\nthree\none\n", "sort: exit 0\n")],
    ("aspawn_start.3", 1): [([], 0, "etc/passwd\n", "")],
    ("aspawn_wait.3", 1): [
        (["sh", "-c", "exit 3"], 0, "exit 3\n", ""),
        (["unmae"], 0, 'search "unmae": ENOENT\n', "")],
    ("psys.3", 1): [
        ([], 0, Path("/proc/version").read_text(), ""),
        (["/no/such/file"], 1, "", "no such file or directory\n")],
}

BWRAP = ["bwrap", "--unshare-all", "--share-net", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true"]

# Programs that some machines cannot run: (document, number): why this one cannot, or "".
LACKS = {
    ("aspawn_recipes.7", 8): lambda: "" if succeeds("chrt", "-f", "1", "true") else "this user may not be SCHED_FIFO",
    ("aspawn_recipes.7", 10): lambda: "" if landlock_abi() >= 3 else "this user may use no Landlock (ABI 3)",
    ("aspawn_recipes.7", 11): lambda: "no bwrap" if not shutil.which("bwrap") else
    "this user may use no Landlock (ABI 4)" if landlock_abi() < 4 else
    "" if succeeds("setpriv", "--no-new-privs", *BWRAP) else "this user may make no namespaces",
}

# Programs that are linked without a libc, so that neither leaks.c nor sanitizers are.
FREESTANDING = [("aspawn_recipes.7", 7)]

BUILD = Path(os.environ.get("BUILD_DIR", "build")).resolve()

work = Path(tempfile.mkdtemp())
environment = {**os.environ, "PKG_CONFIG_PATH": str(work / "prefix/lib/pkgconfig"),
               "LD_LIBRARY_PATH": str(work / "prefix/lib")}
number = 0


def result(name, problem, skipped=""):
    """The problem is "" if there is none, and skipped why a part of the test was left out."""
    global number
    number += 1
    print(f"{'not ok' if problem else 'ok'} {number} - {name}{f' # SKIP {skipped}' if skipped and not problem else ''}")
    for line in problem.splitlines()[:30]:
        print(f"# {line}")
    sys.stdout.flush()


def lacks(name, tool):
    """A compiler is missing that README.md does not install:
    a skip of make test-toolchains alone."""
    global number
    if os.environ.get("TOOLCHAINS"):
        number += 1
        print(f"ok {number} - {name} # SKIP no {tool}")


def run(*command, **options):
    return subprocess.run(command, cwd=work, env={**environment, **options}, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def failure(*command):
    """"" if it succeeds, else the command and what it says."""
    ran = run(*command)
    return f"{' '.join(map(str, command))}\n{ran.stdout}{ran.stderr}" if ran.returncode else ""


def succeeds(*command):
    return not failure(*command)


def landlock_abi():
    """By landlock_create_ruleset(2), which has this number on every architecture but alpha;
    negative without it."""
    return ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1)


def compilers():
    """(of C, of C++): the build's own, then clang and gcc."""
    for name in dict.fromkeys([os.environ.get("CC", "clang"), "clang", "gcc"]):
        yield name, name.replace("clang", "clang++") if "clang" in name else name.replace("gcc", "g++")


def flags(*kinds, libraries=("aspawn",)):
    return run("pkg-config", *(kinds or ["--cflags", "--libs"]), *libraries).stdout.split()


def source_of(block, header="<aspawn/command.h>"):
    source = work / "program.c"
    code = block.code.replace("<aspawn/command.h>", header)
    source.write_text(f'#line {block.line} "{block.document}"\n{code}')
    return source


def differences(program, arguments, status, out, error):
    """None for an output is any. A list is its lines, sorted: their order is left to chance."""
    ran = run(program, *arguments)
    problem = ""
    for what, wanted, got in (("status", status, ran.returncode), ("output", out, ran.stdout),
                              ("errors", error, ran.stderr)):
        if isinstance(wanted, list):
            got = sorted(got.splitlines())
        if wanted is not None and wanted != got:
            problem += f"{' '.join([program.name, *arguments])}: {what} {got!r}, not {wanted!r}\n"
    return problem


def test_program(block):
    """Built by each compiler; run, once by each, with leaks.c, and with the sanitizers."""
    key = (block.document, block.number)
    language = 1 if block.kind == "c++" else 0
    options = [C, CPLUSPLUS][language]
    # No other page's program needs libpsys.
    libraries = flags(libraries=("aspawn", "psys") if block.document in ("aspawn.3", "psys.3") else ("aspawn",))
    linked = [work / "leaks.o", *libraries]
    if key in FREESTANDING:
        linked = ["-static", "-nostdlib", "-ffreestanding", "-fno-stack-protector", BUILD / "syscall/start.o",
                  work / "prefix/lib/libaspawn.a"]
    reason = LACKS.get(key, str)()
    runs = [] if reason else RUNS.get(key, [([], 0, block.shown or None, None)])
    # A tool that README.md does not install is missing: a skip of make test-toolchains alone.
    skipped = "" if reason.startswith("no ") and not os.environ.get("TOOLCHAINS") else reason
    for names in compilers():
        compiler = names[language]
        name = f"{block.name}, {compiler}"
        if not shutil.which(compiler):
            lacks(name, compiler)
            continue
        problem = failure(compiler, *options, source_of(block), "-x", "none", *linked, *flags("--cflags"),
                          "-o", work / "program")
        for expected in [] if problem else runs:
            problem += differences(work / "program", *expected)
        result(name, problem, skipped)
    if key in FREESTANDING:
        return
    compiler = next(compilers())[language]
    name = f"{block.name}, sanitized"
    if not has_sanitizers:
        lacks(name, f"sanitizers for {compiler}")
        return
    problem = failure(compiler, *options, "-g", *SANITIZED, source_of(block), *libraries, "-o", work / "program")
    for expected in [] if problem else runs:
        problem += differences(work / "program", *expected)
    result(name, problem, skipped)


def same(a, b, what):
    return f'__extension__ _Static_assert({a} == {b}, "{what}");'


def members(body):
    without_parameters = re.sub(r"\([^*].*?\)", "()", body)
    for function, other in re.findall(r"\(\*(\w+)\)\(|(\w+)(?:\[\w+\])?\s*(?=[,;])", without_parameters):
        yield function or other


def structures(code):
    """Assertions that each structure shown, if it is whole, is the one of the headers."""
    for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\};", code, re.MULTILINE | re.DOTALL):
        bare = re.sub(r"/\*.*?\*/", "", body)
        if "..." in bare:
            continue
        yield f"struct shown_{name} {{\n{body}}};"
        yield same(f"sizeof(struct shown_{name})", f"sizeof(struct {name})", name)
        for member in members(bare):
            shown, real = f"struct shown_{name}", f"struct {name}"
            yield same(f"__builtin_offsetof({shown}, {member})", f"__builtin_offsetof({real}, {member})", member)
            yield same(f"__builtin_types_compatible_p(__typeof__((({shown} *)0)->{member}), "
                       f"__typeof__((({real} *)0)->{member}))", "1", f"type of {member}")


def test_fragment(block):
    prelude = HERE / (block.document + ".h")
    is_structures = re.match(r"struct \w+ \{", block.code)
    source = work / "fragment.c"
    source.write_text(HARNESS.format(
        prelude=f'#include "{prelude}"\n' if prelude.exists() else "", line=block.line, document=block.document,
        code="\n".join(structures(block.code)) + "\n" if is_structures else block.code))
    for names in compilers():
        for language in range(2 if (block.document, block.number) in IN_CPLUSPLUS else 1):
            compiler = names[language]
            name = f"{block.name}, {compiler}"
            if not shutil.which(compiler):
                lacks(name, compiler)
                continue
            result(name, failure(compiler, *[C, CPLUSPLUS][language], "-Wno-unused", "-c", source,
                                 "-o", work / "fragment.o", *flags("--cflags")))


def declarations(code):
    """Of a SYNOPSIS, its #include and the functions and types, which agree with the header's."""
    functions = re.sub(r"^struct \w+ \{\n.*?^\};", "", code, flags=re.MULTILINE | re.DOTALL)
    yield from re.findall(r"^#include .*", code, re.MULTILINE)
    yield from structures(code)
    for function in re.findall(r"^[a-z][^;{}#]*\([^;{}#]*\);$", functions, re.MULTILINE):
        if not function.endswith("(arguments);"):  # of any system call
            yield function


def test_synopsis(block):
    name = f"{block.document}, SYNOPSIS"
    found = list(declarations(block.code))
    source = work / "synopsis.c"
    source.write_text("\n".join(found) + "\n")
    for compiler, _ in compilers():
        if not shutil.which(compiler):
            lacks(f"{name}, {compiler}", compiler)
            continue
        result(f"{name}, {len(found)} declarations, {compiler}", failure(
            compiler, "-std=gnu11", *WARNINGS, "-c", source, "-o", work / "synopsis.o", *flags("--cflags")))


def test_line(document, line):
    """A shell line that compiles, on the first program of README.md."""
    name = f"{document}: {line}"
    if not shutil.which("cc"):
        lacks(name, "cc")
        return
    program = next(block for block in documents()["README.md"] if block.kind == "program")
    source_of(program, '"aspawn.h"') if " aspawn.c" in line else source_of(program)
    result(name, failure("sh", "-ec", line + "\n./a.out"))


def test_recipes(programs):
    """Ten jobs, of which the last has two programs; each is short enough to be read at once."""
    long = [f"{block.name} has {block.code.count(chr(10))} lines" for block in programs if block.code.count("\n") > 30]
    result(f"aspawn_recipes.7, {len(programs)} programs of at most 30 lines",
           "\n".join(long) if len(programs) == 11 else "not 11 programs")


def test_tables(name):
    """The tables of actions in a text, run by a program that includes them."""
    tables = [block.code for block in documents()[f"{name}.md"] if block.kind == "fragment"]
    (work / f"{name}.h").write_text("\n".join(tables))
    # another user runs it
    problem = failure(next(compilers())[0], "-std=gnu11", *WARNINGS, f"-I{work}", HERE / f"{name}.c", "-o",
                      work / name, *flags("--cflags"), work / "prefix/lib/libaspawn.a")
    found = run(work / name).stdout.splitlines() if not problem else []
    skipped = [line for line in found if "# SKIP" in line]
    problem += "\n".join(line for line in found if not line.startswith("ok"))
    right = len([line for line in found if line.startswith("ok")])
    result(f"{name}.md, {right} tables of actions, {len(skipped)} skipped",
           problem if right < len(re.findall(r"aspawn_action \w+\[\]", "".join(tables))) or not right else "")


def test_documents():
    for document, found in documents().items():
        if document == "README.md" or document.endswith(".3"):
            result(f"{document} has a program",
                   "" if any(block.kind == "program" for block in found) else "none is found")
        for block in found:
            if block.kind in ("program", "c++"):
                test_program(block)
            elif block.kind == "fragment":
                test_fragment(block)
            elif block.kind == "synopsis":
                test_synopsis(block)
    test_recipes([block for block in documents()["aspawn_recipes.7"] if block.kind == "program"])
    test_tables("preexec")
    for document, line in compiler_lines():
        test_line(document, line)


try:
    installed = failure("make", "-s", "-C", ROOT, "install-compat", f"BUILD_DIR={BUILD}", "DESTDIR=",
                        f"PREFIX={work / 'prefix'}")
    compiler = next(compilers())[0]
    installed = installed or failure(sys.executable, ROOT / "tools/amalgamate.py", work)
    installed = installed or failure(compiler, *C, "-c", HERE / "leaks.c", "-o", work / "leaks.o")
    result("an installation", installed)
    if not installed:
        (work / "empty.c").write_text("int main(void) { return 0; }\n")
        has_sanitizers = not failure(compiler, *SANITIZED, "empty.c", "-o", "empty")
        test_documents()
    print(f"1..{number}")
finally:
    shutil.rmtree(work)
