/* SPDX-License-Identifier: MIT */
/* A prepared command, as it lies on the child's stack. */
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

/* What the image needs beside the command: image.h. */
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
	const char *path; /* search path; NULL: the default */
	char *const *argv, *const *envp;
	struct aspawn_action *actions;
	size_t count;
	int library_count;    /* the first library_count actions are the library's */
	struct child_fd *fds; /* that the child needs for actions: at most one each */
	size_t fd_count;
	unsigned *replaced; /* for struct callers: a table of a power of two slots */
	size_t replaced_slots;
	int parent;                         /* the parent's pid, for ASPAWN_PDEATHSIG; 0: none */
	const struct aspawn_action *joined; /* the ASPAWN_JOIN_CGROUP that the clone may do, or NULL */

	struct cgroup_wish new_cgroup; /* of an ASPAWN_NEW_CGROUP */
	struct image_data image;

	/* Called in the child, when all actions are done; NULL: nothing, as in the image, which does not
	 * have the function. */
	void (*before_exec)(struct prepared *prepared);
	void *of; /* for before_exec */

	unsigned char reason; /* enum aspawn_reason, for the case that memory is copied */

	/* Written by the child: its last step, and its error. The parent reads it, in memory or in the page
	 * of an exec_watch, when the child has execed or ended. */
	struct aspawn_failure *report;
	struct aspawn_failure in_memory;
	int report_fd; /* -1: no pipe */
};

#endif
