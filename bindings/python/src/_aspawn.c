/* SPDX-License-Identifier: MIT */
/*
 * The library for Python: Child is a command that has been started, its handle, and Queue is the
 * queue. What the parameters of subprocess.Popen mean as members and actions is decided in Python.
 * generate.py makes _tables.h of the description of the interface: a row for each action, and for
 * each member of a structure.
 *
 * The limited API of Python 3.9: one build works with each later version. What a call needs only
 * until it returns are objects in a list of its own, kept, which frees all of them at once. Nothing
 * here needs more of a libc than what glibc and musl share.
 */
#define _GNU_SOURCE /* environ */
#include <Python.h>

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <structmember.h>
#include <unistd.h>

#include "aspawn.h"

/* Py_RETURN_NONE takes no reference to None in the headers of 3.12 and later, whose None is not
 * counted, and the module also runs in earlier ones: "Fatal Python error: none_dealloc". */
#undef Py_RETURN_NONE

/* --- results ---------------------------------------------------------------------- */

/* A tuple of step, error number and text, or None if nothing failed. */
static PyObject *failure_of(const struct aspawn_failure *failure)
{
	char text[256];

	aspawn_failure_text(text, sizeof text, failure);
	return failure->error ? Py_BuildValue("iiy", failure->step, -failure->error, text) :
				Py_BuildValue("");
}

/* A number, or NULL and an OSError. In the place of its text is failure_of(), unless failure is
 * NULL or empty. */
static PyObject *result_of(int64_t r, const struct aspawn_failure *failure)
{
	PyObject *arguments;

	if (r >= 0)
		return PyLong_FromLongLong(r);
	errno = (int)-r;
	if (!failure || !failure->error)
		return PyErr_SetFromErrno(PyExc_OSError);
	arguments = Py_BuildValue("iN", errno, failure_of(failure));
	if (arguments)
		PyErr_SetObject(PyExc_OSError, arguments);
	Py_XDECREF(arguments);
	return NULL;
}

/* A format with # has a size of another type in a module that was compiled by another Python. */
static PyObject *bytes_of(const char *bytes, size_t size)
{
	return bytes ? PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size) : Py_BuildValue("");
}

/* --- values: of Python's objects ---------------------------------------------------- */

/* What the O& of a format stores that is an address. */
struct operand {
	PyObject *kept; /* the list that owns it */
	void *p;
	size_t count; /* of bytes, or of actions */
};

/* Returns the object, which kept owns then, or NULL with an exception. */
static PyObject *keep(PyObject *kept, PyObject *object)
{
	int r = object ? PyList_Append(kept, object) : -1;

	Py_XDECREF(object);
	return r < 0 ? NULL : object;
}

/* Returns size bytes, zeroed, that kept owns, or NULL with an exception. */
static void *allocate(PyObject *kept, size_t size)
{
	PyObject *bytes = keep(kept, PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size));

	return bytes ? memset(PyBytes_AsString(bytes), 0, size) : NULL;
}

static long long number_of(PyObject *object, long long low, long long high)
{
	long long number = PyLong_AsLongLong(object);

	if ((number < low || number > high) && !PyErr_Occurred())
		PyErr_Format(PyExc_OverflowError, "%lld is not from %lld to %lld", number, low,
			     high);
	return number;
}

/* The functions of O&. They return 0 with an exception. Of unsigned numbers -1 is the highest. */

static int to_unsigned(PyObject *object, void *to)
{
	*(unsigned *)to = (unsigned)number_of(object, -1, UINT_MAX);
	return !PyErr_Occurred();
}

static int to_word(PyObject *object, void *to)
{
	int overflow;
	long long number = PyLong_AsLongLongAndOverflow(object, &overflow);

	if (overflow < 0 || number < -1)
		PyErr_Format(PyExc_OverflowError, "%R is not from -1 to 2**64 - 1", object);
	*(uint64_t *)to = overflow > 0 ? PyLong_AsUnsignedLongLong(object) : (uint64_t)number;
	return !PyErr_Occurred();
}

/* An object with fileno() is one too. */
static int to_descriptor(PyObject *object, void *to)
{
	*(int *)to = PyObject_AsFileDescriptor(object);
	return *(int *)to >= 0;
}

static int to_directory(PyObject *object, void *to)
{
	if (object != Py_None)
		return to_descriptor(object, to);
	*(int *)to = PSYS_AT_FDCWD;
	return 1;
}

