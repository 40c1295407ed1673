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
KEYWORDS = """as box break const crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref self
static struct super trait unsafe use where while""".split()
RENAMED = {"type": "kind", **{word: f"{word}_" for word in KEYWORDS}}
# What Rust calls the architectures; it has no sh4.
ARCHITECTURES = {"i386": "x86", "x32": "x86_64", "mipsn32": "mips64"}
UNSIGNED_CHAR = ["aarch64", "arm", "powerpc", "powerpc64", "riscv32", "riscv64", "s390x"]
WIDTHS = {"x86_64": 64, "x32": 32, "mips64": 64, "mipsn32": 32}
# The types of operands, where those of the constants' groups differ.
NUMBERS = {"PSYS_RESOLVE": "u64", "PSYS_MS": "u64", "PSYS_CLONE_NEW": "u64", "PSYS_SECBIT": "u32", "PSYS_BPF": "u16"}
# Enumerations of the safe crate, and the flags that become methods,
# except those that its own code sets.
ENUMERATIONS = {"aspawn_owner": "Owner", "aspawn_memory": "Memory", "PSYS_RLIMIT": "Resource"}
FLAGS = [("spec::Spec", "flags", "aspawn_command_flags", []),
         ("crate::queue::Job<'_>", "raw.flags", "aspawn_job_flags", []),
         ("crate::queue::Options", "raw.flags", "aspawn_queue_flags", ["FD"]),
         ("crate::CommandOf<E>", "spec.flags", "aspawn_command_flags", ["STARTED_FD", "NO_PIDFD", "NONBLOCK"])]
# What enum Step calls otherwise.
STEPS = {"CLONE": "Start"}
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
    base, *pointers = re.findall(r"[^*]+|\*(?:const)?", c.replace(" *", "*"))
    constant = base.startswith("const ")
    base = re.sub(r"^(const )?(struct )?", "", base)
    rust = TYPES.get(base, base)
    for pointer in pointers:
        rust = f"*{'const' if constant else 'mut'} {rust}"
        constant = "const" in pointer
    return rust


def condition(architectures):
    """For cfg(); of those that Rust has."""
    found = []
    for name in architectures:
        arch = f'target_arch = "{ARCHITECTURES.get(name, name)}"'
        width = f'target_pointer_width = "{WIDTHS[name]}"' if name in WIDTHS else None
        found.append(f"all({arch}, {width})" if width else arch)
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


def of_c(described):
    """The text, with what it says of C alone."""
    return "\n".join(filter(None, [described["text"], described.get("in_c")]))


def documented(text, indent=""):
    """Text of the headers, a paragraph on each line, as rustdoc takes it."""
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
    result = f" -> {rust_type(returns)}" if returns else ""
    return f"    pub fn {name}({rust}){result};"


def structure(of):
    yield from documented(of["text"])
    if of["opaque"]:
        yield f"#[repr(C)]\npub struct {of['name']} {{\n    _own: [u8; 0],\n}}\n"
        return
    layouts = of["layouts"]
    names = [member["name"] for member in of["members"]]
    # A handle or pool is one thing, of which a copy would be another.
    copied = "own" not in names
    if copied:
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
            yield from documented(member["text"], "    ")
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
        yield from documented(of_c(constant))
        yield f"pub const {constant['name']}: {rust} = {value(constant)};"
    yield ""
    for of in types:
        yield from documented(of["text"])
        yield f"pub type {of['name']} = {rust_type(of['type'])};\n"
    for of in structures:
        if of["name"] != "psys_sigset":
            yield from structure(of)
    yield "functions! {"
    for of in functions:
        yield from documented(of["text"], "    ")
        yield function(of["name"], of["parameters"], of["returns"])
    for of in description["actions"]:
        yield from documented(of_c(of), "    ")
        yield function(of["function"], [{"name": "action", "type": "struct aspawn_action *"}, *of["operands"]])
    yield "}"


# --- aspawn ---------------------------------------------------------------------------------------

