/* SPDX-License-Identifier: MIT */
/* A fork, but not a start, changes programs that pin memory for devices. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite/observe.h"

static int forks;

static void count_fork(void)
{
	forks++;
}

/* The child looks at the members between its clone and its exec. */
struct pinned {
	char *kept;   /* a page with MADV_DONTFORK */
	char *locked; /* a locked page, which is in a pipe */
	int gate, arrived;
	char seen;
};

static ASPAWN_CHILD int looks_at_pages(void *arg)
{
	struct pinned *pinned = arg;

	pinned->seen = *pinned->kept;
	__atomic_store_n(&pinned->arrived, 1, __ATOMIC_RELEASE);
	psys_futex(&pinned->arrived, PSYS_FUTEX_WAKE, 1, NULL, NULL, 0);
	gate_wait(&pinned->gate);
	return 0;
}

/* Returns the KiB in a line of /proc/self/status. */
static long status_of_memory(const char *name)
{
	char line[128];
	long value = -1;
	FILE *file = fopen("/proc/self/status", "r");

	CHECK(file);
	while (fgets(line, sizeof line, file))
		if (!strncmp(line, name, strlen(name)))
			sscanf(line + strlen(name), ": %ld", &value);
	fclose(file);
	return value;
}

/* Writes to the locked page. The pipe has the page itself: returns what the pipe gives of the
 * page. */
static char write_and_read_pipe(struct pinned *pinned, int pipe, char value)
{
	char read_value = 0;

	*pinned->locked = value;
	CHECK_EQUAL(read(pipe, &read_value, 1), 1);
	return read_value;
}

static void put_into_pipe(const struct pinned *pinned, int pipe)
{
	const struct psys_iovec page = { pinned->locked, 1 };

	need_call(psys_vmsplice(pipe, &page, 1, 0), "vmsplice() is refused");
}

static void check_start(struct aspawn_command *command, struct pinned *pinned, const int pipe[2])
{
	const long locked = status_of_memory("VmLck");

	pinned->gate = pinned->arrived = 0;
	pinned->seen = 0;
	*pinned->locked = 'a';
	put_into_pipe(pinned, pipe[1]);
	struct aspawn_child child = start_command(NULL, command);
	while (!__atomic_load_n(&pinned->arrived, __ATOMIC_ACQUIRE)) {
		CHECK_EQUAL(aspawn_ended(&child), 0); /* by a page that it does not have */
		usleep(1000);
	}
	CHECK_EQUAL(status_of_memory("VmLck"), locked);
	CHECK_EQUAL(write_and_read_pipe(pinned, pipe[0], 'b'), 'b');
	gate_open(&pinned->gate);
	check_ends(&child, 7 << 8);
	CHECK_EQUAL(pinned->seen, 'k');
	CHECK_EQUAL(forks, 0);
}

TEST(a_start_is_no_fork_for_pinned_memory)
{
	static const int owners[] = { ASPAWN_OWNER_CALLER, ASPAWN_OWNER_PRIVATE };
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct pinned *pinned = (void *)shared_page();
	struct aspawn_action action = ASPAWN_CALL(looks_at_pages, pinned);
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	int pipe[2];

	CHECK(pages != MAP_FAILED);
	CHECK_EQUAL(pipe2(pipe, O_CLOEXEC), 0);
	CHECK_EQUAL(pthread_atfork(count_fork, count_fork, count_fork), 0);
	pinned->kept = pages;
	pinned->locked = pages + page;
	CHECK_EQUAL(madvise(pages, page, MADV_DONTFORK), 0);
	need_call(psys_mlock(pinned->locked, page), "mlock() is refused");
	*pinned->kept = 'k';
	command.actions = &action;
	command.action_count = 1;
	for (int i = 0; i < 2; i++) {
		command.owner = owners[i];
		check_start(&command, pinned, pipe);
	}

	/* After a fork the same test finds that the caller has another page than the pipe. */
	*pinned->locked = 'a';
	put_into_pipe(pinned, pipe[1]);
	pinned->gate = 0;
	const int child = fork();
	if (child == 0) {
		gate_wait(&pinned->gate);
		_exit(0);
	}
	CHECK_EQUAL(forks, 2);
	CHECK_EQUAL(write_and_read_pipe(pinned, pipe[0], 'b'), 'a');
	gate_open(&pinned->gate);
	CHECK_EQUAL(waitpid(child, NULL, 0), child);
}