/* A str in the file system's encoding, bytes or a path. */
static int to_string(PyObject *object, void *to)
{
	struct operand *operand = to;
	PyObject *bytes = NULL;

	PyUnicode_FSConverter(object, &bytes);
	bytes = keep(operand->kept, bytes);
	operand->p = bytes ? PyBytes_AsString(bytes) : NULL;
	return bytes != NULL;
}

static int to_optional_string(PyObject *object, void *to)
{
	return object == Py_None || to_string(object, to);
}

static int to_bytes(PyObject *object, void *to)
{
	struct operand *operand = to;
	Py_ssize_t size = 0;

	if (PyBytes_AsStringAndSize(object, (char **)&operand->p, &size) < 0)
		return 0;
	operand->count = (size_t)size;
	return PyList_Append(operand->kept, object) == 0;
}

/* A bytearray that the start stores an int to. */
static int to_result(PyObject *object, void *to)
{
	if (PyByteArray_Check(object) && PyByteArray_Size(object) == sizeof(int))
		((struct operand *)to)->p = PyByteArray_AsString(object);
	return 1;
}

/* Allocates what any iterable that is no string has items for, and one more. Returns a tuple of
 * them, which kept owns, or NULL with an exception. */
static PyObject *to_items(PyObject *object, struct operand *to, size_t size)
{
	PyObject *tuple = NULL;

	if (PyUnicode_Check(object) || PyBytes_Check(object))
		PyErr_SetString(PyExc_TypeError, "expected a sequence, not a string");
	else
		tuple = keep(to->kept, PySequence_Tuple(object));
	to->count = tuple ? (size_t)PyTuple_Size(tuple) : 0;
	to->p = tuple ? allocate(to->kept, (to->count + 1) * size) : NULL;
	return to->p ? tuple : NULL;
}

static int to_strings(PyObject *object, void *to)
{
	struct operand *operand = to, string = { operand->kept, NULL, 0 };
	PyObject *tuple = to_items(object, operand, sizeof(char *));

	for (size_t i = 0; tuple && i < operand->count; i++) {
		if (!to_string(PyTuple_GetItem(tuple, (Py_ssize_t)i), &string))
			return 0;
		((const char **)operand->p)[i] = string.p;
	}
	return tuple != NULL;
}

static int to_actions(PyObject *object, void *to);
static int to_command(PyObject *members, void *to);

struct maker {
	const char *name; /* NULL: no more */
	int (*make)(PyObject *kept, PyObject *args, struct aspawn_action *to);
};

#include "_tables.h"

/* An action is a tuple: its name, and its arguments. */
static int make_action(PyObject *kept, PyObject *tuple, struct aspawn_action *to)
{
	const struct maker *maker = makers;
	PyObject *name = PyTuple_Check(tuple) ? PyTuple_GetItem(tuple, 0) : NULL;

	if (!name || !PyUnicode_Check(name)) {
		PyErr_Format(PyExc_TypeError, "no action: %R", tuple);
		return 0;
	}
	while (maker->name && PyUnicode_CompareWithASCIIString(name, maker->name) != 0)
		maker++;
	if (!maker->name) {
		PyErr_Format(PyExc_ValueError, "no such action: %R", name);
		return 0;
	}
	tuple = keep(kept, PyTuple_GetSlice(tuple, 1, PY_SSIZE_T_MAX));
	return tuple && maker->make(kept, tuple, to);
}

static int to_actions(PyObject *object, void *to)
{
	struct operand *operand = to;
	PyObject *tuple = to_items(object, operand, sizeof(struct aspawn_action));

	for (size_t i = 0; tuple && i < operand->count; i++)
		if (!make_action(operand->kept, PyTuple_GetItem(tuple, (Py_ssize_t)i),
				 (struct aspawn_action *)operand->p + i))
			return 0;
	return tuple != NULL;
}

/* A dict of its members. */
static int to_command(PyObject *members, void *to)
{
	struct operand *operand = to;
	PyObject *args = keep(operand->kept, PyTuple_New(0));

	operand->p = args ? allocate(operand->kept, sizeof(struct aspawn_command)) : NULL;
	return operand->p && set_command(operand->kept, args, members, operand->p);
}

/* --- children ----------------------------------------------------------------------- */

typedef struct {
	PyObject ob_base;
	struct aspawn_child child;
} Child;

