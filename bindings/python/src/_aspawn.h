/* SPDX-License-Identifier: MIT */
/* What the sources of the extension share: the conversion of Python's objects to C. */
#ifndef ASPAWN_PYTHON_H
#define ASPAWN_PYTHON_H

#include <Python.h>

#include <string.h>

#include "aspawn.h"

/* r is a negative error number. Returns NULL. */
PyObject *raise_error(int r);

/* A reference to None. Py_RETURN_NONE takes none in the headers of 3.12 and later, whose None is not
 * counted, and the module also runs in earlier ones: "Fatal Python error: none_dealloc". */
PyObject *none(void);
#pragma GCC poison Py_RETURN_NONE

/* Returns size bytes, zeroed, that the list kept owns, or NULL with an exception. */
void *allocate(PyObject *kept, size_t size);

/* A str in the file system's encoding, bytes or a path, as a string that kept owns. */
const char *to_string(PyObject *kept, PyObject *object);

/* An array that ends with NULL. Returns 0 with an exception. */
int to_strings(PyObject *kept, PyObject *object, char *const **to);

/* Sets actions and action_count. Returns 0 with an exception. */
int to_actions(PyObject *kept, PyObject *object, struct aspawn_command *command);

enum { BATCH = 64 }; /* results that one Queue.take() returns */

/* The type Queue; NULL with an exception. */
PyObject *queue_type(void);

#endif
