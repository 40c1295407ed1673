#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes what repeats the public interface, from doc/interface.json:

    doc/*.3                    what manual.py makes
    debian/libaspawn*.symbols  the functions of libaspawn
    doc/bindings.md            the sizes of structures
    doc/abi.md                 all names, each with the version that has changed it last
    README.md                  the number of kinds of actions

and from aspawn/helper/ways.h:

    doc/design.md              the table of ways

and from RELEASE:

    debian/control             the contact
    debian/changelog           the contact and the day of the newest entry
    bindings/go/README.md      the module's path, as the packing makes it

`make reference` calls it after tools/interface.py, and a test checks that nothing is left to write.
"""
import re
from datetime import date

from manual import ACTIONS, INTERFACE, ROOT, declares, manual

KINDS = {action["kind"]: action for action in ACTIONS}


def between(text, name, lines, comment, source="interface.json"):
    """The text with other lines between those that begin and end what is written here."""
    begin, end = comment.format(f"from {source}: {name}"), comment.format("end")
    before, found, rest = text.partition(begin + "\n")
    _, ended, after = rest.partition(end + "\n")
    assert found and ended, f"no {begin}"
    return before + found + "".join(f"{line}\n" for line in lines) + ended + after


# --- the package ----------------------------------------------------------------------------------

VERSION = ".".join(INTERFACE["version"].split(".")[:2])


def symbols(text):
    """Those of libaspawn; one that is there keeps the version that brought it."""
    known = dict(re.findall(r"^ (aspawn\w*)@LIBASPAWN_1 (\S+)$", text, re.M))
    names = sorted([function["name"] for function in INTERFACE["functions"]] +
                   [action["function"] for action in ACTIONS], key=lambda name: name + "@")
    lines = "".join(f" {name}@LIBASPAWN_1 {known.get(name, VERSION)}\n" for name in names)
    return re.sub(r"(?:^ aspawn\w*@.*\n)+", lines, text, count=1, flags=re.M)


# --- documents ------------------------------------------------------------------------------------

def fixed_size(structure):
    """Its size, if that is the same everywhere; a structure that grows is declared in full."""
    sizes = {layout["size"] for layout in structure["layouts"].values()}
    return sizes.pop() if len(sizes) == 1 and not structure["grows"] else None


def declared(structure):
    members = [member["name"] for member in structure["members"] if member["text"] not in ("internal", "0")]
    return "none" if structure["name"] == "aspawn_action" else ", ".join(f"`{name}`" for name in members) or "none"


def structures():
    yield "| structure | size | members of it that a binding uses |\n| --- | ---: | --- |"
    for structure in INTERFACE["structures"]:
        if structure["name"].startswith("aspawn_") and not structure["opaque"]:
            size = fixed_size(structure)
            yield f"| `{structure['name']}` | {size or ''} | {declared(structure) if size else 'all'} |"


def bindings(text):
    return between(text, "structures", structures(), "<!-- {} -->")


def prototypes():
    for function in [*INTERFACE["functions"], *ACTIONS]:
        parameters = [{"name": "action", "type": "struct aspawn_action *"}] if "operands" in function else []
        parameters += function.get("parameters", []) + function.get("operands", [])
        listed = ", ".join(declares(one["name"], one["type"]) for one in parameters) or "void"
        yield declares(function.get("function", function["name"]), function.get("returns", "void")) + f"({listed})"


def all_members():
    for structure in INTERFACE["structures"]:
        if not structure["name"].startswith("psys_"):
            members = "; ".join(declares(member["name"], member["type"]) for member in structure["members"])
            yield f"struct {structure['name']}" + (f" {{ {members} }}" if members else "")


def own_constants():
    for constant in INTERFACE["constants"]:
        if constant["name"].startswith("ASPAWN_"):
            yield f"{constant['name']} = {constant['value']}"


def changes(text):
    """Each declaration, with the version that brought it or has changed it: a row that is not as it
    was is of this version."""
    known = dict(re.findall(r"^\| `(.*)` \| (\S+) \|$", text, re.M))
    tables = {"structure": all_members(), "function": prototypes(), "constant": own_constants()}
    for title, declarations in tables.items():
        yield f"| {title} | last change |\n| --- | --- |"
        yield from (f"| `{declaration}` | {known.get(declaration, VERSION)} |" for declaration in declarations)
        yield ""


def abi(text):
    return between(text, "last changes", ["", *changes(text)], "<!-- {} -->")


def readme(text):
    return re.sub(r"\d+ kinds of actions", f"{len(KINDS)} kinds of actions", text)


# --- the design -----------------------------------------------------------------------------------

WORDS = {"MEMORY_OF_HELPER": "a helper, which tries its ways", "MEMORY_SHARED": "the caller's",
         "MEMORY_SUSPENDED": "the caller's; suspends until the exec", "MEMORY_COPIED": "a copy",
         "MEMORY_EXECUTED": "the image's", "true": "joins it", "false": "", "0": "", "NEVER": "no", "ALWAYS": "yes",
         "IF_UNSUPPORTED": "on `EOPNOTSUPP`", "UNLESS_FULL": "except on `EAGAIN`, `ENOMEM`"}


def ways():
    yield "| who clones | memory of the child | cgroup | for | not for | refused: the next |"
    yield "| --- | --- | --- | --- | --- | --- |"
    rows = re.findall(r"WAY\((BY_[^)]*)\)", (ROOT / "aspawn/helper/ways.h").read_text().replace("\\\n", " "))
    assert rows
    for row in rows:
        cells = [cell.strip() for cell in row.split(",")]
        cells[0] = cells[0].removeprefix("BY_").lower()
        for i in 3, 4:
            cells[i] = ", ".join(wish.strip().removeprefix("WISH_").lower() for wish in cells[i].split("|"))
        yield "| " + " | ".join(WORDS.get(cell, cell) for cell in cells) + " |"


def design(text):
    return between(text, "ways", ways(), "<!-- {} -->", "aspawn/helper/ways.h")


# --- the release ----------------------------------------------------------------------------------

RELEASE = dict(re.findall(r"^(\w+)=(.*)", (ROOT / "RELEASE").read_text(), re.M))


def control(text):
    return re.sub(r"^(Maintainer: .*)<.*>", rf"\1<{RELEASE['CONTACT']}>", text, flags=re.M)


def newest_entry(text):
    """Until there is a day the entry keeps its own."""
    found = re.search(r"^ -- (.*) <.*>  (.*)$", text, re.M)
    day = RELEASE["DATE"]
    day = found[2] if day == "unreleased" else date.fromisoformat(day).strftime("%a, %d %b %Y 00:00:00 +0000")
    return text.replace(found[0], f" -- {found[1]} <{RELEASE['CONTACT']}>  {day}", 1)


def module_path(text):
    old = re.search(r"-require (\S+)/bindings/go@", text)[1]
    return text.replace(f"{old}/bindings/go", RELEASE["ADDRESS"].removeprefix("https://") + "/bindings/go")


WRITTEN = {"doc/aspawn*.3": manual, "debian/libaspawn*.symbols": symbols, "doc/bindings.md": bindings,
           "doc/abi.md": abi, "README.md": readme, "doc/design.md": design, "debian/control": control,
           "debian/changelog": newest_entry, "bindings/go/README.md": module_path}


def outdated():
    """(file, what it should be) of each that differs."""
    for pattern, write in WRITTEN.items():
        for path in ROOT.glob(pattern):
            text = path.read_text()
            wanted = write(text)
            if wanted != text:
                yield path, wanted


if __name__ == "__main__":
    for path, wanted in outdated():
        path.write_text(wanted)
