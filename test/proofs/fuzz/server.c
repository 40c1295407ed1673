/* SPDX-License-Identifier: MIT */
/*
 * Gives input to the server of a queue: messages in the socket, and the status line of the caller's
 * process. A process forked by the caller has an end of the socket too. A hostile process gives no
 * job a descriptor, and no descriptor is left. Pairs of bytes are what caller, hostile process and
 * server do; the last line is the status.
 */
#define _GNU_SOURCE
#include "instrumented.h"

#include <dirent.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../aspawn/queue/descriptors.c"
#include "../../../aspawn/queue/server.c"
#include "../../../syscall/kernel_file.c"
#include "../../../syscall/string.c"

enum { JOBS = 4, MOST_FDS = 4, STRIDE = sizeof(struct job) };

static struct aspawn_queue queue;
static int ends[2];
static int callers_file, hostile_file;
static bool is_hung_up;

static int count_descriptors(void)
{
	int count = 0;
	DIR *directory = opendir("/proc/self/fd");

	while (directory && readdir(directory))
		count++;
	closedir(directory);
	return count;
}

/* --- the caller, and the hostile process ------------------------------------------- */

static void send_bytes(const void *bytes, size_t size, const int *fds, size_t count)
{
	struct fd_control control;
	struct iovec part = { (void *)(uintptr_t)bytes, size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (count) {
		message.msg_control = &control;
		message.msg_controllen = sizeof control.header + count * sizeof *fds;
		control.header =
			(struct psys_cmsghdr){ message.msg_controllen, SOL_SOCKET, SCM_RIGHTS };
		memcpy(control.fds, fds, count * sizeof *fds);
	}
	sendmsg(ends[1], &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* The kernel names the sender of a message. */
static void send_as_another(const void *bytes, size_t size, size_t count, bool hangs_up)
{
	const int fds[MOST_FDS] = { hostile_file, hostile_file, hostile_file, hostile_file };
	const pid_t pid = vfork();

	if (pid == 0) {
		send_bytes(bytes, size, fds, count);
		if (hangs_up)
			shutdown(ends[1], SHUT_RDWR);
		_exit(0);
	}
	is_hung_up |= hangs_up;
	check(pid > 0 && waitpid(pid, NULL, 0) == pid, "no process");
}

static void submit(struct job *job, size_t count)
{
	if (job->fds)
		return;
	job->fd_count = (uint32_t)count;
	job->fds = exact(NULL, count * sizeof *job->fds);
	for (size_t i = 0; i < count; i++)
		job->fds[i] = (struct given_fd){ callers_file, 0x55 };
	if (count && aspw_job_send_fds(&queue, job) < 0)
		job->fd_count = 0;
}

/* --- the server ---------------------------------------------------------------------- */

static void check_received(const struct job *job)
{
	struct stat status, callers;

	fstat(callers_file, &callers);
	for (uint32_t i = 0; i < job->fd_count; i++)
		check(job->fds[i].servers < 0 || (fstat(job->fds[i].servers, &status) == 0 &&
						  status.st_ino == callers.st_ino),
		      "a descriptor that the caller has not sent");
}

/* Does what aspw_job_start() does, with or without room in the table. */
static void start(struct job *job, bool is_full)
{
	struct rlimit limit, low;

	getrlimit(RLIMIT_NOFILE, &limit);
	low = limit;
	low.rlim_cur = (rlim_t)ends[1] + 3;
	if (is_full)
		setrlimit(RLIMIT_NOFILE, &low);
	aspw_server_receive_fds(&queue, job);
	setrlimit(RLIMIT_NOFILE, &limit);
	if (job->received_by == queue.servers)
		check_received(job);
	aspw_server_close_fds(&queue, job);
	free(job->fds);
	job->fds = NULL;
	job->fd_count = 0;
	job->received_by = 0;
	job->result.ticket += JOBS; /* the next use of the place */
}

/* --- all of it ------------------------------------------------------------------------ */

static void act(struct input *input)
{
	const uint8_t what = next_byte(input), which = next_byte(input);
	struct job *job = queue_job(&queue, which % JOBS);
	const size_t count = which / JOBS % MOST_FDS;
	int64_t ticket[2] = { job->result.ticket + (what & 64), 0 };

	switch (what % 8) {
	case 0:
	case 1:
		submit(job, count);
		break;
	case 2: /* for an earlier job at this place */
		ticket[0] = job->result.ticket - JOBS;
		send_bytes(ticket, sizeof *ticket, &callers_file, count > 0);
		break;
	case 3:
		send_as_another(ticket, which / 16, count, what & 128);
		break;
	case 4:
		send_as_another(ticket, sizeof *ticket, count, false);
		break;
	case 5:
		check(aspw_server_skip_messages(&queue) || is_hung_up,
		      "the caller is said to be gone");
		break;
	default:
		start(job, what & 128);
	}
}

/* Sometimes a long name comes first, and the status does not fit. */
static void see_status(const uint8_t *text, size_t size)
{
	enum { MOST_READ = 511 };
	const int fd = queue.server.caller_stat;
	const size_t name = size % 2 ? MOST_READ - 7 : 0;
	char line[2 * MOST_READ];

	size = size < MOST_READ ? size : MOST_READ;
	memset(line, 'n', name);
	memcpy(line + name, text, size);
	size += name;
	check(ftruncate(fd, 0) == 0 && pwrite(fd, line, size, 0) == (ssize_t)size, "no file");
	char kept[512];
	size = size < MOST_READ ? size : MOST_READ;
	const char *last = memrchr(line, ')', size), *state = server_caller_state(&queue, kept);
	if (last && line + size - last >= 3)
		check(*state == last[2], "the state is behind the last parenthesis");
	server_caller_has_no_memory(&queue);
}

static void begin(char *jobs)
{
	/* a hung-up socket is to make no server: it would have no memory */
	static uint32_t not_magic;
	const int on = 1;

	is_hung_up = false;
	memset(&queue, 0, sizeof queue);
	queue.mark = &not_magic;
	queue.bits = 2;
	queue.capacity = JOBS;
	queue.stride = STRIDE;
	queue.jobs = jobs;
	queue.caller_pid = getpid();
	queue.servers = 1;
	queue.events = 1;
	check(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0, "no socket");
	setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
	queue.server.life = ends[0];
	queue.life = ends[1];
	for (uint32_t i = 0; i < JOBS; i++) {
		queue_job(&queue, i)->number = (int)i;
		queue_job(&queue, i)->result.ticket = 1000 * JOBS + i;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	static int status = -1;

	if (status < 0) {
		status = memfd_create("status", MFD_CLOEXEC);
		callers_file = memfd_create("caller's", MFD_CLOEXEC);
		hostile_file = memfd_create("hostile", MFD_CLOEXEC);
	}
	const int before = count_descriptors();
	char *jobs = aligned_alloc(64, JOBS * STRIDE);
	check(jobs, "no memory");
	memset(jobs, 0, JOBS * STRIDE);
	begin(jobs);
	while (input.size && *input.data != '\n')
		act(&input);
	for (uint32_t i = 0; i < JOBS; i++)
		start(queue_job(&queue, i), false);
	close(ends[0]);
	close(ends[1]);
	free(jobs);
	check(count_descriptors() == before, "descriptors are left");
	queue.server.caller_stat = status;
	see_status(input.data, input.size);
	return 0;
}
