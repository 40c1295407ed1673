/* SPDX-License-Identifier: MIT */
/*
 * The queue: Queue, whose methods do not wait for jobs, so that the lock of the interpreter need not
 * be released; it also makes them safe for threads, close() included. What waits polls fd; only the
 * thread of a local queue waits in take(), without the lock.
 */
#include "_aspawn.h"

#include <errno.h>
#include <structmember.h>

typedef struct {
	PyObject ob_base;
	struct aspawn_queue *queue; /* NULL: closed */
	int fd;
} Queue;

/* Returns the queue, or NULL with an exception. After the arguments, whose conversion may run code
 * that closes the queue. */
static struct aspawn_queue *queue_of(PyObject *self)
{
	struct aspawn_queue *queue = ((Queue *)self)->queue;

	if (!queue)
		PyErr_SetString(PyExc_ValueError, "the queue is closed");
	return queue;
}

static PyObject *queue_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	struct aspawn_queue_options options = { .size = sizeof options, .flags = ASPAWN_QUEUE_FD };
	struct aspawn_queue *queue;
	PyThreadState *thread;
	PyObject *self;
	int r, is_local;

	if (keywords && PyDict_Size(keywords)) {
		PyErr_SetString(PyExc_TypeError, "no keyword arguments");
		return NULL;
	}
	if (!PyArg_ParseTuple(args, "IIIIp:Queue", &options.running, &options.jobs,
			      &options.job_bytes, &options.delay_ms, &is_local))
		return NULL;
	if (is_local)
		options.flags |= ASPAWN_QUEUE_LOCAL;
	self = ((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
	if (!self)
		return NULL;
	thread = PyEval_SaveThread();
	r = aspawn_queue_create(&queue, &options);
	PyEval_RestoreThread(thread);
	if (r < 0) {
		Py_DECREF(self);
		return raise_error(r);
	}
	((Queue *)self)->queue = queue;
	((Queue *)self)->fd = aspawn_queue_fd(queue);
	return self;
}

/* Returns 0 with an exception. */
static int to_command(PyObject *kept, PyObject *argv, PyObject *file, PyObject *env,
		      PyObject *actions, int has_one_output, struct aspawn_command *command)
{
	if (has_one_output)
		command->std_err = ASPAWN_STREAM_STDOUT;
	command->file = to_string(kept, file);
	/* Without env the library copies environ, which nobody changes under the lock. */
	return command->file && to_strings(kept, argv, &command->argv) &&
	       (env == Py_None || to_strings(kept, env, &command->envp)) &&
	       to_actions(kept, actions, command);
}

PyDoc_STRVAR(
	submit_doc,
	"submit($self, cookie, argv, file, env, actions, has_one_output, input, out_size, err_size,\n"
	"       flags, timeout_ms, grace_ms, key, key_limit, priority, prepared, /)\n--\n\n"
	"Submit a job and return its ticket. With the number of a prepared command, argv or\n"
	"None, and no file, env and actions. Sizes count a NUL. BlockingIOError: the queue is full.");
static PyObject *queue_submit(PyObject *self, PyObject *args)
{
	struct aspawn_command command = { .size = sizeof command };
	struct aspawn_job job = { .size = sizeof job };
	struct aspawn_queue *queue;
	PyObject *argv, *file, *env, *actions, *input, *kept;
	unsigned long long cookie, flags;
	long long timeout_ms, grace_ms, prepared;
	Py_ssize_t out_size, err_size, input_size;
	char *bytes;
	int has_one_output;
	int64_t r = 0;

	if (!PyArg_ParseTuple(args, "KOOOOpOnnKLLIIiL:submit", &cookie, &argv, &file, &env, &actions,
			      &has_one_output, &input, &out_size, &err_size, &flags, &timeout_ms,
			      &grace_ms, &job.key, &job.key_limit, &job.priority, &prepared))
		return NULL;
	job.cookie = cookie;
	job.flags = flags;
	job.out_size = (size_t)out_size;
	job.err_size = (size_t)err_size;
	job.time_limit_ms = timeout_ms;
	job.prepared = prepared;
	job.grace_ms = grace_ms;
	if (input != Py_None) {
		if (PyBytes_AsStringAndSize(input, &bytes, &input_size) < 0)
			return NULL;
		job.input = bytes;
		job.input_size = (size_t)input_size;
	}
	kept = PyList_New(0);
	if (!kept)
		return NULL;
	if (!job.prepared)
		job.command = &command;
	queue = NULL;
	if (job.prepared ? argv == Py_None || to_strings(kept, argv, &job.argv) :
			   to_command(kept, argv, file, env, actions, has_one_output, &command))
		queue = queue_of(self);
	if (queue)
		r = aspawn_queue_submit(queue, &job, NULL);
	Py_DECREF(kept);
	if (!queue)
		return NULL;
	return r < 0 ? raise_error((int)r) : PyLong_FromLongLong(r);
}

PyDoc_STRVAR(prepare_doc, "prepare($self, argv, file, env, actions, has_one_output, /)\n--\n\n"
			  "Copy a command for many jobs and return its number.");
static PyObject *queue_prepare(PyObject *self, PyObject *args)
{
	struct aspawn_command command = { .size = sizeof command };
	struct aspawn_queue *queue = NULL;
	PyObject *argv, *file, *env, *actions, *kept;
	int64_t r = 0;
	int has_one_output;

	if (!PyArg_ParseTuple(args, "OOOOp:prepare", &argv, &file, &env, &actions, &has_one_output))
		return NULL;
	kept = PyList_New(0);
	if (kept && to_command(kept, argv, file, env, actions, has_one_output, &command))
		queue = queue_of(self);
	if (queue)
		r = aspawn_queue_prepare(queue, &command, NULL);
	Py_XDECREF(kept);
	if (!queue)
		return NULL;
	return r < 0 ? raise_error((int)r) : PyLong_FromLongLong(r);
}

static PyObject *usage_of(const struct psys_rusage *usage)
{
	return Py_BuildValue("(ddllllllllllllll)",
			     (double)usage->ru_utime.tv_sec + (double)usage->ru_utime.tv_usec / 1e6,
			     (double)usage->ru_stime.tv_sec + (double)usage->ru_stime.tv_usec / 1e6,
			     (long)usage->ru_maxrss, (long)usage->ru_ixrss, (long)usage->ru_idrss,
			     (long)usage->ru_isrss, (long)usage->ru_minflt, (long)usage->ru_majflt,
			     (long)usage->ru_nswap, (long)usage->ru_inblock,
			     (long)usage->ru_oublock, (long)usage->ru_msgsnd,
			     (long)usage->ru_msgrcv, (long)usage->ru_nsignals,
			     (long)usage->ru_nvcsw, (long)usage->ru_nivcsw);
}

/* A format with # has a size of another type in a module that was compiled by another Python. */
static PyObject *output_of(const char *bytes, size_t size)
{
	return bytes ? PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size) : none();
}

