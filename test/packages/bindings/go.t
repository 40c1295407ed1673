#!/bin/sh
# SPDX-License-Identifier: MIT
# The Go module, made from the tree: its tests without cgo, and with the race detector, by Debian's
# Go, and README's program. With WHOLE=1 also by the Go in PATH, if that is another.
. "$(dirname "$0")/../../checks/tap.sh"
cd "$(dirname "$0")/../../.." || exit 1
source=$PWD/bindings/go tests=$PWD/test/packages/bindings
case ${BUILD_DIR:=build} in
/*) ;;
*) BUILD_DIR=$PWD/$BUILD_DIR ;;
esac
export BUILD_DIR GORACE=atexit_sleep_ms=0 GOFLAGS='' GO111MODULE=on GOPROXY=off GOTOOLCHAIN=local
module=$BUILD_DIR/bindings/go again=$BUILD_DIR/block-again
debian=/usr/lib/go-1.19/bin/go
oldest=$debian
test -e "$oldest" || oldest=$(command -v go) || {
	echo "1..0 # SKIP no go: test/packages/bindings/go.install"
	exit 0
}
test -e "$BUILD_DIR/amalgamation/aspawn.c" || tools/amalgamate.py "$BUILD_DIR/amalgamation"

# The module, and a program with it.
packs()
{
	"$source/pack" "$BUILD_DIR" && test "$(sed -n 's/^go //p' "$module/go.mod")" = 1.19 && mkdir "$module/static" &&
		printf 'package main\nimport aspawn "%s"\nfunc main() { aspawn.Command("true").Run() }\n' \
			"$(sed -n 's/^module //p' "$module/go.mod")" >"$module/static/main.go"
}

# One compiler makes the same bytes anywhere.
makes_the_same_block()
{
	rm -rf "$again" && mkdir "$again" && "$source/generate.py" doc/interface.json "$again" "$again/interface.h" &&
		"$source/block/block.py" "$BUILD_DIR/amalgamation" "$again/interface.h" "$again" || return 1
	for architecture in amd64 arm64; do
		cmp "$again/code_$architecture.s" "$module/internal/block/code_$architecture.s" &&
			cmp "$again/entries_$architecture.go" "$module/internal/block/entries_$architecture.go" || return 1
	done
}

# refuses WHAT EXPRESSION FILE: block.py fails, and says what, if sed's expression changes this file
# of it.
refuses()
{
	rm -rf "$again/block" && cp -R "$source/block" "$again" && sed -i "$2" "$again/block/$3" && ! cmp -s "$again/block/$3" "$source/block/$3" &&
		! "$again/block/block.py" "$BUILD_DIR/amalgamation" "$again/interface.h" "$again" 2>"$again/said" && cat "$again/said" && grep -q "$1" "$again/said"
}

refuses_unfit_code()
{
	refuses 'uses x28' 's/"-ffixed-x28", //; s/"amd64": .*//' block.py && refuses 'has data' '$a static int words[2]; ENTRY(word) { return words[of->number[0]]++; }' block.c &&
		refuses 'R_X86_64_64\|has data' '$a int near; ENTRY(near) { void *at; __asm__("movabs $near, %0" : "=r"(at)); return (int64_t)at; }' block.c
}

