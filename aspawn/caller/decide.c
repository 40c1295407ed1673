/* SPDX-License-Identifier: MIT */
/* Decides how the child of a command begins, by what its actions require. */
#include "decide.h"

#include <syscall/string.h>

#include "../../syscall/kernel_file.h"
#include "../marks.h"
#include "../action/action_info.h"
#include "../action/syscall_class.h"
#include "../child/image.h"
#include "../child/perform.h"
#include "../helper/helper.h"
#include "../helper/ways.h"
#include "../spawn/descriptor_table.h"
#include "pool.h"
#include "start.h"

/* --- paths that are descriptors --------------------------------------------- */

struct component {
	const char *at;
	size_t length;
};

/* Returns the next component of the path, skipping empty ones and "."; length 0 after the last. */
static IN_SERVER struct component next_component(const char **path)
{
	struct component component;

	do {
		while (**path == '/')
			++*path;
		component.at = *path;
		component.length = (size_t)(psys_strchrnul(*path, '/') - *path);
		*path += component.length;
	} while (component.length == 1 && *component.at == '.');
	return component;
}

/* The names are separated as in a path. */
static IN_SERVER bool is_among(struct component component, const char *names)
{
	struct component name;

	while ((name = next_component(&names)).length)
		if (name.length == component.length &&
		    !psys_strncmp(name.at, component.at, name.length))
			return true;
	return false;
}

static IN_SERVER bool is_number(struct component component)
{
	for (size_t i = 0; i < component.length; i++)
		if (component.at[i] < '0' || component.at[i] > '9')
			return false;
	return component.length;
}

static IN_SERVER bool has_component(const char *path, const char *names)
{
	struct component component;

	while ((component = next_component(&path)).length)
		if (is_among(component, names))
			return true;
	return false;
}

/* Paths with these names lead to a descriptor, or to the process itself. */
static const char descriptor_names[] = "proc/fd/self/thread-self/stdin/stdout/stderr";

/* These files change or move the memory, for all processes on it. */
static const char memory_names[] =
	"oom_score_adj/oom_adj/coredump_filter/clear_refs/cgroup.procs/cgroup.threads/tasks";

/* These files of a process below /proc belong to the task alone, or to the task's namespaces. */
static const char task_names[] = "comm/timerslack_ns/autogroup/attr/uid_map/gid_map/projid_map/"
				 "setgroups/loginuid/timens_offsets";

/*
 * Returns true if the path may lead to a descriptor of the child, which then needs copies of all
 * descriptors. The function does not detect symbolic links with other names.
 */
static IN_SERVER bool may_be_descriptor(const char *path)
{
	const bool absolute = *path == '/';
	struct component component = next_component(&path), next = next_component(&path);

	/* Common files of /dev are no descriptors. */
	if (absolute && is_among(component, "dev"))
		return !is_among(next, "null/zero/full/random/urandom/tty") ||
		       next_component(&path).length;
	for (; component.length; component = next, next = next_component(&path))
		if (is_among(component, descriptor_names) ||
		    (absolute && is_among(component, "..")) ||
		    (!absolute && !next.length && is_number(component)))
			return true;
	return false;
}

/* True if the path names a file of /proc that an action may write to on shared memory. */
static IN_SERVER bool is_tasks_alone(const char *path)
{
	const bool is_plain = *path == '/' && !has_component(path, "..");
	const bool is_proc = is_among(next_component(&path), "proc");
	const struct component second = next_component(&path);

	return is_plain && is_proc &&
	       (is_among(second, "sys") ||
		((is_among(second, "self/thread-self") || is_number(second)) &&
		 is_among(next_component(&path), task_names)));
}

/* True if the action may write to a file that changes the memory. After the open, perform.c detects
 * a link of another name into /proc. Nothing detects a link to a file of a cgroup. */
static IN_SERVER bool writes_of_memory(const struct aspawn_action *action)
{
	const char *path = action->u.write.path;

	return action->kind == ASPAWN_ACTION_WRITE && !is_tasks_alone(path) &&
	       (*path != '/' || has_component(path, descriptor_names) ||
		has_component(path, memory_names));
}

/* True if the path leads to a descriptor, or to something else that an exec changes. */
static IN_SERVER bool names_process(const char *path)
{
	const bool absolute = *path == '/';
	const char *rest = path;
	struct component first = next_component(&rest), second = next_component(&rest);

	if (!may_be_descriptor(path) || is_tasks_alone(path))
		return false;
	if (absolute && is_among(first, "dev"))
		return has_component(path, "..") || has_component(path, descriptor_names);
	if (absolute && is_among(first, "proc") && is_among(second, "self/thread-self"))
		return !is_among(next_component(&rest), memory_names);
	return !(absolute && is_among(first, "proc") && !second.length);
}

