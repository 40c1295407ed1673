#!/bin/sh
# SPDX-License-Identifier: MIT
# The npm package, packed and installed by README's first commands and the Node in PATH, with its
# types; and its tests and README's program by the oldest and the newest Node that there are
# (nodes), with WHOLE=1 by each.
. "$(dirname "$0")/../../checks/tap.sh"
cd "$(dirname "$0")/../../.." || exit 1
source=$PWD/bindings/node
BUILD_DIR=${BUILD_DIR:-build}
command -v node >/dev/null && command -v npm >/dev/null || {
	echo "1..0 # SKIP no node or no npm: test/packages/bindings/node.install"
	exit 0
}
test -e "$BUILD_DIR/amalgamation/aspawn.c" || tools/amalgamate.py "$BUILD_DIR/amalgamation"
build=$(realpath "$BUILD_DIR")
installed=$build/bindings/node/installed
package=$installed/node_modules/aspawn
npm_can_fetch() { npm view node-api-headers version >/dev/null 2>&1; }
npm_can_fetch || { echo "1..0 # SKIP npm reaches no registry"; exit 0; }

has_the_version_of_the_library()
{
	grep -q "\"version\": \"$(sed -n 's/^TAG=v//p' RELEASE)\"" "$source/package.json"
}

has_what_the_table_says()
{
	test/packages/bindings/column.py Node | node test/packages/bindings/has.js "$package"
}

