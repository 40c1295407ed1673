#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the tests of the Go module on arm64, in a guest under QEMU, and print their results: TAP.

    test/machines/go-arm64.t
    test/machines/go-arm64.t 'Queue|Tree'   only tests with these names

Debian's Go, or the one in PATH, compiles the tests without cgo, from the module that make
bindings-go has made. They run with -test.short, as an emulator is slow. The kernel is one that
test/machines/kernels/fetch has fetched. The programs that the tests start are Debian 12's. They are
kept in $BUILD_DIR/go-arm64/system.cpio: delete it to have newer packages. All of the console is in
$BUILD_DIR/go-arm64/console.
"""
import gzip
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "test/machines/kernels"))
from initramfs import entry
from matrix import BUILD, CACHE, KERNELS
from fetch import Apt, output  # of test/machines/headers, which matrix adds to the path

RESULTS = BUILD / "go-arm64"
SYSTEM = RESULTS / "system.cpio"
KERNEL = "arm64-new"
GO = shutil.which("go", path="/usr/lib/go-1.19/bin" + os.pathsep + os.environ["PATH"])
# The tests need these programs, the programs need these libraries, and /init needs busybox.
PACKAGES = """bash busybox-static coreutils dash grep sed util-linux
    libacl1 libattr1 libc6 libgcc-s1 libgmp10 libpcre2-8-0 libselinux1 libtinfo6""".split()
UNNEEDED = re.compile(r"usr/share/|usr/lib/[^/]*/gconv/")
SECONDS = int(os.environ.get("SECONDS_OF_BOOT", 1800))  # for a machine with other work
TAIL = 30  # lines of the console that a failure shows
# The guest's clock counts instructions, so limits of time hold where the machine has other work.
ARGUMENTS = "-smp 2 -accel tcg -icount shift=1,sleep=off -nographic -net none -no-reboot".split()
COMMAND_LINE = "quiet loglevel=1 oops=panic panic=-1".split()
INIT = """#!/bin/busybox sh
mount() { /bin/busybox mount -t "$@"; }
mount proc none /proc
mount sysfs none /sys
mount devtmpfs none /dev
/bin/busybox mkdir /dev/pts
mount devpts -o ptmxmode=666 none /dev/pts
mount tmpfs none /tmp
mount cgroup2 none /sys/fs/cgroup
export PATH=/usr/bin:/bin HOME=/root
cd /test
./aspawn.test -test.v -test.short -test.timeout=0 -test.run="$(cat names)" </dev/null 2>&1
echo "status $?"
/bin/busybox poweroff -f
"""


def hindrance(kernel):
    """Returns why the guest cannot be booted here, or None."""
    if not GO:
        return "no go: test/packages/bindings/go.install"
    if not (BUILD / "bindings/go/go.mod").exists():
        return "no module: run make bindings-go"
    if not (CACHE / kernel.name).exists():
        return f"no kernel: run test/machines/kernels/fetch aarch64-on-{kernel.name}"
    if not shutil.which(kernel.machine.emulator):
        return f"no {kernel.machine.emulator}: run test/machines/kernels/install"
    return None


def archive(entries):
    """Returns a cpio archive. The kernel unpacks several of them, one after another."""
    return gzip.compress(b"".join(entry(number, *what) for number, what in
                                  enumerate([*entries, ("TRAILER!!!", 0)], 1)), 1)


def files_of(system):
    """The entries of the packages' files, in a merged /usr as a Debian has it."""
    for name in ("dev", "etc", "proc", "root", "sys", "test", "tmp", "usr", "usr/bin", "usr/lib", "usr/sbin"):
        yield name, stat.S_IFDIR | 0o755
    for name in ("bin", "lib", "sbin"):
        yield name, stat.S_IFLNK | 0o777, f"usr/{name}".encode()
    yield "dev/console", stat.S_IFCHR | 0o600, b"", (5, 1)
    for path in sorted(system.rglob("*")):
        name = re.sub("^(bin|lib|sbin)/", r"usr/\1/", str(path.relative_to(system)))
        mode = path.lstat().st_mode
        if UNNEEDED.match(name) or "/" not in name:
            continue
        if stat.S_ISLNK(mode):
            yield name, mode, os.readlink(path).encode()
        elif stat.S_ISREG(mode):
            yield name, mode, path.read_bytes()
        elif stat.S_ISDIR(mode):
            yield name, mode


