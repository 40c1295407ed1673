/* SPDX-License-Identifier: MIT */
/* Other programs see the effects of actions. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../suite/observe.h"

static void check_says(const char *script, const char *expected,
		       const struct aspawn_action *actions, size_t count)
{
	struct aspawn_pool pool = { { 0 } };
	char text[256] = "";
	char *const argv[] = { (char *)"sh", (char *)"-c", (char *)(uintptr_t)script, NULL };
	const struct aspawn_command command = { .size = sizeof command,
						.argv = argv,
						.pool = &pool,
						.actions = actions,
						.action_count = count };
	struct aspawn_io io = { .size = sizeof io, .out = text, .out_size = sizeof text };

	int r = aspawn_run(&command, &io);
	if (r || io.status || strcmp(text, expected)) {
		char outcome[320];
		aspawn_io_text(outcome, sizeof outcome, r, &io);
		printf("# %s: %s, %s\n", script, text, outcome);
		fflush(stdout);
	}
	CHECK(r == 0 && io.status == 0 && !strcmp(text, expected));
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
}

#define CHECK_SAYS(script, expected, ...)                                                   \
	do {                                                                                \
		const struct aspawn_action actions_[] = { __VA_ARGS__ };                    \
		check_says(script, expected, actions_, sizeof actions_ / sizeof *actions_); \
	} while (0)

TEST(actions_are_seen_by_other_programs)
{
	CHECK_SAYS("pwd", "/usr\n", ASPAWN_CHDIR("/usr"));
	CHECK_SAYS("umask", "0027\n", ASPAWN_UMASK(027));
	CHECK_SAYS("ulimit -t", "17\n", ASPAWN_RLIMIT(PSYS_RLIMIT_CPU, 17, 17));
	CHECK_SAYS("ulimit -n", "50\n", ASPAWN_RLIMIT(PSYS_RLIMIT_NOFILE, 50, 60));
	CHECK_SAYS("nice", "19\n", ASPAWN_NICE(19));
	CHECK_SAYS("test $(cut -d' ' -f6 /proc/$$/stat) = $$ && echo leader", "leader\n",
		   ASPAWN_SETSID());
	CHECK_SAYS("stat -L -c %t:%T /proc/self/fd/0", "1:3\n", ASPAWN_DEV_NULL(0));
	CHECK_SAYS("ls /proc/self/fd | tr '\\n' ' '", "0 1 2 3 ", ASPAWN_CLOSEFROM(3));
	CHECK_SAYS("grep -h NoNewPrivs /proc/self/status", "NoNewPrivs:\t1\n",
		   ASPAWN_NO_NEW_PRIVS());
	CHECK_SAYS("kill -TERM $$; echo alive", "alive\n",
		   ASPAWN_SIGNALS_IGNORE(
			   &(struct psys_sigset){ .sig = { 1UL << (PSYS_SIGTERM - 1) } }));
}

TEST(privileged_actions_are_seen_by_other_programs)
{
	static const unsigned groups[] = { 4, 5 };

	if (geteuid())
		skip("not root");
	CHECK_SAYS("id -u; id -g; id -G", "65534\n60000\n60000 4 5\n",
		   ASPAWN_USER(65534, 60000, groups, 2));
	CHECK_SAYS("cat /proc/self/oom_score_adj", "500\n", ASPAWN_OOM_SCORE_ADJ(500));
	if (!may_mount())
		skip("may not mount, nor make namespaces");
	CHECK_SAYS("hostname", "elsewhere\n", ASPAWN_UNSHARE(PSYS_CLONE_NEWUTS),
		   ASPAWN_HOSTNAME("elsewhere"));
	CHECK_SAYS("ls -A /tmp | wc -l", "0\n", ASPAWN_UNSHARE(PSYS_CLONE_NEWNS),
		   ASPAWN_MOUNT(NULL, "/", NULL, PSYS_MS_REC | PSYS_MS_PRIVATE, NULL),
		   ASPAWN_MOUNT("none", "/tmp", "tmpfs", 0, NULL));
}

TEST(a_script_without_an_interpreter_runs_by_the_shell)
{
	struct aspawn_pool pool = { { 0 } };
	char path[] = "/tmp/aspawn-script-XXXXXX";
	struct aspawn_child child;
	int status, fd = mkstemp(path);

	CHECK(fd >= 0 && fchmod(fd, 0755) == 0 && write(fd, "exit $#\n", 8) == 8 && close(fd) == 0);
	char *const argv[] = { path, (char *)"a", (char *)"b", NULL };
	struct aspawn_command command = {
		.size = sizeof command, .file = path, .argv = argv, .pool = &pool
	};
	for (int shell = 0; shell < 2; shell++) {
		command.flags = shell ? ASPAWN_COMMAND_SHELL_ON_ENOEXEC : 0;
		CHECK_EQUAL(aspawn_start(&child, &command), 0);
		CHECK_EQUAL(why_not_started(&child), shell ? 0 : -PSYS_ENOEXEC);
		CHECK_EQUAL(aspawn_wait(&child, &status, NULL, -1), shell ? 0 : -PSYS_ECANCELED);
		CHECK_EQUAL(status, (shell ? 2 : 127) << 8);
	}
	/* The array for the shell needs more stack than the default. */
	static char *many[20000];
	for (int i = 0; i < 19999; i++)
		many[i] = (char *)"x";
	command.argv = many;
	CHECK_EQUAL(aspawn_start(&child, &command), 0);
	CHECK_EQUAL(aspawn_wait_started(&child, NULL, -1), 0);
	CHECK_EQUAL(aspawn_wait(&child, &status, NULL, -1), 0);
	CHECK_EQUAL(status, (19998 % 256) << 8);
	unlink(path);
}
