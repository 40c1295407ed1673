/* SPDX-License-Identifier: MIT */
/* A filter refuses a queue one system call, with EPERM and with ENOSYS. The tests show which jobs
 * work all the same, and what becomes of the others. */
#include "../../../aspawn/queue/queue.h"
#include "filter.h"
#include "queues.h"

/* What is asked of a queue, in this order. */
enum kind {
	PLAIN,
	STREAMS,
	LIMIT, /* of a program without a group of its own */
	GROUP_LIMIT,
	CANCELLATION,
	IN_TREE,
	LIMIT_OF_TREE,
	DESCRIPTOR,
	IMAGE,
	COPY,
	CLOSING, /* while a job runs */
	KINDS
};

/*
 * Each kind has a letter: '.' the job works, 'l' the job is lost, 'n' the job is not started, and
 * its failure has the error of the filter, 's' the submission has the error, 'S' the submission
 * fails with ENOTSOCK, '*' any of these. "c" alone means that the creation has the error, or
 * EOPNOTSUPP.
 */
static const char works[] = "...........";
static const struct refusal {
	const char *name;
	long call;
	const char *with_server, *local;
} refusals[] = {
#define REFUSAL(call, with_server, local)                 \
	{                                                 \
#call, PSYS_NR_##call, with_server, local \
	}
	REFUSAL(kill, works, works),
#ifdef PSYS_NR_wait4
	REFUSAL(wait4, works, works),
#endif
	REFUSAL(epoll_pwait, works, works),
	REFUSAL(waitid, ".....**....", ".....**...."),
	REFUSAL(pidfd_send_signal, works, works),
	REFUSAL(pidfd_open, works, works),
	REFUSAL(ppoll, works, works),
	REFUSAL(futex, works, works),
	REFUSAL(pread64, works, works),
	REFUSAL(kcmp, works, works),
	REFUSAL(recvmsg, ".......n...", works),
	REFUSAL(sendmsg, ".......s...", works),
	REFUSAL(socketpair, ".......S...", works),
	REFUSAL(setsockopt, ".......S...", works),
	REFUSAL(memfd_create, ".n......*..", ".n......*.."),
	REFUSAL(pwrite64, ".n......*..", ".n......*.."),
	REFUSAL(clone3, works, works),
	REFUSAL(close_range, works, works),
	REFUSAL(madvise, works, works),
	REFUSAL(munmap, works, works),
	REFUSAL(rt_sigaction, works, works),
	REFUSAL(rt_sigpending, works, works),
	/* A job must end with its server. */
	REFUSAL(prctl, "nn*****nnn*", ".....**...."),
	REFUSAL(getppid, "c", ".....**...."),
	REFUSAL(fcntl, "c", ".n........."),
	REFUSAL(dup3, "c", "n******nnn*"),
	REFUSAL(epoll_create1, "c", "c"),
	REFUSAL(epoll_ctl, "c", "c"),
	REFUSAL(eventfd2, "c", "c"),
	REFUSAL(rt_sigprocmask, "c", "c"),
#undef REFUSAL
};

/* The process of each refusal shares this page. */
static struct seen {
	char letters[KINDS + 1];
	int closed; /* the program that ran at the close */
} * seen;

static const struct aspawn_action for_image = ASPAWN_RESUID(-1U, -1U, -1U);

static bool is_limited(enum kind kind)
{
	return kind == LIMIT || kind == GROUP_LIMIT || kind == LIMIT_OF_TREE;
}

static int64_t submit_kind(struct aspawn_queue *queue, enum kind kind, const int pipe[2])
{
	const bool lingers = is_limited(kind) || kind == CANCELLATION || kind == CLOSING;
	const struct aspawn_action to_pipe = ASPAWN_DUP2(pipe[1], 1),
				   to_own_group = ASPAWN_SETPGID(psys_getpgid(0));
	struct aspawn_job job = { .grace_ms = 20, .time_limit_ms = is_limited(kind) ? 20 : 0 };
	struct self self;
	struct aspawn_command command = command_in_role(&self,
							kind == STREAMS    ? "copies" :
							kind == DESCRIPTOR ? "writes" :
							lingers            ? "lingers" :
									     "exit_7",
							kind == DESCRIPTOR ? "text" : NULL);

	if (kind == STREAMS) {
		job.input = "text";
		job.input_size = 4;
		job.out_size = job.err_size = KEPT;
	}
	if (kind == IN_TREE || kind == LIMIT_OF_TREE)
		command.owner = ASPAWN_OWNER_TREE;
	if (kind == COPY)
		command.memory = ASPAWN_MEMORY_COPIED;
	if (kind == DESCRIPTOR || kind == IMAGE || kind == LIMIT || kind == CLOSING) {
		command.actions = kind == IMAGE      ? &for_image :
				  kind == DESCRIPTOR ? &to_pipe :
						       &to_own_group;
		command.action_count = 1;
	}
	return submit_command(queue, job, &command);
}

/* Serves a local queue until a job runs. Returns false if all have ended. */
static bool lets_run(struct aspawn_queue *queue)
{
	while (aspawn_queue_count(queue, ASPAWN_COUNT_RUNNING) == 0 &&
	       aspawn_queue_count(queue, ASPAWN_COUNT_ENDED) == 0)
		aspawn_queue_drain(queue, 1);
	return aspawn_queue_count(queue, ASPAWN_COUNT_ENDED) == 0;
}

