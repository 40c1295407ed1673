# SPDX-License-Identifier: MIT
"""What the child does before it executes the program, in place of preexec_fn:

    aspawn.run(["make"], actions=[actions.chdir("/src"), actions.rlimit(RLIMIT_CPU, 60, 61)])

Each function makes one action; nothing happens until Popen performs them, in their order, as C in
the child. No Python runs there, so no thread and no lock of the parent can stop it. The first
action that fails ends the child, and Popen raises its OSError, whose `failure` names the action.

Descriptors are numbers or objects with fileno(). The constants are those of the modules os, signal
and resource. The manual page named of each says more. [copy] marks actions for which the child
executes a small program of the library's before, or, where that cannot be, the memory is copied, as
by fork(2) and at its cost; the others cost next to nothing.
"""
from os import PathLike
from typing import Any, Iterable, Protocol, Tuple, Union

AT_FDCWD = -100  # the current directory, for openat() and openat2()

Path = Union[str, bytes, "PathLike[str]", "PathLike[bytes]"]


class HasFileno(Protocol):
    def fileno(self) -> int: ...


Fd = Union[int, HasFileno]


class Action(Tuple[Any, ...]):
    """An action: its name, and its arguments."""
    __slots__ = ()

    def __new__(cls, name: str, *arguments: object) -> "Action":
        return tuple.__new__(cls, (name, *arguments))

    @property
    def name(self) -> str:
        return str(self[0])

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(map(repr, self[1:]))})"


# --- descriptors ---

def dup2(source: Fd, target: int) -> Action:
    """Make target a copy of source; if both are equal, keep it open in the program. dup2(2)"""
    return Action("dup2", source, target)


def open(fd: int, path: Path, flags: int, mode: int = 0o666) -> Action:
    """Open path as the descriptor fd of the program. open(2)"""
    return Action("open", fd, path, flags, mode)


def openat(fd: int, directory: Fd, path: Path, flags: int, mode: int = 0o666) -> Action:
    """open(), from a directory that is open. openat(2)"""
    return Action("openat", fd, directory, path, flags, mode)


def openat2(fd: int, directory: Fd, path: Path, flags: int, mode: int, resolve: int) -> Action:
    """openat() with limits to what path may lead through. openat2(2), Linux 5.6"""
    return Action("openat2", fd, directory, path, flags, mode, resolve)


def dev_null(fd: int) -> Action:
    """Open /dev/null as fd."""
    return Action("dev_null", fd)


def close(fd: int) -> Action:
    """Close fd; one that is not open is ignored. close(2)"""
    return Action("close", fd)


def closefrom(first: int) -> Action:
    """Close all descriptors from first up. close_range(2)"""
    return Action("closefrom", first)


def only_below(first: int) -> Action:
    """The same, and the child never has them: for callers that write programs and execute them (ETXTBSY).

    The start returns when the child has had its turn.
    """
    return Action("only_below", first)


def cloexec_from(first: int) -> Action:
    """Let the exec close all descriptors from first up; later actions can still use them."""
    return Action("cloexec_from", first)


# --- environment ---

def setenv(name: Union[str, bytes], value: Union[str, bytes]) -> Action:
    """Set a variable of the program's environment."""
    return Action("setenv", name, value)


def unsetenv(name: Union[str, bytes]) -> Action:
    """Remove a variable."""
    return Action("unsetenv", name)


def clearenv() -> Action:
    """Remove all variables."""
    return Action("clearenv")


# --- directory ---

def chdir(path: Path) -> Action:
    """Change the current directory. chdir(2)"""
    return Action("chdir", path)


def fchdir(fd: Fd) -> Action:
    """Change the current directory to one that is open. fchdir(2)"""
    return Action("fchdir", fd)


def umask(mask: int) -> Action:
    """Set the mask for the modes of new files. umask(2)"""
    return Action("umask", mask)


# --- sessions, process groups, terminals ---

def setsid() -> Action:
    """Make a new session and process group. setsid(2)"""
    return Action("setsid")


def setpgid(pgid: int = 0) -> Action:
    """Join a process group; 0 makes one. setpgid(2)"""
    return Action("setpgid", pgid)


def controlling_terminal(fd: Fd) -> Action:
    """After setsid(): make the terminal the session's controlling terminal. TIOCSCTTY"""
    return Action("controlling_terminal", fd)


def foreground(fd: Fd) -> Action:
    """Make the process group the foreground group of the terminal. tcsetpgrp(3)"""
    return Action("foreground", fd)


# --- signals ---

def reset_signals() -> Action:
    """No signal is blocked, and none ignored."""
    return Action("reset_signals")


def sigmask(signals: Iterable[int]) -> Action:
    """The program begins with these signals blocked. sigprocmask(2)"""
    return Action("sigmask", tuple(signals))


