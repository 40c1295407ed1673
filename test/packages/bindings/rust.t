#!/bin/sh
# SPDX-License-Identifier: MIT
# The crates, packed: README's program in a project of Debian 12's cargo, with nothing fetched; then
# their tests, by Debian's rustc, the oldest that SUPPORT.md promises,
# and with the versions of the lock file.
. "$(dirname "$0")/../../checks/tap.sh"
cd "$(dirname "$0")/../../.." || exit 1
source=$PWD/bindings/rust
case ${BUILD_DIR:=build} in
/*) ;;
*) BUILD_DIR=$PWD/$BUILD_DIR ;;
esac
export BUILD_DIR RELEASE="$PWD/RELEASE"
work=$BUILD_DIR/crates
debian=/usr/bin/cargo

command -v cargo >/dev/null || {
	echo "1..0 # SKIP no cargo"
	exit 0
}

packs()
{
	rm -rf "$work/unpacked" && mkdir -p "$work/unpacked" && "$source/pack" "$work" &&
		for crate in "$work"/aspawn-*.crate; do tar -xf "$crate" -C "$work/unpacked" || return 1; done
	grep -c "^homepage = \"$(sed -n 's/^ADDRESS=//p' "$RELEASE")\"" "$work"/unpacked/*/Cargo.toml | grep -c ':1$' | grep -qx 2
}

# The program in README FILE.
program_of()
{
	{
		echo 'fn main() -> aspawn::Result<()> {'
		sed -n '/^```rust/,/^```/{/^```$/q;/^```/d;p}' "$1"
		echo '}'
	} | sed 's/^# //'
}

# README's first commands, where it says, and its first program.
begins_with_commands_that_work()
{
	rm -rf "$work/beside" && mkdir -p "$work/beside" && ln -s "$PWD" "$work/beside/aspawn" &&
		{
			echo 'set -e'
			sed -n '/^```sh/,/^```/{/^```$/q;/^```/d;p}' "$source/README.md"
			echo 'cat >src/main.rs; echo "[workspace]" >>Cargo.toml; cargo run --quiet'
		} >"$work/beside/commands" && grep -q '^cargo add' "$work/beside/commands" &&
		program_of "$source/README.md" |
		(cd "$work/beside" && CARGO_TARGET_DIR="$work/newest" timeout 500 sh commands)
}

# README's first program as a project of its own, with no lock file,
# which knows the unpacked crates alone.
builds_with_the_oldest_rust_in_a_new_project()
{
	rm -rf "$work/user" && mkdir -p "$work/user/src" &&
		cat >"$work/user/Cargo.toml" <<-END &&
			[package]
			name = "user"
			version = "0.1.0"
			edition = "2021"
			[dependencies]
			aspawn = { path = "$work/unpacked/aspawn-$version", default-features = false, features = ["std"] }
			[patch.crates-io]
			aspawn-sys = { path = "$work/unpacked/aspawn-sys-$version" }
			[workspace]
		END
		sed -i '/^\[dependencies.tokio\]/,/^$/d; /^\[dev-dependencies/,/^$/d; /^tokio = /,/^]/d' \
			"$work/unpacked/aspawn-$version/Cargo.toml" &&
		program_of "$work/unpacked/aspawn-$version/README.md" >"$work/user/src/main.rs" &&
		(cd "$work/user" && env -u RUSTUP_TOOLCHAIN RUSTC=/usr/bin/rustc CARGO_TARGET_DIR="$work/user/target" \
			"$debian" --offline --config "$work/debian.toml" run --quiet)
}

# replaced_by DIRECTORY: cargo's settings with these crates in place of the registry's.
replaced_by()
{
	mkdir -p "$1" && printf '[source.crates-io]\nreplace-with = "files"\n[source.files]\ndirectory = "%s"\n' "$1"
}

