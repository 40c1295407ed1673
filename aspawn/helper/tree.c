/* SPDX-License-Identifier: MIT */
/* These functions run in the helper of a tree. tree.h says in which order, and why. */
#include "tree.h"

#include <syscall/string.h>
#include <syscall/syscall.h>

#include "../../syscall/kernel_file.h"
#include "../marks.h"
#include "../spawn/deadline.h"
#include "../spawn/descriptor_table.h"
#include "../spawn/pidfd.h"
#include "cgroup.h"
#include "helper.h"
#include "helper_main.h"

enum {
	GENERATIONS = 16,      /* which get signals and are counted, with 3 descriptors each */
	MOST_VISITED = 100000, /* processes, more may be forked meanwhile */
	MOST_REAPED = 10000,   /* before the next look at the orders */
	/* The helper gives up when no process has ended for PATIENCE milliseconds (PATIENCE_REFUSED
	 * if it may signal none), and after PATIENCE_IN_ALL in any case, but never before ROUNDS
	 * rounds, as time may be unknown. */
	PATIENCE = 10000,
	PATIENCE_REFUSED = 1000,
	PATIENCE_IN_ALL = 60000,
	ROUNDS = 20,
	GENTLE_ROUNDS = 10, /* these rounds kill children alone, later rounds all generations */
	NAP = 10,           /* milliseconds between rounds */
	LOOK = 50,          /* milliseconds between looks at the orders without a doorbell */
	ALIVE = 1000        /* milliseconds between looks with a doorbell */
};

#define CHILDREN "/proc/thread-self/children"

struct tree {
	const struct control *control;
	struct stack_state *state;
	int list;         /* descriptor, or -1 */
	bool keeps_child; /* the child is not reaped, as a group may have its number */
	bool is_reaped;   /* the child is */
	bool is_refused;  /* the last round could signal no process */
	int order;        /* the last obeyed order */
	unsigned ends;    /* how many processes the helper has reaped */
	int64_t kill_at;
};

/* --- lists of children ------------------------------------------------------------ */

struct list {
	int fd, at, length;
	char text[256];
};

/* Returns the number at the beginning of the text, or 0. */
static IN_ANY int number_of(const char *text)
{
	return (int)aspw_read_number(&text);
}

