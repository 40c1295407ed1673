/* The parent's part of a command: to check it, to copy it, to start it. */
#include <syscall/string.h>

#include "plan.h"

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
			  ASPAWN_COMMAND_FORK))
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
struct packer {
	char *base;
	size_t size, most;
	int error;
};

/* Room for so many bytes, or NULL while measuring. */
static void *room(struct packer *packer, size_t size, size_t align)
{
	size_t at = (packer->size + align - 1) & ~(align - 1);

	if (at < packer->size || __builtin_add_overflow(at, size, &packer->size))
		packer->error = -PSYS_EOVERFLOW;
	else if (packer->size > packer->most)
		packer->error = -PSYS_EAGAIN;
	return packer->base && !packer->error ? packer->base + at : NULL;
}

static const void *pack(struct packer *packer, const void *from, size_t size, size_t align)
{
	void *to = room(packer, size, align);

	return to && size ? psys_memcpy(to, from, size) : to;
}

static const char *pack_text(struct packer *packer, const char *text)
{
	if (!text || packer->error)
		return NULL;
	if (!packer->base)
		return room(packer, psys_strlen(text) + 1, 1);
	/* In one pass, to what is left. */
	char *to = packer->base + packer->size;
	size_t length = psys_strlcpy(to, text, packer->most - packer->size);
	return room(packer, length + 1, 1);
}

static char **pack_texts(struct packer *packer, char *const *texts)
{
	size_t count = 0;

	while (texts[count])
		count++;
	char **to = room(packer, (count + 1) * sizeof *to, sizeof *to);
	for (size_t i = 0; i < count; i++) {
		const char *text = pack_text(packer, texts[i]);
		if (to)
			to[i] = (char *)(uintptr_t)text;
	}
	if (to)
		to[count] = NULL;
	return to;
}

static char *const *give_texts(struct packer *packer, char *const *texts, bool borrows)
{
	return borrows ? texts : pack_texts(packer, texts);
}

static void pack_actions(struct packer *packer, struct aspawn_action *to,
			 const struct aspawn_action *from, size_t count)
{
	for (size_t i = 0; i < count && !packer->error; i++) {
		struct aspawn_action action = from[i];
		int error = aspawn_check_action(&action);
		if (error) {
			packer->error = error;
			return;
		}
		unsigned traits = aspawn_action_traits(action.kind)->traits;

		if (traits & TEXT)
			action.data = pack_text(packer, action.data);
		if (traits & BYTES)
			action.data = pack(packer, action.data, action.size, STACK_ALIGN);
		for (int j = 0; j < 3 && (traits & TEXTS); j++)
			action.text[j] = pack_text(packer, action.text[j]);
		if (to)
			to[i] = action;
	}
}

/* What the library puts before the caller's actions. */
struct actions {
	const struct aspawn_action *first;
	size_t count;
};

static struct plan *pack_command(struct packer *packer, const struct aspawn_command *command,
				 struct actions own)
{
	static char *const nothing[] = { NULL };
	char *const argv[] = { (char *)(uintptr_t)command->file, NULL };
	const size_t count = own.count + command->action_count;
	/* For a shell the room for an array of the child's is measured here. */
	const bool borrows = (command->flags & ASPAWN_COMMAND_VFORK) && !(command->flags & ASPAWN_COMMAND_SHELL);
	struct plan *plan = room(packer, sizeof *plan, STACK_ALIGN);
	struct aspawn_action *actions = room(packer, count * sizeof *actions, sizeof(uint64_t));

	pack_actions(packer, actions, own.first, own.count);
	pack_actions(packer, actions ? actions + own.count : NULL, command->actions, command->action_count);
	const struct plan made = {
		.flags = command->flags,
		.file = pack_text(packer, command->file),
		.path = pack_text(packer, command->path),
		.argv = command->argv ? give_texts(packer, command->argv, borrows) : pack_texts(packer, argv),
		.envp = give_texts(packer, command->envp ? command->envp : nothing, borrows),
		.actions = actions,
		.count = count,
		.own_count = (int)own.count,
	};
	if (plan)
		*plan = made;
	return plan;
}

