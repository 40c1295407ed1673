/* SPDX-License-Identifier: MIT */
#ifndef ACTION_SYSCALL_CLASS_H
#define ACTION_SYSCALL_CLASS_H

#include <aspawn/action.h>

/* where the child makes the call of an ASPAWN_SYSCALL (syscall_classes.h) */
enum syscall_class { CALL_IMAGE, CALL_SHARED, CALL_REFUSED };
enum syscall_class aspw_syscall_class(const struct aspawn_action *action);

#endif
