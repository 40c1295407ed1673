# SPDX-License-Identifier: MIT
TARGETS += i386
i386.triple := i386-linux-gnu
i386.emulator := qemu-i386-static
i386.cflags := -fcf-protection=full
