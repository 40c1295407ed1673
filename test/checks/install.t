#!/bin/sh
# make install, for a packager and for a user.
. "$(dirname "$0")/tap.sh"
build=${BUILD_DIR:-build}
cc=${CC:-clang}
nm=${NM:-llvm-nm}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/program.c" <<'C'
#include <aspawn/aspawn.h>
#include <syscall/syscall.h>
static ASPAWN_CHILD int child(void *arg, int fd, void *mask, void *data, size_t length)
{
	(void)arg, (void)fd, (void)mask, (void)data, (void)length;
	return 42;
}
int main(void)
{
	struct Stack_t stack = { 0 };
	pid_t pid;
	int status;
	if (aspawn(&pid, &stack, 4096, child, NULL, NULL, 0) < 0 || psys_wait4(pid, &status, 0, NULL) != pid)
		return 1;
	return PSYS_WEXITSTATUS(status) == 42 && !aspawn_stack_free(&stack) ? 0 : 2;
}
C

installs()
{
	make -s install BUILD_DIR="$build" DESTDIR="$1" PREFIX="$2"
}

# Files under DESTDIR refer to PREFIX only.
staged()
{
	installs "$work/stage" /opt/aspawn &&
		test -f "$work/stage/opt/aspawn/include/aspawn/aspawn.h" &&
		test -f "$work/stage/opt/aspawn/include/syscall/arch/x86_64/call.h" &&
		test -f "$work/stage/opt/aspawn/lib/libaspawn.a" &&
		test -e "$work/stage/opt/aspawn/lib/libaspawn.so" &&
		! grep -r "$work" "$work/stage/opt/aspawn/lib/pkgconfig"
}

installed_flags()
{
	PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig pkg-config --cflags --libs aspawn
}

# With the installed headers and libraries alone, found by pkg-config.
builds_by_pkg_config()
{
	installs "" "$work/prefix" &&
		flags=$(installed_flags) &&
		(cd "$work" && $cc program.c $flags -o shared && LD_LIBRARY_PATH=$work/prefix/lib ./shared) &&
		(cd "$work" && $cc program.c $flags -static -o static 2>/dev/null && ./static)
}

# Every exported function except the wrappers of system calls.
functions()
{
	$nm -D --defined-only "$build/libaspawn.so" | sed -n 's/.* \(aspawn[^@]*\).*/\1/p'
	echo psys_search_begin psys_search_next psys_search_continue psys_find_exe psys_handle_execve_err psys_execvpe psys_execve_or_shell psys_getenv \
		psys_errname psys_strerror psys_clone_thunk psys_clone3_thunk psys_syscall psys_stat psys_fstatat psys_getrlimit
}

man_pages_are_found()
{
	for page in psys $(functions); do
		man -M "$work/prefix/share/man" -w "$page" &&
			man -M "$work/prefix/share/man" "$page" | grep -qi "$page(" || return 1
	done
}

# In this directory, as a link page includes man3/PAGE.
man_pages_have_no_warning()
{
	! (cd "$work/prefix/share/man" && groff -man -ww -z man3/*.3 2>&1) | grep .
}

# builds_program_of PAGE: builds the example of the page as $work/PAGE, in the oldest C that the
# headers support
builds_program_of()
{
	sed -n '/^\.SH EXAMPLES/,/^\.EE/p' "$work/prefix/share/man/man3/$1.3" |
		sed -e '/^\./d' -e 's/\\e/\\/g' -e 's/\\-/-/g' >"$work/$1.c" &&
		flags=$(installed_flags) &&
		(cd "$work" && $cc -std=c99 -Wall -Wextra -Wpedantic -Werror "$1.c" $flags -static -o "$1")
}

programs_in_manual_run()
{
	for page in psys aspawn aspawn_start aspawn_run aspawn_action; do
		builds_program_of $page || return 1
	done
	(cd "$work" && ./psys psys.c >copy && cmp psys.c copy &&
		! ./psys missing 2>error && grep -x "no such file or directory" error &&
		./aspawn >output && grep -x hello output &&
		./aspawn_start >output && grep -x "ls: exit 0" output &&
		./aspawn_run >output && grep -x "$(uname -sr)" output &&
		./aspawn_action >output && grep -x 10 output &&
		! ./aspawn_action /no/such/directory 2>error &&
		grep -x 'not started: action 0, chdir "/no/such/directory": ENOENT' error)
}

uninstalls()
{
	make -s uninstall BUILD_DIR="$build" DESTDIR="" PREFIX="$work/prefix" &&
		test -z "$(find "$work/prefix" -type f -o -type l)"
}

check "install uses DESTDIR and PREFIX" staged
check "programs build by pkg-config and run, shared and static" builds_by_pkg_config
check "the programs in the manual run" programs_in_manual_run
if command -v man >/dev/null; then
	check "man finds a page for each function" man_pages_are_found
else
	skip "man finds a page for each function" "no man command"
fi
if command -v groff >/dev/null; then
	check "man pages cause no warning" man_pages_have_no_warning
else
	skip "man pages cause no warning" "no groff command"
fi
check "uninstall leaves nothing" uninstalls
finish
