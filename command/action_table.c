/* SPDX-License-Identifier: MIT */
/* The table of action kinds, the check of an action, and failures. */
#include <syscall/string.h>

#include "prepared.h"

enum { MOST_BYTES = 1000000 };

#define AT(member) offsetof(struct aspawn_action, u.member)
#define USES(member) .uses = AT(member), .subject = AT(member)
#define REPLACES(member) .replaces = AT(member), .subject = AT(member)
#define BEGINS_AT(member) .begins = AT(member), .subject = AT(member)
#define ARRAY(member, number, size) .array = AT(member), .count = AT(number), .each = size
#define SIGNALS(member) .array = AT(member), .each = PSYS_SIGSET_SIZE

const struct action_info aspw_action_infos[] = {
#define ACTION(KIND, name, ...) [ASPAWN_ACTION_##KIND] = { __VA_ARGS__ },
#include "action_table.h"
#undef ACTION
};

PSYS_UNINSTRUMENTED const struct action_info *aspw_action_info(uint32_t kind)
{
	return kind < 1 || kind >= sizeof aspw_action_infos / sizeof *aspw_action_infos ?
		       NULL :
		       &aspw_action_infos[kind];
}

PSYS_UNINSTRUMENTED size_t aspw_array_size(const struct aspawn_action *action)
{
	const struct action_info *info = &aspw_action_infos[action->kind];
	size_t count = 1;

	if (info->count)
		__builtin_memcpy(&count, (const char *)action + info->count, sizeof count);
	return count > MOST_BYTES ? SIZE_MAX : count * info->each;
}

static bool is_name(const char *name)
{
	return *name && !*psys_strchrnul(name, '=');
}

static bool is_signal(int signal)
{
	return signal > 0 && signal <= PSYS_NSIG;
}

/* Checks what the table does not describe. */
static bool is_complete(const struct aspawn_action *action)
{
	switch (action->kind) {
	case ASPAWN_ACTION_OUTPUT_PIPE:
		return action->u.output_pipe.read_end;
	case ASPAWN_ACTION_INPUT_PIPE:
		return action->u.input_pipe.write_end;
	case ASPAWN_ACTION_SETENV:
		return is_name(action->u.setenv.name);
	case ASPAWN_ACTION_UNSETENV:
		return is_name(action->u.unsetenv.name);
	case ASPAWN_ACTION_CALL:
		return action->u.call.function;
	case ASPAWN_ACTION_PDEATHSIG:
		return action->u.pdeathsig.signal == 0 || is_signal(action->u.pdeathsig.signal);
	case ASPAWN_ACTION_SIGNAL_DEFAULT:
		return is_signal(action->u.signal_default.signal);
	case ASPAWN_ACTION_SIGNAL_IGNORE:
		return is_signal(action->u.signal_ignore.signal);
	case ASPAWN_ACTION_USER: /* with -1 setresuid(2) would change nothing */
		return action->u.user.uid != (unsigned)-1 && action->u.user.gid != (unsigned)-1;
	case ASPAWN_ACTION_SECCOMP:
		return action->u.seccomp.count <= UINT16_MAX;
	case ASPAWN_ACTION_AFFINITY:
		return action->u.affinity.size && action->u.affinity.size % sizeof(long) == 0;
	default:
		return true;
	}
}

static bool is_fd(const struct aspawn_action *action, size_t offset, bool of_path)
{
	return !offset || member_int(action, offset) >= 0 ||
	       (of_path && member_int(action, offset) == PSYS_AT_FDCWD);
}

static bool has_its_strings(const struct aspawn_action *action, const struct action_info *info)
{
	for (int i = 0; i < (info->optional ? 1 : MOST_STRINGS) && info->strings[i]; i++)
		if (!member_pointer(action, info->strings[i]))
			return false;
	return true;
}

int aspw_check_action(const struct aspawn_action *action)
{
	const struct action_info *info = aspw_action_info(action->kind);

	if (!info || action->flags || !has_its_strings(action, info))
		return -PSYS_EINVAL;
	if (!is_fd(action, info->replaces, false) || !is_fd(action, info->begins, false) ||
	    !is_fd(action, info->uses, info->paths) || !is_complete(action))
		return -PSYS_EINVAL;
	if (!info->array)
		return 0;
	const size_t size = aspw_array_size(action);
	return size > MOST_BYTES                            ? -PSYS_E2BIG :
	       size && !member_pointer(action, info->array) ? -PSYS_EINVAL :
							      0;
}

PSYS_UNINSTRUMENTED void aspw_store_failure(struct aspawn_failure *failure, int step, int error,
					    uint32_t kind, const char *subject)
{
	*failure = (struct aspawn_failure){ step, error, kind, 0, "" };
	psys_strlcpy(failure->subject, subject, sizeof failure->subject);
}
