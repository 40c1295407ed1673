/* SPDX-License-Identifier: MIT */
/*
 * A worker for the job server Gearman that runs many jobs at once: each job's workload is a command
 * line, and goes to a queue. libgearman's worker runs one function at a time, so this speaks the
 * protocol itself, which is a header of 12 bytes before each packet. The server takes the jobs of a
 * connection that ends, and gives them to another worker.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <syscall/errno.h>

#include "../poller/poller.h"

enum { BATCH = 64, MOST_AT_ONCE = 16384, KEPT = 65536, LARGEST_PACKET = 1 << 20 };

/* gearmand's PROTOCOL */
enum packet {
	CAN_DO = 1,
	PRE_SLEEP = 4,
	NOOP = 6,
	GRAB_JOB = 9,
	NO_JOB = 10,
	JOB_ASSIGN = 11,
	WORK_COMPLETE = 13,
	WORK_FAIL = 14,
	ERROR = 19,
};

static const char usage[] =
	"usage: worker [option...] FUNCTION\n"
	"Takes the jobs of FUNCTION from a Gearman server. A job's workload is a command line, quoted\n"
	"as in a shell, but none is started. Answers with a JSON object, and with a failure if the\n"
	"workload is no command line.\n"
	"  --server HOST[:PORT]  (127.0.0.1:4730)\n"
	"  --concurrency N       at most so many jobs at once (16)\n"
	"  --timeout SECONDS     for each, then it is ended with its process group (60; 0: none)\n"
	"SIGINT and SIGTERM: takes no more jobs, and ends after the last; at once at the second.\n";

static struct worker {
	const char *host, *port, *function;
	long concurrency, timeout;
	struct aspawn_queue *queue;
	FILE *to;            /* the server */
	unsigned connection; /* counts them */
	long held, asked;    /* jobs that run; requests for one that have no answer yet */
	bool has_none;       /* the server has no job: sleep until it says otherwise */
	bool is_asleep;
	size_t filled;
	char packets[LARGEST_PACKET]; /* read, not handled */
} worker = { .host = "127.0.0.1", .port = "4730", .concurrency = 16, .timeout = 60 };

struct job {
	unsigned connection;
	char handle[];
};

static volatile sig_atomic_t interrupts;

static void interrupt(int signal)
{
	(void)signal;
	interrupts++;
}

static void send_packet(enum packet type, const char *handle, const char *data, size_t size)
{
	const size_t first = handle ? strlen(handle) + (data != NULL) : 0;
	const uint32_t header[] = { htonl(type), htonl((uint32_t)(first + size)) };

	fwrite("\0REQ", 1, 4, worker.to);
	fwrite(header, 1, sizeof header, worker.to);
	fwrite(handle, 1, first, worker.to);
	fwrite(data, 1, size, worker.to);
}

/* --- jobs ---------------------------------------------------------------------------- */

/* Runs a job, or answers that it failed. workload: ends with a NUL. */
static void start(const char *handle, char *workload)
{
	char **words = calloc(strlen(workload) / 2 + 2, sizeof *words);
	struct job *job = malloc(sizeof *job + strlen(handle) + 1);
	int64_t r = -PSYS_EINVAL;

	if (!words || !job) {
		perror("worker");
		exit(1);
	}
	job->connection = worker.connection;
	strcpy(job->handle, handle);
	if (!list_split(workload, words) && words[0]) {
		static const struct aspawn_action session[] = { ASPAWN_SETSID() };
		const struct aspawn_command command = {
			.size = sizeof command,
			.argv = words,
			.actions = session,
			.action_count = 1,
			.std_err = ASPAWN_STREAM_STDOUT,
		};
		const struct aspawn_job submitted = {
			.size = sizeof submitted,
			.cookie = (uintptr_t)job,
			.command = &command,
			.out_size = KEPT + 1, /* with a NUL */
			.time_limit_ms = worker.timeout * 1000,
		};

		r = aspawn_queue_submit(worker.queue, &submitted, NULL);
	}
	free(words);
	if (r > 0) {
		worker.held++;
		return;
	}
	send_packet(WORK_FAIL, handle, NULL, 0);
	free(job);
}

static void answer(const struct aspawn_result *result)
{
	struct job *job = (struct job *)(uintptr_t)result->cookie;
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	worker.held--;
	if (to) {
		fputc('{', to);
		result_json(to, result);
		fputs("}\n", to);
	}
	/* Jobs of a connection that has ended are another worker's. */
	if (to && fclose(to) == 0 && job->connection == worker.connection)
		send_packet(WORK_COMPLETE, job->handle, text, size);
	free(text);
	free(job);
}

static void take(void)
{
	const struct aspawn_result *results[BATCH];
	int count;

	do {
		count = aspawn_queue_wait(worker.queue, results, BATCH, 0);
		for (int i = 0; i < count; i++)
			answer(results[i]);
		if (count > 0)
			aspawn_queue_release(worker.queue, results, count);
	} while (count == BATCH);
}

/* --- the server ------------------------------------------------------------------------ */

