#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CONTRIBUTING.md has the figures that its commands print, as far as they can be counted here."""
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent.parent
TEST = ROOT / "test"
sys.path[:0] = [str(TEST / name) for name in ("proofs/analysis", "machines/kernels", "proofs/models")]
import analyze
import matrix
import models


def count(pattern, path):
    return len(re.findall(pattern, (TEST / path).read_text(encoding="utf-8"), re.M))


def bounds():
    text = (TEST / "checks/archive.t").read_text(encoding="utf-8")
    return re.findall(r"(?:aspawn_run\(\)|all) is at most (\d+ KiB)", text)


orders = models.orders()
mutants = sum(len(models.mutants(model, orders)) for model in models.MODELS)
inputs = list((TEST / "proofs/fuzz/corpus").glob("*/*"))
FIGURES = {
    "test-models": f"{len(models.MODELS)} models, {mutants} mutants",
    "test-instants": f"{count('^[^#+ -].*: .*[.]c$', 'proofs/instants/mutants.txt')} mutants",
    "fuzz": f"{len(list((TEST / 'proofs/fuzz').glob('*.c')))} targets, {len(inputs)} inputs",
    "test-kernels": f"{len(matrix.KERNELS)} kernels, {len(matrix.PAIRS)} pairs",
    "analyze": f"{sum(map(len, analyze.read_answers().values()))} answers",
    "test-recipes": f"{len({path.parent for path in (ROOT / 'packaging').glob('*/*')})} recipes",
    "all": "{}, {} at most".format(*bounds()),
}
contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
failed = False
print(f"1..{len(FIGURES)}")
for number, (command, figures) in enumerate(FIGURES.items(), 1):
    row = re.search(rf"^\| `make {command}\b.*", contributing, re.M)
    is_there = row is not None and f" {figures} |" in row[0]
    failed |= not is_there
    print(f"{'' if is_there else 'not '}ok {number} - CONTRIBUTING.md has the figures of {command}: {figures}")
sys.exit(failed)
