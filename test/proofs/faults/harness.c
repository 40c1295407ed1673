/* SPDX-License-Identifier: MIT */
/* The process of a scenario compares its state before and after, and installs the filter. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <syscall/syscall.h>

#include "harness.h"

enum { NOT_HERE = 77 };

/* Invalid calls inform the supervisor. The numbers are in faults.py too. */
enum mark { FAULTS_OFF = 1000000, FAULTS_ON, BEGIN, FAILED, END };

char program[PATH_MAX], directory[PATH_MAX], script[PATH_MAX];
static int broken, ran;
static bool unknown;

static void tell(enum mark mark, int argument)
{
	psys_call1(mark, argument); /* leaves errno as it is */
}

void faults(bool on)
{
	tell(on ? FAULTS_ON : FAULTS_OFF, 0);
}

void promise(bool kept, const char *what, ...)
{
	va_list arguments;

	if (kept)
		return;
	broken++;
	va_start(arguments, what);
	vprintf(what, arguments);
	va_end(arguments);
	putchar('\n');
}

void it_ran(void)
{
	__atomic_add_fetch(&ran, 1, __ATOMIC_RELAXED); /* threads do */
}

void it_may_have_run(void)
{
	unknown = true;
}

void not_here(const char *why)
{
	printf("%s: %s\n", why, strerror(errno));
	exit(NOT_HERE);
}

int status_of(pid_t pid)
{
	int status = -1;

	promise(waitpid(pid, &status, 0) == pid, "there is no child %d", pid);
	return status;
}

/* --- the state that a spawn must not change ------------------------------------------ */

struct world {
	char text[16384];
	size_t length;
};

static void add(struct world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct world *world, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	world->length += (size_t)vsnprintf(world->text + world->length,
					   sizeof world->text - world->length, format, arguments);
	va_end(arguments);
}

static size_t read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t length = 0;

	for (ssize_t r; (r = read(fd, text + length, size - 1 - length)) > 0;)
		length += (size_t)r;
	close(fd);
	text[length] = '\0';
	return length;
}

static void add_descriptors(struct world *world)
{
	char target[256];
	DIR *fds = opendir("/proc/self/fd");

	for (struct dirent *entry; (entry = readdir(fds));) {
		const int fd = atoi(entry->d_name);
		ssize_t length = readlinkat(dirfd(fds), entry->d_name, target, sizeof target);
		if (length >= 0 && fd != dirfd(fds))
			add(world, "descriptor %d is %.*s, flags %#x\n", fd, (int)length, target,
			    (unsigned)fcntl(fd, F_GETFD));
	}
	closedir(fds);
}

/* The heap and the program's own stack may grow. */
static void add_mappings(struct world *world)
{
	static char maps[65536];
	int count = 0;

	read_file("/proc/self/maps", maps, sizeof maps);
	for (char *line = strtok(maps, "\n"); line; line = strtok(NULL, "\n"))
		count += !strstr(line, "[heap]") && !strstr(line, "[stack]");
	add(world, "mappings: %d\n", count);
}

/* proc_pid_status(5): the signals pending, blocked, ignored and caught, the users, and more. */
static void add_status(struct world *world)
{
	static const char kept[] =
		"Name Umask Threads Uid Gid Groups SigPnd ShdPnd SigBlk SigIgn SigCgt "
		"CapInh CapPrm CapEff CapBnd CapAmb NoNewPrivs Cpus_allowed";
	char status[8192];

	read_file("/proc/self/status", status, sizeof status);
	for (char *line = strtok(status, "\n"); line; line = strtok(NULL, "\n")) {
		line[strcspn(line, ":")] = '\0';
		if (strstr(kept, line))
			add(world, "%s: %s\n", line, line + strlen(line) + 2);
	}
}

static void add_rest(struct world *world)
{
	char text[PATH_MAX] = "";

	add(world, "directory: %s\n", getcwd(text, sizeof text));
	read_file("/proc/self/oom_score_adj", text, sizeof text);
	add(world, "oom_score_adj: %s", text);
	add(world, "dumpable: %d\n", prctl(PR_GET_DUMPABLE));
	add(world, "group %d, session %d, nice %d\n", getpgrp(), getsid(0),
	    getpriority(PRIO_PROCESS, 0));
	gethostname(text, sizeof text);
	add(world, "host: %s\n", text);
	add(world, "children: %s\n",
	    waitid(P_ALL, 0, &(siginfo_t){ 0 }, WEXITED | WNOHANG | WNOWAIT) < 0 ? "none" : "some");
}

