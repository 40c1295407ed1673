#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""generate.py TO: writes from doc/interface.json what the crates have of the C library's headers:

    TO/interface.rs  for aspawn-sys: constants, structures, functions
    TO/actions.rs    for aspawn: the actions, the flags of commands and jobs, enumerations, numbers

A new action, constant or flag of C needs no change here.
"""
import json
import re
import sys
from pathlib import Path

DESCRIPTION = Path(__file__).resolve().parents[2] / "doc/interface.json"
TYPES = {"void": "c_void", "char": "c_char", "int": "c_int", "unsigned": "c_uint", "unsigned char": "u8",
         "size_t": "usize", **{f"{sign}int{bits}_t": f"{'u' if sign else 'i'}{bits}"
                               for sign in ("", "u") for bits in (8, 16, 32, 64)}}
# What functions return where the library does not work.
ELSEWHERE = {"int": "-PSYS_ENOSYS", "int64_t": "-(PSYS_ENOSYS as i64)", "size_t": "0",
             "const char *": r'b"\0".as_ptr().cast()'}
KEYWORDS = """as box break const crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref self
static struct super trait unsafe use where while""".split()
RENAMED = {"type": "kind", **{word: f"{word}_" for word in KEYWORDS}}
# The architectures that Rust tells apart by the width of a pointer, or calls otherwise; it has no
# sh4.
ARCHITECTURES = {"i386": 'target_arch = "x86"', **{
    name: f'all(target_arch = "{arch}", target_pointer_width = "{width}")' for name, arch, width in (
        ("x86_64", "x86_64", 64), ("x32", "x86_64", 32), ("mips64", "mips64", 64), ("mipsn32", "mips64", 32))}}
UNSIGNED_CHAR = ["aarch64", "arm", "powerpc", "powerpc64", "riscv32", "riscv64", "s390x"]
# The types of operands, where those of the constants' groups differ.
NUMBERS = {"PSYS_RESOLVE": "u64", "PSYS_MS": "u64", "PSYS_CLONE_NEW": "u64", "PSYS_SECBIT": "u32", "PSYS_BPF": "u16"}
# Enumerations of the safe crate, and the flags that become methods,
# except those that its own code sets.
ENUMERATIONS = {"aspawn_owner": "Owner", "aspawn_memory": "Memory", "PSYS_RLIMIT": "Resource"}
FLAGS = [("spec::Spec", "raw.flags", "aspawn_command_flags", []),
         ("crate::queue::Job<'_>", "raw.flags", "aspawn_job_flags", []),
         ("crate::queue::Options", "raw.flags", "aspawn_queue_flags", ["FD"]),
         ("crate::CommandOf<E>", "spec.raw.flags", "aspawn_command_flags", ["STARTED_FD", "NO_PIDFD", "NONBLOCK"])]
# What the documentation calls the constants of these prefixes; enum Step has another word for one.
CONSTANTS = {"ASPAWN_COMMAND_": "`{lower}`", "ASPAWN_OWNER_": "[`Owner::{camel}`]",
             "ASPAWN_MEMORY_": "[`Memory::{camel}`]", "ASPAWN_STEP_": "[`Step::{camel}`](crate::Step::{camel})"}
STEPS = {"CLONE": "Start"}
# What an operand is: its parameter in spec, the one of std's types, what spec gets for that one,
# what the action keeps, and what the C function gets. Others, such as flags and IDs, are as
# integers.
TEXT = ("action.text({0}.as_ref())", "{0}.as_ptr().cast()")
OPTIONAL = ("{0}.map(|bytes| action.text(bytes))",
            "{0}.as_ref().map_or(ptr::null(), |text| text.as_ptr().cast())")
OPERANDS = {
    "integer": ("{1}", "{1}", "{0}", "", "{0}"),
    "descriptor": ("spec::Fd", "impl Into<Descriptor>", "{0}.fd()", "", "{0}.0"),
    "resource": ("Resource", "Resource", "{0}", "", "{0} as i32"),
    "path": ("impl AsRef<[u8]>", "impl AsRef<Path>", "{0}.as_ref().as_os_str().as_bytes()", *TEXT),
    "string": ("impl AsRef<[u8]>", "impl AsRef<OsStr>", "{0}.as_ref().as_bytes()", *TEXT),
    "text": ("impl AsRef<[u8]>", "impl AsRef<[u8]>", "{0}.as_ref()", *TEXT),
    "optional path": ("Option<&[u8]>", "Option<&Path>", "{0}.map(|text| text.as_os_str().as_bytes())", *OPTIONAL),
    "optional string": ("Option<&[u8]>", "Option<&OsStr>", "{0}.map(|text| text.as_bytes())", *OPTIONAL),
    "signals": ("&[i32]", "&[i32]", "{0}", "action.signal_set({0})", "{0}.as_ptr().cast()"),
    "set": ("&[usize]", "&[usize]", "{0}", "action.bit_mask({0}.iter().copied(), 0, 1 << 16)", "{0}.as_ptr().cast()"),
    "array": ("&[{1}]", "&[{1}]", "{0}", "action.keep({0}.to_vec())", "{0}.as_ptr().cast()")}
# What is written otherwise in Rust, and in Markdown.
IN_RUST = [(r"PSYS_RLIM64_INFINITY", "`Resource::UNLIMITED`"), (r"\[copy\]", "*copy*"), (r"<<", "`<<`")]


def main():
    description = json.loads(DESCRIPTION.read_text())
    to = Path(sys.argv[1])
    (to / "interface.rs").write_text("\n".join(declarations(description)) + "\n")
    (to / "actions.rs").write_text("\n".join(safe(description)) + "\n")


# --- aspawn-sys -----------------------------------------------------------------------------------

def rust_type(c):
    """`const struct aspawn_result **` -> `*mut *const aspawn_result`"""
    function = re.fullmatch(r"(.*) \(\*\)\((.*)\)", c)
    if function:
        parameters = ", ".join(rust_type(one) for one in function[2].split(", "))
        return f'Option<unsafe extern "C" fn({parameters}) -> {rust_type(function[1])}>'
    array = re.fullmatch(r"(.*)\[(\d+)\]", c)
    if array:
        return f"[{rust_type(array[1])}; {array[2]}]"
    if c.endswith("*"):
        to = c[:-1].rstrip()
        constant = to.endswith("*const") or "*" not in to and to.startswith("const ")
        return f"*{'const' if constant else 'mut'} {rust_type(re.sub(r'(?<=[*])const$', '', to))}"
    base = re.sub(r"^(const )?(struct )?", "", c)
    return TYPES.get(base, base)


def condition(architectures):
    """For cfg()."""
    found = (ARCHITECTURES.get(name, f'target_arch = "{name}"') for name in architectures)
    return f"any({', '.join(found)})"


def by_value(of_each):
    """(value, architectures), the most common value last."""
    found = {}
    for name, value in of_each.items():
        if name != "sh4":
            found.setdefault(value, []).append(name)
    return sorted(found.items(), key=lambda pair: len(pair[1]))


def value(constant):
    if "value" in constant:
        return str(constant["value"])
    *rare, (common, _) = by_value(constant["values"])
    return "".join(f"if cfg!({condition(names)}) {{ {number} }} else " for number, names in rare) + f"{{ {common} }}"


def documented(of, indent=""):
    """Text of the headers, with what it says of C alone, a paragraph on each line, as rustdoc takes
    it."""
    text = "\n".join(filter(None, [of["text"], of.get("in_c")]))
    if not text:
        return [f"{indent}#[allow(missing_docs)]"]
    text = re.sub(r"(?m)((?:^\t.*\n?)+)", r"```c\n\1```\n", text).replace("\t", "    ")
    lines, code = [], False
    for line in text.rstrip().split("\n"):
        if line.startswith("```"):
            code = not code
        elif not code:
            line = re.sub(r"([\[\]*<>\\`])", r"\\\1", line)
            line = re.sub(r"(?<!\w)([A-Za-z]+_\w+(\(\))?|-E[A-Z0-9]+)", r"`\1`", line)
        lines += [line] if code else [line, ""]
    return [f"{indent}/// {line}".rstrip() for line in lines[:-1]]


def function(name, parameters, returns=None):
    rust = ", ".join(f"{RENAMED.get(one['name'], one['name'])}: {rust_type(one['type'])}" for one in parameters)
    result = f" -> {rust_type(returns)} = {ELSEWHERE[returns]}" if returns else ""
    return f"    pub fn {name}({rust}){result};"


def structure(of):
    yield from documented(of)
    if of["opaque"]:
        yield f"#[repr(C)]\npub struct {of['name']} {{\n    _own: [u8; 0],\n}}\n"
        return
    layouts = of["layouts"]
    names = [member["name"] for member in of["members"]]
    if "own" not in names:  # a handle or pool is one thing, of which a copy would be another
        yield "#[derive(Clone, Copy, Debug)]"
    yield "#[repr(C)]"
    if all(layout["align"] == 8 for layout in layouts.values()):
        natural = any(member["type"] in ("uint64_t", "int64_t") for member in of["members"])
        yield '#[cfg_attr(target_pointer_width = "32", repr(align(8)))]' if natural else "#[repr(align(8))]"
    yield f"pub struct {of['name']} {{"
    if any(member["type"] == "union" for member in of["members"]):
        yield f"    own: [u64; {layouts['x86_64']['size'] // 8}],"
    else:
        for member in of["members"]:
            yield from documented(member, "    ")
            yield f"    pub {member['name']}: {rust_type(member['type'])},"
    yield "}"
    size = "size: core::mem::size_of::<Self>() as u64, " if names[:1] == ["size"] else ""
    yield "/// Zero, except for a member with its own size."
    yield f"impl Default for {of['name']} {{\n    fn default() -> Self {{"
    yield "        // SAFETY: zero is valid for each member."
    yield f"        Self {{ {size}..unsafe {{ core::mem::zeroed() }} }}\n    }}\n}}"
    sizes = by_value({name: layout["size"] for name, layout in layouts.items()})
    for size, names in sizes:
        if len(sizes) > 1:
            yield f"#[cfg({condition(names)})]"
        yield f"const _: () = assert!(cfg!(elsewhere) || core::mem::size_of::<{of['name']}>() == {size});"
    yield ""


def declarations(description):
    yield "// Written by generate.py.\n"
    for rust, where in ("u8", condition(UNSIGNED_CHAR)), ("i8", f"not({condition(UNSIGNED_CHAR)})"):
        yield f"/// `char`, whose sign is the architecture's.\n#[cfg({where})]\npub type c_char = {rust};"
    kinds = {group["name"]: group["flags"] for group in description["groups"]}
    constants, types, structures, functions = (
        [of for of in description[kind] if of["header"] != "aspawn/aspawn.h"]  # for C alone
        for kind in ("constants", "types", "structures", "functions"))
    for constant in constants:
        rust = "u64" if kinds.get(constant["group"]) else TYPES[constant["type"]]
        yield from documented(constant)
        yield f"pub const {constant['name']}: {rust} = {value(constant)};"
    yield ""
    for of in types:
        yield from documented(of)
        yield f"pub type {of['name']} = {rust_type(of['type'])};\n"
    for of in structures:
        if of["name"] != "psys_sigset":
            yield from structure(of)
    yield "functions! {"
    for of in functions:
        yield from documented(of, "    ")
        yield function(of["name"], of["parameters"], of["returns"])
    for of in description["actions"]:
        yield from documented(of, "    ")
        yield function(of["function"], [{"name": "action", "type": "struct aspawn_action *"}, *of["operands"]])
    yield "}"


# --- aspawn ---------------------------------------------------------------------------------------

def is_operand(constant):
    """True of the numbers in aspawn::consts."""
    group = constant["group"]
    return constant["name"].startswith("PSYS_") and group not in ENUMERATIONS or group == "ASPAWN_CAP"


class Docs:
    """Texts of the headers in Rust's spelling."""

    def __init__(self, description):
        self.macros = {action["macro"]: action["name"] for action in description["actions"]}
        self.numbers = {constant["name"] for constant in description["constants"] if is_operand(constant)}

    def macro(self, found):
        name = self.macros[found[1]]
        otherwise = {"call": "`pre_exec`", "syscall": "`ASPAWN_SYSCALL`"}
        return otherwise.get(name) or f"[`{name}{found[2] or ''}`](crate::Action::{name})"

    def constant(self, found):
        name = found[0]
        for prefix, rust in CONSTANTS.items():
            if name.startswith(prefix) and not name.endswith("..."):
                word = name.removeprefix(prefix)
                return rust.format(lower=word.lower(), camel=STEPS.get(word, camel(word)))
        plain = without_prefix(name)
        return f"[`{plain}`](crate::consts::{plain})" if name in self.numbers else f"`{plain}`"

    def rewritten(self, text, operands=()):
        for pattern, rust in IN_RUST:
            text = re.sub(pattern, rust, text)
        for operand in operands:
            text = re.sub(rf"(?<![\w`./-])(?<!the )(?<![Aa] )(?<!no ){operand}(?![\w`(/-])",
                          f"`{RENAMED.get(operand, operand)}`", text)
        macros = "|".join(sorted(self.macros, key=len, reverse=True))
        text = re.sub(rf"\b({macros})\b(\([^()]*\))?", self.macro, text)
        text = re.sub(r"\b(?:ASPAWN|PSYS)_\w+(?:\.\.\.)?", self.constant, text)
        # The kernel's and the libc's pages are on the web.
        return re.sub(r"(?<![\w`/-])(?!aspawn)([a-z_]\w+)\((\d)\)",
                      r"[\1(\2)](https://man7.org/linux/man-pages/man\2/\1.\2.html)", text)

    def of(self, text, errors="", operands=(), indent="    "):
        text = self.rewritten(text, operands)
        if errors and not errors.startswith("none"):
            text += "\n" + self.rewritten(f"Errors: {errors}", operands)
        paragraphs = [paragraph[:1].upper() + paragraph[1:] for paragraph in text.split("\n") if paragraph]
        return f"\n{indent}///\n".join(f"{indent}/// {paragraph}" for paragraph in paragraphs)


