/* SPDX-License-Identifier: MIT */
/*
 * Error numbers. A call that fails returns one of these, negated.
 * Source: include/uapi/asm-generic/errno-base.h, errno.h
 */
#ifndef PSYS_ERRNO_H
#define PSYS_ERRNO_H

#include <syscall/arch.h>

#define PSYS_EPERM 1
#define PSYS_ENOENT 2
#define PSYS_ESRCH 3
#define PSYS_EINTR 4
#define PSYS_EIO 5
#define PSYS_ENXIO 6
#define PSYS_E2BIG 7
#define PSYS_ENOEXEC 8
#define PSYS_EBADF 9
#define PSYS_ECHILD 10
#define PSYS_EAGAIN 11
#define PSYS_ENOMEM 12
#define PSYS_EACCES 13
#define PSYS_EFAULT 14
#define PSYS_ENOTBLK 15
#define PSYS_EBUSY 16
#define PSYS_EEXIST 17
#define PSYS_EXDEV 18
#define PSYS_ENODEV 19
#define PSYS_ENOTDIR 20
#define PSYS_EISDIR 21
#define PSYS_EINVAL 22
#define PSYS_ENFILE 23
#define PSYS_EMFILE 24
#define PSYS_ENOTTY 25
#define PSYS_ETXTBSY 26
#define PSYS_EFBIG 27
#define PSYS_ENOSPC 28
#define PSYS_ESPIPE 29
#define PSYS_EROFS 30
#define PSYS_EMLINK 31
#define PSYS_EPIPE 32
#define PSYS_EDOM 33
#define PSYS_ERANGE 34

/* From here on some architectures have other numbers, in their layout.h. */
#ifndef PSYS_EDEADLK
#define PSYS_EDEADLK 35
#define PSYS_ENAMETOOLONG 36
#define PSYS_ENOLCK 37
#define PSYS_ENOSYS 38
#define PSYS_ENOTEMPTY 39
#define PSYS_ELOOP 40
#define PSYS_ENOMSG 42
#define PSYS_EIDRM 43
#define PSYS_ECHRNG 44
#define PSYS_EL2NSYNC 45
#define PSYS_EL3HLT 46
#define PSYS_EL3RST 47
#define PSYS_ELNRNG 48
#define PSYS_EUNATCH 49
#define PSYS_ENOCSI 50
#define PSYS_EL2HLT 51
#define PSYS_EBADE 52
#define PSYS_EBADR 53
#define PSYS_EXFULL 54
#define PSYS_ENOANO 55
#define PSYS_EBADRQC 56
#define PSYS_EBADSLT 57
#define PSYS_EBFONT 59
#define PSYS_ENOSTR 60
#define PSYS_ENODATA 61
#define PSYS_ETIME 62
#define PSYS_ENOSR 63
#define PSYS_ENONET 64
#define PSYS_ENOPKG 65
#define PSYS_EREMOTE 66
#define PSYS_ENOLINK 67
#define PSYS_EADV 68
#define PSYS_ESRMNT 69
#define PSYS_ECOMM 70
#define PSYS_EPROTO 71
#define PSYS_EMULTIHOP 72
#define PSYS_EDOTDOT 73
#define PSYS_EBADMSG 74
#define PSYS_EOVERFLOW 75
#define PSYS_ENOTUNIQ 76
#define PSYS_EBADFD 77
#define PSYS_EREMCHG 78
#define PSYS_ELIBACC 79
#define PSYS_ELIBBAD 80
#define PSYS_ELIBSCN 81
#define PSYS_ELIBMAX 82
#define PSYS_ELIBEXEC 83
#define PSYS_EILSEQ 84
#define PSYS_ERESTART 85
#define PSYS_ESTRPIPE 86
#define PSYS_EUSERS 87
#define PSYS_ENOTSOCK 88
#define PSYS_EDESTADDRREQ 89
#define PSYS_EMSGSIZE 90
#define PSYS_EPROTOTYPE 91
#define PSYS_ENOPROTOOPT 92
#define PSYS_EPROTONOSUPPORT 93
#define PSYS_ESOCKTNOSUPPORT 94
#define PSYS_EOPNOTSUPP 95
#define PSYS_EPFNOSUPPORT 96
#define PSYS_EAFNOSUPPORT 97
#define PSYS_EADDRINUSE 98
#define PSYS_EADDRNOTAVAIL 99
#define PSYS_ENETDOWN 100
#define PSYS_ENETUNREACH 101
#define PSYS_ENETRESET 102
#define PSYS_ECONNABORTED 103
#define PSYS_ECONNRESET 104
#define PSYS_ENOBUFS 105
#define PSYS_EISCONN 106
#define PSYS_ENOTCONN 107
#define PSYS_ESHUTDOWN 108
#define PSYS_ETOOMANYREFS 109
#define PSYS_ETIMEDOUT 110
#define PSYS_ECONNREFUSED 111
#define PSYS_EHOSTDOWN 112
#define PSYS_EHOSTUNREACH 113
#define PSYS_EALREADY 114
#define PSYS_EINPROGRESS 115
#define PSYS_ESTALE 116
#define PSYS_EUCLEAN 117
#define PSYS_ENOTNAM 118
#define PSYS_ENAVAIL 119
#define PSYS_EISNAM 120
#define PSYS_EREMOTEIO 121
#define PSYS_EDQUOT 122
#define PSYS_ENOMEDIUM 123
#define PSYS_EMEDIUMTYPE 124
#define PSYS_ECANCELED 125
#define PSYS_ENOKEY 126
#define PSYS_EKEYEXPIRED 127
#define PSYS_EKEYREVOKED 128
#define PSYS_EKEYREJECTED 129
#define PSYS_EOWNERDEAD 130
#define PSYS_ENOTRECOVERABLE 131
#define PSYS_ERFKILL 132
#define PSYS_EHWPOISON 133
#endif
#define PSYS_EWOULDBLOCK PSYS_EAGAIN

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Returns "ENOENT" for 2 or -2, and "unknown error" for 0 and unknown numbers, never NULL. Only the
 * name of an error begins with an E. The string is constant and static. Async-signal-safe.
 */
PSYS_API const char *psys_errname(int error);

/* Returns "no such file or directory" for 2 or -2, and "unknown error" for 0 and unknown numbers.
 * The string is constant and static. Async-signal-safe. */
PSYS_API const char *psys_strerror(int error);

#ifdef __cplusplus
}
#endif

#endif
