# SPDX-License-Identifier: MIT
"""The file system that a kernel boots into: a cpio archive of the kind newc
(the kernel's Documentation/driver-api/early-userspace/buffer-format.rst)."""
import gzip
import stat
from pathlib import Path

CONSOLE = (5, 1)


def entry(number, name, mode, content=b"", device=(0, 0)):
    name = name.encode() + b"\0"
    fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(name), 0)
    header = b"070701" + b"".join(b"%08X" % field for field in fields) + name
    return b"".join(part + b"\0" * (-len(part) % 4) for part in (header, content))


def files_and_directories(paths):
    """The files with their directories, before them."""
    for directory in sorted({parent for path in paths for parent in path.parents} - {Path()}):
        yield str(directory), stat.S_IFDIR | 0o755
    for path, content in paths.items():
        yield str(path), stat.S_IFREG | 0o755, content


def initramfs(program, paths):
    """With program as /init, the console, directories to mount file systems on, and more files: a
    dictionary of paths without the first slash."""
    entries = [("dev", stat.S_IFDIR | 0o755), ("proc", stat.S_IFDIR | 0o555),
               ("sys", stat.S_IFDIR | 0o555), ("tmp", stat.S_IFDIR | 0o1777),
               ("dev/console", stat.S_IFCHR | 0o600, b"", CONSOLE),
               ("init", stat.S_IFREG | 0o755, program), *files_and_directories(paths),
               ("TRAILER!!!", 0)]
    return gzip.compress(b"".join(entry(number, *what) for number, what in enumerate(entries, 1)), 1)