# Another tree, for a cargo that can fetch nothing: without what the feature tokio needs,
# and the lock file.
links_a_tree_without_tokio()
{
	rm -rf "$work/tree" && mkdir -p "$work/tree/bindings" &&
		ln -s "$PWD/doc" "$PWD/tools" "$PWD/include" "$PWD/syscall" "$PWD/aspawn" "$PWD/command" "$PWD/queue" \
			"$PWD/LICENSE" "$work/tree" &&
		cp -R "$source" "$work/tree/bindings" && source=$work/tree/bindings/rust &&
		rm -rf "$source/Cargo.lock" "$source/aspawn/tests/tokio.rs" "$source/target" &&
		sed -i '/^tokio = /d; /^futures-core = /d' "$source/aspawn/Cargo.toml"
}

passes_its_tests_without_tokio()
{
	# shellcheck disable=SC2086 # words
	(cd "$source" && export CARGO_TARGET_DIR="$work/oldest" && timeout 500 $CARGO test --quiet && $CARGO doc --quiet --no-deps)
}

fetches()
{
	(cd "$source" && cargo vendor --quiet --locked "$work/vendor" >/dev/null) &&
		replaced_by "$work/vendor" >"$work/vendor.toml"
}

passes_its_tests()
{
	(cd "$source" && env -u RUSTUP_TOOLCHAIN RUSTC=/usr/bin/rustc RUSTDOC=/usr/bin/rustdoc CARGO_TARGET_DIR="$work/oldest" \
		timeout 500 "$debian" --offline --config "$work/vendor.toml" test --quiet --all-features --locked)
}

# A difference to the std of tomorrow.
passes_the_newest_rusts_tests_beside_std()
{
	(cd "$source" && CARGO_TARGET_DIR="$work/newest" timeout 500 cargo test --quiet --locked -p aspawn --test as_std --test command)
}

# As if on another system: the tests beside std again, and what only such a system has.
passes_its_tests_as_if_elsewhere() # CARGO...
{
	(cd "$source" && ASPAWN_ELSEWHERE=1 CARGO_TARGET_DIR="$work/elsewhere" timeout 500 "$@" test --quiet --locked --all-features \
		-p aspawn --test as_std --test elsewhere)
}
has_no_warning_elsewhere()
{
	(cd "$source" && ASPAWN_ELSEWHERE=1 CARGO_TARGET_DIR="$work/elsewhere" cargo clippy --quiet --locked --all-features --all-targets -- \
		-D warnings)
}
# The standard library's sources are there with rustup's component rust-src:
# no other target has its own here.
checks_for() # TARGET
{
	(cd "$source/aspawn" && RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR="$work/targets" RUSTFLAGS="-D warnings" timeout 500 cargo check --quiet \
		--locked -Z build-std=std,panic_abort --target "$1" --all-features)
}

builds_without_std()
{
	(cd "$source" && CARGO_TARGET_DIR="$work/newest" cargo check --quiet --locked -p aspawn \
		--no-default-features)
}

has_no_warning()
{
	(cd "$source" && CARGO_TARGET_DIR="$work/newest" && export CARGO_TARGET_DIR &&
		cargo fmt --all --check &&
		RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --all-features --no-deps)
}

