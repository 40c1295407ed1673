/* SPDX-License-Identifier: MIT */
/*
 * A privileged server starts commands as other users: a line "user directory command..." each, from
 * standard input. The user's groups, a clean environment, limits, no way back to privileges, a log
 * opened by root, nothing inherited; what a command has started ends with the command.
 *
 *	server LOG
 */
#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aspawn/command.h>

enum { MOST_GROUPS = 64, MOST_VARIABLES = 5 };

static struct aspawn_pool pool;
static const char *log_file;

static const char *reason(int reason)
{
	return reason == ASPAWN_REASON_COMMAND ? "an action" :
	       reason == ASPAWN_REASON_CALLER  ? "the server's own privileges" :
	       reason == ASPAWN_REASON_SYSTEM  ? "the kernel, or a filter" :
	       reason == ASPAWN_REASON_BUILD   ? "the library was built without the image" :
						 "";
}

/* Returns 0, or a negative error number; a message was printed. */
static int start_as(struct aspawn_child *child, const struct passwd *user, const char *directory,
		    const char *script)
{
	gid_t groups[MOST_GROUPS];
	int group_count = MOST_GROUPS;
	char home[512], name[512], text[256];
	char *const environment[MOST_VARIABLES] = { home, name,
						    (char *)(uintptr_t) "PATH=/usr/bin:/bin", NULL };
	struct aspawn_failure failure;

	if (getgrouplist(user->pw_name, user->pw_gid, groups, &group_count) < 0)
		return -ENOMEM;
	snprintf(home, sizeof home, "HOME=%s", user->pw_dir);
	snprintf(name, sizeof name, "USER=%s", user->pw_name);

	const struct aspawn_action actions[] = {
		ASPAWN_RESET_SIGNALS(),
		ASPAWN_SETSID(), /* a group, for aspawn_kill_group() */
		ASPAWN_OPEN(1, log_file, PSYS_O_WRONLY | PSYS_O_CREAT | PSYS_O_APPEND,
			    0600), /* as root */
		ASPAWN_DUP2(1, 2),
		ASPAWN_UMASK(077),
		ASPAWN_RLIMIT(PSYS_RLIMIT_CPU, 60, 61),
		ASPAWN_RLIMIT(PSYS_RLIMIT_NPROC, 100, 100),
		ASPAWN_CAP_DROP(ASPAWN_CAP_ALL),
		ASPAWN_USER(user->pw_uid, user->pw_gid, groups, (size_t)group_count),
		ASPAWN_CHDIR(directory), /* with the user's rights */
		ASPAWN_NO_NEW_PRIVS(),
		ASPAWN_CLOSEFROM(3),
	};
	const struct aspawn_command command = {
		.size = sizeof command,
		.flags = ASPAWN_COMMAND_DIES_WITH_CALLER,
		.argv = ASPAWN_ARGV("/bin/sh", "-c", script),
		.envp = environment,
		.actions = actions,
		.action_count = sizeof actions / sizeof *actions,
		.std_in = ASPAWN_STREAM_NULL,
		.pool = &pool,
	};

	int r = aspawn_start(child, &command);
	if (r < 0 && aspawn_wait_started(child, &failure, 0) != -ECANCELED) {
		fprintf(stderr, "%s: %s\n", user->pw_name, strerror(-r)); /* EAGAIN and the like */
		return r;
	}
	if (r == 0)
		r = aspawn_wait_started(child, &failure, -1);
	if (r < 0) {
		aspawn_failure_text(text, sizeof text, &failure);
		fprintf(stderr, "%s: %s\n", user->pw_name, text);
		if (!strcmp(aspawn_failure_name(&failure), "chdir"))
			fprintf(stderr, "no access to %s\n", directory);
		aspawn_wait(child, NULL, NULL, -1); /* does nothing if it was never started */
		return r;
	}
	if (aspawn_describe(child, ASPAWN_FACT_MODE) == ASPAWN_MODE_FORK)
		fprintf(stderr, "the server's memory was copied: %s\n",
			reason(aspawn_describe(child, ASPAWN_FACT_REASON)));
	return 0;
}

static void end(struct aspawn_child *child)
{
	int status = -1;
	char text[64];

	int r = aspawn_wait(child, &status, NULL, 10000);
	if (r == -ETIMEDOUT) {
		aspawn_kill_group(child, PSYS_SIGTERM);
		for (int i = 0; i < 50 && aspawn_ended(child) == 0; i++)
			poll(NULL, 0, 20);
		aspawn_kill_group(child, PSYS_SIGKILL);
		r = aspawn_wait(child, &status, NULL, -1);
	}
	aspawn_status_text(text, sizeof text, status);
	printf("%s\n", r < 0 ? strerror(-r) : text);
}

int main(int argc, char **argv)
{
	char line[4096], directory[256], user[64];
	struct aspawn_child child;
	int length;

	if (argc != 2)
		return 2;
	log_file = argv[1];
	while (fgets(line, sizeof line, stdin)) {
		const struct passwd *entry;

		if (sscanf(line, "%63s %255s %n", user, directory, &length) < 2)
			continue;
		entry = getpwnam(user);
		if (!entry)
			fprintf(stderr, "%s: no such user\n", user);
		else if (start_as(&child, entry, directory, line + length) == 0)
			end(&child);
	}
	return aspawn_pool_release(&pool) != 0;
}
