/* SPDX-License-Identifier: MIT */
#include "kernel_file.h"

#include <syscall/string.h>
#include <syscall/syscall.h>

PSYS_UNINSTRUMENTED uint64_t aspw_read_number(const char **text)
{
	uint64_t number = 0;

	for (; **text >= '0' && **text <= '9'; ++*text)
		number = number * 10 + (unsigned)(**text - '0');
	return number;
}

PSYS_UNINSTRUMENTED int aspw_write_and_close(int fd, const char *text)
{
	if (fd < 0)
		return fd;
	const size_t length = psys_strlen(text);
	const long written = psys_write(fd, text, length);
	psys_close(fd);
	if (written < 0)
		return (int)written;
	return (size_t)written < length ? -PSYS_EIO : 0;
}

PSYS_UNINSTRUMENTED int aspw_write_text(int directory, const char *path, const char *text)
{
	return aspw_write_and_close(psys_openat(directory, path, PSYS_O_WRONLY | PSYS_O_CLOEXEC, 0),
				    text);
}
