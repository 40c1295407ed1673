/* The spawn, as the layers above ask for it. */
#ifndef ASPAWN_SPAWN_H
#define ASPAWN_SPAWN_H

#include <stdbool.h>

#include <aspawn/aspawn.h>
#include <syscall/errno.h>
#include <syscall/signal.h>

enum report_pipe { NO_PIPE, PIPE_IF_COPIED, PIPE };

struct control;

struct request {
	bool copy_memory; /* as fork(2); otherwise it is shared if that is possible */
	bool suspend;     /* the caller, until the exec (CLONE_VFORK); never with copy_memory */
	/* aspawn_private_clone: a helper is the child's parent; never with suspend. NULL: the
	 * caller is (aspawn_clone_child). */
	long (*clone)(struct control *control, const struct request *request,
		      const struct Stack_t *stack);
	/* The child begins with its parent's descriptor table (CLONE_FILES) and first takes a
	 * copy of what is below keep_below. Unless memory may be a copy. */
	bool unshare_files;
	bool await_files; /* do not return before it has done so */
	unsigned keep_below;
	enum report_pipe pipe;
	bool watch_copy; /* where memory may be a copy, make an exec_watch */
	bool wants_pidfd;
	int cgroup_fd;           /* -1: none */
	bool cgroup_is_optional; /* if it is refused, begin without */

	struct psys_sigset mask; /* the caller's */
	aspawn_fn fn;
	void *arg, *user_data; /* user_data lies on the stack; the child's frames below */
	size_t user_data_len;
};

struct spawned {
	pid_t pid;
	int pidfd;                /* -1: not requested or not supported */
	int read_end;             /* of the pipe; -1: none */
	struct exec_watch *watch; /* NULL: none; aspawn_watch_free() */
};

/* With the arguments of aspawn(), of which the request has some: what that returns. pidfd is
 * NULL, or where it is stored. */
int aspawn_request(struct request *request, pid_t *pid, int *pidfd, struct Stack_t *stack,
		   size_t reserved, const void *user_data);

/* On a reserved stack, with all signals blocked: 0 or a negative error number, and then
 * nothing is left of it. */
int aspawn_spawn(struct spawned *spawned, const struct request *request,
		 const struct Stack_t *stack);

/* Clones the child of the request by one method after another, with its pipe and its pidfd.
 * The pid, or why there is no child. In the caller or in the helper of a private child. */
long aspawn_clone_child(struct control *control, const struct request *request,
			const struct Stack_t *stack);

/*
 * Copies a structure that begins with its size, and may be older or newer than the one that
 * is known: 0, -EINVAL if it is smaller than the first version, -E2BIG if it says more than
 * is known. man 2 openat2, "Extensibility"
 */
int aspawn_read_structure(void *to, size_t known, const void *from, size_t size,
			  size_t first_version);

/* A CLOEXEC pipe that keeps clear of the standard streams: 0 or an error. */
int aspawn_pipe(int ends[2]);
void aspawn_close_pipe(const int ends[2]);

#endif
