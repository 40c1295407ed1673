/* SPDX-License-Identifier: MIT */
/*
 * Makes every call of the table once, with a known result, or with an invalid argument and its
 * error. A call that the kernel lacks returns ENOSYS, and is counted.
 */
#include "harness.h"

#define NAME(since, type, name, ...) #name,
#define PSYS_CALL0 NAME
#define PSYS_CALL1 NAME
#define PSYS_CALL2 NAME
#define PSYS_CALL3 NAME
#define PSYS_CALL4 NAME
#define PSYS_CALL5 NAME
#define PSYS_CALL6 NAME
#define PSYS_IRREGULAR NAME
static const char *const names[] = {
#include <syscall/table.h>
};

enum { COUNT = sizeof names / sizeof *names, OK = -1, NOBODY = 0x3fffffff };

static struct {
	bool called[COUNT];
	int calls, missing, filtered, wrong;
} seen;

static int index_of(const char *name)
{
	for (int i = 0; i < COUNT; i++)
		if (!psys_strcmp(names[i], name))
			return i;
	note(name, -1);
	check_failed(__FILE__, __LINE__, "a call that is in the table");
}

/* True if the result is expected: 0, OK for any that is not an error, or an error number. */
static bool is_one_of(int64_t result, const int *expected, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (expected[i] == OK ? result >= 0 || result < -4095 : result == -expected[i])
			return true;
	return false;
}

static void called(const char *name, int64_t result, const int *expected, size_t count)
{
	int i = index_of(name);

	seen.calls += !seen.called[i];
	seen.called[i] = true;
	if (is_one_of(result, expected, count))
		return;
	if (result == -PSYS_ENOSYS) {
		seen.missing++;
		return;
	}
	/* A container's filter may reject the call before the kernel checks the argument. */
	if (result == -PSYS_EPERM && psys_prctl(PSYS_PR_GET_SECCOMP, 0, 0, 0, 0) == 2) {
		seen.filtered++;
		return;
	}
	seen.wrong++;
	note(name, result);
}

#define CALL(name, arguments, ...)                                                           \
	called("psys_" #name, (intptr_t)psys_##name arguments, (const int[]){ __VA_ARGS__ }, \
	       sizeof(const int[]){ __VA_ARGS__ } / sizeof(int))

static char buf[512];
static unsigned a, b, c;
static struct psys_timespec zero, never = { 0, -1 };
static struct psys_sigset set;

static void descriptors(void)
{
	struct psys_cachestat_range range = { 0 };
	struct psys_cachestat result;

	CALL(read, (-1, buf, 1), PSYS_EBADF);
	CALL(write, (-1, buf, 1), PSYS_EBADF);
	CALL(readv, (-1, NULL, 0), PSYS_EBADF);
	CALL(writev, (-1, NULL, 0), PSYS_EBADF);
	CALL(pread64, (-1, buf, 1, 0), PSYS_EBADF);
	CALL(pwrite64, (-1, buf, 1, 0), PSYS_EBADF);
	CALL(preadv, (-1, NULL, 0, 0), PSYS_EBADF);
	CALL(pwritev, (-1, NULL, 0, 0), PSYS_EBADF);
	CALL(preadv2, (-1, NULL, 0, 0, 0), PSYS_EBADF);
	CALL(pwritev2, (-1, NULL, 0, 0, 0), PSYS_EBADF);
	CALL(lseek, (-1, 0, PSYS_SEEK_SET), PSYS_EBADF);
	CALL(close, (-1), PSYS_EBADF);
	CALL(close_range, (1, 0, 0), PSYS_EINVAL);
	CALL(dup, (-1), PSYS_EBADF);
	CALL(dup2, (-1, 0), PSYS_EBADF);
	CALL(dup3, (0, 0, 0), PSYS_EINVAL);
	CALL(pipe, (NULL), PSYS_EFAULT);
	CALL(pipe2, (NULL, ~0), PSYS_EINVAL);
	CALL(fcntl, (-1, PSYS_F_GETFD, 0), PSYS_EBADF);
	CALL(ioctl, (-1, 0, 0), PSYS_EBADF);
	CALL(flock, (-1, PSYS_LOCK_SH), PSYS_EBADF);
	CALL(fsync, (-1), PSYS_EBADF);
	CALL(fdatasync, (-1), PSYS_EBADF);
	CALL(syncfs, (-1), PSYS_EBADF);
	CALL(sync_file_range, (-1, 0, 0, 0), PSYS_EBADF);
	CALL(fadvise64, (-1, 0, 0, 0), PSYS_EBADF);
	CALL(readahead, (-1, 0, 0), PSYS_EBADF);
	CALL(fallocate, (-1, 0, 0, 1), PSYS_EBADF);
	CALL(sendfile, (-1, -1, NULL, 1), PSYS_EBADF);
	CALL(copy_file_range, (-1, NULL, -1, NULL, 1, 0), PSYS_EBADF);
	CALL(splice, (-1, NULL, -1, NULL, 1, 0), PSYS_EBADF);
	CALL(tee, (-1, -1, 1, 0), PSYS_EBADF);
	CALL(vmsplice, (-1, NULL, 0, 0), PSYS_EBADF);
	CALL(cachestat, (-1, &range, &result, 0), PSYS_EBADF);
	CALL(memfd_create, ("", ~0U), PSYS_EINVAL);
#ifdef PSYS_HAVE_MEMFD_SECRET
	CALL(memfd_secret, (~0U), PSYS_EINVAL);
#endif
}

