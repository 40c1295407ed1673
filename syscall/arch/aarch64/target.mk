# SPDX-License-Identifier: MIT
TARGETS += aarch64
aarch64.triple := aarch64-linux-gnu
aarch64.emulator := qemu-aarch64-static
aarch64.cflags := -mbranch-protection=standard -mno-outline-atomics
