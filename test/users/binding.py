# SPDX-License-Identifier: MIT
"""The library as the author of a binding has it: the shared object, the sizes of opaque objects,
and functions. No header, no macro, and no layout but that of what the caller fills in."""
import ctypes as c
import errno
import faulthandler
import os
import select
import signal
import sys
import tempfile
import traceback

lib = c.CDLL(sys.argv[1])

PIPE = -2  # enum aspawn_stream
NONBLOCK = 16  # enum aspawn_command_flags
KILL_GROUP = 256  # enum aspawn_io_flags
RAN, NOT_STARTED, TIMED_OUT = 1, 2, 3  # enum aspawn_outcome

Action = c.c_uint64 * 8
Pool = c.c_uint64 * 8
Sink = c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_int, c.c_void_p, c.c_size_t)


class Child(c.Structure):
    _fields_: list = [(name, c.c_int)
                      for name in ("ended_fd", "started_fd", "in_fd", "out_fd", "err_fd", "pty_fd")]
    _fields_ += [("own", c.c_uint64 * 13)]


class Failure(c.Structure):
    _fields_ = [("step", c.c_int), ("error", c.c_int), ("kind", c.c_uint32),
                ("reserved", c.c_uint32), ("subject", c.c_char * 112)]


class Command(c.Structure):
    _fields_ = [("size", c.c_uint64), ("flags", c.c_uint64), ("file", c.c_char_p),
                ("argv", c.POINTER(c.c_char_p)), ("envp", c.POINTER(c.c_char_p)),
                ("search_path", c.c_char_p), ("actions", c.c_void_p), ("action_count", c.c_size_t),
                ("pool", c.POINTER(Pool)), ("std_in", c.c_int),
                ("std_out", c.c_int), ("std_err", c.c_int), ("owner", c.c_int),
                ("memory", c.c_int), ("pty_rows", c.c_uint), ("pty_columns", c.c_uint),
                ("stop_signal", c.c_int), ("reserved", c.c_int)]


class Io(c.Structure):
    _fields_ = [("size", c.c_uint64), ("flags", c.c_uint64), ("input", c.c_char_p),
                ("input_size", c.c_size_t), ("out", c.c_void_p), ("err", c.c_void_p),
                ("out_size", c.c_size_t), ("err_size", c.c_size_t), ("sink", Sink),
                ("arg", c.c_void_p), ("time_limit_ms", c.c_int64), ("grace_ms", c.c_int64),
                ("outcome", c.c_int), ("status", c.c_int), ("out_length", c.c_size_t),
                ("err_length", c.c_size_t), ("out_total", c.c_uint64), ("err_total", c.c_uint64),
                ("failure", Failure), ("usage", c.c_long * 18), ("memory_peak", c.c_uint64),
                ("cut", c.c_int), ("survivor", c.c_int)]


for function, arguments in {
        "aspawn_start": [c.c_void_p, c.c_void_p],
        "aspawn_run": [c.c_void_p, c.c_void_p],
        "aspawn_wait_started": [c.c_void_p, c.c_void_p, c.c_int64],
        "aspawn_wait": [c.c_void_p, c.c_void_p, c.c_void_p, c.c_int64],
        "aspawn_ended": [c.c_void_p],
        "aspawn_kill": [c.c_void_p, c.c_int],
        "aspawn_kill_group": [c.c_void_p, c.c_int],
        "aspawn_release": [c.c_void_p],
        "aspawn_pool_release": [c.c_void_p],
        "aspawn_failure_name": [c.c_void_p],
        "aspawn_failure_text": [c.c_char_p, c.c_size_t, c.c_void_p],
        "aspawn_status_text": [c.c_char_p, c.c_size_t, c.c_int],
        "aspawn_io_text": [c.c_char_p, c.c_size_t, c.c_int, c.c_void_p]}.items():
    getattr(lib, function).argtypes = arguments
    if function.endswith("_text"):
        getattr(lib, function).restype = c.c_size_t
