#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The amalgamation, eight files, written into DIRECTORY:

    tools/amalgamate.py DIRECTORY

aspawn.h, aspawn.c and aspawn.S are the library, psys.h has the system calls alone, and
aspawn-image.c, aspawn-image.S, aspawn-image.ld and aspawn-image.sh make the image, which may be
left out.

An #include of a file of the project becomes the text of that file, once; a file without an
include guard is a list for macros of its includer, and becomes text at each #include. The
choice in syscall/arch.h becomes the choice of a macro, PSYS_TARGET_<ARCHITECTURE>, and text
that only some architectures include lies in conditions on these macros. So each file
compiles alone; nothing else is changed, and no comment is left out.
"""
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include"
ARCH_H = INCLUDE / "syscall/arch.h"
ARCH = INCLUDE / "syscall/arch"
ARCH_SOURCES = ROOT / "syscall/arch"
IMAGE = ROOT / "aspawn/child/image"
COMMENT = re.compile(r"/\*.*?\*/", re.S)
COMMENT_OR_LINE = re.compile(r"^[ \t]*/\*(?:[^*]|\*(?!/))*\*/\n|^[^\n]*\n", re.M)
CHOICE = re.compile(r'#include "arch/(\w+)/call\.h"')
ARCHITECTURES = CHOICE.findall(ARCH_H.read_text())


def name_of(path):
    return str(path.relative_to(ROOT))


def banner(text):
    return f"/* --- {text} ".ljust(96, "-") + " */"


def macro(architecture):
    return f"PSYS_TARGET_{architecture.upper()}"


def included(line, path):
    """The file of the project that the line of path includes, or None."""
    found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
    if not found:
        return None
    file = ((path.parent if found[1] == '"' else INCLUDE) / found[2]).resolve()
    return file if file.exists() else None


def source(path):
    """The text of a file, without the licence that each file of the library begins with."""
    return path.read_text().replace("/* SPDX-License-Identifier: MIT */\n", "", 1)


def guard(path):
    """The macro of the file's include guard, or None."""
    found = re.match(r"\s*#ifndef (\w+)\n#define \1\n", COMMENT.sub("", path.read_text()))
    return found and found[1]


def depth_change(line):
    """How many conditions of the preprocessor the line opens; -1: it closes one."""
    if re.match(r"\s*#\s*if", line):
        return 1
    return -1 if re.match(r"\s*#\s*endif", line) else 0


def is_comment(text):
    return not COMMENT.sub("", text).strip()


# --- one architecture's text, and that of all --------------------------------------------


def pieces(path):
    """The text of a file between its #includes of the project's files, without its guard,
    and these files: [text, file, text, ...]. A comment goes to the text that it is about."""
    text = source(path)
    own = guard(path)
    if own:
        text = re.sub(rf"^#ifndef {own}\n#define {own}\n", "", text, count=1, flags=re.M)
        text = re.sub(r"#endif\s*\Z", "", text)
    found, depth = [""], 0
    for line in text.splitlines(keepends=True):
        file = included(line, path)
        depth += depth_change(line)
        if file and depth:
            sys.exit(f"amalgamate.py: {name_of(path)}: an #include within a condition")
        if file:
            found += [file, ""]
        else:
            found[-1] += line
    last = len(found) - 1
    for i in range(0, last, 2):
        if is_comment(found[i]) and (i + 2 < last or found[last].strip()):
            found[i + 2] = found[i].rstrip() + "\n\n" * bool(found[i].strip()) + found[i + 2].lstrip("\n")
            found[i] = ""
    return found


def sequence(path, seen, numbers=False):
    """((file, number of the text), text) in the order in which a compiler reads them."""
    if guard(path):
        if path in seen:
            return
        seen.add(path)
    for i, piece in enumerate(pieces(path)):
        if isinstance(piece, str):
            if piece.strip():
                yield (path, i), piece.strip("\n")
        elif ARCH in piece.parents and not (numbers and piece.name == "numbers.h"):
            yield from sequence(piece, seen, numbers)
        elif ARCH_SOURCES in piece.parents:
            yield from sequence(piece, seen, numbers)


def merge(sequences):
    """One order of what is in the sequences, {architecture: [(key, text)]}, that agrees with
    each of them: (architectures, key, text). What has the same architectures stays together."""
    texts, users, after = {}, {}, {}
    for architecture, items in sequences.items():
        for (key, text), following in zip(items, [*items[1:], None]):
            texts[key] = text
            users.setdefault(key, []).append(architecture)
            after.setdefault(key, set())
            if following:
                after[key].add(following[0])
    waiting = dict.fromkeys(texts, 0)
    for following in after.values():
        for key in following:
            waiting[key] += 1
    last = None
    while waiting:
        ready = [key for key in texts if waiting.get(key) == 0]
        if not ready:
            sys.exit("amalgamate.py: architectures include their files in contrary orders")
        key = next((key for key in ready if users[key] == last), ready[0])
        last = users[key]
        yield last, key, texts[key]
        del waiting[key]
        for following in after[key]:
            waiting[following] -= 1


