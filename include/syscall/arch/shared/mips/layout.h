/* SPDX-License-Identifier: MIT */
/*
 * mips, what its three ABIs have in common: the kernel's numbers for errors,
 * signals, flags and requests are those of IRIX.
 * uapi/asm/{errno,fcntl,mman,resource,signal,socket,ioctls}.h, asm/socket.h
 */
#ifndef PSYS_MIPS_SHARED_LAYOUT_H
#define PSYS_MIPS_SHARED_LAYOUT_H

/* clone takes tls before child_tid (CONFIG_CLONE_BACKWARDS). */
#define PSYS_CLONE_BACKWARDS

/* What a multiplication leaves, which the kernel does not save; release 6 has no such registers. */
#if defined(__mips_isa_rev) && __mips_isa_rev >= 6
#define PSYS_HI_LO
#else
#define PSYS_HI_LO "hi", "lo",
#endif

#define PSYS_O_CREAT 0x0100
#define PSYS_O_EXCL 0x0400
#define PSYS_O_NOCTTY 0x0800
#define PSYS_O_TRUNC 0x0200
#define PSYS_O_APPEND 0x0008
#define PSYS_O_NONBLOCK 0x0080
#define PSYS_O_DSYNC 0x0010
#define PSYS_O_NOATIME 01000000
#define PSYS_O_CLOEXEC 02000000
#define PSYS_O_SYNC 0x4010
#define PSYS_O_PATH 010000000
#define PSYS_O_DIRECT 0x8000
#define PSYS_O_LARGEFILE 0x2000
#define PSYS_O_DIRECTORY 0200000
#define PSYS_O_NOFOLLOW 0400000

#define PSYS_MAP_ANONYMOUS 0x0800
#define PSYS_MAP_NORESERVE 0x0400
#define PSYS_MAP_STACK 0x40000
#define PSYS_MAP_POPULATE 0x10000

#define PSYS_NSIG 128
#define PSYS_SIGBUS 10
#define PSYS_SIGSYS 12
#define PSYS_SIGUSR1 16
#define PSYS_SIGUSR2 17
#define PSYS_SIGCHLD 18
#define PSYS_SIGPWR 19
#define PSYS_SIGWINCH 20
#define PSYS_SIGURG 21
#define PSYS_SIGIO 22
#define PSYS_SIGSTOP 23
#define PSYS_SIGTSTP 24
#define PSYS_SIGCONT 25
#define PSYS_SIGTTIN 26
#define PSYS_SIGTTOU 27
#define PSYS_SIGVTALRM 28
#define PSYS_SIGPROF 29
#define PSYS_SIGXCPU 30
#define PSYS_SIGXFSZ 31

#define PSYS_SIG_BLOCK 1
#define PSYS_SIG_UNBLOCK 2
#define PSYS_SIG_SETMASK 3

#define PSYS_SA_NOCLDSTOP 0x00000001U
#define PSYS_SA_NOCLDWAIT 0x00010000U
#define PSYS_SA_SIGINFO 0x00000008U

/* No restorer; the flags come first (uapi/asm/signal.h). */
#define PSYS_SIGACTION_FLAGS_FIRST
#define PSYS_SIGINFO_CODE_FIRST

#define PSYS_RLIMIT_NOFILE 5
#define PSYS_RLIMIT_AS 6
#define PSYS_RLIMIT_RSS 7
#define PSYS_RLIMIT_NPROC 8
#define PSYS_RLIMIT_MEMLOCK 9

#define PSYS_SOCK_DGRAM 1
#define PSYS_SOCK_STREAM 2
#define PSYS_SOL_SOCKET 0xffff
#define PSYS_SO_PASSCRED 17

#define PSYS_IOC_READ 2U
#define PSYS_IOC_WRITE 4U
#define PSYS_IOC_SIZE_BITS 13
#define PSYS_TIOCSCTTY 0x5480
#define PSYS_TIOCGPGRP 0x40047477
#define PSYS_TIOCSPGRP 0x80047476
#define PSYS_TIOCGWINSZ 0x40087468
#define PSYS_TIOCSWINSZ 0x80087467
#define PSYS_TIOCSPTLCK 0x80045431
#define PSYS_TIOCGPTPEER 0x20005441
#define PSYS_TIOCNOTTY 0x5471
#define PSYS_FIONREAD 0x467f

