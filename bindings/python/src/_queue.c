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

static PyObject *queue_new(PyTypeObject *type, PyObject *args, PyObject *members)
{
	struct aspawn_queue_options options = { .size = sizeof options };
	PyObject *self = NULL;
	PyThreadState *thread;
	int r;

	(void)args;
	if (fill(NULL, members, queue_options_members, &options))
		self = new_object(type);
	if (!self)
		return NULL;
	options.flags |= ASPAWN_QUEUE_FD;
	thread = PyEval_SaveThread();
	r = aspawn_queue_create(&((Queue *)self)->queue, &options);
	PyEval_RestoreThread(thread);
	if (r < 0) {
		((Queue *)self)->queue = NULL;
		Py_DECREF(self);
		return raise_error(r, NULL);
	}
	((Queue *)self)->fd = aspawn_queue_fd(((Queue *)self)->queue);
	return self;
}

/* Returns the ticket or number, or NULL with an exception. */
static PyObject *ticket_of(int64_t r, const struct aspawn_failure *failure)
{
	return r < 0 ? raise_error((int)r, failure) : PyLong_FromLongLong(r);
}

PyDoc_STRVAR(submit_doc,
	     "submit($self, /, **job)\n--\n\n"
	     "Submit a job, of the members of struct aspawn_job, where command is a dict of\n"
	     "those of struct aspawn_command, and return its ticket. BlockingIOError: the queue\n"
	     "is full. An OSError has a `failure`.");
static PyObject *queue_submit(PyObject *self, PyObject *args, PyObject *members)
{
	struct aspawn_job job = { .size = sizeof job };
	struct aspawn_queue *queue = NULL;
	struct aspawn_failure failure;
	PyObject *kept = PyList_New(0), *ticket = NULL;

	(void)args;
	/* Without envp the library copies environ, which nobody changes under the lock. */
	if (kept && fill(kept, members, job_members, &job))
		queue = queue_of(self);
	if (queue)
		ticket = ticket_of(aspawn_queue_submit(queue, &job, &failure), &failure);
	Py_XDECREF(kept);
	return ticket;
}

PyDoc_STRVAR(prepare_doc, "prepare($self, /, **command)\n--\n\n"
			  "Copy a command for many jobs and return its number.");
static PyObject *queue_prepare(PyObject *self, PyObject *args, PyObject *members)
{
	struct aspawn_command command = { .size = sizeof command };
	struct aspawn_queue *queue = NULL;
	struct aspawn_failure failure;
	PyObject *kept = PyList_New(0), *number = NULL;

	(void)args;
	if (kept && fill(kept, members, command_members, &command))
		queue = queue_of(self);
	if (queue)
		number = ticket_of(aspawn_queue_prepare(queue, &command, &failure), &failure);
	Py_XDECREF(kept);
	return number;
}

PyDoc_STRVAR(take_doc,
	     "take($self, wait, /)\n--\n\n"
	     "A list of results, at most BATCH: dicts of the members of struct aspawn_result.\n"
	     "Without waiting, and shorter: fd is not readable until there are more. With it,\n"
	     "which a local queue needs: at least one, if there are jobs; other methods but\n"
	     "close() may be called meanwhile.");
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
		return raise_error(count, NULL);
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
static PyObject *queue_cancel(PyObject *self, PyObject *number)
{
	long long ticket = PyLong_AsLongLong(number);
	struct aspawn_queue *queue = PyErr_Occurred() ? NULL : queue_of(self);

	return queue ? done(aspawn_queue_cancel(queue, ticket)) : NULL;
}

PyDoc_STRVAR(close_doc, "close($self, /)\n--\n\nKill all jobs and end the queue.");
static PyObject *queue_close(PyObject *self, PyObject *unused)
{
	struct aspawn_queue *queue = ((Queue *)self)->queue;
	PyThreadState *thread;

	(void)unused;
	((Queue *)self)->queue = NULL;
	((Queue *)self)->fd = -1;
	if (queue) {
		thread = PyEval_SaveThread();
		aspawn_queue_close(queue);
		PyEval_RestoreThread(thread);
	}
	return none();
}

static void queue_dealloc(PyObject *self)
{
	Py_DECREF(queue_close(self, NULL));
	free_object(self);
}

PyObject *queue_type(void)
{
	static PyMethodDef methods[] = { { "submit", WITH_KEYWORDS(queue_submit), submit_doc },
					 { "prepare", WITH_KEYWORDS(queue_prepare), prepare_doc },
					 { "take", queue_take, METH_O, take_doc },
					 { "cancel", queue_cancel, METH_O, cancel_doc },
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
	static PyType_Spec spec = { "aspawn._aspawn.Queue", sizeof(Queue), 0, Py_TPFLAGS_DEFAULT,
				    slots };

	return PyType_FromSpec(&spec);
}
