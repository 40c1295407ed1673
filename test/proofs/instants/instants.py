#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stops two parties of a start at each pair of their system calls,
and checks what scenarios.c promises.

instants.py [SCENARIO|MUTANT...]      tests all pairs, and the mutants of mutants.txt; prints TAP
instants.py SCENARIO A:I B:J ACT      one run, as failures below are printed

INSTANTS=some takes a part of the pairs, the same in each run, and no mutants. Each mutant is tested
with all pairs until one kills it; one that a run without stops kills shows nothing,
and is a failure.

A party is parent, child, helper, thread (a second one of the parent) or server (of a queue). It is
stopped before its call of this number, counted from 1: the supervisor of faults.py, which is asked
before each call, does not answer. Two parties are met when both are stopped, or one is and nothing
else moves: the other waits for it, or has ended. Then ACT says which of them goes on until nothing
moves, and afterwards the other does; "kill A": A is killed first. Of this all distinct pairs are
counted.

After each run: the calls have succeeded, unless somebody was killed; their results are right; the
caller has the descriptors, mappings and children that it had; no process is left; and the same
works again. If the caller was killed no process is left.
"""
import collections
import os
import re
import select
import shlex
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, ROOT + '/test/proofs/faults')
import faults  # noqa: E402, pylint: disable=wrong-import-position

BUILT = faults.SCENARIOS
WORK = os.path.dirname(os.path.dirname(BUILT)) + '/instants'

# The scenarios, and which two of their parties are stopped.
PAIRS = [
    ('stream_pipe', 'parent', 'child'),
    ('many_streams', 'parent', 'child'),
    ('command_missing', 'parent', 'child'),
    ('private_command', 'parent', 'child'),
    ('private_command', 'parent', 'helper'),
    ('private_command', 'helper', 'child'),
    ('private_command_dies_with_caller', 'parent', 'helper'),
    ('private_command_dies_with_caller', 'parent', 'child'),
    ('private_command_dies_with_caller', 'helper', 'child'),
    ('private_tree_dies_with_caller', 'parent', 'child'),
    ('private_tree_dies_with_caller', 'parent', 'helper'),
    ('private_tree_dies_with_caller', 'helper', 'child'),
    ('user', 'parent', 'child'),
    ('user', 'parent', 'helper'),
    ('user', 'helper', 'child'),
    ('private_gaining_dies_with_caller', 'helper', 'child'),
    ('pool_threads', 'parent', 'thread'),
    ('queue', 'parent', 'server'),
]

MOMENT = 0.001    # between two looks whether something moves
STILL = 3         # seconds without a move or a stop, after a kill: a deadlock
# the same without a kill: somebody was not woken, and waits for the end of a limit
ASLEEP = 0.6
POLLS = 0.5       # seconds that a party may poll for what the stopped one shall do
SOME = 7          # of so many pairs INSTANTS=some takes one
TRIES = 10        # of a mutant without stops
MOST_PRINTED = 4

Plan = collections.namedtuple('Plan', 'parties stops act')


def descendants(pid):
    """Returns all processes below, with those of all threads."""
    result = []
    try:
        for thread in os.listdir(f'/proc/{pid}/task'):
            with open(f'/proc/{pid}/task/{thread}/children', encoding='ascii') as file:
                for child in file.read().split():
                    result += [int(child)] + descendants(child)
    except OSError:  # it has ended
        pass
    return result


def look(pid):
    """Returns the state of each thread, and how often it has slept; None if one runs."""
    seen = []
    try:
        for thread in os.listdir(f'/proc/{pid}/task'):
            with open(f'/proc/{pid}/task/{thread}/status', encoding='utf-8', errors='replace') as file:
                text = file.read()
            state = re.search(r'^State:\s+(\w)', text, re.M)[1]
            if state == 'R':
                return None
            seen.append((pid, thread, state, *re.findall(r'ctxt_switches:\s+(\d+)', text)))
    except OSError:
        return None
    return seen


class Scheduler(faults.Supervisor):
    """Supervises a run by a plan. Without a plan nobody is stopped."""

    def __init__(self, scenario, plan):
        super().__init__(scenario, ())
        self.scenario, self.plan = scenario, plan
        self.stops = collections.Counter()  # of each party
        self.at = None                      # (party, pid) of the call that is decided about
        self.held = {}                      # party: (key, pid), of calls without an answer
        self.steps = None                   # what to do when nothing moves, after the meeting
        self.met = None                     # {party: (number of its call, held)}
        self.end_key = None                 # of the mark at the scenario's end
        self.killed = None
        # a child that is stopped while its caller or helper is killed
        self.doomed = None
        self.server = None
        self.still = (None, 0)              # what was seen, since when
        self.since = time.monotonic()       # the last step

    # --- who calls -------------------------------------------------------------------------

    def role(self, pid, call):
        if pid != self.process.pid and self.is_thread(pid):
            return 'thread' if pid in self.in_library else None
        who = super().role(pid, call)
        if who == 'child' and self.scenario.startswith('queue'):
            self.server = self.server or pid  # the first; another is made if it is killed
            return 'server' if pid == self.server else None
        return who

    def has_executed(self, pid):
        """The image is a part of the library."""
        return super().has_executed(pid) and not self.executable.get(pid, '').startswith('/memfd:')

    # --- stops -----------------------------------------------------------------------------

    def decide(self, pid, number, argument):
        calls = len(self.trace)
        error = super().decide(pid, number, argument)
        self.at = (self.trace[-1][0], pid) if len(self.trace) > calls else None
        if number == faults.END:
            self.at = ('end', pid)
        return error

    def answer(self, key, error):
        who, pid = self.at or (None, 0)
        if who == 'end':
            self.end_key = key
            return
        if who:
            self.stops[who] += 1
        if self.plan and self.steps is None and who not in self.held and \
                self.plan.stops.get(who) == self.stops[who]:
            self.held[who] = (key, pid)
            if len(self.held) == len(self.plan.parties):
                self.meet()
            return
        super().answer(key, error)

    def meet(self):
        """Begins the act of the plan. If the act is for a party that was not stopped, the other
        party goes on."""
        self.met = {who: (self.stops[who], who in self.held) for who in self.plan.parties}
        act, _, who = self.plan.act.rpartition(' ')
        first = who if who in self.held else next(iter(self.held))
        self.steps = [(act, first)] + [('go', who) for who in self.held if who != first]
        self.step()

    def step(self):
        self.since = time.monotonic()
        act, who = self.steps.pop(0)
        key, pid = self.held.pop(who)
        if act == 'kill':
            call = [call for party, call in self.trace if party == who][-1]
            error = 'HOST' if who in ('parent', 'thread') else 'KILL'
            self.hits.add(faults.Fault(who, call, self.counts[who, call], error, False))
            self.killed = who
            if 'dies' in self.scenario and who != 'child' and 'child' in self.held:
                self.doomed = self.held['child'][1]
            os.kill(pid, signal.SIGKILL)
        super().answer(key, None)

    # --- the loop --------------------------------------------------------------------------

    def others(self):
        return [pid for pid in descendants(os.getpid()) if pid != self.process.pid]

    def is_still(self):
        """True if everything has slept since the last look."""
        looks = [look(pid) for pid in descendants(os.getpid())]
        if None in looks:
            self.still = (None, 0)
            return False
        if looks != self.still[0]:
            self.still = (looks, time.monotonic())
            return False
        return True

    def go_on(self):
        """Nobody has called for a moment. Returns false if nothing will move any more."""
        if self.is_still():
            if self.held:
                self.meet() if self.steps is None else self.step()
                return True
            is_killed = self.killed or self.plan is None
            return time.monotonic() - self.still[1] < (STILL if is_killed else ASLEEP)
        if self.steps and time.monotonic() - self.since > POLLS:
            self.step()
        return time.monotonic() - self.since < faults.PATIENCE

    def end(self):
        """Answers the mark at the end, or returns true after it, when there is no other process."""
        if self.killed == 'helper' and self.dies and self.is_still() and (self.end_key or self.has_ended()):
            for pid in self.others():  # nobody knows of them
                os.kill(pid, signal.SIGKILL)
        if self.held or self.others():
            return False
        if self.end_key is not None:
            super().answer(self.end_key, 0)
            self.end_key = None
        return self.has_ended()

    def finish(self):
        if self.doomed is not None and self.executable.get(self.doomed) == faults.PROGRAM:
            self.broken.append(f'a child was to die with its {self.killed}, and executes the program')
        if self.has_failed and not self.killed:
            self.broken.append('fails, and nobody was killed')
        return super().finish()

    def has_ended(self):
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def serve(self):
        poll = select.poll()
        poll.register(self.listener, select.POLLIN)
        while True:
            ready = poll.poll(MOMENT * 1000)
            if ready and ready[0][1] & select.POLLIN:
                if not self.answer_one():
                    self.broken.append(f'spins, {faults.MOST_CALLS} calls, {self.last}')
                    return
                self.still = (None, 0)
                continue
            if ready:
                time.sleep(MOMENT)  # hung up: nobody with the filter is there
            self.reap_orphans()
            if (self.end_key is not None or self.has_ended()) and self.end():
                return
            if not self.go_on():
                self.broken.append(
                    'processes are left' if self.end_key is not None or self.has_ended() else
                    f'hangs, {len(self.trace)} calls, {self.last}')
                os.kill(self.process.pid, signal.SIGKILL)
                return


# --- all pairs -----------------------------------------------------------------------------


Explored = collections.namedtuple('Explored', 'states runs pairs lines skipped')


def acts_after(met, pair):
    """Returns what else is done in a state, after its first or only party has gone on."""
    held = [who for who in pair if met[who][1]]
    kills = [f'kill {who}' for who in held if who != 'thread']
    return ([f'go {held[1]}'] if len(held) == 2 else []) + kills


def explore(scenario, pair, everything, is_mutant):
    """Runs all plans of a scenario; of a mutant until one is broken."""
    for _ in range(TRIES if is_mutant else 1):  # a loaded machine may stop a mutant where it fails
        quiet = Scheduler(scenario, None).run()
        if not quiet.broken:
            break
    if quiet.skipped is not None or quiet.broken:
        return Explored(0, 0, '', [f'without a plan: {line}' for line in quiet.broken], quiet.skipped)
    calls = collections.Counter(who for who, _ in quiet.trace)
    seen, limits, runs, lines = set(), {who: {} for who in pair}, 0, []

    def run(plan):
        nonlocal runs
        scheduler = Scheduler(scenario, plan)
        run = scheduler.run()
        runs += 1
        broken = [line for line in run.broken if not faults.excused(scenario, run.hits, line)]
        if is_mutant and not scheduler.met:  # the stops have not killed it
            return None
        if broken and len(lines) < MOST_PRINTED * 4:
            stops = ' '.join(f'{who}:{stop}' for who, stop in plan.stops.items())
            lines.append(f'test/proofs/instants/instants.py {scenario} {stops} {plan.act}')
            lines.extend(f'    {line}' for line in broken[:3])
        return scheduler.met

    one, other = pair
    chosen = 0
    for second in range(1, calls[other] + 1):
        for first in range(1, calls[one] + 1):
            if not everything and (5 * first + second) % SOME:
                continue
            chosen += 1
            if first > limits[one].get(second, first) or second > limits[other].get(first, second):
                continue
            stops = {one: first, other: second}
            met = run(Plan(pair, stops, f'go {one}'))
            if met and not met[one][1]:
                limits[one][second] = first
            elif met and not met[other][1]:
                limits[other][first] = second
            state = met and tuple(met.items())
            if met and state not in seen:
                seen.add(state)
                for act in acts_after(met, pair):
                    run(Plan(pair, stops, act))
            if lines and is_mutant:
                return Explored(len(seen), runs, '', lines, None)
    pairs = f'{chosen} of {calls[one] * calls[other]} pairs'
    return Explored(len(seen), runs, pairs, lines, None)


# --- mutants -------------------------------------------------------------------------------

# changes: (path, old, new) of each file
Mutant = collections.namedtuple('Mutant', 'name scenario pair changes')


def read_mutants():
    """Reads blocks: "NAME: SCENARIO PARTY PARTY FILE", then lines with - and with +, as in a
    patch. A line "in FILE" begins the lines of another file."""
    result = []
    with open(HERE + '/mutants.txt', encoding='utf-8') as file:
        blocks = re.split(r'\n\n+', re.sub(r'(?m)^#.*\n', '', file.read()).strip())
    for block in filter(None, blocks):
        head, *lines = block.splitlines()
        name, _, rest = head.partition(': ')
        scenario, one, other, path = rest.split()
        changes = []
        for part in re.split(r'(?m)^in ', '\n'.join([path, *lines])):
            path, *lines = part.splitlines()
            changes.append((path, *('\n'.join(line[1:] for line in lines if line[0] == sign) for sign in '-+')))
        result.append(Mutant(name, scenario, (one, other), changes))
    return result


def build(mutant):
    """Returns the path of scenarios with the mutant in place of its sources' objects."""
    folder = os.path.join(WORK, re.sub(r'\W+', '-', mutant.name))
    os.makedirs(folder, exist_ok=True)
    compile_it, link, objects = (shlex.split(os.environ[name]) for name in ('COMPILE', 'LINK', 'OBJECTS'))
    target, mutated = folder + '/scenarios', []
    for path, old, new in mutant.changes:
        with open(os.path.join(ROOT, path), encoding='utf-8') as file:
            text = file.read()
        if text.count(old) != 1:
            raise ValueError(f'{path} has {text.count(old)} times: {old}')
        source = f'{folder}/mutant-{os.path.basename(path)}'
        with open(source, 'w', encoding='utf-8') as file:
            file.write(text.replace(old, new))
        mutated.append(source[:-2] + '.o')
        includes = ['-iquote', os.path.dirname(path)]
        subprocess.run(compile_it + ['-w', *includes, '-c', source, '-o', mutated[-1]], cwd=ROOT, check=True)
    subprocess.run(link + ['-o', target, *mutated] + objects, cwd=ROOT, check=True)
    for name in ('program', 'script'):
        if os.path.exists(f'{folder}/{name}'):
            os.unlink(f'{folder}/{name}')
        os.link(f'{os.path.dirname(BUILT)}/{name}', f'{folder}/{name}')
    return target


