# SPDX-License-Identifier: MIT
"""Builds the extension with the library in it. What the source archive has, and is made here in a
checkout: the amalgamation in vendor/, the licence, and what generate.py makes of the description of
the interface."""
import json
import re
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
VENDOR = HERE / "vendor"
INTERFACE = VENDOR / "interface.json"

if (ROOT / "tools/amalgamate.py").exists():
    VENDOR.mkdir(exist_ok=True)
    subprocess.run([sys.executable, ROOT / "tools/amalgamate.py", VENDOR], check=True)
    (VENDOR / "aspawn.S").replace(VENDOR / "aspawn-clone.S")  # an object of another name than aspawn.c's
    (VENDOR / "psys.h").unlink()
    INTERFACE.write_bytes((ROOT / "doc/interface.json").read_bytes())
    (HERE / "LICENSE").write_bytes((ROOT / "LICENSE").read_bytes())
subprocess.run([sys.executable, HERE / "generate.py", INTERFACE, HERE / "src"], check=True)


class BuildWithAssembly(build_ext):
    def build_extensions(self):
        self.compiler.src_extensions = [*self.compiler.src_extensions, ".S"]
        image = Path(self.build_temp).resolve() / "aspawn-image"
        image.parent.mkdir(parents=True, exist_ok=True)
        if subprocess.run(["sh", VENDOR / "aspawn-image.sh", image, *self.compiler.compiler]).returncode == 0:
            self.extensions[0].define_macros.append(("ASPAWN_IMAGE", f'"{image}"'))
        else:
            print("aspawn: no image; commands of another user copy memory", file=sys.stderr)
        super().build_extensions()


setup(
    # 1.0.0-rc.1: 1.0.0rc1
    version=re.sub(r"-(\w+)\.", r"\1", json.loads(INTERFACE.read_text())["version"]),
    cmdclass={"build_ext": BuildWithAssembly},
    # Linked with no libc: the names that it needs of one are those of both glibc and musl. On other
    # systems, and if it is not compiled, children are those of subprocess.
    ext_modules=[] if sys.platform != "linux" else [Extension(
        "aspawn._aspawn",
        ["src/_aspawn.c", "vendor/aspawn.c", "vendor/aspawn-clone.S"],
        depends=["src/_tables.h", "vendor/aspawn.h"], include_dirs=["vendor"],
        define_macros=[("Py_LIMITED_API", "0x03090000"), ("PSYS_NO_UNPREFIXED", None)],
        undef_macros=["_FORTIFY_SOURCE"], extra_compile_args=["-fvisibility=hidden"],
        extra_link_args=["-nostdlib", "-lgcc", "-Wl,--strip-debug"], py_limited_api=True,
        optional=True)])
