#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fetch the headers of the newest packaged kernel and of an old one.

They are taken from the distribution's packages, through an apt root of its own
(the host's apt stays as it is) and the mirror that the host itself uses, into
${ASPAWN_CACHE:-${XDG_CACHE_HOME:-~/.cache}/aspawn}/headers/<suite>/:

    version             of the package
    include/            linux/, asm-generic/ ...: what every architecture shares
    arch/<directory>/asm/  the kernel's exported headers of an architecture
    source/             of its own headers those that internal.txt names
"""
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from kernel import CACHE, SUITES, table

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"

# A Debian architecture for each directory of the kernel. In newer suites one package has the
# headers of all architectures.
DIRECTORIES = {"amd64": "x86", "arm64": "arm64", "armhf": "arm", "mips64el": "mips",
               "ppc64el": "powerpc", "s390x": "s390"}


def output(*command, **options):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def mirror():
    """Returns the mirror of the host's own release."""
    codename = platform.freedesktop_os_release()["VERSION_CODENAME"]
    for line in output("apt-get", "indextargets", "--format", "$(CODENAME) $(RELEASE) $(REPO_URI)",
                       "Created-By: Packages").splitlines():
        named, release, address = line.split(" ", 2)
        if codename in (named, release):
            return address
    sys.exit(f"fetch.py: apt has no source for {codename}")


def settings():
    """Returns the settings of the host's apt for its mirror and proxy."""
    return "".join(line for line in output("apt-config", "dump", "Acquire").splitlines(keepends=True)
                   if re.match("Acquire::(?!IndexTargets|Languages)", line))


class Apt:
    """apt with its own state in a directory, for one suite."""

    def __init__(self, directory, suite, architectures, sources=False):
        for name in ("state/lists/partial", "cache/archives/partial", "etc/apt.conf.d",
                     "etc/preferences.d"):
            (directory / name).mkdir(parents=True)
        (directory / "status").touch()
        (directory / "etc/sources.list").write_text("".join(
            f"{kind} [signed-by={KEYRING}] {mirror()} {suite} main\n"
            for kind in (["deb", "deb-src"] if sources else ["deb"])))
        quoted = " ".join(f'"{name}";' for name in architectures)
        (directory / "config").write_text(settings() + f"""
            Dir::State "{directory}/state"; Dir::State::status "{directory}/status";
            Dir::Cache "{directory}/cache"; Dir::Etc "{directory}/etc";
            APT::Architecture "{architectures[0]}"; APT::Architectures {{ {quoted} }};
            Acquire::Languages "none"; Acquire::Check-Valid-Until "false";
            APT::Sandbox::User "root";
            """)
        self.directory = directory
        self.options = {"env": {**os.environ, "APT_CONFIG": str(directory / "config")}, "cwd": directory}
        output("apt-get", "-qq", "update", **self.options)

    def names(self, prefix, suffix):
        """Returns the packages that match, the newest version last."""
        names = output("apt-cache", "pkgnames", prefix, **self.options).split()
        return output("sort", "-V", input="\n".join(n for n in names if n.endswith(suffix))).split()

    def unpacked(self, package):
        """The package's files, in a directory, and its version."""
        output("apt-get", "-qq", "download", package, **self.options)
        [archive] = self.directory.glob("*.deb")
        files = self.directory / "files" / package.replace(":", "-")
        files.mkdir(parents=True)
        output("dpkg-deb", "-x", archive, files)
        version = output("dpkg-deb", "-f", archive, "Version").strip()
        archive.unlink()
        return files, version

    def source(self, package):
        """A source package's files with its patches, in a directory, and its version."""
        directory = self.directory / "source" / package
        directory.mkdir(parents=True)
        output("apt-get", "-qq", "source", package, **{**self.options, "cwd": directory},
               stderr=subprocess.DEVNULL)
        [description] = directory.glob("*.dsc")
        [files] = (path for path in directory.iterdir() if path.is_dir())
        [version] = re.findall(r"^Version: (.*)", description.read_text(), re.MULTILINE)
        return files, version


def exported(apt, architectures, to):
    """Fetches the exported headers of every architecture of the suite."""
    for name in architectures:
        files, version = apt.unpacked(f"linux-libc-dev:{name}")
        include = files / "usr/include"
        shutil.copytree(include, to / "include", dirs_exist_ok=True,
                        ignore=lambda _, names: [n for n in names if "-linux-gnu" in n])
        if (files / "usr/lib/linux/uapi").is_dir():
            shutil.copytree(files / "usr/lib/linux/uapi", to / "arch")
            break
        [asm] = include.glob("*-linux-gnu*/asm")
        shutil.copytree(asm, to / "arch" / DIRECTORIES[name] / "asm")
    (to / "include/unistd.h").touch()  # which linux/shm.h includes, up to Linux 6.12
    (to / "version").write_text(version + "\n")


def internal(apt, to):
    """Fetches the internal headers that internal.txt names."""
    files, _ = apt.unpacked(apt.names("linux-headers-", "-common")[-1])
    [source] = (files / "usr/src").iterdir()
    for directory in source.glob("arch/*/include"):
        (to / "source" / directory.relative_to(source)).mkdir(parents=True)
    for path, *_ in table("internal.txt"):
        for header in source.glob(path):
            copy = to / "source" / header.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(header, copy)


def fetch(suite, architectures):
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        apt = Apt(Path(scratch) / "apt", suite, architectures)
        new = Path(scratch) / suite
        exported(apt, architectures, new)
        internal(apt, new)
        shutil.rmtree(CACHE / suite, ignore_errors=True)
        new.rename(CACHE / suite)
    print(f"{suite}: {(CACHE / suite / 'version').read_text().strip()} in {CACHE / suite}")


if __name__ == "__main__":
    CACHE.mkdir(parents=True, exist_ok=True)
    newest, *older = SUITES
    fetch(newest, ["amd64"])
    for suite in older:
        fetch(suite, list(DIRECTORIES))