def condition(architectures):
    """The lines of an #if for these."""
    words = [f"defined({macro(architecture)})" for architecture in architectures]
    lines = ["#if " + words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) > 86:
            lines[-1] += " || \\"
            lines.append("\t" + word)
        else:
            lines[-1] += " || " + word
    return lines


def with_conditions(merged):
    """Lines: each text in a condition on the architectures that have it."""
    merged = list(merged)
    for i, (users, (path, _), text) in enumerate(merged):
        conditional = len(users) < len(ARCHITECTURES)
        if conditional and (i == 0 or merged[i - 1][0] != users):
            yield from ["", *condition(users)]
        yield from ["", banner(name_of(path)), text]
        if conditional and (i + 1 == len(merged) or merged[i + 1][0] != users):
            yield from ["", f"#endif /* {', '.join(users)} */"]


def choice(text):
    """The text of arch.h with the macros in place of its #includes."""
    return CHOICE.sub(lambda found: f"#define {macro(found[1])}", text)


# --- C -----------------------------------------------------------------------------------


class Unit:
    """What has been included so far, in one of the files."""

    def __init__(self):
        self.seen = set()

    def arch(self, line, path):
        """For the #includes of arch.h: of the last one becomes the text of all architectures."""
        if CHOICE.match(line):
            return [choice(line)]
        seen_by = {architecture: set() for architecture in ARCHITECTURES}
        return with_conditions(merge({
            architecture: [*sequence(ARCH / architecture / "call.h", seen),
                           *sequence(included(line, path), seen)]
            for architecture, seen in seen_by.items()}))

    def text(self, path):
        """The lines of a file. Those of the headers that it begins with stand before it."""
        guarded = guard(path)
        if guarded:
            if path in self.seen:
                return []
            self.seen.add(path)
        before, body, depth, begins = [], [], 0, True
        for line in COMMENT_OR_LINE.findall(source(path)):
            line = line.rstrip("\n")
            file = included(line, path)
            depth += depth_change(line)
            if file and path == ARCH_H and ARCH in file.parents:
                body += self.arch(line, path)
            elif file and begins and guard(file):
                before += self.text(file)
            elif file:
                begins = False
                seen = set(self.seen)
                nested = self.text(file)
                if depth > bool(guarded):  # not for all who include the file
                    self.seen = seen
                if nested:
                    body += [*nested, "", banner(f"{name_of(path)}, continued")]
            else:
                body.append(line)
                begins = begins and (is_comment(line) or line.startswith("#include")
                                     or bool(guarded) and line.split()[1:2] == [guarded])
        return [*before, "", banner(name_of(path)), *body]


def check_macros(sources):
    """A macro that a source leaves defined changes no other source."""
    code = {path: COMMENT.sub("", path.read_text()) for path in sources}
    for path, text in code.items():
        left = set(re.findall(r"#\s*define (\w+)", text)) - set(re.findall(r"#\s*undef (\w+)", text))
        for other in sources:
            common = left & set(re.findall(r"\w+", code[other])) if other != path else set()
            if common:
                sys.exit(f"amalgamate.py: macros of {name_of(path)} in {name_of(other)}: "
                         + ", ".join(sorted(common)))


def c_sources():
    """symbols.c, which says what a system call is in this unit, comes first."""
    found = [path for layer in ("syscall", "aspawn/*")
             for path in sorted(ROOT.glob(f"{layer}/*.c"))]
    return sorted(found, key=lambda path: path.name != "symbols.c")


# --- assembly ----------------------------------------------------------------------------


def numbers(architecture, text):
    """The definitions of the system call numbers that the text of an architecture names. Of
    two definitions the second is for those who have no other."""
    header = ARCH / architecture / "numbers.h"
    defined = {}
    for _, piece in sequence(header, set()):
        for name, value in re.findall(r"^#define (\w+) (.+)$", piece, re.M):
            defined.setdefault(name, value)
    wanted, lines = re.findall(r"\bPSYS_NR_\w+", text), {}
    while wanted:
        name = wanted.pop()
        if name in defined and name not in lines:
            lines[name] = f"#define {name} {defined[name]}"
            wanted += re.findall(r"\w+", defined[name])
    return header, "\n".join(sorted(lines.values()))


