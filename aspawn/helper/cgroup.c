/* SPDX-License-Identifier: MIT */
/* Makes and removes the cgroup of a tree. cgroup.h says in which process. */
#include "cgroup.h"

#include <syscall/string.h>
#include <syscall/syscall.h>

#include "../../syscall/kernel_file.h"
#include "../marks.h"

enum { MOST_NAMES = 100, CGROUP_NAPS = 100 };

static IN_HELPER int open_cgroup(int directory, const char *name)
{
	return psys_openat(directory, name, PSYS_O_PATH | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
}

/* Only cgroups that were not removed use up names. */
static IN_HELPER int make_directory(char *name, int parent)
{
	int r = -PSYS_EEXIST;

	for (int i = 0; i < MOST_NAMES && r == -PSYS_EEXIST; i++) {
		size_t at = psys_strlcpy(name, "aspawn-", CGROUP_NAME);
		at += psys_i64_to_decimal(name + at, psys_getpid());
		name[at++] = '-';
		psys_i64_to_decimal(name + at, i);
		r = psys_mkdirat(parent, name, 0755);
	}
	if (r < 0)
		*name = '\0';
	return r;
}

static IN_HELPER int write_limit(struct stack_state *state, int group, const char *file,
				 uint64_t most)
{
	char text[PSYS_DECIMAL_SIZE];

	psys_u64_to_decimal(text, most);
	const int r = most && most != UINT64_MAX ? aspw_write_text(group, file, text) : 0;
	if (r < 0)
		state->refused = file;
	return r;
}

IN_HELPER int aspw_cgroup_make(struct control *control)
{
	struct stack_state *state = stack_state(&control->stack);
	const struct cgroup_wish *wish = control->plan.new_cgroup;

	if (!wish)
		return 0;
	/* mkdir(2) works in any other directory, and version 1 might even take the processes. */
	int r = psys_faccessat(wish->parent, "cgroup.controllers", PSYS_F_OK);
	state->refused = r == -PSYS_ENOENT ? "parent_fd is not a cgroup of version 2" : "mkdir";
	if (r != -PSYS_ENOENT)
		r = make_directory(control->new_cgroup, wish->parent);
	if (r >= 0) {
		state->refused = "open";
		control->new_cgroup_fd = r = open_cgroup(wish->parent, control->new_cgroup);
	}
	if (r >= 0)
		r = write_limit(state, control->new_cgroup_fd, "memory.max", wish->memory_max);
	if (r >= 0)
		r = write_limit(state, control->new_cgroup_fd, "pids.max", wish->pids_max);
	if (r >= 0)
		r = write_limit(state, control->new_cgroup_fd, "cpu.max", wish->cpu_max);
	if (r < 0)
		return r;
	state->refused = NULL;
	return 0;
}

/* Returns 0 if the peak is unknown. */
static IN_HELPER uint64_t memory_peak(int group)
{
	char text[PSYS_DECIMAL_SIZE];
	const char *at = text;
	const int fd = psys_openat(group, "memory.peak", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	const long length = psys_read(fd, text, sizeof text - 1);

	psys_close(fd); /* close(-1) is harmless */
	text[length > 0 ? length : 0] = '\0';
	return aspw_read_number(&at);
}

/* A reaped process may stay in the cgroup for a moment. A cgroup below counts as a link: with such
 * links waiting is useless. */
IN_HELPER void aspw_cgroup_remove(const struct control *control, int directory, bool is_empty)
{
	const struct psys_timespec nap = { 0, 10000000 };
	const char *name = control->new_cgroup;
	struct psys_statx status;

	if (!*name)
		return;
	const int group = open_cgroup(directory, name);
	const int kills = aspw_cgroup_oom_kills(group);
	stack_state(&control->stack)->oom_kills = kills > 0 ? kills : 0;
	stack_state(&control->stack)->memory_peak = memory_peak(group);
	status.stx_nlink = 0;
	psys_statx(group, "", PSYS_AT_EMPTY_PATH, PSYS_STATX_NLINK, &status);
	psys_close(group); /* close(-1) is harmless */
	for (int naps = is_empty && status.stx_nlink <= 2 ? CGROUP_NAPS : 0;
	     psys_unlinkat(directory, name, PSYS_AT_REMOVEDIR) == -PSYS_EBUSY && naps; naps--)
		psys_nanosleep(&nap, NULL);
}

/* Returns the number after the name at the beginning of a line, or -ENOENT. */
static IN_ANY int number_behind(const char *text, const char *name)
{
	const size_t length = psys_strlen(name);

	while (psys_strncmp(text, name, length) != 0) {
		text = psys_strchrnul(text, '\n');
		if (!*text++)
			return -PSYS_ENOENT;
	}
	text += length;
	const uint64_t number = aspw_read_number(&text);
	return number < INT32_MAX ? (int)number : INT32_MAX;
}

static IN_ANY int read_oom_kills(int group)
{
	char text[512];
	int fd = psys_openat(group, "memory.events", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);

	if (fd == -PSYS_ENOENT) /* version 1 */
		fd = psys_openat(group, "memory.oom_control", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	const long length = psys_read(fd, text, sizeof text - 1);
	psys_close(fd);
	if (length < 0)
		return (int)length;
	text[length] = '\0';
	return number_behind(text, "oom_kill ");
}

IN_ANY int aspw_cgroup_oom_kills(int group)
{
	int r;

	do
		r = read_oom_kills(group);
	while (r == -PSYS_EINTR);
	return r;
}
