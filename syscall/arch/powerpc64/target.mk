# SPDX-License-Identifier: MIT
TARGETS += ppc64le ppc64
ppc64le.triple := powerpc64le-linux-gnu
ppc64le.emulator := qemu-ppc64le-static
ppc64.triple := powerpc64-linux-gnu
ppc64.flags := -mabi=elfv2
ppc64.emulator := qemu-ppc64-static
