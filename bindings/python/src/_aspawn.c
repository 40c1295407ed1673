/* SPDX-License-Identifier: MIT */
/*
 * The library for Python: start() starts a command and returns a Child, the handle. What the
 * parameters of subprocess.Popen mean as actions is decided in Python, in popen.py. The queue is in
 * _queue.c.
 *
 * The limited API of Python 3.9: one build works with each later version. What a call needs only
 * until it returns are bytes objects in a list of its own, which frees all of them at once.
 */
#define _GNU_SOURCE /* environ */
#include "_aspawn.h"

#include <errno.h>
#include <limits.h>
#include <structmember.h>
#include <unistd.h>

/* The memory of children until their exec. Needs no lock, and works after fork(2). */
static struct aspawn_pool pool;

PyObject *raise_error(int r)
{
	errno = -r;
	return PyErr_SetFromErrno(PyExc_OSError);
}

PyObject *none(void)
{
	Py_IncRef(Py_None);
	return Py_None;
}

/* --- from Python's objects to C --------------------------------------------------- */

void *allocate(PyObject *kept, size_t size)
{
	PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
	int r = bytes ? PyList_Append(kept, bytes) : -1;

	Py_XDECREF(bytes); /* kept has a reference */
	return r < 0 ? NULL : memset(PyBytes_AsString(bytes), 0, size);
}

const char *to_string(PyObject *kept, PyObject *object)
{
	PyObject *bytes;
	int r;

	if (!PyUnicode_FSConverter(object, &bytes))
		return NULL;
	r = PyList_Append(kept, bytes);
	Py_DECREF(bytes);
	return r < 0 ? NULL : PyBytes_AsString(bytes);
}

/* A tuple of what any sequence or other iterable has; a new reference. */
static PyObject *to_tuple(PyObject *object)
{
	if (PyUnicode_Check(object) || PyBytes_Check(object)) {
		PyErr_SetString(PyExc_TypeError, "expected a sequence, not a string");
		return NULL;
	}
	return PySequence_Tuple(object);
}

int to_strings(PyObject *kept, PyObject *object, char *const **to)
{
	PyObject *tuple = to_tuple(object);
	const char **strings;
	Py_ssize_t count;

	if (!tuple)
		return 0;
	count = PyTuple_Size(tuple);
	strings = allocate(kept, ((size_t)count + 1) * sizeof *strings);
	for (Py_ssize_t i = 0; strings && i < count; i++) {
		strings[i] = to_string(kept, PyTuple_GetItem(tuple, i));
		if (!strings[i])
			strings = NULL;
	}
	Py_DECREF(tuple);
	*to = (char *const *)(uintptr_t)strings;
	return strings != NULL;
}

/* The caller's environment, copied: another thread may change it as soon as the global lock is
 * released. */
static int copy_environment(PyObject *kept, char *const **to)
{
	size_t count = 0, size = 0;
	char **strings, *end;

	while (environ && environ[count])
		size += strlen(environ[count++]) + 1;
	strings = allocate(kept, (count + 1) * sizeof *strings + size);
	if (!strings)
		return 0;
	end = (char *)(strings + count + 1);
	for (size_t i = 0; i < count; i++) {
		strings[i] = end;
		end = stpcpy(end, environ[i]) + 1;
	}
	*to = strings;
	return 1;
}

static int to_environment(PyObject *kept, PyObject *object, char *const **to)
{
	return object == Py_None ? copy_environment(kept, to) : to_strings(kept, object, to);
}

/* Returns a number from low to high, or low - 1 with an exception. */
static long long to_number(PyObject *object, long long low, long long high)
{
	long long number = PyLong_AsLongLong(object);

	if (number == -1 && PyErr_Occurred())
		return low - 1;
	if (number < low || number > high) {
		PyErr_Format(PyExc_OverflowError, "%lld is not from %lld to %lld", number, low,
			     high);
		return low - 1;
	}
	return number;
}

/* --- actions ---------------------------------------------------------------------- */

/* An argument of an action. What it points to belongs to the call. */
union argument {
	int i;
	unsigned u;
	uint64_t q;
	const void *p;
	const char *s;
	size_t size;
};

/*
 * The actions, each with the types of its arguments:
 *   d  int: a descriptor, or an object with fileno()
 *   i  int
 *   u  unsigned, -1 for the highest
 *   q  uint64_t, -1 for the highest
 *   s  string or path
 *   z  the same, or None
 *   S  a set of signals
 *   G  group IDs: an array, and their number
 *   M  processors: a mask, and its size in bytes
 *   B  bytes of a seccomp filter: an array, and the number of instructions
 * Those that each Popen has are first.
 */
