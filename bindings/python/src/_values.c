/* SPDX-License-Identifier: MIT */
/* Python's objects as values of C. The tables, one row for each action and for each member of a
 * structure, are made by generate.py of the description of the interface. */
#define PY_SSIZE_T_CLEAN
#include "_aspawn.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "_tables.h"

PyObject *none(void)
{
	Py_IncRef(Py_None);
	return Py_None;
}

PyObject *done(int r)
{
	return r < 0 ? raise_error(r, NULL) : none();
}

PyObject *failure_of(const struct aspawn_failure *failure)
{
	return failure->error ? Py_BuildValue("iiIy", failure->step, -failure->error, failure->kind,
					      failure->subject) :
				none();
}

PyObject *raise_error(int r, const struct aspawn_failure *failure)
{
	PyObject *type, *error, *traceback, *details;

	errno = -r;
	PyErr_SetFromErrno(PyExc_OSError);
	if (!failure)
		return NULL;
	PyErr_Fetch(&type, &error, &traceback);
	PyErr_NormalizeException(&type, &error, &traceback);
	details = failure_of(failure);
	if (details)
		PyObject_SetAttrString(error, "failure", details);
	Py_XDECREF(details);
	PyErr_Restore(type, error, traceback);
	return NULL;
}

PyObject *new_object(PyTypeObject *type)
{
	return ((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
}

void free_object(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
	Py_DECREF(type);
}

void *allocate(PyObject *kept, size_t size)
{
	PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
	int r = bytes ? PyList_Append(kept, bytes) : -1;

	Py_XDECREF(bytes); /* kept has a reference */
	return r < 0 ? NULL : memset(PyBytes_AsString(bytes), 0, size);
}

long long to_number(PyObject *object, long long low, long long high)
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

/* A str in the file system's encoding, bytes or a path. */
static const char *to_string(PyObject *kept, PyObject *object)
{
	PyObject *bytes;
	int r;

	if (!PyUnicode_FSConverter(object, &bytes))
		return NULL;
	r = PyList_Append(kept, bytes);
	Py_DECREF(bytes);
	return r < 0 ? NULL : PyBytes_AsString(bytes);
}

/* A tuple of what any sequence or other iterable has, which kept owns. */
static PyObject *to_tuple(PyObject *kept, PyObject *object)
{
	PyObject *tuple;
	int r;

	if (PyUnicode_Check(object) || PyBytes_Check(object)) {
		PyErr_SetString(PyExc_TypeError, "expected a sequence, not a string");
		return NULL;
	}
	tuple = PySequence_Tuple(object);
	r = tuple ? PyList_Append(kept, tuple) : -1;
	Py_XDECREF(tuple);
	return r < 0 ? NULL : tuple;
}

static int to_strings(PyObject *kept, PyObject *object, void *to)
{
	PyObject *tuple = to_tuple(kept, object);
	Py_ssize_t count = tuple ? PyTuple_Size(tuple) : 0;
	const char **strings = tuple ? allocate(kept, ((size_t)count + 1) * sizeof *strings) : NULL;

	for (Py_ssize_t i = 0; strings && i < count; i++) {
		strings[i] = to_string(kept, PyTuple_GetItem(tuple, i));
		if (!strings[i])
			return 0;
	}
	*(const char ***)to = strings;
	return strings != NULL;
}

static int to_value(PyObject *kept, char type, PyObject *object, void *to);

/* An action is a tuple: its name, and its arguments. */
static int to_action(PyObject *kept, PyObject *tuple, struct aspawn_action *to)
{
	const struct action_info *info = action_infos;
	union value values[MAX_ARGUMENTS + 1] = { 0 };
	PyObject *name;

	if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) < 1 ||
	    !PyUnicode_Check(PyTuple_GetItem(tuple, 0))) {
		PyErr_Format(PyExc_TypeError, "no action: %R", tuple);
		return 0;
	}
	name = PyTuple_GetItem(tuple, 0);
	while (info->name && PyUnicode_CompareWithASCIIString(name, info->name) != 0)
		info++;
	if (!info->name) {
		PyErr_Format(PyExc_ValueError, "no such action: %R", name);
		return 0;
	}
	if ((size_t)PyTuple_Size(tuple) != strlen(info->types) + 1) {
		PyErr_Format(PyExc_TypeError, "%s: %zd arguments", info->name,
			     PyTuple_Size(tuple) - 1);
		return 0;
	}
	for (Py_ssize_t i = 0; info->types[i]; i++)
		if (!to_value(kept, info->types[i], PyTuple_GetItem(tuple, i + 1), values + i))
			return 0;
	info->make(to, values);
	return 1;
}

