/* SPDX-License-Identifier: MIT */
/*
 * Old names without a prefix, for programs that use them. They are inline functions, not symbols of
 * the library, so a program may define functions of these names. Such a program defines
 * PSYS_NO_UNPREFIXED before it includes <syscall/syscall.h> or <syscall/exec.h>.
 */
#ifndef PSYS_UNPREFIXED_H
#define PSYS_UNPREFIXED_H

#include <syscall/arch.h>
#include <syscall/exec.h>

/* psys_syscall() */
PSYS_INLINE psys_word pure_syscall(psys_word nr, psys_word a1, psys_word a2, psys_word a3,
				   psys_word a4, psys_word a5, psys_word a6)
{
	return psys_call6(nr, a1, a2, a3, a4, a5, a6);
}

/* psys_find_exe() */
PSYS_INLINE int find_exe(const char *file, size_t file_len, char *constructed_path,
			 const char **path, size_t path_max_len)
{
	return psys_find_exe(file, file_len, constructed_path, path, path_max_len);
}

/* psys_handle_execve_err() */
PSYS_INLINE int handle_execve_err(int result, int *got_eaccess)
{
	return psys_handle_execve_err(result, got_eaccess);
}

#endif
