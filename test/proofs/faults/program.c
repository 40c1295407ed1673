/* SPDX-License-Identifier: MIT */
/*
 * Scenarios start this program. The program exits with 42 if started as requested. The program
 * exits with 43 if a check fails, of what every program inherits or of what the arguments name.
 */
#include <stdbool.h>

#include <syscall/string.h>
#include <syscall/syscall.h>

static bool is_inherited(bool blocked)
{
	struct psys_sigset mask = { { 0 } };
	struct psys_sigaction caught = { 0 }, ignored = { 0 };

	psys_rt_sigprocmask(PSYS_SIG_BLOCK, NULL, &mask, PSYS_SIGSET_SIZE);
	psys_rt_sigaction(PSYS_SIGHUP, NULL, &caught, PSYS_SIGSET_SIZE);
	psys_rt_sigaction(PSYS_SIGUSR2, NULL, &ignored, PSYS_SIGSET_SIZE);
	return psys_sigismember(&mask, PSYS_SIGUSR1) == blocked &&
	       !psys_sigismember(&mask, PSYS_SIGCHLD) && !psys_sigismember(&mask, PSYS_SIGPIPE) &&
	       caught.handler == PSYS_SIG_DFL && ignored.handler == PSYS_SIG_IGN;
}

static bool is_reset(void)
{
	struct psys_sigset mask = { { 0 } }, none;
	struct psys_sigaction ignored = { 0 };

	psys_sigemptyset(&none);
	psys_rt_sigprocmask(PSYS_SIG_BLOCK, NULL, &mask, PSYS_SIGSET_SIZE);
	psys_rt_sigaction(PSYS_SIGUSR2, NULL, &ignored, PSYS_SIGSET_SIZE);
	return !psys_memcmp(&mask, &none, PSYS_SIGSET_SIZE) && ignored.handler == PSYS_SIG_DFL;
}

/* An ignored signal may be blocked too: the library starts a program where it may not reset the
 * signal. */
static bool blocks_nothing(void)
{
	struct psys_sigset mask = { { 0 } }, none;

	psys_sigemptyset(&none);
	psys_rt_sigprocmask(PSYS_SIG_BLOCK, NULL, &mask, PSYS_SIGSET_SIZE);
	return !psys_memcmp(&mask, &none, PSYS_SIGSET_SIZE);
}

/* True if SET=1 is the whole environment. */
static bool has_only_set(char *const *envp)
{
	return envp[0] && !psys_strcmp(envp[0], "SET=1") && !envp[1];
}

static bool is_open(int fd)
{
	return psys_fcntl(fd, PSYS_F_GETFD, 0) >= 0;
}

static bool has_only_standard_streams(void)
{
	for (int fd = 3; fd < 256; fd++)
		if (is_open(fd))
			return false;
	return is_open(0) && is_open(1) && is_open(2);
}

/* True if all streams are the terminal of a session that the process leads in the foreground. */
static bool has_terminal(void)
{
	struct psys_winsize size;
	int group = 0;

	for (int fd = 0; fd < 3; fd++)
		if (psys_ioctl(fd, PSYS_TIOCGWINSZ, (uintptr_t)&size) < 0 || size.ws_row != 24 ||
		    size.ws_col != 80)
			return false;
	return psys_ioctl(0, PSYS_TIOCGPGRP, (uintptr_t)&group) >= 0 && group == psys_getpid() &&
	       psys_getsid(0) == group;
}

static bool copies(void)
{
	char text[4096];
	long length;

	while ((length = psys_read(0, text, sizeof text)) > 0)
		if (psys_write(1, text, (size_t)length) != length)
			return false;
	return length == 0;
}

static bool lingers(void)
{
	for (;;)
		psys_ppoll(NULL, 0, NULL, NULL, 0);
}

static bool stays(void)
{
	const struct psys_sigaction ignore = { .handler = PSYS_SIG_IGN };

	psys_rt_sigaction(PSYS_SIGTERM, &ignore, NULL, PSYS_SIGSET_SIZE);
	psys_write(1, "ready\n", 6);
	return lingers();
}

/* Leaves a process in a session of its own, whose parent has ended. */
static bool scatters(void)
{
	const int middle = psys_fork();

	if (middle)
		return middle > 0 && psys_wait4(middle, NULL, 0, NULL) == middle;
	psys_setsid();
	if (psys_fork())
		psys_exit_group(0);
	return lingers();
}

static bool is_true(const char *what)
{
	char directory[64];

	if (!psys_strcmp(what, "unblocked") || !psys_strcmp(what, "reset") ||
	    !psys_strcmp(what, "usual"))
		return true;
	if (!psys_strcmp(what, "closed"))
		return has_only_standard_streams();
	if (!psys_strcmp(what, "root"))
		return psys_getcwd(directory, sizeof directory) == 2 && psys_umask(0) == 027;
	if (!psys_strcmp(what, "leads"))
		return psys_getpgid(0) == psys_getpid();
	if (!psys_strcmp(what, "terminal"))
		return has_terminal();
	if (!psys_strcmp(what, "user"))
		return psys_getuid() == 65534 && psys_getgid() == 65534 &&
		       psys_getgroups(0, NULL) == 1;
	if (!psys_strcmp(what, "writes"))
		return psys_write(1, "written\n", 8) == 8;
	if (!psys_strcmp(what, "complains"))
		return psys_write(2, "written\n", 8) == 8;
	if (!psys_strcmp(what, "copies"))
		return copies();
	if (!psys_strcmp(what, "lingers"))
		return lingers();
	if (!psys_strcmp(what, "scatters"))
		return scatters();
	if (!psys_strcmp(what, "scatters and stays"))
		return scatters() && psys_write(1, "ready\n", 6) == 6 && lingers();
	if (!psys_strcmp(what, "stays"))
		return stays();
	return false;
}

int main(int argc, char **argv);
int main(int argc, char **argv)
{
	bool right = argc > 1 && !psys_strcmp(argv[1], "reset") ?
			     is_reset() :
		     argc > 1 && !psys_strcmp(argv[1], "usual") ?
			     blocks_nothing() :
			     is_inherited(argc < 2 || psys_strcmp(argv[1], "unblocked") != 0);

	for (int i = 1; i < argc; i++)
		right = (psys_strcmp(argv[i], "environment") ? is_true(argv[i]) :
							       has_only_set(argv + argc + 1)) &&
			right;
	return right ? 42 : 43;
}
