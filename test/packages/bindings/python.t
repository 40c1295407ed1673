#!/bin/sh
# SPDX-License-Identifier: MIT
# The Python package, packed, in a fresh environment: the lines of its README, and its own tests.
# PYTHON=... for another Python than the one that makes the wheel, which is one for all. WHOLE=1
# also runs the standard library's tests of subprocess and asyncio's, test by test as without the
# package; and lets the newest of the Pythons that there are pack the wheel for each, by which all
# these tests run then: PYTHONS="/opt/3.9/bin/python3 python3.13".
. "$(dirname "$0")/../../checks/tap.sh"
cd "$(dirname "$0")/../../.." || exit 1
source=$PWD/bindings/python
packer=/usr/bin/python3
PYTHON=${PYTHON:-$packer}
unset PYTHONPATH PYTHONSAFEPATH PYTHONDONTWRITEBYTECODE

"$packer" -c 'import setuptools, wheel, pip' 2>/dev/null && "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null || {
	echo "1..0 # SKIP no Python with venv, setuptools and wheel: test/packages/bindings/python.install"
	exit 0
}
backend=${ASPAWN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/aspawn}/python
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wheels=$work/python
python=$work/env/bin/python

# README's first commands, but by these Pythons, and to another directory.
first_commands_work()
{
	sed -n '/^```sh/,/^```$/{/^```/d;p}' "$source/README.md" | grep -v '^apt-get' |
		sed "s|build/|$work/|g; s|make wheel|make wheel BUILD_DIR=$work PYTHON=$packer|; s|python3 -m venv|$PYTHON -m venv|" \
			>"$work/commands" && grep '^make wheel' "$work/commands" && (unset MAKEFLAGS MAKELEVEL && sh -eu "$work/commands")
}

files_of() { "$PYTHON" -m zipfile -l "$1" | awk 'NR > 1 { print $1 }' | grep -v dist-info | sort; }

# The wheel for any system is the same without the extension.
any_wheel_has_what_it_should()
{
	files_of "$wheels"/aspawn-*-py3-none-any.whl >"$work/any.files" && grep -v '_aspawn.abi3.so' "$work/files" | diff - "$work/any.files" &&
		"$python" -m pip install --quiet --no-index --target "$work/any" "$wheels"/aspawn-*-py3-none-any.whl
}

