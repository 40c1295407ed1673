#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the models of the protocols by spin, each whole and with each of its mutants. Prints TAP.

models.py [MODEL...]

A mutant is a name MUTANT_... of the preprocessor in the model: spin must find an error with it. The
models get the values of the library's headers (constants.c), and weak.pml the memory orders that
the sources have (orders.txt): each of these, weakened, is a mutant too.
WHOLE=1 for all states of queue.pml.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
MODELS = ('stack', 'helper', 'queue', 'weak')
WEAKER = {'SEQ_CST': 'ACQ_REL'}


def definitions(work):
    """Returns NAME=VALUE of the headers."""
    program = os.path.join(work, 'constants')
    subprocess.run([*os.environ.get('CC', 'cc').split(), '-O1', '-w', '-I' + ROOT, '-I' + ROOT + '/include',
                    '-o', program, HERE + '/constants.c'], check=True)
    lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    return ['='.join(line.split()[1:]) for line in lines]


def function(path, name):
    """Returns the text of a function from its name to the next brace in the first column."""
    with open(os.path.join(ROOT, path), encoding='utf-8') as file:
        text = file.read()
    found = re.search(r'^[^\n;]*\b%s\([^;{]*\)\n\{\n.*?^\}' % name, text, re.M | re.S)
    if not found:
        sys.exit(f'{path} has no {name}()')
    return found[0]


def orders():
    """Returns {NAME: order of memory} by orders.txt."""
    found = {}
    with open(HERE + '/orders.txt', encoding='utf-8') as file:
        rows = [line.split() for line in file if line.strip() and not line.startswith('#')]
    for label, path, name, access in rows:
        # The next order is taken. A compare-and-exchange has the order of its success first.
        matches = set(re.findall(re.escape(access) + r'\b.*?__ATOMIC_([A-Z_]+)', function(path, name), re.S))
        if len(matches) != 1:
            sys.exit(f'{path}: {name}(): {access} has {len(matches)} orders')
        found[label] = matches.pop()
    return found


def check(work, model, defines, options):
    """Returns None or the error, and the number of states."""
    folder = tempfile.mkdtemp(dir=work)
    for name in os.listdir(HERE):
        if name.endswith('.pml'):
            shutil.copy(os.path.join(HERE, name), folder)
    commands = (['spin', '-a', *('-D' + define for define in defines), model + '.pml'],
                ['cc', '-w', options, '-DSAFETY', '-o', 'pan', 'pan.c'],
                ['./pan', '-m200000', '-w22'])
    for command in commands:
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if run.returncode:
            return f'{command[0]}: {run.stdout}{run.stderr}', 0
    states = re.search(r'(\d+) states, stored', run.stdout)
    errors = re.search(r'errors: (\d+)', run.stdout)
    error = re.search(r'pan:1: (.*) \(at depth', run.stdout)
    if not states or not errors or 'max search depth too small' in run.stdout:
        return 'pan: ' + run.stdout, 0
    shutil.rmtree(folder)
    return (error[1] if error else 'unknown') if int(errors[1]) else None, int(states[1])


def mutants(model, found_orders):
    """Returns (name, definitions) of each."""
    with open(f'{HERE}/{model}.pml', encoding='utf-8') as file:
        text = file.read()
    names = sorted(set(re.findall(r'\bMUTANT_\w+', text)))
    result = [(name[7:].lower().replace('_', ' '), [name]) for name in names]
    if model == 'weak':
        result += [(f'{label.lower()} {weaker.lower()}, not {order.lower()}', [f'{label}={weaker}'])
                   for label, order in found_orders.items() if order != 'RELAXED'
                   for weaker in [WEAKER.get(order, 'RELAXED')]]
    return result


def main():
    models = sys.argv[1:] or MODELS
    if not shutil.which('spin'):
        print('1..0 # SKIP no spin')
        return 0
    failed = False
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(2) as pool:
        known = orders()
        defines = definitions(work)
        if os.environ.get('WHOLE'):
            defines.append('WHOLE')
        jobs = []
        for model in models:
            own = [f'{label}={order}' for label, order in known.items()] if model == 'weak' else []
            jobs.append((model, None, pool.submit(check, work, model, defines + own, '-O2')))
            for name, mutant in mutants(model, known):
                kept = [define for define in own if define.split('=')[0] != mutant[0].split('=')[0]]
                level = '-O1' if model == 'queue' else '-O0'
                jobs.append((model, name, pool.submit(check, work, model, defines + kept + mutant, level)))
        print(f'1..{len(jobs)}')
        for number, (model, mutant, job) in enumerate(jobs, 1):
            error, states = job.result()
            is_right = bool(states) and bool(error) == bool(mutant)
            failed |= not is_right
            text = f'{model}: spin finds the mutant: {mutant}' if mutant else f'{model}: holds in {states} states'
            print(f'{"" if is_right else "not "}ok {number} - {text}')
            if error:
                print('# ' + '\n# '.join(error.strip().splitlines()[:5]))
            sys.stdout.flush()
    return failed


if __name__ == '__main__':
    sys.exit(main())
