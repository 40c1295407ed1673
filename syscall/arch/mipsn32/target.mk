# SPDX-License-Identifier: MIT
TARGETS += mipsn32el mipsn32
mipsn32el.triple := mips64el-linux-gnuabin32
mipsn32el.emulator := qemu-mipsn32el-static
mipsn32.triple := mips64-linux-gnuabin32
mipsn32.emulator := qemu-mipsn32-static
