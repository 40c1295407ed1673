/* SPDX-License-Identifier: MIT */
/* A prepared command lies on the child's stack. */
#ifndef ACTION_PREPARED_H
#define ACTION_PREPARED_H

#include <aspawn/command.h>
#include <syscall/exec.h>
#include <syscall/string.h>
#include <syscall/syscall.h>

#include "../spawn/spawn.h"
#include "../spawn/stack.h"

enum {
	CALL_STACK = 16 * 1024, /* promised to functions of ASPAWN_CALL */
	CHILD_STACK = CALL_STACK + 2 * PSYS_PATH_MAX +
		      4 * 1024, /* struct candidate, and the library's frames */
};

/* The image needs this beside the command, as image.h says. */
struct image_data {
	uint32_t build;  /* ASPAWN_IMAGE_BUILD of the library, which that of the image must be */
	void *origin;    /* the address of the prepared command, for which its pointers are */
	size_t size;     /* bytes from there to the end of struct control */
	bool filtered;   /* seccomp(2) */
	int personality; /* of the child before the exec, if not filtered */
	struct psys_cap_user_data capabilities[2]; /* of the child before the exec */
	char name[16];                             /* comm: prctl(2), PR_SET_NAME */
	int *kept; /* descriptors that the exec shall not close, to be FD_CLOEXEC again */
	size_t kept_count;
};

struct prepared {
	uint64_t flags;
	int stop_signal; /* as the command has it */
	const char *file;
	const char *path; /* search path, or NULL for the default */
	char *const *argv, *const *envp;
	struct aspawn_action *actions;
	size_t count;
	int library_count;    /* the first library_count actions are the library's */
	struct child_fd *fds; /* that the child needs for actions: at most one each */
	size_t fd_count;
	unsigned *replaced; /* for struct callers: a table of a power of two slots */
	size_t replaced_slots;
	int parent;                         /* the parent's pid, for ASPAWN_PDEATHSIG, or 0 */
	const struct aspawn_action *joined; /* the ASPAWN_JOIN_CGROUP that the clone may do, or NULL */

	struct cgroup_wish new_cgroup; /* of an ASPAWN_NEW_CGROUP */
	struct image_data image;

	/* The child calls this after all actions, unless NULL. The image does not have the
	 * function. */
	void (*before_exec)(struct prepared *prepared);
	void *of; /* for before_exec */

	unsigned char reason; /* enum aspawn_reason, if memory is copied */

	/* The child stores its last step and error. The parent reads them after the child's exec or
	 * end, in memory or in the page of an exec_watch. */
	struct aspawn_failure *report;
	struct aspawn_failure in_memory;
	int report_fd; /* or -1 */
};

#endif
