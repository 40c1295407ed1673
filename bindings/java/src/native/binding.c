/* SPDX-License-Identifier: MIT */
/*
 * The library for Java, by JNI: what aspawn.Native declares. It is linked with no libc, and uses
 * none, so one file serves with glibc and with musl.
 *
 * Java writes commands to memory of its own (aspawn.Request) as the structures below have them,
 * with addresses. A handle is an array of 128 bytes there: each function copies it, changes it, and
 * copies it back, and Java lets only one thread at a time do so.
 */
#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aspawn.h"

#define MAYBE_UNUSED __attribute__((unused))
#define NATIVE(type, name, ...)                                                    \
	JNIEXPORT type JNICALL Java_aspawn_Native_##name(JNIEnv *env MAYBE_UNUSED, \
							 jclass class MAYBE_UNUSED, ##__VA_ARGS__)

/* Memory of children, for all threads. */
static struct aspawn_pool pool;

/* Bytes that a read or a write copies at most. */
enum { PIECE = 16384, LONGEST_PATH = 4096 };

/* --- actions, made by bindings/java/generate ------------------------------------------------ */

/* The number of an action in actions.h, then its operands. */
struct encoded_action {
	int64_t number, operands[7];
};

static bool to_action(struct aspawn_action *action, const struct encoded_action *from)
{
	const int64_t *of = from->operands;

	switch (from->number) {
#define ADDRESS(type, i) ((type)(intptr_t)of[i])
#define INTEGER(type, i) ((type)of[i])
#define ACTION(number, name, ...)                            \
	case number:                                         \
		aspawn_action_##name(action, ##__VA_ARGS__); \
		return true;
#include "actions.h"
	default:
		return false;
	}
}

/* --- start ------------------------------------------------------------------------------ */

/* As aspawn.Request writes it, in words. */
struct request {
	int64_t flags, owner, memory;
	int64_t streams[3];
	const char *file, *search_path;
	char *const *argv, *const *envp;
	const struct encoded_action *encoded;
	struct aspawn_action *actions; /* memory for them */
	int64_t action_count;
	int64_t is_certain; /* only the file decides if the program is executed */
	int64_t stop_signal;

	/* of a job */
	int64_t job_flags, cookie;
	const void *input;
	int64_t input_size, out_size, err_size, time_limit_ms, grace_ms, key, key_limit, priority;

	int64_t pty_rows, pty_columns;

	/* results: in_fd, out_fd, err_fd, ended_fd, started_fd, pty_fd; the child's number, or 0 */
	int64_t descriptors[6];
	int64_t pid, error, step;
	char text[256];
};

static void explain(struct request *request, const struct aspawn_failure *failure)
{
	request->error = failure->error;
	request->step = failure->step;
	aspawn_failure_text(request->text, sizeof request->text, failure);
}

static bool to_command(const struct request *request, struct aspawn_command *command)
{
	*command = (struct aspawn_command){
		.size = sizeof *command,
		.flags = (uint64_t)request->flags | ASPAWN_COMMAND_SHELL_ON_ENOEXEC,
		.file = request->file,
		.argv = request->argv,
		.envp = request->envp,
		.search_path = request->search_path,
		.actions = request->actions,
		.action_count = (size_t)request->action_count,
		.std_in = (int)request->streams[0],
		.std_out = (int)request->streams[1],
		.std_err = (int)request->streams[2],
		.owner = (int)request->owner,
		.memory = (int)request->memory,
		.pty_rows = (unsigned)request->pty_rows,
		.pty_columns = (unsigned)request->pty_columns,
		.stop_signal = (int)request->stop_signal,
	};
	for (int64_t i = 0; i < request->action_count; i++)
		if (!to_action(&request->actions[i], &request->encoded[i]))
			return false;
	return true;
}

/* Starts a command: 0, 1 if it may still turn out that its program cannot be executed,
 * or a negative error. */
