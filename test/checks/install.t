#!/bin/sh
# SPDX-License-Identifier: MIT
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
	return PSYS_WEXITSTATUS(status) == 42 && !aspawn_stack_release(&stack) ? 0 : 2;
}
C

# Not into the cache of this machine's linker.
export LDCONFIG=false

# installs DESTDIR PREFIX [TARGET]
installs()
{
	make -s "${3:-install}" BUILD_DIR="$build" DESTDIR="$1" PREFIX="$2"
}

# Files under DESTDIR refer to PREFIX only.
staged()
{
	installs "$work/stage" /opt/aspawn &&
		test -f "$work/stage/opt/aspawn/include/aspawn/aspawn.h" &&
		test -f "$work/stage/opt/aspawn/include/syscall/arch/x86_64/call.h" &&
		for name in libaspawn libpsys; do
			test -f "$work/stage/opt/aspawn/lib/$name.a" && test -e "$work/stage/opt/aspawn/lib/$name.so" || return 1
		done &&
		for name in interface.json interface.schema.json; do
			cmp "doc/$name" "$work/stage/opt/aspawn/share/aspawn/$name" || return 1
		done &&
		"$work/stage/opt/aspawn/bin/aspawn" -t 10 true &&
		for file in bash-completion/completions/aspawn zsh/site-functions/_aspawn fish/vendor_completions.d/aspawn.fish; do
			test -s "$work/stage/opt/aspawn/share/$file" || return 1
		done &&
		! grep -r "$work" "$work/stage/opt/aspawn/lib/pkgconfig"
}

# As a distribution has it: a directory of libraries for each architecture.
honours_directories()
{
	make -s install install-compat BUILD_DIR="$build" DESTDIR="$work/multiarch" PREFIX=/usr LIBDIR=/usr/lib/some-linux-gnu \
			INCLUDEDIR=/opt/headers MANDIR=/usr/man DATADIR=/opt/data BINDIR=/opt/programs &&
		(cd "$work/multiarch" && test -x opt/programs/aspawn && test -f opt/data/aspawn/interface.json && test -f usr/lib/some-linux-gnu/libaspawn.a && test -f opt/headers/aspawn/aspawn.h &&
			test -f usr/man/man3/aspawn.3 && test ! -e usr/include && test ! -e usr/share &&
			cd usr/lib/some-linux-gnu/pkgconfig &&
			for name in aspawn psys aspawn-compat; do
				grep -Fx 'libdir=${prefix}/lib/some-linux-gnu' $name.pc &&
					grep -Fx 'includedir=/opt/headers' $name.pc || return 1
			done) &&
		make -s uninstall BUILD_DIR="$build" DESTDIR="$work/multiarch" PREFIX=/usr LIBDIR=/usr/lib/some-linux-gnu \
			INCLUDEDIR=/opt/headers MANDIR=/usr/man DATADIR=/opt/data BINDIR=/opt/programs &&
		test -z "$(find "$work/multiarch" ! -type d)"
}

# Whatever the umask; and nothing that was there is made private or public.
readable_by_all()
{
	mkdir -p "$work/private/opt" && chmod 700 "$work/private/opt" &&
		(umask 077 && installs "$work/private" /opt/aspawn install-compat) || return 1
	! find "$work/private/opt/aspawn" ! -type l ! -perm -u=rw,go=r | grep . &&
		! find "$work/private/opt/aspawn" -type d ! -perm -go=x | grep . &&
		test "$(stat -c %a "$work/private/opt")" = 700
}

# Of an install over an install, too.
spaces_in_paths()
{
	installs "$work/a stage" "/opt/a prefix" && installs "$work/a stage" "/opt/a prefix" &&
		test -f "$work/a stage/opt/a prefix/include/aspawn/aspawn.h" &&
		installs "" "$work/a prefix" && (cd "$work" &&
		eval "set -- $(PKG_CONFIG_PATH="$work/a prefix/lib/pkgconfig" pkg-config --cflags --libs aspawn)" &&
		$cc program.c "$@" -o spaces && LD_LIBRARY_PATH="$work/a prefix/lib" ./spaces)
}

# A moved tree is found where it is.
pkg_config_follows_a_move()
{
	installs "" "$work/before" && mv "$work/before" "$work/after" &&
		PKG_CONFIG_PATH=$work/after/lib/pkgconfig pkg-config --define-variable=prefix="$work/after" --cflags --libs aspawn |
		grep "^-I$work/after/include -L$work/after/lib "
}

refuses_relative_paths()
{
	! make -s install BUILD_DIR="$build" DESTDIR="$work/relative" LIBDIR=lib 2>"$work/error" &&
		grep "LIBDIR must be absolute" "$work/error" && ! ls -d "$work/relative"*
}

# With the path of each, and nothing of the commands.
a_line_for_each_directory()
{
	make -s compat BUILD_DIR="$build" &&
		make --no-print-directory install-compat BUILD_DIR="$build" DESTDIR="$work/told" PREFIX=/opt/aspawn V= \
			>"$work/output" 2>&1 || return 1
	grep -v '^If programs do not find ' "$work/output" | sed 's/: .*//' | sort -u >"$work/said"
	find "$work/told" -type f -printf '%h\n' | sed 's,/include/\(syscall\|aspawn\)\(/.*\)*$,/include,' | sort -u |
		diff - "$work/said"
}

