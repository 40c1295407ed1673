/* SPDX-License-Identifier: MIT */
/* Makes random actions, valid most of the time. */
#ifndef FUZZ_ACTIONS_H
#define FUZZ_ACTIONS_H

#include <aspawn/command.h>
#include <syscall/security.h>
#include <syscall/syscall.h>

#include "../../suite/last_action.h"
#include "input.h"

enum { MOST_ACTIONS_HERE = 24 };

/* An action may point to this memory: the memory is always readable and ends with a NUL. */
static char memory[4096];

static const char *const texts[] = { "/",    "/dev/null",    "/dev",
				     "",     "no such file", "/proc/self/comm",
				     "text", memory };

static const char *next_text(struct input *input)
{
	const uint8_t kind = next_byte(input);

	return kind % 9 == 8 ? NULL : texts[kind % 8];
}

static const void *next_array(struct input *input)
{
	return next_byte(input) % 8 ? memory : NULL;
}

/* A size beyond the memory would be invalid use, unless the library rejects the size. */
static size_t next_array_size(struct input *input, size_t each)
{
	uint64_t size = next_number(input);

	if (size > sizeof memory / each && size <= 1000000)
		size = 8 * (next_byte(input) % (sizeof memory / 8 / each));
	return (size_t)size;
}

static ASPAWN_CHILD int call(void *arg)
{
	(void)arg;
	return 0;
}

/* False if an action, as root, would change more than the child. */
static UNUSED bool is_harmless(const struct aspawn_action *action)
{
	switch (action->kind) {
	case ASPAWN_ACTION_MOUNT:
	case ASPAWN_ACTION_PIVOT_ROOT:
	case ASPAWN_ACTION_HOSTNAME:
	case ASPAWN_ACTION_JOIN_CGROUP:
	case ASPAWN_ACTION_NEW_CGROUP:
	case ASPAWN_ACTION_CONTROLLING_TERMINAL:
	case ASPAWN_ACTION_FOREGROUND:
		return false;
	case ASPAWN_ACTION_SCHEDULER: /* a real-time loop would starve the machine */
		return action->u.scheduler.policy != 1 && action->u.scheduler.policy != 2;
	default:
		return true;
	}
}

/* Makes a harmless call: shared, of the image, or refused. */
static void next_system_call(struct input *input, struct aspawn_action *action)
{
	static const int numbers[] = { PSYS_NR_umask, PSYS_NR_chdir, PSYS_NR_munlockall,
				       PSYS_NR_execve };

	action->flags = next_number(input) & 0xfff;
	const size_t bytes = next_array_size(input, 1);
	action->flags |= (uint32_t)(bytes > sizeof memory ? 0xfffff : bytes) << 12;
	action->u.syscall.number = numbers[next_byte(input) % 4];
	for (size_t i = 0; i < 6; i++)
		action->u.syscall.words[i] = (unsigned long)next_array(input);
}

/* Sets what must not be random bytes. */
static void next_pointers(struct input *input, struct aspawn_action *action, int *end)
{
	/* clang-format off */
	switch (action->kind) {
	case ASPAWN_ACTION_OPENAT: action->u.openat.path = next_text(input); break;
	case ASPAWN_ACTION_OPENAT2: action->u.openat2.path = next_text(input); break;
	case ASPAWN_ACTION_OUTPUT_PIPE: action->u.output_pipe.read_end = next_byte(input) % 8 ? end : NULL; break;
	case ASPAWN_ACTION_INPUT_PIPE: action->u.input_pipe.write_end = next_byte(input) % 8 ? end : NULL; break;
	case ASPAWN_ACTION_SETENV:
		action->u.setenv.name = next_text(input);
		action->u.setenv.value = next_text(input);
		break;
	case ASPAWN_ACTION_UNSETENV: action->u.unsetenv.name = next_text(input); break;
	case ASPAWN_ACTION_CHDIR: action->u.chdir.path = next_text(input); break;
	case ASPAWN_ACTION_CHROOT: action->u.chroot.path = next_text(input); break;
	case ASPAWN_ACTION_WRITE:
		action->u.write.path = next_text(input);
		action->u.write.text = next_text(input);
		break;
	case ASPAWN_ACTION_MOUNT:
		action->u.mount.source = next_text(input);
		action->u.mount.target = next_text(input);
		action->u.mount.type = next_text(input);
		action->u.mount.options = next_text(input);
		break;
	case ASPAWN_ACTION_PIVOT_ROOT:
		action->u.pivot_root.new_root = next_text(input);
		action->u.pivot_root.put_old = next_text(input);
		break;
	case ASPAWN_ACTION_HOSTNAME: action->u.hostname.name = next_text(input); break;
	case ASPAWN_ACTION_SIGMASK: action->u.sigmask.set = next_array(input); break;
	case ASPAWN_ACTION_SIGNALS_DEFAULT: action->u.signals_default.set = next_array(input); break;
	case ASPAWN_ACTION_SIGNALS_IGNORE: action->u.signals_ignore.set = next_array(input); break;
	case ASPAWN_ACTION_AFFINITY:
		action->u.affinity.mask = next_array(input);
		action->u.affinity.size = next_array_size(input, 1);
		break;
	case ASPAWN_ACTION_USER:
		action->u.user.groups = next_array(input);
		action->u.user.count = next_array_size(input, sizeof(unsigned));
		break;
	case ASPAWN_ACTION_GROUPS:
		action->u.groups.groups = next_array(input);
		action->u.groups.count = next_array_size(input, sizeof(unsigned));
		break;
	case ASPAWN_ACTION_SECCOMP:
		action->u.seccomp.filter = next_array(input);
		action->u.seccomp.count = next_array_size(input, sizeof(struct psys_sock_filter));
		break;
	case ASPAWN_ACTION_SYSCALL: next_system_call(input, action); break;
	case ASPAWN_ACTION_CALL:
		action->u.call.function = next_byte(input) % 4 ? call : NULL;
		action->u.call.arg = NULL;
		break;
	default: break;
	}
	/* clang-format on */
}

static struct aspawn_action next_action(struct input *input, int *end)
{
	struct aspawn_action action;
	int numbers[sizeof action.u / sizeof(int)];

	memset(&action, 0, sizeof action);
	action.kind = next_byte(input) < 250 ? next_byte(input) % (LAST_ACTION + 1) :
					       (uint32_t)next_number(input);
	action.flags = next_byte(input) < 250 ? 0 : (uint32_t)next_number(input);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		numbers[i] = (int)next_number(input);
	memcpy(&action.u, numbers, sizeof numbers);
	next_pointers(input, &action, end);
	return action;
}

#endif
