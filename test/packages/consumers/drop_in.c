/* SPDX-License-Identifier: MIT */
/* The drop-ins: posix_spawn is the library's, and popen_noshell is available. */
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <popen_noshell.h>

extern char **environ;
/* What the libc's posix_spawn has no use for is not linked. */
extern struct aspawn_pool aspawn_compat_stacks __attribute__((weak));

static int spawns(char *argv[], char *text, size_t size)
{
	posix_spawn_file_actions_t actions;
	int ends[2], status = -1;
	pid_t pid;

	if (pipe(ends) || posix_spawn_file_actions_init(&actions) ||
	    posix_spawn_file_actions_adddup2(&actions, ends[1], 1) ||
	    posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ))
		return -1;
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	ssize_t length = read(ends[0], text, size - 1);
	close(ends[0]);
	text[length > 0 ? length : 0] = 0;
	return waitpid(pid, &status, 0) == pid ? status : -1;
}

static int opens(char *argv[], char *text, size_t size)
{
	struct popen_noshell_pass_to_pclose handle;
	FILE *stream = popen_noshell(argv[0], (const char *const *)argv, "r", &handle, 0);

	if (!stream || !fgets(text, (int)size, stream))
		return -1;
	return pclose_noshell(&handle);
}

int main(void)
{
	char *argv[] = { "printf", "%s-%s", "a", "b", NULL }, spawned[64] = "", opened[64] = "";
	int status_spawned = spawns(argv, spawned, sizeof spawned);
	int status_opened = opens(argv, opened, sizeof opened);

	printf("posix_spawnp of %s: %d, %s; popen_noshell: %d, %s\n",
	       &aspawn_compat_stacks ? "aspawn" : "the libc", status_spawned, spawned,
	       status_opened, opened);
	return !&aspawn_compat_stacks || status_spawned || strcmp(spawned, "a-b") != 0 ||
	       status_opened || strcmp(opened, "a-b") != 0;
}