/* clang-format off */
#define ACTIONS(WITH, PLAIN) \
	WITH(signals_default, "S", a[0].p) \
	WITH(closefrom, "i", a[0].i) \
	WITH(dup2, "di", a[0].i, a[1].i) \
	WITH(chdir, "s", a[0].s) \
	PLAIN(setsid) \
	WITH(open, "isiu", a[0].i, a[1].s, a[2].i, a[3].u) \
	WITH(openat, "idsiu", a[0].i, a[1].i, a[2].s, a[3].i, a[4].u) \
	WITH(openat2, "idsiuq", a[0].i, a[1].i, a[2].s, a[3].i, a[4].u, a[5].q) \
	WITH(dev_null, "i", a[0].i) \
	WITH(close, "i", a[0].i) \
	WITH(only_below, "i", a[0].i) \
	WITH(cloexec_from, "i", a[0].i) \
	WITH(setenv, "ss", a[0].s, a[1].s) \
	WITH(unsetenv, "s", a[0].s) \
	PLAIN(clearenv) \
	WITH(fchdir, "d", a[0].i) \
	WITH(umask, "u", a[0].u) \
	WITH(setpgid, "i", a[0].i) \
	WITH(controlling_terminal, "d", a[0].i) \
	WITH(foreground, "d", a[0].i) \
	PLAIN(reset_signals) \
	WITH(sigmask, "S", a[0].p) \
	WITH(signals_ignore, "S", a[0].p) \
	WITH(pdeathsig, "i", a[0].i) \
	WITH(rlimit, "iqq", a[0].i, a[1].q, a[2].q) \
	WITH(nice, "i", a[0].i) \
	WITH(scheduler, "ii", a[0].i, a[1].i) \
	WITH(affinity, "M", a[0].p, a[1].size) \
	WITH(ioprio, "i", a[0].i) \
	WITH(oom_score_adj, "i", a[0].i) \
	WITH(personality, "u", a[0].u) \
	WITH(join_cgroup, "d", a[0].i) \
	WITH(user, "uuG", a[0].u, a[1].u, a[2].p, a[3].size) \
	WITH(resuid, "uuu", a[0].u, a[1].u, a[2].u) \
	WITH(resgid, "uuu", a[0].u, a[1].u, a[2].u) \
	WITH(groups, "G", a[0].p, a[1].size) \
	WITH(cap_drop, "i", a[0].i) \
	WITH(cap_ambient, "i", a[0].i) \
	WITH(securebits, "u", a[0].u) \
	PLAIN(no_new_privs) \
	WITH(seccomp, "B", a[0].p, a[1].size) \
	WITH(landlock, "d", a[0].i) \
	WITH(chroot, "s", a[0].s) \
	WITH(pivot_root, "ss", a[0].s, a[1].s) \
	WITH(unshare, "q", a[0].q) \
	WITH(setns, "di", a[0].i, a[1].i) \
	WITH(mount, "zszqz", a[0].s, a[1].s, a[2].s, a[3].q, a[4].s) \
	WITH(hostname, "s", a[0].s) \
	WITH(write, "ss", a[0].s, a[1].s)
/* clang-format on */

#define MAKE(name, types, ...)                                                         \
	static void make_##name(struct aspawn_action *action, const union argument *a) \
	{                                                                              \
		aspawn_action_##name(action, __VA_ARGS__);                             \
	}
#define MAKE_PLAIN(name)                                                               \
	static void make_##name(struct aspawn_action *action, const union argument *a) \
	{                                                                              \
		(void)a;                                                               \
		aspawn_action_##name(action);                                          \
	}
ACTIONS(MAKE, MAKE_PLAIN)

#define ROW(name, types, ...) { #name, types, make_##name },
#define ROW_PLAIN(name) { #name, "", make_##name },
static const struct action_info {
	const char *name, *types;
	void (*make)(struct aspawn_action *action, const union argument *arguments);
} infos[] = { ACTIONS(ROW, ROW_PLAIN) };

enum { MAX_ARGUMENTS = 6, MAX_CPUS = 1 << 16 };