static void files(void)
{
	struct psys_open_how how = { 0 };
	struct psys_statx statx;
	struct psys_stat status;
	struct psys_statfs statfs;
	struct psys_file_attr attr = { 0 };
	union {
		struct psys_file_handle handle;
		char space[64];
	} u = { { 0 } };

	CALL(open, ("", PSYS_O_RDONLY, 0), PSYS_ENOENT);
	CALL(openat, (-1, "x", PSYS_O_RDONLY, 0), PSYS_EBADF);
	CALL(openat2, (-1, "x", &how, sizeof how), PSYS_EBADF);
	CALL(name_to_handle_at, (-1, "x", &u.handle, buf, 0), PSYS_EBADF);
	CALL(open_by_handle_at, (-1, &u.handle, 0), PSYS_EBADF, PSYS_EINVAL, PSYS_EPERM);
	CALL(statx, (-1, "x", 0, 0, &statx), PSYS_EBADF);
	CALL(stat, ("", &status), PSYS_ENOENT);
	CALL(lstat, ("", &status), PSYS_ENOENT);
	CALL(fstat, (-1, &status), PSYS_EBADF);
	CALL(fstatat, (-1, "x", &status, 0), PSYS_EBADF);
	CALL(statfs, ("", &statfs), PSYS_ENOENT);
	CALL(fstatfs, (-1, &statfs), PSYS_EBADF);
	CALL(faccessat, (-1, "x", 0), PSYS_EBADF);
	CALL(faccessat2, (-1, "x", 0, 0), PSYS_EBADF);
	CALL(readlinkat, (-1, "x", buf, 1), PSYS_EBADF);
	CALL(unlinkat, (-1, "x", 0), PSYS_EBADF);
	CALL(linkat, (-1, "x", -1, "y", 0), PSYS_EBADF);
	CALL(symlinkat, ("x", -1, "y"), PSYS_EBADF);
#ifdef PSYS_HAVE_RENAMEAT
	CALL(renameat, (-1, "x", -1, "y"), PSYS_EBADF);
#endif
	CALL(renameat2, (-1, "x", -1, "y", 0), PSYS_EBADF);
	CALL(mknodat, (-1, "x", PSYS_S_IFIFO, 0), PSYS_EBADF);
	CALL(mkdirat, (-1, "x", 0), PSYS_EBADF);
	CALL(getdents64, (-1, buf, sizeof buf), PSYS_EBADF);
	CALL(truncate, ("", 0), PSYS_ENOENT);
	CALL(ftruncate, (-1, 0), PSYS_EBADF, PSYS_EINVAL);
	CALL(fchmod, (-1, 0), PSYS_EBADF);
	CALL(fchmodat, (-1, "x", 0), PSYS_EBADF);
	CALL(fchmodat2, (-1, "x", 0, 0), PSYS_EBADF);
	CALL(fchown, (-1, 0, 0), PSYS_EBADF);
	CALL(fchownat, (-1, "x", 0, 0, 0), PSYS_EBADF);
	CALL(utimensat, (-1, "x", NULL, 0), PSYS_EBADF);
	CALL(file_getattr, (-1, "x", &attr, sizeof attr, 0), PSYS_EBADF);
	CALL(file_setattr, (-1, "x", &attr, sizeof attr, 0), PSYS_EBADF);
#ifdef PSYS_HAVE_ACCESS
	CALL(access, ("", 0), PSYS_ENOENT);
	CALL(chmod, ("", 0), PSYS_ENOENT);
	CALL(chown, ("", 0, 0), PSYS_ENOENT);
	CALL(lchown, ("", 0, 0), PSYS_ENOENT);
	CALL(creat, ("", 0), PSYS_ENOENT);
	CALL(link, ("", "x"), PSYS_ENOENT);
	CALL(symlink, ("x", ""), PSYS_ENOENT);
	CALL(readlink, ("", buf, 1), PSYS_ENOENT);
	CALL(unlink, (""), PSYS_ENOENT);
	CALL(rename, ("", "x"), PSYS_ENOENT);
	CALL(mkdir, ("", 0), PSYS_ENOENT);
	CALL(rmdir, (""), PSYS_ENOENT);
	CALL(mknod, ("", PSYS_S_IFIFO, 0), PSYS_ENOENT);
	CALL(getdents, (-1, buf, sizeof buf), PSYS_EBADF);
#endif
}

