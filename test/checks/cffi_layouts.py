# SPDX-License-Identifier: MIT
"""Reads declarations in C (doc/bindings.md) with cffi and with pycparser, and writes a program
that asserts each structure's size and offsets as cffi has computed them."""
import sys
import warnings

import cffi
from pycparser import c_parser

warnings.simplefilter("ignore")  # of the strings in __asm__
with open(sys.argv[1]) as file:
    declarations = file.read()
c_parser.CParser().parse(declarations)
ffi = cffi.FFI()
ffi.cdef(declarations)

print("#include <stddef.h>\n#include <aspawn/command.h>\n#include <syscall/syscall.h>")
_, structures, _ = ffi.list_types()
for name in structures:
    type_ = ffi.typeof("struct " + name)
    if type_.fields is None:
        continue
    print(f'_Static_assert(sizeof(struct {name}) == {ffi.sizeof(type_)}, "{name}");')
    for field, about in type_.fields:
        if field and about.bitsize < 0:
            print(f"_Static_assert(offsetof(struct {name}, {field}) == {about.offset},"
                  f' "{name}.{field}");')
