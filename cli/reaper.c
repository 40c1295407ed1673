/* SPDX-License-Identifier: MIT */
/*
 * The reaper is the parent of the program, and of all orphans (PR_SET_CHILD_SUBREAPER).
 *
 * The library's helper kills a tree as soon as the tree's program ends, but processes that a
 * command leaves shall have time to end by themselves. Therefore the reaper is the tree's program,
 * and ends when its last child has ended. As no other process reaps the reaper's children, the
 * reaper may signal children by their numbers. If somebody kills the helper, also together with the
 * tool, the reaper ends everything.
 *
 * The tool writes orders to the shared page, and sends SIGCONT: the signal also continues a reaper
 * that somebody has stopped. The reaper writes its answers to the same page, and sends SIGCHLD to
 * the tool. The reaper has no descriptors, as they would keep the program's pipes open.
 */
#include "cli.h"

enum { MOST_FOUND = 8192, PTRACE_DETACH = 17 };

static struct process found[MOST_FOUND];

/* Reads /proc/PID/stat: "12 (name) S 3 ...", where the name may have parentheses. */
static struct process read_process(int pid)
{
	struct process process = { .pid = pid, .parent = -1, .state = 'X' };
	char stat[192];
	struct text path;
	uint64_t parent;

	text_set(&path, "/proc/%d/stat", (uint64_t)pid);
	file_read(PSYS_AT_FDCWD, path.at, stat, sizeof stat);
	const char *name = psys_strchrnul(stat, '('), *end = stat + psys_strlen(stat);
	while (end > name && *end != ')')
		end--;
	if (end <= name)
		return process;
	const size_t size = (size_t)(end - name);
	psys_strlcpy(process.name, name + 1, size < NAME_SIZE ? size : NAME_SIZE);
	process.state = end[2];
	end += sizeof ") S " - 1;
	if (process.state != 'Z' && process.state != 'X' && read_number(&end, &parent))
		process.parent = (int)parent;
	return process;
}

/* True if the program is stopped, has ended, or is unknown. Runs in the tool. */
bool program_has_stopped(const struct shared *shared)
{
	return shared->pid <= 0 || *psys_strchrnul("TtZX", read_process(shared->pid).state);
}

