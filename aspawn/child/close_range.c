/* SPDX-License-Identifier: MIT */
/* Closes many descriptors where close_range(2) is missing. */
#include "close_range.h"

#include <syscall/syscall.h>

#include "../../syscall/kernel_file.h"
#include "../marks.h"

static IN_ANY void close_one(int fd, bool at_exec)
{
	if (at_exec)
		psys_fcntl(fd, PSYS_F_SETFD, PSYS_FD_CLOEXEC);
	else
		psys_close(fd);
}

IN_ANY int aspw_close_via_proc(int first, int last, bool at_exec)
{
	char records[1024] __attribute__((aligned(8)));
	long length;
	int fds = psys_open("/proc/self/fd", PSYS_O_RDONLY | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);

	if (fds < 0) {
		struct psys_rlimit64 limit;
		int r = psys_prlimit64(0, PSYS_RLIMIT_NOFILE, NULL, &limit);
		if (r < 0)
			return r;
		for (int fd = first; fd <= last && (uint64_t)fd < limit.rlim_cur; fd++)
			close_one(fd, at_exec);
		return 0;
	}
	while ((length = psys_getdents64(fds, records, sizeof records)) > 0)
		for (long at = 0; at < length;) {
			const struct psys_dirent64 *entry = (const void *)(records + at);
			const char *name = entry->d_name;
			const int fd = (int)aspw_read_number(&name);
			if (!*name && fd >= first && fd <= last && fd != fds)
				close_one(fd, at_exec);
			at += entry->d_reclen;
		}
	psys_close(fds);
	return (int)length;
}
