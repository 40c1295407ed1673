/*
 * psys_word, what a register holds, and PSYS_WORD(), how an argument becomes one. Where
 * registers are wider than a long, layout.h defines PSYS_WORD_FROM, the type by which 32
 * bits of an argument are extended: unsigned long for zeros, long for the sign.
 */
#ifndef PSYS_WORD_H
#define PSYS_WORD_H

#ifndef PSYS_WORD_FROM
typedef long psys_word;
#define PSYS_WORD(argument) ((long)(argument))

/* 64 bits stay as they are. (A cast of a pointer to another size is an error to some C
 * compilers, even where it is not taken.) */
#elif defined(__cplusplus)
typedef long long psys_word;
#define PSYS_WORD(argument)                                        \
	(sizeof(argument) > sizeof(long) ? (psys_word)(argument) : \
					   (psys_word)(PSYS_WORD_FROM)(argument))
#else
typedef long long psys_word;
#define PSYS_WORD(argument)                                                           \
	((psys_word) __builtin_choose_expr(sizeof(argument) > sizeof(long), argument, \
					   (PSYS_WORD_FROM)(argument)))
#endif

#endif
