# SPDX-License-Identifier: MIT
TARGETS += x86_64
x86_64.triple := x86_64-linux-gnu
x86_64.emulator := qemu-x86_64-static
x86_64.cflags := -fcf-protection=full
