/* SPDX-License-Identifier: MIT */
/* i386: what differs from most architectures. */
#ifndef PSYS_I386_LAYOUT_H
#define PSYS_I386_LAYOUT_H

#define PSYS_SA_RESTORER 0x04000000UL /* not needed: the vDSO has one */

/* clone takes tls, a struct user_desc *, before child_tid (CONFIG_CLONE_BACKWARDS). */
#define PSYS_CLONE_BACKWARDS
#define PSYS_CLONE_TLS_IS_POINTER 0

/* The low half first; a pair may begin in any register. */
#define PSYS_ARG64(value) (uint32_t)(value), (uint32_t)((uint64_t)(value) >> 32)
#define PSYS_ARG64_ODD(value) PSYS_ARG64(value)

#endif
