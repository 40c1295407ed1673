/* SPDX-License-Identifier: MIT */
#ifndef ACTION_SYSCALL_CLASS_H
#define ACTION_SYSCALL_CLASS_H

#include <aspawn/action.h>

/* Where the child makes the call of an ASPAWN_SYSCALL: syscall_classes.h. */
enum call_class { CALL_IMAGE, CALL_SHARED, CALL_REFUSED };
enum call_class aspw_call_class(const struct aspawn_action *action);

#endif
