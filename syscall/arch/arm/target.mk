# SPDX-License-Identifier: MIT
TARGETS += arm thumb2 armel
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
arm.cflags := -Wno-atomic-alignment
