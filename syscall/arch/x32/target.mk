# SPDX-License-Identifier: MIT
# By gcc: lld gives each entry of the global offset table 4 bytes here, and writes 8.
TARGETS += x32
x32.triple := x86_64-linux-gnux32
x32.cc := gcc
x32.flags := -mx32
x32.cflags := -fcf-protection=full