static struct aspawn_pool pool; /* Needs no lock, and works after fork(2). */

static void free_object(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
	Py_DECREF(type);
}

static void child_dealloc(PyObject *self)
{
	aspawn_release(&((Child *)self)->child);
	free_object(self);
}

/* The environment, copied: another thread may change it as soon as the global lock is released. */
static char **copy_environment(PyObject *kept)
{
	size_t count = 0, size = 0, length;
	char **strings, *end;

	while (environ && environ[count])
		size += strlen(environ[count++]) + 1;
	strings = allocate(kept, (count + 1) * sizeof *strings + size);
	end = (char *)(strings + count + 1);
	for (size_t i = 0; strings && i < count; i++, end += length) {
		length = strlen(environ[i]) + 1;
		strings[i] = memcpy(end, environ[i], length);
	}
	return strings;
}

/* Child(**members of struct aspawn_command): starts it, and returns before the program executes. */
static PyObject *child_new(PyTypeObject *type, PyObject *args, PyObject *members)
{
	PyObject *kept = PyList_New(0), *self = kept ? PyType_GenericNew(type, NULL, NULL) : NULL;
	struct aspawn_command command = { .pool = &pool };
	struct aspawn_failure failure;
	int r = -1;

	if (self && set_command(kept, args, members, &command) &&
	    (command.envp || (command.envp = copy_environment(kept)))) {
		Py_BEGIN_ALLOW_THREADS;
		r = aspawn_start(&((Child *)self)->child, &command);
		Py_END_ALLOW_THREADS;
		if (r < 0) {
			aspawn_wait_started(&((Child *)self)->child, &failure, 0);
			result_of(r, &failure);
		}
	}
	if (r < 0)
		Py_CLEAR(self);
	Py_XDECREF(kept);
	return self;
}

/* wait_started(timeout_ms): None when the program executes, or failure_of() the child.
 * TimeoutError: neither has happened. No other method may be called meanwhile. */
static PyObject *child_wait_started(PyObject *self, PyObject *timeout)
{
	long long ms = number_of(timeout, -1, INT_MAX);
	struct aspawn_failure failure;
	int r;

	if (PyErr_Occurred())
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	r = aspawn_wait_started(&((Child *)self)->child, &failure, ms);
	Py_END_ALLOW_THREADS;
	return r < 0 && r != -ECANCELED ? result_of(r, NULL) : failure_of(&failure);
}

/* wait(): None while the child runs. Otherwise it is reaped: the status as of os.waitpid(), -1 if
 * that is not known, and the error number of a tree that has not ended, or 0. */
static PyObject *child_wait(PyObject *self, PyObject *unused)
{
	int status = -1, r = aspawn_wait(&((Child *)self)->child, &status, NULL, 0);

	(void)unused;
	if (r == -ETIMEDOUT)
		return Py_BuildValue("");
	if (r == -ENOTEMPTY || r == -EOWNERDEAD)
		return Py_BuildValue("ii", status, -r);
	return r == 0 || r == -ECANCELED ? Py_BuildValue("ii", status, 0) : result_of(r, NULL);
}

