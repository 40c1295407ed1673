/*
 * The architectures: one line each, and the only place where they are told
 * apart. A folder's call.h holds the register-level stubs
 *
 *     long psys_call0(long nr) ... long psys_call6(long nr, long a1, ..., long a6)
 *
 * numbers.h the system call numbers, and layout.h what its kernel lays out or
 * numbers differently from most.
 */
#ifndef PSYS_ARCH_H
#define PSYS_ARCH_H

#include <syscall/base.h>

#if defined(__x86_64__) && !defined(__ILP32__)
#include "arch/x86_64/call.h"
#elif defined(__aarch64__) && !defined(__ILP32__) && !defined(__AARCH64EB__)
#include "arch/aarch64/call.h"
#else
#error "aspawn: no folder in syscall/arch for this architecture"
#endif

/* How an argument becomes a register's value. */
#ifndef PSYS_WORD
#define PSYS_WORD(argument) ((long)(argument))
#endif

#endif