lib.aspawn_failure_name.restype = c.c_char_p

pool = Pool()
descriptors = os.listdir("/proc/self/fd")


def text(function, *arguments):
    to = c.create_string_buffer(320)
    length = function(to, len(to), *arguments)
    assert length == len(to.value)
    return to.value.decode()


def command(*argv, actions=(), **members):
    """actions: ("chdir", "/srv") is made by aspawn_action_chdir()"""
    strings = [os.fsencode(string) for string in argv]
    array = (Action * max(1, len(actions)))()
    c.memset(array, 0xff, c.sizeof(array))
    kept = []
    for action, (name, *arguments) in zip(array, actions):
        arguments = [os.fsencode(value) if isinstance(value, str) else value for value in arguments]
        kept += arguments
        getattr(lib, "aspawn_action_" + name)(c.byref(action), *arguments)
    made = Command(size=c.sizeof(Command), argv=(c.c_char_p * (len(strings) + 1))(*strings, None),
                   actions=c.addressof(array) if actions else None, action_count=len(actions),
                   pool=c.pointer(pool), **members)
    made.kept = kept, array
    return made


def start(made):
    """Returns a handle that has been moved: the library's own copy is overwritten."""
    first = Child()
    result = lib.aspawn_start(c.byref(first), c.byref(made))
    assert result == 0, os.strerror(-result)
    return moved(first)


def moved(child):
    copy = Child.from_buffer_copy(child)
    c.memset(c.byref(child), 0xff, c.sizeof(child))
    return copy


def wait(child):
    status = c.c_int(-1)
    r = lib.aspawn_wait(c.byref(child), c.byref(status), None, -1)
    return r, text(lib.aspawn_status_text, status.value)


def read_all(fd):
    with os.fdopen(fd, "rb") as file:
        return file.read()


def run(made, **members):
    """Returns the result, *io, and the output."""
    output = bytearray()

    @Sink
    def sink(_, stream, data, count):
        assert stream == 1
        output.extend(c.string_at(data, count))
        return 0

    io = Io(size=c.sizeof(Io), sink=sink, **members)
    return lib.aspawn_run(c.byref(made), c.byref(io)), io, bytes(output)


def starts_feeds_and_waits():
    child = start(command("tr", "a-z", "A-Z", std_in=PIPE, std_out=PIPE))
    os.write(child.in_fd, b"hello")
    os.close(child.in_fd)
    child.in_fd = -1
    child = moved(child)
    assert read_all(child.out_fd) == b"HELLO"
    child.out_fd = -1
    assert lib.aspawn_wait_started(c.byref(child), None, -1) == 0
    child = moved(child)
    assert wait(child) == (0, "exit 0")
    assert lib.aspawn_pid(c.byref(child)) == -errno.EINVAL and child.ended_fd == -1
    assert wait(child)[0] == -errno.EINVAL


def feeds_and_collects_in_one_call():
    data = os.urandom(3 << 20)
    result, io, output = run(command("cat"), input=data, input_size=len(data))
    assert result == 0 and io.status == 0 and io.outcome == RAN
    assert output == data and io.out_total == len(data)
    assert text(lib.aspawn_io_text, result, c.byref(io)) == "exit 0"


def makes_actions_by_functions():
    with tempfile.NamedTemporaryFile() as file:
        made = command("sh", "-c", 'pwd; echo "$A ${HOME-none}"; umask; ulimit -t; echo error >&2; '
                       "ls /proc/self/fd | wc -l",
                       actions=[("chdir", "/usr"), ("setenv", "A", "b"), ("unsetenv", "HOME"),
                                ("umask", 0o27), ("setpgid", 0), ("reset_signals", ),
                                ("rlimit", 0, c.c_uint64(17), c.c_uint64(17)),
                                ("open", 2, file.name, os.O_WRONLY, 0), ("closefrom", 3)])
        result, io, output = run(made)
        assert result == 0 and io.status == 0, text(lib.aspawn_io_text, result, c.byref(io))
        assert output.split() == [b"/usr", b"b", b"none", b"0027", b"17", b"4"], output
        assert file.read() == b"error\n"


