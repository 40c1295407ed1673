# SPDX-License-Identifier: MIT
TARGETS += sparc64
sparc64.triple := sparc64-linux-gnu
sparc64.emulator := qemu-sparc64-static
