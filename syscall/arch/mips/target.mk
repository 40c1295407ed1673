# SPDX-License-Identifier: MIT
TARGETS += mipsel mips
mipsel.triple := mipsel-linux-gnu
mipsel.emulator := qemu-mipsel-static
mips.triple := mips-linux-gnu
mips.emulator := qemu-mips-static
