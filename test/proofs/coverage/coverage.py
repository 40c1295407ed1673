#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the suite that is built for coverage (coverage.mk), and with --faults fault injection, and prints
how many lines of the library they reach.

Each line that both together do not reach is in unreached.txt, with its reason: "file function line",
behind "?" if chance decides. README.md promises the percentages.
"""
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
        data, counts, names = ([int(number, 16) for number in sections[name].split()]
                               for name in ('data', 'cnts', 'names'))
        with open(self.counted, 'rb') as file:
            program = file.read()
        with open(self.path + '.counts', 'rb') as file:
            counted = file.read()
        header = struct.pack('<16Q', int.from_bytes(b'\xfflprofr\x81', 'big'), RAW_VERSION, 0,
                             data[2] // 64, 0, counts[2] // 8, 0, 0, 0, names[2],
                             (counts[0] - data[0]) % 2**64, 0, names[0], 0, 0, 2)
        return (header + program[data[1]:data[1] + data[2]] + counted.ljust(counts[2], b'\0') +
                program[names[1]:names[1] + names[2]] + bytes(-names[2] % 8))


class Lines:
    """How often each line that has code was executed, {file: {line: count}}, and whose it is."""

    def __init__(self, programs):
        self.counts, self.functions = {}, {}
        for line in self.report(programs).splitlines():
            kind, _, rest = line.partition(':')
            number, _, value = rest.partition(',')
            if kind == 'SF':
                here = os.path.relpath(rest)
                self.counts[here], self.functions[here] = {}, []
            elif kind == 'FN':
                self.functions[here].append((int(number), value.rpartition(':')[2]))
            elif kind == 'DA':
                self.counts[here][int(number)] = int(value)

    @staticmethod
    def report(programs):
        with tempfile.TemporaryDirectory() as work:
            for number, program in enumerate(programs):
                with open(f'{work}/{number}.profraw', 'wb') as file:
                    file.write(program.profile())
            output_of('llvm-profdata-19', 'merge', '-o', f'{work}/all',
                      *(f'{work}/{number}.profraw' for number in range(len(programs))))
            first, *others = (program.counted for program in programs)
            return output_of('llvm-cov-19', 'export', '-format=lcov', f'-instr-profile={work}/all', first,
                             *(f'-object={other}' for other in others), *CORE)

    def reached(self, under=''):
        counts = [count for file in self.counts if (file + '/').startswith(under)
                  for count in self.counts[file].values()]
        return sum(count > 0 for count in counts), len(counts)

    def unreached(self):
        """Returns {"file function line": numbers}, of lines that have more than punctuation."""
        found = {}
        for path, counts in self.counts.items():
            with open(path, encoding='utf-8') as file:
                text = file.read().splitlines()
            for number in (number for number, count in counts.items() if not count):
                line = re.sub(r'\s*/\*.*', '', text[number - 1]).strip()
                function = max(at for at in self.functions[path] if at[0] <= number)[1]
                if re.search(r'\w', line):
                    found.setdefault(f'{path} {function} {line}', []).append(number)
        return found


def read_list():
    with open(f'{HERE}/unreached.txt', encoding='utf-8') as file:
        return [line.rstrip('\n') for line in file if line.strip() and not line.startswith('#')]


def percent(reached, of):
    """Rounded down: 100 % are all."""
    return 100 * reached // of if of else 100


def table(columns):
    last = columns[-1]
    rows = [name for top in CORE for name in [top + '/'] +
            sorted(file for file in last.counts if file.startswith(top + '/') and last.counts[file])]
    for row in rows + ['']:
        numbers = [column.reached(row if row.endswith('/') or not row else row + '/') for column in columns]
        print(f'# {row or "all":28}{numbers[-1][1]:6} lines',
              *(f'{percent(*number):4} %' for number in numbers))


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
    with open('README.md', encoding='utf-8') as file:
        row = re.search(r'`make coverage`.*', file.read())
    return [int(number) for number in re.findall(r'(\d+) %', row[0])]


def main():
    with_faults = '--faults' in sys.argv
    programs = [Program('suite'), Program('aspawn/child/image/program', '.counted')]
    run('the suite', os.path.abspath(f'{BUILD_DIR}/suite'), SUITE_TREES='1000')
    columns = [Lines(programs)]
    if with_faults:
        programs.append(Program('faults/scenarios'))
        run('fault injection', 'test/proofs/faults/faults.py')
        columns.append(Lines(programs))
    table(columns)
    shares = {top: percent(*columns[-1].reached(top + '/')) for top in CORE}
    check(f'at least {LEAST} % of each directory',
          [f'{top}: {share} %' for top, share in shares.items() if share < LEAST])
    reached = [percent(*column.reached()) for column in columns]
    check('README.md promises no more',
          [f'{reached[i]} %, not {least} %' for i, least in enumerate(promised()[:len(columns)])
           if reached[i] < least])
    if with_faults:
        unreached, listed = columns[-1].unreached(), read_list()
        known = {entry.lstrip('? ') for entry in listed}
        check('what is not reached has a reason in unreached.txt',
              [f'{entry}   ({", ".join(map(str, unreached[entry]))})'
               for entry in unreached if entry not in known])
        check('what is in unreached.txt is not reached',
              [entry for entry in listed if entry[0] != '?' and entry not in unreached])
    print(f'1..{number}')


main()