# Called by root, without DESTDIR; who did not, or has another directory, is told.
runs_ldconfig()
{
	printf '#!/bin/sh\necho "$0 $*" >>"%s"\n%s\n' "$work/called" \
		'[ "$1" != -p ] || echo "libaspawn.so (libc6) => $LISTED"' >"$work/ldconfig" && chmod 755 "$work/ldconfig" || return 1
	soname=$(basename "$(readlink "$work/prefix/lib/libaspawn.so")")
	told=$(make -s install BUILD_DIR="$build" DESTDIR="$work/stage" LDCONFIG="$work/ldconfig") &&
		test ! -e "$work/called" && echo "$told" | grep "/usr/local/lib/$soname" || return 1
	told=$(LISTED=$work/prefix/lib/$soname make -s install BUILD_DIR="$build" DESTDIR= PREFIX="$work/prefix" LDCONFIG="$work/ldconfig") &&
		test -z "$told" && grep -x "$work/ldconfig " "$work/called" || return 1
	make -s install BUILD_DIR="$build" DESTDIR= PREFIX="$work/prefix" LDCONFIG="$work/ldconfig" | grep "LD_LIBRARY_PATH"
}

# installed_flags LIBRARY...
installed_flags()
{
	PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig pkg-config --cflags --libs "$@"
}

# shellcheck disable=SC2086 # flags, a word each
# With the installed headers and libraries alone, found by pkg-config.
builds_by_pkg_config()
{
	installs "" "$work/prefix" || return 1
	for libraries in aspawn "aspawn psys" "psys aspawn"; do
		flags=$(installed_flags $libraries) &&
			(cd "$work" && $cc program.c $flags -o shared && LD_LIBRARY_PATH=$work/prefix/lib ./shared) &&
			(cd "$work" && $cc program.c $flags -static -o static 2>/dev/null && ./static) || return 1
	done
}

# Every exported function except the wrappers of system calls.
functions()
{
	$nm -D --defined-only "$build/libaspawn.so" | sed -n 's/.* \(aspawn[^@]*\).*/\1/p'
	echo psys_search_begin psys_search_next psys_search_continue psys_find_exe psys_handle_execve_err psys_execvpe psys_execve_or_shell psys_getenv \
		psys_errname psys_strerror psys_clone_thunk psys_clone3_thunk psys_syscall psys_stat psys_fstatat psys_getrlimit
}

# The page of actions shows their macros.
man_pages_are_found()
{
	for page in psys $(functions); do
		shown=$(echo "$page(" | sed s/^aspawn_action_/aspawn_/)
		man -M "$work/prefix/share/man" -w "$page" &&
			man -M "$work/prefix/share/man" "$page" | grep -qi "$shown" || return 1
	done
	man -M "$work/prefix/share/man" -w 1 aspawn && man -M "$work/prefix/share/man" -w 7 aspawn aspawn_recipes
}

# In this directory, as a link page includes man3/PAGE.
man_pages_have_no_warning()
{
	! (cd "$work/prefix/share/man" && groff -man -ww -z man1/*.1 man3/*.3 man7/*.7 2>&1) | grep .
}

# A line of code is not broken, and a terminal may have 80 columns.
man_pages_fit_80_columns()
{
	for page in doc/*.[137]; do
		! MANWIDTH=80 man -l "$page" | col -bx | awk -v page="$page" 'length($0) > 80 { print page ": " $0 }' | grep . || return 1
	done
}

# .TP takes one line as its tag: the second of ".BR ONE ,\n.B TWO" would begin the paragraph.
tags_are_one_line()
{
	! awk 'FNR == 1 { tag = 0 } /^\.TP/ { tag = FNR + 1 } FNR == tag && /,$/ { getline; if (/^\.B/) print FILENAME ": " $0 }' doc/*.[137] | grep .
}

# What others have put there stays, as does what is only named like a file of the library.
uninstalls()
{
	prefix=$work/to\ remove
	mkdir -p "$prefix/include/aspawn" "$prefix/lib/pkgconfig" "$prefix/include/aspawn-compat" &&
		touch "$prefix/include/aspawn/theirs.h" "$prefix/lib/libaspawn.so.theirs" "$prefix/lib/pkgconfig/theirs.pc" \
			"$prefix/include/aspawn-compat/theirs.h" &&
		find "$prefix" ! -type d | sort >"$work/before" &&
		installs "" "$prefix" install-compat && installs "" "$prefix" uninstall &&
		find "$prefix" ! -type d | sort | diff "$work/before" - &&
		test ! -e "$prefix/include/syscall"
}

uninstall_needs_its_paths()
{
	! make -s uninstall BUILD_DIR="$build" DESTDIR= PREFIX= LIBDIR= 2>"$work/error" && grep "LIBDIR must be absolute" "$work/error"
}

check "install uses DESTDIR and PREFIX" staged
check "make install prints a line for each directory" a_line_for_each_directory
check "all can read what is installed under umask 077" readable_by_all
check "DESTDIR and PREFIX with spaces, twice" spaces_in_paths
check "install honours LIBDIR, INCLUDEDIR, DATADIR and MANDIR" honours_directories
check "relative directories are refused" refuses_relative_paths
check "aspawn.pc follows its prefix" pkg_config_follows_a_move
check "programs build by pkg-config and run, shared and static" builds_by_pkg_config
if command -v man >/dev/null; then
	check "man finds a page for each function" man_pages_are_found
	check "man pages fit 80 columns" man_pages_fit_80_columns
else
	skip "man finds a page for each function" "no man command"
fi
check "tags of man pages are one line" tags_are_one_line
if command -v groff >/dev/null; then
	check "man pages cause no warning" man_pages_have_no_warning
else
	skip "man pages cause no warning" "no groff command"
fi
if [ "$(id -u)" = 0 ]; then
	check "ldconfig, or a sentence about it" runs_ldconfig
else
	skip "ldconfig, or a sentence about it" "needs root"
fi
check "uninstall leaves nothing of its own, and all of others" uninstalls
check "uninstall needs absolute paths" uninstall_needs_its_paths
finish
