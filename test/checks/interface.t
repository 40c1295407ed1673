#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""doc/interface.json describes the headers, and what repeats it is made from it."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "test/packages/bindings")]
import column
import derive
import manual

INTERFACE = derive.INTERFACE
ACTIONS = INTERFACE["actions"]
# The distribution's has what the distribution packages.
PYTHONS = [sys.executable, "/usr/bin/python3"]
SOURCES = ".go", ".py", ".rs", ".java", ".ts"
number = 0


def check(name, problems):
    global number
    number += 1
    problems = list(problems)
    print(f"{'not ok' if problems else 'ok'} {number} - {name}", flush=True)
    for problem in problems[:30]:
        print(f"# {problem}")


def check_by(name, needed, tool, program):
    """A check that needs what README does not install: a skip of make test-toolchains alone."""
    global number
    python = next((python for python in PYTHONS if not subprocess.run(
        [python, "-c", needed], stderr=subprocess.DEVNULL).returncode), None)
    if python:
        ran = subprocess.run([python, "-c", program, *sys.argv[1:]], cwd=ROOT, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        check(name, ran.stdout.splitlines() or ["it failed"] * (ran.returncode != 0))
    elif os.environ.get("TOOLCHAINS"):
        number += 1
        print(f"ok {number} - {name} # SKIP no {tool}")


LIBCLANG = """
from clang.cindex import Config, Index
Config.set_library_file("libclang-19.so.1")
Index.create()
"""
IS_FRESH = """
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, "tools")
import interface
if interface.text() != interface.FILE.read_text():
    print("doc/interface.json: make reference writes it")
"""
NAMES = """
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, "tools")
import interface
try:
    interface.operand("ASPAWN_PERSONALITY", "nanoseconds", "unsigned long", "0", "")
except SystemExit as error:
    if "nanoseconds of ASPAWN_PERSONALITY " not in str(error):
        print(error)
else:
    print("no error")
"""
FITS = """
import json, jsonschema
schema, interface = (json.load(open("doc/interface" + end)) for end in (".schema.json", ".json"))
jsonschema.Draft7Validator.check_schema(schema)
for error in jsonschema.Draft7Validator(schema).iter_errors(interface):
    print(list(error.path), error.message[:200])
"""


def missing_tools():
    """A sentence instead of a traceback."""
    with tempfile.TemporaryDirectory() as empty:
        (Path(empty) / "clang.py").touch()  # hides the package
        for script, tool in (["interface.py"], "python3-clang"), (["reference.py", "list"], "clang-19"):
            ran = subprocess.run([sys.executable, "-B", ROOT / "tools" / script[0], *script[1:]], text=True,
                                 stderr=subprocess.PIPE, env={"PATH": empty, "PYTHONPATH": empty})
            if ran.returncode != 1 or not re.fullmatch(rf"{script[0]}: needs .*{tool}.*\n", ran.stderr):
                yield f"{script[0]} without {tool}: {ran.stderr[-70:]!r}"


def without_text():
    for kind in ("constants", "groups", "types", "functions", "actions"):
        for thing in INTERFACE[kind]:
            if not thing["text"]:
                yield f"{thing['name']} has no comment"
    for structure in INTERFACE["structures"]:
        if structure["name"].startswith("psys_"):
            continue  # the kernel's
        for thing in [structure, *structure["members"]]:
            if not thing["text"]:
                yield f"{structure['name']}: no comment for {thing['name']}"


def without_errors():
    for function in INTERFACE["functions"]:
        can_fail = function["returns"] in ("int", "int64_t")
        others = re.search(r"[Ee]rrors are those of aspawn_\w+\(\)|[Cc]annot fail", function["text"])
        if can_fail and not function["errors"] and not others:
            yield f"{function['name']}: the comment names no errors"
    for action in ACTIONS:
        if not re.match(r"none|.*\bE[A-Z]|those of|what", action["errors"]):
            yield f"{action['function']}: the comment has no errors"


def of_c_alone():
    """What another language lacks, in the texts that its package repeats."""
    offered = [action for action in ACTIONS
               if not any(operand["role"] in ("function", "word") for operand in action["operands"])]
    for thing in [*offered, *INTERFACE["constants"]]:
        lacking = [operand["name"] for operand in thing.get("operands", []) if operand["role"] == "count"]
        words = "|".join([r"(aspawn|psys)_\w+", "sizeof", "NULL", *lacking])
        text = thing["text"] + " " + thing.get("errors", "")
        for found in re.finditer(rf"\b({words})\b|-E[A-Z]|\b[Aa]n? ASPAWN_", text):
            yield f"{thing['name']}: {found[0]!r} is for a paragraph that begins with \"In C:\""


def in_words_of_c():
    """What the documentation of a package still calls as C does;
    the crate aspawn-sys is C's interface."""
    node = shutil.which("node")
    makers = [[sys.executable, "bindings/go/generate.py", "doc/interface.json", "TO", os.devnull],
              [sys.executable, "bindings/python/generate.py", "doc/interface.json", "TO"],
              [sys.executable, "bindings/rust/generate.py", "TO"],
              [sys.executable, "bindings/java/generate", "TO"],
              *([[node, "bindings/node/generate.js", "TO"]] if node else [])]
    for maker in makers:
        with tempfile.TemporaryDirectory() as to:
            for directory in "aspawn", "lib", "src":
                (Path(to) / directory).mkdir()
            subprocess.run([to if word == "TO" else word for word in maker], cwd=ROOT, check=True)
            for path in Path(to).rglob("*"):
                if path.suffix in SOURCES and path.name not in ("interface.rs", "Interface.java"):
                    yield from (f"{maker[1]}: {line.strip()}" for line in path.read_text().splitlines()
                                if (path.suffix == ".py" or re.match(r"\s*(//|/?\*)", line)) and
                                re.search(r"\b((ASPAWN|PSYS|psys)_\w|aspawn_\w+\(\))|man7\.org\S+/aspawn", line))


def out_of_place():
    """Texts that say something only where they stand."""
    for kind in ("functions", "actions"):
        for thing in INTERFACE[kind]:
            if re.search(r"\bas (above|below)\b|^(The same|As above)\b", thing["text"] + thing.get("errors", "")
                         if kind == "actions" else thing["text"], re.M):
                yield f"{thing['name']}: {thing['text'][:60]}"


def kinds():
    """The actions have the numbers from 1 up, a row of the table each,
    and a scenario of test/faults."""
    wanted = {constant["value"] for constant in INTERFACE["constants"] if constant["group"] == "aspawn_action_kind"}
    if wanted != set(range(1, len(wanted) + 1)) or wanted != {action["kind"] for action in ACTIONS}:
        yield "the numbers of kinds"
    scenarios = (ROOT / "test/proofs/faults/scenarios.c").read_text()
    performed = {action["kind"] for action in ACTIONS if f"{action['macro']}(" in scenarios}
    yield from (f"test/proofs/faults/scenarios.c has no {action['macro']}" for action in ACTIONS
                if action["kind"] not in performed)


def pointers():
    """What random bytes must not be: test/proofs/fuzz/actions.h sets each operand
    that is a pointer."""
    fuzz = (ROOT / "test/proofs/fuzz/actions.h").read_text()
    for action in ACTIONS:
        pointed = [operand["name"] for operand in action["operands"] if "*" in operand["type"] or
                   operand["role"] == "function"]
        if pointed and f"case {action['constant']}:" not in fuzz:
            yield f"test/proofs/fuzz/actions.h has no case {action['constant']}"


def promises():
    """The structures of doc/abi.md, which may grow or not."""
    rows = {name: "yes" in row.split("|")[2] for row in (ROOT / "doc/abi.md").read_text().splitlines()
            if row.startswith("| `") for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    for structure in INTERFACE["structures"]:
        name = structure["name"]
        if not name.startswith("psys_") and rows.get(name) != structure["grows"]:
            yield f"doc/abi.md: {name} " + ("may grow" if structure["grows"] else "never changes")


def forgotten_changes():
    """A declaration keeps its version; one that is not as it was has the version of RELEASE."""
    old = (ROOT / "doc/abi.md").read_text().replace(f"` | {derive.VERSION} |", "` | 0.8 |")
    old = old.replace("`int aspawn_kill(", "`long aspawn_kill(")
    old = old.replace("ASPAWN_GRACE_NONE = -1", "ASPAWN_GRACE_NONE = 7")
    wanted = {"int aspawn_ended(": "0.8", "int aspawn_kill(": derive.VERSION, "struct aspawn_job {": "0.8",
              "ASPAWN_OWNER_TREE =": "0.8", "ASPAWN_GRACE_NONE =": derive.VERSION}
    rows = derive.abi(old).splitlines()
    for begin, version in wanted.items():
        found = [row for row in rows if row.startswith(f"| `{begin}")]
        if len(found) != 1 or not found[0].endswith(f" | {version} |"):
            yield f"{begin} is not of {version}: {found}"


def rows():
    """Those that doc/bindings.md's table must have: what a package could offer."""
    yield from (f"{function['name']}()" for function in INTERFACE["functions"]
                if function["header"] != "aspawn/aspawn.h")
    groups = "owner", "memory", "stream", "command_flags", "io_flags", "queue_flags", "job_flags"
    yield from (constant["name"] for constant in INTERFACE["constants"]
                if constant["group"] in [f"aspawn_{group}" for group in groups])
    # Beside numbers that go with a pointer, flags, and what the package sets.
    of_itself = "size", "flags", "owner", "memory", "action_count", "cookie", "input_size", "arg", "reserved"
    for structure in INTERFACE["structures"]:
        if structure["name"] in ("aspawn_command", "aspawn_queue_options", "aspawn_job"):
            yield from (f"{structure['name']}.{member['name']}" for member in structure["members"]
                        if member["name"] not in of_itself)


def lacking():
    """What the table of the languages has not: rows, and columns of languages that have a test."""
    table = column.table()
    found = [name for row in table for name in column.names(row["in C"])]
    yield from (f"doc/bindings.md has {name} twice" for name in set(found) if found.count(name) > 1)
    yield from (f"doc/bindings.md has no row of {name}" for name in rows() if name not in found)
    known = {name.lower() for name in table[0]} - {"in c"}
    tests = {path.stem: path.read_text() for path in (ROOT / "test/packages/bindings").glob("*.t")}
    yield from (f"doc/bindings.md has no column for test/packages/bindings/{name}.t" for name in tests.keys() - known)
    yield from (f"test/packages/bindings/{name}.t does not look up its column" for name in known
                if "column.py" not in tests.get(name, ""))


check("texts for all languages name nothing of C's alone", of_c_alone())
check("packages say in words of their language what the headers say", in_words_of_c())
check("make reference names the tool that is missing", missing_tools())
check_by("an operand without a role is named with its action", LIBCLANG, "python3-clang with libclang 19", NAMES)
check_by("doc/interface.json is that of the headers", LIBCLANG, "python3-clang with libclang 19", IS_FRESH)
check_by("doc/interface.json fits its schema", "import jsonschema", "python3-jsonschema", FITS)
check("what repeats doc/interface.json is up to date",
      (f"{path.name}: make reference writes it" for path, _ in derive.outdated()))
check("the manual has all of each function and structure, once",
      (f"doc/{page}: {what}" for page, what in manual.missing()))
check("everything has a text", without_text())
check("functions and actions name their errors", without_errors())
check("texts stand alone", out_of_place())
check("kinds of actions are numbered, and have a scenario", kinds())
check("actions with pointers are known to test/proofs/fuzz", pointers())
check("doc/abi.md knows what may grow", promises())
check("doc/abi.md has the version that has changed a declaration last", forgotten_changes())
check("the table of languages has all of the interface, and each language", lacking())
print(f"1..{number}")
