#!/bin/sh
# SPDX-License-Identifier: MIT
# The Go module, made from the tree: its tests with the race detector, by Debian's Go, and README's
# program. With WHOLE=1 also by the Go in PATH, if that is another.
. "$(dirname "$0")/../../checks/tap.sh"
cd "$(dirname "$0")/../../.." || exit 1
source=$PWD/bindings/go tests=$PWD/test/packages/bindings
case ${BUILD_DIR:=build} in
/*) ;;
*) BUILD_DIR=$PWD/$BUILD_DIR ;;
esac
export BUILD_DIR GORACE=atexit_sleep_ms=0 GOFLAGS='' GO111MODULE=on GOPROXY=off GOTOOLCHAIN=local
module=$BUILD_DIR/bindings/go
debian=/usr/lib/go-1.19/bin/go
oldest=$debian
test -e "$oldest" || oldest=$(command -v go) || {
	echo "1..0 # SKIP no go: test/packages/bindings/go.install"
	exit 0
}
test -e "$BUILD_DIR/amalgamation/aspawn.c" || tools/amalgamate.py "$BUILD_DIR/amalgamation"

packs()
{
	"$source/pack" "$BUILD_DIR" && test "$(sed -n 's/^go //p' "$module/go.mod")" = 1.19
}

# Each name of its column in doc/bindings.md, as a program.
has_the_names()
{
	path=$(sed -n 's/^module //p' "$module/go.mod")
	mkdir -p "$module/names" && test/packages/bindings/column.py Go | sort -u >"$module/names/list" && test "$(wc -l <"$module/names/list")" -gt 90 &&
		{
			printf 'package main\nimport (\n\taspawn "%s"\n\t"%s/action"\n)\nfunc main() {\n' "$path" "$path"
			sed -E '/^action/s/[._](.)/\u\1/g; s/^action/_ = action./; s/^([A-Z]\w*)\.(.*)/_ = new(aspawn.\1).\2/; s/^[A-Z]\w*$/_ = aspawn.&/' "$module/names/list"
			echo '}'
		} >"$module/names/main.go" && (cd "$module" && "$1" vet ./names)
}

passes()
{
	go=$1
	shift
	(cd "$module" && timeout 400 "$go" test -v "$@" . </dev/null >"$module/output" 2>&1) ||
		{ grep -B 1 -A 20 '^ *--- FAIL\|^panic\|DATA RACE\|^#' "$module/output" || tail -n 20 "$module/output"; return 1; }
	sed -n 's/^ *--- SKIP: \([^ ]*\).*/\1 was skipped/p' "$module/output"
}

cases()
{
	sed -n 's/^|[^|]*| \(Test[A-Za-z0-9_]*\) |.*/\1/p; s/^| \(Test[A-Za-z0-9_]*\) |.*/\1/p' "$source/CASES.md" | sort
}

# What is said to pass has passed, and 80 of 100 of Go 1.19's cases do.
lists_what_passes()
{
	sed -n 's/^|.*[| ]\(Test[A-Za-z0-9_]*\) | passes.*/\1/p' "$source/CASES.md" | sort >"$module/passes" &&
		sed -n 's/^--- PASS: \(Test[A-Za-z0-9_]*\) .*/\1/p' "$module/output" | sort >"$module/passed" &&
		comm -23 "$module/passes" "$module/passed" >"$module/lacking" && ! grep . "$module/lacking" || return 1
	listed=$(sed '/^Of later/,$d' "$source/CASES.md" | grep -c '| Test')
	passing=$(sed '/^Of later/,$d' "$source/CASES.md" | grep -c '| Test.*| passes')
	echo "$passing of $listed"
	test "$listed" -ge 39 && test $((passing * 100)) -ge $((listed * 80))
}