def use(path):
    faults.SCENARIOS, faults.PROGRAM = path, os.path.dirname(path) + '/program'


# --- the tests -----------------------------------------------------------------------------


def test(job):
    """Returns what to print: a line, comments, and how many states and runs."""
    if isinstance(job, Mutant):
        use(BUILT)
        skipped = Scheduler(job.scenario, None).run().skipped
        if skipped is not None:
            return True, f'mutant: {job.name} # SKIP {skipped}', [], 0, 0
        try:
            use(build(job))
        except (ValueError, subprocess.CalledProcessError) as error:
            return False, f'mutant: {job.name}', [str(error)], 0, 0
        found = explore(job.scenario, job.pair, True, True)
        how = f'killed after {found.runs} runs' if found.lines else f'survives {found.runs} runs'
        if not found.runs:
            how = 'without stops, too, it does not work'
        return how.startswith('killed'), f'mutant: {job.name}: {how}, {job.scenario}', found.lines[:2], 0, 0
    scenario, *pair = job
    use(BUILT)
    found = explore(scenario, tuple(pair), os.environ.get('INSTANTS') != 'some', False)
    text = f'{scenario}, {pair[0]} and {pair[1]}: {found.pairs}, {found.states} states, {found.runs} runs'
    if found.skipped is not None:
        return True, text + f' # SKIP {found.skipped}', [], 0, 0
    return bool(found.states) and not found.lines, text, found.lines, found.states, found.runs