/* True if a path of the action may lead to a descriptor; for_image: to anything that an exec
 * changes. */
static IN_SERVER bool has_path(const struct aspawn_action *action, bool for_image)
{
	const int paths = aspw_action_infos[action->kind].paths;
	size_t at, size;

	for (int i = 0; i < paths && (at = aspw_pointer_of(action, i, &size)); i++) {
		const char *path = member_pointer(action, at);
		if (path && size == IS_STRING &&
		    (for_image ? names_process(path) : may_be_descriptor(path)))
			return true;
	}
	return false;
}

/* --- the actions ------------------------------------------------------------- */

/* Returns the first number from which the action closes all descriptors, or -1. */
PSYS_INLINE int closed_from(const struct aspawn_action *action)
{
	if (action->kind == ASPAWN_ACTION_CLOSEFROM)
		return action->u.closefrom.first;
	return action->kind == ASPAWN_ACTION_ONLY_BELOW ? action->u.only_below.first : -1;
}

/* Returns the slot of a replaced number, or the free slot for this number. */
PSYS_INLINE unsigned *slot_of(const struct prepared *prepared, int fd)
{
	const size_t mask = prepared->replaced_slots - 1;
	size_t at = (unsigned)fd * 0x9e3779b1U >> 7;

	while (prepared->replaced[at & mask] && prepared->replaced[at & mask] != (unsigned)fd + 1)
		at++;
	return &prepared->replaced[at & mask];
}

/* The function of an ASPAWN_CALL may replace any descriptor: then no descriptor is the caller's. */
IN_SERVER int aspw_callers_next(struct callers *callers, const struct aspawn_action *action)
{
	const struct prepared *prepared = callers->prepared;
	const size_t uses = aspw_used_by(action);
	const int used = uses ? member_int(action, uses) : -1, replaced = replaced_by(action),
		  closed = action->kind == ASPAWN_ACTION_CALL ? 0 : closed_from(action);
	const bool is_callers = used >= 0 && used < callers->end && !*slot_of(prepared, used);

	if (replaced >= 0)
		*slot_of(prepared, replaced) = (unsigned)replaced + 1;
	if (closed >= 0 && closed < callers->end &&
	    action >= prepared->actions + prepared->library_count)
		callers->end = closed;
	return is_callers ? used : -1;
}

/* Joining a user namespace changes credentials, as a change of user does. A time namespace belongs
 * to the memory. */
IN_SERVER size_t aspw_count_copies(const struct aspawn_command *command)
{
	size_t count = 0;

	for (size_t i = 0; i < command->action_count; i++) {
		const struct aspawn_action *action = &command->actions[i];
		const unsigned type = (unsigned)action->u.setns.type;

		count += aspw_action_infos[action->kind].copies || writes_of_memory(action) ||
			 (action->kind == ASPAWN_ACTION_SYSCALL &&
			  aspw_syscall_class(action) != CALL_SHARED) ||
			 (action->kind == ASPAWN_ACTION_SETNS &&
			  (!type || type & (PSYS_CLONE_NEWUSER | PSYS_CLONE_NEWTIME)));
	}
	return count;
}

/* True if the program may be found through a descriptor, or be the caller's own. */
static IN_SERVER bool executes_process(const struct prepared *prepared)
{
	for (const char *path = prepared->path; path && *path; path++)
		if (!psys_strncmp(path, "/proc/", 6))
			return true;
	return may_be_descriptor(prepared->file);
}

/* True if nothing in the command needs the caller's memory. */
static IN_SERVER bool fits_image(const struct prepared *prepared)
{
	for (size_t i = 0; i < prepared->count; i++) {
		const struct aspawn_action *action = &prepared->actions[i];

		if (action->kind == ASPAWN_ACTION_CALL || has_path(action, true))
			return false;
	}
	return !executes_process(prepared);
}

static IN_SERVER struct child_fd *add_fd(struct prepared *prepared,
					 const struct aspawn_action *action, int kind, int fd)
{
	struct child_fd *added = &prepared->fds[prepared->fd_count++];

	*added = (struct child_fd){
		.kind = kind,
		.nonblock = prepared->flags & ASPAWN_COMMAND_NONBLOCK,
		.parents_end = -1,
		.fd = fd,
		.here = -1,
		.callers = fd,
		.action = (uint32_t)(action - prepared->actions),
		.last = (uint32_t)(action - prepared->actions),
	};
	return added;
}