static void attributes_and_watches(void)
{
	struct psys_xattr_args args = { 0 };

	CALL(setxattr, ("", "user.x", NULL, 0, 0), PSYS_ENOENT);
	CALL(lsetxattr, ("", "user.x", NULL, 0, 0), PSYS_ENOENT);
	CALL(fsetxattr, (-1, "user.x", NULL, 0, 0), PSYS_EBADF);
	CALL(setxattrat, (-1, "x", 0, "user.x", &args, sizeof args), PSYS_EBADF);
	CALL(getxattr, ("", "user.x", NULL, 0), PSYS_ENOENT);
	CALL(lgetxattr, ("", "user.x", NULL, 0), PSYS_ENOENT);
	CALL(fgetxattr, (-1, "user.x", NULL, 0), PSYS_EBADF);
	CALL(getxattrat, (-1, "x", 0, "user.x", &args, sizeof args), PSYS_EBADF);
	CALL(listxattr, ("", NULL, 0), PSYS_ENOENT);
	CALL(llistxattr, ("", NULL, 0), PSYS_ENOENT);
	CALL(flistxattr, (-1, NULL, 0), PSYS_EBADF);
	CALL(listxattrat, (-1, "x", 0, NULL, 0), PSYS_EBADF);
	CALL(removexattr, ("", "user.x"), PSYS_ENOENT);
	CALL(lremovexattr, ("", "user.x"), PSYS_ENOENT);
	CALL(fremovexattr, (-1, "user.x"), PSYS_EBADF);
	CALL(removexattrat, (-1, "x", 0, "user.x"), PSYS_EBADF);

#ifdef PSYS_HAVE_INOTIFY_INIT
	CALL(inotify_init, (), OK, PSYS_EMFILE);
#endif
	CALL(inotify_init1, (~0), PSYS_EINVAL);
	CALL(inotify_add_watch, (-1, "/", PSYS_IN_CREATE), PSYS_EBADF);
	CALL(inotify_rm_watch, (-1, 0), PSYS_EBADF);
	CALL(fanotify_init, (~0U, 0), PSYS_EINVAL, PSYS_EPERM);
	/* No event has a bit above the 32nd: this shows swapped halves. */
	CALL(fanotify_mark, (-1, PSYS_FAN_MARK_ADD, 1, -1, "/"), PSYS_EBADF);
	CALL(fanotify_mark, (-1, PSYS_FAN_MARK_ADD, UINT64_C(1) << 63, -1, "/"), PSYS_EINVAL);
}

static void places(void)
{
	struct psys_mount_attr attr = { .attr_set = PSYS_MOUNT_ATTR_RDONLY };
	struct psys_mnt_id_req mount = { 0 };
	struct psys_ns_id_req namespace = { 0 };

	CALL(chdir, (""), PSYS_ENOENT);
	CALL(fchdir, (-1), PSYS_EBADF);
	CALL(chroot, (""), PSYS_ENOENT);
	CALL(fchroot, (-1, 0), PSYS_EBADF);
	CALL(umask, (022), OK);
	CALL(getcwd, (buf, 0), PSYS_ERANGE);
	CALL(mount, (NULL, "", NULL, 0, NULL), PSYS_ENOENT, PSYS_EFAULT);
	CALL(umount2, ("", ~0), PSYS_EINVAL);
	CALL(pivot_root, ("", ""), PSYS_ENOENT, PSYS_EPERM);
	CALL(fsopen, ("no such file system", 0), PSYS_ENODEV, PSYS_EPERM);
	CALL(fsconfig, (-1, 0, NULL, NULL, 0), PSYS_EINVAL);
	CALL(fsmount, (-1, 0, 0), PSYS_EBADF, PSYS_EPERM);
	CALL(fspick, (-1, "x", 0), PSYS_EBADF, PSYS_EPERM);
	CALL(open_tree, (-1, "x", 0), PSYS_EBADF);
	CALL(open_tree_attr, (-1, "x", 0, &attr, sizeof attr), PSYS_EBADF, PSYS_EPERM);
	CALL(move_mount, (-1, "x", -1, "y", 0), PSYS_EBADF, PSYS_EPERM);
	CALL(mount_setattr, (-1, "x", 0, &attr, sizeof attr), PSYS_EBADF, PSYS_EPERM);
	CALL(statmount, (&mount, buf, sizeof buf, 0), PSYS_EINVAL);
	CALL(listmount, (&mount, NULL, 0, 0), PSYS_EINVAL);
	CALL(listns, (&namespace, NULL, 0, 0), PSYS_EINVAL);
	CALL(unshare, (1UL << 30 | 1UL << 27 | PSYS_CLONE_VFORK), PSYS_EINVAL);
	CALL(setns, (-1, 0), PSYS_EBADF);
	CALL(sethostname, ("", 65), PSYS_EINVAL, PSYS_EPERM);
	CALL(setdomainname, ("", 65), PSYS_EINVAL, PSYS_EPERM);
	CALL(quotactl, (~0U, NULL, 0, NULL), PSYS_EINVAL);
	CALL(quotactl_fd, (-1, ~0U, 0, NULL), PSYS_EBADF, PSYS_EINVAL);
	CALL(swapon, ("", ~0), PSYS_EINVAL, PSYS_EPERM);
	CALL(swapoff, (""), PSYS_ENOENT, PSYS_EPERM);
#ifdef PSYS_HAVE_SYSFS
	CALL(sysfs, (99, 0, 0), PSYS_EINVAL);
	CALL(ustat, (~0U, buf), PSYS_EINVAL);
#endif
}

