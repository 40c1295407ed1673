#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lists sentences of a former version that no three sentences of today's text resemble:

    tools/lost_facts.py REVISION FILE...    for example HEAD include/aspawn/*.h doc/*.3

FILE is a header, a man page or a document. Each of the former sentence's words counts the more the
rarer it is. A reader judges: a listed sentence may be said in other words, or may be superfluous.
"""
import math
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEAST = 0.62  # of a sentence's weight
NEIGHBOURS = 3


def plain(name, text):
    """The prose of a file; an empty line ends a sentence."""
    if name.endswith(".h"):
        comments = re.findall(r"/\*.*?\*/", text, re.S)
        text = "\n\n".join(re.sub(r"(?m)^\s*\* ?", "", comment[2:-2]) for comment in comments)
        text = re.sub(r"(?m)^\t.*$", "", text)  # code
        return re.sub(r"\n(?=  ?\S*-E|- |\w+  )", "\n\n", text)
    if not name.endswith(".md"):
        text = re.sub(r"(?m)^\.(EX|nf)$[\s\S]*?^\.(EE|fi)$", "", text)
        text = re.sub(r"(?m)^\.(TP|PP|SS|SH|IP|TQ).*$|^\.\\\".*$", "\n", text)
        text = re.sub(r"(?m)^\.[BIR]+ (.*)$", lambda found: found[1].replace('"', "") + "\n", text)
        text = re.sub(r"\\f[BIPR]", "", text).replace("\\-", "-").replace("\\e", "\\").replace("\\ ", " ")
    return text


def sentences(name, text):
    for paragraph in re.split(r"\n\s*\n", plain(name, text)):
        for sentence in re.split(r"(?<=[.;:]) +(?=[A-Z0-9\"*-]|[a-z])|(?<=\.)\n", " ".join(paragraph.split())):
            if len(sentence.split()) > 2:
                yield sentence


def words(sentence):
    """Without their endings."""
    return {re.sub(r"(?:e?s|ed|ing|e)$", "", word) for word in re.findall(r"[a-z_]{3,}|\d+", sentence.lower())}


def former(revision, name):
    return subprocess.run(["git", "show", f"{revision}:{name}"], cwd=ROOT, check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def main():
    revision, names = sys.argv[1], sys.argv[2:]
    today = [words(sentence) for name in names for sentence in sentences(name, (ROOT / name).read_text())]
    count = Counter(word for found in today for word in found)
    together = [set().union(*today[at:at + NEIGHBOURS]) for at in range(len(today))]
    same = set(map(frozenset, today))
    lost = 0
    for name in names:
        for sentence in sentences(name, former(revision, name)):
            if words(sentence) in same:
                continue
            weight = {word: math.log(len(today) / (count[word] or 0.5)) for word in words(sentence)}
            total = sum(weight.values())
            best = max((sum(weight[word] for word in weight if word in found) for found in together), default=0)
            if total and best < LEAST * total:
                lost += 1
                print(f"{name}: {sentence}  [{best / total:.2f}]")
    print(f"{lost} sentences without a likeness")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main()
