/* SPDX-License-Identifier: MIT */
/*
 * psys_word, the type of a register, and PSYS_WORD(), which converts an argument to it. Where
 * registers are wider than a long, layout.h defines PSYS_WORD_FROM, the type by which 32-bit
 * arguments are extended: unsigned long with zeros, long with the sign.
 */
#ifndef PSYS_WORD_H
#define PSYS_WORD_H

#ifndef PSYS_WORD_FROM
typedef long psys_word;
#define PSYS_WORD(argument) ((long)(argument))

/* 64-bit arguments are not converted. (Some C compilers reject a cast of a pointer to another size
 * even in a branch that is not taken.) */
#elif defined(__cplusplus)
typedef long long psys_word;
#define PSYS_WORD(argument)                                        \
	(sizeof(argument) > sizeof(long) ? (psys_word)(argument) : \
					   (psys_word)(PSYS_WORD_FROM)(argument))
#else
typedef long long psys_word;
#define PSYS_WORD(argument) /* an array is a pointer in an operand of ?: */                    \
	((psys_word) __builtin_choose_expr(sizeof(1 ? (argument) : (argument)) > sizeof(long), \
					   argument, (PSYS_WORD_FROM)(argument)))
#endif

#endif
