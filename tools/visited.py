# SPDX-License-Identifier: MIT
"""Prints the functions of aspawn/ that a start with a pipe enters until its clone,
and where it is then.

make visited: for gdb, with tools/visited.c, built without inlining.
"""
import collections
import os
import re

import gdb

ENTRY, CLONE = "aspawn_start", "psys_clone3_thunk"


class Visited(gdb.Breakpoint):
    """Counts the first call of a function, and goes on."""

    found: dict = collections.OrderedDict()

    def __init__(self, symbol, file):
        super().__init__(f"*{int(symbol.value().address):#x}", internal=True)
        self.name, self.file = symbol.name, file

    def stop(self):
        self.found.setdefault(self.file, []).append(self.name)
        self.enabled = False
        return False


def functions():
    for line in gdb.execute("info functions -n .", to_string=True).splitlines():
        file = re.match(r"File (.*):", line)
        if file:
            path = os.path.relpath(file[1])
        name = re.search(r"(\w+)\(.*;", line)
        if name and path.startswith("aspawn/"):
            symbol = gdb.lookup_static_symbol(name[1]) or gdb.lookup_global_symbol(name[1])
            if symbol:
                yield symbol, path


gdb.execute("set pagination off")
gdb.execute("set confirm off")
gdb.execute(f"break {ENTRY}")
gdb.execute(f"break {CLONE}")
gdb.execute("run", to_string=True)
for symbol, file in functions():
    if symbol.name != ENTRY:
        Visited(symbol, file)
gdb.execute("continue", to_string=True)
for file, names in Visited.found.items():
    print(f"{file}: {', '.join(names)}")
print(f"{len(Visited.found)} files, {sum(map(len, Visited.found.values())) + 1} functions until the clone")
chain: list = []
frame = gdb.newest_frame()
while not chain or chain[0] != ENTRY:
    chain.insert(0, frame.name())
    frame = frame.older()
print(f"{len(chain)} frames: {' > '.join(chain)}")
gdb.execute("kill")