static void memory(void)
{
	char *odd = (char *)1;

	CALL(mmap, (NULL, 0, 0, PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0), PSYS_EINVAL);
	CALL(munmap, (odd, 1), PSYS_EINVAL);
	CALL(mprotect, (odd, 1, 0), PSYS_EINVAL);
	CALL(mremap, (odd, 1, 1, 0, NULL), PSYS_EINVAL);
	CALL(madvise, (odd, 1, 0), PSYS_EINVAL);
	CALL(process_madvise, (-1, NULL, 0, PSYS_MADV_DONTNEED, 0), PSYS_EBADF);
	CALL(process_mrelease, (-1, 0), PSYS_EBADF);
	CALL(brk, (NULL), OK);
	CALL(msync, (odd, 1, PSYS_MS_SYNC), PSYS_EINVAL);
	CALL(mincore, (odd, 1, (unsigned char *)buf), PSYS_EINVAL);
	CALL(mlock, (NULL, 0), 0, PSYS_EPERM);
	CALL(mlock2, (NULL, 0, ~0), PSYS_EINVAL);
	CALL(munlock, (NULL, 0), 0);
	CALL(mlockall, (~0), PSYS_EINVAL);
	CALL(munlockall, (), 0);
	CALL(mseal, (odd, 1, 0), PSYS_EINVAL);
	CALL(remap_file_pages, (odd, 1, 1, 0, 0), PSYS_EINVAL);
	CALL(map_shadow_stack, (NULL, 0, ~0U), PSYS_EINVAL, PSYS_EOPNOTSUPP);
	CALL(pkey_alloc, (~0UL, 0), PSYS_EINVAL);
	CALL(pkey_free, (-1), PSYS_EINVAL,
	     PSYS_EPERM); /* the kernel returns -1 without protection keys */
	CALL(pkey_mprotect, (odd, 1, 0, -1), PSYS_EINVAL);
	CALL(process_vm_readv, (0, NULL, 0, NULL, 0, ~0UL), PSYS_EINVAL);
	CALL(process_vm_writev, (0, NULL, 0, NULL, 0, ~0UL), PSYS_EINVAL);
	CALL(userfaultfd, (~0), PSYS_EINVAL, PSYS_EPERM);
	CALL(membarrier, (-1, ~0U, 0), PSYS_EINVAL);

	CALL(mbind, (odd, 1, PSYS_MPOL_DEFAULT, NULL, 0, 0), PSYS_EINVAL);
	CALL(set_mempolicy, (99, NULL, 0), PSYS_EINVAL);
	CALL(get_mempolicy, (NULL, NULL, 0, NULL, ~0UL), PSYS_EINVAL);
	CALL(set_mempolicy_home_node, (odd, 1, 0, ~0UL), PSYS_EINVAL);
	CALL(migrate_pages, (NOBODY, 0, NULL, NULL), PSYS_ESRCH, PSYS_EINVAL);
	CALL(move_pages, (NOBODY, 0, NULL, NULL, NULL, 0), PSYS_ESRCH, PSYS_EPERM);
}

static void identity(void)
{
	CALL(getpid, (), OK);
	CALL(getppid, (), OK);
	CALL(gettid, (), OK);
	CALL(getuid, (), OK);
	CALL(geteuid, (), OK);
	CALL(getgid, (), OK);
	CALL(getegid, (), OK);
	CALL(getresuid, (&a, &b, &c), 0);
	CALL(getresgid, (&a, &b, &c), 0);
	CALL(setuid, (psys_geteuid()), 0);
	CALL(setgid, (psys_getegid()), 0);
	CALL(setreuid, (~0U, ~0U), 0);
	CALL(setregid, (~0U, ~0U), 0);
	CALL(setresuid, (~0U, ~0U, ~0U), 0);
	CALL(setresgid, (~0U, ~0U, ~0U), 0);
	CALL(setfsuid, (~0U), OK);
	CALL(setfsgid, (~0U), OK);
	CALL(setgroups, (65537, NULL), PSYS_EINVAL, PSYS_EPERM);
	CALL(getgroups, (-1, NULL), PSYS_EINVAL);
	CALL(setpgid, (-1, 0), PSYS_EINVAL);
	CALL(getpgid, (0), OK);
#ifdef PSYS_HAVE_GETPGRP
	CALL(getpgrp, (), OK);
#endif
	CALL(setsid, (), PSYS_EPERM); /* each test leads a group */
	CALL(getsid, (0), OK);
	CALL(prctl, (-1, 0, 0, 0, 0), PSYS_EINVAL);
	CALL(capget, (NULL, NULL), PSYS_EFAULT);
	CALL(capset, (NULL, NULL), PSYS_EFAULT);
	CALL(personality, (0xffffffffUL), OK);
	CALL(uname, (NULL), PSYS_EFAULT);
	CALL(getrandom, (NULL, 0, ~0U), PSYS_EINVAL);
	CALL(kcmp, (NOBODY, NOBODY, PSYS_KCMP_VM, 0, 0), PSYS_ESRCH);
}

static void limits(void)
{
	struct psys_rlimit64 limit = { 0 };

	CALL(getrlimit, (-1, &limit), PSYS_EINVAL);
	CALL(setrlimit, (-1, &limit), PSYS_EINVAL);
	CALL(prlimit64, (0, -1, NULL, NULL), PSYS_EINVAL);
	CALL(getrusage, (99, NULL), PSYS_EINVAL);
	CALL(getpriority, (99, 0), PSYS_EINVAL);
	CALL(setpriority, (99, 0, 0), PSYS_EINVAL);
#ifdef PSYS_HAVE_NICE
	CALL(nice, (0), 0);
#endif
	CALL(ioprio_set, (99, 0, 0), PSYS_EINVAL);
	CALL(ioprio_get, (99, 0), PSYS_EINVAL);
	CALL(sched_setscheduler, (-1, 0, NULL), PSYS_EINVAL);
	CALL(sched_getscheduler, (-1), PSYS_EINVAL);
	CALL(sched_setparam, (-1, NULL), PSYS_EINVAL);
	CALL(sched_getparam, (-1, NULL), PSYS_EINVAL);
	CALL(sched_setattr, (0, NULL, 0), PSYS_EINVAL);
	CALL(sched_getattr, (0, NULL, 0, 0), PSYS_EINVAL);
	CALL(sched_setaffinity, (0, 0, NULL), PSYS_EINVAL);
	CALL(sched_getaffinity, (0, 0, NULL), PSYS_EINVAL);
	CALL(sched_get_priority_max, (-1), PSYS_EINVAL);
	CALL(sched_get_priority_min, (-1), PSYS_EINVAL);
	CALL(sched_rr_get_interval, (-1, &zero), PSYS_EINVAL);
	CALL(sched_yield, (), 0);
	CALL(getcpu, (NULL, NULL, NULL), 0);
}