def camel(name):
    return "".join(word.capitalize() for word in name.split("_"))


def without_prefix(name):
    return re.sub("^(PSYS|ASPAWN)_", "", name)


class Maker:
    """A function that makes an action. Each operand has a parameter of bytes and numbers, in spec,
    and one of std's types; and what the action keeps, and the C function gets."""

    def __init__(self, action):
        self.action, self.name = action, action["name"]
        self.of_bytes, self.of_std, self.arguments, self.uses, self.makes = [], [], [], [], "None"
        self.keeps, self.passed = [], ["&mut action.raw"]
        for operand in action["operands"]:
            if operand["role"] == "result":  # which each start sets
                self.keeps.append(f"action.pipe = Some((sys::{action['function']}, {self.passed[1]}));")
                self.passed.append("ptr::null_mut()")
            elif operand["role"] == "count":
                name = self.arguments[-1]
                is_mask = "bit_mask" in self.keeps[-1]
                self.passed.append(f"mem::size_of_val(&{name}[..])" if is_mask else f"{name}.len()")
            else:
                self.add(operand, operand["role"], RENAMED.get(operand["name"], operand["name"]))

    def add(self, operand, role, name):
        element = operand.get("element")
        rust = {"unsigned": "u32", "int": "i32", "data": "u8"}.get(element or operand["type"])
        if role == "signals" or element == "byte":  # a mask in C
            name = {"set": "signals", "mask": "processors"}.get(name, name)
        kind = "text" if name == "text" else "set" if element == "byte" else role
        row = OPERANDS.get("optional " * operand.get("optional", False) + kind, OPERANDS["integer"])
        rust = rust or (f"sys::psys_{element}" if element else rust_type(operand["type"]))
        of_bytes, of_std, argument, kept, passed = (part.format(name, rust) for part in row)
        self.of_bytes.append(f"{name}: {of_bytes}")
        self.of_std.append(f"{name}: {of_std}")
        self.arguments.append(argument)
        self.passed.append(passed)
        if kept:
            self.keeps.append(f"let {name} = {kept};")
        if role == "descriptor":
            self.uses.append(name)
        elif role == "number":
            self.makes = f"Some({name})"

    def spec(self):
        """Of bytes and numbers."""
        yield f"    pub fn {self.name}({', '.join(self.of_bytes)}) -> Self {{"
        yield from (f"        {line}" for line in ["let mut action = Self::empty();", *self.keeps])
        yield "        // SAFETY: the call writes the action, which keeps what it points to."
        yield f"        unsafe {{ sys::{self.action['function']}({', '.join(self.passed)}) }};"
        yield "        action\n    }\n"

    def std(self):
        """Of std's types, by the one of spec."""
        yield f"    pub fn {self.name}({', '.join(self.of_std)}) -> Self {{"
        yield from (f"        let {name} = {name}.into();" for name in self.uses)
        yield f"        let raw = spec::Action::{self.name}({', '.join(self.arguments)});"
        yield f"        Action::new(raw, [{', '.join(self.uses)}], {self.makes})\n    }}\n"