# A wheel of the source archive, where there is no compiler.
installs_without_a_compiler()
{
	CC=/no/such/compiler "$packer" -m pip --disable-pip-version-check install --quiet --no-index --no-deps --no-build-isolation \
		--target "$work/none" "$wheels"/aspawn-*.tar.gz && test -e "$work/none/aspawn/aio.py" && ! ls "$work"/none/aspawn/*.so
}

# elsewhere DIRECTORY REASON PROGRAM...: in the package of this directory.
elsewhere()
{
	(cd "$work" && PYTHONPATH=$1 REASON=$2 && export PYTHONPATH REASON && shift 2 && timeout 100 "$PYTHON" -W error "$@")
}

# No other file than its own, and no symbol but the module's.
wheel_has_what_it_should()
{
	files_of "$wheels"/aspawn-*-cp39-abi3-*.whl >"$work/files"
	diff - "$work/files" <<-END || return 1
		aspawn/__init__.py
		aspawn/_action.py
		aspawn/_aspawn.abi3.so
		aspawn/_command.py
		aspawn/_popen.py
		aspawn/_queue.py
		aspawn/_support.py
		aspawn/_terminal.py
		aspawn/_types.py
		aspawn/actions.py
		aspawn/aio.py
		aspawn/constants.py
		aspawn/py.typed
	END
	"$PYTHON" -m zipfile -e "$wheels"/aspawn-*-abi3-*.whl "$work/unpacked" || return 1
	exported=$(nm -D --defined-only "$work/unpacked/aspawn/_aspawn.abi3.so" | awk '{ print $3 }')
	test "$exported" = PyInit__aspawn || { echo "exported: $exported"; return 1; }
}

# The extension needs no library, and only names that both libcs have. auditwheel takes one libc at
# a time, from the name of the file.
fits_both_libcs()
{
	module=$work/unpacked/aspawn/_aspawn.abi3.so
	! readelf -d "$module" | grep NEEDED || return 1
	nm -D --undefined-only "$module" | awk '$1 == "U" && $2 !~ /^_?Py/ { print $2 }' | sort >"$work/names"
	for libc in /lib/ld-musl-*.so.1 "$(gcc -print-file-name=libc.so.6)"; do
		nm -D --defined-only "$libc" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort -u >"$work/defined"
		lacking=$(comm -23 "$work/names" "$work/defined")
		test -z "$lacking" || { echo "$libc lacks: $lacking"; return 1; }
	done
	for tag in manylinux_2_17 musllinux_1_2; do
		test -e "$(echo "$wheels"/aspawn-*"$tag"_*.whl)" || { ls "$wheels"; return 1; }
		cp "$wheels"/aspawn-*-abi3-*.whl "$work/aspawn-1-cp39-abi3-${tag}_$(uname -m).whl"
		PYTHONPATH=$backend "$PYTHON" -m auditwheel show "$work/aspawn-1-cp39-abi3-${tag}_"*.whl >"$work/shown" || return 1
		cat "$work/shown"
		rm "$work/aspawn-1-cp39-abi3-${tag}_"*.whl
		grep -q "tag: *\"${tag%_*}_\|\"${tag%_*}_[0-9]" "$work/shown" && grep -q 'no external versioned' "$work/shown" || return 1
	done
}

# The blocks of README.md, each a program, in an empty directory.
runs_the_readmes_lines()
{
	mkdir -p "$work/readme" && awk -v to="$work/readme/" '/^```python/ { file = to (++n) ".py"; next }
		/^```/ { file = "" } file { print >file }' "$source/README.md" || return 1
	for program in "$work"/readme/*.py; do
		echo "$program:"
		(cd "$work/readme" && "$python" -W error "$program") || return 1
	done
	test "$(find "$work/readme" -name '*.py' | wc -l)" -ge 3
}

has_what_the_table_says()
{
	test/packages/bindings/column.py Python | (cd "$work" && "$python" "$source/../../test/packages/bindings/has.py")
}

types_fit()
{
	cat >"$work/given.py" <<-END
		import aspawn
		from aspawn import actions, aio
		process: aspawn.Popen[str] = aspawn.Popen(["true"], text=True, actions=[actions.chdir("/")], limits={0: (1, 2)})
		other: aspawn.Popen[bytes] = aspawn.Popen("true", cgroup="/sys", owner="private")
		third: aspawn.Popen[str] = aspawn.Popen("true", -1, None, encoding="utf-8")
		wrong: aspawn.Popen[bytes] = aspawn.Popen("true", actions=["chdir"])  # type: ignore
		none: aspawn.Popen[bytes] = aspawn.Popen("true", owner="none")  # type: ignore
		def text() -> str:
		    return aspawn.check_output(["true"], text=True)
		def data() -> bytes:
		    return aspawn.run(["true"], stdout=aspawn.PIPE, input=b"").stdout
		def coded() -> str:
		    return aspawn.run("true", shell=True, encoding="utf-8", input="", owner="tree").stdout
		def perhaps(flag: bool) -> None:
		    aspawn.run("true", text=flag).stdout.title()
		aspawn.run(["true"], inptu=b"")  # type: ignore[call-overload]
		aspawn.check_output(["true"], timout=1)  # type: ignore[call-overload]
		aspawn.Popen(["true"], actoins=[])  # type: ignore[call-overload]
		aspawn.call(["true"], cdw="/")  # type: ignore[call-arg]
		aspawn.check_call(["true"], owner="privat")  # type: ignore[arg-type]
		async def main() -> None:
		    await aio.create_subprocess_exec("true", stdout=-1, cwd="/", actions=[actions.umask(0)])
		    await aio.create_subprocess_shell("true", None, cdw="/")  # type: ignore[call-arg]
		with aspawn.Queue(8) as queue:
		    print(queue.submit(["true"], timeout=1.5).result().usage.ru_utime)
		    queue.submit(["true"], timeout="1")  # type: ignore[arg-type]
		    queue.submit(None, prepared=queue.prepare(["true"], env={"A": "b"}), priority=3)
		    error = queue.submit(["unmae"]).exception()
		    failure, result = aspawn.failure_of(error), aspawn.result_of(error)
		    print(failure and failure.text, result and result.text, aspawn.supported)
	END
	unpack='--enable-incomplete-feature=Unpack' # of old versions
	(
		cd "$work" && export MYPYPATH="$work/unpacked" && mypy --strict "$unpack" "$source/tests/user.py" && mypy --strict "$unpack" -p aspawn &&
			for program in given.py readme/*.py; do mypy --strict "$unpack" "$program" || exit 1; done
	)
}

own_tests()
{
	(cd "$work" && timeout 240 "$python" -W error "$source/tests/$1")
}

# Version and path of each Python from 3.9, the oldest first.
pythons()
{
	for one in ${PYTHONS:-"$PYTHON" "$packer" "$(pyenv root)"/versions/*/bin/python3}; do
		"$one" -Wignore -c 'import sys, ensurepip, venv
if sys.version_info >= (3, 9): print("%d.%d" % sys.version_info[:2], sys.executable)'
	done 2>/dev/null | sort -u -V -k 1,1
}

