/* What is known of each kind of action, and whether an action is valid. */
#include "prepared.h"

enum { MOST_BYTES = 1000000 };

static const struct action_info infos[] = {
	[ASPAWN_ACTION_DUP2] = { "dup2", FD_A | FD_B | USES_A },
	[ASPAWN_ACTION_OPEN] = { "open", FD_A | PATH | USES_B },
	[ASPAWN_ACTION_OPENAT2] = { "openat2", FD_A | PATH | USES_B },
	[ASPAWN_ACTION_PIPE] = { "pipe", FD_A },
	[ASPAWN_ACTION_CLOSE] = { "close", FD_A },
	[ASPAWN_ACTION_CLOSEFROM] = { "closefrom", FD_A },
	[ASPAWN_ACTION_CLOEXEC_FROM] = { "cloexec_from", FD_A },
	[ASPAWN_ACTION_CHDIR] = { "chdir", PATH },
	[ASPAWN_ACTION_FCHDIR] = { "fchdir", FD_A | USES_A },
	[ASPAWN_ACTION_CHROOT] = { "chroot", PATH },
	[ASPAWN_ACTION_PIVOT_ROOT] = { "pivot_root", PATH | STRINGS },
	[ASPAWN_ACTION_SETSID] = { "setsid", 0 },
	[ASPAWN_ACTION_SETPGID] = { "setpgid", 0 },
	[ASPAWN_ACTION_CONTROLLING_TERMINAL] = { "controlling_terminal", FD_A | USES_A },
	[ASPAWN_ACTION_FOREGROUND] = { "foreground", FD_A | USES_A },
	[ASPAWN_ACTION_SIGMASK] = { "sigmask", BYTES | SET },
	[ASPAWN_ACTION_SIGNALS_DEFAULT] = { "signals_default", BYTES | SET },
	[ASPAWN_ACTION_SIGNALS_IGNORE] = { "signals_ignore", BYTES | SET },
	[ASPAWN_ACTION_UMASK] = { "umask", 0 },
	[ASPAWN_ACTION_RLIMIT] = { "rlimit", 0 },
	[ASPAWN_ACTION_NICE] = { "nice", 0 },
	[ASPAWN_ACTION_SCHEDULER] = { "scheduler", 0 },
	[ASPAWN_ACTION_AFFINITY] = { "affinity", BYTES },
	[ASPAWN_ACTION_IOPRIO] = { "ioprio", 0 },
	[ASPAWN_ACTION_RESUID] = { "resuid", COPY },
	[ASPAWN_ACTION_RESGID] = { "resgid", COPY },
	[ASPAWN_ACTION_GROUPS] = { "groups", BYTES },
	[ASPAWN_ACTION_USER] = { "user", BYTES | COPY },
	[ASPAWN_ACTION_CAP_DROP] = { "cap_drop", 0 },
	[ASPAWN_ACTION_CAP_AMBIENT] = { "cap_ambient", 0 },
	[ASPAWN_ACTION_SECUREBITS] = { "securebits", 0 },
	[ASPAWN_ACTION_NO_NEW_PRIVS] = { "no_new_privs", 0 },
	[ASPAWN_ACTION_SECCOMP] = { "seccomp", BYTES },
	[ASPAWN_ACTION_LANDLOCK] = { "landlock", FD_A | USES_A },
	[ASPAWN_ACTION_PDEATHSIG] = { "pdeathsig", 0 },
	[ASPAWN_ACTION_UNSHARE] = { "unshare", 0 },
	[ASPAWN_ACTION_SETNS] = { "setns", FD_A | USES_A },
	[ASPAWN_ACTION_MOUNT] = { "mount", PATH | STRINGS },
	[ASPAWN_ACTION_HOSTNAME] = { "hostname", PATH },
	[ASPAWN_ACTION_JOIN_CGROUP] = { "join_cgroup", FD_A | USES_A | COPY },
	[ASPAWN_ACTION_OOM_SCORE_ADJ] = { "oom_score_adj", COPY },
	[ASPAWN_ACTION_WRITE] = { "write", PATH | STRINGS },
	[ASPAWN_ACTION_PERSONALITY] = { "personality", 0 },
	[ASPAWN_ACTION_CALL] = { "call", 0 },
};

PSYS_UNINSTRUMENTED const struct action_info *aspawn_action_info(int kind)
{
	return kind < 1 || (size_t)kind >= sizeof infos / sizeof *infos ? NULL : &infos[kind];
}

/* What else has to be there, and the counts that say a size twice. */
static bool is_complete(const struct aspawn_action *action)
{
	switch (action->kind) {
	case ASPAWN_ACTION_PIPE:
		return action->pointer;
	case ASPAWN_ACTION_CALL:
		return action->call;
	case ASPAWN_ACTION_PIVOT_ROOT:
	case ASPAWN_ACTION_WRITE:
		return action->text[0];
	case ASPAWN_ACTION_PDEATHSIG:
		return action->a >= 0 && action->a <= PSYS_NSIG;
	case ASPAWN_ACTION_USER:
		if (action->a == -1 || action->b == -1) /* "as it is" */
			return false;
		/* fallthrough */
	case ASPAWN_ACTION_GROUPS:
		return action->u <= MOST_BYTES && action->size == action->u * sizeof(unsigned);
	case ASPAWN_ACTION_SECCOMP:
		return action->u <= UINT16_MAX &&
		       action->size == action->u * sizeof(struct psys_sock_filter);
	case ASPAWN_ACTION_AFFINITY:
		return action->size && action->size % sizeof(long) == 0;
	default:
		return true;
	}
}

int aspawn_check_action(const struct aspawn_action *action)
{
	const struct action_info *known = aspawn_action_info(action->kind);
	unsigned has = known ? known->has : 0;

	if (!known || ((has & FD_A) && action->a < 0) || ((has & FD_B) && action->b < 0) ||
	    ((has & USES_B) && action->b < 0 && action->b != PSYS_AT_FDCWD) ||
	    ((has & PATH) && !action->data) ||
	    ((has & BYTES) && !action->data && action->size) ||
	    ((has & SET) && action->size != PSYS_SIGSET_SIZE))
		return -PSYS_EINVAL;
	if ((has & BYTES) && action->size > MOST_BYTES)
		return -PSYS_E2BIG;
	return is_complete(action) ? 0 : -PSYS_EINVAL;
}
