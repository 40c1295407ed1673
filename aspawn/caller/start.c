/* SPDX-License-Identifier: MIT */
/* Checks a command, copies it to the child's stack, and starts the child. */
#include "start.h"

#include <syscall/string.h>

#include "../marks.h"
#include "../action/action_info.h"
#include "../action/syscall_class.h"
#include "../helper/helper.h"
#include "../helper/ways.h"
#include "../spawn/clone.h"
#include "../spawn/descriptor_table.h"
#include "decide.h"
#include "environment.h"
#include "handle.h"
#include "pool.h"
#include "terminal.h"

enum {
	MOST_ACTIONS = 10000000,  /* more than one close for each possible descriptor */
	LARGEST_STRUCTURE = 4096, /* bytes, of any version */
	ALL_FLAGS = 2 * ASPAWN_COMMAND_INHERIT_SIGNALS - 1,
};

int aspw_read_structure(void *to, size_t library_size, const void *from, uint64_t size,
			size_t least_size)
{
	if (size < least_size)
		return -PSYS_EINVAL;
	if (size > LARGEST_STRUCTURE) /* no version is so large, so do not read the memory */
		return -PSYS_E2BIG;
	for (size_t i = library_size; i < size; i++)
		if (((const char *)from)[i])
			return -PSYS_E2BIG;
	if (!to)
		return 0;
	const size_t given = size < library_size ? (size_t)size : library_size;
	psys_memcpy(to, from, given);
	psys_memset((char *)to + given, 0, library_size - given);
	return 0;
}

/* Returns 0, or -EOPNOTSUPP and stores why. With PTRACE_TRACEME a helper would become the tracer,
 * and it is no debugger. */
static int check_syscall(const struct aspawn_action *action, int owner, char *why, size_t size)
{
	if (aspw_syscall_class(action) == CALL_REFUSED)
		psys_i64_to_decimal(why, action->u.syscall.number);
	else if (owner != ASPAWN_OWNER_CALLER && makes_tracer(action))
		psys_strlcpy(why, "PTRACE_TRACEME with a helper", size);
	return *why ? -PSYS_EOPNOTSUPP : 0;
}

static int check_action(const struct aspawn_action *action, int index, int owner,
			struct aspawn_failure *failure)
{
	char subject[32] = "";
	int r = aspw_check_action(action);

	if (r == 0 && action->kind == ASPAWN_ACTION_SYSCALL)
		r = check_syscall(action, owner, subject, sizeof subject);
	if (r < 0)
		aspw_store_failure(failure, index, r, action->kind, subject);
	return r;
}

/* Rejects a new cgroup beside another, or without a tree, whose helper makes and removes it. */
static int check_cgroups(const struct aspawn_command *command, struct aspawn_failure *failure)
{
	int groups = 0, made = -1;

	for (size_t i = 0; i < command->action_count; i++) {
		const uint32_t kind = command->actions[i].kind;
		groups += kind == ASPAWN_ACTION_NEW_CGROUP || kind == ASPAWN_ACTION_JOIN_CGROUP;
		if (kind == ASPAWN_ACTION_NEW_CGROUP)
			made = (int)i;
	}
	if (made < 0 || (groups == 1 && command->owner == ASPAWN_OWNER_TREE))
		return 0;
	aspw_store_failure(failure, made, -PSYS_EINVAL, ASPAWN_ACTION_NEW_CGROUP,
			   groups == 1 ? "owner" : "another group");
	return -PSYS_EINVAL;
}

