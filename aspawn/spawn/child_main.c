/* SPDX-License-Identifier: MIT */
/* These functions run in the child. spawn.h says in which order, and why. */
#include "child_main.h"

#include "../marks.h"
#include "clone.h"
#include "descriptor_table.h"
#include "exec_watch.h"

static const struct psys_sigaction dispositions[] = { { .handler = PSYS_SIG_DFL },
						      { .handler = PSYS_SIG_IGN } };

static IN_CHILD void reset_handlers(void)
{
	for (int signal = 1; signal <= PSYS_NSIG; signal++) {
		struct psys_sigaction old[2]; /* QEMU 7.2 writes beyond one on riscv, loongarch */

		if (psys_rt_sigaction(signal, NULL, old, PSYS_SIGSET_SIZE) >= 0 &&
		    old->handler != PSYS_SIG_DFL && old->handler != PSYS_SIG_IGN)
			psys_rt_sigaction(signal, &dispositions[0], NULL, PSYS_SIGSET_SIZE);
	}
}

/* Returns false if the helper has already ended: then no signal will come. */
static IN_CHILD bool die_with_helper(int helper)
{
	psys_prctl(PSYS_PR_SET_PDEATHSIG, PSYS_SIGKILL, 0, 0, 0);
	int parent = current_parent();

	return parent <= 0 || parent == helper;
}

IN_CHILD int aspw_child_main(void *block)
{
	struct control *control = block;
	const struct request *request = &control->request;

	if (!control->caller_pid) /* a helper's child inherits the block */
		block_signals(NULL, true);
	__atomic_store_n(&control->progress, RUNS, __ATOMIC_RELAXED);
	if (control->parent) /* the caller is returning, maybe on the same processor */
		psys_sched_yield();
	if (control->flags & PSYS_CLONE_FILES)
		control->files_error = aspw_descriptors_unshare(control);
	else
		aspw_descriptors_close_copies(control, ~0U);
	/* 32-bit kernels before 6.19 accept CLONE_CLEAR_SIGHAND and ignore it. */
	if (!(control->flags & PSYS_CLONE_CLEAR_SIGHAND) || sizeof(long) < 8)
		reset_handlers();
	if (control->ignores_sigchld) /* the helper does not, and the child inherits from it */
		psys_rt_sigaction(PSYS_SIGCHLD, &dispositions[1], NULL, PSYS_SIGSET_SIZE);
	if (control->plan.dies_with_caller && !die_with_helper(control->parent))
		psys_exit_group(127);
	if (control->plan.name)
		psys_prctl(PSYS_PR_SET_NAME, (uintptr_t)control->plan.name, 0, 0, 0);
	if (control->watch && control->memory != MEMORY_EXECUTED)
		aspw_watch_begin(control->watch);
	psys_exit_group(request->fn(request->arg, control->report.here, &control->old_mask,
				    request->user_data, request->user_data_len));
}
