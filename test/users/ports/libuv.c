/* SPDX-License-Identifier: MIT */
/*
 * What a program sees of uv_spawn(): a line for each case, the same whether libuv is patched or
 * not, except for lines beginning with "late", "memory" or "aspawn". The program is linked with
 * --wrap=uv__aspawn, and thereby counts what the patch hands over to aspawn.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

static char output[1 << 16];
static size_t length;
static int64_t exit_status;
static int term_signal, exited;
static uv_process_t process;
static uv_pipe_t pipes[4];

static int starts, handed_over;

__attribute__((weak)) int __real_uv__aspawn(uv_loop_t *loop, uv_process_t *self,
					    const uv_process_options_t *options, int count,
					    int (*fds)[2], pid_t *pid);
int __wrap_uv__aspawn(uv_loop_t *loop, uv_process_t *self, const uv_process_options_t *options,
		      int count, int (*fds)[2], pid_t *pid);

int __wrap_uv__aspawn(uv_loop_t *loop, uv_process_t *self, const uv_process_options_t *options,
		      int count, int (*fds)[2], pid_t *pid)
{
	handed_over++;
	return __real_uv__aspawn(loop, self, options, count, fds, pid);
}

static int start(const uv_process_options_t *options)
{
	starts++;
	return uv_spawn(uv_default_loop(), &process, options);
}

static void ended(uv_process_t *self, int64_t status, int signal)
{
	exit_status = status;
	term_signal = signal;
	exited = 1;
	uv_close((uv_handle_t *)self, NULL);
}

static void give(uv_handle_t *handle, size_t size, uv_buf_t *buffer)
{
	(void)handle;
	(void)size;
	*buffer = uv_buf_init(output + length, (unsigned)(sizeof output - 1 - length));
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
	(void)buffer;
	if (count > 0)
		length += (size_t)count;
	else if (count < 0)
		uv_close((uv_handle_t *)stream, NULL);
}

/* Runs a program, whose output is a pipe unless the caller chooses the output, and prints the
 * end. */
static void show(const char *name, uv_process_options_t options, int signal)
{
	uv_loop_t *loop = uv_default_loop();
	uv_stdio_container_t stdio[3] = { { .flags = UV_IGNORE } };
	int error, owns_pipe = !options.stdio;

	length = 0;
	exited = 0;
	if (owns_pipe) {
		uv_pipe_init(loop, &pipes[0], 0);
		stdio[1].flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE;
		stdio[1].data.stream = (uv_stream_t *)&pipes[0];
		stdio[2].flags = UV_IGNORE;
		options.stdio = stdio;
		options.stdio_count = 3;
	}
	options.exit_cb = ended;
	error = start(&options);
	if (!error && signal)
		uv_process_kill(&process, signal);
	if (error)
		uv_close((uv_handle_t *)&process, NULL);
	if (owns_pipe)
		uv_read_start((uv_stream_t *)&pipes[0], give, on_read);
	uv_run(loop, UV_RUN_DEFAULT);
	output[length] = '\0';
	for (char *c = output; *c; c++)
		*c = *c == '\n' ? ' ' : *c;
	if (error)
		printf("%s: %s\n", name, uv_err_name(error));
	else if (!exited)
		printf("%s: no exit\n", name);
	else if (exit_status < 0)
		printf("%s: exit_cb %s\n", name, uv_err_name((int)exit_status));
	else
		printf("%s: exit %d signal %d: %s\n", name, (int)exit_status, term_signal, output);
	if (waitpid(-1, NULL, WNOHANG) != -1)
		printf("%s: a child is left\n", name);
	fflush(stdout);
}

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

/* Prints whether memory of the caller was copied for the child: then each page that the caller
 * writes afterwards is a fault. */
static void show_copies(const char *name, uv_process_options_t options)
{
	enum { SIZE = 1 << 20, PAGE = 1 << 12 };
	char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long before;

	madvise(memory, SIZE, MADV_NOHUGEPAGE);
	memset(memory, 1, SIZE);
	options.exit_cb = ended;
	if (start(&options))
		abort();
	before = faults();
	memset(memory, 2, SIZE);
	printf("%s: %s\n", name, faults() - before < SIZE / PAGE / 2 ? "shared" : "copied");
	fflush(stdout);
	uv_run(uv_default_loop(), UV_RUN_DEFAULT);
	munmap(memory, SIZE);
}