packs_by()
{
	PYTHONPATH=$backend PYTHON=$1 "$source/pack" "$work/newest"
}

installs_in()
{
	"$1" -m venv "$2" && "$2/bin/pip" install --quiet --no-index --find-links "$work/newest" aspawn
}

standard_tests()
{
	(cd "$work" && timeout 900 "$python" "$source/tests/stdlib.py" test.test_subprocess test.test_asyncio.test_subprocess \
		>"$work/standard" && cat "$work/standard" && ! grep '^not ok' "$work/standard")
}

# By $python, in which the package is.
compares_with_subprocess()
{
	if "$python" -c 'import test.test_subprocess' 2>/dev/null; then
		check "$1: the standard library's tests have the same results" standard_tests
		echo "$output" | sed -n 's/^ok [0-9]* - /# /p'
	else
		skip "$1: the standard library's tests" "it has none: test/packages/bindings/python.install"
	fi
}

# The stable ABI as the headers of the newest have it, in what is older.
newest_serves_the_oldest()
{
	newest=$(pythons | tail -n 1) oldest=$(pythons | head -n 1)
	if test "${newest% *}" = "${oldest% *}"; then
		skip "the newest Python's wheel in the oldest" "only one Python from 3.9: ${newest#* }"
		return
	elif ! test -e "$backend"; then
		skip "the newest Python's wheel in the oldest" "no setuptools for it: test/packages/bindings/python.install"
		return
	fi
	check "a wheel is made by ${newest% *}" packs_by "${newest#* }"
	pythons >"$work/pythons"
	while read -r version path; do
		python=$work/$version/bin/python
		check "it is installed in $version" installs_in "$path" "$work/$version"
		for tests in references.py user.py test_aspawn.py test_queue.py test_beside.py; do
			check "$version with the wheel of ${newest% *}: $tests" own_tests $tests
		done
		test "$version" = "$1" || compares_with_subprocess "$version"
	done <"$work/pythons"
}

# The newest Python there is, which may be newer than $PYTHON, with the unpacked wheel.
interpreters_have_it()
{
	PYTHONPATH=$work/unpacked timeout 100 "$1" "$source/tests/test_aspawn.py" Interface
}

check "README's first commands make a wheel, and install it" first_commands_work
check "it has the module, for each Python from 3.9, and the library hidden in it" wheel_has_what_it_should
check "a second wheel has no extension" any_wheel_has_what_it_should
check "it is installed where there is no compiler" installs_without_a_compiler
for directory in any none; do
	check "without an extension it uses subprocess ($directory)" elsewhere "$work/$directory" \
		'is not supported here: there is no extension for .* pip install --no-binary' "$source/tests/test_elsewhere.py"
done
for platform in darwin win32 freebsd14; do
	# On Windows subprocess itself does some things otherwise.
	for tests in test_elsewhere.py $(test $platform = win32 || echo test_beside.py); do
		check "on a simulated $platform it uses subprocess: $tests" elsewhere "$work/any" "is on Linux only, not on $platform" \
			"$source/tests/simulated.py" $platform "$source/tests/$tests"
	done
done
check "before Linux 5.1, on 32 bits, it uses subprocess" elsewhere "$work/unpacked" \
	'is not supported here: the kernel is older than Linux 5.1: 4.19' "$source/tests/simulated.py" old "$source/tests/test_elsewhere.py"
if PYTHONPATH=$backend "$PYTHON" -c 'import auditwheel' 2>/dev/null && test -e "$(echo /lib/ld-musl-*.so.1)"; then
	check "one extension serves glibc and musl" fits_both_libcs
else
	skip "one extension serves glibc and musl" "no auditwheel, or no musl: test/packages/bindings/python.install"
fi
check "it has what doc/bindings.md says" has_what_the_table_says
check "README's lines run" runs_the_readmes_lines
for tests in test_aspawn.py test_queue.py test_beside.py references.py user.py; do
	check "its own tests: $tests" own_tests $tests
	echo "$output" | sed -n 's/^\(Ran .*\|OK.*\|Python .*\)/# \1/p'
done
if command -v mypy >/dev/null; then
	check "the types" types_fit
else
	skip "the types" "no mypy"
fi
newest=$(pythons | tail -n 1)
if test "$(printf '3.12\n%s\n' "${newest% *}" | sort -V | head -n 1)" = 3.12; then
	check "interpreters of Python ${newest% *} with their own locks have it" interpreters_have_it "${newest#* }"
else
	skip "interpreters with their own locks" "the newest Python is ${newest% *}"
fi
test -z "${WHOLE:-}" || {
	version=$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
	compares_with_subprocess "$version"
	newest_serves_the_oldest "$version"
}
finish
