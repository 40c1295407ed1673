/* SPDX-License-Identifier: MIT */
/* Runs the tool from its start to its exit code. */
#include "cli.h"

/* Otherwise a file that the tool opens could get the number of a closed stream. The exec closes the
 * placeholder again. */
static void hold_streams(struct setting *setting)
{
	for (int fd = 0; fd < 3; fd++) {
		setting->is_closed[fd] = psys_fcntl(fd, PSYS_F_GETFD, 0) < 0;
		if (setting->is_closed[fd])
			psys_eventfd2(0, PSYS_EFD_CLOEXEC);
	}
}

static void take_signals(struct setting *setting)
{
	const struct psys_sigaction usual = { .handler = PSYS_SIG_DFL };
	struct psys_sigaction old = usual;
	struct psys_sigset all;

	psys_sigfillset(&all);
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &all, &setting->mask, PSYS_SIGSET_SIZE);
	psys_rt_sigaction(PSYS_SIGCHLD, &usual, &old, PSYS_SIGSET_SIZE);
	setting->ignores_sigchld = old.handler == PSYS_SIG_IGN;
}

/* Opens a file that an option names. */
static int open_named(struct options *options, const char *option, const char *path, int flags)
{
	struct text error;
	const int fd = psys_open(path, flags | PSYS_O_CLOEXEC, 0666);
	const long r = fd < 0 ? fd : flags == PSYS_O_RDONLY ? psys_read(fd, &error, 0) : 0;

	if (r < 0) { /* EISDIR of a directory */
		text_set(&error, "%e", (int)r);
		options_refuse(options, option, path, error.at);
	}
	return r < 0 ? -1 : fd;
}

static void open_stdin(struct setting *setting)
{
	struct options *options = &setting->options;

	if (options->stdin_file)
		setting->streams[0] =
			open_named(options, "--stdin", options->stdin_file, PSYS_O_RDONLY);
}

/* The parent's number may be another process's by the time of the open: the second look tells. */
static void watch_parent(struct setting *setting)
{
	if (!setting->options.dies_with_parent)
		return;
	const int parent = psys_getppid();
	const int fd = parent > 0 ? psys_pidfd_open(parent, 0) : -PSYS_ESRCH;
	if (fd < 0 || psys_getppid() != parent)
		options_refuse(&setting->options, "--die-with-parent", NULL,
			       "the parent process cannot be watched");
	setting->parent_fd = fd;
}

/* True if /proc lists the children of processes, and is of this pid namespace. */
static bool has_proc(int pid)
{
	char link[PSYS_DECIMAL_SIZE], self[PSYS_DECIMAL_SIZE];
	const long length = psys_readlinkat(PSYS_AT_FDCWD, "/proc/self", link, sizeof link - 1);

	link[length > 0 ? length : 0] = '\0';
	psys_u64_to_decimal(self, (unsigned)pid);
	return psys_strcmp(link, self) == 0 &&
	       psys_faccessat(PSYS_AT_FDCWD, "/proc/thread-self/children", PSYS_R_OK) >= 0;
}

/* The file for JSON is opened first, as the object also tells the errors of other options. */
static void prepare(struct setting *setting)
{
	struct options *options = &setting->options;

	take_signals(setting);
	setting->tool = psys_getpid();
	setting->is_init = setting->tool == 1;
	setting->has_proc = has_proc(setting->tool);
	setting->reaps = setting->is_init || options->leave;
	setting->cgroup = setting->parent_fd = -1;
	if (options->kill_after < 0)
		options->kill_after = setting->is_init ? 8000 : 10000;
	if (options->json_fd > 2)
		psys_fcntl(options->json_fd, PSYS_F_SETFD, PSYS_FD_CLOEXEC);
	if (options->json_file)
		options->json_fd = open_named(options, "--json", options->json_file,
					      PSYS_O_WRONLY | PSYS_O_CREAT | PSYS_O_TRUNC);
}

int main(int argc, char **argv, char **envp)
{
	static struct setting setting;
	/* Each function looks for its options. */
	static void (*const steps[])(struct setting *) = {
		open_stdin, watch_parent, user_find, streams_prepare, cgroup_make, supervise
	};

	hold_streams(&setting);
	options_read(&setting.options, argc, argv);
	if (setting.options.is_answered && !*setting.options.error)
		return 0;
	setting.options.envp = envp;
	prepare(&setting);
	setting.shared = psys_mmap(NULL, sizeof *setting.shared, PSYS_PROT_READ | PSYS_PROT_WRITE,
				   PSYS_MAP_SHARED | PSYS_MAP_ANONYMOUS, -1, 0);
	if ((uintptr_t)setting.shared > -4096UL) {
		say("there is no memory");
		return CODE_TOOL;
	}
	for (size_t i = 0; i < sizeof steps / sizeof *steps && !*setting.options.error; i++)
		steps[i](&setting);
	cgroup_end(&setting);
	return report(&setting);
}
