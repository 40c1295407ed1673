/* SPDX-License-Identifier: MIT */
/* Describes kinds of actions, checks actions, and stores failures. */
#include "action_info.h"

#include <syscall/string.h>

#include "../marks.h"

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

IN_ANY const struct action_info *aspw_action_info(uint32_t kind)
{
	return kind < 1 || kind >= sizeof aspw_action_infos / sizeof *aspw_action_infos ?
		       NULL :
		       &aspw_action_infos[kind];
}

/* The marks of ASPAWN_SYSCALL have a bit for each string. Then follow the place + 1 of the
 * descriptor and the place + 1 of the bytes, each 0 if the call has none,
 * and the number of bytes. */
enum { PLACES = 6, FD_SHIFT = 6, BYTES_SHIFT = 9, PLACE_MASK = 7, SIZE_SHIFT = 12 };

/* Returns the offset of an argument. place is the argument's index + 1. */
static IN_ANY size_t word_at(unsigned place)
{
	return AT(syscall.words) + (place - 1) * sizeof(long);
}

IN_ANY size_t aspw_used_by(const struct aspawn_action *action)
{
	const unsigned place = action->flags >> FD_SHIFT & PLACE_MASK;
	const bool big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	if (action->kind != ASPAWN_ACTION_SYSCALL)
		return aspw_action_infos[action->kind].uses;
	return !place ? 0 : word_at(place) + (big_endian ? sizeof(long) - sizeof(int) : 0);
}

static IN_ANY size_t marked_word(uint32_t marks, int index, size_t *size)
{
	for (unsigned place = 1; place <= PLACES; place++) {
		const bool is_string = marks >> (place - 1) & 1;
		*size = is_string ? IS_STRING : marks >> SIZE_SHIFT;
		if ((is_string || place == (marks >> BYTES_SHIFT & PLACE_MASK)) && index-- == 0)
			return word_at(place);
	}
	return 0;
}

static IN_ANY bool are_marks(uint32_t marks)
{
	const unsigned fd = marks >> FD_SHIFT & PLACE_MASK,
		       bytes = marks >> BYTES_SHIFT & PLACE_MASK,
		       pointers = (marks & ((1U << PLACES) - 1)) << 1;

	return fd <= PLACES && bytes <= PLACES && !(pointers & (1U << fd | 1U << bytes) & ~1U) &&
	       !(fd && fd == bytes) && (bytes || !(marks >> SIZE_SHIFT));
}

static IN_ANY size_t array_size(const struct aspawn_action *action)
{
	const struct action_info *info = &aspw_action_infos[action->kind];
	size_t count = 1;

	if (info->count)
		__builtin_memcpy(&count, (const char *)action + info->count, sizeof count);
	return count > MOST_BYTES ? MOST_BYTES + 1 : count * info->each;
}

IN_ANY size_t aspw_pointer_of(const struct aspawn_action *action, int index, size_t *size)
{
	const struct action_info *info = &aspw_action_infos[action->kind];

	if (action->kind == ASPAWN_ACTION_SYSCALL)
		return marked_word(action->flags, index, size);
	*size = IS_STRING;
	if (!info->array)
		return index < MOST_STRINGS ? info->strings[index] : 0;
	*size = array_size(action);
	return index == 0 ? info->array : 0;
}

static IN_ANY bool syscall_changes_credentials(int number)
{
	switch (number) {
	case PSYS_NR_setuid:
	case PSYS_NR_setgid:
	case PSYS_NR_setreuid:
	case PSYS_NR_setregid:
	case PSYS_NR_setresuid:
	case PSYS_NR_setresgid:
	case PSYS_NR_setfsuid:
	case PSYS_NR_setfsgid:
	case PSYS_NR_setns:
#ifdef PSYS_NR_setuid16 /* SYS_setuid of the libc, and so on */
	case PSYS_NR_setuid16:
	case PSYS_NR_setgid16:
	case PSYS_NR_setreuid16:
	case PSYS_NR_setregid16:
	case PSYS_NR_setresuid16:
	case PSYS_NR_setresgid16:
	case PSYS_NR_setfsuid16:
	case PSYS_NR_setfsgid16:
#endif
		return true;
	default:
		return false;
	}
}

IN_ANY bool aspw_changes_credentials(const struct aspawn_action *action)
{
	const unsigned kind = action->kind, type = (unsigned)action->u.setns.type;

	return kind == ASPAWN_ACTION_USER || kind == ASPAWN_ACTION_RESUID ||
	       kind == ASPAWN_ACTION_RESGID ||
	       (kind == ASPAWN_ACTION_SYSCALL &&
		syscall_changes_credentials(action->u.syscall.number)) ||
	       (kind == ASPAWN_ACTION_SETNS && (!type || type & PSYS_CLONE_NEWUSER));
}

static bool is_name(const char *name)
{
	return *name && !*psys_strchrnul(name, '=');
}

static bool is_signal(int signal)
{
	return signal > 0 && signal <= PSYS_NSIG;
}

/* Checks the requirements that the table does not describe. */
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

/* Returns 0, -E2BIG if an array is too long, or -EINVAL if a required pointer is NULL. */
static int check_pointers(const struct aspawn_action *action)
{
	const bool optional = aspw_action_infos[action->kind].optional;
	size_t at, size;
	int r = 0;

	for (int i = 0; (at = aspw_pointer_of(action, i, &size)); i++) {
		if (size > MOST_BYTES && size != IS_STRING)
			r = -PSYS_E2BIG;
		else if (size && (i == 0 || !optional) && !member_pointer(action, at))
			return -PSYS_EINVAL;
	}
	return r;
}

int aspw_check_action(const struct aspawn_action *action)
{
	const struct action_info *info = aspw_action_info(action->kind);
	const bool marked = action->kind == ASPAWN_ACTION_SYSCALL;

	if (!info || (marked ? !are_marks(action->flags) : action->flags))
		return -PSYS_EINVAL;
	const int r = check_pointers(action);
	return r == -PSYS_EINVAL || !is_fd(action, info->replaces, false) ||
			       !is_fd(action, info->begins, false) ||
			       !is_fd(action, aspw_used_by(action), info->paths) ||
			       !is_complete(action) ?
		       -PSYS_EINVAL :
		       r;
}

IN_ANY void aspw_store_failure(struct aspawn_failure *failure, int step, int error, uint32_t kind,
			       const char *subject)
{
	*failure = (struct aspawn_failure){ step, error, kind, 0, "" };
	psys_strlcpy(failure->subject, subject, sizeof failure->subject);
}
