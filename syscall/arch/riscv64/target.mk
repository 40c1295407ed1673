# SPDX-License-Identifier: MIT
TARGETS += riscv64
riscv64.triple := riscv64-linux-gnu
riscv64.emulator := qemu-riscv64-static
