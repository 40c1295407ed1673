/* SPDX-License-Identifier: MIT */
/* The server of a queue is killed before and after each of its system calls, while a job runs. A
 * job on copied memory, or in the image, shares a page with the server, which must not stay
 * mapped. */
#include "../../../aspawn/queue/queue.h"
#include "queues.h"
#include "tree.h"

/* ptrace(2) */
enum { PTRACE_SYSCALL = 24, PTRACE_SEIZE = 0x4206, PTRACE_INTERRUPT = 0x4207 };

enum { MOST_STOPS = 2000 };

#define PATIENCE_NS INT64_C(10000000000) /* on a busy machine */

/* Lies in a page that the tracer and the host of the queue share. */
static struct shared {
	int go;        /* gate: the server is to be traced, and killed at that stop */
	int is_traced; /* gate: the server is stopped */
	int is_killed; /* gate */
	int server, stop;
	int has_ended; /* the host has the result of the job */
	int reached;   /* how many stops there were */
} * shared;

/* Leaves the processor to the server, the tracer, and the host. */
static void rest(void)
{
	psys_nanosleep(&(struct psys_timespec){ 0, 50000 }, NULL);
}

/* --- the tracer ------------------------------------------------------------------------------ */

/* Returns true if the server stops once more, false if its job has ended instead. */
static bool stops_again(void)
{
	int status, r;

	while ((r = psys_wait4(shared->server, &status, (int)(PSYS_WNOHANG | PSYS___WALL), NULL)) ==
	       0) {
		if (__atomic_load_n(&shared->has_ended, __ATOMIC_ACQUIRE))
			return false;
		rest();
	}
	CHECK_EQUAL(r, shared->server);
	CHECK_EQUAL(status & 0xff, 0x7f);
	return true;
}

static void kill_at_stop(void)
{
	int status;

	if (psys_ptrace(PTRACE_SEIZE, shared->server, NULL, NULL) < 0)
		skip("may not trace");
	CHECK_EQUAL(psys_ptrace(PTRACE_INTERRUPT, shared->server, NULL, NULL), 0);
	CHECK(stops_again());
	gate_open(&shared->is_traced);
	for (shared->reached = 0; shared->reached < shared->stop; shared->reached++) {
		CHECK_EQUAL(psys_ptrace(PTRACE_SYSCALL, shared->server, NULL, NULL), 0);
		if (!stops_again())
			break;
	}
	CHECK_EQUAL(psys_kill(shared->server, PSYS_SIGKILL), 0);
	do
		CHECK_EQUAL(psys_wait4(shared->server, &status, (int)PSYS___WALL, NULL),
			    shared->server);
	while ((status & 0xff) == 0x7f);
	gate_open(&shared->is_killed);
}

/* --- the host of the queue ------------------------------------------------------------------- */

/* Kills the idle server, so that the queue makes another server. */
static void kill_idle(struct aspawn_queue *queue)
{
	const struct aspawn_result *result;
	const int server = server_of(queue);

	CHECK_EQUAL(psys_kill(server, PSYS_SIGKILL), 0);
	CHECK(ends_soon(server));
	CHECK_EQUAL(aspawn_queue_wait(queue, &result, 1, LONG), -PSYS_ECHILD);
}

/* Runs a job whose server is killed at this stop. Returns false if the job ended before the
 * stop. */
static bool run_and_kill(struct aspawn_queue *queue, const struct aspawn_command *command, int stop)
{
	const struct aspawn_job job = { .input = "text", .input_size = 4, .out_size = KEPT };
	const struct aspawn_result *result;

	shared->server = server_of(queue);
	shared->stop = stop;
	shared->is_traced = shared->is_killed = shared->has_ended = 0;
	gate_open(&shared->go);
	gate_wait(&shared->is_traced);
	CHECK(submit_command(queue, job, command) > 0);
	result = next_result(queue);
	CHECK(result->outcome == ASPAWN_OUTCOME_LOST || result->status == 0);
	give_back(queue, result);
	__atomic_store_n(&shared->has_ended, true, __ATOMIC_RELEASE);
	gate_wait(&shared->is_killed);
	CHECK_EQUAL(aspawn_queue_wait(queue, &result, 1, LONG), -PSYS_ECHILD);
	return shared->reached >= stop;
}

static void be_killed_everywhere(const struct aspawn_command *command)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .running = 1 });
	const int step = scaled(50) == 1 ? 11 : 1;
	int stop = 0;

	CHECK(!run_and_kill(queue, command, MOST_STOPS));
	kill_idle(queue);
	const int mappings = count_mappings(), descriptors = count_descriptors();
	while (run_and_kill(queue, command, stop)) {
		/* A child that has not run yet when its server is killed maps its page later. The
		 * server that follows unmaps it. */
		for (int64_t end = monotonic_ns() + PATIENCE_NS;
		     count_mappings() > mappings && monotonic_ns() < end;)
			kill_idle(queue);
		CHECK_EQUAL(count_descriptors(), descriptors);
		if (count_mappings() > mappings)
			note("mappings are left at the stop", stop);
		CHECK_EQUAL(count_mappings(), mappings);
		stop += step;
	}
	note("stops: ", stop);
	CHECK(stop > 3 * step);
	close_queue(queue);
}

static void kill_everywhere(struct aspawn_action action, int owner, int memory)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "copies", NULL);
	int status;

	if (!have_proc())
		skip("no /proc");
	if (owner == ASPAWN_OWNER_TREE)
		need_lists();
	close_queue(open_queue(&(struct aspawn_queue_options){ 0 })); /* or skips the test */
	command.actions = &action;
	command.action_count = 1;
	command.owner = owner;
	command.memory = memory;
	shared = shared_page();
	const int host = fork_child();
	if (host == 0) {
		be_killed_everywhere(&command);
		psys_exit_group(0);
	}
	while (psys_wait4(host, &status, PSYS_WNOHANG, NULL) == 0) {
		if (__atomic_exchange_n(&shared->go, 0, __ATOMIC_ACQUIRE))
			kill_at_stop();
		rest();
	}
	CHECK_EQUAL(status, 0);
}

static const struct aspawn_action for_image = ASPAWN_RESUID(-1U, -1U, -1U);
static const struct aspawn_action for_none = ASPAWN_UMASK(022);

TEST(server_killed_at_any_call_leaves_nothing_of_a_job_on_copied_memory)
{
	kill_everywhere(for_none, ASPAWN_OWNER_CALLER, ASPAWN_MEMORY_COPIED);
}

TEST(server_killed_at_any_call_leaves_nothing_of_a_job_in_the_image)
{
	kill_everywhere(for_image, ASPAWN_OWNER_CALLER, ASPAWN_MEMORY_SHARED);
}

TEST(server_killed_at_any_call_leaves_nothing_of_a_tree_on_copied_memory)
{
	kill_everywhere(for_none, ASPAWN_OWNER_TREE, ASPAWN_MEMORY_COPIED);
}

TEST(server_killed_at_any_call_leaves_nothing_of_a_tree_in_the_image)
{
	kill_everywhere(for_image, ASPAWN_OWNER_TREE, ASPAWN_MEMORY_SHARED);
}

TEST(server_killed_at_any_call_leaves_nothing_of_a_job_on_shared_memory)
{
	kill_everywhere(for_none, ASPAWN_OWNER_CALLER, ASPAWN_MEMORY_SHARED);
}
