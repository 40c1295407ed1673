# SPDX-License-Identifier: MIT
"""Kernels that are EFI programs which unpack themselves: emulators that load a
kernel without a firmware want what is inside. The header is that of the kernel's
drivers/firmware/efi/libstub/zboot-header.S."""
import struct
import subprocess

DECOMPRESS = {b"gzip": ["gzip", "-dc"], b"zstd": ["zstd", "-dcq"], b"lzma": ["xz", "-dc", "--format=lzma"],
              b"xzkern": ["xz", "-dc"]}


def unpacked(path):
    """Replace the file by its payload, if it has one."""
    with path.open("rb") as file:
        magic, offset, size, kind = struct.unpack("<8sII8x32s", file.read(56))
        if magic != b"MZ\0\0zimg":
            return
        file.seek(offset)
        payload = file.read(size)
    command = DECOMPRESS[kind.split(b"\0")[0][:4]]
    path.write_bytes(subprocess.run(command, input=payload, stdout=subprocess.PIPE, check=True).stdout)
