#!/usr/bin/env python3
"""The drop-ins' benchmark as a table of medians, and what is aimed at: report.py FILE"""
import json
import sys

FLOOR = "vfork + exec"
AIMS = [
    ("popen_noshell / vfork + exec, total", "popen_noshell", FLOOR, "total", 1.10, True),
    ("libc's popen / popen, total", "libc's popen", "popen", "total", 3, False),
    ("libc's system / system, total", "libc's system", "system", "total", 3, False),
    ("posix_spawn / libc's, until the caller goes on", "posix_spawn", "libc's posix_spawn", "blocked", 0.80, True),
]


def main(path):
    rows = {}
    with open(path, encoding="utf-8") as file:
        for row in json.load(file)["benchmarks"]:
            if row.get("aggregate_name") == "median" and not row.get("error_occurred"):
                name = row["run_name"].removesuffix("/real_time")
                rows[name] = {key: row[key] for key in ("user", "system", "blocked")}
                rows[name]["total"] = row["user"] + row["system"]
    print("\n**Processor time of a command's whole life** (microseconds; ratios are what carries over)\n")
    print("| | user | system | total | of vfork + exec | the caller is held |")
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


main(sys.argv[1])