def make_system():
    """Makes the archive of the system unless it is there."""
    if SYSTEM.exists():
        return
    with tempfile.TemporaryDirectory() as scratch:
        apt, system = Apt(Path(scratch) / "apt", "bookworm", ["arm64"]), Path(scratch) / "system"
        output("apt-get", "-qq", "download", *PACKAGES, **apt.options)
        for package in apt.directory.glob("*.deb"):
            output("dpkg-deb", "-x", package, system)
        new = SYSTEM.with_suffix(".new")
        new.write_bytes(archive(files_of(system)))
        new.rename(SYSTEM)


def console(names, kernel):
    """Returns the console's text, and the emulator's exit status."""
    program = RESULTS / "aspawn.test"
    output(GO, "test", "-c", "-o", program, ".", cwd=BUILD / "bindings/go",
           env={**os.environ, "CGO_ENABLED": "0", "GOARCH": "arm64", "GOTOOLCHAIN": "local", "GOPROXY": "off"})
    files = [("init", stat.S_IFREG | 0o755, INIT.encode()), ("test/names", stat.S_IFREG | 0o644, names.encode()),
             ("test/aspawn.test", stat.S_IFREG | 0o755, program.read_bytes())]
    with tempfile.NamedTemporaryFile() as initramfs, (RESULTS / "console").open("wb") as written:
        initramfs.write(SYSTEM.read_bytes() + archive(files))
        initramfs.flush()
        ran = subprocess.run(
            ["timeout", str(SECONDS), kernel.machine.emulator, *kernel.machine.arguments, *ARGUMENTS,
             "-kernel", CACHE / kernel.name, "-initrd", initramfs.name,
             "-append", " ".join([*COMMAND_LINE, *kernel.machine.command_line])],
            stdin=subprocess.DEVNULL, stdout=written, stderr=subprocess.STDOUT)
    return (RESULTS / "console").read_text(errors="replace").replace("\r", ""), ran.returncode


def report(text, status):
    """Returns a line for each test, after what a failed one has said. The last test is that all of
    them end."""
    count, said = 0, []
    for line in text.splitlines():
        result = re.match(r"--- (PASS|FAIL|SKIP): (\w+)", line)
        said.append(line)
        if result:
            count += 1
            if result[1] != "PASS":
                yield from (f"# {line}" for line in said[-TAIL:] if not line.startswith("=== "))
            yield f"{'not ' * (result[1] == 'FAIL')}ok {count} - {result[2]}{' # SKIP' * (result[1] == 'SKIP')}"
            said = []
    is_complete = count and status == 0 and re.search(r"^status [01]$", text, re.M)
    yield f"{'' if is_complete else 'not '}ok {count + 1} - the tests end on {KERNEL}"
    if not is_complete:
        yield f"# the emulator's exit status is {status}"
        yield from (f"# {line}" for line in text.splitlines()[-TAIL:])
    yield f"1..{count + 1}"


def main(names="."):
    [kernel] = (kernel for kernel in KERNELS if kernel.name == KERNEL)
    RESULTS.mkdir(parents=True, exist_ok=True)
    reason = hindrance(kernel)
    if reason:
        print(f"1..0 # SKIP {reason}")
        return
    make_system()
    print(*report(*console(names, kernel)), sep="\n")


if len(sys.argv) > 2:
    sys.exit(f"usage: {sys.argv[0]} [NAMES]")
main(*sys.argv[1:])
