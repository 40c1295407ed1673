# SPDX-License-Identifier: MIT
TARGETS += loongarch64
loongarch64.triple := loongarch64-linux-gnu
# For processors, and emulators, without vectors; clang has them on by itself.
loongarch64.flags := -mno-lsx
loongarch64.emulator := qemu-loongarch64-static