def enumeration(description, docs, group, rust):
    text = {of["name"]: of["text"] for of in description["groups"]}.get(group)
    yield docs.of(text or "A resource of setrlimit(2), whose page has the units.", indent="")
    yield "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\n#[repr(i32)]\n#[non_exhaustive]"
    yield f"pub enum {rust} {{"
    for constant in description["constants"]:
        if constant["group"] == group and not constant["text"].startswith("reserved"):
            yield docs.of(constant["text"])
            yield f"    {camel(constant['name'].removeprefix(f'{group.upper()}_'))} = sys::{constant['name']},"
    yield "}\n"


def flags(description, docs, rust, place, group, own):
    prefix = group.upper().removesuffix("FLAGS")
    std = "#[cfg(feature = \"std\")]\n" if "<E>" in rust else ""
    yield f"{std}impl{'<E>' if '<E>' in rust else ''} {rust} {{"
    for constant in description["constants"]:
        name = constant["name"].removeprefix(prefix)
        if constant["group"] == group and name not in own:
            yield docs.of(constant["text"])
            yield (f"    pub fn {name.lower()}(&mut self, {name.lower()}: bool) -> &mut Self {{\n        let flag = "
                   f"if {name.lower()} {{ sys::{constant['name']} }} else {{ 0 }};\n"
                   f"        self.{place} = self.{place} & !sys::{constant['name']} | flag;\n        self\n    }}\n")
    yield "}\n"