static int to_signals(PyObject *kept, PyObject *object, union argument *to)
{
	unsigned char *set = allocate(kept, sizeof(struct psys_sigset));
	PyObject *tuple = set ? to_tuple(object) : NULL;
	Py_ssize_t count = tuple ? PyTuple_Size(tuple) : -1;
	struct psys_sigset *signals = (struct psys_sigset *)(void *)set;

	for (Py_ssize_t i = 0; i < count; i++) {
		int number = (int)to_number(PyTuple_GetItem(tuple, i), 1, PSYS_NSIG);

		if (number < 1) {
			count = -1;
			break;
		}
		psys_sigaddset(signals, number);
	}
	Py_XDECREF(tuple);
	to->p = signals;
	return count >= 0;
}

static int to_groups(PyObject *kept, PyObject *object, union argument *to)
{
	PyObject *tuple = to_tuple(object);
	Py_ssize_t count = tuple ? PyTuple_Size(tuple) : -1;
	unsigned *groups = tuple ? allocate(kept, ((size_t)count + 1) * sizeof *groups) : NULL;

	for (Py_ssize_t i = 0; groups && i < count; i++) {
		long long group = to_number(PyTuple_GetItem(tuple, i), 0, UINT_MAX);

		groups[i] = (unsigned)group;
		if (group < 0) {
			groups = NULL;
			if (PyErr_ExceptionMatches(PyExc_OverflowError))
				PyErr_SetString(PyExc_ValueError,
						"invalid group id"); /* as subprocess */
		}
	}
	Py_XDECREF(tuple);
	to[0].p = groups;
	to[1].size = (size_t)count;
	return groups != NULL;
}

static int to_cpus(PyObject *kept, PyObject *object, union argument *to)
{
	const size_t bits = 8 * sizeof(unsigned long);
	PyObject *tuple = to_tuple(object);
	Py_ssize_t count = tuple ? PyTuple_Size(tuple) : -1;
	unsigned long *mask = tuple ? allocate(kept, MAX_CPUS / 8) : NULL;
	size_t words = 1;

	for (Py_ssize_t i = 0; mask && i < count; i++) {
		long long cpu = to_number(PyTuple_GetItem(tuple, i), 0, MAX_CPUS - 1);

		if (cpu < 0) {
			mask = NULL;
			break;
		}
		mask[(size_t)cpu / bits] |= 1UL << (size_t)cpu % bits;
		if ((size_t)cpu / bits >= words)
			words = (size_t)cpu / bits + 1;
	}
	Py_XDECREF(tuple);
	to[0].p = mask;
	to[1].size = words * sizeof *mask;
	return mask != NULL;
}

static int to_filter(PyObject *kept, PyObject *object, union argument *to)
{
	char *bytes;
	Py_ssize_t size;

	if (PyBytes_AsStringAndSize(object, &bytes, &size) < 0 || PyList_Append(kept, object) < 0)
		return 0;
	to[0].p = bytes;
	to[1].size = (size_t)size / sizeof(struct psys_sock_filter);
	return 1;
}

/* Stores one argument, or two. Returns 0 with an exception. */
static int to_argument(PyObject *kept, char type, PyObject *object, union argument *to)
{
	switch (type) {
	case 'd':
		to->i = PyObject_AsFileDescriptor(object);
		return to->i >= 0 || (to->i == PSYS_AT_FDCWD && !PyErr_Occurred());
	case 'i':
		to->i = (int)to_number(object, INT_MIN, INT_MAX);
		return !PyErr_Occurred();
	case 'u':
		to->u = (unsigned)to_number(object, -1, UINT_MAX);
		return !PyErr_Occurred();
	case 'q':
		to->q = PyLong_AsUnsignedLongLongMask(object);
		return !PyErr_Occurred();
	case 'z':
		to->s = NULL;
		if (object == Py_None)
			return 1;
		/* fall through */
	case 's':
		to->s = to_string(kept, object);
		return to->s != NULL;
	case 'S':
		return to_signals(kept, object, to);
	case 'G':
		return to_groups(kept, object, to);
	case 'M':
		return to_cpus(kept, object, to);
	default:
		return to_filter(kept, object, to);
	}
}