def link(found):
    """The kernel's and the libc's pages are on the web."""
    if found[1].startswith("aspawn"):
        return found[0]
    return f"[{found[0]}](https://man7.org/linux/man-pages/man{found[2]}/{found[1]}.{found[2]}.html)"


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
        if name == "call":
            return "`pre_exec`"
        if name == "syscall":
            return "`ASPAWN_SYSCALL`"
        return f"[`{name}{found[2] or ''}`](crate::Action::{name})"

    def constant(self, found):
        name = found[0]
        words = [(r"ASPAWN_COMMAND_(\w+)", lambda word: f"`{word.lower()}`"),
                 (r"ASPAWN_OWNER_(\w+)", lambda word: f"[`Owner::{camel(word)}`]"),
                 (r"ASPAWN_MEMORY_(\w+)", lambda word: f"[`Memory::{camel(word)}`]"),
                 (r"ASPAWN_STEP_(\w+)", lambda word: "[`Step::{0}`](crate::Step::{0})".format(
                     STEPS.get(word, camel(word)))),
                 (r"(?:PSYS|ASPAWN)_(\w+?_?)\.\.\.", lambda word: f"`{word}...`")]
        for pattern, rewrite in words:
            match = re.fullmatch(pattern, name)
            if match:
                return rewrite(match[1])
        plain = re.sub(r"^(PSYS|ASPAWN)_", "", name)
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
        return re.sub(r"(?<![\w`/-])([a-z_]\w+)\((\d)\)", link, text)

    def of(self, text, errors="", operands=(), indent="    "):
        text = self.rewritten(text, operands)
        if errors and not errors.startswith("none"):
            text += "\n" + self.rewritten(f"Errors: {errors}", operands)
        paragraphs = [paragraph[:1].upper() + paragraph[1:] for paragraph in text.split("\n") if paragraph]
        return f"\n{indent}///\n".join(f"{indent}/// {paragraph}" for paragraph in paragraphs)


def camel(name):
    return "".join(word.capitalize() for word in name.split("_"))


