/* SPDX-License-Identifier: MIT */
/* Tests what the standard and the manual require of the attributes of posix_spawn(). */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "standard_run.h"

TEST(setpgroup_and_setsid)
{
	static const char group[] =
		"test $(cut -d' ' -f5 /proc/$$/stat) = $$ && echo leader || echo member";
	static const char session[] =
		"test $(cut -d' ' -f6 /proc/$$/stat) = $$ && echo leader || echo member";
	posix_spawnattr_t attr;

	posix_spawnattr_init(&attr);
	CHECK_SAYS(group, "member\n", NULL, NULL);
	CHECK_SAYS(group, "member\n", NULL, &attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
	CHECK_SAYS(group, "leader\n", NULL, &attr);
	CHECK_SAYS(session, "member\n", NULL, &attr);
	posix_spawnattr_setpgroup(&attr, getpgrp());
	CHECK_SAYS(group, "member\n", NULL, &attr);
	posix_spawnattr_setpgroup(&attr, 0x3fffffff); /* the group does not exist */
	CHECK_FAILS(EPERM, "/bin/sh", NULL, &attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID);
	CHECK_SAYS(session, "leader\n", NULL, &attr);
	CHECK_SAYS(group, "leader\n", NULL, &attr);
	posix_spawnattr_destroy(&attr);
}

TEST(setsigmask_sets_the_mask)
{
	char *argv[] = { "grep", "SigBlk", "/proc/self/status", NULL };
	posix_spawnattr_t attr;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_SETMASK, &set, NULL);
	CHECK_WRITES(argv, "SigBlk:\t0000000000000200\n", NULL); /* the caller's mask */
	posix_spawnattr_init(&attr);
	CHECK_WRITES(argv, "SigBlk:\t0000000000000200\n", &attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	CHECK_WRITES(argv, "SigBlk:\t0000000000000000\n", &attr);
	sigaddset(&set, SIGUSR2);
	posix_spawnattr_setsigmask(&attr, &set);
	CHECK_WRITES(argv, "SigBlk:\t0000000000000a00\n", &attr);
	posix_spawnattr_destroy(&attr);
}

static volatile sig_atomic_t handled;

static void handle(int signal)
{
	handled = signal;
}

TEST(setsigdef_resets_signals)
{
	static const char script[] = "kill -USR1 $$; kill -USR2 $$; echo alive";
	posix_spawnattr_t attr;
	sigset_t set;
	char text[16];

	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	CHECK_SAYS(script, "alive\n", NULL, NULL); /* ignored signals stay ignored */
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	CHECK_SAYS(script, "alive\n", NULL, &attr);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	posix_spawnattr_setsigdefault(&attr, &set);
	CHECK_EQUAL(run_script(script, text, sizeof text, NULL, &attr, environ), SIGUSR2);
	signal(SIGUSR1, handle);
	CHECK_EQUAL(run_script(script, text, sizeof text, NULL, NULL, environ), SIGUSR1);
	sigfillset(&set); /* the set has SIGKILL and SIGSTOP too */
	posix_spawnattr_setsigdefault(&attr, &set);
	CHECK_EQUAL(run_script(script, text, sizeof text, NULL, &attr, environ), SIGUSR1);
	CHECK_EQUAL(handled, 0);
	CHECK(signal(SIGUSR2, SIG_DFL) == SIG_IGN);
	posix_spawnattr_destroy(&attr);
}

TEST(setscheduler_and_setschedparam)
{
	static const char script[] = "cut -d' ' -f40,41 /proc/$$/stat"; /* priority and policy */
	struct sched_param param = { 50 };
	posix_spawnattr_t attr;

	if (!has_scheduling())
		skip("the libc has no scheduling attributes");
	posix_spawnattr_init(&attr);
	CHECK_EQUAL(posix_spawnattr_setschedpolicy(&attr, SCHED_OTHER), 0);
	CHECK_EQUAL(posix_spawnattr_setschedparam(&attr, &param), 0);
	CHECK_SAYS(script, "0 0\n", NULL, &attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSCHEDPARAM);
	CHECK_FAILS(EINVAL, "/bin/sh", NULL, &attr); /* invalid priority for this policy */
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSCHEDULER);
	CHECK_FAILS(EINVAL, "/bin/sh", NULL, &attr);

	param.sched_priority = 1;
	if (sched_setscheduler(0, SCHED_FIFO, &param))
		skip("may not set a real-time policy");
	param.sched_priority = 7;
	CHECK_EQUAL(posix_spawnattr_setschedpolicy(&attr, SCHED_RR), 0);
	CHECK_EQUAL(posix_spawnattr_setschedparam(&attr, &param), 0);
	CHECK_SAYS(script, "7 2\n", NULL, &attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSCHEDPARAM | POSIX_SPAWN_SETSCHEDULER);
	CHECK_SAYS(script, "7 2\n", NULL, &attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSCHEDPARAM);
	CHECK_SAYS(script, "7 1\n", NULL, &attr);
	posix_spawnattr_destroy(&attr);
}

TEST(resetids_resets_the_effective_ids)
{
	posix_spawnattr_t attr;

	if (geteuid())
		skip("not root");
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_RESETIDS);
	CHECK_SAYS("id -u; id -g", "0\n0\n", NULL, &attr);
	CHECK(setegid(1000) == 0 && seteuid(1000) == 0);
	int dumpable = psys_prctl(PSYS_PR_GET_DUMPABLE, 0, 0, 0, 0);
	char *argv[] = { "sed", "-n",
			 "s/^\\([UG]id\\):\\t\\([0-9]*\\)\\t\\([0-9]*\\).*/\\1 \\2 \\3/p",
			 "/proc/self/status", NULL };
	CHECK_WRITES(argv, "Uid 0 1000\nGid 0 1000\n", NULL);
	CHECK_WRITES(argv, "Uid 0 0\nGid 0 0\n", &attr);
	CHECK(geteuid() == 1000 && getegid() == 1000);
	CHECK_EQUAL(psys_prctl(PSYS_PR_GET_DUMPABLE, 0, 0, 0, 0), dumpable);
	posix_spawnattr_destroy(&attr);
}
