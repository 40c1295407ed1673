/* SPDX-License-Identifier: MIT */
/* aspawn() with options. */
#include <syscall/string.h>

#include "helper.h"

enum {
	ALL_OPTIONS = 2 * ASPAWN_NNP - 1,
	PRIVATE_OPTIONS = ASPAWN_PRIVATE | ASPAWN_DIES_WITH_CALLER,
};

int aspawn_read_structure(void *to, size_t known, const void *from, size_t size,
			  size_t first_version)
{
	if (size < first_version)
		return -PSYS_EINVAL;
	for (size_t i = known; i < size; i++)
		if (((const char *)from)[i])
			return -PSYS_E2BIG;
	const size_t given = size < known ? size : known;
	psys_memcpy(to, from, given);
	psys_memset((char *)to + given, 0, known - given);
	return 0;
}

static int read_options(struct request *request, int **pidfd, const struct aspawn_options *given)
{
	struct aspawn_options known, *options = &known;

	*pidfd = NULL;
	if (!given)
		return 0;

	int r = aspawn_read_structure(&known, sizeof known, given, given->size, sizeof known);
	if (r < 0)
		return r;
	const uint64_t flags = options->flags;
	if (flags & ~(uint64_t)ALL_OPTIONS || (flags & PRIVATE_OPTIONS && flags & ASPAWN_VFORK))
		return -PSYS_EINVAL;
	request->helped = flags & PRIVATE_OPTIONS ? PRIVATE : NOT_HELPED;
	request->dies_with_caller = flags & ASPAWN_DIES_WITH_CALLER;
	request->no_new_privs = flags & ASPAWN_NNP;
	if (flags & ASPAWN_NO_PIPE)
		request->pipe = NO_PIPE;
	if (flags & ASPAWN_VFORK)
		request->memory = MEMORY_SUSPENDED;
	if (flags & ASPAWN_PIDFD) {
		request->wants_pidfd = true;
		*pidfd = options->pidfd;
		if (!*pidfd)
			return -PSYS_EINVAL;
	}
	if (flags & ASPAWN_CGROUP) {
		request->cgroup_fd = options->cgroup_fd;
		if (request->cgroup_fd < 0)
			return -PSYS_EBADF;
	}
	return 0;
}

int aspawn_with(const struct aspawn_options *options, pid_t *pid, struct Stack_t *cached_stack,
		size_t reserved_stack_sz, aspawn_fn fn, void *arg, void *user_data,
		size_t user_data_len)
{
	struct request request = {
		.pipe = PIPE,
		.cgroup_fd = -1,
		.fn = fn,
		.arg = arg,
		.user_data_len = user_data_len,
	};
	int *pidfd;
	int r = read_options(&request, &pidfd, options);

	return r < 0 ? r :
		       aspawn_request(&request, pid, pidfd, cached_stack, reserved_stack_sz,
				      user_data,
				      request.helped ? aspawn_helper_spawn : aspawn_spawn);
}
