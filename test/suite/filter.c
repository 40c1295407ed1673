/* SPDX-License-Identifier: MIT */
/* Seccomp filters, as programs of classic BPF */
#include "filter.h"

/* clang-format off */
#define LOAD(offset) \
	{ PSYS_BPF_LD | PSYS_BPF_W | PSYS_BPF_ABS, 0, 0, (uint32_t)(offset) }
#define JUMP(test, value, if_true, if_false) \
	{ PSYS_BPF_JMP | (test) | PSYS_BPF_K, if_true, if_false, value }
#define MASK(value) \
	{ PSYS_BPF_ALU | PSYS_BPF_AND | PSYS_BPF_K, 0, 0, value }
#define ANSWER(value) \
	{ PSYS_BPF_RET | PSYS_BPF_K, 0, 0, value }
/* clang-format on */
#define ALLOW ANSWER(PSYS_SECCOMP_RET_ALLOW)
#define FAIL(error) ANSWER(PSYS_SECCOMP_RET_ERRNO | (uint32_t)(error))

/* Returns the offset of an argument's low half. */
static size_t low_half(int argument)
{
	size_t at = offsetof(struct psys_seccomp_data, args) + 8 * (size_t)argument;

	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? at + 4 : at;
}

static int install(struct psys_sock_filter *filter, size_t count, unsigned long flags)
{
	struct psys_sock_fprog program = { (unsigned short)count, filter };

	psys_prctl(PSYS_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	int r = psys_seccomp(PSYS_SECCOMP_SET_MODE_FILTER, flags, &program);
	if (r == -PSYS_EINVAL || r == -PSYS_ENOSYS)
		skip("no seccomp filters here");
	CHECK(r >= 0);
	return r;
}

void filter_refuse(long nr, int error)
{
	filter_refuse_flags(nr, 0, 0, error);
}

void filter_refuse_flags(long nr, int argument, uint32_t mask, int error)
{
	filter_refuse_flags_without(nr, argument, mask, 0, error);
}

void filter_refuse_flags_without(long nr, int argument, uint32_t set, uint32_t clear, int error)
{
	struct psys_sock_filter filter[] = {
		LOAD(offsetof(struct psys_seccomp_data, nr)),
		JUMP(PSYS_BPF_JEQ, (uint32_t)nr, 0, 3),
		LOAD(low_half(argument)),
		MASK(set | clear),
		JUMP(PSYS_BPF_JEQ, set, 1, 0),
		ALLOW,
		FAIL(error),
	};

	install(filter, sizeof filter / sizeof filter[0], 0);
}

void filter_check_arguments(long nr, int count)
{
	struct psys_sock_filter filter[3 + 2 * 6 + 2] = {
		LOAD(offsetof(struct psys_seccomp_data, nr)),
		JUMP(PSYS_BPF_JEQ, (uint32_t)nr, 1, 0),
		ALLOW,
	};
	size_t at = 3;

	for (int i = 0; i < count; i++) {
		size_t right = at + 2, wrong = 3 + 2 * (size_t)count + 1;
		struct psys_sock_filter load = LOAD(low_half(i));
		struct psys_sock_filter jump =
			JUMP(PSYS_BPF_JEQ, 1001 + (uint32_t)i, 0, (uint8_t)(wrong - right));

		filter[at++] = load;
		filter[at++] = jump;
	}
	struct psys_sock_filter right = FAIL(PSYS_EDOM), wrong = FAIL(PSYS_ERANGE);
	filter[at++] = right;
	filter[at++] = wrong;
	install(filter, at, 0);
}

/* --- a supervisor, by SECCOMP_RET_USER_NOTIF (include/uapi/linux/seccomp.h) -- */

struct notification {
	uint64_t id;
	uint32_t pid, flags;
	struct psys_seccomp_data data;
};

struct answer {
	uint64_t id;
	int64_t value;
	int32_t error;
	uint32_t flags;
};

enum { FILTER_FLAG_NEW_LISTENER = 8, ANSWER_CONTINUE = 1 };
#define RET_USER_NOTIF 0x7fc00000U

static unsigned long notif_ioctl(unsigned long number, size_t size)
{
	return PSYS_IOC(PSYS_IOC_READ | PSYS_IOC_WRITE, '!', number, size);
}

static struct supervisor {
	struct thread thread;
	int listener, ready;
	void (*decide)(const struct notification *notification, struct answer *answer);
	uint64_t flags; /* of clone3 */
	int error;
	void (*then)(int tid);
	int tid;
	uint64_t unmapped; /* address of the last munmap: a signal may restart the call */
	int *reached, *go; /* gates of filter_hold() */
	int number;        /* of a pidfd */
	bool *is_killed;
	const int *armed;
	long *waits;
	int (*see)(const struct seen_call *call);
	void (*see_any)(const struct psys_seccomp_data *call, bool may_wait);
} supervisor;

/* A thread without the filter runs this, and reads the memory that the calls point to. */
static int supervise(void *arg)
{
	(void)arg;
	/* the filter may hold a wake */
	while (!__atomic_load_n(&supervisor.ready, __ATOMIC_ACQUIRE))
		sleep_ms(1);
	for (;;) {
		struct notification notification;
		struct answer answer;

		psys_memset(&notification, 0, sizeof notification);
		psys_memset(&answer, 0, sizeof answer);
		if (psys_ioctl(supervisor.listener, notif_ioctl(0, sizeof notification),
			       (unsigned long)&notification) < 0)
			continue;
		answer.id = notification.id;
		supervisor.decide(&notification, &answer);
		if (psys_ioctl(supervisor.listener, notif_ioctl(1, sizeof answer),
			       (unsigned long)&answer) == 0)
			supervisor.unmapped = 0;
	}
	return 0;
}

enum { MOST_WATCHED = 32 };

static void watch_all(const long *numbers, size_t count,
		      void (*decide)(const struct notification *, struct answer *))
{
	struct psys_sock_filter filter[MOST_WATCHED + 3] = {
		LOAD(offsetof(struct psys_seccomp_data, nr)),
	};
	const struct psys_sock_filter allow = ALLOW, notify = ANSWER(RET_USER_NOTIF);

	for (size_t i = 0; i < count; i++) {
		const struct psys_sock_filter jump =
			JUMP(PSYS_BPF_JEQ, (uint32_t)numbers[i], (uint8_t)(count - i), 0);
		filter[1 + i] = jump;
	}
	filter[1 + count] = count ? allow : notify; /* no numbers mean all calls */
	filter[2 + count] = notify;
	supervisor.decide = decide;
	thread_start(&supervisor.thread, supervise, NULL);
	supervisor.listener = install(filter, count + 3, FILTER_FLAG_NEW_LISTENER);
	__atomic_store_n(&supervisor.ready, 1, __ATOMIC_RELEASE);
}

static void watch(long nr, void (*decide)(const struct notification *, struct answer *))
{
	watch_all(&nr, 1, decide);
}

static void refuse_clone3(const struct notification *notification, struct answer *answer)
{
	const struct psys_clone_args *args = (const void *)(uintptr_t)notification->data.args[0];

	if (args->flags & supervisor.flags)
		answer->error = -supervisor.error;
	else
		answer->flags = ANSWER_CONTINUE;
}

void filter_refuse_clone3_flags(uint64_t flags, int error)
{
	supervisor.flags = flags;
	supervisor.error = error;
	watch(PSYS_NR_clone3, refuse_clone3);
}

static void kill_in_clone3(const struct notification *notification, struct answer *answer)
{
	const struct psys_clone_args *args = (const void *)(uintptr_t)notification->data.args[0];

	answer->flags = ANSWER_CONTINUE;
	if ((int)notification->pid == supervisor.tid || *supervisor.is_killed || !args->pidfd)
		return;
	*(int *)(uintptr_t)args->pidfd = supervisor.number;
	*supervisor.is_killed = true;
	psys_kill((int)notification->pid, PSYS_SIGKILL);
}

void filter_kill_in_clone3(int number, bool *is_killed)
{
	supervisor.number = number;
	supervisor.is_killed = is_killed;
	supervisor.tid = psys_gettid();
	watch(PSYS_NR_clone3, kill_in_clone3);
}

static void hold(const struct notification *notification, struct answer *answer)
{
	(void)notification;
	answer->flags = ANSWER_CONTINUE;
	gate_open(supervisor.reached);
	gate_wait(supervisor.go);
}

void filter_hold(long nr, int *reached, int *go)
{
	supervisor.reached = reached;
	supervisor.go = go;
	watch(nr, hold);
}

/* These calls may wait until another process does something. Clones may wait too. */
static const long waiting_calls[] = {
	PSYS_NR_waitid,          PSYS_NR_futex,
	PSYS_NR_ppoll,           PSYS_NR_epoll_pwait,
	PSYS_NR_clock_nanosleep, PSYS_NR_rt_sigtimedwait,
	PSYS_NR_rt_sigsuspend,   PSYS_NR_read,
	PSYS_NR_recvmsg,         PSYS_NR_sched_yield,
	PSYS_NR_flock,           PSYS_NR_fsync,
	PSYS_NR_clone,           PSYS_NR_clone3,
#ifdef PSYS_NR_wait4
	PSYS_NR_wait4,
#endif
#ifdef PSYS_NR_nanosleep
	PSYS_NR_nanosleep,
#endif
#ifdef PSYS_NR_vfork
	PSYS_NR_vfork,
#endif
};

static bool may_wait(const struct psys_seccomp_data *call)
{
	const uint64_t *args = call->args;
	enum { COMMAND = 127 }; /* of a futex, without its flags */

	switch (call->nr) {
	case PSYS_NR_waitid:
		return !(args[3] & PSYS_WNOHANG);
#ifdef PSYS_NR_wait4
	case PSYS_NR_wait4:
		return !(args[2] & PSYS_WNOHANG);
#endif
	case PSYS_NR_futex:
		return (args[1] & COMMAND) != PSYS_FUTEX_WAKE;
	case PSYS_NR_clone:
		return args[clone_flags] & PSYS_CLONE_VFORK;
	case PSYS_NR_clone3:
		return ((const struct psys_clone_args *)(uintptr_t)args[0])->flags &
		       PSYS_CLONE_VFORK;
	case PSYS_NR_recvmsg:
		return !(args[2] & PSYS_MSG_DONTWAIT);
	}
	return true;
}

static void refuse_wait(const struct notification *notification, struct answer *answer)
{
	answer->flags = ANSWER_CONTINUE;
	if ((int)notification->pid != supervisor.tid ||
	    !__atomic_load_n(supervisor.armed, __ATOMIC_ACQUIRE) || !may_wait(&notification->data))
		return;
	answer->flags = 0;
	answer->error = -PSYS_EDEADLK;
	*supervisor.waits = notification->data.nr;
}

void filter_refuse_waits(const int *armed, long *waits)
{
	supervisor.armed = armed;
	supervisor.waits = waits;
	supervisor.tid = psys_gettid();
	watch_all(waiting_calls, sizeof waiting_calls / sizeof *waiting_calls, refuse_wait);
}

static void show_call(const struct notification *notification, struct answer *answer)
{
	const struct psys_seccomp_data *call = &notification->data;
	bool waits = false;

	answer->flags = ANSWER_CONTINUE;
	if ((int)notification->pid != supervisor.tid ||
	    !__atomic_load_n(supervisor.armed, __ATOMIC_ACQUIRE))
		return;
	for (size_t i = 0; i < sizeof waiting_calls / sizeof *waiting_calls; i++)
		waits = waits || waiting_calls[i] == call->nr;
	supervisor.see_any(call, waits && may_wait(call));
}

void filter_show_calls(const int *armed,
		       void (*see)(const struct psys_seccomp_data *call, bool may_wait))
{
	supervisor.armed = armed;
	supervisor.see_any = see;
	supervisor.tid = psys_gettid();
	watch_all(NULL, 0, show_call);
}

void filter_trap(long nr)
{
	struct psys_sock_filter filter[] = {
		LOAD(offsetof(struct psys_seccomp_data, nr)),
		JUMP(PSYS_BPF_JEQ, (uint32_t)nr, 0, 1),
		ANSWER(PSYS_SECCOMP_RET_TRAP),
		ALLOW,
	};

	install(filter, sizeof filter / sizeof filter[0], 0);
}

/* The result of a call is at offset RESULT_AT in a handler's context (struct ucontext). */
#if defined(__x86_64__) && defined(__LP64__)
enum { RESULT_AT = 40 + 13 * 8 };
#elif defined(__aarch64__) && defined(__LP64__)
enum { RESULT_AT = 176 + 8 };
#elif defined(__riscv) && __riscv_xlen == 64
enum { RESULT_AT = 176 + 10 * 8 };
#else
enum { RESULT_AT = 0 };
#endif

static int trapped_thread, foreign_traps;

static void answer_enosys(int signal, void *info, void *context)
{
	(void)signal, (void)info;
	if (psys_gettid() != trapped_thread)
		foreign_traps++;
	*(long *)(void *)((char *)context + RESULT_AT) = -PSYS_ENOSYS;
}

const int *filter_trap_to_enosys(long nr)
{
	struct psys_sigaction action[2] = { { .handler = (uintptr_t)answer_enosys,
					      .flags = PSYS_SA_SIGINFO } };
	const struct psys_rlimit64 none = { 0, 0 };

	if (!RESULT_AT)
		skip("no handler for this architecture");
#ifdef PSYS_NEEDS_RESTORER
	action->restorer = (uintptr_t)psys_restorer;
#ifdef PSYS_SA_RESTORER
	action->flags |= PSYS_SA_RESTORER;
#endif
#endif
	/* Before Linux 5.16 a core dump kills every process sharing the memory. */
	psys_prlimit64(0, PSYS_RLIMIT_CORE, &none, NULL);
	psys_prctl(PSYS_PR_SET_DUMPABLE, 0, 0, 0, 0);
	CHECK_EQUAL(psys_rt_sigaction(PSYS_SIGSYS, action, NULL, PSYS_SIGSET_SIZE), 0);
	trapped_thread = psys_gettid();
	filter_trap(nr);
	return &foreign_traps;
}

static void follow_munmap(const struct notification *notification, struct answer *answer)
{
	const uint64_t *args = notification->data.args;

	if ((int)notification->pid != supervisor.tid) { /* its memory is another */
		answer->flags = ANSWER_CONTINUE;
		return;
	}
	if (args[0] != supervisor.unmapped)
		answer->error = psys_munmap((void *)(uintptr_t)args[0], (size_t)args[1]);
	supervisor.unmapped = args[0];
	supervisor.then((int)notification->pid);
}

void filter_follow_munmap(void (*after)(int tid))
{
	supervisor.then = after;
	supervisor.tid = psys_gettid();
	watch(PSYS_NR_munmap, follow_munmap);
}

static void precede_clone(const struct notification *notification, struct answer *answer)
{
	if ((int)notification->pid == supervisor.tid)
		supervisor.then((int)notification->pid);
	answer->flags = ANSWER_CONTINUE;
}

void filter_precede_clone(void (*before)(int tid))
{
	supervisor.then = before;
	supervisor.tid = psys_gettid();
	watch(PSYS_NR_clone, precede_clone);
}

static void show_clone(const struct notification *notification, struct answer *answer)
{
	const uint64_t *args = notification->data.args;
	const struct psys_clone_args *of = (const void *)(uintptr_t)args[0];
	const bool is_clone3 = notification->data.nr == PSYS_NR_clone3;
	const uint64_t flags = args[clone_flags];
	const struct seen_call call = {
		.nr = notification->data.nr,
		.by_caller = (int)notification->pid == supervisor.tid,
		.flags = is_clone3 ? of->flags : flags & ~UINT64_C(0xff),
		.exit_signal = is_clone3 ? (unsigned)of->exit_signal : (unsigned)flags & 0xff,
	};
	const int error = supervisor.see(&call);

	if (error)
		answer->error = -error;
	else
		answer->flags = ANSWER_CONTINUE;
}

void filter_show_clones(int (*see)(const struct seen_call *call))
{
	static const long numbers[] = { PSYS_NR_clone3, PSYS_NR_clone, PSYS_NR_execveat };

	supervisor.see = see;
	supervisor.tid = psys_gettid();
	watch_all(numbers, sizeof numbers / sizeof *numbers, show_clone);
}
