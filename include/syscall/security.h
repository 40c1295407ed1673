/* SPDX-License-Identifier: MIT */
/*
 * Capabilities, seccomp, Landlock, random numbers.
 * Source: include/uapi/linux/{capability,seccomp,filter,bpf_common,landlock,random}.h
 */
#ifndef PSYS_SECURITY_H
#define PSYS_SECURITY_H

#include <syscall/arch.h>

/* capget, capset: version 3 takes two data elements, of 32 capabilities each */
#define PSYS_LINUX_CAPABILITY_VERSION_3 0x20080522
struct psys_cap_user_header {
	uint32_t version;
	int pid;
};
struct psys_cap_user_data {
	uint32_t effective;
	uint32_t permitted;
	uint32_t inheritable;
};
#define PSYS_CAP_CHOWN 0
#define PSYS_CAP_DAC_OVERRIDE 1
#define PSYS_CAP_DAC_READ_SEARCH 2
#define PSYS_CAP_FOWNER 3
#define PSYS_CAP_FSETID 4
#define PSYS_CAP_KILL 5
#define PSYS_CAP_SETGID 6
#define PSYS_CAP_SETUID 7
#define PSYS_CAP_SETPCAP 8
#define PSYS_CAP_LINUX_IMMUTABLE 9
#define PSYS_CAP_NET_BIND_SERVICE 10
#define PSYS_CAP_NET_BROADCAST 11
#define PSYS_CAP_NET_ADMIN 12
#define PSYS_CAP_NET_RAW 13
#define PSYS_CAP_IPC_LOCK 14
#define PSYS_CAP_IPC_OWNER 15
#define PSYS_CAP_SYS_MODULE 16
#define PSYS_CAP_SYS_RAWIO 17
#define PSYS_CAP_SYS_CHROOT 18
#define PSYS_CAP_SYS_PTRACE 19
#define PSYS_CAP_SYS_PACCT 20
#define PSYS_CAP_SYS_ADMIN 21
#define PSYS_CAP_SYS_BOOT 22
#define PSYS_CAP_SYS_NICE 23
#define PSYS_CAP_SYS_RESOURCE 24
#define PSYS_CAP_SYS_TIME 25
#define PSYS_CAP_SYS_TTY_CONFIG 26
#define PSYS_CAP_MKNOD 27
#define PSYS_CAP_LEASE 28
#define PSYS_CAP_AUDIT_WRITE 29
#define PSYS_CAP_AUDIT_CONTROL 30
#define PSYS_CAP_SETFCAP 31
#define PSYS_CAP_MAC_OVERRIDE 32
#define PSYS_CAP_MAC_ADMIN 33
#define PSYS_CAP_SYSLOG 34
#define PSYS_CAP_WAKE_ALARM 35
#define PSYS_CAP_BLOCK_SUSPEND 36
#define PSYS_CAP_AUDIT_READ 37
#define PSYS_CAP_PERFMON 38
#define PSYS_CAP_BPF 39
#define PSYS_CAP_CHECKPOINT_RESTORE 40

/* seccomp: a filter is a program of classic BPF over struct psys_seccomp_data */
#define PSYS_SECCOMP_SET_MODE_STRICT 0
#define PSYS_SECCOMP_SET_MODE_FILTER 1
#define PSYS_SECCOMP_GET_ACTION_AVAIL 2
#define PSYS_SECCOMP_MODE_DISABLED 0 /* PR_SET_SECCOMP, PR_GET_SECCOMP */
#define PSYS_SECCOMP_MODE_STRICT 1
#define PSYS_SECCOMP_MODE_FILTER 2
#define PSYS_SECCOMP_FILTER_FLAG_TSYNC 1UL
#define PSYS_SECCOMP_FILTER_FLAG_LOG 2UL
#define PSYS_SECCOMP_FILTER_FLAG_SPEC_ALLOW 4UL
#define PSYS_SECCOMP_FILTER_FLAG_NEW_LISTENER 8UL
#define PSYS_SECCOMP_FILTER_FLAG_TSYNC_ESRCH 16UL
#define PSYS_SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV 32UL
#define PSYS_SECCOMP_RET_KILL_THREAD 0U
#define PSYS_SECCOMP_RET_KILL_PROCESS 0x80000000U
#define PSYS_SECCOMP_RET_TRAP 0x00030000U
#define PSYS_SECCOMP_RET_ERRNO 0x00050000U
#define PSYS_SECCOMP_RET_USER_NOTIF 0x7fc00000U
#define PSYS_SECCOMP_RET_TRACE 0x7ff00000U
#define PSYS_SECCOMP_RET_LOG 0x7ffc0000U
#define PSYS_SECCOMP_RET_ALLOW 0x7fff0000U
#define PSYS_SECCOMP_RET_ACTION_FULL 0xffff0000U /* the mask of the above */
#define PSYS_SECCOMP_RET_DATA 0x0000ffffU        /* the mask of an error number and the like */
struct psys_seccomp_data {
	int nr;
	uint32_t arch;
	uint64_t instruction_pointer;
	uint64_t args[6];
};
struct psys_sock_filter {
	uint16_t code;
	uint8_t jt;
	uint8_t jf;
	uint32_t k;
};
struct psys_sock_fprog {
	unsigned short len; /* instructions */
	struct psys_sock_filter *filter;
};
#define PSYS_BPF_LD 0x00
#define PSYS_BPF_ALU 0x04
#define PSYS_BPF_JMP 0x05
#define PSYS_BPF_RET 0x06
#define PSYS_BPF_W 0x00
#define PSYS_BPF_ABS 0x20
#define PSYS_BPF_AND 0x50
#define PSYS_BPF_JEQ 0x10
#define PSYS_BPF_JGE 0x30
#define PSYS_BPF_JSET 0x40
#define PSYS_BPF_K 0x00

