/* SPDX-License-Identifier: MIT */
/*
 * The library for Python: start() starts a command and returns a Child, the handle. What the
 * parameters of subprocess.Popen mean as members and actions is decided in Python, in _popen.py. The
 * queue is in _queue.c.
 *
 * The limited API of Python 3.9: one build works with each later version. What a call needs only
 * until it returns are objects in a list of its own, kept, which frees all of them at once. Nothing
 * here needs more of a libc than what glibc and musl share.
 */
#define _GNU_SOURCE /* environ */
#include "_aspawn.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <structmember.h>
#include <unistd.h>

/* The memory of children until their exec. Needs no lock, and works after fork(2). */
static struct aspawn_pool pool;

/* --- the handle ------------------------------------------------------------------- */

typedef struct {
	PyObject ob_base;
	struct aspawn_child child;
	int in_use; /* a thread without the global lock uses the handle */
} Child;

static PyObject *type_of_children; /* the reference of the module */

/* Returns the handle, or NULL with an exception. */
static struct aspawn_child *handle_of(PyObject *self)
{
	Child *object = (Child *)self;

	if (object->in_use) {
		PyErr_SetString(PyExc_RuntimeError, "another thread uses this child");
		return NULL;
	}
	return &object->child;
}

enum { SIGNALS_MS = 100 }; /* how often a wait looks for Ctrl-C */

PyDoc_STRVAR(wait_started_doc,
	     "wait_started($self, timeout_ms, /)\n--\n\n"
	     "Wait until the program executes: None. Or until the child fails: a tuple of the\n"
	     "step, the error number, the kind of action, and what failed, as for\n"
	     "failure_text(). -1: no limit. TimeoutError: neither has happened.");
static PyObject *child_wait_started(PyObject *self, PyObject *timeout)
{
	struct aspawn_child *child = handle_of(self);
	struct aspawn_failure failure;
	PyThreadState *thread;
	long long ms;
	int r;

	if (!child)
		return NULL;
	ms = to_number(timeout, -1, INT_MAX);
	if (ms < -1)
		return NULL;
	r = aspawn_wait_started(child, &failure, 0);
	while (r == -ETIMEDOUT && ms != 0) {
		((Child *)self)->in_use = 1;
		thread = PyEval_SaveThread();
		r = aspawn_wait_started(child, &failure, ms < 0 ? SIGNALS_MS : ms);
		PyEval_RestoreThread(thread);
		((Child *)self)->in_use = 0;
		if (ms > 0)
			break;
		if (r == -ETIMEDOUT && PyErr_CheckSignals() < 0)
			return NULL;
	}
	return r < 0 && r != -ECANCELED ? raise_error(r, NULL) : failure_of(&failure);
}

PyDoc_STRVAR(wait_doc, "wait($self, /)\n--\n\n"
		       "The status as of os.waitpid() and the child is reaped; or None while it\n"
		       "runs. ChildProcessError: somebody else has reaped it.");
static PyObject *child_wait(PyObject *self, PyObject *unused)
{
	struct aspawn_child *child = handle_of(self);
	int status = 0, r;

	(void)unused;
	if (!child)
		return NULL;
	r = aspawn_wait(child, &status, NULL, 0);
	if (r == -ETIMEDOUT)
		return none();
	return r == 0 || r == -ECANCELED ? PyLong_FromLong(status) : raise_error(r, NULL);
}

static PyObject *send(PyObject *self, PyObject *signal, int (*function)(struct aspawn_child *, int))
{
	struct aspawn_child *child = handle_of(self);
	long long number = child ? to_number(signal, 0, INT_MAX) : -1;

	return number < 0 ? NULL : done(function(child, (int)number));
}

PyDoc_STRVAR(kill_doc, "kill($self, signal, /)\n--\n\nSend the signal to the child.");
static PyObject *child_kill(PyObject *self, PyObject *signal)
{
	return send(self, signal, aspawn_kill);
}

PyDoc_STRVAR(kill_group_doc, "kill_group($self, signal, /)\n--\n\n"
			     "Send the signal to the process group that the child leads, or to the\n"
			     "child alone.");
static PyObject *child_kill_group(PyObject *self, PyObject *signal)
{
	return send(self, signal, aspawn_kill_group);
}

PyDoc_STRVAR(release_doc,
	     "release($self, /)\n--\n\n"
	     "Close ended_fd and started_fd, and give the memory back: for a child that\n"
	     "is reaped by os.waitpid().");
static PyObject *child_release(PyObject *self, PyObject *unused)
{
	struct aspawn_child *child = handle_of(self);

	(void)unused;
	return child ? done(aspawn_release(child)) : NULL;
}

PyDoc_STRVAR(describe_doc, "describe($self, fact, /)\n--\n\nA constants.Fact of the child.");
static PyObject *child_describe(PyObject *self, PyObject *fact)
{
	struct aspawn_child *child = handle_of(self);
	long long number = child ? to_number(fact, 0, INT_MAX) : -1;

	return number < 0 ? NULL : PyLong_FromLong(aspawn_describe(child, (int)number));
}

/* None: there is no child, or not any more. */
static PyObject *child_pid(PyObject *self, void *unused)
{
	struct aspawn_child *child = handle_of(self);
	int r = child ? aspawn_pid(child) : 0;

	(void)unused;
	return !child ? NULL : r > 0 ? PyLong_FromLong(r) : none();
}

static void child_dealloc(PyObject *self)
{
	aspawn_release(&((Child *)self)->child);
	free_object(self);
}

