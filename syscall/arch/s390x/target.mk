# SPDX-License-Identifier: MIT
TARGETS += s390x
s390x.triple := s390x-linux-gnu
s390x.emulator := qemu-s390x-static
