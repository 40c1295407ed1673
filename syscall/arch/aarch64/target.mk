# SPDX-License-Identifier: MIT
TARGETS += aarch64 aarch64_be
aarch64.triple := aarch64-linux-gnu
aarch64.emulator := qemu-aarch64-static
aarch64_be.triple := aarch64_be-linux-gnu
aarch64_be.emulator := qemu-aarch64_be-static
aarch64.cflags := -mbranch-protection=standard -mno-outline-atomics
