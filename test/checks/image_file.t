#!/bin/sh
# SPDX-License-Identifier: MIT
# A library that executes an installed image: make IMAGE_FILE=/path.
. "$(dirname "$0")/tap.sh"
cc=${CC:-clang}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
image=$work/libexec/image

cat >"$work/program.c" <<'C'
#include <stddef.h>
#include <stdio.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <aspawn/command.h>
static void refuse_memfds(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, filter };
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
int main(int argc, char **argv)
{
	if (argc > 1 && *argv[1])
		refuse_memfds();
	static const struct aspawn_action actions[] = { ASPAWN_RESUID(-1U, -1U, -1U),
							ASPAWN_CHDIR("/no such directory") };
	struct aspawn_command command = { .size = sizeof command,
					  .argv = ASPAWN_ARGV("/bin/true"),
					  .actions = actions };
	for (command.action_count = 1; command.action_count <= 2; command.action_count++) {
		struct aspawn_child child;
		struct aspawn_failure failure;
		int r = aspawn_start(&child, &command);
		if (r == 0)
			r = aspawn_wait_started(&child, &failure, -1);
		printf("%s %d %d ", aspawn_describe(&child, ASPAWN_FACT_MODE) == ASPAWN_MODE_IMAGE ? "image" : "copy", r, failure.error);
		aspawn_wait(&child, NULL, NULL, -1);
	}
	return 0;
}
C

builds()
{
	make -s -j2 install BUILD_DIR="$work/build" IMAGE_FILE="$image" DESTDIR= PREFIX="$work" LDCONFIG=false &&
		"$cc" -I"$work/include" "$work/program.c" "$work/lib/libaspawn.a" -o "$work/program"
}

# says EXPECTED [ARGUMENT]
says()
{
	output=$("$work/program" "$2")
	echo "says: $output"
	test "$output" = "$1"
}

# Two pointers of struct prepared change places: all sizes, and the version, are the same.
builds_another_image()
{
	mkdir "$work/tree" && tar -cf - Makefile RELEASE aspawn bench/*.mk \
		bindings/*/*.mk cli compat examples include packaging syscall test/*.mk test/proofs/*.mk tools | tar -xf - -C "$work/tree" &&
		sed -i 's/^\tconst char \*file;$/\tconst char *path;/; t; s/^\tconst char \*path;/\tconst char *file;/' \
			"$work/tree/aspawn/action/prepared.h" &&
		! cmp -s aspawn/action/prepared.h "$work/tree/aspawn/action/prepared.h" &&
		make -s -C "$work/tree" BUILD_DIR=build IMAGE_FILE="$image" build/aspawn/child/image/program &&
		cp "$work/tree/build/aspawn/child/image/program" "$image"
}

# The library itself holds none.
is_not_embedded()
{
	test "$(wc -c <"$work/build/aspawn/child/image.o")" -lt "$(wc -c <"${BUILD_DIR:-build}/aspawn/child/image.o")"
}

is_uninstalled()
{
	make -s uninstall BUILD_DIR="$work/build" IMAGE_FILE="$image" DESTDIR= PREFIX="$work" && ! test -e "$image"
}

check "a library is built for an installed image" builds
check "it has no image of its own" is_not_embedded
if test "$("$work/program" | cut -d ' ' -f 1)" = image; then
	check "it executes the installed image" says "image 0 0 image -125 -2 "
	check "it copies memory if it can make no memfd" says "copy 0 0 copy -125 -2 " filtered
	check "another image of the same version is built" builds_another_image
	check "it takes no command of this library" says "image -125 -10 image -125 -10 "
	printf 'no program' >"$image"
	check "it copies memory if the image is none" says "copy 0 0 copy -125 -2 "
else
	skip "it executes the installed image" "no image here"
	skip "it copies memory if it can make no memfd" "no image here"
	skip "another image of the same version is built" "no image here"
	skip "it takes no command of this library" "no image here"
	skip "it copies memory if the image is none" "no image here"
fi
check "the image is uninstalled" is_uninstalled
check "without the image it copies memory" says "copy 0 0 copy -125 -2 "
finish
