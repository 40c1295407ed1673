/* SPDX-License-Identifier: MIT */
/* The table of action kinds, the check of an action, and failures. */
#include <syscall/string.h>

#include "prepared.h"

enum { MOST_BYTES = 1000000 };

#define AT(member) offsetof(struct aspawn_action, u.member)

const struct action_info aspawn_action_infos[] = {
	[ASPAWN_ACTION_DUP2] = { "dup2", .plain = true, .fds = { AT(dup2.from), AT(dup2.to) },
				 .uses = AT(dup2.from), .replaces = AT(dup2.to),
				 .subject = AT(dup2.from) },
	[ASPAWN_ACTION_OPENAT] = { "open", .fds = { AT(openat.fd) }, .uses = AT(openat.dirfd),
				   .replaces = AT(openat.fd), .paths = { AT(openat.path) } },
	[ASPAWN_ACTION_OPENAT2] = { "openat2", .fds = { AT(openat2.fd) }, .uses = AT(openat2.dirfd),
				    .replaces = AT(openat2.fd), .paths = { AT(openat2.path) } },
	[ASPAWN_ACTION_OUTPUT_PIPE] = { "output_pipe", .plain = true, .fds = { AT(output_pipe.fd) },
					.replaces = AT(output_pipe.fd),
					.subject = AT(output_pipe.fd) },
	[ASPAWN_ACTION_INPUT_PIPE] = { "input_pipe", .plain = true, .fds = { AT(input_pipe.fd) },
				       .replaces = AT(input_pipe.fd), .subject = AT(input_pipe.fd) },
	[ASPAWN_ACTION_CLOSE] = { "close", .plain = true, .fds = { AT(close.fd) },
				  .replaces = AT(close.fd), .subject = AT(close.fd) },
	[ASPAWN_ACTION_CLOSEFROM] = { "closefrom", .plain = true, .fds = { AT(closefrom.first) },
				      .subject = AT(closefrom.first) },
	[ASPAWN_ACTION_ONLY_BELOW] = { "only_below", .plain = true, .fds = { AT(only_below.first) },
				       .subject = AT(only_below.first) },
	[ASPAWN_ACTION_CLOEXEC_FROM] = { "cloexec_from", .plain = true,
					 .fds = { AT(cloexec_from.first) },
					 .subject = AT(cloexec_from.first) },

	[ASPAWN_ACTION_SETENV] = { "setenv", .plain = true,
				   .strings = { AT(setenv.name), AT(setenv.value) } },
	[ASPAWN_ACTION_UNSETENV] = { "unsetenv", .plain = true, .strings = { AT(unsetenv.name) } },
	[ASPAWN_ACTION_CLEARENV] = { "clearenv", .plain = true },

	[ASPAWN_ACTION_CHDIR] = { "chdir", .plain = true, .paths = { AT(chdir.path) } },
	[ASPAWN_ACTION_FCHDIR] = { "fchdir", .plain = true, .fds = { AT(fchdir.fd) },
				   .uses = AT(fchdir.fd), .subject = AT(fchdir.fd) },
	[ASPAWN_ACTION_UMASK] = { "umask", .plain = true },

	[ASPAWN_ACTION_SETSID] = { "setsid", .plain = true },
	[ASPAWN_ACTION_SETPGID] = { "setpgid", .plain = true, .subject = AT(setpgid.pgid) },
	[ASPAWN_ACTION_CONTROLLING_TERMINAL] = { "controlling_terminal",
						 .fds = { AT(controlling_terminal.fd) },
						 .uses = AT(controlling_terminal.fd),
						 .subject = AT(controlling_terminal.fd) },
	[ASPAWN_ACTION_FOREGROUND] = { "foreground", .fds = { AT(foreground.fd) },
				       .uses = AT(foreground.fd), .subject = AT(foreground.fd) },

	[ASPAWN_ACTION_RESET_SIGNALS] = { "reset_signals", .plain = true },
	[ASPAWN_ACTION_SIGMASK] = { "sigmask", .plain = true, .array = AT(sigmask.set) },
	[ASPAWN_ACTION_SIGNALS_DEFAULT] = { "signals_default", .plain = true,
					    .array = AT(signals_default.set) },
	[ASPAWN_ACTION_SIGNALS_IGNORE] = { "signals_ignore", .plain = true,
					   .array = AT(signals_ignore.set) },
	[ASPAWN_ACTION_SIGNAL_DEFAULT] = { "signal_default", .plain = true,
					   .subject = AT(signal_default.signal) },
	[ASPAWN_ACTION_SIGNAL_IGNORE] = { "signal_ignore", .plain = true,
					  .subject = AT(signal_ignore.signal) },
	[ASPAWN_ACTION_PDEATHSIG] = { "pdeathsig", .plain = true, .subject = AT(pdeathsig.signal) },

	[ASPAWN_ACTION_RLIMIT] = { "rlimit", .plain = true, .subject = AT(rlimit.resource) },
	[ASPAWN_ACTION_NICE] = { "nice", .plain = true, .subject = AT(nice.value) },
	[ASPAWN_ACTION_SCHEDULER] = { "scheduler", .subject = AT(scheduler.policy) },
	[ASPAWN_ACTION_AFFINITY] = { "affinity", .array = AT(affinity.mask) },
	[ASPAWN_ACTION_IOPRIO] = { "ioprio", .subject = AT(ioprio.value) },
	[ASPAWN_ACTION_OOM_SCORE_ADJ] = { "oom_score_adj", .plain = true, .copies = true,
					  .subject = AT(oom_score_adj.value) },
	[ASPAWN_ACTION_PERSONALITY] = { "personality" },
	[ASPAWN_ACTION_JOIN_CGROUP] = { "join_cgroup", .copies = true, .fds = { AT(join_cgroup.fd) },
					.uses = AT(join_cgroup.fd), .subject = AT(join_cgroup.fd) },

	[ASPAWN_ACTION_USER] = { "user", .plain = true, .copies = true, .array = AT(user.groups),
				 .subject = AT(user.uid) },
	[ASPAWN_ACTION_RESUID] = { "resuid", .plain = true, .copies = true },
	[ASPAWN_ACTION_RESGID] = { "resgid", .plain = true, .copies = true },
	[ASPAWN_ACTION_GROUPS] = { "groups", .plain = true, .array = AT(groups.groups) },
	[ASPAWN_ACTION_CAP_DROP] = { "cap_drop", .subject = AT(cap_drop.capability) },
	[ASPAWN_ACTION_CAP_AMBIENT] = { "cap_ambient", .subject = AT(cap_ambient.capability) },
	[ASPAWN_ACTION_SECUREBITS] = { "securebits" },
	[ASPAWN_ACTION_NO_NEW_PRIVS] = { "no_new_privs", .plain = true },
	[ASPAWN_ACTION_SECCOMP] = { "seccomp", .array = AT(seccomp.filter) },
	[ASPAWN_ACTION_LANDLOCK] = { "landlock", .fds = { AT(landlock.ruleset_fd) },
				     .uses = AT(landlock.ruleset_fd),
				     .subject = AT(landlock.ruleset_fd) },

	[ASPAWN_ACTION_CHROOT] = { "chroot", .paths = { AT(chroot.path) } },
	[ASPAWN_ACTION_PIVOT_ROOT] = { "pivot_root", .paths = { AT(pivot_root.new_root),
								AT(pivot_root.put_old) } },
	[ASPAWN_ACTION_UNSHARE] = { "unshare" },
	[ASPAWN_ACTION_SETNS] = { "setns", .fds = { AT(setns.fd) }, .uses = AT(setns.fd),
				  .subject = AT(setns.fd) },
	[ASPAWN_ACTION_MOUNT] = { "mount", .paths = { AT(mount.target), AT(mount.source) },
				  .strings = { AT(mount.type), AT(mount.options) },
				  .optional = true },
	[ASPAWN_ACTION_HOSTNAME] = { "hostname", .strings = { AT(hostname.name) } },

	[ASPAWN_ACTION_WRITE] = { "write", .paths = { AT(write.path) },
				  .strings = { AT(write.text) } },
	[ASPAWN_ACTION_CALL] = { "call" },
};