static void take(struct world *world)
{
	world->length = 0;
	add_descriptors(world);
	add_mappings(world);
	add_status(world);
	add_rest(world);
}

/* Prints the lines of one state that are missing in the other state. */
static void compare(const struct world *one, const struct world *other, const char *what)
{
	char text[sizeof one->text], *place;

	memcpy(text, one->text, one->length + 1);
	for (char *line = strtok_r(text, "\n", &place); line; line = strtok_r(NULL, "\n", &place)) {
		const size_t length = strlen(line);
		const char *at = other->text;
		while (at && !(!strncmp(at, line, length) && at[length] == '\n'))
			at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
		promise(at, "%s: %s", what, line);
	}
}

/* --- the filter: each call asks the supervisor ---------------------------------------- */

static void install_filter(int socket)
{
	struct sock_filter all_but_sendmsg[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendmsg, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
	};
	struct sock_fprog code = { sizeof all_but_sendmsg / sizeof *all_but_sendmsg,
				   all_but_sendmsg };
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 0;
	struct iovec data = { &byte, 1 };
	struct msghdr message = { .msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof control };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	int listener = (int)syscall(
		SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &code);
	if (listener < 0)
		not_here("no seccomp filters");
	memcpy(CMSG_DATA(header), &listener, sizeof listener);
	while (sendmsg(socket, &message, 0) < 0 && errno == ETOOMANYREFS)
		continue; /* those in flight are counted for the user */
	close(listener);
	close(socket);
}

/* --- the process ------------------------------------------------------------------------ */

static void on_signal(int signal)
{
	(void)signal;
}

/* Sets dispositions and a mask, for the program to check. */
static void prepare_signals(void)
{
	sigset_t blocked;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	signal(SIGUSR2, SIG_IGN);
	signal(SIGHUP, on_signal);
	signal(SIGINT, on_signal);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
}

extern const struct scenario *const __start_scenarios[], *const __stop_scenarios[];

static const struct scenario *find(const char *name)
{
	for (const struct scenario *const *at = __start_scenarios; at < __stop_scenarios; at++)
		if (!strcmp((*at)->name, name))
			return *at;
	errno = EINVAL;
	not_here(name);
}

/* Without an argument prints the names. With NAME runs the scenario without faults, or with the
 * faults of strace. With NAME SOCKET asks the socket which calls fail. */
int main(int argc, char **argv)
{
	static struct world before, after;
	sigset_t mask;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 2) {
		for (const struct scenario *const *at = __start_scenarios; at < __stop_scenarios;
		     at++)
			puts((*at)->name);
		return 0;
	}
	const struct scenario *scenario = find(argv[1]);
	if (!realpath("/proc/self/exe", directory))
		not_here("/proc");
	*strrchr(directory, '/') = '\0';
	snprintf(program, sizeof program, "%s/program", directory);
	snprintf(script, sizeof script, "%s/script", directory);
	prepare_signals();
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* without the supervisor all calls fail */
	/* The fallback closes by number, up to the limit. */
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 256, 256 });
	setenv("PATH", directory, 1);
	if (scenario->prepare)
		scenario->prepare();
	if (!scenario->run()) {
		puts("it does not work without faults");
		return geteuid() ? NOT_HERE : 1;
	}
	if (argc > 2)
		install_filter(atoi(argv[2]));
	take(&before);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	broken = ran = 0;
	unknown = false;
	tell(BEGIN, 0);
	if (!scenario->run())
		tell(FAILED, 0);
	tell(END, unknown ? -1 : ran);
	take(&after);
	compare(&before, &after, "lost");
	compare(&after, &before, "left");
	sigprocmask(SIG_SETMASK, &mask, NULL); /* the library's restore may have failed */
	promise(scenario->run(), "it does not work any more");
	return broken ? 1 : 0;
}