class Maker:
    """A function that makes an action. Each operand has a parameter of bytes and numbers, in spec,
    and one of std's types; and what the action keeps, and the C function gets."""

    def __init__(self, action):
        self.action, self.name = action, action["name"]
        self.of_bytes, self.of_std, self.conversions, self.arguments = [], [], [], []
        self.keeps, self.passed, self.uses, self.makes = {}, ["raw"], [], "None"
        self.has_error = self.has_result = False
        for operand in action["operands"]:
            name = RENAMED.get(operand["name"], operand["name"])
            getattr(self, f"role_{operand['role']}", self.other)(name, operand)

    def parameter(self, name, of_bytes, of_std=None, argument=None):
        self.of_bytes.append(f"{name}: {of_bytes}")
        self.of_std.append(f"{name}: {of_std or of_bytes}")
        self.arguments.append(argument or name)

    def other(self, name, operand):
        """A flag, a mode, an ID, a signal: a number like another."""
        self.parameter(name, {"int": "i32", "unsigned": "u32"}.get(operand["type"]) or rust_type(operand["type"]))
        self.passed.append(name)

    def role_number(self, name, operand):
        self.other(name, operand)
        self.makes = f"Some({name})"

    def role_descriptor(self, name, operand):
        self.parameter(name, "spec::Fd", "impl Into<Descriptor>", f"{name}.fd()")
        self.conversions.append(f"let {name} = {name}.into();")
        self.passed.append(f"{name}.0")
        self.uses.append(name)

    def role_path(self, name, operand):
        std, convert = ("Path", ".as_os_str().as_bytes()") if operand["role"] == "path" else ("OsStr", ".as_bytes()")
        if name == "text":  # what is written to a file
            std, convert = "[u8]", ""
        self.has_error = True
        if operand.get("optional"):
            self.parameter(name, "Option<&[u8]>", f"Option<&{std}>", f"{name}.map(|text| text{convert})")
            self.keeps[name] = f"{name}.map(|bytes| Self::text(bytes, &mut error))"
            self.passed.append(f"{name}.as_ref().map_or(ptr::null(), |text| text.as_ptr().cast())")
        else:
            self.parameter(name, "impl AsRef<[u8]>", f"impl AsRef<{std}>", f"{name}.as_ref(){convert}")
            self.keeps[name] = f"Self::text({name}.as_ref(), &mut error)"
            self.passed.append(f"{name}.as_ptr().cast()")

    role_string = role_path

    def role_resource(self, name, operand):
        self.parameter(name, "Resource")
        self.passed.append(f"{name} as i32")

    def role_signals(self, name, operand):
        self.has_error = True
        self.array("signals", "&[i32]", "signal_set(signals, &mut error)")

    def role_array(self, name, operand):
        if operand["element"] == "byte":  # a mask, which is a set of numbers, as signals are
            name = "processors" if name == "mask" else name
            self.has_error = True
            return self.array(name, "&[usize]", f"bit_mask({name}, 1 << 16, &mut error)")
        rust = {"unsigned": "u32", "data": "u8"}.get(operand["element"]) or f"sys::psys_{operand['element']}"
        return self.array(name, f"&[{rust}]", f"{name}.to_vec()")

    def array(self, name, rust, kept):
        self.parameter(name, rust)
        self.keeps[name] = kept
        self.passed.append(f"{name}.as_ptr().cast()")

    def role_count(self, name, operand):
        kept = [*self.keeps][-1]
        self.passed.append(f"mem::size_of_val(&{kept}[..])" if kept in ("processors", "nodes") else f"{kept}.len()")

    def role_result(self, name, operand):
        self.has_result = True

    def spec(self):
        """Of bytes and numbers."""
        yield f"    pub fn {self.name}({', '.join(self.of_bytes)}) -> Self {{"
        call = f"sys::{self.action['function']}"
        if self.has_result:
            yield f"        Self::pipe({call}, {self.passed[1]})"
        else:
            names, kept = ", ".join(self.keeps), ", ".join(self.keeps.values())
            if len(self.keeps) != 1:
                names, kept = f"({names})", f"({kept})"
            if self.has_error:
                yield "        let mut error = 0;"
            if self.keeps:
                yield f"        let data = {kept};"
            begin = f"with(data, {'error' if self.has_error else 0}, |raw, {names}|" if self.keeps else "plain(|raw|"
            yield "        // SAFETY: the call writes the action, which keeps what it points to."
            yield f"        Self::{begin} unsafe {{"
            yield f"            {call}({', '.join(self.passed)})\n        }})"
        yield "    }\n"

    def std(self):
        """Of std's types, by the one of spec."""
        yield f"    pub fn {self.name}({', '.join(self.of_std)}) -> Self {{"
        yield from (f"        {conversion}" for conversion in self.conversions)
        yield f"        let raw = spec::Action::{self.name}({', '.join(self.arguments)});"
        yield f"        Action::new(raw, [{', '.join(self.uses)}], {self.makes})\n    }}\n"


def enumeration(description, docs, group, rust):
    prefix = f"{group.upper()}_"
    text = {of["name"]: of["text"] for of in description["groups"]}.get(group)
    yield docs.of(text or "A resource of setrlimit(2), whose page has the units.", indent="")
    yield "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\n#[repr(i32)]\n#[non_exhaustive]"
    yield f"pub enum {rust} {{"
    for constant in description["constants"]:
        if constant["group"] == group and not constant["text"].startswith("reserved"):
            yield docs.of(constant["text"])
            yield f"    {camel(constant['name'].removeprefix(prefix))} = sys::{constant['name']},"
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
            name = re.sub("^(PSYS|ASPAWN)_", "", constant["name"])
            yield docs.of(constant["text"].split("\n")[0])
            yield f"    pub const {name}: {rust} = sys::{constant['name']}{'' if rust == own else f' as {rust}'};"
    yield "}"


if __name__ == "__main__":
    main()
