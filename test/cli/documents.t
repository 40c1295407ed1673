#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `aspawn --help` says is what aspawn(1) and the completions say: the same options, the same
of them with a value, the same exit codes. The shells themselves are asked what they complete.
"""
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
ASPAWN = Path(os.environ.get("BUILD_DIR", "build")).resolve() / "cli/aspawn"
COMPLETIONS = ROOT / "cli/completions"
number = 0


def result(name, problems):
    global number
    number += 1
    print(f"{'not ok' if problems else 'ok'} {number} - {name}")
    for problem in problems[:30]:
        print(f"# {problem}")
    sys.stdout.flush()


def skip(name, reason):
    global number
    number += 1
    print(f"ok {number} - {name} # SKIP {reason}")


def differences(found, wanted):
    return [f"missing: {name}" for name in sorted(wanted - found)] + \
        [f"too many: {name}" for name in sorted(found - wanted)]


def output(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=60).stdout


def options_of(text):
    """{option: whether it has a value}, of lines as "  -t, --timeout DURATION  what it does"."""
    found = {}
    for line in re.findall(r"(?m)^ +(-\S.*?)(?:  .*)?$", text):
        has_value = False
        # a letter has the value that is shown after the long name
        for option in reversed(line.split(", ")):
            name, _, value = option.partition(" ")
            has_value = bool(value) or has_value and not name.startswith("--")
            found[name] = has_value
    return found


def of_page():
    """The options that head a paragraph."""
    found = {}
    for line in re.findall(r"(?m)^\.TP(?: \d+)?\n(.*)", (ROOT / "doc/aspawn.1").read_text()):
        plain = re.sub(r'\\f.|"', "", line).replace("\\-", "-")
        has_value = bool(re.search(r" [A-Z]+", plain.split(" ", 1)[1]))
        for name in re.findall(r"(?<![\w-])--?[a-zA-Z][a-z-]*", plain):
            found[name] = has_value
    return found


def of_result():
    """The members that its section RESULT names."""
    text = re.search(r"(?ms)^\.SH RESULT\n(.*?)^\.SH", (ROOT / "doc/aspawn.1").read_text())[1]
    heads = re.findall(r"(?m)^\.TP\n\.(?:I|IR) (.*)", text)
    return {name for head in heads for name in re.findall(r"[a-z_]+", head)}


def valued(text):
    """Of lines with an option, or with "value" before it."""
    lines = text.split("\n")
    return {name: f"value {name}" in lines for name in lines if name.startswith("-")}


def of_bash():
    script = f"""compopt() {{ :; }}
. '{COMPLETIONS}/aspawn.bash'
COMP_WORDS=(aspawn -) COMP_CWORD=1
_aspawn
printf '%s\\n' "${{COMPREPLY[@]}}"
for option in "${{COMPREPLY[@]}}"; do
    COMP_WORDS=(aspawn "$option" "") COMP_CWORD=2 COMPREPLY=() option=$option
    _aspawn
    [[ " ${{COMPREPLY[*]}} " == *" true "* ]] || echo "value $option"
done"""
    return valued(output("bash", "--norc", "-c", script))


def of_zsh():
    script = f"""_arguments() {{ print -rl -- "$@" }}
functions[_aspawn]=$(<'{COMPLETIONS}/_aspawn')
_aspawn"""
    found = {}
    for line in output("zsh", "-f", "-c", script).split("\n"):
        option = re.match(r"(?:\*|\([^)]*\))?(-\w|--[a-z-]+)([+=]?)\[", line)
        if option:
            found[option[1]] = bool(option[2])
    return found


def of_fish():
    script = f"""source '{COMPLETIONS}/aspawn.fish'
function __fish_complete_command; echo true; end
for option in (complete -C 'aspawn -'; complete -C 'aspawn --')
    set option (string split -f 1 \\t -- $option)
    printf '%s\\n' $option
    complete -C "aspawn $option tru" | string match -qr '^true\\b'; or echo "value $option"
end"""
    return valued(output("fish", "--no-config", "-c", script))


def same_options(name, found, wanted):
    result(name, differences(set(found), set(wanted)) or
           [f"{option}: a value" for option in wanted if found[option] != wanted[option]])


def page_codes():
    text = (ROOT / "doc/aspawn.1").read_text()
    table = re.search(r"(?s)^\.SH EXIT STATUS\n\.EX\n(.*?)^\.EE", text, re.MULTILINE)[1]
    return set(re.findall(r"^.{37}(12[4-7]|137|128)\b", table.replace("\\&", "").replace("\\-", "-"), re.MULTILINE))


def main():
    ran = subprocess.run([ASPAWN, "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
    result("--help is on standard output", [ran.stderr] if ran.returncode or ran.stderr else [])
    text = ran.stdout
    wide = [line for line in text.splitlines() if len(line) > 80]
    result("--help has 40 lines of 80 columns", wide or [len(text.splitlines())] * (len(text.splitlines()) > 40))
    wanted = options_of(text)
    is_read = len(wanted) > 25 and wanted.get("--timeout") and not wanted.get("--pty")
    result("--help has options", [] if is_read else [wanted])
    members = json.loads(output(ASPAWN, "--json", "/dev/stdout", "true"))
    result("aspawn(1) has the members of the result", differences(of_result(), set(members)))
    same_options("aspawn(1) has the options of --help", of_page(), wanted)
    # Those of the table that the command makes by itself.
    result("aspawn(1) has the exit codes of --help",
           differences(page_codes(), {code for code in ("124", "125", "126", "127", "128", "137") if code in text}))
    for shell, read in (("bash", of_bash), ("zsh", of_zsh), ("fish", of_fish)):
        if shutil.which(shell):
            same_options(f"{shell} completes the options of --help", read(), wanted)
        else:
            skip(f"{shell} completes the options of --help", f"no {shell} command")
    limits = {name for name, of in re.findall(r"[\t,] ?RESOURCE\((\w+), (\w+)\)", (ROOT / "cli/options.c").read_text())
              if name == of.lower()}
    for name in ("aspawn.bash", "_aspawn", "aspawn.fish"):
        found = re.search(r"\bas core cpu [a-z ]*stack\b", (COMPLETIONS / name).read_text())
        result(f"{name} has the limits of --rlimit", differences(set(found[0].split() if found else []), limits))


main()
print(f"1..{number}")