/* --- starting ------------------------------------------------------------- */

static void close_pipes(const struct plan *plan, bool also_parents)
{
	for (size_t i = 0; i < plan->pipe_end; i++) {
		const struct aspawn_action *action = &plan->actions[i];
		if (action->kind != ASPAWN_ACTION_PIPE || action->c < 0)
			continue;
		psys_close((int)action->v);
		if (also_parents)
			psys_close(action->c);
	}
}

static int make_pipes(struct plan *plan)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->actions[i].kind == ASPAWN_ACTION_PIPE) {
			plan->actions[i].c = -1;
			plan->pipe_end = i + 1;
		}
	for (size_t i = 0; i < plan->pipe_end; i++) {
		struct aspawn_action *action = &plan->actions[i];
		int ends[2];

		if (action->kind != ASPAWN_ACTION_PIPE)
			continue;
		int r = aspawn_pipe(ends);
		if (r < 0) {
			close_pipes(plan, true);
			return r;
		}
		action->c = ends[!action->b];
		action->u = action->v = (unsigned)ends[!!action->b];
	}
	return 0;
}

static void give_pipes(const struct plan *plan)
{
	for (size_t i = 0; i < plan->pipe_end; i++)
		if (plan->actions[i].kind == ASPAWN_ACTION_PIPE)
			*(int *)plan->actions[i].pointer = plan->actions[i].c;
}

/* How the child has to begin, for what its actions are. */
struct beginning {
	uint64_t flags;
	unsigned kept; /* above all that actions before the first closefrom name */
	bool has_pipes;
	const struct aspawn_action *cgroup;
};

static void keep(struct beginning *beginning, unsigned fd)
{
	if (beginning->kept <= fd)
		beginning->kept = fd + 1;
}

/* A path by which the child would find its own descriptors. */
static bool leads_to_descriptors(const struct aspawn_action *action)
{
	return aspawn_action_traits(action->kind)->traits & TEXT &&
	       (!psys_strncmp(action->data, "/dev/fd", 7) || !psys_strncmp(action->data, "/proc", 5));
}

/* Whether the descriptor is what the caller calls so, whatever has been done before. */
static bool is_callers(const struct plan *plan, const struct aspawn_action *user)
{
	for (const struct aspawn_action *action = plan->actions; action < user; action++)
		if (aspawn_replaced(action) == user->a || action->kind == ASPAWN_ACTION_CALL ||
		    (action->kind == ASPAWN_ACTION_CLOSEFROM && action->a <= user->a))
			return false;
	return true;
}

static struct beginning beginning_of(struct plan *plan)
{
	struct beginning beginning = { 0, 0, false, NULL };

	for (size_t i = 0; i < plan->count; i++) {
		const struct aspawn_action *action = &plan->actions[i];
		unsigned traits = aspawn_action_traits(action->kind)->traits;

		/* The credentials of another user namespace are another user's; a time
		 * namespace is the memory's. */
		if ((traits & COPY) ||
		    (action->kind == ASPAWN_ACTION_SETNS &&
		     (!action->b || ((unsigned)action->b & (PSYS_CLONE_NEWUSER | PSYS_CLONE_NEWTIME)))))
			beginning.flags |= SPAWN_COPY;
		if (action->kind == ASPAWN_ACTION_PIPE) {
			beginning.has_pipes = true;
			keep(&beginning, (unsigned)action->u);
		}
		if (action->kind == ASPAWN_ACTION_PDEATHSIG)
			plan->parent = psys_getpid();
		if (action->kind == ASPAWN_ACTION_JOIN_CGROUP && !beginning.cgroup && is_callers(plan, action))
			beginning.cgroup = action;
		if (beginning.flags & SPAWN_OWN_TABLE)
			continue;
		if (traits & USES_A)
			keep(&beginning, (unsigned)action->a);
		if ((traits & USES_B) && action->b >= 0)
			keep(&beginning, (unsigned)action->b);
		if (leads_to_descriptors(action))
			keep(&beginning, INT32_MAX);
		if (action->kind == ASPAWN_ACTION_CLOSEFROM) {
			if (action->a > 0)
				keep(&beginning, (unsigned)action->a - 1);
			beginning.flags |= SPAWN_OWN_TABLE;
		}
	}
	return beginning;
}

