# SPDX-License-Identifier: MIT
TARGETS += arm thumb2 armel armeb
arm.triple := arm-linux-gnueabihf
arm.flags := -march=armv7-a
arm.emulator := qemu-arm-static
thumb2.triple := arm-linux-gnueabihf
thumb2.flags := -march=armv7-a -mthumb
thumb2.emulator := qemu-arm-static
armel.triple := arm-linux-gnueabi
# clang warns of each word that it has no instruction for: atomic.S.
armel.flags := -march=armv5te -Wno-atomic-alignment
armel.emulator := qemu-arm-static
armeb.triple := armeb-linux-gnueabi
# From ARMv6 on code is little-endian (BE8): such a program dies in QEMU 7.2 when a signal handler
# returns, an older one does not.
armeb.flags := -march=armv5te -Wno-atomic-alignment
armeb.emulator := qemu-armeb-static
arm.cflags := -Wno-atomic-alignment