static PyObject *result_of(const struct aspawn_result *result)
{
	char text[320];

	aspawn_result_text(text, sizeof text, result);
	return Py_BuildValue(
		"KiiiyNNKK(LLLL)(iiIy)N", (unsigned long long)result->cookie, result->outcome,
		result->pid, result->status, text, output_of(result->out, result->out_length),
		output_of(result->err, result->err_length), (unsigned long long)result->out_total,
		(unsigned long long)result->err_total, (long long)result->submitted_ns,
		(long long)result->started_ns, (long long)result->executed_ns,
		(long long)result->ended_ns, result->failure.step, -result->failure.error,
		result->failure.kind, result->failure.subject, usage_of(&result->usage));
}

PyDoc_STRVAR(take_doc,
	     "take($self, wait, /)\n--\n\n"
	     "A list of results, at most BATCH. Without waiting, and shorter: fd is not readable\n"
	     "until there are more. With it, which a local queue needs: at least one, if there\n"
	     "are jobs; other methods but close() may be called meanwhile. A result: cookie, end, pid, status, text, out, err,\n"
	     "out_total, err_total, times, failure as of Child.wait_started(), usage.");
static PyObject *queue_take(PyObject *self, PyObject *wait)
{
	const struct aspawn_result *results[BATCH];
	struct aspawn_queue *queue = queue_of(self);
	PyObject *list, *result;
	PyThreadState *thread;
	int count;

	if (!queue)
		return NULL;
	if (wait == Py_True) {
		thread = PyEval_SaveThread();
		count = aspawn_queue_wait(queue, results, BATCH, -1);
		PyEval_RestoreThread(thread);
	} else {
		count = aspawn_queue_wait(queue, results, BATCH, 0);
	}
	if (count < 0 && count != -ECHILD)
		return raise_error(count);
	list = PyList_New(0);
	for (int i = 0; list && i < count; i++) {
		result = result_of(results[i]);
		if (!result || PyList_Append(list, result) < 0)
			Py_CLEAR(list);
		Py_XDECREF(result);
	}
	if (count > 0)
		aspawn_queue_release(queue, results, count);
	return list;
}

PyDoc_STRVAR(cancel_doc, "cancel($self, ticket, /)\n--\n\n"
			 "Cancel a job. ProcessLookupError: it has ended.");
static PyObject *queue_cancel(PyObject *self, PyObject *args)
{
	struct aspawn_queue *queue = queue_of(self);
	long long ticket;
	int r;

	if (!queue || !PyArg_ParseTuple(args, "L:cancel", &ticket))
		return NULL;
	r = aspawn_queue_cancel(queue, ticket);
	if (r < 0)
		return raise_error(r);
	return none();
}

static void close_queue(Queue *self)
{
	struct aspawn_queue *queue = self->queue;
	PyThreadState *thread;

	self->queue = NULL;
	self->fd = -1;
	if (!queue)
		return;
	thread = PyEval_SaveThread();
	aspawn_queue_close(queue);
	PyEval_RestoreThread(thread);
}

PyDoc_STRVAR(close_doc, "close($self, /)\n--\n\nKill all jobs and end the queue.");
static PyObject *queue_close(PyObject *self, PyObject *unused)
{
	(void)unused;
	close_queue((Queue *)self);
	return none();
}

static void queue_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	close_queue((Queue *)self);
	((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
	Py_DECREF(type);
}

static PyMethodDef methods[] = { { "submit", queue_submit, METH_VARARGS, submit_doc },
				 { "prepare", queue_prepare, METH_VARARGS, prepare_doc },
				 { "take", queue_take, METH_O, take_doc },
				 { "cancel", queue_cancel, METH_VARARGS, cancel_doc },
				 { "close", queue_close, METH_NOARGS, close_doc },
				 { NULL, NULL, 0, NULL } };

static PyMemberDef members[] = { { "fd", T_INT, offsetof(Queue, fd), READONLY, NULL },
				 { NULL, 0, 0, 0, NULL } };

static PyType_Slot slots[] = { { Py_tp_new, queue_new },
			       { Py_tp_dealloc, queue_dealloc },
			       { Py_tp_methods, methods },
			       { Py_tp_members, members },
			       { Py_tp_doc, "A queue of commands: see aspawn.Queue." },
			       { 0, NULL } };

PyObject *queue_type(void)
{
	static PyType_Spec spec = { "aspawn._aspawn.Queue", sizeof(Queue), 0, Py_TPFLAGS_DEFAULT,
				    slots };

	return PyType_FromSpec(&spec);
}