# rustdoc has a page for each type, whose methods, variants and fields are marks in it.
documents()
{
	of=${1%::*} name=${1##*::} && of=${of##*::}
	case $1 in
	*::*) grep -lqrE "id=\"(method|variant|structfield)\.$name\"" --include="*.$of.html" --include="*.${of}Of.html" "$2" ||
		test -e "$(find "$2" -path "*/$of/*.$name.html" -o -path "*/aspawn_$of/*.$name.html" | head -n 1)" ;;
	*) test -e "$(find "$2/aspawn" -name "*.$name.html" | head -n 1)" ;;
	esac || echo "it has not: $1"
}

# In the directory of the documentation.
has_what_the_table_says()
{
	test/packages/bindings/column.py Rust >"$work/names" && test "$(wc -l <"$work/names")" -gt 50 &&
		! while read -r name; do documents "$name" "$1"; done <"$work/names" | grep .
}

# rustc compares the two declarations of each function, and all that they lead to.
declares_what_the_headers_do()
{
	declarations=$work/unpacked/aspawn-sys-$version/src/lib.rs
	LIBCLANG_PATH=${LIBCLANG_PATH:-/usr/lib/llvm-14/lib} bindgen include/aspawn/queue.h --no-layout-tests --size_t-is-usize \
		--allowlist-function 'aspawn_.*' --allowlist-type 'aspawn_.*' --opaque-type aspawn_action \
		--blocklist-function 'aspawn_(with|stack|clone|private).*' -- -Iinclude \
		>"$work/bindgen.rs" || return 1
	{
		echo '#![allow(warnings)] #![deny(clashing_extern_declarations)]'
		echo 'mod generated { include!("bindgen.rs"); }'
		echo 'mod own {'
		sed '/^#!\[/d; /^\/\/!/d' "$declarations"
		echo '}'
	} >"$work/clash.rs"
	rustc --edition 2021 --crate-type lib --emit metadata -o "$work/clash.rmeta" "$work/clash.rs" || return 1
	# Each function of the headers is there; those of aspawn/aspawn.h are for C alone.
	grep -ohE 'PSYS_API.* \*?aspawn_[a-z0-9_]+\(' include/aspawn/command.h include/aspawn/action.h include/aspawn/queue.h |
		grep -oE 'aspawn_[a-z0-9_]+' | sort -u | tee "$work/functions" |
		while read -r name; do grep -q "fn $name(" "$declarations" || echo "$name"; done |
		grep . && return 1
	grep -q aspawn_action_nice "$work/functions" && grep -q aspawn_queue_submit "$work/functions"
}

version=$(sed -n 's/^TAG=v//p' RELEASE)
has_the_version_of_the_library()
{
	test "$(grep -c "^version = \"$version\"" "$source"/aspawn*/Cargo.toml | grep -c ':1$')" = 2 &&
		grep -q "aspawn-sys = { version = \"$version\"" "$source/aspawn/Cargo.toml"
}

# Without what only debuggers and later builds read.
export CARGO_PROFILE_DEV_DEBUG=0 CARGO_INCREMENTAL=0
mkdir -p "$work"
replaced_by "$work/no-crates" >"$work/debian.toml"
newest=$(cargo --version | awk '{ split($2, v, "."); print v[1] * 1000 + v[2] }')
make -s "$BUILD_DIR/amalgamation/aspawn.c" >&2

check "the version is the library's" has_the_version_of_the_library
if [ "$newest" -ge 1070 ]; then
	check "the crates are packed" packs
	check "README's program in a new project of Debian's cargo, with nothing fetched" builds_with_the_oldest_rust_in_a_new_project
	check "README begins with commands that work" begins_with_commands_that_work
	check "what the lock file names is there" fetches
	check "the tests, by $("$debian" --version)" passes_its_tests
	check "the tests beside std, by $(cargo --version)" passes_the_newest_rusts_tests_beside_std
	check "the tests as if on another system, by $(cargo --version)" passes_its_tests_as_if_elsewhere cargo
	check "no warning of clippy as if on another system" has_no_warning_elsewhere
	for target in x86_64-apple-darwin x86_64-unknown-freebsd x86_64-pc-windows-msvc; do
		if [ ! -e "$(rustc --print sysroot)/lib/rustlib/src/rust/library/Cargo.lock" ]; then
			skip "cargo check for $target" "no rust-src"
		elif [ $target = x86_64-pc-windows-msvc ] || [ "${MATRIX-}" = all ]; then
			check "cargo check for $target" checks_for $target
		else
			skip "cargo check for $target" "MATRIX=all"
		fi
	done
	check "no_std" builds_without_std
	check "no warning of rustdoc, and formatted" has_no_warning
	check "it has what doc/bindings.md says" has_what_the_table_says "$work/newest/doc"
else
	CARGO="cargo --offline --config $work/debian.toml"
	export CARGO
	links_a_tree_without_tokio
	check "the crates are packed, without the feature tokio" packs
	check "README's program in a new project of Debian's cargo, with nothing fetched" builds_with_the_oldest_rust_in_a_new_project
	check "the tests without the feature tokio, by $(cargo --version)" passes_its_tests_without_tokio
	check "it has what doc/bindings.md says" has_what_the_table_says "$work/oldest/doc"
	skip "the feature tokio" "$(cargo --version) cannot fetch what the lock file names"
fi
if command -v bindgen >/dev/null; then
	check "the declarations are those of the headers" declares_what_the_headers_do
else
	skip "the declarations are those of the headers" "no bindgen"
fi
finish
