/* SPDX-License-Identifier: MIT */
/* The last kind of action: kinds are numbered from 1 up, and each has a row in the table. */
#define ACTION(kind, ...) +1
enum {
	LAST_ACTION = 0
#include "../../aspawn/action/action_table.h"
};
#undef ACTION
