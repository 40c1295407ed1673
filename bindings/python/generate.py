# SPDX-License-Identifier: MIT
"""Makes of the description of the interface what a user and the compiler read:

    generate.py INTERFACE.JSON SOURCES

SOURCES/aspawn/actions.py has a function for each action, constants.py the numbers, and
SOURCES/_tables.h the types of the actions' arguments, and of the members of structures.
"""
import json
import os
import re
import sys
import textwrap
from itertools import groupby
from pathlib import Path

# What the modules os, signal and resource have.
STANDARD = {"PSYS_SIG": "signal.SIG", "PSYS_O": "os.O", "PSYS_RLIMIT": "resource.RLIMIT", "PSYS_SCHED": "os.SCHED",
            "PSYS_AT": "", "PSYS_RLIM64": "", "ASPAWN_VERSION": ""}
# What C calls otherwise.
WORDS = [(r"PSYS_RLIM64_INFINITY", "resource.RLIM_INFINITY"), (r"PSYS_AT_FDCWD", "None"),
         *((rf"{group}(?=_)", name) for group, name in STANDARD.items() if name),
         (r"(?:PSYS|ASPAWN)_(CAP|CLONE|IOPRIO|LANDLOCK_RESTRICT_SELF|MS|RESOLVE|SEC\w+?)_", r"constants.\1_"),
         (r"ASPAWN_(OWNER|MEMORY|OUTCOME|STEP|STREAM|QUEUE)_(\w+)",
          lambda found: f"{found[1].capitalize()}.{found[2]}"),
         (r"ASPAWN_(?:COMMAND|IO)_(\w+)", lambda found: f"{found[1].lower()}=True")]
NOT_HERE = {"aspawn_action_kind", "aspawn_with_flags", "aspawn_io_flags", *STANDARD}

ACTIONS = '''# SPDX-License-Identifier: MIT
"""What the child does before it executes the program, in place of preexec_fn:

    aspawn.run(["make"], actions=[actions.chdir("/src"), actions.rlimit(RLIMIT_CPU, 60, 61)])

Each function makes one action; nothing happens until Popen performs them, in their order, as C in
the child. No Python runs there, so no thread and no lock of the parent can stop it. The first
action that fails ends the child, and Popen raises its OSError, whose `failure` names the action.

Descriptors of this process are numbers or objects with fileno(); a number of the program is an int.
Sets, masks and groups are iterables of numbers, whose count or size is not an argument. Constants
are those of the modules os, signal, resource and aspawn.constants. The manual page named of each
says more. [copy] marks actions for which the child executes a small program of the library's
before, or, where that cannot be, the memory is copied, as by fork(2) and at its cost.
"""
from typing import Iterable, Optional, Union

from ._action import Action, Descriptor, HasFileno, Packed, Path, numbers_of, set_of

__all__ = [%s]
'''
CONSTANTS = '''# SPDX-License-Identifier: MIT
"""Numbers of the library, and those of the kernel that no module of Python has in each version."""
import enum
'''


# --- C ----------------------------------------------------------------------------------

SIZES = {"unsigned": "sizeof(unsigned)", "sock_filter": "sizeof(struct psys_sock_filter)", "byte": "1", "data": "1"}
NUMBERS = {"int": "i", "int64_t": "L", "size_t": "n", "unsigned": "to_unsigned", "uint32_t": "to_unsigned",
           "uint64_t": "to_word"}
ADDRESSES = {"const void *": "to_bytes", "char *const *": "to_strings", "const struct aspawn_action *": "to_actions",
             "const struct aspawn_command *": "to_command"}
ADDRESS = "struct operand"
COUNTS = {"action_count": "actions", "input_size": "input"}  # of structures: what they count


def conversion(operand):
    """The letter of PyArg_ParseTuple(), or the function of its O&, and the type that it stores."""
    role, type_ = operand.get("role"), operand["type"]
    if role == "descriptor":
        return "to_directory" if operand.get("cwd") else "to_descriptor", "int"
    if type_ in NUMBERS:
        return NUMBERS[type_], type_
    if type_ == "const char *":
        return "to_optional_string" if operand.get("optional") else "to_string", ADDRESS
    return "to_result" if role == "result" else ADDRESSES.get(type_, "to_bytes"), ADDRESS


