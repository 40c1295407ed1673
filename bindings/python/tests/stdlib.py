# SPDX-License-Identifier: MIT
"""The standard library's own tests, with subprocess as it is and with aspawn.install():

    python stdlib.py MODULE...    such as test.test_subprocess, or a class of it; speaks TAP

Each test must have the same result both ways. One that has not is run twice more by itself, as
some depend on time; those are named. It says how many children the library has started, and how
many subprocess itself, which does that for preexec_fn and where a test replaces its internals.
"""
import json
import subprocess
import sys
import tempfile
import unittest

AGAIN = 2


class Results(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.of = {}

    def startTest(self, test):
        super().startTest(test)
        self.of[test.id()] = "passed"

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.of[test.id()] = "skipped"

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.of[test.id()] = "failed"

    addError = addFailure

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error:
            self.of[test.id()] = "failed"


def run(way, names):
    counts = {"library": 0, "subprocess": 0}
    if way == "aspawn":
        import aspawn
        execute = aspawn.Popen._execute_child

        def counting(self, *arguments, **keywords):
            try:
                return execute(self, *arguments, **keywords)
            finally:
                counts["library" if self._by_library else "subprocess"] += 1
        aspawn.Popen._execute_child = counting
        aspawn.install()
    suite = unittest.defaultTestLoader.loadTestsFromNames(names)
    results = Results()
    suite.run(results)
    for test, text in results.errors + results.failures:
        print(f"# {way}: {test.id()}", *text.splitlines(), sep="\n#   ", file=sys.stderr)
    return {"results": results.of, "counts": counts}


def results(way, names):
    with tempfile.TemporaryDirectory() as directory, tempfile.NamedTemporaryFile() as to:
        subprocess.run([sys.executable, __file__, "--run", way, to.name, *names], cwd=directory,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
        return json.load(to)


def compare(number, module):
    theirs = results("subprocess", [module])["results"]
    ours = results("aspawn", [module])
    counts, ours = ours["counts"], ours["results"]
    different = sorted(name for name in theirs.keys() | ours.keys() if theirs.get(name) != ours.get(name))
    for _ in range(AGAIN):
        if different:
            print(f"# once more: {' '.join(different)}")
            theirs.update(results("subprocess", different)["results"])
            ours.update(results("aspawn", different)["results"])
            different = [name for name in different if theirs.get(name) != ours.get(name)]
    for name in different:
        print(f"# {name}: {theirs.get(name)}, with aspawn {ours.get(name)}")
    for name in sorted(ours):
        if ours[name] == theirs.get(name) == "failed":
            print(f"# it fails both ways: {name}")
    outcomes = ", ".join(f"{list(ours.values()).count(outcome)} {outcome}"
                         for outcome in ("passed", "failed", "skipped"))
    valid = not different and counts["library"] > counts["subprocess"] and "passed" in ours.values()
    print(f"{'' if valid else 'not '}ok {number} - {module} of {sys.version.split()[0]}: {outcomes}, the same "
          f"without; children by the library {counts['library']}, by subprocess {counts['subprocess']}", flush=True)


if sys.argv[1] == "--run":
    way, to, *names = sys.argv[2:]
    done = run(way, names)
    with open(to, "w") as file:
        json.dump(done, file)
else:
    print(f"1..{len(sys.argv) - 1}", flush=True)
    for number, module in enumerate(sys.argv[1:], 1):
        compare(number, module)