# has_the_block GO: a program that this Go builds has the bytes of the library's block. Go 1.19's
# assembler for arm64 once changed zeros.
has_the_block()
{
	for architecture in amd64 arm64; do
		(cd "$module" && CGO_ENABLED=0 GOARCH=$architecture "$1" build -o "static/$architecture" ./static) &&
			python3 - "$module" $architecture <<-'END' || return 1
				import re, sys
				module, architecture = sys.argv[1:]
				sizes = {"QUAD": 8, "DWORD": 8, "WORD": 4}
				words = re.findall(r"(QUAD|D?WORD) \$(\w+)", open(f"{module}/internal/block/code_{architecture}.s").read())
				block = b"".join((int(value, 16) % 256 ** sizes[name]).to_bytes(sizes[name], "little") for name, value in words)
				sys.exit(len(block) < 50000 or block not in open(f"{module}/static/{architecture}", "rb").read())
			END
	done
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

# The package and README's program, where os/exec starts the programs.
builds_elsewhere()
{
	for system in darwin/arm64 windows/amd64 linux/386 ${WHOLE:+freebsd/amd64 linux/arm linux/riscv64}; do
		(
			export CGO_ENABLED=0 GOOS="${system%/*}" GOARCH="${system#*/}"
			cd "$module" && "$1" vet . ./action && cd beside/user && "$1" vet . && "$1" build -o elsewhere .
		) || { echo "on $system"; return 1; }
	done
}

without_the_library()
{
	(CGO_ENABLED=0 GOARCH=386 && export CGO_ENABLED GOARCH && passes "$1")
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

# Without a C compiler. The program is static.
needs_no_compiler()
{
	(
		PATH=${1%/*} CGO_ENABLED=0 CC=none
		export PATH CGO_ENABLED CC
		cd "$module" && go build -o static/program ./static && GOARCH=arm64 go vet . ./action ./internal/...
	) && ! readelf -lW "$module/static/program" | grep INTERP
}

# The block links in each kind of file. Their functions start a program.
links_as()
{
	rm -rf "${module:?}/kind" && mkdir "$module/kind" && path=$(sed -n 's/^module //p' "$module/go.mod") && cd "$module/kind" &&
		printf 'module kind\ngo 1.19\nrequire %s v0.0.0\nreplace %s => ../\n' "$path" "$path" >go.mod &&
		cat >kind.go <<-END &&
			package main

			import "C"
			import (
				"os"

				aspawn "$path"
			)

			//export Started
			func Started() C.int {
				c := aspawn.Command("true")
				c.Owner = aspawn.OwnerTree
				if c.Run() != nil {
					return 1
				}
				return 0
			}

			func Exit() { os.Exit(int(Started())) }

			func main() {}
		END
		if test "$2" = c-shared; then
			"$1" build -buildmode=c-shared -o library.so . && echo 'int Started(void); int main(void) { return Started(); }' >main.c &&
				gcc -o main main.c ./library.so && ./main
		else
			mkdir main && cat >main/main.go <<-END && "$1" build -buildmode=plugin -o plugin.so . && "$1" build -o opens ./main && ./opens
				package main

				import "plugin"

				func main() {
					opened, err := plugin.Open("plugin.so")
					if err != nil {
						panic(err)
					}
					exit, err := opened.Lookup("Exit")
					if err != nil {
						panic(err)
					}
					exit.(func())()
				}
			END
		fi
}

as_pie()
{
	(CGO_ENABLED=0 && export CGO_ENABLED && passes "$1" -buildmode=pie -short -run 'Signals|Private|Queue')
}

without_cgo()
{
	(CGO_ENABLED=0 && export CGO_ENABLED && passes "$@")
}

check "the module is made" packs
check "the block of code is the same again" makes_the_same_block
check "no block has data, relocations, or a use of the register of g" refuses_unfit_code
check "the block is in a program as it was compiled, for amd64 and arm64" has_the_block "$oldest"
check "it has what doc/bindings.md says" has_the_names "$oldest"
check "$("$oldest" version): gofmt" is_formatted "$oldest"
check "$("$oldest" version): its tests with the race detector" passes "$oldest" -race -short -cpu 8
check "$("$oldest" version): some of its tests as a position-independent program" as_pie "$oldest"
check "$("$oldest" version): its tests without cgo" without_cgo "$oldest" -cpu 1,8
echo "$output" | sed -n 's/^./# &/p'
check "os/exec's cases: what is listed as passing has passed" lists_what_passes
if test -e /usr/lib/go-1.19/src/os/exec/exec_test.go; then
	check "os/exec's cases: each is listed" lists_each_case
else
	skip "os/exec's cases: each is listed" "no sources of Go 1.19"
fi
check "README's first commands and its program" begins_with_commands_that_work "$oldest"
check "the package and README's program for other systems" builds_elsewhere "$oldest"
if test "$("$oldest" env GOHOSTARCH)" = amd64; then
	check "os/exec's cases on 386, without the library" without_the_library "$oldest"
else
	skip "os/exec's cases on 386, without the library" "another machine"
fi
check "a build without a C compiler" needs_no_compiler "$oldest"
for kind in c-shared plugin; do
	check "the module in a file for -buildmode=$kind" links_as "$oldest" $kind
done
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
	check "$("$newest" version): its tests without cgo" without_cgo "$newest" -cpu 1,2,4,8
	check "$("$newest" version): its tests with the race detector" passes "$newest" -race -short -cpu 8
	check "$("$newest" version): README's first commands and its program" begins_with_commands_that_work "$newest"
fi
finish
