#!/bin/sh
# SPDX-License-Identifier: MIT
# The built and installed drop-ins, and unchanged programs.
. "$(dirname "$0")/../checks/tap.sh"
build=${BUILD_DIR:-build}
cc=${CC:-clang}
nm=${NM:-llvm-nm}
ar=${AR:-llvm-ar}
preload=$(realpath "$build")/libaspawn-preload.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

replaced='posix_spawnp?|posix_spawn_file_actions_[a-z0-9_]+|pidfd_spawnp?|popen|pclose|system'

exports_what_it_replaces()
{
	! $nm -D --defined-only "$preload" | awk '{ print $3 }' | grep -v -x -E "$replaced"
}

needs_the_libc_only()
{
	! llvm-readelf --dynamic "$preload" | grep NEEDED | grep -v -E '\[(libc\.|ld-linux|libpthread\.)'
}

# A program that loads a library without the note has no shadow stack.
allows_shadow_stacks()
{
	case $(uname -m) in
	x86_64) features="IBT, SHSTK" ;;
	*) features="BTI, PAC" ;;
	esac
	llvm-readelf --notes "$preload" | grep "feature: $features" &&
		test "$(llvm-readelf --notes "$build/libaspawn-compat.a" | grep -c "feature: $features")" -eq \
			"$($ar t "$build/libaspawn-compat.a" | wc -l)"
}

archive_names_are_its_own()
{
	! $nm --extern-only --defined-only "$build/libaspawn-compat.a" | awk 'NF == 3 { print $3 }' |
		grep -v -x -E "$replaced|aspawn_compat_[a-z_]+|popen_noshell(_compat|_vmfork|_[gs]et_fork_mode)?|pclose_noshell"
}

# All functions of the host's libc that use a list of file actions.
replaces_all_file_actions()
{
	$nm -D --defined-only "$(ldd "$(command -v sh)" | awk '/libc\.so/ { print $3 }')" |
		grep -o 'posix_spawn_file_actions_[a-z0-9_]*' | sort -u >"$work/libc"
	$nm -D --defined-only "$preload" | grep -o 'posix_spawn_file_actions_[a-z0-9_]*' | sort -u >"$work/ours"
	test -s "$work/libc" && ! comm -23 "$work/libc" "$work/ours" | grep .
}

cat >"$work/program.c" <<'C'
#include <popen_noshell.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
int main(void)
{
	struct popen_noshell_pass_to_pclose arg;
	char line[16], *argv[] = { "sh", "-c", "exit 7", NULL };
	int status;
	pid_t pid;
	posix_spawn_file_actions_t actions;
	FILE *file = popen_noshell_compat("echo words", "r", &arg);

	if (!file || !fgets(line, sizeof line, file) || strcmp(line, "words\n") || pclose_noshell(&arg))
		return 1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", 0, 0);
	if (posix_spawnp(&pid, "sh", &actions, NULL, argv, NULL) || waitpid(pid, &status, 0) != pid || status != 7 << 8)
		return 2;
	posix_spawn_file_actions_destroy(&actions);
	file = popen("/bin/echo words", "r");
	if (!file || !fgets(line, sizeof line, file) || strcmp(line, "words\n") || pclose(file))
		return 3;
	return system("exit 5") == 5 << 8 ? 0 : 4;
}
C

# The drop-ins are linked instead of the libc's functions.
# shellcheck disable=SC2086 # flags, a word each
builds_by_pkg_config()
{
	make -s install-compat BUILD_DIR="$build" PREFIX="$work/prefix" DESTDIR= &&
		flags=$(PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig pkg-config --cflags --libs aspawn-compat) || return 1
	for kind in "" -static "-fuse-ld=lld -Wl,--as-needed"; do
		(cd "$work" && $cc $kind program.c $flags -pthread -o program &&
			LD_LIBRARY_PATH=$work/prefix/lib ./program &&
			$nm program | grep -q ' T aspawn_compat_spawn$') || return 1
	done
}

uninstalls()
{
	make -s uninstall BUILD_DIR="$build" DESTDIR= PREFIX="$work/prefix" &&
		test -z "$(find "$work/prefix" -type f -o -type l)"
}

# Otherwise the libc would call functions that are unmapped.
cat >"$work/unloads.c" <<'C'
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int status = argc;
	void *library = dlopen(argv[1], RTLD_NOW);
	int (*call)(const char *) = library ? (int (*)(const char *))dlsym(library, "system") : 0;
	if (!call || call("exit 3") != 3 << 8 || dlclose(library))
		return 1;
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	return waitpid(pid, &status, 0) != pid || status;
}
C

is_unloaded_without_harm()
{
	$cc -o "$work/unloads" "$work/unloads.c" -ldl && "$work/unloads" "$preload"
}

# Programs written for the original rely on <unistd.h> of its header, and use their own flags only.
cat >"$work/written-for-it.c" <<'C'
#include "popen_noshell.h"
int main(void)
{
	struct popen_noshell_pass_to_pclose arg;
	const char *const argv[] = { "cat", NULL };
	FILE *file = popen_noshell("cat", argv, "r", &arg, 0);
	return !file || isatty(fileno(file)) || getppid() == arg.pid || pclose_noshell(&arg);
}
C