def signals_default(signals: Iterable[int]) -> Action:
    """Reset these signals to their default."""
    return Action("signals_default", tuple(signals))


def signals_ignore(signals: Iterable[int]) -> Action:
    """Ignore these signals."""
    return Action("signals_ignore", tuple(signals))


def pdeathsig(signal: int) -> Action:
    """The program gets the signal when the thread that started it ends. PR_SET_PDEATHSIG"""
    return Action("pdeathsig", signal)


# --- limits and scheduling ---

def rlimit(resource: int, soft: int, hard: int) -> Action:
    """Set a limit; resource.RLIM_INFINITY is none. setrlimit(2)"""
    return Action("rlimit", resource, soft, hard)


def nice(value: int) -> Action:
    """Set the nice value, from -20 to 19. setpriority(2)"""
    return Action("nice", value)


def scheduler(policy: int, priority: int = 0) -> Action:
    """os.SCHED_..., and a priority for FIFO and RR. sched_setscheduler(2)"""
    return Action("scheduler", policy, priority)


def affinity(cpus: Iterable[int]) -> Action:
    """Run on these processors only. sched_setaffinity(2)"""
    return Action("affinity", tuple(cpus))


def ioprio(value: int) -> Action:
    """Set class << 13 | level. ioprio_set(2)"""
    return Action("ioprio", value)


def oom_score_adj(value: int) -> Action:
    """How soon the OOM killer chooses the program, from -1000 to 1000. proc(5) [copy]"""
    return Action("oom_score_adj", value)


def personality(persona: int) -> Action:
    """personality(2)"""
    return Action("personality", persona)


def join_cgroup(fd: Fd) -> Action:
    """Join the control group (version 2) whose directory is open as fd. cgroups(7) [copy]"""
    return Action("join_cgroup", fd)


# --- credentials and sandboxes ---

def user(uid: int, gid: int, groups: Iterable[int] = ()) -> Action:
    """Become the user for good: supplementary groups, group, user. credentials(7) [copy]"""
    return Action("user", uid, gid, tuple(groups))


def resuid(real: int, effective: int, saved: int) -> Action:
    """Set user IDs; -1 leaves one unchanged. setresuid(2) [copy]"""
    return Action("resuid", real, effective, saved)


def resgid(real: int, effective: int, saved: int) -> Action:
    """Set group IDs; -1 leaves one unchanged. setresgid(2) [copy]"""
    return Action("resgid", real, effective, saved)


def groups(groups: Iterable[int]) -> Action:
    """Set the supplementary groups. setgroups(2)"""
    return Action("groups", tuple(groups))


def cap_drop(capability: int) -> Action:
    """Remove a capability from the bounding set. PR_CAPBSET_DROP"""
    return Action("cap_drop", capability)


def cap_ambient(capability: int) -> Action:
    """Let the program keep a capability of the process. PR_CAP_AMBIENT"""
    return Action("cap_ambient", capability)


def securebits(bits: int) -> Action:
    """PR_SET_SECUREBITS, prctl(2)"""
    return Action("securebits", bits)


def no_new_privs() -> Action:
    """From now on no exec grants privileges. PR_SET_NO_NEW_PRIVS"""
    return Action("no_new_privs")


def seccomp(instructions: bytes) -> Action:
    """Install a filter, an array of struct sock_filter, after no_new_privs(). It must allow
    write, rt_sigprocmask, exit_group and execve. seccomp(2)"""
    return Action("seccomp", bytes(instructions))


def landlock(ruleset: Fd) -> Action:
    """Enforce a ruleset, after no_new_privs(). landlock_restrict_self(2), Linux 5.13"""
    return Action("landlock", ruleset)


# --- roots, namespaces, mounts ---

def chroot(path: Path) -> Action:
    """Change the root directory; chdir("/") usually follows. chroot(2)"""
    return Action("chroot", path)


def pivot_root(new_root: Path, put_old: Path) -> Action:
    """Change the root mount. pivot_root(2)"""
    return Action("pivot_root", new_root, put_old)


def unshare(flags: int) -> Action:
    """Enter new namespaces, CLONE_NEW.... unshare(2)"""
    return Action("unshare", flags)


def setns(fd: Fd, type: int = 0) -> Action:
    """Enter a namespace, or those of a pidfd. setns(2)"""
    return Action("setns", fd, type)


def mount(source: Union[Path, None], target: Path, type: Union[str, None] = None, flags: int = 0,
          options: Union[str, None] = None) -> Action:
    """Mount a file system. mount(2)"""
    return Action("mount", source, target, type, flags, options)


def hostname(name: str) -> Action:
    """Set the name of the host, in a namespace of its own: after unshare(). sethostname(2)"""
    return Action("hostname", name)


# --- files ---

def write(path: Path, text: Union[str, bytes]) -> Action:
    """Write text to an existing file, of /proc, /sys or a control group."""
    return Action("write", path, text)
