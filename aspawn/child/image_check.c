/* SPDX-License-Identifier: MIT */
/* Before a child executes the image, it checks what an exec would change. */
#include "image_check.h"

#include <syscall/string.h>

#include "../../syscall/kernel_file.h"
#include "../marks.h"
#include "../action/action_info.h"
#include "image.h"

enum {
	/* The image has the stack that the kernel gives it, 128 KiB at once, and not the stack of a
	 * copy. For /bin/sh the image has an array of the arguments on the stack. */
	STACK_LEAST = 256 * 1024, /* bytes */
	/* Debuggers, 32-bit systems and programs of arm set these bits of personality(2). */
	HARMLESS = 0x40000 | 8 | 0x800000,
};

/* Plain actions, and the search of a program, need at most these capabilities: CAP_DAC_OVERRIDE,
 * DAC_READ_SEARCH, SETGID, SETUID, SYS_PTRACE (a symbolic link into /proc), SYS_ADMIN, SYS_NICE,
 * SYS_RESOURCE, MAC_OVERRIDE. To ask for a capability is a system call, and root has 41. */
#define PLAIN                                                                                   \
	(1ULL << 1 | 1ULL << 2 | 1ULL << 6 | 1ULL << 7 | 1ULL << 19 | 1ULL << 21 | 1ULL << 23 | \
	 1ULL << 24 | 1ULL << 32)

/* O_NOATIME, and a file to create, may need capabilities. */
static IN_CHILD bool is_plain(const struct aspawn_action *action)
{
	enum { PLAIN_FLAGS = PSYS_O_WRONLY | PSYS_O_RDWR | PSYS_O_CLOEXEC };

	return aspw_action_infos[action->kind].plain ||
	       (action->kind == ASPAWN_ACTION_OPENAT && !(action->u.openat.flags & ~PLAIN_FLAGS) &&
		!psys_strcmp(action->u.openat.path, "/dev/null"));
}

static IN_CHILD bool are_plain(const struct prepared *prepared)
{
	for (size_t i = 0; i < prepared->count; i++)
		if (!is_plain(&prepared->actions[i]))
			return false;
	return true;
}

/* Before Linux 5.16 the core dump of a child that a filter kills also kills the parent. */
static IN_CHILD bool survives_filters(void)
{
	struct psys_utsname name;
	const char *at = name.release;

	if (psys_uname(&name) < 0)
		return false;
	const uint64_t version = aspw_read_number(&at);
	at += *at == '.';
	return version > 5 || (version == 5 && aspw_read_number(&at) >= 16);
}

/* gcc fails on m68k if this is inlined. */
static IN_CHILD __attribute__((noinline)) bool has_limit(int resource, uint64_t least)
{
	struct psys_rlimit64 limit;

	return psys_prlimit64(0, resource, NULL, &limit) >= 0 && limit.rlim_cur >= least;
}

/* An exec sets the saved IDs, and the IDs for files, to the effective IDs. If the real IDs differ,
 * the exec is that of a set-user-ID program. */
static IN_CHILD bool keeps_ids(unsigned *user)
{
	unsigned real, effective, saved;

	if (psys_getresgid(&real, &effective, &saved) < 0 || real != effective ||
	    saved != effective || psys_setfsgid((unsigned)-1) != effective)
		return false;
	if (psys_getresuid(&real, &effective, &saved) < 0 || real != effective ||
	    saved != effective || psys_setfsuid((unsigned)-1) != effective)
		return false;
	*user = effective;
	return true;
}

/* Securebits change what an exec does, and the exec clears one securebit. The image is dumpable. A
 * personality may give the image other addresses. */
static IN_CHILD bool keeps_flags(int personality)
{
	return psys_prctl(PSYS_PR_GET_SECUREBITS, 0, 0, 0, 0) == 0 &&
	       psys_prctl(PSYS_PR_GET_DUMPABLE, 0, 0, 0, 0) == 1 && personality >= 0 &&
	       !(personality & ~HARMLESS);
}

static IN_CHILD bool holds_capability(const struct psys_cap_user_data *held, unsigned capability)
{
	return held[capability / 32].permitted & UINT32_C(1) << capability % 32;
}

/* capabilities(7), "Transformation of capabilities during execve()": root gets the bounding and the
 * inheritable capabilities, and others keep the ambient capabilities. The image drops what root
 * gains. The exec of the program recomputes root's capabilities, so a loss matters only to actions.
 * Others may get a capability by a file, with no_new_privs only if they have the capability. */
static IN_CHILD bool keeps_capabilities(struct prepared *prepared, unsigned user)
{
	struct psys_cap_user_header header = { PSYS_LINUX_CAPABILITY_VERSION_3, 0 };
	const struct psys_cap_user_data *held = prepared->image.capabilities;
	const bool plain = are_plain(prepared);

	if (psys_capget(&header, prepared->image.capabilities) < 0)
		return false;
	for (unsigned i = 0; i < 64; i++) {
		if (!holds_capability(held, i) || (plain && !user && !(PLAIN >> i & 1)))
			continue;
		if (user ? psys_prctl(PSYS_PR_CAP_AMBIENT, PSYS_PR_CAP_AMBIENT_IS_SET, i, 0, 0) != 1 :
			   !(held[i / 32].inheritable & UINT32_C(1) << i % 32) &&
				    psys_prctl(PSYS_PR_CAPBSET_READ, i, 0, 0, 0) != 1)
			return false;
	}
	return true;
}

IN_CHILD bool aspw_image_check(struct prepared *prepared)
{
	unsigned user;

	prepared->image.filtered = psys_prctl(PSYS_PR_GET_SECCOMP, 0, 0, 0, 0) != 0;
	if (prepared->image.filtered && !survives_filters())
		return false;
	prepared->image.personality = psys_personality(0xffffffff);
	return has_limit(PSYS_RLIMIT_STACK, STACK_LEAST + prepared->image.size) &&
	       has_limit(PSYS_RLIMIT_FSIZE, IMAGE_COMMAND + prepared->image.size) &&
	       keeps_ids(&user) && keeps_flags(prepared->image.personality) &&
	       keeps_capabilities(prepared, user) &&
	       psys_prctl(PSYS_PR_GET_NAME, (uintptr_t)prepared->image.name, 0, 0, 0) >= 0;
}