static void signals(void)
{
	struct psys_siginfo info = { .code = -1 };
	struct psys_sigaltstack stack;

	CALL(rt_sigprocmask, (-1, &set, NULL, PSYS_SIGSET_SIZE), PSYS_EINVAL);
	CALL(rt_sigaction, (0, NULL, NULL, PSYS_SIGSET_SIZE), PSYS_EINVAL);
	CALL(rt_sigpending, (&set, 99), PSYS_EINVAL);
	CALL(rt_sigsuspend, (&set, 99), PSYS_EINVAL);
	CALL(rt_sigtimedwait, (&set, NULL, &zero, 99), PSYS_EINVAL);
	CALL(rt_sigqueueinfo, (NOBODY, PSYS_SIGTERM, &info), PSYS_ESRCH);
	CALL(rt_tgsigqueueinfo, (-1, -1, PSYS_SIGTERM, &info), PSYS_EINVAL);
	CALL(sigaltstack, (NULL, &stack), 0);
	CALL(kill, (NOBODY, 0), PSYS_ESRCH);
	CALL(tkill, (0, 0), PSYS_EINVAL);
	CALL(tgkill, (-1, -1, 0), PSYS_EINVAL);
	CALL(pidfd_open, (-1, 0), PSYS_EINVAL);
	CALL(pidfd_send_signal, (-1, 0, NULL, 0), PSYS_EBADF);
	CALL(pidfd_getfd, (-1, 0, 0), PSYS_EBADF);
	CALL(signalfd4, (-1, &set, 99, 0), PSYS_EINVAL);
#ifdef PSYS_HAVE_SIGNALFD
	CALL(signalfd, (-1, &set, 99), PSYS_EINVAL);
#endif
}

static void times(void)
{
	struct psys_timex timex = { 0 };
	struct psys_itimerspec timer = { { 0, 0 }, { 0, 0 } };
	struct psys_itimerval interval = { { 0, 0 }, { 0, 0 } };
	struct psys_tms tms;
	int id;

	CALL(clock_gettime, (99, &zero), PSYS_EINVAL);
	CALL(clock_settime, (99, &zero), PSYS_EINVAL);
	CALL(clock_getres, (99, &zero), PSYS_EINVAL);
	CALL(clock_adjtime, (99, &timex), PSYS_EINVAL);
	CALL(clock_nanosleep, (99, 0, &zero, NULL), PSYS_EINVAL);
	CALL(nanosleep, (&never, NULL), PSYS_EINVAL);
#ifdef PSYS_HAVE_ADJTIMEX
	CALL(adjtimex, (&timex), OK);
#endif
	CALL(timer_create, (99, NULL, &id), PSYS_EINVAL);
	CALL(timer_settime, (-1, 0, &timer, NULL), PSYS_EINVAL);
	CALL(timer_gettime, (-1, &timer), PSYS_EINVAL);
	CALL(timer_getoverrun, (-1), PSYS_EINVAL);
	CALL(timer_delete, (-1), PSYS_EINVAL);
	CALL(timerfd_create, (99, 0), PSYS_EINVAL);
	CALL(timerfd_settime, (-1, 0, &timer, NULL), PSYS_EBADF);
	CALL(timerfd_gettime, (-1, &timer), PSYS_EBADF);
	CALL(getitimer, (99, &interval), PSYS_EINVAL);
	CALL(setitimer, (99, &interval, NULL), PSYS_EINVAL);
	CALL(times, (&tms), OK);
#ifdef PSYS_HAVE_ALARM
	CALL(alarm, (0), 0);
#endif
#ifdef PSYS_HAVE_GETTIMEOFDAY
	struct psys_timeval now, bad = { 0, -1 };
	CALL(gettimeofday, (&now, NULL), 0);
	CALL(settimeofday, (&bad, NULL), PSYS_EINVAL);
#endif
#ifdef PSYS_HAVE_TIME
	CALL(time, (NULL), OK);
#endif
#ifdef PSYS_HAVE_STIME
	CALL(stime, (NULL), PSYS_EFAULT, PSYS_EPERM);
#endif
#ifdef PSYS_HAVE_UTIME
	CALL(utime, ("", NULL), PSYS_ENOENT);
#endif
#ifdef PSYS_HAVE_UTIMES
	CALL(utimes, ("", NULL), PSYS_ENOENT);
	CALL(futimesat, (-1, "x", NULL), PSYS_EBADF);
#endif
}

