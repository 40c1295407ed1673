# SPDX-License-Identifier: MIT
"""What man pages have of doc/interface.json, the headers' comments. A page says what, in a comment:

    .\\" from interface.json: WHAT [NAME...]
    (written here)
    .\\" end

    synopsis   declarations of functions, and of structures that are named
    about      what functions do, and what their arguments are
    members    structures and their members, with their types
    constants  groups of constants
    types      what types of functions are for, with their arguments
    returns    what functions return: paragraphs of their comments that begin with "Returns"
    errors     their errors

The names are those of the page's NAME, unless some are given. aspawn_action(3) has its own parts. A
paragraph that begins with "Details: " or "Details in C: " stands in the header alone.
"""
import json
import re
import textwrap
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INTERFACE = json.loads((ROOT / "doc/interface.json").read_text())
ACTIONS = INTERFACE["actions"]
FUNCTIONS = {function["name"]: function for function in INTERFACE["functions"]}
STRUCTURES = {structure["name"]: structure for structure in INTERFACE["structures"]}
ERRORS = r"-E[A-Z0-9]+(?:, -E[A-Z0-9]+)*"
# Names that no English word looks like: members and parameters with a _.
WORDS = {thing["name"] for kind in (*STRUCTURES.values(), *FUNCTIONS.values())
         for thing in kind.get("members", kind.get("parameters")) if "_" in thing["name"]}


def shown(described):
    """The text of a constant without its details, and what it says of C alone."""
    lines = described["text"].split("\n")
    return "\n".join([*lines[:len(lines) - described.get("details", 0)], *filter(None, [described.get("in_c")])])


# --- text -----------------------------------------------------------------------------------------

def declares(name, type_):
    """As C does: "int fd", "char *const *argv", "unsigned char own[64]"."""
    type_, array, rest = type_.partition("[")
    type_, pointer, parameters = type_.partition("(*)")
    if pointer:
        return f"{type_}(*{name}){parameters}"
    return f"{type_}{'' if type_.endswith('*') else ' '}{name}{array}{rest}"


def marked(text, own=()):
    """Names of macros and pages bold, those of files italic;
    own functions have no section behind them."""
    text = text.replace("\\", "\\e")
    text = re.sub(r"(?<![\w(])-(?=\d|E[A-Z0-9])", r"\\-", text)
    text = re.sub(r"\b([a-z_]\w+)\((\d)\)", r"\\fB\1\\fP(\2)", text)
    text = re.sub(r"\b(aspawn\w*)\(\)", lambda found: rf"\fB{found[1]}\fP({'' if found[1] in own else 3})", text)
    text = re.sub(r"\b(ASPAWN_[A-Z0-9_]*[A-Z0-9])\b", r"\\fB\1\\fP", text)
    return re.sub(r"(?<![\w\\])(/(?:dev|proc|sys)\b[\w/]*)", r"\\fI\1\\fP", text)


def sentences(text):
    """A sentence a line, and long ones on more."""
    return [re.sub(r"^(?=[.'])", r"\\&", line) for paragraph in text.split("\n")
            for sentence in re.split(r"(?<=\.)(?<![^.]\.\.\.) (?=[A-Z\\*])", paragraph)
            for line in textwrap.wrap(sentence, 100, break_long_words=False, break_on_hyphens=False)]


def roff(text, operands=()):
    """Of an action, whose operands are names wherever no article is before them."""
    text = marked(text)
    for name in operands:  # not "the signal", which is a word
        text = re.sub(rf"(?<!\b[Tt]he )(?<!\b[Aa] )(?<!\bno )(?<!\bone )(?<!\ball )(?<![\w\\/\"])\b{name}\b(?![\w(/])",
                      rf"\\fI{name}\\fP", text)
    return sentences(text)


def prose(text, own=(), names=()):
    """Whole sentences of a function or structure, with an upper case letter and a full stop."""
    if not re.match(r"\W|\w*[_(]", text) and not re.match(r"(?:{})\b".format("|".join(names) or r"\b\B"), text):
        text = text[0].upper() + text[1:]
    text = marked(text if re.search(r"[.:!?]$", text) else text + ".", own)
    for name in names:  # as the subject of a clause: "child is NULL"
        text = re.sub(rf"(?:(?<=^)|(?<=[;,:.] )|(?<=\bor )|(?<=\band )|(?<=\bif ))\b{name}\b"
                      r"(?= (?:is|has|lies|and|or)\b|,)", rf"\\fI{name}\\fP", text)
    text = re.sub(r"(?<![\w\\])\*(\w+)\b", r"\\fI*\1\\fP", text)
    text = re.sub(rf"(?<![\w\\/\"])({'|'.join(sorted(WORDS))})\b(?![\w(/])", r"\\fI\1\\fP", text)
    return sentences(text)


