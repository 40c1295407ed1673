#!/bin/sh
# SPDX-License-Identifier: MIT
# Crates that are written for std::process and tokio::process, with those names replaced in their
# `use` lines and paths: they compile, and pass their own tests.
. "$(dirname "$0")/../../../checks/tap.sh"
cd "$(dirname "$0")/../../../.." || exit 1
aspawn=$PWD/bindings/rust/aspawn
work=$(realpath "${BUILD_DIR:-build}")/crates-of-others
newest=$(cargo --version 2>/dev/null | awk '{ split($2, v, "."); print v[1] * 1000 + v[2] }')
test "${newest:-0}" -ge 1077 || {
	echo "1..0 # SKIP no cargo that is new enough for the crates: 1.77"
	exit 0
}
export CARGO_TARGET_DIR="$work/target"

mkdir -p "$work/versions/src" && : >"$work/versions/src/lib.rs"
cat >"$work/versions/Cargo.toml" <<X
[package]
name = "versions"
version = "0.0.0"
[dependencies]
duct = "=1.1.2"
os_pipe = "=1.2.3"
process-wrap = { version = "=8.2.2", features = ["std", "tokio1"] }
shared_child = "=1.1.2"
tokio = "=1.54.1"
xshell = "=0.2.7"
[workspace]
X
cat >"$work/uses.sed" <<'X'
/^[[:space:]]*\/\//b
s/\bstd::process::/aspawn::process::/
s/\btokio::process::/aspawn::tokio::process::/
# A line of a group, or a name in one, becomes a line of its own.
s/^use tokio::\{process::(\w+), (.*)$/use aspawn::tokio::process::\1;\nuse tokio::{\2/
/^use tokio::\{/,/^\}/s/^\t* *process::(.*),$/};\nuse aspawn::tokio::process::\1;\nuse tokio::{/
/^\tpub use std::\{/,/\};/s/^\t* *process::(.*),$/};\npub use aspawn::process::\1;\npub use std::{/
s/^( +|\t+)process::(.*),$/};\nuse aspawn::process::\2;\nuse std::{/
s/^(\t?(pub )?use )(std::\{.*), process::(\w+)(.*)\};$/\1\3\5};\n\1aspawn::process::\4;/
# aspawn's Stdio converts from all that has a descriptor, and two such conversions conflict.
/^impl From<Pipe(Reader|Writer)> for Stdio/,/^\}/d
X

fetches()
{
	rm -rf "$work/vendor" && (cd "$work/versions" && cargo vendor --quiet "$work/vendor" >/dev/null)
}

# In a workspace, as duct needs the other two. Their tests look for programs in ./target.
replaces_the_names()
{
	rm -rf "$work/tests" && mkdir -p "$work/tests/tokio-process/src" "$work/tests/tokio-process/tests" || return 1
	for crate in duct os_pipe process-wrap shared_child xshell; do
		cp -R "$work/vendor/$crate" "$work/tests" || return 1
		rm -f "$work/tests/$crate/Cargo.lock" "$work/tests/$crate/.cargo-checksum.json"
		printf '\n[dependencies.aspawn]\npath = "%s"\nfeatures = ["tokio"]\n' "$aspawn" >>"$work/tests/$crate/Cargo.toml"
		ln -s ../../target "$work/tests/$crate/target"
	done
	: >"$work/tests/tokio-process/src/lib.rs"
	cp "$work"/vendor/tokio/tests/process_*.rs "$work/tests/tokio-process/tests" &&
		cat >"$work/tests/tokio-process/Cargo.toml" <<-X &&
			[package]
			name = "tokio-process"
			version = "0.0.0"
			edition = "2021"
			[features]
			default = ["full", "process"]
			full = []
			process = []
			[dependencies]
			aspawn = { path = "$aspawn", features = ["tokio"] }
			futures = "0.3"
			libc = "0.2"
			tokio = { version = "=1.54.1", features = ["full"] }
			tokio-test = "0.4"
		X
		cat >"$work/tests/Cargo.toml" <<-X &&
			[workspace]
			resolver = "2"
			members = ["*"]
			[patch.crates-io]
			os_pipe = { path = "os_pipe" }
			shared_child = { path = "shared_child" }
		X
		find "$work/tests" -name '*.rs' ! -path '*/data/*' ! -name '*windows*' -exec sed -i -E -f "$work/uses.sed" {} +
}

# passes CRATE ARGUMENTS...: some of their tests sleep instead of waiting, and have two more
# attempts. duct's leave processes behind, also with std: timeout leads their group.
passes()
{
	for _ in 1 2 3; do
		(cd "$work/tests" && exec timeout 300 cargo test --quiet -p "$@") >"$work/log" 2>&1 &
		wait $!
		status=$?
		kill -s KILL -- -$! 2>/dev/null
		test $status -eq 0 && return
	done
	tail -30 "$work/log"
	return 1
}

mkdir -p "$work"
check "the crates are fetched" fetches
check "their uses of std::process and tokio::process are replaced" replaces_the_names
check "xshell's tests" passes xshell --lib --test it -- --skip tidy --skip compile_failures
check "duct's tests, with os_pipe and shared_child" passes duct --lib --bins
check "shared_child's tests" passes shared_child --lib
# What is left out runs a script that needs the newest cargo of all.
check "process-wrap's tests, of std and of tokio" passes process-wrap --all-features --test std_unix --test tokio_unix -- --skip multiproc
check "tokio's tests of processes" passes tokio-process --tests
finish
