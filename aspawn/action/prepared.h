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
	uint32_t build;  /* the image must have the library's ASPAWN_IMAGE_BUILD */
	void *origin;    /* the address of the prepared command, where its pointers are valid */
	size_t size;     /* bytes from origin to the end of struct control */
	bool filtered;   /* the child has filters of seccomp(2) */
	int personality; /* before the exec, if the child is not filtered */
	struct psys_cap_user_data capabilities[2]; /* the child's sets before the exec */
	char name[16];                             /* comm: prctl(2), PR_SET_NAME */
	int *kept; /* descriptors to keep open at the exec, and to make FD_CLOEXEC again */
	size_t kept_count;
};

struct prepared {
	uint64_t flags;
	int stop_signal; /* the number in the command */
	const char *file;
	const char *path; /* search path, or NULL for the default */
	char *const *argv, *const *envp;
	struct aspawn_action *actions;
	size_t count;
	int library_count;    /* the first library_count actions are the library's */
	struct child_fd *fds; /* the child needs these for actions: at most one for each */
	size_t fd_count;
	unsigned *replaced; /* a table for struct callers, with a power of two slots */
	size_t replaced_slots;
	int parent;                         /* the parent's pid, for ASPAWN_PDEATHSIG, or 0 */
	const struct aspawn_action *joined; /* the ASPAWN_JOIN_CGROUP that the clone may do */

	struct cgroup_wish new_cgroup; /* for an ASPAWN_NEW_CGROUP */
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