/* landlock_create_ruleset, landlock_add_rule, landlock_restrict_self; 5.13 */
#define PSYS_LANDLOCK_CREATE_RULESET_VERSION 1U          /* returns the ABI */
#define PSYS_LANDLOCK_CREATE_RULESET_ERRATA 2U           /* returns what is mended; 6.15 */
#define PSYS_LANDLOCK_ADD_RULE_QUIET 1U                  /* ABI 10: a denial is not logged */
#define PSYS_LANDLOCK_RESTRICT_SELF_LOG_SAME_EXEC_OFF 1U /* ABI 7 */
#define PSYS_LANDLOCK_RESTRICT_SELF_LOG_NEW_EXEC_ON 2U
#define PSYS_LANDLOCK_RESTRICT_SELF_LOG_SUBDOMAINS_OFF 4U
#define PSYS_LANDLOCK_RESTRICT_SELF_TSYNC 8U /* ABI 8 */
#define PSYS_LANDLOCK_RULE_PATH_BENEATH 1
#define PSYS_LANDLOCK_RULE_NET_PORT 2
#define PSYS_LANDLOCK_ACCESS_FS_EXECUTE 1U
#define PSYS_LANDLOCK_ACCESS_FS_WRITE_FILE 2U
#define PSYS_LANDLOCK_ACCESS_FS_READ_FILE 4U
#define PSYS_LANDLOCK_ACCESS_FS_READ_DIR 8U
#define PSYS_LANDLOCK_ACCESS_FS_REMOVE_DIR 16U
#define PSYS_LANDLOCK_ACCESS_FS_REMOVE_FILE 32U
#define PSYS_LANDLOCK_ACCESS_FS_MAKE_CHAR 64U
#define PSYS_LANDLOCK_ACCESS_FS_MAKE_DIR 128U
#define PSYS_LANDLOCK_ACCESS_FS_MAKE_REG 256U
#define PSYS_LANDLOCK_ACCESS_FS_MAKE_SOCK 512U
#define PSYS_LANDLOCK_ACCESS_FS_MAKE_FIFO 1024U
#define PSYS_LANDLOCK_ACCESS_FS_MAKE_BLOCK 2048U
#define PSYS_LANDLOCK_ACCESS_FS_MAKE_SYM 4096U
#define PSYS_LANDLOCK_ACCESS_FS_REFER 8192U         /* ABI 2 */
#define PSYS_LANDLOCK_ACCESS_FS_TRUNCATE 16384U     /* ABI 3 */
#define PSYS_LANDLOCK_ACCESS_FS_IOCTL_DEV 32768U    /* ABI 5 */
#define PSYS_LANDLOCK_ACCESS_FS_RESOLVE_UNIX 65536U /* ABI 9 */
#define PSYS_LANDLOCK_ACCESS_NET_BIND_TCP 1U        /* ABI 4 */
#define PSYS_LANDLOCK_ACCESS_NET_CONNECT_TCP 2U
#define PSYS_LANDLOCK_ACCESS_NET_BIND_UDP 4U /* ABI 10 */
#define PSYS_LANDLOCK_ACCESS_NET_CONNECT_SEND_UDP 8U
#define PSYS_LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET 1U /* ABI 6 */
#define PSYS_LANDLOCK_SCOPE_SIGNAL 2U
/* An older kernel rejects a larger structure than its own, unless the rest is zero. */
struct psys_landlock_ruleset_attr {
	uint64_t handled_access_fs;
	uint64_t handled_access_net; /* ABI 4 */
	uint64_t scoped;             /* ABI 6 */
	uint64_t quiet_access_fs;    /* ABI 10: of rules with ADD_RULE_QUIET */
	uint64_t quiet_access_net;
	uint64_t quiet_scoped;
};
#ifndef PSYS_DECLARATIONS_ONLY
struct psys_landlock_path_beneath_attr {
	uint64_t allowed_access;
	int32_t parent_fd;
} __attribute__((packed));
#endif
struct psys_landlock_net_port_attr {
	uint64_t allowed_access;
	uint64_t port;
};

/* getrandom */
#define PSYS_GRND_NONBLOCK 1
#define PSYS_GRND_RANDOM 2

/* lsm_get_self_attr, lsm_set_self_attr */
#define PSYS_LSM_ATTR_CURRENT 100
#define PSYS_LSM_ATTR_EXEC 101
__extension__ struct psys_lsm_ctx {
	uint64_t id;
	uint64_t flags;
	uint64_t len; /* of this record, in bytes */
	uint64_t ctx_len;
	uint8_t ctx[];
};

/* keyctl, add_key */
#define PSYS_KEY_SPEC_THREAD_KEYRING (-1)
#define PSYS_KEY_SPEC_PROCESS_KEYRING (-2)
#define PSYS_KEY_SPEC_SESSION_KEYRING (-3)
#define PSYS_KEY_SPEC_USER_KEYRING (-4)
#define PSYS_KEY_SPEC_USER_SESSION_KEYRING (-5)
#define PSYS_KEYCTL_GET_KEYRING_ID 0
#define PSYS_KEYCTL_JOIN_SESSION_KEYRING 1
#define PSYS_KEYCTL_REVOKE 3
#define PSYS_KEYCTL_CLEAR 7
#define PSYS_KEYCTL_LINK 8
#define PSYS_KEYCTL_UNLINK 9
#define PSYS_KEYCTL_READ 11
#define PSYS_KEYCTL_SET_TIMEOUT 15
#define PSYS_KEYCTL_SESSION_TO_PARENT 18

#endif
