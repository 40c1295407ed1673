#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Describes the public interface for programs, from the headers and aspawn/action/action_table.h:

    tools/interface.py         writes doc/interface.json
    tools/interface.py check   prints what the headers' comments do not say

Needs libclang 19 and the distribution's python3-clang. `make reference` writes the file, and a test
checks that it is the one of the headers. doc/interface.schema.json describes the format.
"""
import json
import re
import sys
from functools import cache
from pathlib import Path

try:
    from clang.cindex import Config, CursorKind, Index, LibclangError, TranslationUnit, TypeKind
except ImportError:
    sys.exit("interface.py: needs the Python module clang.cindex (Debian: python3-clang)")

Config.set_library_file("libclang-19.so.1")
try:
    Index.create()
except LibclangError:
    sys.exit("interface.py: needs libclang-19.so.1 (Debian: libclang1-19)")
ROOT = Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include"
FILE = ROOT / "doc/interface.json"
HEADERS = ["aspawn/version.h", "aspawn/aspawn.h", "aspawn/action.h", "aspawn/command.h", "aspawn/queue.h",
           "syscall/file.h", "syscall/process.h", "syscall/security.h", "syscall/signal.h", "syscall/time.h"]

# The kernel's constants for the operands of actions: name, group, the page that explains them.
KERNEL = [(r"O_\w+", "PSYS_O", "open(2)"), (r"AT_FDCWD", "PSYS_AT", "openat(2)"),
          (r"RESOLVE_\w+", "PSYS_RESOLVE", "openat2(2)"), (r"MS_\w+", "PSYS_MS", "mount(2)"),
          (r"CLONE_NEW\w+", "PSYS_CLONE_NEW", "namespaces(7)"), (r"RLIMIT_\w+", "PSYS_RLIMIT", "getrlimit(2)"),
          (r"RLIM64_INFINITY", "PSYS_RLIM64", "getrlimit(2)"), (r"SCHED_(?!FLAG_)\w+", "PSYS_SCHED", "sched(7)"),
          (r"IOPRIO_CLASS_\w+", "PSYS_IOPRIO_CLASS", "ioprio_set(2)"), (r"CAP_\w+", "PSYS_CAP", "capabilities(7)"),
          (r"SECBIT_\w+", "PSYS_SECBIT", "capabilities(7)"), (r"SECCOMP_RET_\w+", "PSYS_SECCOMP_RET", "seccomp(2)"),
          (r"LANDLOCK_RESTRICT_SELF_\w+", "PSYS_LANDLOCK_RESTRICT_SELF", "landlock_restrict_self(2)"),
          (r"BPF_\w+", "PSYS_BPF", "seccomp(2)"), (r"SIG[A-Z]+[0-9]?|NSIG|SIGSET_SIZE", "PSYS_SIG", "signal(7)")]
OF_C, DETAILS, DETAILS_OF_C = "In C: ", "Details: ", "Details in C: "
KERNEL_STRUCTURES = {"psys_timeval", "psys_rusage", "psys_sock_filter", "psys_sigset"}

# The roles of operands by their names, where neither the type nor the table of actions says it.
ROLES = {"signal": "signal", "resource": "resource", "soft": "limit", "hard": "limit", "capability": "capability",
         "memory_max": "limit", "pids_max": "limit", "cpu_max": "limit",
         "flags": "flags", "resolve": "flags", "bits": "flags", "persona": "flags", "type": "flags",
         "mode": "mode", "mask": "mode", "uid": "id", "gid": "id", "real": "id", "effective": "id", "saved": "id",
         "pgid": "integer", "value": "integer", "policy": "integer", "priority": "integer",
         "function": "function", "arg": "argument",
         **dict.fromkeys(["number", "a1", "a2", "a3", "a4", "a5", "a6", "marks", "expected"], "word"),
         **dict.fromkeys(["option", "arg2", "arg3", "arg4", "arg5", "command", "operation"], "integer"),
         "request": "flags"}
ELEMENTS = {"1": "byte", "sizeof(unsigned)": "unsigned", "sizeof(struct psys_sock_filter)": "sock_filter"}


# --- the headers, by clang ------------------------------------------------------------------------

def targets():
    """Architecture -> clang's target and flags, of one byte order:
    the other has the same layouts."""
    rows = (ROOT / "test/machines/headers/architectures.txt").read_text()
    return {name: [f"--target={triple}", *flags.split()]
            for name, triple, flags in sorted(re.findall(r"^(\w+) +\w+ +(\S+)(.*)", rows, re.M))}


def parsed(flags, source=""):
    text = "".join(f"#include <{name}>\n" for name in HEADERS) + source
    unit = Index.create().parse(
        "interface.c", args=[*flags, "-std=c11", "-ffreestanding", f"-I{INCLUDE}"],
        unsaved_files=[("interface.c", text)], options=TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
    for problem in unit.diagnostics:
        sys.exit(f"interface.py: {problem}")
    return unit


def header_of(cursor):
    name = cursor.location.file.name if cursor.location.file else ""
    return name.removeprefix(f"{INCLUDE}/") if name.startswith(f"{INCLUDE}/") else None


def declarations(unit, kind, prefix="aspawn"):
    """Of a kind, in the order of the headers."""
    for cursor in unit.cursor.get_children():
        if cursor.kind == kind and header_of(cursor) and cursor.spelling.lower().startswith(prefix):
            yield cursor


def spelling(type_):
    if type_.get_canonical().kind == TypeKind.RECORD and "(" in type_.spelling:
        return "union"
    return type_.spelling.replace("unsigned int", "unsigned")


# --- their comments -------------------------------------------------------------------------------

class Header:
    def __init__(self, name):
        self.lines = (INCLUDE / name).read_text().split("\n")
        self.above, self.behind, self.sections = {}, {}, []
        for found in re.finditer(r"/\*.*?\*/", "\n".join(self.lines), re.S):
            first = found.string.count("\n", 0, found.start()) + 1
            last = first + found[0].count("\n")
            alone = not self.lines[first - 1].split("/*")[0].strip()
            if found[0].startswith("/* ---"):
                self.sections.append((first, found[0]))
            elif alone:
                self.above[last] = found[0]
            else:
                self.behind.setdefault(first, found[0])

    def comments(self, cursor):
        """What is said before a declaration, and behind it on its line; each may be ""."""
        line = cursor.extent.start.line - 1
        while line and "clang-format" in self.lines[line - 1]:
            line -= 1
        return self.above.get(line, ""), self.behind.get(cursor.extent.end.line, "")


@cache
def header(name):
    return Header(name)


def paragraphs(comment):
    """(parameter or "", text): a paragraph, an element of a list, or a line of code."""
    found, indented = [], None  # how far the lines that continue an element are
    for line in re.sub(r"(?m)^\s*\* ?", "", comment[2:-2].strip()).split("\n"):
        parameter = re.match(r"(\w+)  +(?=\S)", line)
        element = re.match(r"- |  (?:(\S+(?:, \S+)*)  +)?(?=\S)", line)
        depth = len(line) - len(line.lstrip())
        if line.startswith("\t") or not line.strip():
            found.append(("", line.rstrip()))
            indented = None
        elif indented and depth >= indented or found and found[-1] != ("", "") and indented is None and not (
                parameter or element):
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
        elif parameter:
            found.append((parameter[1], line[parameter.end():]))
            indented = 3
        elif element:
            key = f"{element[1]}: " if element[1] else "- " if line.startswith("-") else ""
            found.append(("", key + line[element.end():]))
            indented = 2 if key == "- " else 3
        else:
            found.append(("", line))
            indented = None
    return [(name, text) for name, text in found if text]


def folded(comment):
    return "\n".join(f"{name}: {text}" if name else text for name, text in paragraphs(comment))


def text_of(cursor):
    above, behind = header(header_of(cursor)).comments(cursor)
    return " ".join(filter(None, [folded(above), folded(behind)]))


def divided(text):
    """The text for all languages, how many paragraphs at its end are details,
    and those for C alone, without their details."""
    paragraphs = text.strip().split("\n")
    of_c = [paragraph.removeprefix(OF_C) for paragraph in paragraphs if paragraph.startswith(OF_C)]
    details = [paragraph.removeprefix(DETAILS) for paragraph in paragraphs if paragraph.startswith(DETAILS)]
    others = [paragraph for paragraph in paragraphs if not paragraph.startswith((OF_C, DETAILS, DETAILS_OF_C))]
    others += [paragraph[0].upper() + paragraph[1:] for paragraph in details]
    return {"text": "\n".join(others), **({"details": len(details)} if details else {}),
            **({"in_c": "\n".join(of_c)} if of_c else {})}


# --- the parts of the description -----------------------------------------------------------------

def common_prefix(name):
    return name.rpartition("_")[0]


def enumerators(unit):
    """Each enumeration of aspawn, with its constants. The anonymous ones have one constant each."""
    for enumeration in declarations(unit, CursorKind.ENUM_DECL, ""):
        constants = [cursor for cursor in enumeration.get_children() if cursor.spelling.startswith("ASPAWN_")]
        if constants:
            named = enumeration.spelling if enumeration.spelling.startswith("aspawn_") else ""
            yield enumeration, named or common_prefix(constants[0].spelling), constants


def macros(unit):
    """Those that are numbers: (cursor, group, the page that explains it or "")."""
    for cursor in declarations(unit, CursorKind.MACRO_DEFINITION, ""):
        name, line = cursor.spelling, header(header_of(cursor)).lines[cursor.extent.start.line - 1]
        if re.match(rf"# *define {name}(\(|$)", line):
            continue
        if re.fullmatch(rf"# *define {name} [(-]*\d+\)?.*", line) and name.startswith("ASPAWN_"):
            yield cursor, common_prefix(name) if name != "ASPAWN_VERSION" else name, ""
        for pattern, group, page in KERNEL:
            if re.fullmatch(f"PSYS_({pattern})", name):
                yield cursor, group, page


@cache
def values(architecture):
    """Of each macro: (value, kind of its type)."""
    flags = targets()[architecture]
    names = [cursor.spelling for cursor, *_ in macros(parsed(flags))]
    unit = parsed(flags, "".join(f"enum of_{name} {{ is_{name} = ({name}) }};\n"
                                 f"extern __typeof__({name}) type_{name};\n" for name in names))
    found = {}
    for cursor in unit.cursor.get_children():
        if cursor.kind == CursorKind.ENUM_DECL and cursor.spelling.startswith("of_"):
            found[cursor.spelling[3:]] = next(cursor.get_children()).enum_value
        if cursor.kind == CursorKind.VAR_DECL and cursor.spelling.startswith("type_"):
            name = cursor.spelling[5:]
            found[name] = found[name], cursor.type.get_canonical().kind
    return found


def number(of_each):
    """The value, or, where they differ, that of each architecture."""
    different = len(set(of_each.values())) > 1
    return {"values": of_each} if different else {"value": next(iter(of_each.values()))}


def c_type(value, kind):
    if kind in (TypeKind.INT, TypeKind.LONG):
        return "int"
    return "unsigned" if kind != TypeKind.ULONGLONG and value < 1 << 32 else "uint64_t"


def constants(units):
    unit = units["x86_64"]
    found = []
    for _, group, members in enumerators(unit):
        for cursor in members:
            kind = cursor.spelling.removeprefix("ASPAWN_ACTION_")
            text = f"The kind of ASPAWN_{kind}." if group == "aspawn_action_kind" else text_of(cursor)
            found.append((cursor, {"name": cursor.spelling, "value": cursor.enum_value, "group": group,
                                   "type": "int", "header": header_of(cursor), **divided(text)}))
    for cursor, group, page in macros(unit):
        name = cursor.spelling
        of_each = {architecture: values(architecture)[name][0] for architecture in units
                   if name in values(architecture)}
        text = text_of(cursor) if not page else kernels_text(cursor, page)
        found.append((cursor, {"name": name, **number(of_each), "group": group,
                               "type": c_type(*values("x86_64")[name]), "header": header_of(cursor),
                               **divided(text)}))
    return [constant for _, constant in sorted(found, key=lambda pair: place(pair[0]))]


def kernels_text(cursor, page):
    _, said = map(folded, header(header_of(cursor)).comments(cursor))
    return f"{cursor.spelling.removeprefix('PSYS_')} of {page}{': ' + said if said else ''}."


def place(cursor):
    return HEADERS.index(header_of(cursor)), cursor.extent.start.line


def groups(unit):
    return [{"name": group, "flags": group.endswith("_flags"), "text": text_of(enumeration)}
            for enumeration, group, _ in enumerators(unit) if group.startswith("aspawn_")]


def members(structure):
    """A comment is about the members below it, until a blank line or another comment."""
    text, line = "", 0
    for cursor in structure.type.get_fields():
        own = text_of(cursor)
        if own or cursor.extent.start.line > line + 1:
            text = own
        line = cursor.extent.end.line
        yield {"name": cursor.spelling, "type": spelling(cursor.type), "text": text}
        if header(header_of(cursor)).comments(cursor)[1]:
            text = ""


def layout(structure):
    return {"size": structure.type.get_size(), "align": structure.type.get_align(),
            "offsets": [structure.type.get_offset(cursor.spelling) // 8 for cursor in structure.type.get_fields()]}


def defined(unit):
    """The structures of a unit, by name; one that is declared alone is opaque."""
    found = {}
    for cursor in unit.cursor.get_children():
        if cursor.kind == CursorKind.STRUCT_DECL and header_of(cursor):
            if cursor.is_definition() or not cursor.get_definition():
                found[cursor.spelling] = cursor
    return {name: cursor for name, cursor in found.items()
            if header_of(cursor).startswith("aspawn/") or name in KERNEL_STRUCTURES}


def structures(units):
    layouts = {architecture: defined(unit) for architecture, unit in units.items()}
    for name, cursor in sorted(layouts["x86_64"].items(), key=lambda pair: place(pair[1])):
        opaque, text = not cursor.is_definition(), text_of(cursor)
        first = None if opaque else next(cursor.type.get_fields()).spelling
        yield {"name": name, "header": header_of(cursor), "opaque": opaque,
               "grows": first == "size" and name.startswith("aspawn_") or "later version may add" in text,
               "text": text, "members": [] if opaque else list(members(cursor)),
               "layouts": {} if opaque else {architecture: layout(of[name]) for architecture, of in layouts.items()}}


def types(unit):
    for cursor in declarations(unit, CursorKind.TYPEDEF_DECL):
        if cursor.type.get_canonical().kind != TypeKind.CONSTANTARRAY:  # PSYS_ASSERT
            yield {"name": cursor.spelling, "type": spelling(cursor.underlying_typedef_type),
                   "header": header_of(cursor), "text": text_of(cursor)}


def functions(unit):
    for cursor in declarations(unit, CursorKind.FUNCTION_DECL):
        if cursor.spelling.startswith("aspawn_action_"):
            continue
        said = paragraphs(header(header_of(cursor)).comments(cursor)[0])
        of_parameter = dict(said)
        text = "\n".join(text for name, text in said if not name)
        yield {"name": cursor.spelling, "header": header_of(cursor), "returns": spelling(cursor.result_type),
               "parameters": [{"name": argument.spelling, "type": spelling(argument.type),
                               "text": of_parameter.get(argument.spelling, "")}
                              for argument in cursor.get_arguments()],
               "text": text, "errors": list(dict.fromkeys(re.findall(r"-(E[A-Z0-9]+)\b", text)))}


# --- actions --------------------------------------------------------------------------------------

def table():
    """Kind, as DUP2 -> the members of its row in aspawn/action/action_table.h, as text."""
    text = (ROOT / "aspawn/action/action_table.h").read_text()
    return dict(re.findall(r'^ACTION\((\w+), "\w+",\s+([\s\S]*?)\)$', text, re.M))


@cache
def bodies():
    """The macros with parameters: name -> what they expand to."""
    text = (INCLUDE / "aspawn/action.h").read_text().replace("\\\n", " ")
    return {name: " ".join(body.split())
            for name, body in re.findall(r"^#define (ASPAWN_\w+)\([\w, ]*\)(.*)", text, re.M)}


def kind_of(macro):
    """ASPAWN_OPEN is made by ASPAWN_OPENAT, which makes an OPENAT."""
    made = re.match(r"ASPAWN_MAKE(?:_PLAIN|_CALL)?\((\w+)", bodies()[macro])
    return made[1] if made else kind_of(bodies()[macro].split("(")[0])


def member(pattern, row):
    """The names in .uses = AT(openat.dirfd) and the like."""
    found = re.search(pattern, row)
    return re.findall(r"\b\w+\.(\w+)", found[0]) if found else []


def operand(macro, name, type_, row, text):
    strings = member(r"strings = \{.*?\}", row)
    paths = int((re.search(r"paths = (\d)", row) or [0, 0])[1])
    array = re.search(r"ARRAY\(\w+\.(\w+), \w+\.(\w+), (.*?\)?)\)", row)
    described = {"name": name, "type": type_}
    if name in member(r"(\.uses = AT|USES)\(.*?\)", row):
        return {**described, "role": "descriptor", **({"cwd": True} if name == "dirfd" else {})}
    if name in member(r"(\.replaces = AT|REPLACES|BEGINS_AT)\(.*?\)", row):
        return {**described, "role": "number"}
    if name in strings:
        optional = "optional = true" in row and name != strings[0]
        return {**described, "role": "path" if name in strings[:paths] else "string",
                **({"optional": True} if optional else {})}
    if array and name == array[1]:
        return {**described, "role": "array", "element": ELEMENTS[array[3]]}
    if array and name == array[2]:
        return {**described, "role": "count", "of": array[1]}
    if name in member(r"SIGNALS\(.*?\)", row):
        return {**described, "role": "signals"}
    if name == "fd":  # of a call, which has no row
        return {**described, "role": "descriptor"}
    if name in ("data", "nodes"):
        return {**described, "role": "array", "element": "data" if name == "data" else "byte"}
    if name == "size":
        return {**described, "role": "count", "of": "nodes" if "nodes" in text else "data"}
    if type_ == "int *":
        return {**described, "role": "result"}
    if name not in ROLES:
        sys.exit(f"interface.py: the operand {name} of {macro} has no role. Add it to ROLES")
    unchanged = ROLES[name] == "id" and "leaves an ID as it is" in text
    return {**described, "role": ROLES[name], **({"unchanged": True} if unchanged else {})}


def section_of(cursor):
    """(name, text) of the section, as /* --- descriptors --- */"""
    _, comment = [found for found in header(header_of(cursor)).sections if found[0] < cursor.extent.start.line][-1]
    name, text = re.match(r"/\* -+ (.*?) -+(.*)\*/", comment, re.S).groups()
    return name, folded(f"/*{text}*/")


def actions(unit):
    kinds = {name: value for _, group, members in enumerators(unit) if group == "aspawn_action_kind"
             for name, value in ((cursor.spelling, cursor.enum_value) for cursor in members)}
    for cursor in declarations(unit, CursorKind.FUNCTION_DECL, "aspawn_action_"):
        name = cursor.spelling.removeprefix("aspawn_action_")
        macro = f"ASPAWN_{name.upper()}"
        constant = f"ASPAWN_ACTION_{kind_of(macro)}"
        text, _, errors = text_of(cursor).partition("Errors: ")
        since = re.search(r"(?<!\()\b\w+\(2\), Linux (\d+\.\d+)", text)
        row = table()[kind_of(macro)]
        yield {"name": name, "kind": kinds[constant], "constant": constant, "function": cursor.spelling,
               "macro": macro, "section": section_of(cursor)[0], "copies": "copies = true" in row,
               "man": list(dict.fromkeys(re.findall(r"\b[a-z_]\w+\(\d\)", text))),
               "since": since[1] if since else None,
               "operands": [operand(macro, argument.spelling, spelling(argument.type), row, text)
                            for argument in list(cursor.get_arguments())[1:]],
               **divided(text), "errors": " ".join(errors.split())}


def sections(unit):
    found = dict(section_of(cursor) for cursor in declarations(unit, CursorKind.FUNCTION_DECL, "aspawn_action_"))
    return [{"name": name, "text": text} for name, text in found.items()]


# --- the description ------------------------------------------------------------------------------

def description():
    units = {name: parsed(flags) for name, flags in targets().items()}
    unit = units["x86_64"]
    version = re.search(r"^TAG=v(.*)", (ROOT / "RELEASE").read_text(), re.M)[1]
    soname = version if "-" in version else version.split(".")[0]
    return {"library": "aspawn", "version": version, "soname": f"libaspawn.so.{soname}",
            "constants": constants(units), "groups": groups(unit), "structures": list(structures(units)),
            "types": list(types(unit)), "functions": list(functions(unit)),
            "sections": sections(unit), "actions": list(actions(unit))}


def lines(value, indent=""):
    """JSON, with what fits on one line."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or len(indent + line) < 100 and indent:
        return line
    if isinstance(value, dict):
        inner = [f"{indent} {json.dumps(key)}: {lines(of, indent + ' ')}" for key, of in value.items()]
        return "{\n" + ",\n".join(inner) + f"\n{indent}}}"
    return "[\n" + ",\n".join(f"{indent} {lines(of, indent + ' ')}" for of in value) + f"\n{indent}]"


def text():
    return lines(description()) + "\n"


if __name__ == "__main__":
    FILE.write_text(text())
