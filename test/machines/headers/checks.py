# SPDX-License-Identifier: MIT
"""Makes translation units that include the kernel's headers, exported and internal.

Comparisons are static assertions, one on a line: a compiler needs no target's
libc or machine to judge them, and says of each that fails what it compared.
"""
import fnmatch
import re
from functools import cache

from kernel import CACHE, SUITES, clang, include, table


def kernel_headers(target):
    names = [name for row in table("headers.txt") for name in row]
    guarded = [f"#if __has_include(<{name}>)\n{include(name)}#endif\n" for name in names]
    return "".join([SPARC, *guarded, internal(target)])


# Without this macro sparc's headers define only the 32 signals of older kernels.
SPARC = "#define __WANT_POSIX1B_SIGNALS__\n"


@cache
def internal(target):
    """Returns the definitions that internal.txt lists, cut out of the kernel's source: from the
    newest package with this architecture, as packages drop architectures."""
    sources = [CACHE / suite / "source" for suite in SUITES]
    source = next(path for path in sources if (path / "arch" / target.directory).is_dir())
    values, structs = {}, {}
    for path, *wanted in table("internal.txt"):
        file = source / path.replace("*", target.directory)
        text = re.sub(r"/\*.*?\*/", " ", file.read_text(), flags=re.S) if file.exists() else ""
        for want in wanted:
            kind, _, name = want.rpartition(":")
            found = block(kind, name, text) if kind else macros_like(name, text)
            kept = structs if kind == "struct" else values
            kept.update((key, piece) for key, piece in found.items() if key not in kept)
    renamed = re.sub(rf"\bstruct ({'|'.join(structs)})\b", r"struct kernel_\1",
                     "\n".join(structs.values()))
    return "\n".join([WORDS, *values.values(), SIGNAL_SET, renamed, ""])


def block(kind, name, text):
    found = re.search(rf"^{kind} {name} {{.*?^}}", text, re.M | re.S)
    return {name: found[0] + ";"} if found else {}


def macros_like(pattern, text):
    macros = re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?![(\w])((?:.*\\\n)*.*)$", text, re.M)
    return {name: f"#ifndef {name}\n#define {name}{value}\n#endif"
            for name, value in macros if fnmatch.fnmatchcase(name, pattern)}


# Definitions that the structs need. On some architectures the exported signal set and sigaction
# differ from the kernel's own.
WORDS = """
#include <stddef.h>
#define __user
#define u64 __u64
#define s64 __s64
#ifndef __counted_by
#define __counted_by(member)
#endif
#undef sa_handler
#define sigset_t struct kernel_sigset
"""
SIGNAL_SET = "struct kernel_sigset { unsigned long sig[_NSIG / 8 / sizeof(long)]; };"


class Failure:
    """A failed check: what was compared, or what is missing."""

    def __init__(self, message, values):
        self.message = message
        self.values = values  # "8 == 16", or None
        self.absent = bool(re.search(r"undeclared|no member named|incomplete type"
                                     r"|unknown type", message))

    def __str__(self):
        return self.values or self.message


def failures(target, suite, headers, checks):
    """Compile the checks, C expressions. Returns index -> Failure of those that fail."""
    lines = [f"_Static_assert({check}, \"\");" for check in checks]
    source = headers + '\n#line 1 "checks"\n' + "\n".join(lines) + "\n"
    result = clang(target, suite, source, "-fsyntax-only", "-ferror-limit=0",
                   "-fno-caret-diagnostics")
    failed, current = {}, None
    for where, line, kind, message in re.findall(r"^(\S+?):(\d+):\d+: ([a-z ]+): (.*)$",
                                                 result.stderr, re.M):
        if kind == "note" and current is not None and "evaluates to" in message:
            failed[current].values = message.split("'")[1]
        elif "error" in kind and where == "checks":
            current = int(line) - 1
            failed.setdefault(current, Failure(message, None))
        elif "error" in kind:
            raise RuntimeError(f"{where}:{line}: {message}")
    if result.returncode and not failed:
        raise RuntimeError(result.stderr.strip())
    return failed