NATIVE(jint, start, jlong at, jbyteArray handle)
{
	struct request *request = (struct request *)(intptr_t)at;
	struct aspawn_command command;
	struct aspawn_failure failure = { .error = 0 };
	struct aspawn_child child;
	char path[LONGEST_PATH];
	bool is_certain;
	int uncertain, error;

	if (!to_command(request, &command))
		return -PSYS_EINVAL;
	is_certain = request->is_certain && !aspawn_find(path, sizeof path, &command, &uncertain) &&
		     uncertain == ASPAWN_STEP_NONE;
	command.pool = &pool;
	command.flags |= ASPAWN_COMMAND_NONBLOCK;
	if (!is_certain)
		command.flags |= ASPAWN_COMMAND_STARTED_FD;
	error = aspawn_start(&child, &command);
	if (error < 0) {
		aspawn_wait_started(&child, &failure, 0);
		explain(request, &failure);
		return error;
	}
	request->descriptors[0] = child.in_fd;
	request->descriptors[1] = child.out_fd;
	request->descriptors[2] = child.err_fd;
	request->descriptors[3] = child.ended_fd;
	request->descriptors[4] = child.started_fd;
	request->descriptors[5] = child.pty_fd;
	request->pid = aspawn_describe(&child, ASPAWN_FACT_PID);
	(*env)->SetByteArrayRegion(env, handle, 0, sizeof child, (const jbyte *)&child);
	return !is_certain;
}

/* --- a child ---------------------------------------------------------------------------- */

static struct aspawn_child copy_in(JNIEnv *env, jbyteArray handle)
{
	struct aspawn_child child;

	(*env)->GetByteArrayRegion(env, handle, 0, sizeof child, (jbyte *)&child);
	return child;
}

static jint copy_out(JNIEnv *env, jbyteArray handle, const struct aspawn_child *child, int result)
{
	(*env)->SetByteArrayRegion(env, handle, 0, sizeof *child, (const jbyte *)child);
	return result;
}

/* aspawn_wait_started(), without waiting. */
NATIVE(jint, waitStarted, jbyteArray handle, jlong at)
{
	struct aspawn_child child = copy_in(env, handle);
	struct aspawn_failure failure;
	const int error = aspawn_wait_started(&child, &failure, 0);

	explain((struct request *)(intptr_t)at, &failure);
	return copy_out(env, handle, &child, error);
}

/* The epoll descriptor of aspawn.Poller, as long as this is loaded. */
static int poller = -1;

/* Before a descriptor is closed, of which a child may hold a copy until its exec. */
static void forget(int fd)
{
	struct psys_epoll_event event = { 0 };

	if (fd >= 0)
		psys_epoll_ctl(poller, PSYS_EPOLL_CTL_DEL, fd, &event);
}

/* Reaps a child that has ended, or waits if it must: its status, or a negative error,
 * as -ETIMEDOUT. */
NATIVE(jint, end, jbyteArray handle, jboolean waits)
{
	struct aspawn_child child = copy_in(env, handle);
	int status = -1, error;

	if (!waits && aspawn_ended(&child) == 0)
		return -PSYS_ETIMEDOUT;
	forget(child.ended_fd);
	forget(child.started_fd);
	error = aspawn_wait(&child, &status, NULL, -1);
	return copy_out(env, handle, &child, status >= 0 ? status : error);
}

