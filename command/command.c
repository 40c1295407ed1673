/* The parent's part of a command: to check it, to copy it, to start it. */
#include <syscall/string.h>

#include "prepared.h"

enum {
	CALL_STACK = 16 * 1024, /* what ASPAWN_CALL promises its functions */
	CHILD_STACK = CALL_STACK + 2 * PSYS_PATH_MAX + 4 * 1024, /* a candidate, and the library's frames */
	MOST_ACTIONS = 10000000, /* a close for each descriptor that there may be, and more */
};

static int check(struct aspawn_command *to, const struct aspawn_command *from)
{
	int r = aspawn_check_size(from, from->size, sizeof *to);

	if (r < 0)
		return r;
	*to = *from;
	if (!to->file || (!to->actions && to->action_count) ||
	    to->flags & ~(ASPAWN_COMMAND_POLL | ASPAWN_COMMAND_SHELL | ASPAWN_COMMAND_PARENT_DIRECTORY |
			  ASPAWN_COMMAND_STILL | ASPAWN_COMMAND_VFORK | ASPAWN_COMMAND_NO_PIDFD |
			  ASPAWN_COMMAND_FORK | ASPAWN_COMMAND_COPY_DESCRIPTORS))
		return -PSYS_EINVAL;
	if (to->action_count > MOST_ACTIONS)
		return -PSYS_E2BIG;
	return 0;
}

bool aspawn_has_action(const struct aspawn_command *command, int kind)
{
	struct aspawn_command known;

	if (!command || check(&known, command) < 0)
		return false;
	for (size_t i = 0; i < known.action_count; i++)
		if (known.actions[i].kind == kind)
			return true;
	return false;
}

/* --- copying -------------------------------------------------------------- */

/* Measures while base is NULL. Afterwards it copies, and at most what it measured: a
 * thread that changes the environment meanwhile gets an error. */
struct arena {
	char *base;
	size_t size, most;
	int error;
};

/* So many bytes, or NULL while measuring. */
static void *allocate(struct arena *arena, size_t size, size_t align)
{
	size_t at = (arena->size + align - 1) & ~(align - 1);

	if (at < arena->size || __builtin_add_overflow(at, size, &arena->size))
		arena->error = -PSYS_EOVERFLOW;
	else if (arena->size > arena->most)
		arena->error = -PSYS_EAGAIN;
	return arena->base && !arena->error ? arena->base + at : NULL;
}

static const void *copy(struct arena *arena, const void *from, size_t size, size_t align)
{
	void *to = allocate(arena, size, align);

	return to && size ? psys_memcpy(to, from, size) : to;
}

static const char *copy_string(struct arena *arena, const char *string)
{
	if (!string || arena->error)
		return NULL;
	if (!arena->base)
		return allocate(arena, psys_strlen(string) + 1, 1);
	/* In one pass, to what is left. */
	char *to = arena->base + arena->size;
	size_t length = psys_strlcpy(to, string, arena->most - arena->size);
	return allocate(arena, length + 1, 1);
}

static char *const *copy_strings(struct arena *arena, char *const *strings)
{
	size_t count = 0;

	while (strings[count])
		count++;
	char **to = allocate(arena, (count + 1) * sizeof *to, sizeof *to);
	for (size_t i = 0; i < count; i++) {
		const char *string = copy_string(arena, strings[i]);
		if (to)
			to[i] = (char *)(uintptr_t)string;
	}
	if (to)
		to[count] = NULL;
	return to;
}

static char *const *lend_or_copy(struct arena *arena, char *const *strings, bool lends)
{
	return lends ? strings : copy_strings(arena, strings);
}