static void file(const char *name, const char *text, int mode)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, mode);

	if (fd < 0 || write(fd, text, strlen(text)) < 0 || close(fd) < 0)
		abort();
}

#define PROGRAM(...)                                                     \
	(uv_process_options_t)                                           \
	{                                                                \
		.file = (char *[]){ __VA_ARGS__ }[0], .args = (char *[]) \
		{                                                        \
			__VA_ARGS__, NULL                                \
		}                                                        \
	}

int main(int argc, char **argv)
{
	uv_process_options_t options;
	uv_stdio_container_t stdio[5];
	char *env[] = { "PATH=/nowhere:sub:/bin", NULL }, *none[] = { "A=b", NULL };
	struct stat stat;
	int fd, flags;
	char *large;

	if (argc != 2 || chdir(argv[1]) < 0)
		return 1;
	umask(022);
	mkdir("sub", 0755);
	file("sub/here", "#!/bin/sh\necho here\n", 0755);
	file("no-interpreter", "#!/nowhere/sh\n", 0755);
	file("text", "echo \"$0\" by a shell\n", 0755);
	file("not-executable", "#!/bin/sh\n", 0644);
	file("empty", "", 0755);
	signal(SIGUSR1, SIG_IGN);

	show("a program", PROGRAM("/bin/echo", "hello"), 0);
	show("by PATH", PROGRAM("echo", "hello"), 0);
	show("its status", PROGRAM("sh", "-c", "exit 3"), 0);
	show("its signal", PROGRAM("sh", "-c", "kill -SEGV $$"), 0);
	/* 1 to 28: libuv leaves ignored real-time signals alone, and the caller may have some. */
	show("ignored signals",
	     PROGRAM("sed", "-n", "s/^SigIgn:.*\\(.\\{7\\}\\)$/\\1/p", "/proc/self/status"), 0);
	show("blocked signals", PROGRAM("grep", "SigBlk", "/proc/self/status"), 0);
	show("descriptors", PROGRAM("find", "/proc/self/fd", "-type", "l", "-printf", "%f "), 0);
	show("missing", PROGRAM("unmae"), 0);
	show("missing by name", PROGRAM("/nowhere/unmae"), 0);
	show("a directory", PROGRAM("/bin"), 0);
	show("a directory in it", PROGRAM("./sub"), 0);
	show("not executable", PROGRAM("./not-executable"), 0);
	show("through a file", PROGRAM("./text/program"), 0);
	show("an empty name", PROGRAM(""), 0);
	show("no shebang", PROGRAM("./text"), 0);
	show("an empty file", PROGRAM("./empty"), 0);
	show("killed at once", PROGRAM("sleep", "60"), SIGTERM);
	show("killed at once by SIGKILL", PROGRAM("sleep", "60"), SIGKILL);
	show("a signal that it would ignore", PROGRAM("/bin/echo", "lives"), SIGCHLD);

	options = PROGRAM("pwd");
	options.cwd = "/usr";
	show("a directory to run in", options, 0);
	options.cwd = "/nowhere";
	show("no directory to run in", options, 0);
	options.cwd = "";
	show("an empty name of a directory", options, 0);
	options.cwd = "text";
	show("a file to run in", options, 0);
	options = PROGRAM("./here");
	options.cwd = "sub";
	show("a program of the directory", options, 0);
	options = PROGRAM("here");
	options.env = env;
	show("a relative component of PATH", options, 0);
	options.cwd = "sub";
	show("the same in another directory", options, 0);
	options = PROGRAM("env");
	options.env = none;
	show("an environment without PATH", options, 0);

	options = PROGRAM("sh", "-c", "echo to 2 >&2; echo to 1");
	for (int i = 0; i < 5; i++)
		stdio[i] = (uv_stdio_container_t){ .flags = UV_IGNORE };
	fd = open("out", O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0644);
	stdio[1] = (uv_stdio_container_t){ .flags = UV_INHERIT_FD, .data.fd = fd };
	stdio[2] = (uv_stdio_container_t){ .flags = UV_INHERIT_FD, .data.fd = fd };
	options.stdio = stdio;
	options.stdio_count = 3;
	show("a file", options, 0);
	fstat(fd, &stat);
	printf("a file: %d bytes\n", (int)stat.st_size);
	stdio[2].data.fd = 9999;
	show("a descriptor that is not open", options, 0);

	/* 1 to 2 and 2 to 1, and 0 to 4, which 0 replaces before. */
	options = PROGRAM("find", "/proc/self/fd", "-lname", "*/stream*", "-fprintf", "out",
			  "%f %l\n");
	fflush(stdout);
	int saved[3] = { dup(0), dup(1), dup(2) };
	for (int i = 0; i < 3; i++) {
		char name[] = "stream0";
		int stream;

		name[6] = (char)('0' + i);
		stream = open(name, O_CREAT | O_RDWR, 0644);
		dup2(stream, i);
		close(stream);
	}
	stdio[1].data.fd = 2;
	stdio[2].data.fd = 1;
	stdio[3] = (uv_stdio_container_t){ .flags = UV_INHERIT_FD, .data.fd = fd };
	stdio[4] = (uv_stdio_container_t){ .flags = UV_INHERIT_FD, .data.fd = 0 };
	options.stdio = stdio;
	options.stdio_count = 5;
	ftruncate(fd, 0);
	lseek(fd, 0, SEEK_SET);
	exited = 0;
	options.exit_cb = ended;
	if (start(&options) == 0)
		uv_run(uv_default_loop(), UV_RUN_DEFAULT);
	for (int i = 0; i < 3; i++)
		dup2(saved[i], i);
	length = (size_t)pread(fd, output, sizeof output - 1, 0);
	output[length] = '\0';
	for (char *at = strtok(output, "\n"); at; at = strtok(NULL, "\n"))
		printf("swapped: %c %s\n", *at, strrchr(at, '/') + 1);

	options = PROGRAM("true");
	flags = fcntl(fd, F_GETFL);
	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	for (int i = 0; i < 3; i++)
		stdio[i] = (uv_stdio_container_t){ .flags = UV_INHERIT_FD, .data.fd = fd };
	options.stdio = stdio;
	options.stdio_count = 3;
	show("a descriptor that does not block", options, 0);
	printf("it blocks: %d\n", !(fcntl(fd, F_GETFL) & O_NONBLOCK));

	options = PROGRAM("sh", "-c", "test $(ps -o sid= -p $$) = $$ && echo leads a session");
	options.flags = UV_PROCESS_DETACHED;
	show("detached", options, 0);
	show_copies("memory", PROGRAM("true"));
	if (geteuid() == 0) {
		gid_t group = 7;

		options = PROGRAM("true");
		options.flags = UV_PROCESS_SETUID;
		options.uid = 65534;
		show_copies("memory of another user", options);
		if (setgroups(1, &group) < 0)
			abort();
		options = PROGRAM("grep", "-E", "Uid|Gid|Groups", "/proc/self/status");
		options.flags = UV_PROCESS_SETUID | UV_PROCESS_SETGID;
		options.uid = options.gid = 65534;
		show("another user", options, 0);
		if (setresgid(5, 5, 5) < 0 || setresuid(5, 5, 5) < 0)
			abort();
	}
	options = PROGRAM("grep", "-E", "Uid|Gid", "/proc/self/status");
	options.flags = UV_PROCESS_SETUID | UV_PROCESS_SETGID;
	options.uid = geteuid();
	options.gid = getegid();
	show("the same user", options, 0);
	options.uid = 1;
	show("no right to be another", options, 0);

	large = malloc(1 << 20);
	memset(large, 'a', (1 << 20) - 1);
	large[(1 << 20) - 1] = '\0';
	options = PROGRAM("echo", large);
	show("late: an argument that is too large", options, 0);
	show("late: no interpreter", PROGRAM("./no-interpreter"), 0);
	printf("aspawn: %d of %d starts\n", handed_over, starts);
	return 0;
}