PSYS_UNINSTRUMENTED const struct action_info *aspawn_action_info(uint32_t kind)
{
	return kind < 1 || kind >= sizeof aspawn_action_infos / sizeof *aspawn_action_infos ?
		       NULL :
		       &aspawn_action_infos[kind];
}

PSYS_UNINSTRUMENTED size_t aspawn_array_size(const struct aspawn_action *action)
{
	size_t count, each;

	switch (action->kind) {
	case ASPAWN_ACTION_SIGMASK:
	case ASPAWN_ACTION_SIGNALS_DEFAULT:
	case ASPAWN_ACTION_SIGNALS_IGNORE:
		return PSYS_SIGSET_SIZE;
	case ASPAWN_ACTION_AFFINITY:
		return action->u.affinity.size;
	case ASPAWN_ACTION_USER:
		count = action->u.user.count;
		each = sizeof *action->u.user.groups;
		break;
	case ASPAWN_ACTION_GROUPS:
		count = action->u.groups.count;
		each = sizeof *action->u.groups.groups;
		break;
	case ASPAWN_ACTION_SECCOMP:
		count = action->u.seccomp.count;
		each = sizeof(struct psys_sock_filter);
		break;
	default:
		return 0;
	}
	return count > MOST_BYTES ? SIZE_MAX : count * each;
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

static bool has_its_strings(const struct aspawn_action *action, const struct action_info *info)
{
	if (info->paths[0] && !member_pointer(action, info->paths[0]))
		return false;
	if (info->optional)
		return true;
	for (int i = 0; i < 2; i++)
		if ((info->paths[i] && !member_pointer(action, info->paths[i])) ||
		    (info->strings[i] && !member_pointer(action, info->strings[i])))
			return false;
	return true;
}

int aspawn_check_action(const struct aspawn_action *action)
{
	const struct action_info *info = aspawn_action_info(action->kind);

	if (!info || action->flags || (has_strings(info) && !has_its_strings(action, info)))
		return -PSYS_EINVAL;
	for (int i = 0; i < 2; i++)
		if (info->fds[i] && member_int(action, info->fds[i]) < 0)
			return -PSYS_EINVAL;
	if (info->uses && member_int(action, info->uses) < 0 &&
	    member_int(action, info->uses) != PSYS_AT_FDCWD)
		return -PSYS_EINVAL;
	if (!is_complete(action))
		return -PSYS_EINVAL;
	if (!info->array)
		return 0;
	const size_t size = aspawn_array_size(action);
	return size > MOST_BYTES                            ? -PSYS_E2BIG :
	       size && !member_pointer(action, info->array) ? -PSYS_EINVAL :
							      0;
}

PSYS_UNINSTRUMENTED void aspawn_store_failure(struct aspawn_failure *failure, int step, int error,
					      uint32_t kind, const char *subject)
{
	*failure = (struct aspawn_failure){ step, error, kind, 0, "" };
	psys_strlcpy(failure->subject, subject, sizeof failure->subject);
}
