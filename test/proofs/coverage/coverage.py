#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the suite that is built for coverage (coverage.mk), and with --faults fault injection, and
prints how many of these in the library they reach: lines; outcomes of conditions, true and false;
and conditions of && and || that alone decide the whole (MC/DC).

What both together do not reach has its reason in a list, behind "?" if chance decides: lines in
unreached.txt, as "file function line", and conditions of aspawn/ in undecided.txt, as "file
function condition: never true", "false" or "alone". A condition is left out there if its line is
reached by chance, if the next line is not reached either, or if it is never evaluated, which
follows from another one before it. What a condition never was may differ between runs, see
read_conditions(), and is not compared.
CONTRIBUTING.md promises the percentages of lines.
"""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

CORE = ['syscall', 'aspawn']
HERE = os.path.dirname(os.path.abspath(__file__))
BUILD_DIR = os.environ.get('BUILD_DIR', 'build/coverage')
RAW_VERSION = 10  # the profiles of LLVM 19, profile/InstrProfData.inc
OF_DECISION = 6  # CounterMappingRegion::MCDCBranchRegion
LEAST = 95
MOST_SHOWN = 40


def output_of(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


class Program:
    """A program whose processes count in FILE.counts (counters.c)."""

    def __init__(self, path, with_sections=''):
        self.path = f'{BUILD_DIR}/{path}'
        self.counted = self.path + with_sections
        with open(self.path + '.counts', 'wb'):
            pass
        os.chmod(self.path + '.counts', 0o666)  # tests are other users too

    def profile(self):
        """Returns what compiler-rt would write: a header, what the program has, and the counts."""
        sections = dict(re.findall(r' __llvm_prf_(\w+) +\w+ +(\w+ \w+ \w+)',
                                   output_of('llvm-readelf-19', '-SW', self.counted)))
        data, counts, bits, names = ([int(number, 16) for number in sections[name].split()]
                                     for name in ('data', 'cnts', 'bits', 'names'))
        with open(self.counted, 'rb') as file:
            program = file.read()
        with open(self.path + '.counts', 'rb') as file:
            counted = file.read()
        header = struct.pack('<16Q', int.from_bytes(b'\xfflprofr\x81', 'big'), RAW_VERSION, 0,
                             data[2] // 64, 0, counts[2] // 8, 0, bits[2], -(counts[2] + bits[2]) % 8, names[2],
                             (counts[0] - data[0]) % 2**64, (bits[0] - data[0]) % 2**64, names[0], 0, 0, 2)
        return (header + program[data[1]:data[1] + data[2]] + counted.ljust(-(-(counts[2] + bits[2]) // 8) * 8, b'\0') +
                program[names[1]:names[1] + names[2]] + bytes(-names[2] % 8))


class Reached:
    """Holds what programs reached: {file: {place: ...}} of lines that have code, and of conditions.

    The place of a line is its number, of a condition (line, column, line, column). counts has how
    often a line was executed, outcomes how often a condition was true and false. alone, of
    conditions within && and ||, is true if each outcome decided the whole alone (MC/DC). functions
    is {file: [(line, name)]}.
    """

    def __init__(self, programs):
        self.counts, self.functions, self.outcomes, self.alone, self.decisions = {}, {}, {}, {}, {}
        with tempfile.TemporaryDirectory() as work:
            for number, program in enumerate(programs):
                with open(f'{work}/{number}.profraw', 'wb') as file:
                    file.write(program.profile())
            output_of('llvm-profdata-19', 'merge', '-o', f'{work}/all',
                      *(f'{work}/{number}.profraw' for number in range(len(programs))))
            first, *others = (program.counted for program in programs)
            lcov, text = (output_of('llvm-cov-19', 'export', f'-format={form}', f'-instr-profile={work}/all',
                                    first, *(f'-object={other}' for other in others), *CORE)
                          for form in ('lcov', 'text'))
        self.read_lines(lcov)
        for file in json.loads(text)['data'][0]['files']:
            self.read_conditions(os.path.relpath(file['filename']), file)

    def read_lines(self, lcov):
        for line in lcov.splitlines():
            kind, _, rest = line.partition(':')
            number, _, value = rest.partition(',')
            if kind == 'SF':
                here = os.path.relpath(rest)
                self.counts[here], self.functions[here] = {}, []
            elif kind == 'FN':
                self.functions[here].append((int(number), value.rpartition(':')[2]))
            elif kind == 'DA':
                self.counts[here][int(number)] = int(value)

    def read_conditions(self, path, file):
        """Sums what the copies of a function did: each program, and each file that includes it,
        has one.

        Bitmaps are exact. A count may be the difference of two others. It is wrong if a process is
        killed after it has changed one of them, or if a signal handler copies the process then.
        """
        outcomes, alone, decisions = {}, {}, {}
        parts = set()
        for *place, yes, no, _, _, kind in file['branches']:
            before = outcomes.get(tuple(place), (0, 0))
            outcomes[tuple(place)] = before[0] + yes, before[1] + no
            if kind == OF_DECISION:
                parts.add(tuple(place))
        for *place, _, _, covered in file['mcdc_records']:
            inside = sorted(part for part in parts if place[:2] <= [*part[:2]] and [*part[2:]] <= place[2:])
            if len(inside) != len(covered):  # some are in a macro
                inside, covered = [tuple(place)], [all(covered)]
            for part, is_alone in zip(inside, covered):
                alone[part] = alone.get(part, False) or is_alone
                decisions[part] = place
                if is_alone and part in outcomes:
                    outcomes[part] = [max(count, 1) for count in outcomes[part]]
        self.outcomes[path], self.alone[path], self.decisions[path] = outcomes, alone, decisions

    def reached(self, under=''):
        """Returns for lines, outcomes and conditions of && and || how many are reached,
        of how many."""
        def values(of):
            return [value for file in of if (file + '/').startswith(under) for value in of[file].values()]
        outcomes = [count for pair in values(self.outcomes) for count in pair]
        return [(sum(value > 0 for value in found), len(found))
                for found in (values(self.counts), outcomes, values(self.alone))]

    def function_at(self, path, number):
        return max(at for at in self.functions[path] if at[0] <= number)[1]

    def line_at(self, path, number, text):
        line = re.sub(r'\s*/\*.*', '', text[number - 1]).strip()
        return f'{path} {self.function_at(path, number)} {line}' if re.search(r'\w', line) else None

    def unreached(self):
        """Returns {"file function line": numbers}, of lines that have more than punctuation."""
        found = {}
        for path, counts in self.counts.items():
            with open(path, encoding='utf-8') as file:
                text = file.read().splitlines()
            for number in (number for number, count in counts.items() if not count):
                line = self.line_at(path, number, text)
                if line:
                    found.setdefault(line, []).append(number)
        return found

    def undecided(self, under):
        """Returns {"file function condition: never ...": lines}. Leaves out the conditions of lines
        that are not reached, or that are reached by chance."""
        found, by_chance = {}, {entry[2:] for entry in read_list('unreached.txt') if entry[0] == '?'}
        for path in (path for path in self.outcomes if path.startswith(under)):
            counts = self.counts[path]
            with open(path, encoding='utf-8') as file:
                text = file.read().splitlines()
            for place, (yes, no) in sorted(self.outcomes[path].items()):
                never = 'true' if not yes else 'false' if not no else 'alone'
                end = self.decisions[path].get(place, place)[2]
                after = next((counts[number] for number in sorted(counts) if number > end), 1)
                if (not yes and not no) or (self.alone[path].get(place, True) if yes and no else not after):
                    continue
                if self.line_at(path, place[0], text) in by_chance:
                    continue
                rows = text[place[0] - 1:place[2]]
                rows[-1] = rows[-1][:place[3] - 1]
                rows[0] = rows[0][place[1] - 1:]
                condition = ' '.join(' '.join(rows).split())
                function = self.function_at(path, place[0])
                found.setdefault(f'{path} {function} {condition}: never {never}', []).append(place[0])
        return found


def read_list(name):
    with open(f'{HERE}/{name}', encoding='utf-8') as file:
        return [line.rstrip('\n') for line in file if line.strip() and not line.startswith('#')]


def percent(reached, of):
    """Returns a percentage, rounded down: 100 % are all."""
    return 100 * reached // of if of else 100


def table(columns):
    last = columns[-1]
    rows = [name for top in CORE for name in [top + '/'] +
            sorted(file for file in last.counts if file.startswith(top + '/') and last.counts[file])]
    for row in rows + ['']:
        found = zip(*(column.reached(row if row.endswith('/') or not row else row + '/') for column in columns))
        print(f'# {row or "all":36}',
              *(f'{numbers[-1][1]:6} {kind}' + ''.join(f'{percent(*number):4} %' for number in numbers)
                for kind, numbers in zip(('lines', 'outcomes', 'conditions'), found)))


number = 0


def check(name, broken):
    global number
    number += 1
    print('not ok' if broken else 'ok', number, '-', name)
    for line in broken[:MOST_SHOWN]:
        print('#  ', line)


def run(name, *command, **environment):
    """Runs tests. What they print is in a file."""
    with open(f'{BUILD_DIR}/{name}.log', 'w', encoding='utf-8') as log:
        result = subprocess.run(command, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                                stdout=log, stderr=subprocess.STDOUT)
    check(f'{name} passes', [f'status {result.returncode}: {log.name}'] if result.returncode else [])


def promised():
    with open('CONTRIBUTING.md', encoding='utf-8') as file:
        row = re.search(r'`make coverage`.*', file.read())
    return [int(number) for number in re.findall(r'(\d+) %', row[0])]


def compare(name, reached, found):
    """Checks that the list has what was found. BUILD_DIR gets a list of that, with lines."""
    def condition_of(entry):
        return entry.lstrip('? ').partition(': never ')[0]
    listed = read_list(name)
    known, conditions = ({condition_of(entry) for entry in entries} for entries in (listed, found))
    with open(f'{BUILD_DIR}/{name}', 'w', encoding='utf-8') as file:
        file.writelines(f'{entry}   ({", ".join(map(str, found[entry]))})\n' for entry in found)
    check(f'what is not {reached} has a reason in {name}',
          [entry for entry in found if condition_of(entry) not in known])
    check(f'what is in {name} is not {reached}',
          [entry for entry in listed if entry[0] != '?' and condition_of(entry) not in conditions])


def main():
    with_faults = '--faults' in sys.argv
    programs = [Program('suite'), Program('aspawn/child/image/program', '.counted')]
    run('the suite', os.path.abspath(f'{BUILD_DIR}/suite'), SUITE_TREES='1000')
    columns = [Reached(programs)]
    if with_faults:
        programs.append(Program('faults/scenarios'))
        run('fault injection', 'test/proofs/faults/faults.py')
        columns.append(Reached(programs))
    table(columns)
    shares = {top: percent(*columns[-1].reached(top + '/')[0]) for top in CORE}
    check(f'at least {LEAST} % of each directory',
          [f'{top}: {share} %' for top, share in shares.items() if share < LEAST])
    reached = [percent(*column.reached()[0]) for column in columns]
    check('CONTRIBUTING.md promises no more',
          [f'{reached[i]} %, not {least} %' for i, least in enumerate(promised()[:len(columns)])
           if reached[i] < least])
    if with_faults:
        compare('unreached.txt', 'reached', columns[-1].unreached())
        compare('undecided.txt', 'decided', columns[-1].undecided('aspawn/'))
    print(f'1..{number}')


main()
