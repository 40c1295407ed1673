#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the benchmarks' JSON as Markdown tables of medians and ratios.

report.py FILE...          tables of each file, then the figures that are aimed at
report.py --brief FILE...  tables of each file, and a sentence that says what they show
"""
import json
import pathlib
import sys

FLOOR, ASPAWN, POSIX_SPAWN = "bare clone3 (the floor)", "aspawn", "posix_spawn"
WITH, COMMAND, CLOSEFROM = "aspawn_with", "aspawn_start, no action", "aspawn_start, closefrom"
USER, SAME_USER, TREE = "aspawn_start, user", "aspawn_start, no user", "aspawn_start, tree"
CGROUP, NEW_CGROUP = "aspawn_start, cgroup", "aspawn_start, new cgroup"
PIPES = "aspawn_start, only_below and two pipes"
UNIT = "microseconds; only the ratios carry over to another machine"
TITLES = {
    "responsiveness": "How long the caller is blocked",
    "lifetime": "Time until the child has been reaped",
    "memory": "How long the caller is blocked, by MiB that it has touched",
    "commands": "How long the caller is blocked, by a command with actions",
    "descriptors/blocked": "How long the caller is blocked, by descriptors that it has open",
    "descriptors/reaped": "Time until the child has been reaped, by descriptors of the caller",
    "users/blocked": "How long the caller is blocked, by another user's program, a tree, in a cgroup, and MiB touched",
    "users/reaped": "Time until another user's child, a tree, one in a cgroup has been reaped, by MiB of the caller",
    "syscall": "Time of a system call",
}
COLUMNS = {"responsiveness": "the caller is blocked", "commands": "the caller is blocked",
           "lifetime": "until reaped"}


def aggregates(path):
    """Returns {(name, size): microseconds}, with the size in MiB or in descriptors."""
    found = {}
    for row in json.loads(path.read_text())["benchmarks"]:
        if row.get("aggregate_name") != "median" or row.get("error_occurred"):
            continue
        parts = row["run_name"].split("/")
        name, size = "/".join(part for part in parts if ":" not in part and part != "manual_time"), 0
        for part in parts:
            if part.startswith(("MiB:", "descriptors:")):
                size = int(part.split(":")[1])
        found[name, size] = row["real_time"]
    return found


def print_table(heads, rows):
    """Cells are padded, so that a terminal shows a table too."""
    widths = [max(map(len, column)) for column in zip(heads, *rows)]
    for row in (heads, *rows):
        cells = [cell.rjust(width) if i else cell.ljust(width)
                 for i, (cell, width) in enumerate(zip(row, widths))]
        print(f"| {' | '.join(cells)} |")
        if row is heads:
            print("| " + " | ".join("-" * (width - 1) + (":" if i else "-")
                                    for i, width in enumerate(widths)) + " |")


def print_calls(path):
    """Prints a table of names of/call, in the order of the program."""
    found = {}
    for row in sorted(json.loads(path.read_text())["benchmarks"], key=lambda row: row["family_index"]):
        if row.get("aggregate_name") == "median" and not row.get("error_occurred"):
            name, call = row["run_name"].split("/")
            found.setdefault(name, {})[call] = row["real_time"]
    floor = next(iter(found))
    print(f"\n**{TITLES[path.stem]}** (nanoseconds, and of {floor}; only the ratios carry over)\n")
    print_table(["", *(cell for call in found[floor] for cell in (call, "ratio"))],
                [[name, *(cell for call, time in times.items()
                          for cell in (f"{time:.0f}", f"{time / found[floor][call]:.2f}"))]
                 for name, times in found.items()])
    print("\nThe libc's clock_gettime reads the vDSO: no system call, where the clock allows that.")


def split(found, metric):
    """Returns the times of one metric, by name, from names like name/metric."""
    return {(name.removesuffix(f"/{metric}"), size): time for (name, size), time in found.items()
            if name.endswith(f"/{metric}")}


def print_times(kind, found):
    sizes = sorted({size for _, size in found})
    names = sorted((name for name, size in found if size == sizes[-1]),
                   key=lambda name: found[name, sizes[-1]])
    print(f"\n**{TITLES[kind]}** ({UNIT})\n")
    if len(sizes) > 1:
        print_table(["", *map(str, sizes), f"{sizes[-1]} of {sizes[0]}"],
                    [[name, *(f"{found[name, size]:.1f}" for size in sizes),
                      f"{found[name, sizes[-1]] / found[name, sizes[0]]:.2f}"] for name in names])
        return
    first = FLOOR if (FLOOR, 0) in found else WITH
    other = next(name for name in names if name.startswith(POSIX_SPAWN))
    print_table(["", COLUMNS[kind], f"of {'the floor' if first == FLOOR else first}", f"of {other}"],
                [[name, f"{found[name, 0]:.1f}", f"{found[name, 0] / found[first, 0]:.2f}",
                  f"{found[name, 0] / found[other, 0]:.2f}"] for name in names])


def print_aims(results):
    aims = []
    if "responsiveness" in results:
        found = results["responsiveness"]
        aims += [
            ("aspawn without a pipe / floor", found["aspawn, no pipe", 0] / found[FLOOR, 0], 1.10, True),
            ("aspawn / floor", found[ASPAWN, 0] / found[FLOOR, 0], 1.6, True),
            ("posix_spawn / aspawn", found[POSIX_SPAWN, 0] / found[ASPAWN, 0], 4, False),
        ]
    if "memory" in results:
        found = results["memory"]
        largest = max(size for _, size in found)
        aims.append((f"aspawn with {largest} MiB / with none",
                     found[ASPAWN, largest] / found[ASPAWN, 0], 1.15, True))
    if "commands" in results:
        found = results["commands"]
        aims += [
            ("aspawn_start / aspawn_with", found[COMMAND, 0] / found[WITH, 0], 1.25, True),
            ("us that 12 actions add", found["aspawn_start, 12 actions", 0] - found[COMMAND, 0], 1, True),
        ]
    if "descriptors" in results:
        for metric, bound, with_pipes in (("reaped", 1.5, 1.3), ("blocked", 2.5, 1.5)):
            found = split(results["descriptors"], metric)
            most = max(size for _, size in found)
            aims.append((f"two pipes with {most} descriptors / with none, {metric}",
                         found[PIPES, most] / found[PIPES, 0], with_pipes, True))
            aims.append((f"closefrom with 10000 descriptors / with none, {metric}",
                         found[CLOSEFROM, 10000] / found[CLOSEFROM, 0], bound, True))
    if "users" in results:
        blocked, reaped = (split(results["users"], metric) for metric in ("blocked", "reaped"))
        aims += [
            ("another user with 1024 MiB / with none, blocked", blocked[USER, 1024] / blocked[USER, 0], 1.2, True),
            ("another user with 1024 MiB / with none, reaped", reaped[USER, 1024] / reaped[USER, 0], 1.2, True),
            ("another user / the same user, reaped", reaped[USER, 1024] / reaped[SAME_USER, 1024], 2.5, True),
            ("another user / fork, with none, reaped", reaped[USER, 0] / reaped["fork, user", 0], 0.8, True),
        ]
        if (CGROUP, 0) in blocked:
            aims += [(f"{text} with 1024 MiB / with none, {metric}", found[way, 1024] / found[way, 0], 1.2, True)
                     for text, way in (("a cgroup", CGROUP), ("a new cgroup", NEW_CGROUP))
                     for metric, found in (("blocked", blocked), ("reaped", reaped))]
            aims.append(("a new cgroup / a tree, blocked", blocked[NEW_CGROUP, 0] / blocked[TREE, 0], 1.2, True))
    if not aims:
        return
    print()
    print_table(["aim", "bound", "measured", ""],
                [[text, f"{'at most' if at_most else 'at least'} {bound:g}", f"{ratio:.2f}",
                  "reached" if (ratio <= bound if at_most else ratio >= bound) else "not reached"]
                 for text, ratio, bound, at_most in aims])


def print_sentence(kind, found):
    """Prints what the table shows, with its own figures."""
    largest = max(size for _, size in found)
    if kind == "memory":
        print(f"\n=> With {largest} MiB touched the caller is blocked "
              + ", ".join(f"{found[name, largest]:.0f} us by {name}"
                          for name in (ASPAWN, "vfork", POSIX_SPAWN, "fork")) + ".")
    elif kind == "descriptors/reaped":
        times = [f"{found[name, largest]:.0f} us by {name}"
                 for name in (CLOSEFROM, "posix_spawn, closefrom", POSIX_SPAWN, "vfork")]
        print(f"\n=> With {largest} descriptors a child is reaped after {'; '.join(times)}.")


def main(arguments):
    is_brief = arguments[:1] == ["--brief"]
    results = {}
    for path in map(pathlib.Path, arguments[is_brief:]):
        if path.stem == "syscall":
            print_calls(path)
            continue
        found = results[path.stem] = aggregates(path)
        metrics = ("blocked", "reaped") if path.stem in ("descriptors", "users") else (None,)
        for metric in metrics:
            kind = f"{path.stem}/{metric}" if metric else path.stem
            times = split(found, metric) if metric else found
            print_times(kind, times)
            if is_brief:
                print_sentence(kind, times)
    if not is_brief:
        print_aims(results)


main(sys.argv[1:])
