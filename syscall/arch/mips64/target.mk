# SPDX-License-Identifier: MIT
TARGETS += mips64el mips64
mips64el.triple := mips64el-linux-gnuabi64
mips64el.emulator := qemu-mips64el-static
mips64.triple := mips64-linux-gnuabi64
mips64.emulator := qemu-mips64-static
mips64.position := -fPIE # n64 has no other calls