def assembly(without):
    """The assembly of all architectures, without the files of this name."""
    sequences = {}
    for architecture in ARCHITECTURES:
        seen, items = set(), []
        for path in sorted((ARCH_SOURCES / architecture).glob("*.S")):
            if path.name != without:
                items += sequence(path, seen, numbers=True)
        header, lines = numbers(architecture, "\n".join(text for _, text in items))
        sequences[architecture] = [((header, "numbers"), lines), *items]
    text = source(ARCH_H)
    first, last = text.index("#if defined"), text.index("#endif\n", text.index("#error")) + 7
    yield choice(text[first:last])
    yield from with_conditions(merge(sequences))

    users = {}
    for architecture, items in sequences.items() if without == "start.S" else ():
        for name in re.findall(r"\.globl\s+(\w+)", "\n".join(text for _, text in items)):
            users.setdefault(name, []).append(architecture)
    if users:
        yield from ["", "/* As the functions of aspawn.c. */", "#ifndef ASPAWN_EXPORT"]
    for name, architectures in users.items():
        hidden = [f"\t.hidden\t{name}"]
        if len(architectures) < len(ARCHITECTURES):
            hidden = [*condition(architectures), *hidden, "#endif"]
        yield from hidden
    if users:
        yield "#endif"


# --- the files ----------------------------------------------------------------------

HEAD = """/* SPDX-License-Identifier: MIT */
/*
 * {file}, of aspawn {version}: {title}
 *
 * Made from the sources by `make amalgamation`, for every architecture of the library; change
 * them and not this file.
 *
{notes}
 *
{license}
 */"""

LINKAGE = """
/*
 * The functions are for the program, or the shared library, that aspawn.c is linked into,
 * and it exports none of them. With ASPAWN_EXPORT it does: define it for each file that
 * includes one of these.
 */
#ifndef PSYS_API
#ifdef ASPAWN_EXPORT
#define PSYS_API __attribute__((visibility("{exported}")))
#else
#define PSYS_API __attribute__((visibility("hidden")))
#endif
#endif"""

NOTES = {
    "psys.h": """
The system calls of Linux, in one header. Each is an inline function: there is nothing to
compile or to link. In C (C99 or later) and in C++ (C++11 or later), by gcc and clang.

aspawn.h holds all of this. Both may be included, in any order.

Declared here, and defined by aspawn.c and aspawn.S: {api}.

PSYS_NO_UNPREFIXED, defined before, leaves out the names that have no prefix: {plain}.""",
    "aspawn.h": """
All of the library's interface, in one header: starting programs, and the system calls, as
psys.h has them. In C (C99 or later) and in C++ (C++11 or later), by gcc and clang. With it
go aspawn.c and aspawn.S, which are compiled and linked with the program.

PSYS_NO_UNPREFIXED, defined before, leaves out the names that have no prefix: {plain}.""",
    "aspawn.c": """
All of the library but its assembly, which is in aspawn.S. The interface is in aspawn.h; this
file includes nothing of it.

Needs no option of the compiler, gcc 12 or later or clang 14 or later, in C11 or later, and
no libc. What the library's own build gives by an option is here an attribute or a pragma:

-fno-stack-protector: of every function that may run in a child. A compiler without the
attribute is refused if it is to protect stacks.
-fvisibility=hidden: a pragma. With ASPAWN_EXPORT the functions of aspawn.h are exported, and
so is one for each system call, for callers in other languages; calls within the library
stay in it.
-ffreestanding: not needed; of a libc's functions a compiler calls memcpy and memset at most,
as in freestanding code too.
-mno-outline-atomics, of aarch64: a pragma.

Sanitizers, profiling and the like are kept out of the functions of the child by attributes;
PSYS_UNINSTRUMENTED names the options that no attribute keeps out.""",
    "aspawn.S": """
The library's assembly: where a child begins, and on some architectures what a signal handler
returns to, and atomic operations. Needs no option: cc -c aspawn.S -o aspawn-asm.o
(aspawn.o is what becomes of aspawn.c).""",
    "aspawn-image.c": """
With the image, a command for another user does not copy the memory of the caller. Make it first,
sh aspawn-image.sh aspawn-image cc,
then compile aspawn.c with -DASPAWN_IMAGE='"aspawn-image"' (its path), which contains it.""",
    "aspawn-image.S": """
The image's assembly: where it begins.""",
}

TITLES = {
    "psys.h": "the system calls",
    "aspawn.h": "the interface",
    "aspawn.c": "the library",
    "aspawn.S": "the library's assembly",
    "aspawn-image.c": "the image, a program that the library may contain",
    "aspawn-image.S": "the image's assembly",
}

