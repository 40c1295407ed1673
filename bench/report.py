#!/usr/bin/env python3
"""Prints the benchmarks' JSON as Markdown tables of medians and ratios.

report.py FILE...       a table for each file, then the figures that are aimed at
report.py --data FILE   lines of name and median, for the chart
"""
import json
import pathlib
import sys

FLOOR, ASPAWN, POSIX_SPAWN = "BM_clone3_floor", "BM_aspawn", "BM_posix_spawn"
WITH, COMMAND, CLOSEFROM = "BM_aspawn_with", "BM_aspawn_command", "BM_aspawn_closefrom"
TITLES = {
    "responsiveness": "Time until the call returns",
    "quick": "Time until the call returns",
    "lifetime": "Time until the child is reaped",
    "memory": "Time until the call returns, by MiB that the caller has touched",
    "commands": "Time until the call returns, for a command with actions",
    "blocked": "Time until the call returns, by open descriptors of the caller",
    "reaped": "Time until the child is reaped, by open descriptors of the caller",
    "syscall": "Time of a system call",
}


def medians(path):
    """{(name, size): microseconds}, the size in MiB or in descriptors"""
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


def print_calls(path):
    """The names are way/call, in the order of the program."""
    found = {}
    for row in sorted(json.loads(path.read_text())["benchmarks"], key=lambda row: row["family_index"]):
        if row.get("aggregate_name") == "median" and not row.get("error_occurred"):
            way, call = row["run_name"].split("/")
            found.setdefault(way, {})[call] = row["real_time"]
    floor = next(iter(found))
    print(f"\n**{TITLES[path.stem]}** (nanoseconds, and of the {floor}; only ratios carry over)\n")
    print("| | " + " | ".join(f"{call} | ratio" for call in found[floor]) + " |")
    print("| --- |" + " ---: |" * (2 * len(found[floor])))
    for way, times in found.items():
        print(f"| {way} | " + " | ".join(f"{time:.0f} | {time / found[floor][call]:.2f}"
                                         for call, time in times.items()) + " |")
    print("\nThe libc's clock_gettime reads the vDSO: no system call, if the clock allows that.")


def split(found, metric):
    """Selects one metric from names like way/metric."""
    return {(name.removesuffix(f"/{metric}"), size): time for (name, size), time in found.items()
            if name.endswith(f"/{metric}")}


def print_table(title, found):
    sizes = sorted({size for _, size in found})
    names = sorted((name for name, size in found if size == sizes[-1]), key=lambda name: found[name, sizes[-1]])
    print(f"\n**{TITLES.get(title, title)}** (microseconds; only ratios carry over)\n")
    if len(sizes) == 1:
        floor = FLOOR if (FLOOR, 0) in found else WITH
        print(f"| | median | of {'the floor' if floor == FLOOR else floor} | of posix_spawn |")
        print("| --- | ---: | ---: | ---: |")
        for name in names:
            time = found[name, 0]
            print(f"| {name} | {time:.1f} | {time / found[floor, 0]:.2f} "
                  f"| {time / found[POSIX_SPAWN, 0]:.2f} |")
        return
    print("| | " + " | ".join(str(size) for size in sizes) + f" | {sizes[-1]} of {sizes[0]} |")
    print("| --- |" + " ---: |" * (len(sizes) + 1))
    for name in names:
        times = [found[name, size] for size in sizes]
        print(f"| {name} | " + " | ".join(f"{time:.1f}" for time in times)
              + f" | {times[-1] / times[0]:.2f} |")


def print_aims(results):
    found = results.get("responsiveness") or results.get("quick")
    aims = []
    if found:
        aims += [
            ("aspawn without a pipe / floor", found["BM_aspawn_no_pipe", 0] / found[FLOOR, 0], 1.10, True),
            ("aspawn / floor", found[ASPAWN, 0] / found[FLOOR, 0], 1.6, True),
            ("posix_spawn / aspawn", found[POSIX_SPAWN, 0] / found[ASPAWN, 0], 4, False),
        ]
    if "memory" in results:
        found = results["memory"]
        largest = max(size for _, size in found)
        aims.append((f"aspawn with {largest} MiB / with none", found[ASPAWN, largest] / found[ASPAWN, 0], 1.15, True))
    if "commands" in results:
        found = results["commands"]
        aims += [
            ("aspawn_command / aspawn_with", found[COMMAND, 0] / found[WITH, 0], 1.25, True),
            ("us that 12 actions add", found[f"{COMMAND}_12_actions", 0] - found[COMMAND, 0], 1, True),
        ]
    if "descriptors" in results:
        for metric, bound in (("reaped", 1.5), ("blocked", 2.5)):
            found = split(results["descriptors"], metric)
            aims.append((f"closefrom with 10000 descriptors / with none, {metric}",
                         found[CLOSEFROM, 10000] / found[CLOSEFROM, 0], bound, True))
    if not aims:
        return
    print("\n| aim | bound | measured | |\n| --- | ---: | ---: | --- |")
    for text, ratio, bound, at_most in aims:
        reached = ratio <= bound if at_most else ratio >= bound
        print(f"| {text} | {'at most' if at_most else 'at least'} {bound:g} | {ratio:.2f} "
              f"| {'reached' if reached else 'not reached'} |")


def main(arguments):
    if arguments[:1] == ["--data"]:
        for (name, _), time in medians(pathlib.Path(arguments[1])).items():
            print(name.removeprefix("BM_"), f"{time:.2f}")
        return
    results = {}
    for path in map(pathlib.Path, arguments):
        if path.stem == "syscall":
            print_calls(path)
            continue
        results[path.stem] = medians(path)
        if path.stem == "descriptors":
            for metric in ("blocked", "reaped"):
                print_table(metric, split(results[path.stem], metric))
        else:
            print_table(path.stem, results[path.stem])
    print_aims(results)


main(sys.argv[1:])