def show(scenario, arguments):
    faults.become_subreaper()
    use(os.environ.get('MUTANT', BUILT))
    stops = {who: int(stop) for who, stop in (argument.split(':') for argument in arguments if ':' in argument)}
    plan = Plan(tuple(stops), stops, ' '.join(argument for argument in arguments if ':' not in argument))
    scheduler = Scheduler(scenario, plan if stops else None)
    run = scheduler.run()
    counts = collections.Counter()
    for who, call in run.trace:
        counts[who] += 1
        print(f'{who:7}{counts[who]:3} {call}')
    print(f'met: {scheduler.met}')
    print('\n'.join(run.broken) or 'all promises are kept')
    return 1 if run.broken else 0


def main(arguments):
    if len(arguments) > 1 and (':' in arguments[1] or arguments[1] == 'trace'):
        return show(arguments[0], arguments[1:])
    mutants = [] if os.environ.get('INSTANTS') == 'some' else read_mutants()
    jobs = [job for job in PAIRS + mutants if not arguments or job[0] in arguments or
            isinstance(job, Mutant) and job.scenario in arguments]
    states = runs = failed = 0
    print(f'1..{len(jobs)}', flush=True)
    for number, (is_right, text, lines, *counts) in enumerate(faults.in_pool(test, jobs), 1):
        states, runs = states + counts[0], runs + counts[1]
        failed |= not is_right
        print(f'{"" if is_right else "not "}ok {number} - {text}', flush=True)
        for line in lines:
            print('# ' + line, flush=True)
    print(f'# {states} states, {runs} runs in all')
    return failed


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