SOURCE_BEGIN = """
#ifdef __cplusplus
#error "aspawn.c is C: compile it by a C compiler; aspawn.h is for C++ too"
#endif

#if defined(__SSP__) || defined(__SSP_STRONG__) || defined(__SSP_ALL__)
#if !defined(__has_attribute)
#error "aspawn.c: this compiler needs -fno-stack-protector"
#elif !__has_attribute(no_stack_protector)
#error "aspawn.c: this compiler needs -fno-stack-protector"
#endif
#endif

#ifndef ASPAWN_EXPORT
#define PSYS_NO_SYMBOLS
#endif
#ifndef PSYS_NO_UNPREFIXED
#define PSYS_NO_UNPREFIXED
#endif

#pragma GCC visibility push(hidden)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wshadow"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Watomic-alignment"
#endif"""

SOURCE_END = """
#pragma GCC diagnostic pop
#pragma GCC visibility pop"""


def comment(text):
    return "\n".join(f" * {line}".rstrip() for line in text.strip().splitlines())


def wrapped(words):
    """Names with commas, for the end of a sentence of a comment."""
    lines = [""]
    for i, word in enumerate(words):
        word = f"{word}()" + ("," if i + 1 < len(words) else "")
        if len(lines[-1]) + len(word) > 88:
            lines.append("")
        lines[-1] += " " * bool(lines[-1]) + word
    return "\n" + "\n".join(lines)


def of_architectures(name):
    """The file of this name in syscall/arch/<arch>/, of each architecture that has one."""
    for condition, architecture in re.findall(r'if (.*)\n' + CHOICE.pattern, ARCH_H.read_text()):
        path = ARCH_SOURCES / architecture / name
        if path.exists():
            yield from ["", f"#if {condition}", banner(name_of(path)), source(path).rstrip(), "#endif"]


def functions(lines, attribute):
    text = COMMENT.sub("", "\n".join(lines))
    return re.findall(rf"^\s*{attribute} [^;()#]*?\b(\w+)\((?!\()", text, re.M)


def core_options():
    return re.findall(r"^-.*", (ROOT / "aspawn/cflags").read_text(), re.M)


def version():
    text = (INCLUDE / "aspawn/version.h").read_text()
    return ".".join(re.search(rf"#define ASPAWN_VERSION_{part} (\d+)", text)[1]
                    for part in ("MAJOR", "MINOR", "PATCH")) + \
        re.search(r'#define ASPAWN_VERSION_SUFFIX "(.*)"', text)[1]


def files():
    """Name and lines of each file."""
    unit = Unit()
    psys = unit.text(INCLUDE / "syscall/syscall.h")
    others = []
    for path in [*sorted((INCLUDE / "syscall").glob("*.h")), *sorted((INCLUDE / "aspawn").glob("*.h"))]:
        if guard(path) and path.name != "unprefixed.h":
            others += unit.text(path)
    yield "psys.h", psys
    yield "aspawn.h", psys + others

    unit, lines = Unit(), []
    sources = c_sources()
    check_macros(sources)
    for path in sources:
        lines += unit.text(path)
    yield "aspawn.c", lines
    yield "aspawn.S", list(assembly(without="start.S"))
    yield "aspawn-image.c", Unit().text(IMAGE / "program.c")
    yield "aspawn-image.S", list(assembly(without="clone.S"))


def main(directory):
    directory.mkdir(parents=True, exist_ok=True)
    plain = wrapped(functions((INCLUDE / "syscall/unprefixed.h").read_text().splitlines(),
                              "PSYS_INLINE"))
    for name, lines in files():
        notes = NOTES[name].format(api=wrapped(functions(lines, "PSYS_API")), plain=plain)
        head = HEAD.format(file=name, version=version(), title=TITLES[name], notes=comment(notes),
                           license=comment((ROOT / "LICENSE").read_text()))
        if not name.endswith(".S"):
            linkage = LINKAGE.replace("{exported}", "protected" if name.endswith(".c") else "default")
            lines = linkage.splitlines() + lines
        if name.endswith(".c"):
            lines = [*SOURCE_BEGIN.splitlines(), *of_architectures("begin.h"), *lines,
                     *of_architectures("end.h"), *SOURCE_END.splitlines()]
        if name.endswith(".h"):
            own = f"{name[:-2].upper()}_AMALGAMATION_H"
            lines = [f"#ifndef {own}", f"#define {own}", *lines, "", "#endif"]
        text = re.sub(r"\n{3,}", "\n\n", "\n".join([head, *lines]) + "\n")
        (directory / name).write_text(text)
    shutil.copy(IMAGE / "image.ld", directory / "aspawn-image.ld")
    script = Path(shutil.copy(IMAGE / "aspawn-image.sh", directory))
    script.write_text(re.sub(r"^core=.*", f'core="{" ".join(core_options())}"', script.read_text(), flags=re.M))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