/* An action is a tuple: its name, and its arguments. Returns 0 with an exception. */
static int to_action(PyObject *kept, PyObject *tuple, struct aspawn_action *to)
{
	const struct action_info *info = infos;
	union argument arguments[MAX_ARGUMENTS + 1];
	PyObject *name;

	if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) < 1 ||
	    !PyUnicode_Check(PyTuple_GetItem(tuple, 0))) {
		PyErr_Format(PyExc_TypeError, "no action: %R", tuple);
		return 0;
	}
	name = PyTuple_GetItem(tuple, 0);
	while (PyUnicode_CompareWithASCIIString(name, info->name) != 0)
		if (++info == infos + sizeof infos / sizeof *infos) {
			PyErr_Format(PyExc_ValueError, "no such action: %R", name);
			return 0;
		}
	if ((size_t)PyTuple_Size(tuple) != strlen(info->types) + 1) {
		PyErr_Format(PyExc_TypeError, "%s: %zd arguments", info->name,
			     PyTuple_Size(tuple) - 1);
		return 0;
	}
	for (Py_ssize_t i = 0; info->types[i]; i++)
		if (!to_argument(kept, info->types[i], PyTuple_GetItem(tuple, i + 1), arguments + i))
			return 0;
	info->make(to, arguments);
	return 1;
}

int to_actions(PyObject *kept, PyObject *object, struct aspawn_command *command)
{
	PyObject *tuple = to_tuple(object);
	Py_ssize_t count = tuple ? PyTuple_Size(tuple) : 0;
	struct aspawn_action *actions = NULL;
	int valid = tuple != NULL;

	if (count > 0) {
		actions = allocate(kept, (size_t)count * sizeof *actions);
		valid = actions != NULL;
	}
	for (Py_ssize_t i = 0; valid && i < count; i++)
		valid = to_action(kept, PyTuple_GetItem(tuple, i), actions + i);
	Py_XDECREF(tuple);
	command->actions = actions;
	command->action_count = (size_t)count;
	return valid;
}

/* --- the handle ------------------------------------------------------------------- */

typedef struct {
	PyObject ob_base;
	struct aspawn_child child;
	int in_use; /* a thread without the global lock uses the handle */
} Child;

static PyObject *child_type; /* the reference of the module */

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
	     "failure_text(). -1: no limit.\n"
	     "TimeoutError: neither has happened.");
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
	if (r == 0)
		return none();
	if (r != -ECANCELED)
		return raise_error(r);
	return Py_BuildValue("iiIy", failure.step, -failure.error, failure.kind, failure.subject);
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
	return r == 0 || r == -ECANCELED ? PyLong_FromLong(status) : raise_error(r);
}

static PyObject *send(PyObject *self, PyObject *signal, int (*function)(struct aspawn_child *, int))
{
	struct aspawn_child *child = handle_of(self);
	long long number = child ? to_number(signal, 0, INT_MAX) : -1;
	int r;

	if (number < 0)
		return NULL;
	r = function(child, (int)number);
	if (r < 0)
		return raise_error(r);
	return none();
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
	if (!child)
		return NULL;
	aspawn_release(child);
	return none();
}

PyDoc_STRVAR(by_image_doc,
	     "by_image($self, /)\n--\n\n"
	     "True if the child began by the library's image, which is executed where\n"
	     "otherwise the memory would be copied.");
static PyObject *child_by_image(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyBool_FromLong(aspawn_describe(&((Child *)self)->child, ASPAWN_FACT_MODE) ==
			       ASPAWN_MODE_IMAGE);
}