PyObject *child_type(void)
{
	static PyMethodDef methods[] = { { "wait_started", child_wait_started, METH_O,
					   wait_started_doc },
					 { "wait", child_wait, METH_NOARGS, wait_doc },
					 { "kill", child_kill, METH_O, kill_doc },
					 { "kill_group", child_kill_group, METH_O, kill_group_doc },
					 { "describe", child_describe, METH_O, describe_doc },
					 { "release", child_release, METH_NOARGS, release_doc },
					 { NULL, NULL, 0, NULL } };
	static PyMemberDef members[] = {
		{ "ended_fd", T_INT, offsetof(Child, child.ended_fd), READONLY, NULL },
		{ "started_fd", T_INT, offsetof(Child, child.started_fd), READONLY, NULL },
		{ NULL, 0, 0, 0, NULL }
	};
	static PyGetSetDef getters[] = { { "pid", child_pid, NULL, NULL, NULL },
					 { NULL, NULL, NULL, NULL, NULL } };
	static PyType_Slot slots[] = { { Py_tp_dealloc, child_dealloc },
				       { Py_tp_methods, methods },
				       { Py_tp_members, members },
				       { Py_tp_getset, getters },
				       { Py_tp_doc, "The handle of a child, from start()." },
				       { 0, NULL } };
	static PyType_Spec spec = { "aspawn._aspawn.Child", sizeof(Child), 0, Py_TPFLAGS_DEFAULT,
				    slots };

	return type_of_children = PyType_FromSpec(&spec);
}

/* --- functions -------------------------------------------------------------------- */

/* The caller's environment, copied: another thread may change it as soon as the global lock is
 * released. */
static int copy_environment(PyObject *kept, char *const **to)
{
	size_t count = 0, size = 0, length;
	char **strings, *end;

	while (environ && environ[count])
		size += strlen(environ[count++]) + 1;
	strings = allocate(kept, (count + 1) * sizeof *strings + size);
	if (!strings)
		return 0;
	end = (char *)(strings + count + 1);
	for (size_t i = 0; i < count; i++, end += length) {
		length = strlen(environ[i]) + 1;
		strings[i] = memcpy(end, environ[i], length);
	}
	*to = strings;
	return 1;
}

PyDoc_STRVAR(start_doc, "start(**command)\n--\n\n"
			"Start a command, of the members of struct aspawn_command, and return its\n"
			"Child: before the program executes. An OSError has a `failure`.");
static PyObject *start(PyObject *module, PyObject *args, PyObject *members)
{
	struct aspawn_command command = { .size = sizeof command, .pool = &pool };
	struct aspawn_failure failure;
	PyObject *kept = PyList_New(0), *object = NULL;
	PyThreadState *thread;
	int r;

	(void)module;
	(void)args;
	if (kept && fill(kept, members, command_members, &command) &&
	    (command.envp || copy_environment(kept, &command.envp)))
		object = new_object((PyTypeObject *)type_of_children);
	if (object) {
		struct aspawn_child *child = &((Child *)object)->child;

		thread = PyEval_SaveThread();
		r = aspawn_start(child, &command);
		PyEval_RestoreThread(thread);
		if (r < 0) {
			aspawn_wait_started(child, &failure, 0);
			Py_CLEAR(object);
			raise_error(r, &failure);
		}
	}
	Py_XDECREF(kept);
	return object;
}

PyDoc_STRVAR(kill_cgroup_doc,
	     "kill_cgroup(fd, /)\n--\n\n"
	     "Send SIGKILL to every process of the control group (version 2) whose\n"
	     "directory is open as fd, and of all groups below.");
static PyObject *kill_cgroup(PyObject *module, PyObject *object)
{
	int fd = PyObject_AsFileDescriptor(object);

	(void)module;
	return fd < 0 ? NULL : done(aspawn_kill_cgroup(fd));
}

PyDoc_STRVAR(failure_text_doc, "failure_text(step, errno, kind, subject, /)\n--\n\n"
			       "The text, as bytes, of what Child.wait_started() returns.");
static PyObject *failure_text(PyObject *module, PyObject *args)
{
	struct aspawn_failure failure = { 0 };
	const char *subject;
	char text[256];

	(void)module;
	if (!PyArg_ParseTuple(args, "iiIy", &failure.step, &failure.error, &failure.kind, &subject))
		return NULL;
	failure.error = -failure.error;
	strncpy(failure.subject, subject, sizeof failure.subject - 1);
	aspawn_failure_text(text, sizeof text, &failure);
	return PyBytes_FromString(text);
}

PyMODINIT_FUNC PyInit__aspawn(void)
{
	static PyMethodDef functions[] = { { "start", WITH_KEYWORDS(start), start_doc },
					   { "failure_text", failure_text, METH_VARARGS,
					     failure_text_doc },
					   { "kill_cgroup", kill_cgroup, METH_O, kill_cgroup_doc },
					   { NULL, NULL, 0, NULL } };
	static struct PyModuleDef definition = { .m_base = PyModuleDef_HEAD_INIT,
						 .m_name = "aspawn._aspawn",
						 .m_doc = "The library: see the package aspawn.",
						 .m_size = -1,
						 .m_methods = functions };
	PyObject *module = PyModule_Create(&definition), *child = child_type(),
		 *queue = queue_type();

	Py_XINCREF(child); /* type_of_children's */
	if (!module || !child || !queue || PyModule_AddObject(module, "Child", child) < 0 ||
	    PyModule_AddObject(module, "Queue", queue) < 0 ||
	    PyModule_AddIntConstant(module, "BATCH", BATCH) < 0)
		return NULL;
	return module;
}