/* Checked, with all that they point to. Returns how many of them are pipes. */
static size_t copy_actions(struct arena *arena, struct aspawn_action *to,
			   const struct aspawn_action *from, size_t count)
{
	size_t pipes = 0;

	for (size_t i = 0; i < count && !arena->error; i++) {
		struct aspawn_action action = from[i];
		int error = aspawn_check_action(&action);
		if (error) {
			arena->error = error;
			break;
		}
		unsigned has = aspawn_action_info(action.kind)->has;

		pipes += action.kind == ASPAWN_ACTION_PIPE;
		if (has & PATH)
			action.data = copy_string(arena, action.data);
		if (has & BYTES)
			action.data = copy(arena, action.data, action.size, STACK_ALIGN);
		for (int j = 0; j < 3 && (has & STRINGS); j++)
			action.text[j] = copy_string(arena, action.text[j]);
		if (to)
			to[i] = action;
	}
	return pipes;
}

/* What the library puts before the caller's actions. */
struct actions {
	const struct aspawn_action *first;
	size_t count;
};

static struct prepared *prepare(struct arena *arena, const struct aspawn_command *command,
				struct actions own)
{
	static char *const nothing[] = { NULL };
	char *const argv[] = { (char *)(uintptr_t)command->file, NULL };
	const size_t count = own.count + command->action_count;
	/* For a shell the child needs an array of its own, whose size is measured here. */
	const bool lends = (command->flags & ASPAWN_COMMAND_VFORK) && !(command->flags & ASPAWN_COMMAND_SHELL);
	struct prepared *prepared = allocate(arena, sizeof *prepared, STACK_ALIGN);
	struct aspawn_action *actions = allocate(arena, count * sizeof *actions, sizeof(uint64_t));
	size_t pipes = copy_actions(arena, actions, own.first, own.count);

	pipes += copy_actions(arena, actions ? actions + own.count : NULL, command->actions,
			      command->action_count);
	const struct prepared made = {
		.flags = command->flags,
		.file = copy_string(arena, command->file),
		.path = copy_string(arena, command->path),
		.argv = command->argv ? lend_or_copy(arena, command->argv, lends) : copy_strings(arena, argv),
		.envp = lend_or_copy(arena, command->envp ? command->envp : nothing, lends),
		.actions = actions,
		.count = count,
		.own_count = (int)own.count,
		.pipes = allocate(arena, pipes * sizeof *made.pipes, sizeof(size_t)),
		.pipe_count = pipes,
		.report_fd = -1,
		.step = ASPAWN_STEP_DESCRIPTORS,
	};
	if (prepared)
		*prepared = made;
	return prepared;
}

/* --- starting ------------------------------------------------------------- */

static void close_pipes(const struct prepared *prepared, bool also_parents)
{
	for (size_t i = 0; i < prepared->pipe_count; i++) {
		const struct command_pipe *pipe = &prepared->pipes[i];
		if (pipe->parents_end < 0)
			break;
		psys_close(pipe->childs_end);
		if (also_parents)
			psys_close(pipe->parents_end);
	}
}

static int make_pipes(struct prepared *prepared)
{
	struct command_pipe *pipe = prepared->pipes;

	for (size_t i = 0; i < prepared->count; i++)
		if (prepared->actions[i].kind == ASPAWN_ACTION_PIPE)
			*pipe++ = (struct command_pipe){ i, -1, -1, -1 };
	for (pipe = prepared->pipes; pipe < prepared->pipes + prepared->pipe_count; pipe++) {
		const bool child_writes = prepared->actions[pipe->action].b;
		int ends[2];
		int r = aspawn_pipe(ends);

		if (r < 0) {
			close_pipes(prepared, true);
			return r;
		}
		pipe->parents_end = ends[!child_writes];
		pipe->childs_end = pipe->moved_end = ends[child_writes];
	}
	return 0;
}

static void give_pipes(const struct prepared *prepared)
{
	for (size_t i = 0; i < prepared->pipe_count; i++) {
		const struct command_pipe *pipe = &prepared->pipes[i];
		*(int *)prepared->actions[pipe->action].pointer = pipe->parents_end;
	}
}