/* On a reserved stack, with all signals blocked. */
static int start(struct aspawn_child *child, const struct Stack_t *stack, struct plan *plan,
		 size_t size, const struct psys_sigset *mask)
{
	struct control *control = stack_control(stack);
	int r = make_pipes(plan);

	if (r < 0)
		return r;

	const struct beginning beginning = beginning_of(plan);
	struct aspawn_child made = { .pidfd = -1, .fd = -1, .stack = stack, .failure = { ASPAWN_STEP_NONE, 0 } };
	struct aspawn_options options = {
		.size = sizeof options,
		.flags = ASPAWN_PIDFD | beginning.flags,
		.pidfd = &made.pidfd,
		.cgroup_fd = -1,
	};

	if (plan->flags & ASPAWN_COMMAND_NO_PIDFD)
		options.flags &= ~ASPAWN_PIDFD;
	if (plan->flags & ASPAWN_COMMAND_VFORK)
		options.flags |= ASPAWN_VFORK;
	if (plan->flags & ASPAWN_COMMAND_FORK)
		options.flags |= SPAWN_COPY;
	/* The child's ends of pipes are closed here, not before it has copied them. */
	if ((plan->flags & ASPAWN_COMMAND_STILL) && !beginning.has_pipes)
		options.flags |= SPAWN_STILL;
	if (!(plan->flags & ASPAWN_COMMAND_POLL) && !(options.flags & SPAWN_COPY))
		options.flags |= SPAWN_LATE_PIPE;
	control->kept = beginning.kept;
	control->error = 0;
	control->step = ASPAWN_STEP_DESCRIPTORS;
	r = -PSYS_ENOSYS;
	if (beginning.cgroup) {
		options.cgroup_fd = beginning.cgroup->a;
		options.flags |= ASPAWN_CGROUP;
		plan->joined = beginning.cgroup;
		r = aspawn_spawn(&options, &made.pid, stack, mask, aspawn_perform, control, plan, size);
		options.flags &= ~ASPAWN_CGROUP;
	}
	if (r < 0) {
		plan->joined = NULL; /* why it cannot be is for the action to say */
		r = aspawn_spawn(&options, &made.pid, stack, mask, aspawn_perform, control, plan, size);
	}
	close_pipes(plan, r < 0);
	if (r < 0)
		return r;
	if (r > 0)
		made.fd = r;
	give_pipes(plan);
	*child = made;
	return 0;
}

int aspawn_command_with(struct aspawn_child *child, struct Stack_t *stack,
			const struct aspawn_command *command, const struct aspawn_action *own,
			size_t own_count)
{
	const struct actions first = { own, own_count };
	struct packer packer = { NULL, 0, SIZE_MAX, 0 };
	struct aspawn_command known;
	struct psys_sigset all, mask;

	if (!child || !stack || !command)
		return -PSYS_EINVAL;
	int r = check(&known, command);
	if (r < 0)
		return r;
	pack_command(&packer, &known, first);
	if (packer.error)
		return packer.error;

	const size_t size = packer.most = packer.size;
	psys_sigfillset(&all);
	r = psys_rt_sigprocmask(PSYS_SIG_SETMASK, &all, &mask, PSYS_SIGSET_SIZE);
	if (r < 0)
		return r;
	/* A shell is given the arguments in an array of the child's. */
	r = aspawn_stack_reserve(stack, CHILD_STACK + (known.flags & ASPAWN_COMMAND_SHELL ? size : 0), size);
	if (r == 0) {
		packer.base = aspawn_stack_place(stack, size);
		packer.size = 0;
		struct plan *plan = pack_command(&packer, &known, first);
		r = packer.error ? packer.error : start(child, stack, plan, size, &mask);
	}
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &mask, NULL, PSYS_SIGSET_SIZE);
	return r;
}

int aspawn_command(struct aspawn_child *child, struct Stack_t *stack,
		   const struct aspawn_command *command)
{
	return aspawn_command_with(child, stack, command, NULL, 0);
}