def parser(head, call, operands, stores):
    """A function of C that calls PyArg_ParseTuple() or the like for operands, and then stores them.
    Each has a variable, whose name is the operand's and _."""
    formats = places = variables = ""
    for operand in operands:
        name, (kind, type_) = operand["name"] + "_", conversion(operand)
        formats += kind if len(kind) == 1 else "O&"
        places += f", &{name}" if len(kind) == 1 else f", {kind}, &{name}"
        variables += f"\t{type_} {name} = {{ kept, NULL, 0 }};\n" if type_ == ADDRESS else f"\t{type_} {name} = 0;\n"
    return (f"static int {head}\n{{\n{variables}\n\t(void)kept;\n\tif (!{call.format(formats, places)})\n"
            f"\t\treturn 0;\n{stores}\treturn 1;\n}}\n")


def value(operand):
    return operand["name"] + ("_.p" if conversion(operand)[1] == ADDRESS else "_")


def maker(action):
    """A function that makes the action of a tuple of its operands."""
    operands = {operand["name"]: operand for operand in action["operands"]}
    values = [f"{operand['of']}_.count / {SIZES[operands[operand['of']]['element']]}" if operand["role"] == "count"
              else value(operand) for operand in operands.values()]
    return parser(f"make_{action['name']}(PyObject *kept, PyObject *args, struct aspawn_action *to)",
                  f'PyArg_ParseTuple(args, "{{}}:{action["name"]}"{{}})',
                  [operand for operand in operands.values() if operand["role"] != "count"],
                  f"\t{action['function']}({', '.join(['to', *values])});\n")


def setter(structure):
    """A function that sets members of a structure by a dict; the C code sets the others."""
    members = {member["name"]: member for member in structure["members"]
               if member["name"] not in ("size", "reserved", "pool")}
    values = {name: f"{COUNTS[name]}_.count" if name in COUNTS else value(member) for name, member in members.items()}
    names = "".join(f'"{name}", ' for name in members if name not in COUNTS)
    return parser(f"set_{structure['name'].replace('aspawn_', '')}(PyObject *kept, PyObject *args, PyObject *members, "
                  f"struct {structure['name']} *to)",
                  f'PyArg_ParseTupleAndKeywords(args, members, "|${{}}", (char *[]){{{{ {names}NULL }}}}{{}})',
                  [member for name, member in members.items() if name not in COUNTS],
                  "\tto->size = sizeof *to;\n" + "".join(f"\tto->{name} = {of};\n" for name, of in values.items()))


def result(structure):
    """The format and the values of Py_BuildValue()."""
    kinds = {"uint64_t": ("K", "(unsigned long long){}"), "int64_t": ("L", "(long long){}"), "int": ("i", "{}"),
             "const char *": ("N", "bytes_of({0}, {0}_length)"), "struct aspawn_failure": ("N", "failure_of(&{})"),
             "struct psys_rusage": ("N", "bytes_of((const char *)&{0}, sizeof {0})")}
    chosen = [(member["name"], *kinds[member["type"]]) for member in structure["members"] if member["type"] in kinds]
    return (f'#define RESULT_FORMAT "{"".join("s" + kind for _, kind, _ in chosen)}"\n#define RESULT_VALUES(r) '
            + ", ".join(f'"{name}", ' + value.format("(r)->" + name) for name, _, value in chosen) + "\n")


# --- Python -------------------------------------------------------------------------------

# Of a role or an element of arrays: the type, and what the action gets. Others are numbers.
TYPES = {"descriptor": ("Descriptor", "{}"), "path": ("Path", "{}"), "string": ("Union[str, bytes]", "{}"),
         "array": ("bytes", "Packed({})"), "signals": ("Iterable[int]", "set_of({}, 1)"),
         "unsigned": ("Iterable[int]", "numbers_of({})"), "byte": ("Iterable[int]", "set_of({})")}


def readable(text, names):
    """A text of the headers, in the words of Python."""
    text = re.sub(r"\bASPAWN_([A-Z0-9_]+)\b(?:\(\))?(\(?)",
                  lambda found: found[1].lower() + (found[2] or "()") if found[1].lower() in names else found[0], text)
    for pattern, word in WORDS:
        text = re.sub(rf"\b{pattern}", word, text)
    return text


