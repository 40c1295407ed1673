#!/bin/sh
# SPDX-License-Identifier: MIT
# programs.sh PRELOAD DIRECTORY
# Measures programs that start others, by hyperfine: without the preload, with it, and with
# ASPAWN_PRELOAD=once, in alternating order, so that changes of the machine's load affect all.
# DIRECTORY has the benchmarks' programs, and gets programs/*.json, a file for each row.
set -eu
preload=$1
here=$(cd "$2" && pwd)
results=$here/programs
tree=$here/tree
rm -rf "$results" "$tree"
mkdir -p "$results" "$tree/text" "$tree/code"
command -v hyperfine >/dev/null || { echo "skipped programs with and without the preload: no hyperfine"; exit 0; }

# compare NAME PREPARE COMMAND
compare()
{
	program=${3%% *}
	command -v "$program" >/dev/null || { echo "skipped $1: no $program"; return; }
	set -- "$1" "$2" "env LD_PRELOAD= $3" "env LD_PRELOAD=$preload $3" "env ASPAWN_PRELOAD=once LD_PRELOAD=$preload $3"
	echo "$1"
	hyperfine -N --style none --warmup 1 --runs 4 --prepare "$2" --export-json "$results/$1.json" \
		"$3" "$4" "$5" "$5" "$4" "$3" "$3" "$4" "$5" "$5" "$4" "$3" >"$results/log" 2>&1 || { cat "$results/log"; exit 1; }
}

for i in $(seq 500); do
	echo "document $i" >"$tree/text/$i.txt"
done
for i in $(seq 60); do
	echo "int value_$i(int x) { return x * $i; }" >"$tree/code/$i.c"
done
cat >"$tree/Makefile" <<'M'
texts := $(patsubst text/%,out/%,$(wildcard text/*))
objects := $(patsubst code/%.c,out/%.o,$(wildcard code/*.c))
copied: $(texts)
compiled: $(objects)
out/%.txt: text/%.txt
	cp $< $@
out/%.o: code/%.c
	$(CC) -c -o $@ $<
M
{
	printf 'rule copy\n  command = cp $in $out\nrule compile\n  command = cc -c -o $out $in\n'
	for i in $(seq 500); do echo "build out/$i.txt: copy text/$i.txt"; done
	for i in $(seq 60); do echo "build out/$i.o: compile code/$i.c"; done
	echo "build copied: phony $(seq -f 'out/%g.txt' -s ' ' 500)"
	echo "build compiled: phony $(seq -f 'out/%g.o' -s ' ' 60)"
} >"$tree/build.ninja"
cat >"$tree/posix_spawn.py" <<'P'
import subprocess
for _ in range(500):
    subprocess.run(["/bin/true"], close_fds=False, check=True)
P
cat >"$tree/default.py" <<'P'
import subprocess
for _ in range(500):
    subprocess.run(["/bin/true"], check=True)
P
echo 'for _ = 1, 500 do local file = io.popen("/bin/echo a line") assert(file:read("l") == "a line") file:close() end' >"$tree/popen.lua"
echo 'BEGIN { for (i = 0; i < 500; i++) if (system("/bin/true")) exit 1 }' >"$tree/system.awk"

# Runtimes that call posix_spawn. Each program starts COUNT children one after the other. At the end
# it writes the median time of a child until it is reaped, in microseconds.
# COUNT PROGRAM [MIB [DESCRIPTORS]]: memory and descriptors of the parent.
cat >"$tree/spawns.py" <<'P'
import os, resource, statistics, subprocess, sys, time
count, program, mib, descriptors = int(sys.argv[1]), sys.argv[2], *map(int, (sys.argv[3:] + ["0", "0"])[:2])
memory = b"x" * (mib << 20)
if descriptors:
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
for _ in range(descriptors):
    os.dup(0)
times = []
for _ in range(count):
    begin = time.perf_counter()
    subprocess.run([program], check=True)
    times.append(time.perf_counter() - begin)
print(statistics.median(times) * 1e6)
P
cat >"$tree/spawns.rs" <<'P'
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let mut times: Vec<f64> = Vec::new();
    for _ in 0..arguments[1].parse().unwrap() {
        let begin = std::time::Instant::now();
        assert!(std::process::Command::new(&arguments[2]).status().unwrap().success());
        times.push(begin.elapsed().as_secs_f64());
    }
    times.sort_by(|a, b| a.total_cmp(b));
    println!("{}", times[times.len() / 2] * 1e6);
}
P
rust=rustc # reported as missing if it is
if command -v rustc >/dev/null; then
	rustc -O -o "$here/rust" "$tree/spawns.rs"
	rust=$here/rust
fi

# Since 3.13 subprocess calls posix_spawn. Uses the Python of bench/compat/fetch, or the host's.
fetched=${ASPAWN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/aspawn}/python
if [ -d "$fetched" ]; then
	loader=$(find "$fetched/usr/lib64" -name 'ld-linux*')
	newer="env PYTHONHOME=$fetched/usr $loader --library-path $(dirname "$(find "$fetched/usr/lib" -name libc.so.6)") $fetched/usr/bin/python3.13"
else
	newer=$(python3.13 -c 'import sys; print(sys.executable)' 2>/dev/null || echo python3.13)
fi

# runtime NAME COMMAND: runs it 15 times without and with the preload, alternating.
runtime()
{
	program=${2%% *}
	command -v "$program" >/dev/null || { echo "skipped $1: no $program"; return; }
	echo "$1"
	for i in $(seq 15); do
		# shellcheck disable=SC2086 # a word each
		echo "$1	$($2 | tail -n 1)	$(LD_PRELOAD=$preload $2 | tail -n 1)"
	done >>"$results/runtimes"
}
runtime "Python 3.13, subprocess.run" "$newer $tree/spawns.py 400 $here/child"
runtime "the same, 1 GiB touched" "$newer $tree/spawns.py 400 $here/child 1024"
runtime "the same, 19 000 descriptors" "$newer $tree/spawns.py 100 $here/child 0 19000"
runtime "Rust, Command::status" "$rust 400 $here/child"

# The interpreter itself, not a script that looks for it.
python=$(python3 -c 'import sys; print(sys.executable)' || echo python3)
clean="sh -c 'rm -rf $tree/out $tree/.ninja_log && mkdir $tree/out'"
compare "a C program with posix_spawn, 2000 static children" true "$here/launch 2000 0 $here/child"
compare "the same with 200 MiB touched" true "$here/launch 2000 200 $here/child"
compare "the same, 500 times true of coreutils" true "$here/launch 500 200 /bin/true"
compare "Lua, io.popen, 500 commands" true "lua5.4 $tree/popen.lua"
compare "awk, system, 500 commands" true "awk -f $tree/system.awk"
compare "Python, subprocess with close_fds=False, 500 commands" true "$python $tree/posix_spawn.py"
compare "Python, subprocess, 500 commands" true "$python $tree/default.py"
compare "GNU make, 500 files copied" "$clean" "make -s -j2 -C $tree copied"
compare "GNU make, 60 C files compiled" "$clean" "make -s -j2 -C $tree compiled"
compare "ninja, 500 files copied" "$clean" "ninja --quiet -C $tree copied"
compare "ninja, 60 C files compiled" "$clean" "ninja --quiet -C $tree compiled"
rm -rf "$tree" "$results/log"