# shellcheck disable=SC2086 # flags, a word each
builds_what_was_written_for_it()
{
	for flags in -std=gnu99 -std=gnu11 "-x c++"; do
		$cc -Wall -Wextra -Werror -Icompat/popen_noshell/include $flags -c "$work/written-for-it.c" -o "$work/object" || return 1
	done
}

# same FUNCTION COMMAND...: the program binds the function of the preload, and its output is the
# same as without the preload.
same()
{
	function=$1
	shift
	"$@" >"$work/without" 2>&1
	echo "status $?" >>"$work/without"
	LD_PRELOAD=$preload "$@" >"$work/with" 2>&1
	echo "status $?" >>"$work/with"
	cmp "$work/without" "$work/with" || { diff "$work/without" "$work/with"; return 1; }
	LD_DEBUG=bindings LD_BIND_NOW=1 LD_PRELOAD=$preload "$@" 2>&1 |
		grep -q "libaspawn-preload.so \[0\]: normal symbol .$function'"
}

# children_have SETTING LD_PRELOAD EXPECTED: the LD_PRELOAD that children of the program see.
children_have()
{
	test "$(ASPAWN_PRELOAD=$1 LD_PRELOAD=$2 sh -c env | sed -n 's/^LD_PRELOAD=//p')" = "$3"
}

only_once()
{
	children_have "" "$preload" "$preload" && children_have twice "$preload" "$preload" &&
		children_have once "$preload" "" && children_have once "libc.so.6 $preload:libm.so.6" "libc.so.6:libm.so.6"
}

program()
{
	name=$1
	shift
	if command -v "$3" >/dev/null; then
		check "$name" "$@"
	else
		skip "$name" "not installed"
	fi
}

cat >"$work/Makefile" <<'M'
all: a b c
	@cat a b c; echo $(shell echo from a shell; echo and more)
a:
	@echo a >$@
b: a
	cp $< $@
c: b
	-@/no/such/program
	-@exit 3
	@kill -TERM $$$$; echo not reached
	@echo c >$@
M
cat >"$work/spawns.py" <<'P'
import os, signal, sys
def spawn(*args, **more):
    try:
        pid = os.posix_spawn("/bin/sh", ["sh", "-c", *args], os.environ, **more)
        print(os.waitpid(pid, 0)[1], flush=True)
    except OSError as error:
        print(error, flush=True)
null = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0), (os.POSIX_SPAWN_DUP2, 1, 5), (os.POSIX_SPAWN_CLOSE, 1)]
spawn("exit 3")
spawn("echo written >&5; echo refused", file_actions=null)
spawn("exit 3", file_actions=[(os.POSIX_SPAWN_DUP2, 99, 1)])
spawn("exit 3", file_actions=[(os.POSIX_SPAWN_OPEN, 0, "/no/such/file", os.O_RDONLY, 0)])
spawn("test $(cut -d' ' -f6 /proc/$$/stat) = $$", setsid=True)
spawn("test $(cut -d' ' -f5 /proc/$$/stat) = $$", setpgroup=0)
spawn("kill -TERM $$; exit 4", setsigdef=[signal.SIGTERM], setsigmask=[])
spawn("exit 5", resetids=True)
print(os.system("exit 6"), os.system("/bin/echo words"), os.system("no-such-program"), flush=True)
import subprocess
print(subprocess.run(["/bin/echo", "words"], close_fds=False, capture_output=True).stdout)
P
# Lua reads errno after a status that is not 0.
cat >"$work/executes.lua" <<'L'
print(os.execute("grep -q x /dev/null"))
print(os.execute("/bin/sh -c 'exit 3'"))
print(io.popen("grep -q x /dev/null"):close())
print(io.popen("grep -q x", "w"):close())
L
printf '%s\n' "/bin/echo words" "echo words | tr a-z A-Z" "no-such-program" "exit 3" >"$work/commands"

check "the preload exports only the functions that it replaces" exports_what_it_replaces
check "the preload replaces all functions of file actions" replaces_all_file_actions
check "the preload needs only the libc" needs_the_libc_only
case $(uname -m) in
x86_64 | aarch64) check "the preload allows shadow stacks" allows_shadow_stacks ;;
*) skip "the preload allows shadow stacks" "no such notes on this architecture" ;;
esac
check "archive names are prefixed" archive_names_are_its_own
check "ASPAWN_PRELOAD=once: children do not load the preload" only_once
check "a program may load and unload the preload, and fork" is_unloaded_without_harm
check "programs written for popen_noshell compile" builds_what_was_written_for_it
if command -v pkg-config >/dev/null; then
	check "pkg-config finds it; shared and static programs run" builds_by_pkg_config
	check "uninstall leaves nothing" uninstalls
else
	skip "pkg-config finds it" "no pkg-config"
	skip "uninstall leaves nothing" "no pkg-config"
fi
program "GNU make" same posix_spawn make -C "$work" -B --no-print-directory
program "Python" same posix_spawn python3 "$work/spawns.py"
program "awk" same system awk 'BEGIN { print system("exit 3"), system("/bin/false"), system("/bin/echo a b"), system("none") }'
program "Lua" same system lua5.4 "$work/executes.lua"
program "sed" same popen sed -n '{ e
	p }' "$work/commands"
finish
