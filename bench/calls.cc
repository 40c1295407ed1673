/* SPDX-License-Identifier: MIT */
// See calls.h.
#include "calls.h"

#include <csignal>
#include <cstdint>

#include <linux/sched.h>
#include <sys/ptrace.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{

bool copies_memory(pid_t pid, const __ptrace_syscall_info &info)
{
	uint64_t flags = info.entry.args[0];

	if (info.entry.nr == SYS_clone3)
		flags = static_cast<uint64_t>(
			ptrace(PTRACE_PEEKDATA, pid, info.entry.args[0], nullptr));
	return !(flags & CLONE_VM);
}

// True for advice that sets a flag of a mapping. Other advice takes the lock for reading.
bool changes_mappings(long advice)
{
	return advice < MADV_WILLNEED || (advice >= MADV_DONTFORK && advice <= MADV_KEEPONFORK);
}

void count(Calls &calls, pid_t pid, const __ptrace_syscall_info &info)
{
	switch (info.entry.nr) {
#ifdef SYS_mmap2
	case SYS_mmap2:
#endif
#ifdef SYS_mmap
	case SYS_mmap:
#endif
	case SYS_munmap:
	case SYS_mprotect:
	case SYS_mremap:
	case SYS_brk:
		calls.changes++;
		break;
	case SYS_madvise:
		calls.changes += changes_mappings(static_cast<long>(info.entry.args[2]));
		break;
#ifdef SYS_fork
	case SYS_fork:
		calls.copies++;
		break;
#endif
	case SYS_clone:
	case SYS_clone3:
		calls.copies += copies_memory(pid, info);
		break;
	default:
		break;
	}
}

[[noreturn]] void start_traced(const Way &way)
{
	ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
	for (int i = 0; i < 5; i++) {
		way.finish(way.start());
		usleep(10000); // a helper ends
	}
	raise(SIGSTOP);
	const int pid = way.start();
	raise(SIGSTOP);
	way.finish(pid);
	_exit(0);
}

} // namespace

Calls calls_of(const Way &way)
{
	const pid_t pid = fork();
	Calls calls = { -1, 0 };
	int status;

	if (pid == 0)
		start_traced(way);
	// raise() stops the child twice. The second stop ends the count.
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		const int signal = WSTOPSIG(status);
		if (signal == SIGSTOP) {
			if (calls.changes >= 0)
				break;
			calls.changes = 0;
			ptrace(PTRACE_SETOPTIONS, pid, nullptr, PTRACE_O_TRACESYSGOOD);
		} else if (signal == (SIGTRAP | 0x80)) {
			__ptrace_syscall_info info;
			if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) > 0 &&
			    info.op == PTRACE_SYSCALL_INFO_ENTRY)
				count(calls, pid, info);
		}
		const bool is_passed = signal != SIGSTOP && signal != (SIGTRAP | 0x80);
		ptrace(calls.changes < 0 ? PTRACE_CONT : PTRACE_SYSCALL, pid, nullptr,
		       is_passed ? signal : 0);
	}
	ptrace(PTRACE_DETACH, pid, nullptr, nullptr);
	waitpid(pid, &status, 0);
	return calls;
}