#define OF_CHILD(name, call, ...)                                 \
	NATIVE(jint, name, jbyteArray handle, ##__VA_ARGS__)      \
	{                                                         \
		struct aspawn_child child = copy_in(env, handle); \
                                                                  \
		return copy_out(env, handle, &child, call);       \
	}

OF_CHILD(pid, aspawn_pid(&child))
OF_CHILD(kill, aspawn_kill(&child, signal), jint signal)
OF_CHILD(killGroup, aspawn_kill_group(&child, signal), jint signal)
OF_CHILD(killTree, aspawn_kill_tree(&child, grace), jlong grace)
OF_CHILD(resize, aspawn_resize(&child, (unsigned)rows, (unsigned)columns), jint rows, jint columns)

/* --- descriptors ------------------------------------------------------------------------ */

/* Opens the poller's descriptor. Fails with -ENOSYS on a kernel without
 * pidfds (before Linux 5.3). */
NATIVE(jint, open)
{
	int pidfd = psys_pidfd_open(psys_getpid(), 0);

	if (pidfd < 0)
		return pidfd;
	psys_close(pidfd);
	if (poller < 0)
		poller = psys_epoll_create1(PSYS_EPOLL_CLOEXEC);
	return poller;
}

/* Reports events of a descriptor once, with this number. */
NATIVE(jint, watch, jint fd, jint events, jlong number)
{
	struct psys_epoll_event event = { .events = (uint32_t)events | PSYS_EPOLLONESHOT };
	int error;

	event.data = (uint64_t)number;
	error = psys_epoll_ctl(poller, PSYS_EPOLL_CTL_MOD, fd, &event);
	if (error == -PSYS_ENOENT)
		error = psys_epoll_ctl(poller, PSYS_EPOLL_CTL_ADD, fd, &event);
	return error;
}

/* Stores the numbers of descriptors with events. */
NATIVE(jint, events, jlongArray numbers, jint timeout)
{
	enum { MOST = 64 };
	struct psys_epoll_event events[MOST];
	jlong found[MOST];
	const int count =
		psys_epoll_pwait(poller, events, MOST, timeout, NULL, sizeof(struct psys_sigset));

	for (int i = 0; i < count; i++)
		found[i] = (jlong)events[i].data;
	if (count > 0)
		(*env)->SetLongArrayRegion(env, numbers, 0, count, found);
	return count;
}

NATIVE(void, close, jint fd)
{
	forget(fd);
	psys_close(fd);
}

/* 0 is the end, also of a terminal that no process has any more. */
NATIVE(jint, read, jint fd, jbyteArray to, jint from, jint length)
{
	jbyte bytes[PIECE];
	const jint count = (jint)psys_read(fd, bytes, (size_t)(length < PIECE ? length : PIECE));

	if (count > 0)
		(*env)->SetByteArrayRegion(env, to, from, count, bytes);
	return count == -PSYS_EIO ? 0 : count;
}

NATIVE(jint, write, jint fd, jbyteArray of, jint from, jint length)
{
	jbyte bytes[PIECE];
	const jint count = length < PIECE ? length : PIECE;

	(*env)->GetByteArrayRegion(env, of, from, count, bytes);
	return (jint)psys_write(fd, bytes, (size_t)count);
}

/* The bytes that can be read. */
NATIVE(jint, available, jint fd)
{
	int count = 0;

	psys_ioctl(fd, PSYS_FIONREAD, (uintptr_t)&count);
	return count;
}

NATIVE(jint, duplicate, jint fd)
{
	return psys_fcntl(fd, PSYS_F_DUPFD_CLOEXEC, 0);
}

/* Opens a directory, which Java cannot: its path, as bytes with a NUL. */
NATIVE(jint, openDirectory, jbyteArray path)
{
	char name[LONGEST_PATH];
	const jsize length = (*env)->GetArrayLength(env, path);

	if (length > LONGEST_PATH)
		return -PSYS_ENAMETOOLONG;
	(*env)->GetByteArrayRegion(env, path, 0, length, (jbyte *)name);
	return psys_open(name, PSYS_O_RDONLY | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
}

/* Java's ends of pipes do not block, those of programs do. */
NATIVE(void, setBlocking, jint fd, jboolean blocks)
{
	psys_fcntl(fd, PSYS_F_SETFL, blocks ? 0 : PSYS_O_NONBLOCK);
}

/* The number of a java.io.FileDescriptor. */
NATIVE(jint, number, jobject descriptor)
{
	const jclass of = (*env)->GetObjectClass(env, descriptor);
	const jfieldID field = (*env)->GetFieldID(env, of, "fd", "I");

	return field ? (*env)->GetIntField(env, descriptor, field) : -1;
}

NATIVE(jlong, address, jobject buffer)
{
	return (jlong)(intptr_t)(*env)->GetDirectBufferAddress(env, buffer);
}

/* --- a queue ---------------------------------------------------------------------------- */

#define QUEUE ((struct aspawn_queue *)(intptr_t)queue)

/* Its address, or a negative error. */
NATIVE(jlong, queueCreate, jint jobs, jint running, jint bytes)
{
	const struct aspawn_queue_options options = {
		.size = sizeof options,
		.flags = ASPAWN_QUEUE_FD,
		.jobs = (uint32_t)jobs,
		.running = (uint32_t)running,
		.job_bytes = (uint32_t)bytes,
	};
	struct aspawn_queue *queue = NULL;
	const int error = aspawn_queue_create(&queue, &options);

	return error ? error : (jlong)(intptr_t)queue;
}

NATIVE(jint, queueDescriptor, jlong queue)
{
	return aspawn_queue_fd(QUEUE);
}

NATIVE(jlong, queueSubmit, jlong queue, jlong at)
{
	struct request *request = (struct request *)(intptr_t)at;
	struct aspawn_command command;
	const struct aspawn_job job = {
		.size = sizeof job,
		.flags = (uint64_t)request->job_flags,
		.cookie = (uint64_t)request->cookie,
		.command = &command,
		.input = request->input,
		.input_size = (size_t)request->input_size,
		.out_size = (size_t)request->out_size,
		.err_size = (size_t)request->err_size,
		.time_limit_ms = request->time_limit_ms,
		.grace_ms = request->grace_ms,
		.key = (uint32_t)request->key,
		.key_limit = (uint32_t)request->key_limit,
		.priority = (int)request->priority,
	};
	struct aspawn_failure failure = { .error = 0 };
	int64_t ticket;

	if (!to_command(request, &command))
		return -PSYS_EINVAL;
	ticket = aspawn_queue_submit(QUEUE, &job, &failure);
	explain(request, &failure);
	return ticket;
}

NATIVE(void, queueCancel, jlong queue, jlong ticket)
{
	aspawn_queue_cancel(QUEUE, ticket);
}

NATIVE(void, queueClose, jlong queue)
{
	forget(aspawn_queue_fd(QUEUE));
	aspawn_queue_close(QUEUE);
}

/* Stores a copy of the bytes. Returns false without memory. */
static bool set_bytes(JNIEnv *env, jobjectArray array, int at, const void *bytes, size_t length)
{
	jbyteArray to = bytes ? (*env)->NewByteArray(env, (jsize)length) : NULL;

	if (to) {
		(*env)->SetByteArrayRegion(env, to, 0, (jsize)length, bytes);
		(*env)->SetObjectArrayElement(env, array, at, to);
		(*env)->DeleteLocalRef(env, to);
	} else if (bytes) {
		(*env)->ExceptionClear(env);
	}
	return to || !bytes;
}

/* Takes results until the arrays, of aspawn.CommandQueue, are full:
 * so many numbers and arrays of bytes each. */
NATIVE(jint, queueTake, jlong queue, jlongArray numbers, jobjectArray bytes)
{
	enum { MOST = 16, NUMBERS = 16, ARRAYS = 3 };
	const struct aspawn_result *results[MOST];
	const int count = aspawn_queue_wait(QUEUE, results, MOST, 0);

	for (int i = 0; i < count; i++) {
		const struct aspawn_result *of = results[i];
		const int64_t started = of->started_ns ? of->started_ns : of->ended_ns;
		char text[256];
		const size_t length = aspawn_failure_text(text, sizeof text, &of->failure);
		const bool has_output =
			set_bytes(env, bytes, i * ARRAYS, of->out, of->out_length) &&
			set_bytes(env, bytes, i * ARRAYS + 1, of->err, of->err_length) &&
			set_bytes(env, bytes, i * ARRAYS + 2, text, length);
		const jlong values[NUMBERS] = {
			(jlong)of->cookie,
			of->outcome,
			of->status,
			of->failure.error,
			of->failure.step,
			started - of->submitted_ns,
			of->ended_ns - started,
			(jlong)of->out_total,
			(jlong)of->err_total,
			has_output,
			of->cut,
			of->survivors,
			(jlong)of->memory_peak,
			of->usage.ru_utime.tv_sec * 1000000 + of->usage.ru_utime.tv_usec,
			of->usage.ru_stime.tv_sec * 1000000 + of->usage.ru_stime.tv_usec,
			of->usage.ru_maxrss,
		};

		(*env)->SetLongArrayRegion(env, numbers, i * NUMBERS, NUMBERS, values);
	}
	if (count > 0)
		aspawn_queue_release(QUEUE, results, count);
	return count;
}

JNIEXPORT void JNICALL JNI_OnUnload(JavaVM *vm MAYBE_UNUSED, void *reserved MAYBE_UNUSED)
{
	aspawn_pool_release(&pool);
	psys_close(poller);
}
