/* SPDX-License-Identifier: MIT */
/* Runs the tables of doc/preexec.md, which documents.t writes to preexec.h, and prints TAP. As the
 * program of a command it prints what a table can have changed. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <aspawn/command.h>

#include "preexec.h"

#define TABLE(name) #name, name, sizeof name / sizeof *name
static const struct {
	const char *name;
	const struct aspawn_action *actions;
	size_t count;
	const char *shows; /* words of what show() prints */
} tables[] = {
	{ TABLE(alacritty), "session=1 terminal=1 term=1 descriptors=3" },
	{ TABLE(mgetty), "session=1 terminal=1 foreground=1 mode=20620 nonblock=0" },
	{ TABLE(pwntools), "core=0 no_new_privs=1 fixed=1" },
	{ TABLE(lurk), "fixed=1" },
	{ TABLE(runc), "keyring=1 no_new_privs=1 umask=27 scheduler=3" },
	{ TABLE(umu), "session=1 subreaper=1" },
	{ TABLE(onyx), "group=1 death=9" },
	{ TABLE(salt), "user=65534 umask=27" },
	{ TABLE(autograder), "processes=1000 stack=4194304 memory=4294967296" },
	{ TABLE(crispresso), "pipe=1" },
};

static long keyring(void)
{
	return syscall(SYS_keyctl, PSYS_KEYCTL_GET_KEYRING_ID, PSYS_KEY_SPEC_SESSION_KEYRING, 0);
}

static unsigned long long limit(int resource)
{
	struct rlimit now = { 0, 0 };

	getrlimit(resource, &now);
	return now.rlim_cur;
}

static int is_default(int signal)
{
	struct sigaction action;

	return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_DFL;
}

/* Where a container forbids the call, addresses count as fixed. */
static int has_fixed_addresses(void)
{
	const long now = syscall(SYS_personality, 0xffffffffUL);

	return now & 0x0040000 || syscall(SYS_personality, now | 0x0040000) < 0;
}

static void show(long callers_keyring)
{
	int death = 0, subreaper = 0, descriptors = 0;
	struct stat status = { .st_mode = 0 };

	prctl(PR_GET_PDEATHSIG, &death);
	prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
	fstat(0, &status);
	for (int fd = 0; fd < 100; fd++)
		descriptors += fcntl(fd, F_GETFD) >= 0;
	printf(" session=%d group=%d terminal=%d foreground=%d mode=%o nonblock=%d",
	       getsid(0) == getpid(), getpgrp() == getpid(), open("/dev/tty", O_RDWR) >= 0,
	       tcgetpgrp(0) == getpgrp(), (unsigned)status.st_mode,
	       !!(fcntl(0, F_GETFL) & O_NONBLOCK));
	printf(" term=%d pipe=%d descriptors=%d death=%d subreaper=%d", is_default(SIGTERM),
	       is_default(SIGPIPE), descriptors, death, subreaper);
	printf(" no_new_privs=%d fixed=%d scheduler=%d keyring=%d umask=%o user=%u",
	       prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), has_fixed_addresses(), sched_getscheduler(0),
	       keyring() != callers_keyring, (unsigned)umask(0), getuid());
	printf(" core=%llu processes=%llu stack=%llu memory=%llu \n", limit(RLIMIT_CORE),
	       limit(RLIMIT_NPROC), limit(RLIMIT_STACK), limit(RLIMIT_AS));
}

/* Returns true if the text has all words. */
static int has_all(const char *text, const char *words)
{
	char word[64], *copy = strdup(words), *rest = copy;

	for (const char *one; (one = strtok_r(rest, " ", &rest));) {
		snprintf(word, sizeof word, " %s ", one);
		if (!strstr(text, word)) {
			printf("# not%s\n", word);
			free(copy);
			return 0;
		}
	}
	free(copy);
	return 1;
}

static int open_terminal(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	return master < 0 || grantpt(master) || unlockpt(master) ?
		       -1 :
		       open(ptsname(master), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
}

/* A traced child stops at its exec. */
static int release_traced(struct aspawn_child *child, int is_traced)
{
	int status;

	if (!is_traced)
		return 1;
	const pid_t pid = aspawn_pid(child);
	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status) ||
	    WSTOPSIG(status) != SIGTRAP)
		return 0;
	return ptrace(PTRACE_DETACH, pid, NULL, NULL) == 0;
}

static void run(size_t number, int terminal)
{
	const char *name = tables[number].name;
	char own[24], text[1024] = "", why[300];
	struct aspawn_command command = { .size = sizeof command };
	struct aspawn_failure failure;
	struct aspawn_child child;
	int status = -1;

	snprintf(own, sizeof own, "%ld", keyring());
	command.argv = (char *const[]){ "/proc/self/exe", own, NULL };
	command.actions = tables[number].actions;
	command.action_count = tables[number].count;
	command.std_in = terminal;
	command.std_out = ASPAWN_STREAM_PIPE;
	if (!strcmp(name, "salt") && geteuid()) {
		printf("ok %zu - %s # SKIP not root\n", number + 1, name);
		return;
	}
	if (aspawn_start(&child, &command) < 0 || aspawn_wait_started(&child, &failure, -1) < 0) {
		const int refused = failure.error == -EPERM || failure.error == -ENOSYS;
		aspawn_failure_text(why, sizeof why, &failure);
		printf("%s %zu - %s # %s%s\n", refused ? "ok" : "not ok", number + 1, name,
		       refused ? "SKIP " : "", why);
		aspawn_release(&child);
		return;
	}
	int right = release_traced(&child, !strcmp(name, "lurk"));
	for (ssize_t length = 0, more;
	     (more = read(child.out_fd, text + length, sizeof text - 1 - (size_t)length)) > 0;)
		length += more;
	close(child.out_fd);
	right = aspawn_wait(&child, &status, NULL, -1) == 0 && status == 0 && right &&
		has_all(text, tables[number].shows);
	printf("%s %zu - %s\n", right ? "ok" : "not ok", number + 1, name);
	if (!right)
		printf("# %d%s\n", status, text);
}

int main(int argc, char **argv)
{
	struct rlimit core;

	if (argc > 1) {
		show(atol(argv[1]));
		return 0;
	}
	const int terminal = open_terminal();
	/* What a table shall change. */
	getrlimit(RLIMIT_CORE, &core);
	core.rlim_cur = core.rlim_max;
	setrlimit(RLIMIT_CORE, &core);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	umask(0);
	printf("1..%zu\n", sizeof tables / sizeof *tables);
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		fflush(stdout);
		run(i, terminal);
	}
	return 0;
}
