/* SPDX-License-Identifier: MIT */
/* What the sources of the extension share: Python's objects as values of C, and errors. */
#ifndef ASPAWN_PYTHON_H
#define ASPAWN_PYTHON_H

#include <Python.h>

#include "aspawn.h"

/* One argument of an action. What it points to belongs to the call. */
union value {
	int i;
	unsigned u;
	uint64_t q;
	const void *p;
	struct {
		const void *p;
		size_t bytes;
	} array;
};

/*
 * The types of the arguments of actions and of the members of structures, in the tables that
 * generate.py writes:
 *   d  int: a descriptor, or an object with fileno()       D  the same; None: AT_FDCWD
 *   i  int     n  size_t     l  int64_t
 *   u  unsigned, -1 for the highest        q  uint64_t, -1 for the highest
 *   s  string or path                      z  the same, or None
 *   v  strings, an array that ends with NULL
 *   b  bytes: a pointer, and the size beside it
 *   r  int *: a bytearray that the start stores to
 *   A  actions: a pointer, and their number beside it
 *   C  a command: a dict of its members
 */
struct member {
	const char *name; /* NULL: no more */
	char type;
	size_t offset;
};

struct action_info {
	const char *name; /* NULL: no more */
	const char *types;
	void (*make)(struct aspawn_action *action, const union value *values);
};

extern const struct action_info action_infos[];
extern const struct member command_members[], job_members[], queue_options_members[];

/* Stores the items of a dict, or NULL, in the members of a structure; None leaves a member as it
 * is. What they point to belongs to the list kept. Returns 0 with an exception. */
int fill(PyObject *kept, PyObject *items, const struct member *members, void *to);

/* Returns size bytes, zeroed, that kept owns, or NULL with an exception. */
void *allocate(PyObject *kept, size_t size);

/* Returns a number from low to high, or low - 1 with an exception. */
long long to_number(PyObject *object, long long low, long long high);

/* A tuple of step, error number, kind and subject, or None if nothing failed. */
PyObject *failure_of(const struct aspawn_failure *failure);

/* A new dict. */
PyObject *result_of(const struct aspawn_result *result);

/* r is a negative error number; failure may be NULL. Raises an OSError, whose `failure` is that of
 * failure_of(). Returns NULL. */
PyObject *raise_error(int r, const struct aspawn_failure *failure);

/* None, or NULL with an exception if r is negative. */
PyObject *done(int r);

/* A reference to None. Py_RETURN_NONE takes none in the headers of 3.12 and later, whose None is not
 * counted, and the module also runs in earlier ones: "Fatal Python error: none_dealloc". */
PyObject *none(void);
#pragma GCC poison Py_RETURN_NONE

PyObject *new_object(PyTypeObject *type);
void free_object(PyObject *self);

PyObject *child_type(void);
PyObject *queue_type(void);

enum { BATCH = 64 }; /* results that one Queue.take() returns */

#define WITH_KEYWORDS(function) \
	(PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS

#endif