/* All actions that use the same descriptor of the caller share one struct child_fd. */
static IN_SERVER struct child_fd *use_fd(struct prepared *prepared,
					 const struct aspawn_action *action, int callers)
{
	for (struct child_fd *fd = prepared->fds; fd < prepared->fds + prepared->fd_count; fd++)
		if (fd->kind == CALLERS_FD && fd->callers == callers) {
			fd->last = (uint32_t)(action - prepared->actions);
			return fd;
		}
	return add_fd(prepared, action, CALLERS_FD, callers);
}

/* Lets the child fetch or copy the action's descriptor. Returns the last descriptor to copy. */
static IN_SERVER int keep_used(struct prepared *prepared, const struct aspawn_action *action,
			       bool is_callers, int last)
{
	const size_t uses = aspw_used_by(action);
	const int fd = uses ? member_int(action, uses) : -1;

	if (fd >= FEW_DESCRIPTORS && is_callers && prepared->fd_count < FEW_DESCRIPTORS)
		use_fd(prepared, action, fd);
	else if (fd > last)
		last = fd;
	return aspw_action_infos[action->kind].paths && has_path(action, false) ? INT32_MAX : last;
}

/* A job's child copies the server's descriptors, which include the caller's descriptors for the
 * job. */
static IN_SERVER void add_given(struct prepared *prepared, const struct aspawn_action *action,
				const struct served *served, int callers)
{
	const bool is_own = action < prepared->actions + prepared->library_count;

	for (size_t i = 0; !is_own && i < served->fd_count; i++)
		if (served->fds[i].callers == callers) {
			struct child_fd *fd = use_fd(prepared, action, callers);
			fd->fd = fd->here = served->fds[i].servers;
		}
}

/* Stores the cgroup for the helper to make. A server has the job's descriptor by another number. */
static IN_SERVER void fill_cgroup_wish(struct prepared *prepared,
				       const struct aspawn_action *action, bool is_jobs)
{
	struct cgroup_wish *wish = &prepared->new_cgroup;

	wish->parent = action->u.new_cgroup.parent_fd;
	for (size_t i = 0; is_jobs && i < prepared->fd_count; i++)
		if (prepared->fds[i].kind == CALLERS_FD &&
		    prepared->fds[i].callers == action->u.new_cgroup.parent_fd)
			wish->parent = prepared->fds[i].here;
	wish->memory_max = action->u.new_cgroup.memory_max;
	wish->pids_max = action->u.new_cgroup.pids_max;
	wish->cpu_max = action->u.new_cgroup.cpu_max;
}

IN_SERVER struct requirements aspw_fill_prepared(struct prepared *prepared,
						 const struct aspawn_command *command,
						 const struct library_actions *library)
{
	const struct served *served = library->served;
	/* With ASPAWN_MEMORY_SUSPENDED the child has a report pipe only if the memory is a copy. */
	const bool reports = prepared->flags & ASPAWN_COMMAND_STARTED_FD ||
			     command->memory == ASPAWN_MEMORY_SUSPENDED;
	struct requirements requirements = { .copies = aspw_count_copies(command),
					     .fds = prepared->fds,
					     .watch_at = served ? served->watch_at : NULL,
					     .awaits_clone = library->await_clone };
	struct callers callers = aspw_callers_begin(prepared);
	bool calls = false, joins = false, closes = false, only_below = false;
	int last = -1;

	for (struct aspawn_action *action = prepared->actions;
	     action < prepared->actions + prepared->count; action++) {
		const int fd = aspw_callers_next(&callers, action);

		/* A link may still lead to a file that changes the memory: on shared memory the
		 * child checks the opened file. */
		if (action->kind == ASPAWN_ACTION_WRITE)
			action->flags = !is_tasks_alone(action->u.write.path);
		if (action->kind == ASPAWN_ACTION_PDEATHSIG)
			prepared->parent = psys_getpid();
		const bool makes = action->kind == ASPAWN_ACTION_NEW_CGROUP;
		if (makes || action->kind == ASPAWN_ACTION_JOIN_CGROUP) {
			/* A child that joins two cgroups must not share memory. A job's clone joins
			 * none. */
			prepared->joined = !joins && (makes || !served) && fd >= 0 ? action : NULL;
			joins = true;
		}
		if (action->kind == ASPAWN_ACTION_ONLY_BELOW)
			only_below = true;
		/* A fetched descriptor may have the number of another descriptor of the caller. A
		 * function could use this number, and nobody would notice. */
		calls = calls || action->kind == ASPAWN_ACTION_CALL;
		if (calls && (reports || is_pipe(action)))
			requirements.same_numbers = true;
		if (is_pipe(action))
			add_fd(prepared, action,
			       action->kind == ASPAWN_ACTION_INPUT_PIPE ? CHILD_READS : CHILD_WRITES,
			       -1);
		if (served)
			add_given(prepared, action, served, fd);
		else if (!closes)
			last = keep_used(prepared, action, fd >= 0, last);
		if (!served && !closes && closed_from(action) >= 0) {
			closes = true;
			if (last < closed_from(action) - 1)
				last = closed_from(action) - 1;
			requirements.keep_below = (unsigned)last + 1;
		}
	}
	requirements.fd_count = prepared->fd_count;
	requirements.joined = prepared->joined;
	if (prepared->joined && prepared->joined->kind == ASPAWN_ACTION_NEW_CGROUP) {
		fill_cgroup_wish(prepared, prepared->joined, served);
		requirements.new_cgroup = &prepared->new_cgroup;
	}
	if (closes && requirements.keep_below <= INT32_MAX && !requirements.new_cgroup)
		requirements.shares_table = only_below ? SHARES_TABLE : IF_MANY;
	requirements.image = requirements.copies && command->memory == ASPAWN_MEMORY_SHARED &&
			     fits_image(prepared);
	return requirements;
}