/* The functions of a child, with a number or without. */
#define METHOD(name, ...)                                                                           \
	static PyObject *child_##name(PyObject *self, PyObject *argument)                           \
	{                                                                                           \
		int number = argument ? (int)number_of(argument, -1, INT_MAX) : 0;                  \
                                                                                                    \
		(void)number;                                                                       \
		return PyErr_Occurred() ?                                                           \
			       NULL :                                                               \
			       result_of(aspawn_##name(&((Child *)self)->child __VA_ARGS__), NULL); \
	}
METHOD(release)
METHOD(kill, , number)
METHOD(kill_group, , number)
METHOD(kill_tree, , number)
METHOD(describe, , number)

/* resize(rows, columns). The "I" of a format takes numbers modulo 2**32. */
static PyObject *child_resize(PyObject *self, PyObject *arguments)
{
	struct aspawn_child *child = &((Child *)self)->child;
	int rows, columns;

	if (!PyArg_ParseTuple(arguments, "ii", &rows, &columns))
		return NULL;
	return result_of(aspawn_resize(child, (unsigned)rows, (unsigned)columns), NULL);
}

static PyMethodDef child_methods[] = { { "wait_started", child_wait_started, METH_O, NULL },
				       { "wait", child_wait, METH_NOARGS, NULL },
				       { "release", child_release, METH_NOARGS, NULL },
				       { "kill", child_kill, METH_O, NULL },
				       { "kill_group", child_kill_group, METH_O, NULL },
				       { "kill_tree", child_kill_tree, METH_O, NULL },
				       { "describe", child_describe, METH_O, NULL },
				       { "resize", child_resize, METH_VARARGS, NULL },
				       { NULL, NULL, 0, NULL } };
static PyMemberDef child_fields[] = {
	{ "ended_fd", T_INT, offsetof(Child, child.ended_fd), READONLY, NULL },
	{ "started_fd", T_INT, offsetof(Child, child.started_fd), READONLY, NULL },
	{ "pty_fd", T_INT, offsetof(Child, child.pty_fd), READONLY, NULL },
	{ NULL, 0, 0, 0, NULL }
};
#define TYPE(name, type)                                                             \
	static PyType_Slot name##_slots[] = { { Py_tp_new, name##_new },             \
					      { Py_tp_dealloc, name##_dealloc },     \
					      { Py_tp_methods, name##_methods },     \
					      { Py_tp_members, name##_fields },      \
					      { 0, NULL } };                         \
	static PyType_Spec name##_spec = { "aspawn._aspawn." #type, sizeof(type), 0, \
					   Py_TPFLAGS_DEFAULT, name##_slots };
TYPE(child, Child)

/* --- the queue -----------------------------------------------------------------------
 *
 * Only take(True) waits for jobs, without the lock of the interpreter; an event loop polls fd. The
 * lock also makes the other methods safe for threads, close() included. */

typedef struct {
	PyObject ob_base;
	struct aspawn_queue *queue; /* NULL: closed */
	int fd;
} Queue;

enum { BATCH = 64 }; /* results that one take() returns */

/* Returns the queue, or NULL with an exception. After the arguments, whose conversion may run code
 * that closes the queue. */
static struct aspawn_queue *queue_of(PyObject *self)
{
	struct aspawn_queue *queue = PyErr_Occurred() ? NULL : ((Queue *)self)->queue;

	if (!queue && !PyErr_Occurred())
		PyErr_SetString(PyExc_ValueError, "the queue is closed");
	return queue;
}

/* Queue(**members of struct aspawn_queue_options) */
static PyObject *queue_new(PyTypeObject *type, PyObject *args, PyObject *members)
{
	struct aspawn_queue_options options = { 0 };
	PyObject *kept = PyList_New(0), *self = kept ? PyType_GenericNew(type, NULL, NULL) : NULL;
	Queue *queue = (Queue *)self;
	int r = -1;

	if (self && set_queue_options(kept, args, members, &options)) {
		options.flags |= ASPAWN_QUEUE_FD;
		Py_BEGIN_ALLOW_THREADS;
		r = aspawn_queue_create(&queue->queue, &options);
		Py_END_ALLOW_THREADS;
		if (r < 0)
			result_of(r, NULL);
		else
			queue->fd = aspawn_queue_fd(queue->queue);
	}
	if (r < 0)
		Py_CLEAR(self);
	Py_XDECREF(kept);
	return self;
}

/* submit(**members of struct aspawn_job): the ticket; with prepared=-1 the command is only
 * prepared: its number. Without envp the library copies environ, which nobody changes under the
 * lock. BlockingIOError: the queue is full. */
static PyObject *queue_submit(PyObject *self, PyObject *args, PyObject *members)
{
	struct aspawn_job job = { 0 };
	PyObject *kept = PyList_New(0), *ticket = NULL;
	struct aspawn_queue *queue =
		kept && set_job(kept, args, members, &job) ? queue_of(self) : NULL;
	struct aspawn_failure failure;

	if (queue)
		ticket = result_of(job.prepared < 0 ?
					   aspawn_queue_prepare(queue, job.command, &failure) :
					   aspawn_queue_submit(queue, &job, &failure),
				   &failure);
	Py_XDECREF(kept);
	return ticket;
}

/* A dict of the members of struct aspawn_result, and its text. */
static PyObject *job_result_of(const struct aspawn_result *result)
{
	char text[320];

	aspawn_result_text(text, sizeof text, result);
	return Py_BuildValue("{sy" RESULT_FORMAT "}", "text", text, RESULT_VALUES(result));
}

/* take(wait): a list of results, at most BATCH. Without waiting, and shorter: fd is not readable
 * until there are more. With it: at least one, if there are jobs; other methods but close() may be
 * called meanwhile. */
static PyObject *queue_take(PyObject *self, PyObject *wait)
{
	const struct aspawn_result *results[BATCH];
	struct aspawn_queue *queue = queue_of(self);
	PyThreadState *thread = queue && wait == Py_True ? PyEval_SaveThread() : NULL;
	int count = queue ? aspawn_queue_wait(queue, results, BATCH, thread ? -1 : 0) : 0;
	PyObject *list, *result;

	if (thread)
		PyEval_RestoreThread(thread);
	if (!queue || (count < 0 && count != -ECHILD))
		return queue ? result_of(count, NULL) : NULL;
	list = PyList_New(0);
	for (int i = 0; list && i < count; i++) {
		result = job_result_of(results[i]);
		if (!result || PyList_Append(list, result) < 0)
			Py_CLEAR(list);
		Py_XDECREF(result);
	}
	if (count > 0)
		aspawn_queue_release(queue, results, count);
	return list;
}

/* cancel(ticket). ProcessLookupError: the job has ended. */
static PyObject *queue_cancel(PyObject *self, PyObject *number)
{
	long long ticket = PyLong_AsLongLong(number);
	struct aspawn_queue *queue = queue_of(self);

	return queue ? result_of(aspawn_queue_cancel(queue, ticket), NULL) : NULL;
}

static PyObject *queue_close(PyObject *self, PyObject *unused)
{
	struct aspawn_queue *queue = ((Queue *)self)->queue;

	(void)unused;
	((Queue *)self)->queue = NULL;
	((Queue *)self)->fd = -1;
	Py_BEGIN_ALLOW_THREADS;
	aspawn_queue_close(queue);
	Py_END_ALLOW_THREADS;
	return Py_BuildValue("");
}

static void queue_dealloc(PyObject *self)
{
	Py_DECREF(queue_close(self, NULL));
	free_object(self);
}

static PyMethodDef queue_methods[] = { { "submit", (PyCFunction)(void (*)(void))queue_submit,
					 METH_VARARGS | METH_KEYWORDS, NULL },
				       { "take", queue_take, METH_O, NULL },
				       { "cancel", queue_cancel, METH_O, NULL },
				       { "close", queue_close, METH_NOARGS, NULL },
				       { NULL, NULL, 0, NULL } };
static PyMemberDef queue_fields[] = { { "fd", T_INT, offsetof(Queue, fd), READONLY, NULL },
				      { NULL, 0, 0, 0, NULL } };
TYPE(queue, Queue)

/* --- the module ----------------------------------------------------------------------- */

/* kill_cgroup(fd) */
static PyObject *kill_cgroup(PyObject *module, PyObject *object)
{
	int fd = PyObject_AsFileDescriptor(object);

	(void)module;
	return fd < 0 ? NULL : result_of(aspawn_kill_cgroup(fd), NULL);
}

static PyMethodDef functions[] = { { "kill_cgroup", kill_cgroup, METH_O, NULL },
				   { NULL, NULL, 0, NULL } };

static int execute(PyObject *module)
{
	PyObject *child = PyType_FromSpec(&child_spec), *queue = PyType_FromSpec(&queue_spec);

	return child && queue && PyModule_AddObject(module, "Child", child) == 0 &&
			       PyModule_AddObject(module, "Queue", queue) == 0 ?
		       PyModule_AddIntConstant(module, "BATCH", BATCH) :
		       -1;
}

/* Nothing here belongs to one interpreter, so each may have a module, also with a lock of its own.
 * The second slot, which says that, is for 3.12 and later: older versions know no such slot. */
enum { MULTIPLE_INTERPRETERS = 3, WITH_OWN_LOCK = 2 };
static PyModuleDef_Slot slots[] = { { Py_mod_exec, execute }, { 0, NULL }, { 0, NULL } };
static struct PyModuleDef definition = { .m_base = PyModuleDef_HEAD_INIT,
					 .m_name = "aspawn._aspawn",
					 .m_methods = functions,
					 .m_slots = slots };

PyMODINIT_FUNC PyInit__aspawn(void)
{
	if (PyLong_AsLong(PySys_GetObject("hexversion")) >= 0x030c0000)
		slots[1] = (PyModuleDef_Slot){ MULTIPLE_INTERPRETERS, (void *)WITH_OWN_LOCK };
	return PyModuleDef_Init(&definition);
}
