/* SPDX-License-Identifier: MIT */
#include "state.h"

#include <syscall/string.h>
#include <syscall/syscall.h>

enum { MOST_DESCRIPTORS = 320, SIGNALS = 64 };

void text_add(struct text *text, const char *string)
{
	text->length +=
		psys_strlcpy(text->bytes + text->length, string, sizeof text->bytes - text->length);
	if (text->length >= sizeof text->bytes)
		text->length = sizeof text->bytes - 1;
}

void text_add_number(struct text *text, int64_t number)
{
	char digits[PSYS_DECIMAL_SIZE];

	psys_i64_to_decimal(digits, number);
	text_add(text, digits);
}

void text_add_line(struct text *text, const char *name, int64_t number)
{
	text_add(text, name);
	text_add(text, " ");
	text_add_number(text, number);
	text_add(text, "\n");
}

/* Adds the target of the link, without the number of a pipe. */
static void add_link(struct text *text, const char *path)
{
	char target[PSYS_PATH_MAX];
	const long length = psys_readlink(path, target, sizeof target - 1);

	target[length < 0 ? 0 : length] = '\0';
	text_add(text, psys_strncmp(target, "pipe:", 5) ? target : "pipe");
}

static void add_descriptor(struct text *text, int fd)
{
	char path[64] = "/proc/self/fd/";
	const long flags = psys_fcntl(fd, PSYS_F_GETFD, 0);

	if (flags < 0)
		return;
	psys_i64_to_decimal(path + psys_strlen(path), fd);
	text_add(text, "descriptor ");
	text_add_number(text, fd);
	text_add(text, " ");
	add_link(text, path);
	text_add(text, flags ? " cloexec" : "");
	text_add_line(text, " flags", psys_fcntl(fd, PSYS_F_GETFL, 0));
}

static void add_file(struct text *text, const char *path)
{
	char bytes[4096];
	const int fd = psys_open(path, PSYS_O_CLOEXEC, 0);
	const long length = psys_read(fd, bytes, sizeof bytes - 1);

	psys_close(fd);
	bytes[length < 0 ? 0 : length] = '\0';
	text_add(text, path);
	text_add(text, " ");
	text_add(text, bytes);
	text_add(text, "\n");
}

/* Adds the lines of /proc/self/status without a number of a process, of time or of memory. */
static void add_status(struct text *text)
{
	static const char *const names[] = { "Umask:",   "Uid:",       "Gid:",        "Groups:",
					     "SigPnd:",  "ShdPnd:",    "SigBlk:",     "SigIgn:",
					     "SigCgt:",  "Cap",        "NoNewPrivs:", "Seccomp",
					     "Cpus_all", "Mems_allow", "THP",         "Spec" };
	static struct text status;

	status.length = 0;
	add_file(&status, "/proc/self/status");
	for (char *line = status.bytes; *line;) {
		char *const end = (char *)psys_strchrnul(line, '\n');
		const bool is_last = !*end;
		*end = '\0';
		for (size_t i = 0; i < sizeof names / sizeof *names; i++)
			if (!psys_strncmp(line, names[i], psys_strlen(names[i]))) {
				text_add(text, line);
				text_add(text, "\n");
			}
		line = is_last ? end : end + 1;
	}
}

static void add_limits(struct text *text)
{
	for (int resource = 0; resource < 16; resource++) {
		struct psys_rlimit64 limit = { 0, 0 };

		psys_prlimit64(0, resource, NULL, &limit);
		text_add(text, "limit ");
		text_add_number(text, resource);
		text_add(text, " ");
		text_add_number(text, (int64_t)limit.rlim_cur);
		text_add_line(text, "", (int64_t)limit.rlim_max);
	}
}

static void add_attributes(struct text *text)
{
	int signal = -1, subreaper = -1;

	psys_prctl(PSYS_PR_GET_PDEATHSIG, (uintptr_t)&signal, 0, 0, 0);
	psys_prctl(PSYS_PR_GET_CHILD_SUBREAPER, (uintptr_t)&subreaper, 0, 0, 0);
	text_add_line(text, "pdeathsig", signal);
	text_add_line(text, "subreaper", subreaper);
	text_add_line(text, "priority", psys_getpriority(PSYS_PRIO_PROCESS, 0));
	text_add_line(text, "scheduler", psys_sched_getscheduler(0));
	text_add_line(text, "ioprio", psys_ioprio_get(PSYS_IOPRIO_WHO_PROCESS, 0));
	text_add_line(text, "personality", psys_personality(0xffffffff));
	text_add_line(text, "dumpable", psys_prctl(PSYS_PR_GET_DUMPABLE, 0, 0, 0, 0));
	text_add_line(text, "timerslack", psys_prctl(PSYS_PR_GET_TIMERSLACK, 0, 0, 0, 0));
	text_add_line(text, "securebits", psys_prctl(PSYS_PR_GET_SECUREBITS, 0, 0, 0, 0));
	text_add_line(text, "thp_disable", psys_prctl(PSYS_PR_GET_THP_DISABLE, 0, 0, 0, 0));
	text_add_line(text, "keepcaps", psys_prctl(PSYS_PR_GET_KEEPCAPS, 0, 0, 0, 0));
	text_add_line(text, "leads a session", psys_getsid(0) == psys_getpid());
	text_add_line(text, "leads a group", psys_getpgid(0) == psys_getpid());
	text_add_line(text, "has a session keyring",
		      psys_keyctl(PSYS_KEYCTL_GET_KEYRING_ID, -3, 0, 0, 0) > 0);
}

void text_add_state(struct text *text)
{
	static const char *const files[] = { "oom_score_adj", "coredump_filter", "cgroup", "comm",
					     "loginuid",      "uid_map",         "gid_map" };
	static const char *const links[] = { "cwd",
					     "root",
					     "ns/mnt",
					     "ns/uts",
					     "ns/ipc",
					     "ns/net",
					     "ns/pid_for_children",
					     "ns/user",
					     "ns/pid",
					     "ns/time",
					     "ns/time_for_children",
					     "ns/cgroup" };
	char path[64] = "/proc/self/";
	char *const name = path + psys_strlen(path);

	for (int fd = 0; fd < MOST_DESCRIPTORS; fd++)
		add_descriptor(text, fd);
	add_status(text);
	add_limits(text);
	add_attributes(text);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		psys_strlcpy(name, files[i], 32);
		add_file(text, path);
	}
	for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
		psys_strlcpy(name, links[i], 32);
		text_add(text, links[i]);
		text_add(text, " ");
		add_link(text, path);
		text_add(text, "\n");
	}
}
