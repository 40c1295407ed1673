# SPDX-License-Identifier: MIT
"""Compares the system call numbers with all of the kernel's, under our names.

A plain name always means the wide form, so that on 32-bit architectures some
calls have another name than in the kernel's headers:

    clock_gettime64, futex_time64 -> clock_gettime, futex   clock_gettime, futex -> ..._time32
    getuid32 -> getuid                                      getuid -> getuid16
    fcntl64 -> fcntl                                        fcntl -> fcntl32
"""
import re
from functools import cache

from kernel import NEWEST, checked, clang, include, macros, our_headers, our_macros, table

# No calls: bases of numbers, and reserved places in a table.
NO_CALL = re.compile(r"__ARM_NR_BASE|__NR_(SYSCALL_\w+|OABI_SYSCALL_BASE|Linux|syscalls"
                     r"|arch_specific_syscall|(unused|reserved)\d+)")

# Calls that take the 32-bit form of a structure (timespec, timex) which is 64-bit on other
# architectures, and have no successor with the plain name.
NARROW_WITHOUT_SUCCESSOR = {"nanosleep", "adjtimex", "io_getevents"}

TIME64 = re.compile(r"(\w+)_time64|((?:clock_(?:get|set|adj)time)|(?:timer(?:fd)?_[gs]ettime))64")


@cache
def kernel_numbers(target, suite):
    """The kernel's own names and numbers, without __NR_."""
    header = include("asm/unistd.h")
    names = [name for name in macros(target, suite, header)
             if re.match(r"__(ARM_)?NR_", name) and not NO_CALL.fullmatch(name)]
    return {name.replace("__ARM_NR_", "arm_").replace("__NR_", ""): value
            for name, value in values(target, suite, header, names)}


@cache
def our_numbers(target):
    """Ours, without PSYS_NR_."""
    names = [name for name in our_macros(target) if name.startswith("PSYS_NR_")]
    return {name.removeprefix("PSYS_NR_"): value
            for name, value in values(target, None, include(*our_headers(target)), names)}


def values(target, suite, header, names):
    """Each macro of names with its number."""
    lines = "".join(f'"{name}" = {name};\n' for name in names)
    text = checked(clang(target, suite, header + lines, "-E", "-P"))
    return [(name, number(value)) for name, value in re.findall(r'^"(\w+)" = (.*);$', text, re.M)]


def number(text):
    """Of a preprocessed number: 42, or (0x40000000 + 42)."""
    if not re.fullmatch(r"[0-9a-fA-Fx+() ]+", text):
        raise ValueError(f"not a number: {text}")
    return sum(int(part, 0) for part in re.findall(r"\w+", text))


def our_name(name, names):
    """The name in our tree of what the kernel calls name, among its names."""
    wide = TIME64.fullmatch(name)
    if wide:
        return wide[1] or wide[2]
    if name == "fcntl64" or name.endswith("32") and name[:-2] in names:
        return name[:-2]
    if name == "fcntl" and "fcntl64" in names:
        return "fcntl32"
    if name + "32" in names:
        return name + "16"
    narrow = name in NARROW_WITHOUT_SUCCESSOR and "clock_gettime64" in names
    if narrow or any(wide and name in wide.groups() for wide in map(TIME64.fullmatch, names)):
        return name + "_time32"
    return name


def expected(target, suite):
    names = kernel_numbers(target, suite)
    return {our_name(name, names): value for name, value in names.items()}


UPCOMING = {name: int(value) for name, value, *_ in table("upcoming.txt")}
packaged: set[str] = set()  # those that the newest packaged kernel knows


def is_upcoming(name, ours):
    """True if upcoming.txt has it with this number, counted from the ABI's base."""
    return UPCOMING.get(name) == ours[name] - ours["clone3"] + 435


def outdated():
    """The rows of upcoming.txt that are not needed any more."""
    return [f"upcoming.txt: {name}" for name in sorted(packaged)]


# Numbers that a kernel's table reserves for a call that the architecture lacks: ENOSYS.
RESERVED = {("sh4", "clone3")}


def differences(target, suite):
    ours = our_numbers(target)
    theirs = expected(target, suite)
    for name, value in sorted(theirs.items(), key=lambda item: item[1]):
        if name not in ours:
            yield f"missing: PSYS_NR_{name} {value}"
        elif ours[name] != value:
            yield f"PSYS_NR_{name} is {ours[name]}, the kernel's {value}"
    if suite == NEWEST:
        packaged.update(UPCOMING.keys() & theirs.keys())
        for name in sorted(ours.keys() - theirs.keys()):
            if not is_upcoming(name, ours) and (target.architecture, name) not in RESERVED:
                yield f"unknown to the kernel: PSYS_NR_{name} {ours[name]}"
