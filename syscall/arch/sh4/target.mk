# SPDX-License-Identifier: MIT
TARGETS += sh4
# Clang does not know sh. What it only reads, it reads as xcore, for which it lays out structures
# as gcc does for sh.
sh4.triple := xcore-linux-gnu
sh4.cc := sh4-linux-gnu-gcc
# Gcc 12 loses comparisons as soon as it optimizes (its pass sh_treg_combine2); gcc 10 does not.
sh4.flags := -U__xcore__ -D__sh__=1 -D__SH4__=1 -O0
sh4.emulator := qemu-sh4-static