def safe(description):
    docs = Docs(description)
    makers = [Maker(action) for action in description["actions"]
              if not any(operand["role"] in ("function", "word") for operand in action["operands"])]
    yield "// Written by generate.py.\n"
    for group, rust in ENUMERATIONS.items():
        yield from enumeration(description, docs, group, rust)
    for rust, place, group, own in FLAGS:
        yield from flags(description, docs, rust, place, group, own)
    yield "#[cfg(elsewhere)]\npub(crate) const COMMAND_FLAGS: &[(&str, u64)] = &["
    for constant in description["constants"]:
        if constant["group"] == "aspawn_command_flags":
            yield f"    (\"{constant['name'].removeprefix('ASPAWN_COMMAND_').lower()}\", sys::{constant['name']}),"
    yield "];\n"
    yield "impl spec::Action {"
    for maker in makers:
        yield f"    /// As [`Action::{maker.name}`](crate::Action::{maker.name}), of bytes and numbers."
        yield from maker.spec()
    yield '}\n\n#[cfg(feature = "std")]\nimpl Action {'
    for maker in makers:
        action = maker.action
        yield docs.of(action["text"], action["errors"], [operand["name"] for operand in action["operands"]])
        yield from maker.std()
    yield "}\n"
    yield "/// The numbers that actions take, by the names of the manual pages."
    yield "pub mod consts {\n    use crate::sys;\n"
    for constant in description["constants"]:
        group = constant["group"]
        if is_operand(constant):
            own = {"int": "i32", "unsigned": "u32", "uint64_t": "u64"}[constant["type"]]
            rust = NUMBERS.get(group, own)
            cast = "" if rust == own else f" as {rust}"
            yield docs.of(constant["text"].split("\n")[0])
            yield f"    pub const {without_prefix(constant['name'])}: {rust} = sys::{constant['name']}{cast};"
    yield "}"


if __name__ == "__main__":
    main()
