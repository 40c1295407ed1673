/*
 * A program without a libc that spawns a real command. In a checkout, after make:
 *
 *     cc -O2 -static -nostdlib -ffreestanding -fno-stack-protector -Iinclude \
 *         examples/freestanding.c syscall/arch/x86_64/start.S build/libaspawn.a
 *
 * start.S is the entry point, one for each architecture, and is not installed. Without
 * -O2 clang calls memset for an initializer, which is a libc's.
 */
#include <aspawn/aspawn.h>
#include <syscall/exec.h>
#include <syscall/string.h>
#include <syscall/syscall.h>

static void say(const char *text)
{
	psys_write(1, text, psys_strlen(text));
}

static ASPAWN_CHILD int run_echo(void *envp, int write_end, void *old_sigset, void *words,
				 size_t length)
{
	char *argv[] = { "echo", words, NULL };

	(void)length;
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, old_sigset, NULL, PSYS_SIGSET_SIZE);
	int error = psys_execvpe("echo", argv, envp, psys_getenv(envp, "PATH"), 0);
	psys_write(write_end, &error, sizeof error);
	return 127;
}

int main(int argc, char **argv, char **envp)
{
	char words[] = "spoken by a real command";
	struct Stack_t stack = { 0 };
	int error = 0, status = -1, pid;
	int message = aspawn(&pid, &stack, 16384, run_echo, envp, words, sizeof words);

	(void)argc, (void)argv;
	if (message < 0 || psys_read(message, &error, sizeof error) > 0) {
		say(psys_strerror(message < 0 ? message : error));
		say("\n");
		return 1;
	}
	psys_wait4(pid, &status, 0, NULL);
	return status != 0;
}