lists_each_case()
{
	sed -n 's/^func \(Test[A-Za-z0-9_]*\)(.*/\1/p' /usr/lib/go-1.19/src/os/exec/*_test.go | grep -vx TestMain | sort >"$module/theirs" &&
		cases | comm -13 - "$module/theirs" >"$module/lacking" && ! grep . "$module/lacking"
}

says_what_it_needs()
{
	for setting in GOOS=windows GOOS=darwin CGO_ENABLED=0; do
		! (cd "$module" && env "$setting" "$1" build . 2>"$module/said") && cat "$module/said" &&
			test "$(grep -c : "$module/said")" = 1 && grep -q 'the package aspawn needs Linux, cgo' "$module/said" || return 1
	done
}

# README's first commands where it says, in a tree like a checkout, and its first program.
begins_with_commands_that_work()
{
	rm -rf "${module:?}/beside" && mkdir "$module/beside" && ln -s "$PWD" "$module/beside/aspawn" &&
		sed -n '/^```sh/,/^```/{/^```$/q;/^```/d;p}' "$source/README.md" >"$module/commands" &&
		grep -q 'go mod edit' "$module/commands" && sed -i "s|\.\./aspawn/build/bindings/go|$module|; /^make/d" "$module/commands" &&
		sed -n '/^```go/,/^```/{/^```$/q;/^```/d;p}' "$source/README.md" >"$module/program" &&
		(
			PATH=${1%/*}:$PATH
			cd "$module/beside" && sh -e "$module/commands" && cd user && cp "$module/program" main.go && go vet . && go run .
		) >"$module/said" 2>&1 || { cat "$module/said"; return 1; }
	test "$(grep -v '^go: ' "$module/said" | tr '\n' ' ')" = 'Linux context deadline exceeded ' || { cat "$module/said"; return 1; }
}

is_formatted()
{
	formatted=$("${1%/*}/gofmt" -l "$source" "$module"/*.go "$module/action" "$module/internal") && test -z "$formatted" || { echo "$formatted"; return 1; }
}

# The differences that README tells, and no others.
does_what_os_exec_does()
{
	beside=$BUILD_DIR/beside-os-exec path=$(sed -n 's/^module //p' "$module/go.mod")
	rm -rf "$beside" && mkdir -p "$beside/os" "$beside/aspawn" && cd "$beside" &&
		printf 'module beside\ngo 1.20\nrequire %s v0.0.0\nreplace %s => %s\n' "$path" "$path" "$module" >go.mod || return 1
	for package in os aspawn; do
		if test $package = os; then import=os/exec; else import=$path; fi
		sed "s|IMPORT|$import|" "$tests/beside/os_exec.go.in" >$package/main.go && "$1" build -o $package/beside ./$package || return 1
	done
	mkdir work && for package in os aspawn; do timeout 200 $package/beside "$beside/work" >$package/results || return 1; done
	grep -c . os/results && diff os/results aspawn/results >differences
	sed -n 's/^\(differs: [^:]*:\).*/\1/p' os/results | while read -r name; do
		grep -q "^> $name" differences || echo "no longer $name"
	done >unexpected
	grep '^[<>]' differences | grep -v '^[<>] differs: ' >>unexpected
	! grep . unexpected
}

# It needs no library but a libc, and lends its functions to nobody.
keeps_its_symbols()
{
	(cd "$module" && "$1" build -o bench bench.go && ! nm -D --defined-only bench | grep ' [TDB] \(aspawn\|psys\)')
}

check "the module is made" packs
check "it has what doc/bindings.md says" has_the_names "$oldest"
check "$("$oldest" version): gofmt" is_formatted "$oldest"
check "$("$oldest" version): its tests with the race detector" passes "$oldest" -race -cpu 1,8
echo "$output" | sed -n 's/^./# &/p'
check "os/exec's cases: what is listed as passing has passed" lists_what_passes
if test -e /usr/lib/go-1.19/src/os/exec/exec_test.go; then
	check "os/exec's cases: each is listed" lists_each_case
else
	skip "os/exec's cases: each is listed" "no sources of Go 1.19"
fi
check "other systems, and no cgo, fail with a sentence" says_what_it_needs "$oldest"
check "README's first commands and its program" begins_with_commands_that_work "$oldest"
check "no symbol of the library is exported" keeps_its_symbols "$oldest"
newest=$(command -v go)
case $("${newest:-$oldest}" version) in
*go1.1?[.\ ]*) skip "the results are those of os/exec" "Go 1.20 is the first with Cancel and WaitDelay" ;;
*) check "$("$newest" version): the results are those of os/exec" does_what_os_exec_does "$newest" ;;
esac
if test -z "${WHOLE:-}"; then
	skip "a newer Go" "with WHOLE=1"
elif test "$("${newest:-$oldest}" version)" = "$("$oldest" version)"; then
	skip "a newer Go" "none in PATH"
else
	check "$("$newest" version): its tests with the race detector" passes "$newest" -race -cpu 1,2,4,8
	check "$("$newest" version): README's first commands and its program" begins_with_commands_that_work "$newest"
fi
finish
