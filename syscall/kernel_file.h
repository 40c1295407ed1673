/* SPDX-License-Identifier: MIT */
/* The library reads and writes numbers and text of the kernel's files, below /proc and in
 * cgroups. */
#ifndef PSYS_KERNEL_FILE_H
#define PSYS_KERNEL_FILE_H

#include <syscall/base.h>

/* Reads digits, and moves beyond them. A number that is too large wraps. */
uint64_t aspw_read_number(const char **text);

/* Writes the text by one call. Returns 0 or a negative error number. A negative fd is an error
 * number, and is returned. */
int aspw_write_and_close(int fd, const char *text);

/* Opens the file, then does the same. */
int aspw_write_text(int directory, const char *path, const char *text);

#endif
