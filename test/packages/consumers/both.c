/* SPDX-License-Identifier: MIT */
/* The two libraries: the name of an error, and a system call. */
#include <stdio.h>

#include <aspawn/command.h>
#include <syscall/syscall.h>

int main(void)
{
	psys_word pid = psys_syscall(PSYS_NR_getpid, 0, 0, 0, 0, 0, 0);

	printf("%s, %d\n", psys_errname(aspawn_wait(NULL, NULL, NULL, 0)), aspawn_version());
	return pid != (psys_word)psys_getpid();
}