# Of a libc it needs what all have, under names without a version.
needs_no_certain_libc()
{
	for addon in "$package"/prebuilds/*/aspawn.node; do
		test -z "$(readelf -dVW "$addon" | grep -E '\(NEEDED\)|[Vv]ersion .*section')" &&
			needed=$(readelf --dyn-syms -W "$addon" | awk '$7 == "UND" && $5 == "GLOBAL" && $8 !~ /^(napi|uv)_/ { print $8 }') &&
			test -z "$(echo "$needed" | grep -vxE 'malloc|calloc|free|memcpy|memset')" || { echo "$addon: $needed"; return 1; }
	done
}

is_installed_without_a_compiler() { test -e "$package/prebuilds" && ! test -e "$package/build"; }

# installs PACKAGE PLATFORM: in a new project, without a compiler, a network and a cache.
installs()
{
	alone=$installed/alone
	rm -rf "$alone" && mkdir -p "$alone/bin" "$alone/project" && cp "$source"/test/*.cjs "$alone/project/" &&
		for tool in node npm sh env sleep true; do ln -s "$(command -v $tool)" "$alone/bin/"; done &&
		cd "$alone/project" && echo '{ "private": true }' >package.json &&
		PATH=$alone/bin PLATFORM=$2 NODE_OPTIONS="-r $alone/project/platform.cjs" npm_config_cache=$alone/cache \
			npm install --offline --foreground-scripts --no-audit --no-fund "$1" >output 2>&1 || { cat output; false; }
}

is_installed_offline()
{
	installs "$(echo "$build"/bindings/node/aspawn-*.tgz)" linux && ! grep 'not compiled' output &&
		test "$(node -p 'require("aspawn").supported')" = true
}

without_addons()
{
	mkdir -p "$installed/none" && tar -xzf "$build"/bindings/node/aspawn-*.tgz -C "$installed/none" &&
		rm -rf "$installed/none/package/prebuilds" && tar -czf "$installed/none.tgz" -C "$installed/none" package
}

# npm's installation succeeds, and says why the addon is not there.
is_installed_without_an_addon()
{
	without_addons && installs "$installed/none.tgz" linux && grep '^aspawn: the addon is not compiled: .* ENOENT' output &&
		node elsewhere.cjs "is not supported here: there is no addon for $(node -p process.arch): install gcc" >output 2>&1 &&
		grep -x 'done' output && test "$(grep -c 'Warning: aspawn is not used: there is no addon' output)" = 1 || { cat output; false; }
}

# Nothing is compiled, and there is no warning. npm itself does not run on a simulated Windows,
# whose paths differ.
is_installed_elsewhere()
{
	without_addons && installs "$installed/none.tgz" "$(echo "$1" | sed s/win32/darwin/)" && ! grep compiled output && export PLATFORM="$1" &&
		node -r ./platform.cjs node_modules/aspawn/build.js >output 2>&1 && ! test -e node_modules/aspawn/build &&
		node -r ./platform.cjs elsewhere.cjs "is on Linux only, not on $1" >>output 2>&1 && test "$(cat output)" = 'done' ||
		{ cat output; false; }
}

is_compiled_where_no_addon_fits()
{
	rm -rf "$installed/other" && mkdir "$installed/other" && cp -R "$package" "$installed/other/aspawn" && cd "$installed/other/aspawn" &&
		rm -rf prebuilds && npm run --silent install && test -e build/aspawn-image &&
		node -e "require('.').promises.exec('echo done', { limits: { core: 0 } }).then(({ stdout }) => process.stdout.write(stdout))" | grep -x 'done'
}

own_tests()
{
	node=$1
	rm -rf "$installed/test" && cp -R "$source/test" "$installed/test" &&
		(cd "$installed" && unset NODE_OPTIONS && timeout 200 "$node" --test --test-reporter=tap test/*.test.js >output 2>&1) ||
		{ grep -A 12 '^ *not ok' "$installed/output"; false; }
}

# Each block of README is a program of its own.
readme_runs()
{
	node=$1
	rm -rf "$installed/readme" && mkdir "$installed/readme" && awk -v to="$installed/readme/" '/^```js$/ { file = to (++n) ".js"; next }
		/^```/ { file = "" } file { print >file }' "$source/README.md" && test -s "$installed/readme/6.js" || return 1
	for program in "$installed"/readme/*.js; do
		(cd "$installed" && timeout 20 "$node" "$program" && timeout 20 "$node" -r aspawn/register "$program") || { echo "$program"; return 1; }
	done
}

# README's first commands, beside this checkout, and its first program there.
begins_with_commands_that_work()
{
	beside=$(mktemp -d) && ln -s "$PWD" "$beside/aspawn" &&
		sed -n '/^```sh/,/^```/{/^```$/q;/^```/d;p}' "$source/README.md" |
		sed "s|\.\./aspawn/build/|$build/|; s|bindings-node|& BUILD_DIR=$build|" >"$beside/commands" &&
		sed -n '/^```js$/,/^```$/{/^```$/q;/^```/d;p}' "$source/README.md" >"$beside/program.js" &&
		grep -q '^npm install' "$beside/commands" && test -s "$beside/program.js" &&
		(
			unset MAKEFLAGS MAKELEVEL
			cd "$beside" && echo 'cp ../program.js . && node program.js' >>commands && timeout 500 sh -e commands
		) >"$beside/output" 2>&1 && grep -x 'done' "$beside/output" && grep -x 'exit 0 null' "$beside/output" ||
		{ tail -20 "$beside/output"; false; }
}

# With their versions, the oldest first.
nodes()
{
	test/packages/bindings/nodes | while read -r node; do echo "$("$node" --version) $node"; done | sort -V |
		if test "${WHOLE:-}"; then cat; else sed -n '1p;$p'; fi
}

execa_is_installed() { (cd "$installed" && npm install --silent --no-audit --no-fund --no-save execa@9); }

pipelines_of_execa_work()
{
	(cd "$installed" && timeout 200 "$1" -r aspawn/register test/pipelines.mjs)
}

other_runtime_is_installed()
{
	mkdir -p "$build/bindings/node/$1" &&
		npm install --silent --no-audit --no-fund --prefix "$build/bindings/node/$1" "$1" >/dev/null 2>&1 &&
		"$build/bindings/node/$1/node_modules/.bin/$1" --version >/dev/null 2>&1
}

# It ends without a signal, having said why once.
other_runtime_has_child_process()
{
	other=$build/bindings/node/$1/node_modules/.bin/$1
	reason="$1 is not Node"
	cp "$source/test/elsewhere.cjs" "$installed/" && cd "$installed" || return 1
	shift
	timeout 60 "$other" "$@" elsewhere.cjs "$reason" >output 2>&1 && grep -x 'done' output &&
		test "$(grep -c 'Warning: aspawn is not used: .* is not Node' output)" = 1 || { tail -20 output; false; }
}

# README's programs and a user's, whose result runs.
types_are_right()
{
	(cd "$installed" && rm -rf out && npm install --silent --no-audit --no-fund --no-save typescript@5 @types/node@20 &&
		cp "$source"/test/*.ts . && npx --no-install tsc --outDir out --strict --module nodenext --target es2022 \
		--allowJs --checkJs types.ts user.ts readme/*.js && timeout 60 node out/user.js | grep -x 'done')
}

check "the version is the library's" has_the_version_of_the_library
check "README's first commands pack and install it: Node $(node --version)" begins_with_commands_that_work
rm -rf "${beside:-}"
check "it has what doc/bindings.md says" has_what_the_table_says
check "its addons need no certain libc" needs_no_certain_libc
check "it is installed without a compiler" is_installed_without_a_compiler
check "it is compiled where no addon fits" is_compiled_where_no_addon_fits
check "it is installed offline" is_installed_offline
check "without an addon and a compiler it is installed, and uses child_process" is_installed_without_an_addon
for platform in darwin win32 freebsd; do
	check "on a simulated $platform it is installed, and uses child_process" is_installed_elsewhere $platform
done
check "execa is installed" execa_is_installed
seen=' '
while read -r version node <&3; do
	seen="$seen${version%%.*} " newest=$node
	check "$version: its own tests pass" own_tests "$node"
	sed -n '/^# \(tests\|pass\|fail\|skipped\) /p' "$installed/output"
	check "$version: README's program runs" readme_runs "$node"
done 3<<END
$(nodes)
END
check "20 pipelines of execa with register, by the newest Node" pipelines_of_execa_work "$newest"
for major in 18 ${WHOLE:+20 22 24} 26; do
	case $seen in *" v$major "*) ;; *) skip "Node $major" "not there: test/packages/bindings/node.install" ;; esac
done
musl=${ASPAWN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/aspawn}/node/musl/node
if "$musl" --version >/dev/null 2>&1; then
	check "$("$musl" --version) with musl: its own tests pass" own_tests "$musl"
else
	skip "a Node with musl" "not there: test/packages/bindings/node.install"
fi
for runtime in 'bun' 'deno run -A'; do
	name=${runtime%% *}
	if other_runtime_is_installed "$name"; then
		# shellcheck disable=SC2086 # a word each
		check "$name has child_process, without the addon" other_runtime_has_child_process $runtime
	else
		skip "$name has child_process, without the addon" "npm has no $name for this machine"
	fi
done
check "its types are right" types_are_right
finish
