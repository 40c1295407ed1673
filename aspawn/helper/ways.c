/* SPDX-License-Identifier: MIT */
/* Tries the ways in which a child may begin, in the caller and in a helper. */
#include "ways.h"

#include <syscall/errno.h>

#include "../marks.h"
#include "../spawn/clone.h"
#include "../spawn/suspending_clone.h"

#define ASPW_ROW(...) { __VA_ARGS__ },
const struct way aspw_ways[WAYS] = { ASPW_WAYS(ASPW_ROW) };

IN_ANY unsigned aspw_ways_for(unsigned wishes)
{
	unsigned ways = 0;

	for (unsigned i = 0; i < WAYS; i++)
		if ((wishes & aspw_ways[i].wishes) == aspw_ways[i].wishes &&
		    !(wishes & aspw_ways[i].excludes))
			ways |= 1U << i;
	return ways;
}

static IN_ANY bool leads_on(const struct way *way, long error)
{
	switch (way->leads_on) {
	case ALWAYS:
		return true;
	case IF_UNSUPPORTED:
		return error == -PSYS_EOPNOTSUPP;
	case UNLESS_FULL:
		return error != -PSYS_EAGAIN && error != -PSYS_ENOMEM;
	default:
		return false;
	}
}

IN_ANY long aspw_try_ways(struct control *control, long (*clone_by_helper)(struct control *))
{
	const enum process process = clone_by_helper ? BY_CALLER : BY_HELPER;
	const struct way *way = aspw_ways;
	long pid = -PSYS_EOPNOTSUPP;

	for (unsigned ways = control->plan.ways; ways; ways >>= 1, way++) {
		if (!(ways & 1) || way->by != process)
			continue;
		const bool suspends = way->in_cgroup || way->memory == MEMORY_EXECUTED;
		pid = suspends ? aspw_suspending_begin(control, way) : 0;
		if (clone_by_helper && way->memory == MEMORY_OF_HELPER)
			pid = clone_by_helper(control);
		else if (pid == 0)
			pid = aspw_clone_child(control, way);
		if (suspends)
			pid = aspw_suspending_end(control, way, pid);
		if (pid >= 0 || !leads_on(way, pid))
			break;
	}
	return pid;
}
