/* SPDX-License-Identifier: MIT */
/*
 * The library for Java, by JNI: what aspawn.Native declares. It is linked with no libc, and uses
 * none, so one file serves with glibc and with musl.
 *
 * Java writes commands to memory of its own (aspawn.Request), and reads results in the library's:
 * the offsets of members are made from doc/interface.json. A handle is such memory too, which Java
 * lets only one thread at a time use.
 */
#include <jni.h>

#include "aspawn.h"

#define MAYBE_UNUSED __attribute__((unused))
#define NATIVE(type, name, ...)                                                    \
	JNIEXPORT type JNICALL Java_aspawn_Native_##name(JNIEnv *env MAYBE_UNUSED, \
							 jclass class MAYBE_UNUSED, ##__VA_ARGS__)

/* A function that only calls another one. */
#define CALL(type, name, value, ...)      \
	NATIVE(type, name, ##__VA_ARGS__) \
	{                                 \
		return (type)(value);     \
	}

/* What is at an address, and what memory of Java has. */
#define AT(type, address) ((struct type *)(intptr_t)(address))
#define MEMORY(buffer) ((*env)->GetDirectBufferAddress(env, buffer))

CALL(jlong, address, (intptr_t)MEMORY(buffer), jobject buffer)
CALL(jobject, memory, (*env)->NewDirectByteBuffer(env, (void *)(intptr_t)address, size),
     jlong address, jlong size)

/* Memory of children, for all threads. */
static struct aspawn_pool pool;

/* Bytes that a read or a write copies at most. */
enum { PIECE = 16384, LONGEST_PATH = 4096 };

/* --- actions, made by bindings/java/generate ------------------------------------------------ */

/* What Java writes in place of an action: its number in actions.h, then its operands. */
struct encoded_action {
	int64_t number, operands[7];
};

PSYS_ASSERT(an_action_has_the_size_of_its_code,
	    sizeof(struct encoded_action) == sizeof(struct aspawn_action));

static void to_action(struct aspawn_action *action)
{
	struct encoded_action from;
	const int64_t *of = from.operands;

	__builtin_memcpy(&from, action, sizeof from);
	switch (from.number) {
#define ADDRESS(type, i) ((type)(intptr_t)of[i])
#define INTEGER(type, i) ((type)of[i])
#define ACTION(number, name, ...)                            \
	case number:                                         \
		aspawn_action_##name(action, ##__VA_ARGS__); \
		break;
#include "actions.h"
	}
}

/* --- start ------------------------------------------------------------------------------ */

/* As aspawn.Request has it. */
struct request {
	struct aspawn_command command;
	struct aspawn_job job;
	struct aspawn_failure failure; /* a result */
};

static struct request *to_request(jlong at)
{
	struct request *request = AT(request, at);

	for (size_t i = 0; i < request->command.action_count; i++)
		to_action((struct aspawn_action *)(uintptr_t)&request->command.actions[i]);
	return request;
}

/* Starts a command: 0, 1 if it may still turn out that its program cannot be executed,
 * or a negative error. If it is certain, only the file decides that. */
NATIVE(jint, start, jlong at, jboolean is_certain, jobject handle)
{
	struct request *request = to_request(at);
	struct aspawn_command *command = &request->command;
	struct aspawn_child *child = MEMORY(handle);
	char path[LONGEST_PATH];
	int uncertain, error;

	if (is_certain &&
	    (aspawn_find(path, sizeof path, command, &uncertain) || uncertain != ASPAWN_STEP_NONE))
		is_certain = 0;
	command->pool = &pool;
	command->flags |= ASPAWN_COMMAND_NONBLOCK;
	if (!is_certain)
		command->flags |= ASPAWN_COMMAND_STARTED_FD;
	error = aspawn_start(child, command);
	if (error < 0)
		aspawn_wait_started(child, &request->failure, 0);
	return error < 0 ? error : !is_certain;
}

/* Stores what failed, in words, and returns their length. */
CALL(jint, failureText,
     aspawn_failure_text(MEMORY(text), (size_t)(*env)->GetDirectBufferCapacity(env, text),
			 AT(aspawn_failure, failure)),
     jlong failure, jobject text)

/* --- a child ---------------------------------------------------------------------------- */

/* The epoll descriptor of aspawn.Poller, as long as this is loaded. */
static int poller = -1;

/* Before a descriptor is closed, of which a child may hold a copy until its exec. */
static void forget(int fd)
{
	struct psys_epoll_event event = { 0 };

	if (fd >= 0)
		psys_epoll_ctl(poller, PSYS_EPOLL_CTL_DEL, fd, &event);
}

/* Reaps a child that has ended, or waits if it must: its status, or an error, as -ETIMEDOUT. */
NATIVE(jint, end, jobject handle, jboolean waits)
{
	struct aspawn_child *child = MEMORY(handle);
	int status = -1, error;

	if (!waits && aspawn_ended(child) == 0)
		return -PSYS_ETIMEDOUT;
	forget(child->ended_fd);
	forget(child->started_fd);
	error = aspawn_wait(child, &status, NULL, -1);
	return status >= 0 ? status : error;
}

#define OF_CHILD(name, call, ...) CALL(jint, name, call, jobject handle, ##__VA_ARGS__)

OF_CHILD(waitStarted, aspawn_wait_started(MEMORY(handle), AT(aspawn_failure, failure), 0),
	 jlong failure)
OF_CHILD(knownPid, aspawn_describe(MEMORY(handle), ASPAWN_FACT_PID))
OF_CHILD(pid, aspawn_pid(MEMORY(handle)))
OF_CHILD(kill, (toGroup ? aspawn_kill_group : aspawn_kill)(MEMORY(handle), signal), jint signal,
	 jboolean toGroup)
OF_CHILD(killTree, aspawn_kill_tree(MEMORY(handle), grace), jlong grace)
OF_CHILD(resize, aspawn_resize(MEMORY(handle), (unsigned)rows, (unsigned)columns), jint rows,
	 jint columns)

/* --- descriptors ------------------------------------------------------------------------ */

/* Opens the poller's descriptor. Fails with -ENOSYS before Linux 5.3, which has no pidfds. */
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
NATIVE(jint, events, jobject numbers, jint timeout)
{
	enum { MOST = 64 };
	struct psys_epoll_event events[MOST];
	int64_t *found = MEMORY(numbers);
	const int count =
		psys_epoll_pwait(poller, events, MOST, timeout, NULL, sizeof(struct psys_sigset));

	for (int i = 0; i < count; i++)
		found[i] = (int64_t)events[i].data;
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

CALL(jint, duplicate, psys_fcntl(fd, PSYS_F_DUPFD_CLOEXEC, 0), jint fd)

/* Opens a directory, which Java cannot. */
CALL(jint, openDirectory,
     psys_open((const char *)(intptr_t)path, PSYS_O_RDONLY | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0),
     jlong path)

/* Java's ends of pipes do not block, those of programs do. */
CALL(jint, setBlocking, psys_fcntl(fd, PSYS_F_SETFL, blocks ? 0 : PSYS_O_NONBLOCK), jint fd,
     jboolean blocks)

/* The number of a java.io.FileDescriptor. */
NATIVE(jint, number, jobject descriptor)
{
	const jclass of = (*env)->GetObjectClass(env, descriptor);
	const jfieldID field = (*env)->GetFieldID(env, of, "fd", "I");

	return field ? (*env)->GetIntField(env, descriptor, field) : -1;
}

/* --- a queue ---------------------------------------------------------------------------- */

#define QUEUE AT(aspawn_queue, queue)

/* Its address, or a negative error. */
NATIVE(jlong, queueCreate, jobject options)
{
	struct aspawn_queue *queue = NULL;
	const int error = aspawn_queue_create(&queue, MEMORY(options));

	return error ? error : (jlong)(intptr_t)queue;
}

CALL(jint, queueDescriptor, aspawn_queue_fd(QUEUE), jlong queue)
CALL(jint, queueCancel, aspawn_queue_cancel(QUEUE, ticket), jlong queue, jlong ticket)

/* Stores the addresses of results, and does not wait. */
CALL(jint, queueWait, aspawn_queue_wait(QUEUE, MEMORY(results), most, 0), jlong queue,
     jobject results, jint most)
CALL(jint, queueRelease, aspawn_queue_release(QUEUE, MEMORY(results), count), jlong queue,
     jobject results, jint count)

NATIVE(jlong, queueSubmit, jlong queue, jlong at)
{
	struct request *request = to_request(at);

	return aspawn_queue_submit(QUEUE, &request->job, &request->failure);
}

NATIVE(void, queueClose, jlong queue)
{
	forget(aspawn_queue_fd(QUEUE));
	aspawn_queue_close(QUEUE);
}

JNIEXPORT void JNICALL JNI_OnUnload(JavaVM *vm MAYBE_UNUSED, void *reserved MAYBE_UNUSED)
{
	aspawn_pool_release(&pool);
	psys_close(poller);
}
