/* SPDX-License-Identifier: MIT */
/* A program attacks its parent, if the parent is a process of the library: a helper or a server.
 * The command or job ends as it would without the attack. */
#ifndef ATTACKS_H
#define ATTACKS_H

#include <stdbool.h>

#include <syscall/string.h>
#include <syscall/syscall.h>
#include <syscall/time.h>

#define ATTACK_STOP "stops its parent" /* for a second, until the library continues the parent */
#define ATTACK_TRACE "is traced by its parent"
#define ATTACK_TRACED_END "is traced by its parent, and killed by a signal"
#define ATTACK_LEAVE "leaves a process to its tree"
#define ATTACK_LIMIT "leaves a process to its tree, which may open nothing more"
#define LINGERS "lingers"
#define LINGERS_AND_HOLDS "lingers, and its tree traces the helper"

/* Stores the name of the parent's process, or an empty name. */
static inline void get_name_of_parent(char name[16])
{
	char path[40] = "/proc/";
	const size_t length = psys_i64_to_decimal(path + 6, psys_getppid());

	psys_strlcpy(path + 6 + length, "/comm", 8);
	const int fd = psys_open(path, PSYS_O_CLOEXEC, 0);
	const long size = psys_read(fd, name, 15);
	psys_close(fd);
	name[size < 0 ? 0 : size] = '\0';
}

static inline void linger(int seconds)
{
	const struct psys_timespec time = { seconds, 0 };

	psys_nanosleep(&time, NULL);
}

/* Leaves a process for ten seconds, which holds a lock on the file. */
static inline void leave_process(const char *path)
{
	psys_flock(psys_open(path, PSYS_O_WRONLY, 0), 6 /* LOCK_EX | LOCK_NB */);
	if (psys_fork())
		return;
	psys_setsid();
	linger(10);
	psys_exit_group(0);
}

/* A process of the tree stops the helper by ptrace(2) as long as the process lives, for twenty
 * seconds, and then takes a lock on the file. */
static inline void hold_parent(const char *path, bool is_tree)
{
	const int helper = psys_getppid();

	if (is_tree && psys_fork())
		return;
	if (is_tree) {
		psys_setsid();
		psys_ptrace(0x4206 /* PTRACE_SEIZE */, helper, NULL, NULL);
		psys_ptrace(0x4207 /* PTRACE_INTERRUPT */, helper, NULL, NULL);
	}
	psys_flock(psys_open(path, PSYS_O_WRONLY, 0), 6 /* LOCK_EX | LOCK_NB */);
	if (!is_tree)
		return;
	linger(20);
	psys_exit_group(0);
}

static inline void attack(const char *name, const char *path)
{
	const struct psys_rlimit64 none = { 0, 0 };
	char parent[16];

	get_name_of_parent(parent);
	const bool is_tree = !psys_strcmp(parent, "aspawn-tree\n"),
		   is_helper = is_tree || !psys_strcmp(parent, "aspawn-helper\n"),
		   is_server = !psys_strcmp(parent, "aspawn-queue\n");
	const bool leaves = !psys_strcmp(name, ATTACK_LEAVE),
		   limits = !psys_strcmp(name, ATTACK_LIMIT),
		   traces = !psys_strcmp(name, ATTACK_TRACE),
		   is_killed = !psys_strcmp(name, ATTACK_TRACED_END);

	if ((is_helper || is_server) && !psys_strcmp(name, ATTACK_STOP))
		psys_kill(psys_getppid(), PSYS_SIGSTOP);
	if (is_helper && (traces || is_killed)) /* a server leaves its tracees stopped */
		psys_ptrace(0 /* PTRACE_TRACEME */, 0, NULL, NULL);
	/* Each signal stops a tracee. SIGWINCH does nothing else. */
	if (traces || is_killed)
		psys_kill(psys_getpid(), is_killed ? PSYS_SIGUSR1 : PSYS_SIGWINCH);
	if (!psys_strcmp(name, LINGERS_AND_HOLDS))
		hold_parent(path, is_tree);
	if (is_tree && limits)
		psys_prlimit64(psys_getppid(), PSYS_RLIMIT_NOFILE, &none, NULL);
	if (is_tree && (leaves || limits))
		leave_process(path);
}

#endif