/* Finds all processes. Returns their count, at most MOST_FOUND. */
static int find_processes(void)
{
	char records[2048] __attribute__((aligned(8)));
	const int proc = psys_open("/proc", PSYS_O_RDONLY | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
	int count = 0;
	long length;

	while (proc >= 0 && (length = psys_getdents64(proc, records, sizeof records)) > 0)
		for (long at = 0; at < length;) {
			const struct psys_dirent64 *entry = (const void *)(records + at);
			const char *digits = entry->d_name;
			uint64_t pid;
			if (read_number(&digits, &pid) && count < MOST_FOUND)
				found[count++] = read_process((int)pid);
			at += entry->d_reclen;
		}
	psys_close(proc);
	return count;
}

/* Moves the descendants to the front, each generation behind its parents. Returns the count of
 * descendants. */
static int find_descendants(void)
{
	const int count = find_processes();
	int descendants = 0;

	for (int next = -1; next < descendants; next++) {
		const int parent = next < 0 ? psys_getpid() : found[next].pid;
		for (int i = descendants; i < count; i++)
			if (found[i].parent == parent) {
				const struct process child = found[i];
				found[i] = found[descendants];
				found[descendants++] = child;
			}
	}
	return descendants;
}

/* --- signals ----------------------------------------------------------------------------- */

/* The pidfd is opened before the look at the parent, as the number may be another process's by now.
 * A process whose parent has ended is the reaper's child. */
static void signal_found(struct shared *shared, const struct process *seen, int signal)
{
	const int fd = psys_pidfd_open(seen->pid, 0);
	const struct process process = read_process(seen->pid);
	int i = 0;

	if (process.parent > 0 &&
	    (process.parent == seen->parent || process.parent == psys_getpid())) {
		while (i < shared->name_count && shared->names[i].pid != process.pid)
			i++;
		if (i == shared->name_count && i < MOST_NAMES)
			shared->names[shared->name_count++] = process;
		if (psys_pidfd_send_signal(fd, signal, NULL, 0) < 0 && fd < 0)
			psys_kill(process.pid, signal);
	}
	psys_close(fd);
}

static void signal_program(const struct shared *shared, int signal)
{
	if (shared->pid > 0 && !shared->has_status)
		psys_kill(shared->pid, signal);
}

static void signal_all(const struct setting *setting, struct shared *shared, int signal)
{
	if (setting->options.leave) {
		signal_program(shared, signal);
		return;
	}
	const int count = find_descendants();
	for (int i = 0; i < count; i++)
		signal_found(shared, &found[i], signal);
	if (setting->is_init)
		psys_kill(-1, signal);
	else if (!setting->has_proc) /* the library has made the reaper lead a process group */
		psys_kill(0, signal);
}

/* SIGCONT comes last: a stopped process gets the other signals only then. */
static void obey(const struct setting *setting, struct shared *shared)
{
	for (int i = 1; i <= MOST_SIGNAL + 1; i++) {
		const int signal = i > MOST_SIGNAL ? PSYS_SIGCONT : i;
		if (i == PSYS_SIGCONT)
			continue;
		if (__atomic_exchange_n(&shared->to_program[signal], 0, __ATOMIC_ACQ_REL))
			signal_program(shared, signal);
		if (__atomic_exchange_n(&shared->to_all[signal], 0, __ATOMIC_ACQ_REL))
			signal_all(setting, shared, signal);
	}
}

/* --- ends ------------------------------------------------------------------------------------- */

static void see_end(struct shared *shared, const struct psys_siginfo *info,
		    const struct psys_rusage *usage)
{
	const int code = info->code, status = info->u.child.status;

	/* A program may have called ptrace(2) with PTRACE_TRACEME: the detach lets it go on. */
	if (code != PSYS_CLD_EXITED && code != PSYS_CLD_KILLED && code != PSYS_CLD_DUMPED) {
		const unsigned signal = status >> 8 || status == PSYS_SIGTRAP ? 0 : (unsigned)status;
		psys_ptrace(PTRACE_DETACH, info->u.child.pid, NULL, (void *)(uintptr_t)signal);
		return;
	}
	if (info->u.child.pid != shared->pid || shared->has_status)
		return;
	shared->usage = *usage;
	shared->status = code == PSYS_CLD_EXITED ? (status & 0xff) << 8 :
			 code == PSYS_CLD_DUMPED ? status | 0x80 :
						   status;
	__atomic_store_n(&shared->has_status, 1, __ATOMIC_RELEASE);
}

void reaper_turn(const struct setting *setting)
{
	struct shared *shared = setting->shared;
	const int which = setting->options.leave && !setting->is_init ? PSYS_P_PID : PSYS_P_ALL;
	struct psys_siginfo info;
	struct psys_rusage usage;
	int r;

	obey(setting, shared);
	do {
		info.u.child.pid = 0;
		r = psys_waitid(which, shared->pid, &info, PSYS_WEXITED | PSYS_WNOHANG, &usage);
		if (info.u.child.pid)
			see_end(shared, &info, &usage);
	} while (info.u.child.pid);
	if (r == -PSYS_ECHILD)
		__atomic_store_n(&shared->is_empty, 1, __ATOMIC_RELEASE);
}

static void let_go_of_files(void)
{
	if (psys_close_range(0, ~0U, 0) < 0)
		for (int fd = 0; fd < 1024; fd++) /* before Linux 5.9 */
			psys_close(fd);
	psys_chdir("/");
}

/* After the program's start the reaper leaves the tool's process group, as somebody may send
 * SIGKILL to the group. The library has set PR_SET_PDEATHSIG to SIGKILL until the exec, but the
 * reaper never calls exec. */
int reaper_main(void *arg)
{
	const struct psys_timespec moment = { 0, 10000000 };
	const struct setting *setting = arg;
	struct shared *shared = setting->shared;
	struct psys_sigset set;
	const int helper = psys_getppid();

	psys_sigfillset(&set);
	psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	psys_prctl(PSYS_PR_SET_PDEATHSIG, PSYS_SIGCONT, 0, 0, 0);
	program_start(setting);
	let_go_of_files();
	psys_setpgid(0, 0);
	for (;;) {
		const bool is_orphan = psys_getppid() != helper;
		if (is_orphan)
			shared->to_all[PSYS_SIGKILL] = 1;
		reaper_turn(setting);
		if (shared->is_empty)
			return -PSYS_ECANCELED;
		if (shared->has_status && !is_orphan)
			psys_kill(setting->tool, PSYS_SIGCHLD);
		psys_rt_sigtimedwait(&set, NULL, is_orphan ? &moment : NULL, PSYS_SIGSET_SIZE);
	}
}