#define PSYS_EDEADLK 45
#define PSYS_ENAMETOOLONG 78
#define PSYS_ENOLCK 46
#define PSYS_ENOSYS 89
#define PSYS_ENOTEMPTY 93
#define PSYS_ELOOP 90
#define PSYS_ENOMSG 35
#define PSYS_EIDRM 36
#define PSYS_ECHRNG 37
#define PSYS_EL2NSYNC 38
#define PSYS_EL3HLT 39
#define PSYS_EL3RST 40
#define PSYS_ELNRNG 41
#define PSYS_EUNATCH 42
#define PSYS_ENOCSI 43
#define PSYS_EL2HLT 44
#define PSYS_EBADE 50
#define PSYS_EBADR 51
#define PSYS_EXFULL 52
#define PSYS_ENOANO 53
#define PSYS_EBADRQC 54
#define PSYS_EBADSLT 55
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
#define PSYS_EMULTIHOP 74
#define PSYS_EDOTDOT 73
#define PSYS_EBADMSG 77
#define PSYS_EOVERFLOW 79
#define PSYS_ENOTUNIQ 80
#define PSYS_EBADFD 81
#define PSYS_EREMCHG 82
#define PSYS_ELIBACC 83
#define PSYS_ELIBBAD 84
#define PSYS_ELIBSCN 85
#define PSYS_ELIBMAX 86
#define PSYS_ELIBEXEC 87
#define PSYS_EILSEQ 88
#define PSYS_ERESTART 91
#define PSYS_ESTRPIPE 92
#define PSYS_EUSERS 94
#define PSYS_ENOTSOCK 95
#define PSYS_EDESTADDRREQ 96
#define PSYS_EMSGSIZE 97
#define PSYS_EPROTOTYPE 98
#define PSYS_ENOPROTOOPT 99
#define PSYS_EPROTONOSUPPORT 120
#define PSYS_ESOCKTNOSUPPORT 121
#define PSYS_EOPNOTSUPP 122
#define PSYS_EPFNOSUPPORT 123
#define PSYS_EAFNOSUPPORT 124
#define PSYS_EADDRINUSE 125
#define PSYS_EADDRNOTAVAIL 126
#define PSYS_ENETDOWN 127
#define PSYS_ENETUNREACH 128
#define PSYS_ENETRESET 129
#define PSYS_ECONNABORTED 130
#define PSYS_ECONNRESET 131
#define PSYS_ENOBUFS 132
#define PSYS_EISCONN 133
#define PSYS_ENOTCONN 134
#define PSYS_ESHUTDOWN 143
#define PSYS_ETOOMANYREFS 144
#define PSYS_ETIMEDOUT 145
#define PSYS_ECONNREFUSED 146
#define PSYS_EHOSTDOWN 147
#define PSYS_EHOSTUNREACH 148
#define PSYS_EALREADY 149
#define PSYS_EINPROGRESS 150
#define PSYS_ESTALE 151
#define PSYS_EUCLEAN 135
#define PSYS_ENOTNAM 137
#define PSYS_ENAVAIL 138
#define PSYS_EISNAM 139
#define PSYS_EREMOTEIO 140
#define PSYS_EDQUOT 1133
#define PSYS_ENOMEDIUM 159
#define PSYS_EMEDIUMTYPE 160
#define PSYS_ECANCELED 158
#define PSYS_ENOKEY 161
#define PSYS_EKEYEXPIRED 162
#define PSYS_EKEYREVOKED 163
#define PSYS_EKEYREJECTED 164
#define PSYS_EOWNERDEAD 165
#define PSYS_ENOTRECOVERABLE 166
#define PSYS_ERFKILL 167
#define PSYS_EHWPOISON 168

#define PSYS_SIGALTSTACK_SIZE_SECOND

/* uapi/asm/statfs.h */
#define PSYS_ARCH_STATFS
struct psys_statfs {
#if _MIPS_SIM == _ABI64
	long f_type;
	long f_bsize;
	long f_frsize;
#else
	uint32_t f_type;
	uint32_t f_bsize;
	uint32_t f_frsize;
	uint32_t __pad;
#endif
	uint64_t f_blocks;
	uint64_t f_bfree;
	uint64_t f_files;
	uint64_t f_ffree;
	uint64_t f_bavail;
	struct {
		int val[2];
	} f_fsid;
#if _MIPS_SIM == _ABI64
	long f_namelen;
	long f_flags;
	long f_spare[5];
#else
	uint32_t f_namelen;
	uint32_t f_flags;
	uint32_t f_spare[5];
#endif
};

#endif