static int to_actions(PyObject *kept, PyObject *object, void *to)
{
	struct {
		struct aspawn_action *actions;
		size_t count;
	} *array = to;
	PyObject *tuple = to_tuple(kept, object);

	if (!tuple)
		return 0;
	array->count = (size_t)PyTuple_Size(tuple);
	array->actions = allocate(kept, array->count * sizeof *array->actions);
	for (size_t i = 0; array->actions && i < array->count; i++)
		if (!to_action(kept, PyTuple_GetItem(tuple, (Py_ssize_t)i), array->actions + i))
			return 0;
	return array->actions != NULL;
}

static int to_command(PyObject *kept, PyObject *object, void *to)
{
	struct aspawn_command *command = allocate(kept, sizeof *command);

	if (!command)
		return 0;
	command->size = sizeof *command;
	*(const struct aspawn_command **)to = command;
	return fill(kept, object, command_members, command);
}

static int to_bytes(PyObject *kept, PyObject *object, void *to)
{
	struct {
		char *p;
		size_t bytes;
	} *array = to;
	Py_ssize_t size;

	if (PyBytes_AsStringAndSize(object, &array->p, &size) < 0)
		return 0;
	array->bytes = (size_t)size;
	return PyList_Append(kept, object) == 0;
}

/* Stores a value of this type. Returns 0 with an exception. */
static int to_value(PyObject *kept, char type, PyObject *object, void *to)
{
	switch (type) {
	case 'D':
		*(int *)to = PSYS_AT_FDCWD;
		if (object == Py_None)
			return 1;
		/* fall through */
	case 'd':
		*(int *)to = PyObject_AsFileDescriptor(object);
		break;
	case 'i':
		*(int *)to = (int)to_number(object, INT_MIN, INT_MAX);
		break;
	case 'u':
		*(unsigned *)to = (unsigned)to_number(object, -1, UINT_MAX);
		break;
	case 'l':
		*(int64_t *)to = PyLong_AsLongLong(object);
		break;
	case 'n':
		*(size_t *)to = PyLong_AsSize_t(object);
		break;
	case 'q':
		*(uint64_t *)to = PyLong_AsUnsignedLongLongMask(object);
		break;
	case 'z':
		if (object == Py_None)
			return 1;
		/* fall through */
	case 's':
		*(const char **)to = to_string(kept, object);
		break;
	case 'r':
		if (PyByteArray_Check(object) && PyByteArray_Size(object) == sizeof(int))
			*(void **)to = PyByteArray_AsString(object);
		break;
	case 'v':
		return to_strings(kept, object, to);
	case 'b':
		return to_bytes(kept, object, to);
	case 'A':
		return to_actions(kept, object, to);
	default:
		return to_command(kept, object, to);
	}
	return !PyErr_Occurred();
}

int fill(PyObject *kept, PyObject *items, const struct member *members, void *to)
{
	const struct member *member;
	PyObject *name, *value;
	Py_ssize_t position = 0;

	while (items && PyDict_Next(items, &position, &name, &value)) {
		for (member = members; member->name; member++)
			if (PyUnicode_CompareWithASCIIString(name, member->name) == 0)
				break;
		if (!member->name) {
			PyErr_Format(PyExc_TypeError, "no such member: %S", name);
			return 0;
		}
		if (value != Py_None &&
		    !to_value(kept, member->type, value, (char *)to + member->offset))
			return 0;
	}
	return 1;
}

/* A format with # has a size of another type in a module that was compiled by another Python. */
static PyObject *output_of(const char *bytes, size_t size)
{
	return bytes ? PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size) : none();
}

PyObject *result_of(const struct aspawn_result *result)
{
	char text[320];

	aspawn_result_text(text, sizeof text, result);
	return Py_BuildValue("{sy" RESULT_FORMAT "}", "text", text, RESULT_VALUES(result));
}
