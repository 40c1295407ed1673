# SPDX-License-Identifier: MIT
TARGETS += powerpc
powerpc.triple := powerpc-linux-gnu
powerpc.emulator := qemu-ppc-static
