# SPDX-License-Identifier: MIT
TARGETS += m68k
m68k.triple := m68k-linux-gnu
# lld does not know it, and clang makes calls of the __atomic builtins.
m68k.cc := m68k-linux-gnu-gcc
m68k.emulator := qemu-m68k-static
