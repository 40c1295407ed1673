/* SPDX-License-Identifier: MIT */
/* Makes the world of a run, and random callers. */
#define _GNU_SOURCE
#include "model.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

enum { MOST_REFUSED = 4 };

struct world world;

static char path_variable[300] = "PATH=";
const char *const trial_environment[] = { path_variable, "A=old", "X=y", NULL };

static const char *const made[] = { "model-reporter",     "writer",       "output",       "plain",
				    "model-text",         "model-script", "model-orphan", "score",
				    "sub/model-reporter", "sub" };

static bool write_file(const char *name, const void *bytes, size_t size, mode_t mode)
{
	const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	const bool is_written =
		fd >= 0 && write(fd, bytes, size) == (ssize_t)size && fchmod(fd, mode) == 0;

	close(fd);
	return is_written;
}

static bool write_text(const char *name, const char *text, mode_t mode)
{
	return write_file(name, text, strlen(text), mode);
}

static bool copy_program(const char *own_program, const char *name, const char *copy)
{
	static char bytes[4 << 20];
	char path[PATH_MAX];
	const char *slash = strrchr(own_program, '/');
	const int length = slash ? (int)(slash - own_program + 1) : 0;

	snprintf(path, sizeof path, "%.*s%s", length, own_program, name);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t size = read(fd, bytes, sizeof bytes);
	close(fd);
	return size > 0 && write_file(copy, bytes, (size_t)size, 0755);
}

bool world_make(const char *own_program)
{
	char line[256], program[PATH_MAX];

	if (!realpath(own_program, program))
		return false;
	snprintf(world.directory, sizeof world.directory, "/tmp/aspawn-model-XXXXXX");
	if (!mkdtemp(world.directory) || chmod(world.directory, 0777) < 0 ||
	    chdir(world.directory) < 0)
		return false;
	snprintf(world.reporter, sizeof world.reporter, "%s/model-reporter", world.directory);
	snprintf(world.writer, sizeof world.writer, "%s/writer", world.directory);
	snprintf(world.output, sizeof world.output, "%s/output", world.directory);
	snprintf(world.paths, sizeof world.paths, "%s/sub:%s:/bin", world.directory,
		 world.directory);
	snprintf(path_variable, sizeof path_variable, "PATH=%s", world.paths);
	snprintf(world.link, sizeof world.link, "%s/score", world.directory);
	umask(022);
	if (!copy_program(program, "reporter", "model-reporter") ||
	    !copy_program(program, "writer", "writer") || mkdir("sub", 0755) < 0 ||
	    symlink("/proc/self/oom_score_adj", world.link) < 0)
		return false;
	snprintf(line, sizeof line, "exec %s %s of_text \"$@\"\n", world.reporter, world.output);
	if (!write_text("model-text", line, 0755))
		return false;
	snprintf(line, sizeof line, "#!%s %s\n", world.reporter, world.output);
	return write_text("model-script", line, 0755) &&
	       write_text("model-orphan", "#!/none/sh\n", 0755) &&
	       write_text("plain", "plain\n", 0666) && write_text("sub/model-reporter", "", 0644) &&
	       write_text("output", "", 0666);
}

void world_remove(void)
{
	if (!*world.directory || chdir(world.directory) < 0)
		return;
	for (size_t i = 0; i < sizeof made / sizeof *made; i++)
		if (unlink(made[i]) < 0)
			rmdir(made[i]);
	rmdir(world.directory);
}

/* --- descriptors ---------------------------------------------------------- */

static void open_as(int number, const char *path, int flags)
{
	const int fd = open(path, flags);

	if (fd < 0 || (fd != number && dup3(fd, number, flags & O_CLOEXEC) < 0))
		_exit(3);
	if (fd != number)
		close(fd);
}

static void open_descriptors(struct random *random)
{
	close_range(3, ~0U, 0);
	open_as(0, "/dev/null", O_RDONLY);
	open_as(CLOEXEC_FD, "/etc/group", O_RDONLY | O_CLOEXEC);
	open_as(FILE_FD, "/etc/passwd", O_RDONLY);
	open_as(NULL_FD, "/dev/null", O_RDWR);
	open_as(DIRECTORY_FD, world.directory, O_RDONLY | O_DIRECTORY);
	open_as(NAMESPACE_FD, "/proc/self/ns/uts", O_RDONLY);
	open_as(OTHER_FILE_FD, "/etc/group", O_RDONLY);
	open_as(HIGH_FD, "/etc/passwd", O_RDONLY);
	const int end = random_below(random, 4) ? 320 : 1000;
	for (int fd = 320; fd < end; fd++)
		fcntl(NULL_FD, F_DUPFD_CLOEXEC, fd);
	for (int fd = 0; fd < 3; fd++)
		if (random_below(random, 8) == 0)
			close(fd);
}

/* --- the rest ------------------------------------------------------------- */

static void handle(int signal)
{
	(void)signal;
}

static void set_signals(struct random *random)
{
	static const int ignored[] = { SIGHUP, SIGPIPE, SIGTERM, SIGUSR1, SIGINT, 40 },
			 blocked[] = { SIGUSR2, SIGTERM, SIGHUP, 41 };
	sigset_t set;

	sigemptyset(&set);
	for (int number = 1; number <= 64; number++)
		signal(number, SIG_DFL);
	signal(SIGUSR2, handle);
	signal(SIGALRM, handle);
	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		if (random_below(random, 2))
			signal(ignored[i], SIG_IGN);
	for (size_t i = 0; i < sizeof blocked / sizeof *blocked; i++)
		if (random_below(random, 3) == 0)
			sigaddset(&set, blocked[i]);
	sigprocmask(SIG_SETMASK, &set, NULL);
}