static void waiting(void)
{
	struct psys_epoll_event event = { 0, 0 };
	struct psys_robust_list_head *head;
	size_t size;
	int word = 0;

	CALL(futex, (&word, PSYS_FUTEX_WAKE, 1, NULL, NULL, 0), 0);
	CALL(futex_waitv, (NULL, 0, 0, NULL, 0), PSYS_EINVAL);
	CALL(futex_wake, (&word, 1, 0, ~0U), PSYS_EINVAL);
	CALL(futex_wait, (&word, 0, 1, ~0U, NULL, 0), PSYS_EINVAL);
	CALL(futex_requeue, (NULL, ~0U, 0, 0), PSYS_EINVAL);
	CALL(set_robust_list, (NULL, 99), PSYS_EINVAL);
	CALL(get_robust_list, (NOBODY, &head, &size), PSYS_ESRCH);
	CALL(ppoll, (NULL, 0, &zero, NULL, PSYS_SIGSET_SIZE), 0);
#ifdef PSYS_HAVE_POLL
	CALL(poll, (NULL, 0, 0), 0);
#endif
	CALL(pselect6, (-1, NULL, NULL, NULL, &zero, NULL), PSYS_EINVAL);
#ifdef PSYS_HAVE_SELECT
	CALL(select, (-1, NULL, NULL, NULL, NULL), PSYS_EINVAL);
#endif
#ifdef PSYS_HAVE_EPOLL_CREATE
	CALL(epoll_create, (0), PSYS_EINVAL);
	CALL(epoll_wait, (-1, &event, 1, 0), PSYS_EBADF);
	CALL(eventfd, (0), OK);
#endif
	CALL(epoll_create1, (~0), PSYS_EINVAL);
	CALL(epoll_ctl, (-1, PSYS_EPOLL_CTL_ADD, -1, &event), PSYS_EBADF);
	CALL(epoll_pwait, (-1, &event, 1, 0, NULL, PSYS_SIGSET_SIZE), PSYS_EBADF);
	CALL(epoll_pwait2, (-1, &event, 1, &zero, NULL, PSYS_SIGSET_SIZE), PSYS_EBADF);
	CALL(eventfd2, (0, ~0), PSYS_EINVAL);
}

static void background(void)
{
	struct psys_io_uring_params params = { 0 };
	psys_aio_context context = 0;

	CALL(io_uring_setup, (0, &params), PSYS_EINVAL, PSYS_EPERM);
	CALL(io_uring_enter, (-1, 0, 0, 0, NULL, 0), PSYS_EBADF);
	CALL(io_uring_register, (-1, 99, NULL, 0), PSYS_EBADF, PSYS_EINVAL);
	CALL(io_setup, (0, &context), PSYS_EINVAL);
	CALL(io_destroy, (0), PSYS_EINVAL);
	CALL(io_submit, (0, 0, NULL), PSYS_EINVAL);
	CALL(io_cancel, (0, NULL, NULL), PSYS_EFAULT, PSYS_EINVAL);
#ifdef PSYS_HAVE_IO_GETEVENTS
	CALL(io_getevents, (0, 0, 0, NULL, NULL), PSYS_EINVAL);
#endif
	CALL(io_pgetevents, (0, 0, 0, NULL, NULL, NULL), PSYS_EINVAL);
}

static void sockets(void)
{
	struct psys_msghdr message = { 0 };

	CALL(socket, (-1, 0, 0), PSYS_EAFNOSUPPORT, PSYS_EINVAL);
	CALL(socketpair, (-1, 0, 0, NULL), PSYS_EAFNOSUPPORT, PSYS_EINVAL, PSYS_EFAULT);
	CALL(bind, (-1, NULL, 0), PSYS_EBADF);
	CALL(connect, (-1, NULL, 0), PSYS_EBADF);
	CALL(listen, (-1, 0), PSYS_EBADF);
	CALL(accept, (-1, NULL, NULL), PSYS_EBADF);
	CALL(accept4, (-1, NULL, NULL, 0), PSYS_EBADF);
	CALL(getsockname, (-1, NULL, NULL), PSYS_EBADF);
	CALL(getpeername, (-1, NULL, NULL), PSYS_EBADF);
	CALL(getsockopt, (-1, 0, 0, NULL, NULL), PSYS_EBADF);
	CALL(setsockopt, (-1, 0, 0, NULL, 0), PSYS_EBADF);
	CALL(shutdown, (-1, PSYS_SHUT_RDWR), PSYS_EBADF);
	CALL(sendto, (-1, NULL, 0, 0, NULL, 0), PSYS_EBADF);
	CALL(recvfrom, (-1, NULL, 0, 0, NULL, NULL), PSYS_EBADF);
#ifdef PSYS_HAVE_SEND
	CALL(send, (-1, NULL, 0, 0), PSYS_EBADF);
	CALL(recv, (-1, NULL, 0, 0), PSYS_EBADF);
#endif
	CALL(sendmsg, (-1, &message, 0), PSYS_EBADF);
	CALL(recvmsg, (-1, &message, 0), PSYS_EBADF);
	CALL(sendmmsg, (-1, NULL, 0, 0), PSYS_EBADF);
	CALL(recvmmsg, (-1, NULL, 0, 0, NULL), PSYS_EBADF);
}