int aspw_read_command(struct aspawn_command *to, const struct aspawn_command *from,
		      struct aspawn_failure *failure)
{
	if (!from)
		return aspw_refuse_argument(failure, -PSYS_EINVAL, "command");
	int r = aspw_read_structure(to, sizeof *to, from, from->size, sizeof *to);
	if (r < 0)
		return aspw_refuse_argument(failure, r, "size");
	if (!to->file && to->argv)
		to->file = to->argv[0];
	if (to->flags & ASPAWN_COMMAND_DIES_WITH_CALLER && to->owner == ASPAWN_OWNER_CALLER)
		to->owner = ASPAWN_OWNER_PRIVATE;
	const bool bad_memory = (unsigned)to->memory > ASPAWN_MEMORY_COPIED ||
				(to->memory == ASPAWN_MEMORY_SUSPENDED && to->owner);
	const bool bad_flags =
		to->flags & ~(uint64_t)ALL_FLAGS ||
		(to->flags & ASPAWN_COMMAND_TREE_OR_GROUP && to->owner != ASPAWN_OWNER_TREE);
	const bool bad_stop = (unsigned)to->stop_signal > PSYS_NSIG ||
			      to->stop_signal == PSYS_SIGKILL || to->stop_signal == PSYS_SIGSTOP;
	if (!to->file)
		return aspw_refuse_argument(failure, -PSYS_EINVAL, "argv");
	if (!to->actions && to->action_count)
		return aspw_refuse_argument(failure, -PSYS_EINVAL, "actions");
	if (bad_flags)
		return aspw_refuse_argument(failure, -PSYS_EINVAL, "flags");
	if ((unsigned)to->owner > ASPAWN_OWNER_TREE)
		return aspw_refuse_argument(failure, -PSYS_EINVAL, "owner");
	if (bad_memory)
		return aspw_refuse_argument(failure, -PSYS_EINVAL, "memory");
	if (to->pty_rows > UINT16_MAX)
		return aspw_refuse_argument(failure, -PSYS_EINVAL, "pty_rows");
	if (to->pty_columns > UINT16_MAX)
		return aspw_refuse_argument(failure, -PSYS_EINVAL, "pty_columns");
	if (bad_stop)
		return aspw_refuse_argument(failure, -PSYS_EINVAL, "stop_signal");
	if (to->reserved)
		return aspw_refuse_argument(failure, -PSYS_EINVAL, "reserved");
	if (to->action_count > MOST_ACTIONS)
		return aspw_refuse_argument(failure, -PSYS_E2BIG, "action_count");
	for (size_t i = 0; i < to->action_count && r == 0; i++)
		r = check_action(&to->actions[i], (int)i, to->owner, failure);
	return r < 0 || !to->action_count ? r : check_cgroups(to, failure);
}

/* setsid() already makes a group, and fails for a group leader. A program on a terminal calls
 * it. */
IN_SERVER void aspw_add_process_group(struct library_actions *library,
				      const struct aspawn_command *command)
{
	if (streams_on_pty(command))
		return;
	for (size_t i = 0; i < command->action_count; i++)
		if (command->actions[i].kind == ASPAWN_ACTION_SETSID ||
		    command->actions[i].kind == ASPAWN_ACTION_SETPGID)
			return;
	library->list[library->count++] = (struct aspawn_action)ASPAWN_SETPGID(0);
}

/* --- preparing ------------------------------------------------------------ */

static IN_SERVER void copy_action(struct arena *arena, struct aspawn_action *to,
				  const struct aspawn_action *from)
{
	size_t at, size;

	if (to)
		*to = *from;
	if (to && is_pipe(from)) /* give_pipes() reads the caller's actions */
		to->u.output_pipe.read_end = to->u.input_pipe.write_end = NULL;
	for (int i = 0; (at = aspw_pointer_of(from, i, &size)); i++) {
		const void *copy = member_pointer(from, at);
		copy = size == IS_STRING ? aspw_copy_string(arena, copy) :
					   aspw_arena_copy(arena, copy, size, STACK_ALIGN);
		if (to)
			set_member_pointer(to, at, copy);
	}
}

/* Returns the action with this index in the prepared command. */
PSYS_INLINE const struct aspawn_action *
action_at(const struct aspawn_command *command, const struct library_actions *library, size_t index)
{
	return index < library->count ? &library->list[index] :
					&command->actions[index - library->count];
}

