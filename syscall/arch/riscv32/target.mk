# SPDX-License-Identifier: MIT
TARGETS += riscv32
riscv32.triple := riscv32-linux-gnu
riscv32.emulator := qemu-riscv32-static