static char letter_of(const struct aspawn_result *result, enum kind kind, int error)
{
	const int ends = is_limited(kind)     ? ASPAWN_OUTCOME_TIMED_OUT :
			 kind == CANCELLATION ? ASPAWN_OUTCOME_CANCELLED :
						ASPAWN_OUTCOME_RAN;
	const int exits = kind == STREAMS || kind == DESCRIPTOR ? 0 : 7 << 8;

	if (result->outcome == ASPAWN_OUTCOME_LOST)
		return 'l';
	if (result->outcome == ASPAWN_OUTCOME_NOT_STARTED)
		return result->failure.error == -error ? 'n' : 'N';
	if (result->outcome != ends || (ends == ASPAWN_OUTCOME_RAN && result->status != exits))
		return 'o';
	return kind == STREAMS && (result->out_length != 4 || psys_memcmp(result->out, "text", 4)) ?
		       't' :
		       '.';
}

static char try_kind(struct aspawn_queue *queue, enum kind kind, int error, const int pipe[2])
{
	const int64_t ticket = submit_kind(queue, kind, pipe);

	if (ticket < 0)
		return ticket == -error ? 's' : ticket == -PSYS_ENOTSOCK ? 'S' : '?';
	if (kind == CANCELLATION && lets_run(queue))
		CHECK_EQUAL(aspawn_queue_cancel(queue, ticket), 0);
	const struct aspawn_result *result = next_result(queue);
	const char letter = letter_of(result, kind, error);
	give_back(queue, result);
	return letter;
}

/* Stores the running program, for which the caller looks: the close must kill the program. */
static char close_while_a_job_runs(struct aspawn_queue *queue)
{
	const int64_t ticket = submit_kind(queue, CLOSING, (const int[2]){ -1, -1 });

	CHECK(ticket > 0);
	if (lets_run(queue))
		seen->closed = queue_find(queue, ticket)->result.pid;
	close_queue(queue);
	return seen->closed ? '.' : 'n';
}

static void try_all(const struct refusal *refusal, int error, uint64_t flags)
{
	const struct aspawn_queue_options options = { .size = sizeof options,
						      .running = 2,
						      .flags = flags };
	struct aspawn_queue *queue;
	int pipe[2];

	CHECK_EQUAL(psys_pipe2(pipe, PSYS_O_CLOEXEC), 0);
	if (refusal)
		filter_refuse(refusal->call, error);
	const int r = aspawn_queue_create(&queue, &options);
	if (r < 0) {
		seen->letters[0] = r == -error || r == -PSYS_EOPNOTSUPP ? 'c' : '?';
		psys_exit_group(0);
	}
	for (enum kind kind = 0; kind < CLOSING; kind++)
		seen->letters[kind] = try_kind(queue, kind, error, pipe);
	seen->letters[CLOSING] = close_while_a_job_runs(queue);
	psys_exit_group(0);
}

/* Stores the letters. */
static void try_refusal(const struct refusal *refusal, int error, uint64_t flags)
{
	psys_memset(seen, 0, sizeof *seen);
	const int pid = fork_child();
	if (pid == 0)
		try_all(refusal, error, flags);
	CHECK_EQUAL(reap(pid), 0);
	CHECK(!seen->closed || ends_soon(seen->closed));
}

/* True if the program works under the filter, as its libc or sanitizer may need the call. */
static bool program_works(const struct refusal *refusal, int error)
{
	const int pid = fork_child();

	if (pid == 0) {
		psys_close(2); /* hides the program's message */
		filter_refuse(refusal->call, error);
		psys_exit_group(exec_role("exit_7", NULL) < 0);
	}
	return reap(pid) == 7;
}

/* usual has the letters without a filter. */
static bool is_expected(const char *letters, const char *expected, const char *usual)
{
	if (*expected == 'c' || *letters == 'c')
		return *letters == *expected && !letters[1];
	for (int i = 0; i < KINDS; i++)
		if (letters[i] != expected[i] && expected[i] != '*' && usual[i] == '.')
			return false;
	return true;
}

static void check_refusals(uint64_t flags)
{
	const size_t count = sizeof refusals / sizeof *refusals;
	const size_t tried = scaled(50) == 1 ? 3 : count; /* those that went wrong */
	char usual[KINDS + 1];
	int wrong = 0;

	filter_refuse(PSYS_NR_sync, PSYS_EPERM); /* skips the test without filters */
	if (psys_pidfd_open(psys_getpid(), 0) < 0)
		skip("no pidfds");
	seen = shared_page();
	try_refusal(NULL, 0, flags);
	psys_memcpy(usual, seen->letters, sizeof usual);
	if (*usual == 'c')
		skip("no queue here");
	for (size_t i = 0; i < 2 * tried; i++) {
		const struct refusal *refusal = &refusals[i / 2];
		const char *expected =
			flags & ASPAWN_QUEUE_LOCAL ? refusal->local : refusal->with_server;
		const int error = i % 2 ? PSYS_ENOSYS : PSYS_EPERM;
		if (!program_works(refusal, error))
			continue;
		try_refusal(refusal, error, flags);
		if (is_expected(seen->letters, expected, usual))
			continue;
		note(refusal->name, error);
		note(expected, (int)psys_strlen(expected));
		note(seen->letters, ++wrong);
	}
	CHECK_EQUAL(wrong, 0);
}

TEST(queue_does_without_a_call_that_a_filter_refuses)
{
	need_call(psys_unshare(0), "a filter of a container, which refuses other calls too");
	check_refusals(ASPAWN_QUEUE_FD);
}

TEST(local_queue_does_without_a_call_that_a_filter_refuses)
{
	check_refusals(ASPAWN_QUEUE_LOCAL);
}