static void handle(enum packet type, char *data, char *end)
{
	char *function = memchr(data, '\0', (size_t)(end - data));
	char *workload = function ? memchr(function + 1, '\0', (size_t)(end - function - 1)) : NULL;
	const char after = *end;

	if (type == JOB_ASSIGN && workload) {
		worker.asked--;
		*end = '\0'; /* the next packet begins here */
		start(data, workload + 1);
		*end = after;
	} else if (type == NO_JOB) {
		worker.asked--;
		worker.has_none = true;
	} else if (type == NOOP) {
		worker.is_asleep = worker.has_none = false;
	} else if (type == ERROR) {
		fprintf(stderr, "worker: the server says: %s\n", data);
	}
}

/* Returns false if the connection has ended. */
static bool read_packets(void)
{
	char *at = worker.packets;
	uint32_t header[2]; /* type and size */
	ssize_t length = read(fileno(worker.to), at + worker.filled,
			      sizeof worker.packets - 1 - worker.filled);

	if (length <= 0)
		return length < 0 && errno == EINTR;
	for (worker.filled += (size_t)length; worker.filled >= 12; worker.filled -= 12 + header[1]) {
		memcpy(header, at + 4, sizeof header);
		header[0] = ntohl(header[0]);
		header[1] = ntohl(header[1]);
		if (memcmp(at, "\0RES", 4) != 0 || header[1] > sizeof worker.packets - 13)
			return false;
		if (worker.filled < 12 + header[1])
			break;
		handle((enum packet)header[0], at + 12, at + 12 + header[1]);
		at += 12 + header[1];
	}
	memmove(worker.packets, at, worker.filled);
	return true;
}

/* Asks for as many jobs as may run; or sleeps until there is one. */
static void ask(void)
{
	for (; !worker.has_none && !interrupts && worker.held + worker.asked < worker.concurrency;
	     worker.asked++)
		send_packet(GRAB_JOB, NULL, NULL, 0);
	if (worker.has_none && !worker.asked && !worker.is_asleep) {
		send_packet(PRE_SLEEP, NULL, NULL, 0);
		worker.is_asleep = true;
	}
}

static void serve(void)
{
	struct pollfd polled[] = { { fileno(worker.to), POLLIN, 0 },
				   { aspawn_queue_fd(worker.queue), POLLIN, 0 } };

	worker.connection++;
	worker.asked = 0;
	worker.filled = 0;
	worker.has_none = worker.is_asleep = false;
	send_packet(CAN_DO, worker.function, NULL, 0);
	while (interrupts < 2 && (!interrupts || worker.held || worker.asked)) {
		ask();
		if (fflush(worker.to) != 0)
			return;
		polled[0].revents = polled[1].revents = 0;
		poll(polled, 2, interrupts ? 100 : 1000);
		if (polled[1].revents)
			take();
		if (polled[0].revents && !read_packets())
			return;
	}
	fflush(worker.to);
}

static bool dial(void)
{
	const struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM };
	struct addrinfo *address;
	int error = getaddrinfo(worker.host, worker.port, &hints, &address);

	if (error) {
		fprintf(stderr, "worker: %s: %s\n", worker.host, gai_strerror(error));
		return false;
	}
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	error = connect(fd, address->ai_addr, address->ai_addrlen);
	freeaddrinfo(address);
	if (error < 0) {
		perror("worker: the server");
		close(fd);
		return false;
	}
	worker.to = fdopen(fd, "w");
	return worker.to != NULL;
}

static bool parse_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "server", required_argument, NULL, 's' },
		{ "concurrency", required_argument, NULL, 'c' },
		{ "timeout", required_argument, NULL, 't' },
		{ NULL, 0, NULL, 0 },
	};

	for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		char *end = "", *colon;

		if (option == '?')
			return false;
		if (option == 's') {
			worker.host = optarg;
			colon = strrchr(optarg, ':');
			worker.port = colon ? colon + 1 : worker.port;
			if (colon)
				*colon = '\0';
		} else {
			*(option == 'c' ? &worker.concurrency : &worker.timeout) =
				strtol(optarg, &end, 10);
		}
		if (*end)
			return false;
	}
	worker.function = argv[optind];
	return argc == optind + 1 && worker.concurrency > 0 && worker.concurrency <= MOST_AT_ONCE &&
	       worker.timeout >= 0 && worker.timeout <= 1000000;
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = interrupt }; /* ends poll() */

	setlocale(LC_CTYPE, "C.UTF-8"); /* for JSON */
	if (!parse_options(argc, argv)) {
		fputs(usage, stderr);
		return 2;
	}
	const struct aspawn_queue_options options = {
		.size = sizeof options,
		.flags = ASPAWN_QUEUE_FD,
		.jobs = 2 * (uint32_t)worker.concurrency,
		.running = (uint32_t)worker.concurrency,
		.job_bytes = 4 * KEPT,
	};
	int r = aspawn_queue_create(&worker.queue, &options);
	if (r < 0) {
		fprintf(stderr, "worker: the queue: %s\n", strerror(-r));
		return 1;
	}
	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	while (!interrupts) {
		if (dial()) {
			serve();
			fclose(worker.to);
		}
		aspawn_queue_cancel_all(worker.queue); /* other workers get these jobs */
		if (!interrupts)
			sleep(1);
	}
	return aspawn_queue_close(worker.queue) < 0;
}
