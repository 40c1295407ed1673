#!/bin/sh
# SPDX-License-Identifier: MIT
# CPython, by its own suite: the modules that start programs.
. "$(dirname "$0")/compare.sh"
python=${PYTHON:-/usr/bin/python3}
needs "$python"
"$python" -c "import test.test_os" 2>/dev/null || skip_all "$python has no tests: test/users/programs/install python"

modules="test_asyncio.test_subprocess test_cmd_line test_fork1 test_os test_pipes test_popen test_posix
	test_pty test_shlex test_subprocess"

results()
{
	# shellcheck disable=SC2086 # a word each
	preloaded "$python" -m test --junit-xml results.xml $modules >output 2>&1
	"$python" - <<'P'
import xml.etree.ElementTree
for case in xml.etree.ElementTree.parse("results.xml").iter("testcase"):
    outcomes = [child.tag for child in case if child.tag in ("error", "failure", "skipped")]
    print(case.get("name").replace(" ", "_"), outcomes[0] if outcomes else "passed", sep="\t")
P
}

binds "posix_spawn posix_spawnp system" "$python" --version
same "CPython $("$python" -c 'import platform; print(platform.python_version())')" 800
finish