def paragraphs(text):
    """Without code, and without details."""
    return re.findall(r"^(?!Details: )\S.*", text, re.M)


def tag(names):
    """The line of names that .TP has behind it."""
    return f".B{'R' * (len(names) > 1)} " + ' ", " '.join(names)


# --- declarations ---------------------------------------------------------------------------------

def structure(of):
    yield f".B struct {of['name']} {{"
    for member in of["members"]:
        yield f'.B "    {declares(member["name"], member["type"])};"'
    yield ".B };"


def declared(members):
    """The lines that .TP has behind it, one for each type: "size_t out_size, err_size"."""
    for type_, group in groupby(members, key=lambda member: member["type"]):
        before, after = declares("\n", type_).split("\n")
        between = '", ' + "*" * before.endswith("*") + '" '
        names = between.join(member["name"] + " " for member in group)
        yield f'.BI "{before}" {names}' + (f'"{after}"' if after else "")


def function(of):
    """.BI lines that fit 80 columns, with the names of parameters in italics."""
    parts, width = [declares(of["name"], of["returns"]) + "("], 0
    lines = []
    for number, parameter in enumerate(of["parameters"]):
        type_, name = declares("", parameter["type"]).rstrip(" ") if parameter["type"].endswith("*") else \
            parameter["type"] + " ", parameter["name"]
        end = ", " if number < len(of["parameters"]) - 1 else ");"
        width = sum(map(len, parts))
        if width + len(type_ + name + end.rstrip()) > 71:
            lines.append(parts[:-1] + [parts[-1].rstrip()])
            parts = [" " * 11]
        parts[-1] += type_
        parts += [name, end]
    if not of["parameters"]:
        parts[-1] += "void);"
    for line in [*lines, parts]:
        yield ".BI " + " ".join(f'"{part}"' if re.search(r"\s", part) else part for part in line if part)


def synopsis(names, own):
    for name in names:
        if name in FUNCTIONS:
            yield from function(FUNCTIONS[name])
        elif name in STRUCTURES and names != own:
            yield from structure(STRUCTURES[name])


# --- functions ------------------------------------------------------------------------------------

def parts(name):
    """Of a function's comment: what it does, what it returns, its errors,
    and what is said of these."""
    lines = paragraphs(FUNCTIONS[name]["text"])
    errors = [number for number, line in enumerate(lines) if re.match(ERRORS + ": ", line)]
    first, behind = (errors[0], errors[-1] + 1) if errors else (len(lines), len(lines))
    before = lines[:first]
    returns = [line for number, line in enumerate(before) if number and line.startswith("Returns ")]
    return ([line for line in before if line not in returns], returns,
            [line.split(": ", 1) for line in lines[first:behind]], lines[behind:])


def parameters_of(name):
    return [parameter["name"] for parameter in FUNCTIONS[name]["parameters"]]


def about(names, own):
    for name in [name for name in names if name in FUNCTIONS]:
        operands = parameters_of(name)
        yield f".SS {name}()"
        listed = False
        for number, paragraph in enumerate(parts(name)[0]):
            element = paragraph.startswith("- ")
            yield from ([".IP \\(bu" + " 2" * (not listed)] if element else [".PP"] if number else [])
            listed = element
            yield from prose(paragraph.removeprefix("- "), own, operands)
        for parameter in FUNCTIONS[name]["parameters"]:
            if parameter["text"]:
                yield from [".TP", f".I {parameter['name']}", *prose(parameter["text"], own, operands)]


def returns(names, own):
    for name in [name for name in names if name in FUNCTIONS]:
        for number, paragraph in enumerate(parts(name)[1]):
            paragraph = paragraph if number else f"{name}() r{paragraph[1:]}"
            yield from [".PP", *prose(paragraph, own, parameters_of(name))]


def errors(names, own):
    names = [name for name in names if name in FUNCTIONS and parts(name)[2]]
    for name in names:
        _, _, listed, behind = parts(name)
        yield from [f".SS {name}()"] * (len(names) > 1)
        for numbers, text in listed:
            numbers = [rf"\{number}" for number in numbers.split(", ")]
            yield from [".TP", tag(numbers), *prose(text, own, parameters_of(name))]
        for paragraph in behind:
            yield from [".PP", *prose(paragraph, own, parameters_of(name))]


# --- structures and constants ---------------------------------------------------------------------