def reads_what_failed():
    child = start(command("true", actions=[("setsid", ), ("chdir", "/no/such/directory")]))
    failure = Failure()
    assert lib.aspawn_wait_started(c.byref(child), c.byref(failure), -1) == -errno.ECANCELED
    assert (failure.step, failure.error) == (1, -errno.ENOENT)
    assert failure.subject == b"/no/such/directory"
    assert lib.aspawn_failure_name(c.byref(failure)) == b"chdir"
    assert text(lib.aspawn_failure_text, c.byref(failure)) == (
        'action 1, chdir "/no/such/directory": ENOENT')
    assert wait(child) == (-errno.ECANCELED, "exit 127")

    result, io, _ = run(command("no-such-program"))
    assert result == -errno.ECANCELED and io.outcome == NOT_STARTED
    assert text(lib.aspawn_io_text, result, c.byref(io)) == (
        'not started: search "no-such-program": ENOENT')


def polls_and_kills():
    child = start(command("sh", "-c", "echo ready; sleep 100 & wait", actions=[("setpgid", 0)],
                          flags=NONBLOCK, std_out=PIPE))
    assert not os.get_blocking(child.out_fd)
    poll = select.poll()
    poll.register(child.out_fd, select.POLLIN)
    poll.poll()
    assert os.read(child.out_fd, 100) == b"ready\n"
    assert lib.aspawn_ended(c.byref(child)) == 0
    assert lib.aspawn_kill_group(c.byref(child), signal.SIGTERM) == 0
    poll.register(child.ended_fd, select.POLLIN)
    poll.unregister(child.out_fd)
    poll.poll()
    assert lib.aspawn_ended(c.byref(child)) == 1
    os.set_blocking(child.out_fd, True)
    assert read_all(child.out_fd) == b""  # of sleep too
    assert wait(child) == (0, "killed by SIGTERM")

    child = start(command("sleep", "100"))
    assert lib.aspawn_kill(c.byref(child), signal.SIGKILL) == 0
    assert wait(child)[1] == "killed by SIGKILL"
    assert lib.aspawn_kill(c.byref(child), signal.SIGKILL) == -errno.EINVAL


def ends_what_takes_too_long():
    result, io, _ = run(command("sh", "-c", "sleep 100; :"), flags=KILL_GROUP, time_limit_ms=300)
    assert result == -errno.ETIMEDOUT and io.outcome == TIMED_OUT
    assert text(lib.aspawn_io_text, result, c.byref(io)) == "timed out, killed by SIGTERM"


def leaves_the_reaping_to_the_caller():
    child = start(command("sh", "-c", "exit 3"))
    pid = lib.aspawn_pid(c.byref(child))
    assert lib.aspawn_release(c.byref(child)) == 0 and child.ended_fd == -1
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3


def nothing_is_left():
    assert lib.aspawn_pool_release(c.byref(pool)) == 0
    assert os.listdir("/proc/self/fd") == descriptors
    try:
        os.waitpid(-1, 0)
        raise AssertionError("a child is left")
    except ChildProcessError:
        pass


tests = [starts_feeds_and_waits, feeds_and_collects_in_one_call, makes_actions_by_functions,
         reads_what_failed, polls_and_kills, ends_what_takes_too_long,
         leaves_the_reaping_to_the_caller, nothing_is_left]
assert lib.aspawn_version() >= 200
faulthandler.dump_traceback_later(600, exit=True)
print(f"1..{len(tests)}")
for number, test in enumerate(tests, 1):
    try:
        test()
        print(f"ok {number} - {test.__name__}", flush=True)
    except Exception:
        print(f"not ok {number} - {test.__name__}")
        print("".join("# " + line for line in traceback.format_exc().splitlines(True)), flush=True)