IN_SERVER struct prepared *aspw_prepare_command(struct arena *arena,
						const struct aspawn_command *command,
						const struct library_actions *library)
{
	char *const only_file[] = { (char *)(uintptr_t)command->file, NULL };
	const size_t count = library->count + command->action_count;
	const struct served *served = library->served;
	const bool copies = aspw_count_copies(command);
	/* For a shell script the child copies argv to the stack, which is measured here. */
	const bool lends = (command->memory == ASPAWN_MEMORY_SUSPENDED || (served && !copies)) &&
			   !(command->flags & ASPAWN_COMMAND_SHELL_ON_ENOEXEC);
	struct prepared *prepared = aspw_arena_allocate(arena, sizeof *prepared, STACK_ALIGN);
	struct aspawn_action *actions =
		aspw_arena_allocate(arena, count * sizeof *actions, sizeof(uint64_t));

	for (size_t i = 0; i < count && !arena->error; i++)
		copy_action(arena, actions ? &actions[i] : NULL, action_at(command, library, i));
	if (arena->error)
		return NULL;
	const size_t kept = copies ? 1 + 2 * count : 0; /* 1 for the report */
	struct prepared made;

	psys_memset(&made, 0, sizeof made);
	made.flags = command->flags;
	made.stop_signal = command->stop_signal;
	made.file = aspw_copy_string(arena, command->file);
	made.argv = command->argv && lends ?
			    command->argv :
			    aspw_copy_strings(arena, command->argv ? command->argv : only_file);
	made.envp = aspw_make_environment(arena, command, lends);
	if (command->search_path)
		made.path = aspw_copy_string(arena, command->search_path);
	else if (made.envp)
		made.path = psys_getenv(made.envp, "PATH");
	made.actions = actions;
	made.count = count;
	made.library_count = (int)library->count;
	made.image.origin = prepared;
	made.image.kept = aspw_arena_allocate(arena, kept * sizeof(int), sizeof(int));
	made.fds = aspw_arena_allocate(arena, count * sizeof *made.fds, sizeof(size_t));
	made.replaced_slots = aspw_slot_count(count);
	made.replaced = aspw_arena_allocate(arena, made.replaced_slots * sizeof *made.replaced, 4);
	made.before_exec = served && !copies ? served->before_exec : NULL;
	made.of = served ? served->of : NULL;
	made.report_fd = -1;
	made.in_memory.step = ASPAWN_STEP_DESCRIPTORS;
	return prepared ? psys_memcpy(prepared, &made, sizeof made) : NULL;
}

/* --- pipes ---------------------------------------------------------------- */

/* Stores the caller's ends where the caller's own actions say. The copied actions are in the
 * child's memory, and a child that goes wrong could change them. */
static IN_SERVER void give_pipes(const struct plan *plan, const struct library_actions *library,
				 const struct aspawn_command *command)
{
	for (size_t i = 0; i < plan->fd_count; i++) {
		const size_t index = plan->fds[i].action;
		if (index >= library->count + command->action_count)
			continue;
		const struct aspawn_action *action = action_at(command, library, index);
		if (action->kind == ASPAWN_ACTION_OUTPUT_PIPE)
			*action->u.output_pipe.read_end = plan->fds[i].parents_end;
		else if (action->kind == ASPAWN_ACTION_INPUT_PIPE)
			*action->u.input_pipe.write_end = plan->fds[i].parents_end;
	}
}

/* --- streams -------------------------------------------------------------- */

/* Makes the program the leader of a session with the terminal, and fd the first stream. Closes both
 * ends: actions must not find numbers that are not the caller's. */
static IN_SERVER void add_terminal(struct library_actions *library, int fd, const int ends[2])
{
	library->list[library->count++] = (struct aspawn_action)ASPAWN_SETSID();
	library->list[library->count++] = (struct aspawn_action)ASPAWN_DUP2(ends[1], fd);
	library->list[library->count++] = (struct aspawn_action)ASPAWN_CONTROLLING_TERMINAL(fd);
	for (int i = 0; i < 2; i++)
		library->list[library->count++] = (struct aspawn_action)ASPAWN_CLOSE(ends[i]);
}

/* Returns the first stream on the terminal, if any is. */
PSYS_INLINE int first_on_pty(unsigned on_pty)
{
	if (on_pty & 1)
		return 0;
	return on_pty & 2 ? 1 : 2;
}

