/* SPDX-License-Identifier: MIT */
/* The last kind of action: the only line of the tests that a new one changes. */
#define LAST_ACTION ASPAWN_ACTION_ONLY_BELOW