static void queues(void)
{
	struct psys_sembuf operation = { 0, 0, 0 };
	const int key = 0x61737077; /* not in use */

	CALL(mq_open, ("", 0, 0, NULL), PSYS_ENOENT);
	CALL(mq_unlink, (""), PSYS_ENOENT);
	CALL(mq_timedsend, (-1, "", 0, 0, NULL), PSYS_EBADF);
	CALL(mq_timedreceive, (-1, buf, 1, NULL, NULL), PSYS_EBADF);
	CALL(mq_notify, (-1, NULL), PSYS_EBADF);
	CALL(mq_getsetattr, (-1, NULL, NULL), PSYS_EBADF);
	CALL(msgget, (key, 0), PSYS_ENOENT);
	CALL(msgsnd, (-1, buf, 0, 0), PSYS_EINVAL);
	CALL(msgrcv, (-1, buf, 0, 0, 0), PSYS_EINVAL);
	CALL(msgctl, (-1, PSYS_IPC_RMID, NULL), PSYS_EINVAL);
	CALL(semget, (key, 0, 0), PSYS_ENOENT);
	CALL(semop, (-1, &operation, 1), PSYS_EINVAL);
	CALL(semtimedop, (-1, &operation, 1, &zero), PSYS_EINVAL);
	CALL(semctl, (-1, 0, PSYS_IPC_RMID, (union psys_semun){ 0 }), PSYS_EINVAL);
	CALL(shmget, (key, 1, 0), PSYS_ENOENT);
	CALL(shmat, (-1, NULL, 0), PSYS_EINVAL);
	CALL(shmdt, ((void *)1), PSYS_EINVAL);
	CALL(shmctl, (-1, PSYS_IPC_RMID, NULL), PSYS_EINVAL);
}

static void programs(void)
{
	char *none[] = { NULL };
	int word;

	CALL(clone, (PSYS_CLONE_THREAD, NULL, NULL, NULL, NULL), PSYS_EINVAL);
	CALL(clone3, (NULL, 0), PSYS_EINVAL, PSYS_EPERM);
	CALL(execve, ("", none, none), PSYS_ENOENT);
	CALL(execveat, (-1, "x", none, none, 0), PSYS_EBADF);
	CALL(wait4, (-1, NULL, PSYS_WNOHANG, NULL), PSYS_ECHILD);
	CALL(waitid, (99, 0, NULL, PSYS_WEXITED, NULL), PSYS_EINVAL);
#ifdef PSYS_HAVE_WAITPID
	CALL(waitpid, (-1, NULL, PSYS_WNOHANG), PSYS_ECHILD);
#endif
	CALL(set_tid_address, (&word), OK);
	CALL(set_tid_address, (NULL), OK);
	CALL(rseq, (NULL, 0, ~0, 0), PSYS_EINVAL);
	CALL(rseq_slice_yield, (), OK, PSYS_ENXIO, PSYS_EINVAL);
	CALL(ptrace, (9999, NOBODY, NULL, NULL), PSYS_ESRCH, PSYS_EIO);

	CALL(seccomp, (99, 0, NULL), PSYS_EINVAL);
	CALL(landlock_create_ruleset, (NULL, 0, ~0U), PSYS_EINVAL, PSYS_EOPNOTSUPP);
	CALL(landlock_add_rule, (-1, 0, NULL, ~0U), PSYS_EINVAL, PSYS_EOPNOTSUPP);
	CALL(landlock_restrict_self, (-1, ~0U), PSYS_EINVAL, PSYS_EPERM, PSYS_EOPNOTSUPP);
	CALL(lsm_get_self_attr, (0, NULL, NULL, ~0U), PSYS_EINVAL, PSYS_EFAULT);
	CALL(lsm_set_self_attr, (0, NULL, 0, ~0U), PSYS_EINVAL);
	CALL(lsm_list_modules, (NULL, NULL, ~0U), PSYS_EINVAL);

	CALL(add_key, ("", "", NULL, 0, 0), PSYS_EINVAL);
	CALL(request_key, ("", "", NULL, 0), PSYS_EINVAL);
	CALL(keyctl, (9999, 0, 0, 0, 0), PSYS_EOPNOTSUPP);
}

static void the_kernel(void)
{
	struct psys_sysinfo info;

	CALL(bpf, (9999, NULL, 0, NULL, 0), PSYS_EINVAL, PSYS_EPERM);
	CALL(perf_event_open, (NULL, 0, 0, 0, ~0UL), PSYS_EINVAL);
	CALL(syslog, (99, NULL, 0), PSYS_EINVAL, PSYS_EPERM);
	CALL(sysinfo, (&info), 0);
	CALL(acct, (""), PSYS_ENOENT, PSYS_EPERM);
#ifdef PSYS_HAVE_USELIB
	CALL(uselib, (""), PSYS_ENOENT);
#endif
	CALL(init_module, (NULL, 0, ""), PSYS_ENOEXEC, PSYS_EPERM);
	CALL(finit_module, (-1, "", ~0), PSYS_EINVAL, PSYS_EPERM);
	CALL(delete_module, ("", 0), PSYS_ENOENT, PSYS_EPERM);
	CALL(reboot, (0, 0, 0, NULL), PSYS_EINVAL, PSYS_EPERM);
	CALL(kexec_load, (0, 0, NULL, ~0UL), PSYS_EINVAL, PSYS_EPERM);
#ifdef PSYS_HAVE_KEXEC_FILE_LOAD
	CALL(kexec_file_load, (-1, -1, 0, NULL, ~0UL), PSYS_EINVAL, PSYS_EPERM);
#endif
}