static IN_SERVER int add_streams(struct library_actions *library,
				 const struct aspawn_command *command, struct aspawn_child *child,
				 const int terminal[2], struct aspawn_failure *failure)
{
	const unsigned on_pty = streams_on_pty(command);
	const int pty = first_on_pty(on_pty);
	static const char names[][8] = { "std_in", "std_out", "std_err" };
	const int streams[] = { command->std_in, command->std_out, command->std_err };
	int *const ends[] = { &child->in_fd, &child->out_fd, &child->err_fd };

	if (on_pty)
		add_terminal(library, pty, terminal);
	for (int fd = 0; fd < 3; fd++) {
		struct aspawn_action *action = &library->list[library->count];
		const int stream = streams[fd];
		const bool is_pty = stream == ASPAWN_STREAM_PTY;
		int from = is_pty ? pty : stream;

		if (fd == 2 && stream == ASPAWN_STREAM_STDOUT)
			from = 1;
		if (stream == ASPAWN_STREAM_DEFAULT || stream == ASPAWN_STREAM_INHERIT ||
		    (fd > 0 && stream == fd) || (is_pty && fd == pty))
			continue;
		if (stream == ASPAWN_STREAM_NULL)
			*action = (struct aspawn_action)ASPAWN_OPEN(
				fd, "/dev/null", fd ? PSYS_O_WRONLY : PSYS_O_RDONLY, 0);
		else if (stream == ASPAWN_STREAM_PIPE && fd == 0)
			*action = (struct aspawn_action)ASPAWN_INPUT_PIPE(fd, ends[fd]);
		else if (stream == ASPAWN_STREAM_PIPE)
			*action = (struct aspawn_action)ASPAWN_OUTPUT_PIPE(fd, ends[fd]);
		else if (from > 2 || from != stream)
			*action = (struct aspawn_action)ASPAWN_DUP2(from, fd);
		else
			return aspw_refuse_argument(failure, -PSYS_EINVAL, names[fd]);
		library->count++;
	}
	return 0;
}

/* --- starting ------------------------------------------------------------- */

PSYS_INLINE void clear_handle(struct aspawn_child *child)
{
	psys_memset(child, 0, sizeof *child);
	child->ended_fd = child->started_fd = child_state(child)->child_pidfd = -1;
	child->in_fd = child->out_fd = child->err_fd = child->pty_fd = -1;
}

/* No action may find the server's descriptors, which may also use all numbers below the program's
 * limit. */
static IN_SERVER void add_served(struct library_actions *library,
				 const struct aspawn_command *command)
{
	const struct served *served = library->served;

	if (!served->is_local && (served->files || command->action_count))
		library->list[library->count++] = (struct aspawn_action)ASPAWN_CLOSEFROM(3);
	if (served->files)
		library->list[library->count++] = (struct aspawn_action)ASPAWN_RLIMIT(
			PSYS_RLIMIT_NOFILE, served->files->rlim_cur, served->files->rlim_max);
}

/* Reserves the child's stack: the pool's, the job's or a new one. size is the prepared
 * command's. */
static IN_SERVER int reserve_child_stack(struct child_state *state,
					 const struct aspawn_command *command,
					 const struct served *served, size_t size)
{
	size_t array = 0;

	state->pool = command->pool;
	state->is_jobs = served;
	state->stop_signal = stop_signal_of(command) & 127;
	if (command->pool)
		state->stack = aspw_pool_take(command->pool);
	else if (served)
		state->stack = *served->stack;
	/* For /bin/sh the child makes an array of the arguments on the stack. A job's arguments do
	 * not change meanwhile. */
	if (command->flags & ASPAWN_COMMAND_SHELL_ON_ENOEXEC && !served)
		array = size;
	else if (command->flags & ASPAWN_COMMAND_SHELL_ON_ENOEXEC)
		while (command->argv[array / sizeof *command->argv])
			array += sizeof *command->argv;
	return aspw_stack_reserve(&state->stack, CHILD_STACK + array, size);
}

/* Stores the started child in the handle. If pid is 0, the helper has not cloned yet. */
static IN_SERVER void hand_out(struct aspawn_child *child, const struct plan *plan, int pid,
			       bool starts_fd)
{
	struct child_state *state = child_state(child);
	const struct control *control = stack_control(&state->stack);
	const struct begun *begun = &stack_state(&state->stack)->begun;

	state->helped = begun->helped & 3; /* NOT_HELPED if no helper could be cloned */
	state->owner = plan->owner & 3;
	state->pid = pid ? pid : -stack_state(&state->stack)->helper_pid;
	state->report = control->report.parents_end;
	child->ended_fd =
		aspw_descriptors_keep(state->helped ? control->helper_pidfd : begun->pidfd);
	if (plan->owner && control->request.wants_pidfd)
		state->child_pidfd = aspw_descriptors_keep(begun->pidfd);
	state->is_channel = control->channel[0] >= 0;
	if (state->is_channel)
		state->child_pidfd = control->channel[0];
	if (starts_fd)
		child->started_fd = state->report;
	if (pid)
		aspw_note_clone(state, &state->stack);
}

