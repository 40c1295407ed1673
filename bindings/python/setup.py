# SPDX-License-Identifier: MIT
"""Builds the extension with the library in it: aspawn.h, aspawn.c and its assembly in vendor/,
which the source archive has, and which are made here in a checkout."""
import re
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = Path(__file__).resolve().parent
VENDOR = HERE / "vendor"
AMALGAMATE = HERE.parent.parent / "tools" / "amalgamate.py"

if AMALGAMATE.exists():
    VENDOR.mkdir(exist_ok=True)
    subprocess.run([sys.executable, AMALGAMATE, VENDOR], check=True)
    (VENDOR / "aspawn.S").replace(VENDOR / "aspawn-clone.S")  # an object of another name than aspawn.c's
    (VENDOR / "psys.h").unlink()


IMAGE = """-static -nostdlib -Os -ffreestanding -fno-stack-protector -fno-pic -ffunction-sections
    -fno-asynchronous-unwind-tables -Wl,--gc-sections,--build-id=none,--no-eh-frame-hdr,-s
    -Wl,-T,vendor/aspawn-image.ld vendor/aspawn-image.c vendor/aspawn-image.S""".split()


class BuildWithAssembly(build_ext):
    def build_extensions(self):
        self.compiler.src_extensions = [*self.compiler.src_extensions, ".S"]
        image = Path(self.build_temp).resolve() / "aspawn-image"
        image.parent.mkdir(parents=True, exist_ok=True)
        if subprocess.run([self.compiler.compiler[0], *IMAGE, "-o", image]).returncode == 0:
            self.extensions[0].define_macros.append(("ASPAWN_IMAGE", f'"{image}"'))
        else:
            print("aspawn: no image; commands of another user copy memory", file=sys.stderr)
        super().build_extensions()


header = (VENDOR / "aspawn.h").read_text()
setup(
    version=".".join(re.search(rf"define ASPAWN_VERSION_{part} (\d+)", header)[1]
                     for part in ("MAJOR", "MINOR", "PATCH")) +
            re.search(r'define ASPAWN_VERSION_SUFFIX "(.*)"', header)[1],
    cmdclass={"build_ext": BuildWithAssembly},
    ext_modules=[Extension(
        "aspawn._aspawn", ["src/_aspawn.c", "src/_queue.c", "vendor/aspawn.c", "vendor/aspawn-clone.S"],
        depends=["src/_aspawn.h", "vendor/aspawn.h"], include_dirs=["vendor"],
        define_macros=[("Py_LIMITED_API", "0x03090000"), ("PSYS_NO_UNPREFIXED", None)],
        extra_compile_args=["-fvisibility=hidden"], extra_link_args=["-Wl,--strip-debug"],
        py_limited_api=True)])