/* --- how many descriptors the caller has ------------------------------------------ */

/* Copying FEW descriptors takes as long as waiting for the child on an idle processor. On a busy
 * machine the wait takes milliseconds. */
enum { FEW = 1024, STARTS_BETWEEN_LOOKS = 64 };

/* The lowest free number does not tell the count: many descriptors may lie above a gap. */
static IN_SERVER bool are_few(void)
{
	struct psys_rlimit64 limit;
	struct psys_stat status;

	if (psys_prlimit64(0, PSYS_RLIMIT_NOFILE, NULL, &limit) >= 0 && limit.rlim_cur <= FEW)
		return true;
	/* From Linux 6.2 on the size is the number of open descriptors (proc_fd_getattr()). On
	 * older kernels, and if the main thread has ended, the size is 0. */
	return psys_stat("/proc/self/fd", &status) >= 0 && status.st_size > 0 &&
	       status.st_size <= FEW;
}

/* A wrong answer costs time and nothing else. A pool keeps the answer for some starts. */
static IN_SERVER bool descriptors_are_few(struct remembered *findings)
{
	int starts = __atomic_load_n(&findings->few, __ATOMIC_RELAXED);

	if (!starts)
		starts = are_few() ? STARTS_BETWEEN_LOOKS : -STARTS_BETWEEN_LOOKS;
	__atomic_store_n(&findings->few, starts > 0 ? starts - 1 : starts + 1, __ATOMIC_RELAXED);
	return starts > 0;
}

/* --- where children begin --------------------------------------------------------- */

/* Returns the number that namespaces(7) describes, or 0 if it is unknown. */
static IN_SERVER unsigned namespace_of(const char *link)
{
	char text[32] = "";
	const char *at = text;

	psys_readlinkat(PSYS_AT_FDCWD, link, text, sizeof text - 1);
	while (*at && (*at < '0' || *at > '9'))
		at++;
	return (unsigned)aspw_read_number(&at);
}

/* False if children are to begin in another pid namespace, by unshare(2) or setns(2). A forked
 * process's pool may remember the parent's namespace, but no child begins in a namespace that the
 * caller has left. */
static IN_SERVER bool children_stay(struct remembered *findings)
{
	const unsigned childrens = namespace_of("/proc/thread-self/ns/pid_for_children");

	if (childrens != __atomic_load_n(&findings->pid_namespace, __ATOMIC_RELAXED))
		__atomic_store_n(&findings->pid_namespace, namespace_of("/proc/self/ns/pid"),
				 __ATOMIC_RELAXED);
	return childrens && childrens == __atomic_load_n(&findings->pid_namespace, __ATOMIC_RELAXED);
}

/* --- how the child begins --------------------------------------------------------- */

/* Returns the wishes about the child's memory. A clone into the cgroup suspends the parent, because
 * the OOM killer of the cgroup spares a process in vfork. */
static IN_SERVER unsigned wishes_of_memory(const struct aspawn_command *command,
					   const struct requirements *needs, bool has_image)
{
	unsigned wishes = 0;

	if (needs->image && has_image)
		wishes |= WISH_IMAGE;
	if (needs->joined && command->memory != ASPAWN_MEMORY_COPIED &&
	    (wishes || needs->copies == 1))
		wishes |= WISH_CGROUP;
	if (needs->copies > 1)
		wishes |= WISH_OWN;
	if (needs->copies || command->memory == ASPAWN_MEMORY_COPIED)
		wishes |= WISH_COPY;
	if (command->memory == ASPAWN_MEMORY_SUSPENDED)
		wishes |= WISH_SUSPENSION;
	return wishes;
}

