/* SPDX-License-Identifier: MIT */
/*
 * The reaper: the parent of the program, and of what descendants leave to it (PR_SET_CHILD_SUBREAPER).
 *
 * The library's tree ends everything by SIGKILL as soon as its program ends, but what a command leaves
 * shall have time to end by itself. So the reaper is the tree's program, and ends when it has no child
 * any more. As the one parent who reaps, it may signal its children by their numbers.
 *
 * Orders of the tool are bits in the shared page, with SIGCONT as the doorbell, which also continues a
 * reaper that somebody has stopped. Its answers are in the same page, with SIGCHLD for the tool. It has no
 * descriptors, so that none of the program's pipes stays open, and no limit of descriptors stops it.
 */
#include "cli.h"

enum { MOST_FOUND = 4096, DETACH = 17 };

/* --- the processes of the tree ---------------------------------------------------- */

static struct {
	int pid, parent;
} found[MOST_FOUND];

/* Stores in the text the beginning of /proc/PID/name. */
static bool read_process(int pid, const char *name, char *to, size_t size)
{
	char path[64];
	struct text text = TEXT_IN(path);

	text_add(&text, "/proc/");
	text_add_number(&text, (unsigned)pid);
	text_add(&text, name);
	const int fd = psys_open(path, PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	const long length = psys_read(fd, to, size - 1);
	psys_close(fd); /* close(-1) is harmless */
	to[length > 0 ? length : 0] = '\0';
	return length > 0;
}

/* Returns the parent of a process that has not ended; -1 if there is none. */
static int parent_of(int pid)
{
	char text[192];
	uint64_t parent;

	if (!read_process(pid, "/stat", text, sizeof text))
		return -1;
	const char *at = text + psys_strlen(text);
	while (at > text && *at != ')') /* 12 (name) S 3: the name may have parentheses */
		at--;
	if (at == text || at[2] == 'Z' || at[2] == 'X')
		return -1;
	at += 4;
	return read_number(&at, &parent) ? (int)parent : -1;
}

/* Adds the children of one thread. Returns the new count. */
static int add_children(int fd, int parent, int count)
{
	char text[512];
	int number = 0;
	long length;

	while ((length = psys_read(fd, text, sizeof text)) > 0)
		for (long i = 0; i < length; i++) {
			if (text[i] != ' ') {
				number = number * 10 + (text[i] - '0');
				continue;
			}
			if (number && count < MOST_FOUND) {
				found[count].pid = number;
				found[count++].parent = parent;
			}
			number = 0;
		}
	psys_close(fd);
	return count;
}

/* Adds the children of all threads of the process. */
static int find_children(int pid, int count)
{
	char records[1024] __attribute__((aligned(8))), path[64];
	struct text text = TEXT_IN(path);
	long length;

	text_add(&text, "/proc/");
	text_add_number(&text, (unsigned)pid);
	text_add(&text, "/task");
	const int tasks = psys_open(path, PSYS_O_RDONLY | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
	while (tasks >= 0 && (length = psys_getdents64(tasks, records, sizeof records)) > 0)
		for (long at = 0; at < length;) {
			const struct psys_dirent64 *entry = (const void *)(records + at);
			struct text name = TEXT_IN(path);
			text_add(&name, entry->d_name);
			text_add(&name, "/children");
			if (*entry->d_name != '.')
				count = add_children(
					psys_openat(tasks, path, PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0),
					pid, count);
			at += entry->d_reclen;
		}
	psys_close(tasks);
	return count;
}

/* Finds all descendants, or some thousands of them. */
static int find_all(void)
{
	int count = find_children(psys_getpid(), 0);

	for (int i = 0; i < count; i++)
		count = find_children(found[i].pid, count);
	return count;
}

/* --- signals ----------------------------------------------------------------------------- */

static void keep_name(struct shared *shared, int pid)
{
	struct ended_name *name = &shared->names[shared->name_count];

	for (int i = 0; i < shared->name_count; i++)
		if (shared->names[i].pid == pid)
			return;
	if (shared->name_count == MOST_NAMES ||
	    !read_process(pid, "/comm", name->name, NAME_SIZE + 1))
		return;
	name->name[NAME_SIZE - 1] = '\0';
	*(char *)(uintptr_t)psys_strchrnul(name->name, '\n') = '\0';
	name->pid = pid;
	shared->name_count++;
}

/* A number may be another process's by now: the pidfd is opened before the look at the parent. */
static void signal_found(struct shared *shared, int pid, int parent, int signal)
{
	const int fd = psys_pidfd_open(pid, 0);
	int r = -PSYS_ESRCH;

	if (parent_of(pid) == parent || parent_of(pid) == psys_getpid()) {
		keep_name(shared, pid);
		r = fd >= 0 ? psys_pidfd_send_signal(fd, signal, NULL, 0) : psys_kill(pid, signal);
	}
	shared->refused += r == -PSYS_EPERM;
	psys_close(fd);
}

static void signal_program(const struct shared *shared, int signal)
{
	if (shared->pid > 0 && !shared->has_status)
		psys_kill(shared->pid, signal);
}

static void signal_all(const struct setting *setting, struct shared *shared, int signal)
{
	shared->refused = 0;
	if (setting->options.leave) {
		signal_program(shared, signal);
		return;
	}
	const int count = find_all();
	for (int i = 0; i < count; i++)
		signal_found(shared, found[i].pid, found[i].parent, signal);
	if (setting->is_init)
		psys_kill(-1, signal);
	else if (!setting->has_proc) /* the library has made the reaper lead a process group */
		psys_kill(0, signal);
}

/* SIGCONT comes last: a stopped process gets the other signal only then. */
static void obey(const struct setting *setting, struct shared *shared)
{
	for (int i = 0; i < 2; i++) {
		const unsigned one =
			__atomic_exchange_n(&shared->to_program[i], 0, __ATOMIC_ACQ_REL);
		const unsigned all = __atomic_exchange_n(&shared->to_all[i], 0, __ATOMIC_ACQ_REL);
		const unsigned cont = i ? 0 : 1U << (PSYS_SIGCONT - 1);
		for (int bit = 0; bit < 32; bit++)
			if ((one & ~cont) >> bit & 1)
				signal_program(shared, 32 * i + bit + 1);
		for (int bit = 0; bit < 32; bit++)
			if ((all & ~cont) >> bit & 1)
				signal_all(setting, shared, 32 * i + bit + 1);
		if (one & cont)
			signal_program(shared, PSYS_SIGCONT);
		if (all & cont)
			signal_all(setting, shared, PSYS_SIGCONT);
	}
}

/* --- ends ------------------------------------------------------------------------------------- */

/* A program that calls ptrace(2) with PTRACE_TRACEME is traced by its parent, which lets it go on. */
static bool is_stop(const struct psys_siginfo *info)
{
	const int code = info->code, status = info->u.child.status;

	if (code == PSYS_CLD_EXITED || code == PSYS_CLD_KILLED || code == PSYS_CLD_DUMPED)
		return false;
	const int signal = status >> 8 || status == PSYS_SIGTRAP ? 0 : status;
	psys_ptrace(DETACH, info->u.child.pid, NULL, (void *)(uintptr_t)(unsigned)signal);
	return true;
}

static void keep_status(struct shared *shared, const struct psys_siginfo *info,
			const struct psys_rusage *usage)
{
	const int status = info->u.child.status;

	shared->usage = *usage;
	shared->status = info->code == PSYS_CLD_EXITED ? (status & 0xff) << 8 :
			 info->code == PSYS_CLD_DUMPED ? status | 0x80 :
							 status;
	__atomic_store_n(&shared->has_status, 1, __ATOMIC_RELEASE);
}

static void reap(const struct setting *setting, struct shared *shared)
{
	struct psys_siginfo info;
	struct psys_rusage usage;
	int r;

	do {
		info.u.child.pid = 0;
		r = psys_waitid(setting->options.leave ? PSYS_P_PID : PSYS_P_ALL, shared->pid,
				&info, PSYS_WEXITED | PSYS_WNOHANG, &usage);
		if (r == 0 && info.u.child.pid && !is_stop(&info) &&
		    info.u.child.pid == shared->pid && !shared->has_status)
			keep_status(shared, &info, &usage);
	} while (r == -PSYS_EINTR || (r == 0 && info.u.child.pid));
	if (r == -PSYS_ECHILD)
		__atomic_store_n(&shared->is_empty, 1, __ATOMIC_RELEASE);
}

void reaper_turn(const struct setting *setting, struct shared *shared)
{
	obey(setting, shared);
	reap(setting, shared);
}

static void leave_files(void)
{
	if (psys_close_range(0, ~0U, PSYS_CLOSE_RANGE_UNSHARE) < 0)
		for (int fd = 0; fd < 1024; fd++) /* before Linux 5.9 */
			psys_close(fd);
	psys_chdir("/");
}

/* After the program's start it leaves the tool's process group, which a SIGKILL may be for. */
int reaper_main(void *arg)
{
	const struct reaper *reaper = arg;
	struct shared *shared = reaper->shared;
	struct psys_sigset set;

	psys_sigemptyset(&set);
	psys_sigaddset(&set, PSYS_SIGCHLD);
	psys_sigaddset(&set, PSYS_SIGCONT);
	psys_rt_sigaction(PSYS_SIGCHLD, &(struct psys_sigaction){ .handler = PSYS_SIG_DFL }, NULL,
			  PSYS_SIGSET_SIZE);
	psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	program_start(reaper->setting, shared);
	leave_files();
	psys_setpgid(0, 0);
	while (reaper_turn(reaper->setting, shared), !shared->is_empty) {
		if (shared->has_status)
			psys_kill(reaper->setting->tool, PSYS_SIGCHLD);
		psys_rt_sigtimedwait(&set, NULL, NULL, PSYS_SIGSET_SIZE);
	}
	return -PSYS_ECANCELED;
}
