#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tables, charts and sentences of what bench/waits has measured.

waits.py FILE              the five tables, and which aims hold
waits.py --demo FILE       one table, and sentences that say what it shows
waits.py --documents FILE  writes them to doc/benchmarks.md, README.md and doc/waits-*.svg
"""
import json
import math
import pathlib
import re
import sys

FLOOR, PLAIN, POSIX_SPAWN = "bare clone3 (the floor)", "aspawn_start", "posix_spawn"
CHARTED = (FLOOR, PLAIN, "fork", "vfork", POSIX_SPAWN)
COLOURS = dict(zip(CHARTED, ("#777777", "#2a6fb0", "#b8860b", "#c05020", "#902020")))
GROUP_SPAWN = "clone3, as posix_spawn calls it"
AIMED = {"aspawn_start, closefrom, two pipes": 3, PLAIN: 3, "aspawn_start, private": 3, "aspawn_start, tree": 3,
         "aspawn_start, another user": 4}
ENOUGH = 100  # starts, for p99 or a share of a few per cent
ROOT = pathlib.Path(__file__).parent.parent


class Table:
    """Describes a table of the documents. A column is (condition, caller), and a head."""

    def __init__(self, name, title, columns):
        self.name, self.title, self.columns = name, title, columns


def load_columns(caller):
    return [((load, caller), "idle" if load == "0" else f"{load} for each") for load in ("0", "1", "4", "16")]


TABLES = [
    Table("load", "1. Load: a caller that has worked for a millisecond, beside processes that never sleep",
          load_columns("worked")),
    Table("load", "1. Load: a caller that has rested for a millisecond", load_columns("rested")),
    Table("exec", "2. Slow exec: a scanner (fanotify) allows each exec after so long, on an idle machine",
          [((delay, "worked"), f"{delay} ms") for delay in ("0", "1", "20")]),
    Table("real time", "3. Real time: a thread with locked memory, beside a busy process for each processor",
          [((policy, "worked"), policy) for policy in ("SCHED_FIFO", "SCHED_DEADLINE")]),
    Table("group", "4. A cgroup that does not run: frozen until 50 ms after the start, or its 1 ms of each 100 used up",
          [((state, "rested"), state) for state in ("frozen", "used up")]),
    Table("threads", "5. Other threads: the longest page fault of a second thread beside a start, by memory touched",
          [((size, "rested"), text) for size, text in (("0", "0"), ("1024", "1 GiB"), ("4096", "4 GiB"))]),
]


class Results:
    def __init__(self, path):
        self.machine, self.rows, self.skipped = {}, {}, []
        for row in map(json.loads, path.read_text().splitlines()):
            if "kernel" in row:
                self.machine = row
            elif "skipped" in row:
                self.skipped.append(row)
            else:
                self.rows[row["table"], row["condition"], row["caller"], row["way"]] = row

    def get(self, table, condition, way, caller="worked"):
        return self.rows.get((table, condition, caller, way))

    def has(self, *condition):
        return any(key[:3] == condition for key in self.rows)

    def ways(self, table):
        """Returns the ways of a table, the fastest first, under the last condition that was
        measured for each."""
        last = {}
        for (name, *_, way), row in self.rows.items():
            if name == table and "p50" in row:
                last[way] = row["p50"]
        return sorted(last, key=last.get)


def two_digits(number):
    return f"{number:.1f}" if number < 10 else f"{number:.0f}"


def in_words(us):
    return f"{two_digits(us / 1000)} ms" if us >= 1000 else two_digits(us)


def with_unit(us):
    return in_words(us) + ("" if us >= 1000 else " us")


def share(count, row):
    percent = 100 * count / row["starts"]
    return two_digits(percent) if count else "0"


def markdown(heads, rows):
    """Cells are padded, so that a terminal shows a table too."""
    widths = [max(map(len, column)) for column in zip(heads, *rows)]
    lines = ["| " + " | ".join(cell.rjust(width) if i else cell.ljust(width)
                               for i, (cell, width) in enumerate(zip(row, widths))) + " |" for row in (heads, *rows)]
    lines.insert(1, "| " + " | ".join("-" * (width - 1) + (":" if i else "-") for i, width in enumerate(widths)) + " |")
    return "\n".join(lines)


def times_of(row):
    if row is None:
        return "-"
    names = ("p50", "p95", "p99", "longest") if row["starts"] >= ENOUGH else ("p50", "longest")
    return " / ".join(in_words(row[name]) for name in names)


def judged(row, floor):
    """Returns p99 of the starts that have kept the processor, as a ratio to the floor's, and how
    many per cent have lost the processor, or slept."""
    if row is None or floor is None:
        return "-"
    ratio = f"{row['kept_p99'] / floor['kept_p99']:.1f}" if floor["kept_p99"] and row["starts"] >= ENOUGH else "-"
    return f"{ratio} / {share(row['lost'], row)} / {share(row['slept'], row)}"


def calls_of(row):
    if row is None:
        return "-"
    return f"{row['copies']} long" if row["copies"] else str(row["changes"])


def text_of(results, table):
    columns = [(key, head) for key, head in table.columns if results.has(table.name, *key)]
    ways = results.ways(table.name)

    def row_of(key, way):
        return results.rows.get((table.name, *key, way))

    def counted(key, head):
        return f"{head} ({max(row['starts'] for way in ways if (row := row_of(key, way)))})"

    lines = [f"**{table.title}**\n"]
    rows = [[way, *(times_of(row_of(key, way)) for key, _ in columns)] for way in ways]
    heads = ["median / p95 / p99 / longest (number of starts)", *(counted(*column) for column in columns)]
    if table.name == "threads":
        heads.append("calls")
        for row in rows:
            row.append(calls_of(row_of(("calls", "rested"), row[0])))
    if table.name == "load" and len(columns) > 1:
        first, last = columns[0], columns[-1]
        heads.append(f"median: {last[1]}, of {first[1]}")
        for row in rows:
            ends = [row_of(key, row[0]) for key, _ in (first, last)]
            row.append(two_digits(ends[1]["p50"] / ends[0]["p50"]) if all(ends) else "-")
    if columns:
        lines.append(markdown(heads, rows) + "\n")
    if columns and table.name != "threads":
        rows = [[way, *(judged(row_of(key, way), row_of(key, FLOOR)) for key, _ in columns)] for way in ways]
        lines.append(markdown(["judged: p99 / lost, % / slept, %", *(head for _, head in columns)], rows) + "\n")
    measured = {key for key, _ in table.columns}
    for row in results.skipped:
        if row["table"] == table.name and (row["condition"], row["caller"]) in measured:
            what = ", ".join(row[name] for name in ("condition", "way") if name in row)
            lines.append(f"Not measured: {what}: {row['skipped']}.\n")
    return "\n".join(lines)


def aims_of(results):
    """[(what, holds)]"""
    aims = []
    for (table, condition, caller, way), row in results.rows.items():
        if table not in ("load", "exec", "real time") or way not in AIMED:
            continue
        floor = results.get(table, condition, FLOOR, caller)
        name = f"{table}, {condition}, {caller}: {way}"
        share_lost, floor_lost = (100 * one["lost"] / one["starts"] for one in (row, floor))
        if min(row["starts"], floor["starts"]) >= ENOUGH and floor["kept_p99"]:
            ratio = row["kept_p99"] / floor["kept_p99"]
            aims.append((f"{name}: p99 that kept the processor {ratio:.1f} of the floor's, at most {AIMED[way]}",
                         ratio <= AIMED[way]))
            aims.append((f"{name}: {share_lost:.1f} % lost the processor, the floor {floor_lost:.1f} %",
                         share_lost <= 2 * floor_lost + 3))
        aims.append((f"{name}: {row['slept']} of {row['starts']} starts slept", row["slept"] == 0))
    return aims


def aims_text(results):
    aims = aims_of(results)
    failed = [f"* {text}" for text, holds in aims if not holds]
    text = f"{len(aims) - len(failed)} of {len(aims)} aims hold."
    return "\n".join([text + (" These do not:\n" if failed else ""), *failed]) + "\n"


def machine_text(results):
    found = results.machine
    return (f"Measured on {found['day']}: Linux {found['kernel']}, {found['architecture']}, {found['processors']}"
            f" processors ({found['model']}). The load average was {found['load_before']} before.\n")


# --- what README.md says ---------------------------------------------------------------------

SHORT = (("an idle machine", "load", "0"), ("1 busy process for each processor", "load", "1"),
         ("16 busy processes for each processor", "load", "16"), ("an exec that takes 20 ms, idle", "exec", "20"),
         ("a `SCHED_FIFO` thread, 1 for each", "real time", "SCHED_FIFO"))


def short_table(results):
    ways = (FLOOR, PLAIN, POSIX_SPAWN, "vfork", "fork")
    rows = []
    for text, table, condition in SHORT:
        cells = [results.get(table, condition, way) for way in ways]
        if any(cells):
            rows.append([text, *(f"{in_words(row['p50'])} / {in_words(row['p95'])}" if row else "-" for row in cells)])
    return markdown(["median / 95th percentile", "bare `clone3`", *(f"`{way}`" for way in ways[1:])], rows)


def idle_sentence(results):
    spawn = results.get("load", "0", POSIX_SPAWN)
    pool, own = (results.get("load", "0", way) for way in (PLAIN, "aspawn_start, no pool"))
    if not (spawn and pool and own):
        return ""
    return (f"On an idle machine a start takes {pool['p50'] / spawn['p50']:.2f} of the time of `posix_spawn`,"
            f" and {own['p50'] / spawn['p50']:.2f} without a pool.\n")


# --- charts ------------------------------------------------------------------------------------

def svg(height, parts):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 {height}" width="400" height="{height}" '
            'font-family="sans-serif" font-size="13">\n<rect width="100%" height="100%" fill="white"/>\n'
            + "\n".join(parts) + "\n</svg>\n")


def text_at(x, y, text, anchor="start", style=""):
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}"{style}>{text}</text>'


def title_of(title):
    return [text_at(8, 20 + 17 * i, line, style=' font-weight="bold"') for i, line in enumerate(title)]


def bars(title, rows):
    """rows: (label, value, words, colour); the lengths are linear."""
    left, top, step, most = 122, 20 + 17 * len(title), 26, max(value for _, value, _, _ in rows)
    parts = title_of(title)
    for i, (label, value, words, colour) in enumerate(rows):
        y, width = top + step * i, max(1, 150 * value / most)
        parts += [text_at(left - 6, y + 14, label, "end"),
                  f'<rect x="{left}" y="{y}" width="{width:.1f}" height="18" fill="{colour}"/>',
                  text_at(left + width + 5, y + 14, words)]
    return svg(top + step * len(rows) + 6, parts)


def curves(title, places, rows):
    """rows: (label, values, colour), on a logarithmic scale of microseconds."""
    left, right, top, bottom, lowest = 52, 290, 36, 246, 10
    highest = 1.2 * max(max(values) for _, values, _ in rows)
    scale = (bottom - top) / math.log(highest / lowest)
    xs = [left + (right - left) * i / (len(places) - 1) for i in range(len(places))]
    parts, lowest_label = title_of(title), math.inf

    def height(value):
        return bottom - scale * math.log(value / lowest)

    for decade in (10 ** n for n in range(1, 9) if 10 ** n <= highest):
        words = f"{decade} us" if decade < 1000 else f"{decade // 1000} ms"
        parts += [f'<path d="M{left} {height(decade):.1f}H{right}" stroke="#dddddd"/>',
                  text_at(left - 5, height(decade) + 4, words, "end", ' fill="#555555" font-size="11"')]
    parts += [text_at(x, bottom + 17, place, "middle") for x, place in zip(xs, places)]
    parts.append(text_at((left + right) / 2, bottom + 35, "busy processes for each processor", "middle"))
    for label, values, colour in sorted(rows, key=lambda row: row[1][-1]):
        points = " ".join(f"{x:.1f},{height(value):.1f}" for x, value in zip(xs, values))
        lowest_label = min(height(values[-1]), lowest_label - 15)  # above the last one
        parts += [f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>',
                  text_at(right + 6, lowest_label + 4, label, style=f' fill="{colour}"')]
    return svg(bottom + 45, parts)


def bars_of(results, title, key, ways=CHARTED):
    """Draws the median of each way as a bar."""
    labels = {FLOOR: "bare clone3", GROUP_SPAWN: POSIX_SPAWN}
    rows = [(labels.get(way, way), results.rows.get((*key, way))) for way in ways]
    return bars(title, [(label, row["p50"], with_unit(row["p50"]),
                         COLOURS[FLOOR if label == "bare clone3" else label]) for label, row in rows if row])


def charts_of(results):
    """Returns {name: SVG}, of what has been measured."""
    places = [load for load in ("0", "1", "4", "16") if results.get("load", load, POSIX_SPAWN)]
    charts = {
        "exec": (["Blocked by a start, median:", "an exec that takes 20 ms"], ("exec", "20", "worked"), CHARTED),
        "real-time": (["Blocked by a start, median: a SCHED_FIFO", "thread, every processor busy"],
                      ("real time", "SCHED_FIFO", "worked"), CHARTED),
        "group": (["Blocked by a start, median: into a frozen", "cgroup, which is thawed after 50 ms"],
                  ("group", "frozen", "rested"), (*CHARTED[:4], GROUP_SPAWN)),
        "threads": (["Longest page fault of a second thread beside", "a start, median: 1 GiB touched"],
                    ("threads", "1024", "rested"), CHARTED),
    }
    drawn = {name: bars_of(results, title, key, ways) for name, (title, key, ways) in charts.items()
             if results.has(*key)}
    if len(places) > 1:
        drawn["load"] = curves(["Blocked by a start, median, by load"], places, [
            ("bare clone3" if way == FLOOR else way, [results.get("load", load, way)["p50"] for load in places],
             COLOURS[way]) for way in CHARTED])
    return drawn


# --- documents -----------------------------------------------------------------------------------

def replace_block(path, name, text):
    """Between <!-- waits: NAME --> and <!-- end -->."""
    old = path.read_text()
    pattern = rf"(<!-- waits: {name} -->\n).*?(<!-- end -->)"
    new, count = re.subn(pattern, lambda found: f"{found[1]}{text}{found[2]}", old, flags=re.S)
    if count != 1:
        sys.exit(f"{path}: {count} places for {name}, not 1")
    path.write_text(new)


def write_documents(results):
    benchmarks, readme = ROOT / "doc" / "benchmarks.md", ROOT / "README.md"
    charts = charts_of(results)
    for name, chart in charts.items():
        (ROOT / "doc" / f"waits-{name}.svg").write_text(chart)
    for name in dict.fromkeys(table.name for table in TABLES):
        if any(key[0] == name for key in results.rows):
            texts = [text_of(results, table) for table in TABLES if table.name == name]
            replace_block(benchmarks, name, "\n" + "\n".join(texts) + "\n")
    replace_block(benchmarks, "machine", "\n" + machine_text(results) + "\n")
    replace_block(benchmarks, "aims", "\n" + aims_text(results) + "\n")
    replace_block(readme, "short", "\n" + short_table(results) + "\n\n")
    replace_block(readme, "idle", "\n" + idle_sentence(results))


# --- the demonstration ----------------------------------------------------------------------------

DEMO = (("idle", ("load", "0", "worked")), ("1 busy process for each processor", ("load", "1", "worked")),
        ("an exec that takes 20 ms", ("exec", "20", "worked")),
        ("a SCHED_FIFO thread, all busy", ("real time", "SCHED_FIFO", "worked")),
        ("a cgroup frozen for 50 ms", ("group", "frozen", "rested")),
        ("a thread's page fault, 1 GiB", ("threads", "1024", "rested")))


def print_demo(results):
    shown = {}
    for text, key in DEMO:
        ways = (*CHARTED[:4], GROUP_SPAWN if key[0] == "group" else POSIX_SPAWN)
        rows = [results.rows.get((*key, way)) for way in ways]
        if any(rows):
            shown[text] = rows
    print("\n" + markdown(["median, in us if no unit is named", "bare clone3", *CHARTED[1:]],
                          [[text, *(in_words(row["p50"]) if row else "-" for row in rows)]
                           for text, rows in shown.items()]))
    for row in results.skipped:
        print(f"Not measured: {row['table']}, {row['condition']}: {row['skipped']}.")
    asleep = []
    for i, way in ((1, PLAIN), (4, POSIX_SPAWN)):
        rows = [row[i] for row in shown.values() if row[i] and row[i]["table"] != "threads"]
        asleep.append(f"in {sum(row['slept'] for row in rows)} of {sum(row['starts'] for row in rows)} starts by {way}")
    print(f"\n=> The caller slept {', '.join(asleep)}.")
    ratios = [f"{text}: {two_digits(rows[4]['p50'] / rows[1]['p50'])}" for text, rows in shown.items()
              if rows[1] and rows[4]]
    print(f"=> posix_spawn takes, as a multiple of aspawn_start: {'; '.join(ratios)}.")
    busy, waits = results.get("load", "1", PLAIN), results.get("load", "1", POSIX_SPAWN)
    print(f"=> A caller with other work goes on after {with_unit(busy['p50'])} on a busy machine, not"
          f" {with_unit(waits['p50'])}; a caller that waits for each child gains only what part 6 says;"
          " go on with \"The first program\" in README.md.")


def main(arguments):
    options = [argument for argument in arguments if argument.startswith("--")]
    results = Results(pathlib.Path(arguments[-1]))
    if options == ["--demo"]:
        print_demo(results)
        return
    if options == ["--documents"]:
        write_documents(results)
        return
    print(machine_text(results))
    for table in TABLES:
        print(text_of(results, table))
    print(aims_text(results))


main(sys.argv[1:])