IN_SERVER struct findings aspw_find_out(const struct aspawn_command *command,
					const struct requirements *needs,
					const struct served *served)
{
	struct remembered nothing = { 0, 0 };
	struct remembered *findings = command->pool ? &pool_of(command->pool)->remembered : &nothing;
	struct findings found = { .has_image = needs->image && aspw_has_image(),
				  .lacks_clone3 = served && served->lacks_clone3 };

	if (wishes_of_memory(command, needs, found.has_image) & (WISH_IMAGE | WISH_CGROUP)) {
		found.children_stay =
			!served && !command->memory && !command->owner && children_stay(findings);
	} else if (needs->shares_table) {
		found.few_descriptors =
			needs->shares_table == IF_MANY && descriptors_are_few(findings);
		if (!found.few_descriptors && !needs->same_numbers)
			found.thread = psys_gettid();
	}
	return found;
}

IN_SERVER unsigned char aspw_decide_ways(const struct aspawn_command *command,
					 const struct requirements *needs,
					 const struct findings *found, struct request *request,
					 struct plan *plan)
{
	const bool has_pidfd = !(command->flags & ASPAWN_COMMAND_NO_PIDFD);
	unsigned wishes = wishes_of_memory(command, needs, found->has_image);
	const bool waits = wishes & (WISH_IMAGE | WISH_CGROUP);

	/* The child is the helper's; or it is the caller's, and a helper waits for the exec; or
	 * there is no helper: a server waits itself, and in a new pid namespace the first child is
	 * the init. */
	if (command->owner)
		wishes |= WISH_HELPER | WISH_PRIVATE;
	else if (waits && found->children_stay)
		wishes |= WISH_HELPER;
	plan->owner = (enum child_owner)command->owner;
	plan->stop_signal = stop_signal_of(command);
	plan->tree_or_group = command->flags & ASPAWN_COMMAND_TREE_OR_GROUP;
	plan->dies_with_caller = command->flags & ASPAWN_COMMAND_DIES_WITH_CALLER;
	plan->new_cgroup = needs->new_cgroup;

	/* The child begins with a copy of the descriptors, or on the caller's table until the used
	 * descriptors are copied. Copying a few costs less than waiting for another process's turn.
	 * A helper that waits for an exec has copies of all descriptors. */
	plan->unshare_files = needs->shares_table && !waits && !found->few_descriptors;
	plan->caller = found->thread;
	plan->keep_below = needs->keep_below;
	plan->fds = needs->fds;
	plan->fd_count = needs->fd_count;
	request->pipe = command->flags & ASPAWN_COMMAND_STARTED_FD ? PIPE : PIPE_IF_COPIED;

	/* The caller waits for a helper only to share descriptors, or to get a pidfd of the child.
	 * A helper that makes a cgroup opens descriptors, and ends all processes in the cgroup. */
	const bool awaits_clone = command->owner && needs->awaits_clone && !needs->new_cgroup;
	plan->detached = wishes & WISH_HELPER && !awaits_clone && !plan->unshare_files;
	plan->polls_helper = wishes & WISH_HELPER && has_pidfd;
	request->wants_pidfd = has_pidfd && (!command->owner || awaits_clone);

	/* The clone joins the cgroup in place of the action, which remains for a clone that could
	 * not. A frozen cgroup must stop no caller that does not wish to be suspended. */
	if (!plan->detached && !(wishes & WISH_SUSPENSION))
		wishes &= ~(unsigned)WISH_CGROUP;
	plan->cgroup_fd = needs->joined && !needs->new_cgroup ? needs->joined->u.join_cgroup.fd : -1;
	plan->lacks_clone3 = found->lacks_clone3;
	plan->watch_copy = true;
	plan->watch_at = needs->watch_at;
	plan->wishes = wishes;
	plan->ways = aspw_ways_for(wishes);
	request->fn = wishes & WISH_IMAGE ? aspw_perform_in_image : aspw_perform_actions;

	/* The first child may find another reason. */
	if (wishes & WISH_IMAGE || !(wishes & WISH_COPY))
		return ASPAWN_REASON_SYSTEM;
	if (command->memory)
		return ASPAWN_REASON_NONE;
	return needs->image ? ASPAWN_REASON_BUILD : ASPAWN_REASON_COMMAND;
}
