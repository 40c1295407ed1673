#!/bin/sh
# SPDX-License-Identifier: MIT
# The npm package, packed and installed by the Node in PATH, with its types; and, by each Node that there
# is (nodes), its tests and README's program.
. "$(dirname "$0")/../checks/tap.sh"
cd "$(dirname "$0")/../.." || exit 1
source=$PWD/bindings/node
BUILD_DIR=${BUILD_DIR:-build}
command -v node >/dev/null && command -v npm >/dev/null || {
	echo "1..0 # SKIP no node or no npm: test/bindings/node.install"
	exit 0
}
test -e "$BUILD_DIR/amalgamation/aspawn.c" || tools/amalgamate.py "$BUILD_DIR/amalgamation"
installed=$(realpath "$BUILD_DIR")/bindings/node/installed
npm_can_fetch() { npm view node-api-headers version >/dev/null 2>&1; }
npm_can_fetch || { echo "1..0 # SKIP npm reaches no registry"; exit 0; }

version=$(sed -n 's/^TAG=v//p' RELEASE)
has_the_version_of_the_library()
{
	grep -q "\"version\": \"$version\"" "$source/package.json"
}

# The kinds of lib/actions.js and what src/arguments.c handles are those of action.h.
has_the_numbers_of_actions()
{
	node -e "
		const { action } = require('$source/lib/actions.js');
		const header = require('fs').readFileSync('include/aspawn/action.h', 'utf8');
		const names = Object.fromEntries([...header.matchAll(/ASPAWN_ACTION_(\w+) = (\d+)/g)].map(m => [m[2], m[1]]));
		const special = { open: 'OPENAT', closeFrom: 'CLOSEFROM' };
		for (const name of Object.keys(action)) {
			const made = { mount: ['', '', ''], user: [1, 1], open: [1, ''], dup2: [1, 1], rlimit: [1, 1],
				setenv: ['', ''], write: ['', ''] }[name] ?? [1];
			let kind;
			try { [kind] = action[name](...made); } catch { [kind] = action[name](''); }
			const upper = special[name] ?? name.replace(/[A-Z]/g, '_\$&').toUpperCase();
			if (names[kind] !== upper) { console.log(name, kind, names[kind]); process.exitCode = 1; }
			if (!require('fs').readFileSync('$source/src/arguments.c', 'utf8').includes('case ASPAWN_ACTION_' + upper + ':')) {
				console.log('no case for', upper); process.exitCode = 1; }
		}"
}

own_tests()
{
	node=$1
	rm -rf "$installed/test" && cp -R "$source/test" "$installed/test" &&
		(cd "$installed" && unset NODE_OPTIONS && timeout 100 "$node" --test --test-reporter=tap test/spawn.test.js test/queue.test.js >output 2>&1) ||
		{ grep -A 12 '^ *not ok' "$installed/output"; false; }
}

readme_runs()
{
	node=$1
	sed -n '/^```js$/,/^```$/{/^```/d;p}' "$source/README.md" >"$installed/readme.js" && test -s "$installed/readme.js" &&
		(cd "$installed" && timeout 20 "$node" readme.js && timeout 20 "$node" -r aspawn/register readme.js)
}

# README's first commands, where it says, and its first program there.
begins_with_commands_that_work()
{
	beside=$(mktemp -d) && mkdir "$beside/aspawn" && tar --exclude=./.git --exclude=./build* -cf - . | tar -xf - -C "$beside/aspawn" &&
		sed -n '/^```sh/,/^```/{/^```$/q;/^```/d;p}' "$source/README.md" >"$beside/commands" &&
		sed -n '/^```js$/,/^```$/{/^```$/q;/^```/d;p}' "$source/README.md" >"$beside/program.js" &&
		grep -q '^npm install' "$beside/commands" && test -s "$beside/program.js" &&
		(
			unset BUILD_DIR MAKEFLAGS MAKELEVEL
			cd "$beside" && echo 'cp ../program.js . && node program.js' >>commands && timeout 500 sh -e commands
		) >"$beside/output" 2>&1 && grep -x 'done' "$beside/output" && grep -x 'exit 0 null' "$beside/output" ||
		{ tail -20 "$beside/output"; false; }
}

execa_is_installed() { (cd "$installed" && npm install --silent --no-audit --no-fund --no-save execa@9); }

pipelines_of_execa_work()
{
	(cd "$installed" && timeout 200 "$1" -r aspawn/register test/pipelines.mjs)
}

types_are_right()
{
	(cd "$installed" && npm install --silent --no-audit --no-fund --no-save typescript@5 @types/node@20 &&
		cp "$source/test/types.ts" . && npx --no-install tsc --noEmit --strict --skipLibCheck --module nodenext --target es2022 types.ts)
}

check "the version is the library's" has_the_version_of_the_library
check "actions have the library's numbers" has_the_numbers_of_actions
check "it is packed and installed: Node $(node --version)" "$source/pack" "$BUILD_DIR"
check "README begins with commands that work" begins_with_commands_that_work
rm -rf "${beside:-}"
check "execa is installed" execa_is_installed
seen=' '
while read -r node <&3; do
	seen="$seen$("$node" --version | cut -d . -f 1) "
	check "$("$node" --version): its own tests pass" own_tests "$node"
	sed -n '/^# \(tests\|pass\|fail\|skipped\) /p' "$installed/output"
	check "$("$node" --version): README's program runs" readme_runs "$node"
	check "$("$node" --version): 200 pipelines of execa with register" pipelines_of_execa_work "$node"
done 3<<END
$(test/bindings/nodes)
END
for major in 18 20 22 24 26; do
	case $seen in *" v$major "*) ;; *) skip "Node $major" "not there: test/bindings/node.install" ;; esac
done
check "its types are right" types_are_right
finish