static void architectures(void)
{
#ifdef PSYS_HAVE_ARCH_PRCTL
	CALL(arch_prctl, (9999, 0), PSYS_EINVAL);
	CALL(ioperm, (~0UL, 1, 1), PSYS_EINVAL);
	CALL(iopl, (99), PSYS_EINVAL);
	CALL(modify_ldt, (0, NULL, 0), 0, PSYS_EFAULT);
#endif
#if defined PSYS_HAVE_ARCH_PRCTL && defined PSYS_HAVE_SET_THREAD_AREA
	CALL(set_thread_area, (NULL), PSYS_EFAULT);
	CALL(get_thread_area, (NULL), PSYS_EFAULT);
#endif
#ifdef PSYS_HAVE_VM86OLD
	CALL(vm86, (99, NULL), PSYS_EPERM, PSYS_EFAULT);
	CALL(vm86old, (NULL), PSYS_EPERM, PSYS_EFAULT);
#endif
#ifdef PSYS_HAVE_ARM_CACHEFLUSH
	CALL(arm_cacheflush, (buf, buf, 0), 0, PSYS_EINVAL);
	CALL(arm_get_tls, (), OK);
	CALL(arm_set_tls, (psys_arm_get_tls()), 0);
#endif
#ifdef PSYS_HAVE_RISCV_HWPROBE
	CALL(riscv_flush_icache, (buf, buf, 0), 0);
	CALL(riscv_hwprobe, (NULL, 0, 0, NULL, ~0U), PSYS_EINVAL);
#endif
#if defined(PSYS_HAVE_CACHEFLUSH) && !defined(PSYS_HAVE_ATOMIC_BARRIER)
	CALL(cacheflush, (NULL, 0, -1), 0, PSYS_EINVAL);
#endif
#ifdef PSYS_HAVE_SYSMIPS
	CALL(cachectl, (NULL, 0, 0), PSYS_ENOSYS);
	CALL(sysmips, (9999, 0, 0), PSYS_EINVAL);
	CALL(set_thread_area, (NULL), 0);
#endif
#ifdef PSYS_HAVE_ATOMIC_BARRIER
	CALL(cacheflush, (NULL, 99, 0, 0), PSYS_EINVAL);
	CALL(atomic_barrier, (), 0);
	CALL(get_thread_area, (NULL), OK);
	CALL(set_thread_area, ((void *)psys_get_thread_area(NULL)), 0);
#endif
#ifdef PSYS_HAVE_GETPAGESIZE
	CALL(getpagesize, (), OK);
#endif
#ifdef PSYS_HAVE_S390_STHYI
	CALL(s390_guarded_storage, (99, NULL), PSYS_EINVAL, PSYS_EOPNOTSUPP);
	CALL(s390_pci_mmio_read, (0, NULL, 0), PSYS_EINVAL, PSYS_ENODEV);
	CALL(s390_pci_mmio_write, (0, NULL, 0), PSYS_EINVAL, PSYS_ENODEV);
	CALL(s390_runtime_instr, (99, 0), PSYS_EINVAL, PSYS_EOPNOTSUPP);
	CALL(s390_sthyi, (99, NULL, NULL, 0), PSYS_EINVAL, PSYS_EOPNOTSUPP);
#endif
#ifdef PSYS_HAVE_RTAS
	CALL(rtas, (NULL), PSYS_EFAULT, PSYS_EPERM, PSYS_EINVAL);
	CALL(subpage_prot, (1, 1, NULL), PSYS_EINVAL, PSYS_ENOENT);
	CALL(spu_create, ("", ~0U, 0, -1), PSYS_EINVAL);
	CALL(spu_run, (-1, NULL, NULL), PSYS_EBADF);
#endif
#ifdef PSYS_HAVE_KERN_FEATURES
	CALL(kern_features, (), OK);
	CALL(memory_ordering, (99), PSYS_EINVAL);
	CALL(getdomainname, (buf, -1), PSYS_EINVAL);
#endif
#ifdef PSYS_HAVE_PCICONFIG_READ
	CALL(pciconfig_read, (0, 0, 0, 99, NULL), PSYS_EINVAL, PSYS_EPERM, PSYS_ENODEV);
	CALL(pciconfig_write, (0, 0, 0, 99, NULL), PSYS_EINVAL, PSYS_EPERM, PSYS_ENODEV);
#endif
#ifdef PSYS_HAVE_PCICONFIG_IOBASE
	CALL(pciconfig_iobase, (99, 0, 0), PSYS_EINVAL, PSYS_EOPNOTSUPP, PSYS_ENODEV);
#endif
}

/* The listed calls would end the test or the machine, or the harness makes the calls anyway. */
static bool is_left_out(const char *name)
{
	static const char *const left_out[] = {
		"exit",          "exit_group",  "fork",          /* the harness does */
		"sync",                                          /* of the whole machine */
		"pause",                                         /* for ever */
		"vhangup",                                       /* takes the terminal away */
		"switch_endian", "swapcontext", "utrap_install", /* take the ground away */
	};

	for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
		if (!psys_strcmp(left_out[i], name))
			return true;
	return false;
}

TEST(every_system_call_returns_as_expected)
{
	if (psys_getenv(environment, "SUITE_EMULATOR"))
		skip("an emulator has errors of its own");
	descriptors();
	files();
	attributes_and_watches();
	places();
	memory();
	identity();
	limits();
	signals();
	times();
	waiting();
	background();
	sockets();
	queues();
	programs();
	the_kernel();
	architectures();
	note("calls in the table:", COUNT);
	note("called:", seen.calls);
	note("of which this kernel lacks:", seen.missing);
	note("and a filter refuses:", seen.filtered);
	CHECK_EQUAL(seen.wrong, 0);
	for (int i = 0; i < COUNT; i++)
		if (!seen.called[i] && !is_left_out(names[i] + sizeof "psys_" - 1)) {
			note(names[i], i);
			CHECK(!"each call is called, or left out for a reason");
		}
}
