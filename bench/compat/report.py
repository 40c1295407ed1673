#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the drop-ins' benchmarks as tables of medians, and compares them with the aims.

report.py TABLE.json SPAWNS.json TOUCHED.json PROGRAMS/
"""
import json
import pathlib
import statistics
import sys

FLOOR = "vfork + exec"
AIMS = [
    ("popen_noshell / vfork + exec, total", "**popen_noshell**", FLOOR, "total", 1.10, True),
    ("popen_noshell / vfork + exec with a pipe, total", "**popen_noshell**", FLOOR + ", a pipe and read", "total",
     1.10, True),
    ("popen of the libc / popen, total", "popen of the libc", "**popen**", "total", 3, False),
    ("system of the libc / system, total", "system of the libc", "**system**", "total", 3, False),
    ("posix_spawn / of the libc, the caller is blocked", "**posix_spawn**", "posix_spawn of the libc",
     "blocked", 0.80, True),
    ("posix_spawn / of the libc, total", "**posix_spawn**", "posix_spawn of the libc", "total", 1, True),
]


def medians(path):
    """{name: {counter: microseconds}}"""
    rows = {}
    for row in json.loads(pathlib.Path(path).read_text(encoding="utf-8"))["benchmarks"]:
        if row.get("aggregate_name") == "median" and not row.get("error_occurred"):
            name = row["run_name"].removesuffix("/real_time")
            rows[name] = {key: row[key] for key in ("user", "system", "blocked")}
            rows[name]["total"] = row["user"] + row["system"]
    return rows


def print_table(rows):
    print("\n**Processor time of a command's whole life** (microseconds; ratios are what carries over)\n")
    print("| | user | system | total | of vfork + exec | the caller is blocked |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, row in sorted(rows.items(), key=lambda item: item[1]["total"]):
        print(f"| {name} | {row['user']:.1f} | {row['system']:.1f} | {row['total']:.1f} "
              f"| {row['total'] / rows[FLOOR]['total']:.2f} | {row['blocked']:.1f} |")
    print("\n| aim | bound | measured | |\n| --- | ---: | ---: | --- |")
    for text, over, under, key, bound, at_most in AIMS:
        ratio = rows[over][key] / rows[under][key]
        reached = ratio <= bound if at_most else ratio >= bound
        print(f"| {text} | {'at most' if at_most else 'at least'} {bound:.2f} | {ratio:.2f} "
              f"| {'reached' if reached else 'not reached'} |")


def print_spawns(rows):
    print("\n**posix_spawn of the libc, by what is asked of it, and the ratio of ours** "
          "(microseconds; ratios are what carries over)\n")
    print("| | the caller is blocked | ours | processor | ours |\n| --- | ---: | ---: | ---: | ---: |")
    pairs = [(name.removesuffix("@libc"), row, rows[name.removesuffix("libc") + "ours"])
             for name, row in rows.items() if name.endswith("@libc")]
    for name, libcs, ours in sorted(pairs, key=lambda pair: pair[2]["blocked"] / pair[1]["blocked"]):
        cells = [f"{libcs[key]:.0f} | {ours[key] / libcs[key]:.2f}" for key in ("blocked", "total")]
        print(f"| {name} | " + " | ".join(cells) + " |")


def print_touched(rows):
    by_size = {}
    for name, row in rows.items():
        way, size = name.split("/MiB:")
        by_size.setdefault(int(size), {})[way] = row["total"]
    ways = list(next(iter(by_size.values())))
    print("\n**Processor time of a command's whole life, by MiB that its parent has touched** "
          "(microseconds; only ratios carry over)\n")
    print("| MiB | " + " | ".join(ways) + f" | {ways[-1]} / {ways[0]} |")
    print("| ---: |" + " ---: |" * (len(ways) + 1))
    for size, row in sorted(by_size.items()):
        print(f"| {size} | " + " | ".join(f"{row[way]:.0f}" for way in ways)
              + f" | {row[ways[-1]] / row[ways[0]]:.1f} |")


def print_programs(directory):
    """Each file begins with runs without the preload, with it, and with ASPAWN_PRELOAD=once."""
    files = sorted(directory.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
    if not files:
        return
    print("\n**Programs without the preload, and the ratio with it** (milliseconds)\n")
    print("| | wall | preload | once | processor | preload | once |")
    print("| --- |" + " ---: |" * 6)
    for path in files:
        runs = json.loads(path.read_text(encoding="utf-8"))["results"]
        commands = list(dict.fromkeys(run["command"] for run in runs))
        cells = []
        for of in (lambda run: run["median"], lambda run: run["user"] + run["system"]):
            without, always, once = (statistics.median(of(run) for run in runs if run["command"] == command)
                                     for command in commands)
            cells += [f"{1e3 * without:.0f}", f"{always / without:.2f}", f"{once / without:.2f}"]
        print(f"| {path.stem} | " + " | ".join(cells) + " |")


def print_runtimes(path):
    """Each line is a name and one run without the preload and with it."""
    if not path.exists():
        return
    rows = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        name, *times = line.split("\t")
        rows.setdefault(name, []).append([float(time) for time in times])
    print("\n**A child of a runtime, from the call until it is reaped, and the ratio with the preload** "
          "(microseconds)\n")
    print("| | without | preload |\n| --- | ---: | ---: |")
    for name, times in rows.items():
        without, preloaded = (statistics.median(column) for column in zip(*times))
        print(f"| {name} | {without:.0f} | {preloaded / without:.2f} |")


def main(table, spawns, touched, programs):
    print_table(medians(table))
    print_spawns(medians(spawns))
    print_touched(medians(touched))
    print_programs(pathlib.Path(programs))
    print_runtimes(pathlib.Path(programs) / "runtimes")


main(*sys.argv[1:])