static IN_ANY void open_list(struct list *list, int directory, const char *path)
{
	list->fd = psys_openat(directory, path, PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	list->at = list->length = 0;
}

/* Returns the next number, 0 after the last, or a negative error number. */
static IN_ANY int next_of(struct list *list)
{
	int number = 0;

	for (;;) {
		if (list->at == list->length) {
			const long r = psys_read(list->fd, list->text, sizeof list->text);
			if (r == -PSYS_EINTR)
				continue;
			if (r <= 0)
				return r < 0 ? (int)r : number;
			list->at = 0;
			list->length = (int)r;
		}
		const char c = list->text[list->at++];
		if (c >= '0' && c <= '9')
			number = number * 10 + (c - '0');
		else if (number)
			return number;
	}
}

/* True if the list exists, and /proc is of this pid namespace. Elsewhere the number differs. */
static IN_HELPER bool can_list(void)
{
	char link[32]; /* "12/task/12" */
	const long length =
		psys_readlinkat(PSYS_AT_FDCWD, "/proc/thread-self", link, sizeof link - 1);

	link[length > 0 ? length : 0] = '\0';
	return number_of(link) == psys_getpid() &&
	       psys_faccessat(PSYS_AT_FDCWD, CHILDREN, PSYS_R_OK) >= 0;
}

/* --- signals to what is below children ------------------------------------------------ */

/* The signal, and how many more processes get it at most */
struct visit {
	int signal, left;
	int *beat; /* incremented for each process */
};

static int visit_below(struct visit *visit, int directory, int pid, int generation);

static IN_ANY int open_process(int pid)
{
	char path[20] = "/proc/";

	path[6 + psys_i64_to_decimal(path + 6, pid)] = '\0';
	return psys_openat(PSYS_AT_FDCWD, path, PSYS_O_RDONLY | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC,
			   0);
}

/* Returns the parent's number for a process with this directory in /proc, or a negative number if
 * the process has ended. */
static IN_ANY int parent_in(int directory)
{
	char text[192];
	const int fd = psys_openat(directory, "stat", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	const long length = fd < 0 ? fd : psys_read(fd, text, sizeof text - 1);

	psys_close(fd); /* close(-1) is harmless, here and below */
	/* "12 (name) S 3": the name may have parentheses, the rest has none. */
	for (long at = length - 5; at > 0; at--)
		if (text[at] == ')') {
			text[length] = '\0';
			return text[at + 2] == 'Z' ? -1 : number_of(text + at + 4);
		}
	return -1;
}

/*
 * A directory of /proc belongs to a process, not to a number. While the parent's directory can be
 * read, no other process has the parent's number. So a process that names this number as the
 * parent's is the parent's child.
 */
static IN_ANY int visit_process(struct visit *visit, int pid, int parents, int parent,
				int generation)
{
	const int directory = open_process(pid);
	int count = 0;

	if (directory < 0)
		return 0;
	__atomic_add_fetch(visit->beat, 1, __ATOMIC_RELAXED);
	if (visit->left-- > 0 && parent_in(directory) == parent && parent_in(parents) >= 0) {
		if (generation > 1) /* the helper's children have already got it */
			aspw_signal_by_pidfd(directory, visit->signal, 0);
		count = (generation > 1) + visit_below(visit, directory, pid, generation + 1);
	}
	psys_close(directory);
	return count;
}

static IN_ANY int visit_list(struct visit *visit, int directory, int pid, const char *path,
			     int generation)
{
	struct list list;
	int child, count = 0;

	open_list(&list, directory, path);
	if (list.fd < 0)
		return 0;
	while ((child = next_of(&list)) > 0 && visit->left > 0)
		count += visit_process(visit, child, directory, pid, generation);
	psys_close(list.fd);
	return count;
}

/* Each thread of the process has a list. */
static IN_ANY int visit_below(struct visit *visit, int directory, int pid, int generation)
{
	char records[256] __attribute__((aligned(8))), path[40] = "task/";
	long length;
	int count = 0;

	if (generation > GENERATIONS)
		return 0;
	const int tasks = psys_openat(directory, "task",
				      PSYS_O_RDONLY | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
	while (tasks >= 0 && (length = psys_getdents64(tasks, records, sizeof records)) > 0)
		for (long at = 0; at < length;) {
			const struct psys_dirent64 *entry = (const void *)(records + at);
			const size_t named = 5 + psys_strlcpy(path + 5, entry->d_name, 16);
			psys_strlcpy(path + named, "/children", sizeof path - named);
			if (number_of(entry->d_name))
				count += visit_list(visit, directory, pid, path, generation);
			at += entry->d_reclen;
		}
	psys_close(tasks);
	return count;
}

IN_SERVER int aspw_tree_kill_below(int helper)
{
	int unwatched = 0;
	struct visit visit = { PSYS_SIGKILL, MOST_VISITED, &unwatched };
	const int directory = open_process(helper);
	const bool is_ours = directory >= 0 && parent_in(directory) == psys_getpid();
	const int count = is_ours ? visit_below(&visit, directory, helper, 2) : 0;

	psys_close(directory);
	return count;
}

/* --- signals to children -------------------------------------------------------------- */

/*
 * Sends the signal if a child that has not ended has the number; otherwise returns 0. Another
 * process may have a number of the list by now: the kernel may have reaped a descendant itself
 * (CLONE_AUTOREAP). The pidfd is of the process that waitid(2) finds.
 */
static IN_HELPER int signal_child(struct tree *tree, int pid, int signal)
{
	const int fd = psys_pidfd_open(pid, 0);
	const bool is_ours = aspw_child_has_ended(fd, pid) == 0;

	__atomic_add_fetch(&tree->state->beat, 1, __ATOMIC_RELAXED);
	int sent = is_ours ? aspw_signal_by_pidfd(fd, signal, 0) : 0;

	if (sent == -PSYS_ENOSYS)
		sent = psys_kill(pid, signal);
	psys_close(fd);
	if (is_ours && sent == 0)
		tree->is_refused = false;
	return is_ours;
}

/* Without a list, signals the child, and the group that the child may lead. */
static IN_HELPER int signal_process_group(struct tree *tree, int signal)
{
	if (tree->is_reaped)
		return 0;
	psys_kill(-tree->state->begun.pid, signal);
	if (psys_kill(tree->state->begun.pid, signal) == 0)
		tree->is_refused = false;
	return 1;
}

/* Signals all children; with whole, also all processes below children. Returns how many there
 * are. */
static IN_HELPER int signal_all(struct tree *tree, int signal, bool whole)
{
	struct visit visit = { signal, MOST_VISITED, &tree->state->beat };
	struct list list;
	int pid, count = 0, self = -1;

	list.fd = tree->list;
	list.at = list.length = 0;
	tree->is_refused = true;
	if (list.fd < 0 || psys_lseek(list.fd, 0, PSYS_SEEK_SET) < 0)
		return signal_process_group(tree, signal);
	if (whole)
		self = psys_openat(PSYS_AT_FDCWD, "/proc/self",
				   PSYS_O_RDONLY | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
	while ((pid = next_of(&list)) > 0 && visit.left-- > 0) {
		if (!signal_child(tree, pid, signal))
			continue;
		count++;
		if (self >= 0)
			count += visit_process(&visit, pid, self, psys_getpid(), 1);
	}
	psys_close(self);
	return pid < 0 ? signal_process_group(tree, signal) : count;
}

/* --- waiting ------------------------------------------------------------------------ */

/* Sleeps until a child ends, the caller rings, or the time is up. */
static IN_HELPER void tree_doze(const struct tree *tree, int ms)
{
	const struct psys_timespec time = { ms / 1000, ms % 1000 * (int64_t)1000000 };
	struct psys_sigset set;

	psys_sigemptyset(&set);
	psys_sigaddset(&set, PSYS_SIGCHLD);
	psys_sigaddset(&set, PSYS_SIGCONT);
	__atomic_add_fetch(&tree->state->beat, 1, __ATOMIC_RELAXED);
	const int r = psys_rt_sigtimedwait(&set, NULL, &time, PSYS_SIGSET_SIZE);
	if (r < 0 && r != -PSYS_EAGAIN && r != -PSYS_EINTR)
		aspw_deadline_sleep_on(&tree->state->order, tree->order, aspw_deadline_in(ms));
}

/* Reaps ended children. Returns 0 if there are more, 1 if the child has ended and is kept, -ECHILD
 * if nothing is left, or another error. */
static IN_HELPER int tree_reap(struct tree *tree)
{
	struct psys_siginfo info;

	for (int i = 0; i < MOST_REAPED; i++) {
		info.u.child.pid = 0;
		const int r = psys_waitid(PSYS_P_ALL, 0, &info, LOOK_AT_ANY, NULL);
		if (r == -PSYS_EINTR)
			continue;
		const int pid = info.u.child.pid;
		if (r < 0 || !pid)
			return r;
		if (!is_exit(&info)) {
			aspw_detach_stopped(&info);
			continue;
		}
		const bool is_child = pid == tree->state->begun.pid && !tree->is_reaped;
		if (is_child && tree->keeps_child)
			return 1;
		if (is_child)
			tree->is_reaped = aspw_helper_reap(tree->state, pid);
		else
			psys_waitid(PSYS_P_PID, pid, &info, REAP_ANY, NULL);
		tree->ends++;
	}
	return 0;
}

/* --- the life of a tree ---------------------------------------------------------------- */

/* IS_LET_GO: the child has ended, and the rest goes on. IS_LEFT: nobody waits, or may wait. */
enum fate { ENDS, IS_LET_GO, IS_LEFT };

static IN_HELPER enum fate tree_live(struct tree *tree)
{
	const struct control *control = tree->control;
	int64_t left_at = 0;

	for (;;) {
		tree->kill_at = DEADLINE_NEVER; /* an order may be there already */
		const int ended = tree_reap(tree);
		const int order = __atomic_load_n(&tree->state->order, __ATOMIC_ACQUIRE);
		const int parent = current_parent();
		if (ended < 0 && ended != -PSYS_ECHILD) /* a filter forbids to wait */
			psys_kill(tree->state->begun.pid, PSYS_SIGKILL);
		if (ended < 0)
			return IS_LEFT;
		tree->state->is_cancelled = order > 0 && !ended;
		if (order > 0)
			return ENDS;
		tree->kill_at = 0;
		if (ended)
			return order == LET_GO ? IS_LET_GO : ENDS;
		if (parent >= 0 && parent != control->caller_pid) {
			/* A SIGKILL for the caller's process group may end the program too. */
			left_at = left_at ? left_at : aspw_deadline_in(ALIVE);
			if (control->plan.dies_with_caller)
				return ENDS;
			if (aspw_deadline_is_past(left_at))
				return IS_LEFT;
		}
		tree_doze(tree, psys_getsid(control->caller_pid) == psys_getsid(0) ? ALIVE : LOOK);
	}
}

static IN_HELPER void tree_obey(struct tree *tree)
{
	const int order = __atomic_load_n(&tree->state->order, __ATOMIC_ACQUIRE);

	if (order <= 0 || order == tree->order)
		return;
	tree->order = order;
	const int64_t kill_at = aspw_deadline_in(order - 1);
	if (kill_at < tree->kill_at)
		tree->kill_at = kill_at;
	if (order <= 1)
		return;
	signal_all(tree, tree->control->plan.stop_signal, true);
	signal_all(tree, PSYS_SIGCONT, true); /* a stopped process gets the signal only then */
}

/* Kills until nothing is left, or nothing ends any more. Returns how many processes survive. */
static IN_HELPER int tree_end(struct tree *tree)
{
	int64_t soon = 0, late = 0, last = DEADLINE_NEVER;
	int r, rounds = 0, idle = 0;

	tree->keeps_child = tree->list < 0;
	while (tree_obey(tree), true) {
		const unsigned ends = tree->ends;
		const bool kills = aspw_deadline_is_past(tree->kill_at);
		if (kills && tree->keeps_child) {
			signal_all(tree, PSYS_SIGKILL, false);
			tree->keeps_child = false;
		}
		r = tree_reap(tree);
		if (r < 0)
			break;
		if (r > 0) {
			/* After the leader is reaped, another group may have the number. */
			tree->kill_at = 0;
			continue;
		}
		if (!kills) {
			tree_doze(tree, LOOK);
			continue;
		}
		/* One generation in a round is enough, unless it forks as fast as it is killed. */
		signal_all(tree, PSYS_SIGKILL, rounds > GENTLE_ROUNDS);
		if (ends != tree->ends || !rounds) {
			soon = aspw_deadline_in(PATIENCE_REFUSED);
			late = aspw_deadline_in(PATIENCE);
			idle = 0;
		}
		if (!rounds++)
			last = aspw_deadline_in(PATIENCE_IN_ALL);
		if ((rounds > ROUNDS && aspw_deadline_is_past(last)) ||
		    (++idle > ROUNDS && aspw_deadline_is_past(tree->is_refused ? soon : late)))
			break;
		tree_doze(tree, NAP);
	}
	const int count = r == -PSYS_ECHILD ? 0 : signal_all(tree, 0, true);
	return count || r == -PSYS_ECHILD ? count : 1;
}

static IN_HELPER void tree_run(const struct control *control, int list)
{
	struct stack_state *state = stack_state(&control->stack);
	struct tree tree;

	psys_memset(&tree, 0, sizeof tree); /* an initializer would call memset() */
	tree.control = control;
	tree.state = state;
	tree.list = list;
	tree.keeps_child = true;
	psys_memset(&state->usage, 0, sizeof state->usage);
	state->status = -1;
	/* The end of the caller, or of its thread, rings the doorbell too. */
	psys_prctl(PSYS_PR_SET_PDEATHSIG, PSYS_SIGCONT, 0, 0, 0);
	const enum fate fate = tree_live(&tree);
	if (fate == ENDS)
		state->survivors = tree_end(&tree);
	else if (fate == IS_LET_GO)
		aspw_helper_reap(state, state->begun.pid);
	/* The working directory is the parent cgroup. */
	aspw_cgroup_remove(control, PSYS_AT_FDCWD, fate == ENDS && !state->survivors);
	if (fate != ENDS || state->survivors)
		aspw_helper_leave(control);
	if (fate == ENDS || fate == IS_LET_GO)
		__atomic_store_n(&state->ended, ENDED, __ATOMIC_RELEASE);
}

/* --- the beginning -------------------------------------------------------------------- */

static IN_HELPER int open_children(void)
{
	return psys_openat(PSYS_AT_FDCWD, CHILDREN, PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
}

/* Prepares the helper before the clone: orphans of the child may come at once, and the child may
 * take all descriptors away from the helper (prlimit(2)), or mount something over /proc. On a
 * shared table the list would be a descriptor of the caller. */
static IN_HELPER int begin_tree(struct control *control)
{
	struct stack_state *state = stack_state(&control->stack);
	const int r = psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);

	state->by_process_group = !can_list();
	if (!state->by_process_group && control->plan.detached)
		control->list_fd = open_children();
	return r >= 0 && state->by_process_group && !control->plan.tree_or_group ?
		       -PSYS_EOPNOTSUPP :
		       r;
}

IN_HELPER int aspw_tree_main(void *block)
{
	struct control *control = block;
	bool has_table;
	int list, r = aspw_helper_enter(control);

	if (r == 0)
		r = begin_tree(control);
	if (r == 0)
		r = aspw_cgroup_make(control);
	if (aspw_helper_clone(control, r, &list, &has_table) > 0) {
		if (control->list_fd < 0)
			list = has_table && !stack_state(&control->stack)->by_process_group ?
				       open_children() :
				       -1;
		tree_run(control, list);
	} else if (*control->new_cgroup)
		aspw_cgroup_remove(control, control->plan.new_cgroup->parent, true);
	return 0;
}