static void child_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	aspawn_release(&((Child *)self)->child);
	((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
	Py_DECREF(type);
}

static PyMethodDef child_methods[] = { { "wait_started", child_wait_started, METH_O,
					 wait_started_doc },
				       { "wait", child_wait, METH_NOARGS, wait_doc },
				       { "kill", child_kill, METH_O, kill_doc },
				       { "kill_group", child_kill_group, METH_O, kill_group_doc },
				       { "by_image", child_by_image, METH_NOARGS, by_image_doc },
				       { "release", child_release, METH_NOARGS, release_doc },
				       { NULL, NULL, 0, NULL } };

#define MEMBER(name)                                                      \
	{                                                                 \
#name, T_INT, offsetof(Child, child.name), READONLY, NULL \
	}
static PyMemberDef child_members[] = {
	MEMBER(ended_fd), MEMBER(started_fd), MEMBER(in_fd),
	MEMBER(out_fd),   MEMBER(err_fd),     { NULL, 0, 0, 0, NULL }
};

/* None: there is no child, or not any more. */
static PyObject *child_pid(PyObject *self, void *unused)
{
	struct aspawn_child *child = handle_of(self);
	int r;

	(void)unused;
	if (!child)
		return NULL;
	r = aspawn_pid(child);
	return r > 0 ? PyLong_FromLong(r) : none();
}
static PyGetSetDef child_getters[] = { { "pid", child_pid, NULL, NULL, NULL },
				       { NULL, NULL, NULL, NULL, NULL } };

static PyType_Slot child_slots[] = { { Py_tp_dealloc, child_dealloc },
				     { Py_tp_methods, child_methods },
				     { Py_tp_members, child_members },
				     { Py_tp_getset, child_getters },
				     { Py_tp_doc, "The handle of a child, from start()." },
				     { 0, NULL } };
static PyType_Spec child_spec = { "aspawn._aspawn.Child", sizeof(Child), 0, Py_TPFLAGS_DEFAULT,
				  child_slots };

/* --- functions -------------------------------------------------------------------- */

PyDoc_STRVAR(start_doc,
	     "start(argv, file, env, std_in, std_out, std_err, actions, flags, owner, memory, /)\n--\n\n"
	     "Start a command, and return its Child: before the program executes.\n"
	     "env: bytes name=value, or None for the caller's environment.");
static PyObject *start(PyObject *module, PyObject *args)
{
	struct aspawn_command command = { .size = sizeof command, .pool = &pool };
	struct aspawn_child child;
	PyObject *argv, *file, *env, *actions, *kept, *object = NULL;
	unsigned long long flags;
	PyThreadState *thread;
	int r;

	(void)module;
	if (!PyArg_ParseTuple(args, "OOOiiiOKii:start", &argv, &file, &env, &command.std_in,
			      &command.std_out, &command.std_err, &actions, &flags, &command.owner,
			      &command.memory))
		return NULL;
	kept = PyList_New(0);
	if (!kept)
		return NULL;
	command.flags = flags;
	command.file = to_string(kept, file);
	if (!command.file || !to_strings(kept, argv, &command.argv) ||
	    !to_environment(kept, env, &command.envp) || !to_actions(kept, actions, &command))
		goto done;
	/* Made before the child, so that nothing fails after. */
	object = ((allocfunc)PyType_GetSlot((PyTypeObject *)child_type, Py_tp_alloc))(
		(PyTypeObject *)child_type, 0);
	if (!object)
		goto done;
	thread = PyEval_SaveThread();
	r = aspawn_start(&child, &command);
	PyEval_RestoreThread(thread);
	memcpy(&((Child *)object)->child, &child, sizeof child);
	if (r < 0) {
		Py_CLEAR(object);
		raise_error(r);
	}
done:
	Py_DECREF(kept);
	return object;
}

PyDoc_STRVAR(kill_cgroup_doc,
	     "kill_cgroup(fd, /)\n--\n\n"
	     "Send SIGKILL to every process of the control group (version 2) whose\n"
	     "directory is open as fd, and of all groups below.");
static PyObject *kill_cgroup(PyObject *module, PyObject *object)
{
	int fd = PyObject_AsFileDescriptor(object), r;

	(void)module;
	if (fd < 0)
		return NULL;
	r = aspawn_kill_cgroup(fd);
	if (r < 0)
		return raise_error(r);
	return none();
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

static PyMethodDef functions[] = { { "start", start, METH_VARARGS, start_doc },
				   { "failure_text", failure_text, METH_VARARGS, failure_text_doc },
				   { "kill_cgroup", kill_cgroup, METH_O, kill_cgroup_doc },
				   { NULL, NULL, 0, NULL } };

static struct PyModuleDef definition = { PyModuleDef_HEAD_INIT,
					 "aspawn._aspawn",
					 "The library: see the package aspawn.",
					 -1,
					 functions,
					 NULL,
					 NULL,
					 NULL,
					 NULL };

PyMODINIT_FUNC PyInit__aspawn(void)
{
	PyObject *module = PyModule_Create(&definition), *queue;
	int version = aspawn_version();

	if (!module)
		return NULL;
	child_type = PyType_FromSpec(&child_spec);
	if (!child_type)
		goto failed;
	Py_INCREF(child_type);
	if (PyModule_AddObject(module, "Child", child_type) < 0 ||
	    PyModule_AddIntConstant(module, "LIBRARY_VERSION", version) < 0 ||
	    PyModule_AddIntConstant(module, "BATCH", BATCH) < 0)
		goto failed;
	queue = queue_type();
	if (!queue || PyModule_AddObject(module, "Queue", queue) < 0)
		goto failed;
	return module;
failed:
	Py_DECREF(module);
	return NULL;
}