/* Does each step of a start, from the terminal to the handle. After an error, the end of this
 * function undoes the earlier steps. */
IN_SERVER int aspw_start_with(struct aspawn_child *child, const struct aspawn_command *command,
			      struct library_actions *library, struct aspawn_failure *failure)
{
	struct child_state *state = child_state(child);
	const struct served *served = library->served;
	const unsigned on_pty = streams_on_pty(command);
	struct arena arena = { NULL, 0, SIZE_MAX, 0 };
	int terminal[2] = { -1, -1 };
	struct request request;
	struct plan plan;

	clear_handle(child);
	int r = on_pty ? aspw_make_terminal(terminal, command) : 0;
	if (r < 0)
		aspw_store_failure(failure, ASPAWN_STEP_STREAMS, r, 0, "/dev/ptmx");
	else
		r = add_streams(library, command, child, terminal, failure);
	if (r == 0 && served)
		add_served(library, command);
	if (r == 0) {
		aspw_prepare_command(&arena, command, library); /* measures */
		r = arena.error;
	}
	if (r == 0 && served)
		request.mask = *served->mask; /* the server has blocked all signals */
	else if (r == 0)
		r = block_signals(&request.mask, false);
	const bool is_blocked = r >= 0 && !served;
	if (r >= 0)
		r = reserve_child_stack(state, command, served, arena.size);
	if (r == 0) {
		request.user_data_len = arena.most = arena.size;
		request.user_data = arena.base = aspw_stack_place(&state->stack, arena.size);
		request.arg = stack_control(&state->stack);
		arena.size = 0;
		aspw_prepare_command(&arena, command, library);
		r = arena.error;
	}
	if (r == 0) {
		struct prepared *prepared = request.user_data;
		const struct requirements needs = aspw_fill_prepared(prepared, command, library);
		const struct findings found = aspw_find_out(command, &needs, served);
		prepared->reason = aspw_decide_ways(command, &needs, &found, &request, &plan);
		plan.name = served ? served->name : NULL;
		struct control *control = aspw_spawn_begin(&request, &plan, &state->stack);
		prepared->image.size = (size_t)((char *)(control + 1) - (char *)prepared);
		r = (int)aspw_spawn_end(control, aspw_try_ways(control, aspw_clone_by_helper));
		if (r < 0 && plan.owner && stack_state(&state->stack)->begun.error == r)
			aspw_store_failure(failure, ASPAWN_STEP_CLONE, r, 0, "");
	}
	if (r >= 0) {
		hand_out(child, &plan, r, command->flags & ASPAWN_COMMAND_STARTED_FD);
		give_pipes(&plan, library, command);
		child->pty_fd = terminal[0];
		state->on_pty = on_pty & 7;
	} else {
		aspw_give_stack(state);
		clear_handle(child);
	}
	if (is_blocked)
		psys_rt_sigprocmask(PSYS_SIG_SETMASK, &request.mask, NULL, PSYS_SIGSET_SIZE);
	if (on_pty)
		psys_close(terminal[1]);
	if (on_pty && r < 0)
		psys_close(terminal[0]);
	return r < 0 ? r : 0;
}

int aspawn_start(struct aspawn_child *child, const struct aspawn_command *command)
{
	struct library_actions library; /* an initializer would call memset() */
	struct aspawn_command copy;
	struct aspawn_failure failure;

	library.count = 0;
	library.served = NULL;
	library.await_clone = false;
	failure.error = 0;
	if (!child)
		return -PSYS_EINVAL;
	int r = aspw_read_command(&copy, command, &failure);
	if (r == 0 && copy.flags & ASPAWN_COMMAND_TREE_OR_GROUP)
		aspw_add_process_group(&library, &copy);
	if (r == 0)
		r = aspw_start_with(child, &copy, &library, &failure);
	else
		clear_handle(child);
	if (failure.error)
		aspw_set_failure(child_state(child), &failure);
	return r;
}