/* Sets no CPU limit and no RLIMIT_NPROC: a user's limits are shared with other programs. */
static void set_limits(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > 1024) {
		limit.rlim_cur = 1024;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static void become_other_user(void)
{
	const gid_t group = 65534;

	if (setgroups(1, &group) < 0 || setresgid(group, group, group) < 0 ||
	    setresuid(65534, 65534, 65534) < 0)
		return;
	prctl(PR_SET_DUMPABLE, 1);
}

/* Lets a trapped call fail with ENOSYS. */
static void fail_trapped_call(int signal, siginfo_t *info, void *context)
{
	ucontext_t *const interrupted = context;

	(void)signal, (void)info;
#ifdef __x86_64__
	interrupted->uc_mcontext.gregs[REG_RAX] = -ENOSYS;
#elif defined(__aarch64__)
	interrupted->uc_mcontext.regs[0] = (unsigned long)-ENOSYS;
#else
	(void)interrupted;
#endif
}

/* Returns false on an architecture that the handler does not know. */
static bool handle_trapped_calls(void)
{
#if defined(__x86_64__) || defined(__aarch64__)
	const struct sigaction action = { .sa_sigaction = fail_trapped_call,
					  .sa_flags = SA_SIGINFO };

	return sigaction(SIGSYS, &action, NULL) == 0;
#else
	return false;
#endif
}

/* A filter answers the calls, as in a sandbox. */
static void filter_calls(const int *calls, unsigned count, unsigned answer)
{
	struct sock_filter filter[2 * MOST_REFUSED + 2] = { BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)) };
	struct sock_fprog program = { (unsigned short)(2 * count + 2), filter };

	for (unsigned i = 0; i < count; i++) {
		filter[2 * i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
								 (unsigned)calls[i], 0, 1);
		filter[2 * i + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer);
	}
	filter[2 * count + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 &&
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* The library has something in place of each call. Neither the model nor a program makes one of the
 * calls for commands. */
static void refuse_something(struct random *random, bool has_queue)
{
	static const int newer[] = { SYS_clone3, SYS_pidfd_open, SYS_pidfd_send_signal,
				     SYS_pidfd_getfd },
			 of_queues[] = {
				 SYS_kill,
				 SYS_kcmp,
				 SYS_epoll_pwait,
#ifdef SYS_wait4
				 SYS_wait4,
#endif
			 };
	const unsigned count = sizeof newer / sizeof *newer, first = random_below(random, count),
		       others = sizeof of_queues / sizeof *of_queues;
	const unsigned error = SECCOMP_RET_ERRNO | (unsigned)ONE_OF(random, EPERM, ENOSYS);

	if (random_below(random, 4) == 0 && handle_trapped_calls())
		filter_calls(newer, 1, SECCOMP_RET_TRAP);
	else if (has_queue && random_below(random, 2))
		filter_calls(&of_queues[random_below(random, others)], 1, error);
	else
		filter_calls(&newer[first], 1 + random_below(random, count - first), error);
}

static bool reaps_elsewhere;

static void *reap_for_ever(void *unused)
{
	(void)unused;
	for (;;)
		if (waitpid(-1, NULL, 0) < 0)
			usleep(100);
	return NULL;
}

/* Another wait of the caller, or the kernel, reaps the children. */
static void reap_elsewhere(struct random *random)
{
	pthread_t thread;

	reaps_elsewhere = true;
	if (random_below(random, 2))
		signal(SIGCHLD, SIG_IGN);
	else
		pthread_create(&thread, NULL, reap_for_ever, NULL);
}

bool caller_may_lose_status(const struct trial *trial)
{
	struct utsname system;
	int version = 0, patch_level = 0;

	if (uname(&system) == 0)
		sscanf(system.release, "%d.%d", &version, &patch_level);
	/* Without clone3(2), or for a caller that is not dumpable, a helper opens the pidfd by
	 * number. */
	return reaps_elsewhere &&
	       (version * 1000 + patch_level < 6015 || trial->flags & ASPAWN_COMMAND_NO_PIDFD ||
		prctl(PR_GET_SECCOMP) || prctl(PR_GET_DUMPABLE) != 1);
}

static void *pause_for_ever(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return NULL;
}

/* Afterwards the peak of the memory is more than the memory: nobody can reset the peak unseen. */
static void raise_peak(void)
{
	enum { SIZE = 8 << 20 };
	void *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return;
	memset(memory, 1, SIZE);
	munmap(memory, SIZE);
}

void caller_become(uint64_t trial, bool has_queue)
{
	struct random r, *const random = &r;
	pthread_t thread;

	random_begin(random, ~(trial / TRIALS_OF_CALLER));
	raise_peak();
	open_descriptors(random);
	set_signals(random);
	set_limits();
	if (random_below(random, 8) == 0)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (random_below(random, 4) == 0)
		become_other_user();
	if (random_below(random, 8) == 0)
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (random_below(random, 8) == 0)
		prctl(PR_SET_DUMPABLE, 0);
	if (random_below(random, 4) == 0)
		pthread_create(&thread, NULL, pause_for_ever, NULL);
	if (random_below(random, 8) == 0 && !has_queue)
		reap_elsewhere(random);
	if (random_below(random, has_queue ? 2 : 4) == 0)
		refuse_something(random, has_queue);
}