/* On a reserved stack, with all signals blocked. */
static int start(struct aspawn_child *child, const struct Stack_t *stack, struct prepared *prepared,
		 size_t size, const struct psys_sigset *mask)
{
	struct spawned spawned;
	int r = make_pipes(prepared);

	if (r < 0)
		return r;

	const uint64_t flags = prepared->flags;
	const struct requirements requirements = aspawn_requirements(prepared);
	const struct request request = {
		.copy_memory = requirements.copy_memory || flags & ASPAWN_COMMAND_FORK,
		.suspend = flags & ASPAWN_COMMAND_VFORK,
		.unshare_files = requirements.unshare_files,
		/* The child's ends of pipes are closed here, not before it has copied them. */
		.await_files = !(flags & ASPAWN_COMMAND_STILL) || prepared->pipe_count,
		.keep_below = requirements.keep_below,
		.pipe = flags & ASPAWN_COMMAND_POLL ? PIPE : PIPE_IF_COPIED,
		.watch_copy = true,
		.wants_pidfd = !(flags & ASPAWN_COMMAND_NO_PIDFD),
		.cgroup_fd = requirements.cgroup ? requirements.cgroup->a : -1,
		.cgroup_is_optional = true, /* why it cannot be is for the action to say */
		.mask = *mask,
		.fn = aspawn_perform,
		.arg = stack_control(stack),
		.user_data = prepared,
		.user_data_len = size,
	};
	prepared->joined = requirements.cgroup;
	prepared->parent = requirements.parent ? psys_getpid() : 0;
	r = aspawn_spawn(&spawned, &request, stack);
	close_pipes(prepared, r < 0);
	if (r < 0)
		return r;
	give_pipes(prepared);
	if (spawned.read_end >= 0)
		psys_fcntl(spawned.read_end, PSYS_F_SETFL, PSYS_O_NONBLOCK);
	*child = (struct aspawn_child){
		.pid = spawned.pid,
		.pidfd = spawned.pidfd,
		.fd = flags & ASPAWN_COMMAND_POLL ? spawned.read_end : -1,
		.report = spawned.read_end,
		.copied = stack_state(stack)->mode == ASPAWN_MODE_FORK,
		.watch = spawned.watch,
		.stack = stack,
		.failure = { ASPAWN_STEP_NONE, 0 },
	};
	return 0;
}

int aspawn_command_with(struct aspawn_child *child, struct Stack_t *stack,
			const struct aspawn_command *command, const struct aspawn_action *own,
			size_t own_count)
{
	const struct actions first = { own, own_count };
	struct arena arena = { NULL, 0, SIZE_MAX, 0 };
	struct aspawn_command known;
	struct psys_sigset all, mask;

	if (!child || !stack || !command)
		return -PSYS_EINVAL;
	int r = check(&known, command);
	if (r < 0)
		return r;
	prepare(&arena, &known, first);
	if (arena.error)
		return arena.error;

	const size_t size = arena.most = arena.size;
	psys_sigfillset(&all);
	r = psys_rt_sigprocmask(PSYS_SIG_SETMASK, &all, &mask, PSYS_SIGSET_SIZE);
	if (r < 0)
		return r;
	/* A shell is given the arguments in an array of the child's. */
	r = aspawn_stack_reserve(stack, CHILD_STACK + (known.flags & ASPAWN_COMMAND_SHELL ? size : 0), size);
	if (r == 0) {
		arena.base = aspawn_stack_place(stack, size);
		arena.size = 0;
		struct prepared *prepared = prepare(&arena, &known, first);
		r = arena.error ? arena.error : start(child, stack, prepared, size, &mask);
	}
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &mask, NULL, PSYS_SIGSET_SIZE);
	return r;
}

int aspawn_command(struct aspawn_child *child, struct Stack_t *stack,
		   const struct aspawn_command *command)
{
	return aspawn_command_with(child, stack, command, NULL, 0);
}