def wrapped(text, indent, width=100):
    return "\n\n".join(textwrap.fill(part, width, initial_indent=indent, subsequent_indent=indent,
                                     break_long_words=False, break_on_hyphens=False)
                       for part in text.split("\n"))


def parameter(action, operand):
    """The name, the type, the default or None, and what the action gets."""
    role, element = operand["role"], operand.get("element")
    name = operand["name"] + ("_" if operand["name"] in ("from", "import", "in", "is", "lambda") else "")
    type_, value = TYPES.get(element) or TYPES.get(role, ("int", "{}"))
    default = {"flags": "0", "array": "()" if element == "unsigned" else None}.get(role)
    if operand.get("optional"):
        default = "None"
    elif role == "mode" and operand is action["operands"][-1]:
        default = "0o666"
    is_optional = operand.get("optional") or operand.get("cwd")
    return name, f"Optional[{type_}]" if is_optional else type_, default, value.format(name)


def function(action, names):
    parameters = [parameter(action, operand) for operand in action["operands"]
                  if operand["role"] not in ("count", "result")]
    required = max((i for i, (_, _, default, _) in enumerate(parameters) if default is None), default=0)
    signature = [f"{name}: {type_}" + (f" = {default}" if i > required else "")
                 for i, (name, type_, default, _) in enumerate(parameters)]
    arguments = [f'"{action["name"]}"', *(value for *_, value in parameters)]
    arguments += ["None" for operand in action["operands"] if operand["role"] == "result"]
    errors = "" if action["errors"] in ("", "none.") else f"\nErrors: {action['errors']}"
    doc = wrapped(readable(action["text"] + errors, names), "    ").lstrip()
    end = '"""' if "\n" not in doc and len(doc) < 90 else '\n    """'
    between = ", " if sum(map(len, signature)) < 90 else ",\n" + " " * len(f"def {action['name']}(")
    return (f"\n\ndef {action['name']}({between.join(signature)}) -> Action:\n"
            f'    """{doc}{end}\n    return Action({", ".join(arguments)})\n')


def functions(actions):
    names = {action["name"] for action in actions}
    known = ["Action", "Descriptor", "HasFileno", "Path", *sorted(names)]
    yield ACTIONS % wrapped(", ".join(f'"{name}"' for name in known), "           ").lstrip()
    for section, group in groupby(actions, lambda action: action["section"]):
        yield f"\n\n# --- {section} ---"
        yield from (function(action, names) for action in group)


def comment(text, indent):
    return "".join(f"{line}\n" for line in wrapped(text, indent + "# ").split("\n")) if text else ""


def constants(interface):
    names = {action["name"] for action in interface["actions"]}
    yield CONSTANTS
    for group, members in groupby(interface["constants"], lambda constant: constant["group"]):
        members = [*members]
        prefix, indent = members[0]["name"].partition("_")[0] + "_", ""
        if group in NOT_HERE:
            continue
        if group.startswith("aspawn_"):
            prefix = os.path.commonprefix([constant["name"] for constant in members]).rpartition("_")[0] + "_"
            indent = "    "
            name = "".join(map(str.capitalize, group.split("_")[1:]))
            yield f"\n\nclass {name}(enum.{'IntFlag' if name.endswith('Flags') else 'IntEnum'}):\n"
        else:
            yield "\n\n"
        for constant in members:
            yield comment(readable(constant["text"], names), indent)
            yield f"{indent}{constant['name'][len(prefix):]} = {constant['value']}\n"


def main(description, sources):
    interface = json.loads(Path(description).read_text())
    actions = [action for action in interface["actions"] if action["name"] not in ("call", "syscall")]
    structures = {structure["name"]: structure for structure in interface["structures"]}
    rows = "".join(f'\t{{ "{action["name"]}", make_{action["name"]} }},\n' for action in actions)
    table = [*map(maker, actions), f"static const struct maker makers[] = {{\n{rows}\t{{ NULL, NULL }}\n}};\n",
             *(setter(structures[f"aspawn_{name}"]) for name in ("command", "job", "queue_options")),
             result(structures["aspawn_result"])]
    Path(sources, "_tables.h").write_text("/* Made by generate.py. */\n" + "\n".join(table))
    Path(sources, "aspawn/actions.py").write_text("".join(functions(actions)))
    Path(sources, "aspawn/constants.py").write_text("".join(constants(interface)))


if __name__ == "__main__":
    main(*sys.argv[1:])