def members(names, own):
    for of in [STRUCTURES[name] for name in names if name in STRUCTURES]:
        listed = [member["name"] for member in of["members"]]
        for paragraph in paragraphs(of["text"]):
            yield from [".PP", *prose(paragraph, own, listed)]
        for text, group in groupby(of["members"], key=lambda member: member["text"]):
            if text in ("internal", "0") or text.startswith("sizeof") or not paragraphs(text):
                continue
            text = re.sub(r"^a sum of enum \w+_flags$", "is a sum of the flags below", text)
            for number, line in enumerate(declared(group)):
                yield from [".TQ" if number else ".TP", line.rstrip()]
            for number, paragraph in enumerate(paragraphs(text)):
                yield from [*[".IP"] * (number > 0), *prose(paragraph, own, listed)]


def constants(names, own):
    for name in names:
        group = next(group for group in INTERFACE["groups"] if group["name"] == name)
        yield from [".PP", *prose(group["text"], own)]
        for constant in INTERFACE["constants"]:
            if constant["group"] == name:
                yield from [".TP", f".B {constant['name']}", *prose(shown(constant), own)]


def types(names, own):
    texts = {of["name"]: of["text"] for of in INTERFACE["types"]}
    for paragraph in [paragraph for name in names for paragraph in paragraphs(texts[name])]:
        argument = re.match(r"([a-z_]+): (.*)", paragraph)
        yield from [".TP", f".I {argument[1]}"] if argument else [".PP"]
        yield from prose(argument[2] if argument else paragraph, own)


# --- aspawn_action(3) -----------------------------------------------------------------------------

def prototype(action):
    """.B MACRO(type name, ...), in lines that fit 80 columns. An int has no type."""
    arguments = [declares(operand["name"], "" if operand["type"] == "int" else operand["type"]).lstrip()
                 for operand in action["operands"]]
    lines = []
    line = action["macro"] + "("
    for number, argument in enumerate(arguments):
        argument += "," if number < len(arguments) - 1 else ")"
        if len(line) + len(argument) > 62:
            lines.append(line.rstrip())
            line = " " * 11
        line += argument + " "
    lines.append(line.rstrip() + ("" if arguments else ")"))
    yield from [".TP", f".B {lines[0]}"]
    for line in lines[1:]:
        yield from [".TQ", f'.B "{line}"']


def actions(names, own):
    for section in INTERFACE["sections"]:
        name = section["name"]
        yield f".SS {name[0].upper()}{name[1:]}"
        yield from roff(section["text"].split("\n")[0])
        for action in ACTIONS:
            if action["section"] == name:
                yield from prototype(action)
                operands = [operand["name"] for operand in action["operands"]]
                yield from roff(action["text"].split("\n")[0], operands)
                yield from roff(action.get("in_c", ""), operands)


def action_names(names, own):
    names = ", ".join(["aspawn_action", *(action["function"] for action in ACTIONS)])
    return textwrap.wrap(names + " \\- what a new process does before its exec", 95)


# --- a page ---------------------------------------------------------------------------------------

WRITERS = {"synopsis": synopsis, "about": about, "returns": returns, "errors": errors, "members": members,
           "constants": constants, "types": types, "actions": actions, "names": action_names}
PART = re.compile(r'^(\.\\" from interface\.json: (\w+)(.*)\n)[\s\S]*?^(?=\.\\" end\n)', re.M)


def names_of(page):
    """What its NAME lists."""
    return re.findall(r"\w+", re.search(r"^\.SH NAME\n([\s\S]*?)\\-", page, re.M)[1])


def manual(page):
    own = names_of(page)

    def part(found):
        lines = list(WRITERS[found[2]](found[3].split() or own, own))
        if lines and lines[0] == ".PP" and re.search(r"^\.S[HS].*\n$", page[:found.start()].splitlines(True)[-1]):
            lines = lines[1:]
        return found[1] + "".join(f"{line}\n" for line in lines)

    return PART.sub(part, page)


def missing():
    """(page, part and name) of what a page with such parts has of the headers and does not show,
    or twice."""
    for path in ROOT.glob("doc/aspawn*.3"):
        page = path.read_text()
        shown = [(what, name) for _, what, names in PART.findall(page) for name in names.split() or names_of(page)]
        wanted = [("synopsis", name) for name in names_of(page) if name in FUNCTIONS]
        wanted += [("members", name) for name in names_of(page) if name in STRUCTURES]
        for name in names_of(page):
            if name in FUNCTIONS:
                does, gives, fails, _ = parts(name)
                wanted += [(what, name) for what, of in (("about", does), ("returns", gives), ("errors", fails)) if of]
        if ("synopsis", wanted[0][1]) in shown:
            yield from ((path.name, f"{what} {name}") for what, name in wanted if shown.count((what, name)) != 1)
