# SPDX-License-Identifier: MIT
"""Compares the structures with the kernel's: size, and offset and size of each member.

struct psys_x is compared with the kernel's struct x. structures.txt has those
that differ in their names, and members that do. Bit-fields have no offset to
ask for; they are held by the members around them.
"""
import re
from functools import cache

from checks import failures, kernel_headers
from kernel import NEWEST, checked, clang, include, our_headers, table

ROWS = {ours: (theirs, words) for ours, theirs, *words in table("structures.txt")}
PREFIX = "psys_"


def layouts(target, suite, headers):
    """The members of every structure: tag -> paths (a.b.c) of scalar members."""
    text = checked(clang(target, suite, headers, "-fsyntax-only", "-Xclang",
                         "-fdump-record-layouts-complete"))
    found = {}
    for record in text.split("*** Dumping AST Record Layout")[1:]:
        lines = re.findall(r"^ *[\d:-]+ \| ( *)(.*)$", record, re.M)
        lines = [(len(indent) // 2, words) for indent, words in lines]
        tag = re.fullmatch(r"struct (\w+)", lines[0][1])
        if tag:
            found[tag[1]] = list(leaves(lines[1:]))
    return found


def leaves(lines):
    path = []
    for (depth, words), (next_depth, _) in zip(lines, lines[1:] + [(0, "")]):
        *kind, name = words.split()
        name = name if kind else ""  # a bit-field of no name
        name = "" if name.endswith(")") else name  # (unnamed at file:line:column)
        path[depth - 1:] = [name]
        if next_depth <= depth and name and "[] " not in words:  # no size, and nothing after it
            yield ".".join(filter(None, path))


@cache
def measured(target):
    """The layout of our structures: tag -> (size, path -> (offset, size))."""
    headers = include(*our_headers(target), "stddef.h")
    tags = {tag: paths for tag, paths in layouts(target, None, headers).items()
            if tag.startswith(PREFIX)}
    asked = []
    for tag, paths in tags.items():
        asked.append(f"sizeof(struct {tag})")
        for path in paths:
            asked += [offset_of(tag, path), size_of(tag, path)]
    source = headers + "const long long values[] = {-1, " + ", ".join(asked) + "};\n"
    text = checked(clang(target, None, source, "-S", "-emit-llvm", "-o", "-"))
    values = iter(re.findall(r"i64 (-?\d+)", re.search(r"@values = .*", text)[0])[1:])
    return {tag: (next(values), {path: (next(values), next(values)) for path in paths})
            for tag, paths in tags.items()}


def offset_of(tag, path):
    return f"__builtin_offsetof(struct {tag}, {path})"


def size_of(tag, path):
    return f"sizeof(((struct {tag} *)0)->{path})"


def differences(target, suite):
    """An older kernel may lack a structure, or its last members."""
    kernel = kernel_headers(target)
    theirs = layouts(target, suite, kernel)
    checks = []  # (what it says, C expression)
    for tag, (size, members) in measured(target).items():
        named, words = ROWS.get(tag, (tag.removeprefix(PREFIX), []))
        if named == "-" or f"not:{target.architecture}" in words:
            continue
        if named not in theirs:
            if suite == NEWEST:
                yield f"struct {tag}: the kernel's headers have no struct {named}"
            continue
        renamed = dict(word.split("=") for word in words if "=" in word)
        paths = {path: renamed.get(path, path) for path in members}
        if suite == NEWEST:
            checks.append((f"size of {tag}", f"{size} == sizeof(struct {named})"))
            if "partial" not in words:
                yield from lacking(tag, paths.values(), theirs[named])
        for path, (offset, size) in members.items():
            spare = ("__" in path or "spare" in path) and suite != NEWEST  # newer members' place
            if paths[path] != "-" and not spare:
                name = f"{tag}.{path}"
                checks += [(f"offset of {name}", f"{offset} == {offset_of(named, paths[path])}"),
                           (f"size of {name}", f"{size} == {size_of(named, paths[path])}")]
    failed = failures(target, suite, kernel, [check for _, check in checks])
    for index, failure in failed.items():
        if "[]'" in failure.message:  # the kernel's flexible array has no size
            continue
        if suite == NEWEST or not failure.absent:
            yield f"{checks[index][0]}, ours == the kernel's: {failure}"


def lacking(tag, ours, theirs):
    for path in theirs:
        if not any(path == name or path.startswith(name + ".") for name in ours):
            yield f"struct {tag} lacks the kernel's {path}"
