# SPDX-License-Identifier: MIT
"""Commands of the library, of the parameters of subprocess, and what their failures are."""
from __future__ import annotations

import contextlib
import math
import os
import re
import signal
import sys
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple, Union

from . import actions
from ._action import Action, Descriptor, Packed, Path
from ._support import supported
from .constants import GRACE_NONE, Step

if TYPE_CHECKING:
    from ._types import Args, Environment, Limits

if supported:
    import fcntl  # Windows has no such module

RESTORE = actions.signals_default(
    getattr(signal, name) for name in ("SIGPIPE", "SIGXFZ", "SIGXFSZ") if hasattr(signal, name))
# What failures of the library name.
ARGUMENTS = {"action_count": "actions", "job.priority": "priority", "job_bytes": "Queue(job_bytes=)",
             "pty_columns": "pty_size", "pty_rows": "pty_size"}


class Failure:
    """Where a child failed: `step` is the index in actions=, or None for what Popen does itself;
    `action` the action, or None for the search and the exec; `text` says it for people."""

    def __init__(self, step: Optional[int], action: Optional[Action], text: str) -> None:
        self.step, self.action, self.text = step, action, text

    def __repr__(self) -> str:
        return f"<Failure {self.text}>"


def failure_of(error: Optional[BaseException]) -> Optional[Failure]:
    """The `failure` of an exception of this package: where a child failed, or None."""
    return getattr(error, "failure", None)


def member_of(among: Any, word: Optional[str], names: Iterable[str] = ()) -> Any:
    """The member of an enumeration that a word of the interface names, or None."""
    names = [*names] or [name.lower() for name in among.__members__]
    if word is not None and word not in names:
        raise ValueError(f"no such {among.__name__.lower()}: {word!r}, only {', '.join(names)}")
    return None if word is None else among[word.upper()]


def milliseconds(name: str, seconds: Optional[float], most: int = 1 << 62) -> Optional[int]:
    """At most `most`, which is for ever, also of an infinite time."""
    if seconds is None:
        return None
    if math.isnan(seconds):
        raise ValueError(f"{name} is not a number of seconds: {seconds}")
    return max(1, math.ceil(min(seconds * 1000, most)))


def grace_ms(seconds: Optional[float]) -> Optional[int]:
    if seconds is not None and seconds < 0:
        raise ValueError(f"grace is negative: {seconds}")
    return GRACE_NONE if seconds == 0 else milliseconds("grace", seconds, (1 << 31) - 1)


def duplicate(fd: int) -> int:
    """Above 2, where no stream of a child or of this process is put."""
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)


def above_streams(fd: int) -> int:
    """The descriptor, or if that is below 3 a duplicate in its place."""
    if fd > 2:
        return fd
    try:
        return duplicate(fd)
    finally:
        os.close(fd)


@contextlib.contextmanager
def opened(group: Union[Path, Descriptor]) -> Iterator[Descriptor]:
    """A descriptor of a directory, which may be one."""
    if not isinstance(group, (str, bytes, os.PathLike)):
        yield group
        return
    fd = above_streams(os.open(group, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    try:
        yield fd
    finally:
        os.close(fd)


def words_of(args: Args, shell: bool) -> List[Path]:
    if isinstance(args, os.PathLike) and shell:
        raise TypeError("path-like args is not allowed when shell is true")
    return [args] if isinstance(args, (str, bytes, os.PathLike)) else list(args)


def given(**members: Any) -> Dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def is_pipe(action: Action) -> bool:
    return isinstance(action, Action) and action.name in ("output_pipe", "input_pipe")


class Command:
    """What a child executes, and does before: the actions of Popen itself, and the caller's own."""

    def __init__(self, args: Args, executable: Optional[Path], shell: bool, cwd: Optional[Path],
                 env: Optional[Environment]) -> None:
        self.argv = words_of(args, shell)
        if shell:
            self.argv = [executable or "/bin/sh", "-c", *self.argv]
        self.executable = self.argv[0] if executable is None else executable
        sys.audit("subprocess.Popen", self.executable, self.argv, cwd, env)
        self.envp = None
        if env is not None:
            variables = [(os.fsencode(name), os.fsencode(value)) for name, value in env.items()]
            if any(b"=" in name for name, _ in variables):
                raise ValueError("illegal environment variable name")
            self.envp = [name + b"=" + value for name, value in variables]
        self.actions: List[Action] = []
        self.own = range(0)  # which of them are the caller's

    def add(self, is_wanted: bool, make: Callable[..., Action], *operands: Any) -> None:
        if is_wanted:
            self.actions.append(make(*operands))

    def add_limits(self, limits: Optional[Limits]) -> None:
        for resource, limit in (limits or {}).items():
            pair = limit if isinstance(limit, (list, tuple)) else (limit, limit)
            if len(pair) != 2 or not all(hasattr(number, "__index__") for number in pair):
                raise TypeError(f"limits[{resource!r}]: {limit!r} is not a number, or a soft and a hard one")
            self.actions.append(actions.rlimit(resource, *pair))

    def add_own(self, own: Iterable[Action]) -> None:
        first = len(self.actions)
        # A pipe gets the memory that the library stores its end to.
        self.actions += (Action(*action[:-1], bytearray(4)) if is_pipe(action) else action for action in own)
        self.own = range(first, len(self.actions))

    def members(self, **others: Any) -> Dict[str, Any]:
        return given(file=self.executable, argv=self.argv, envp=self.envp, actions=self.actions, **others)

    def given_to(self, function: Callable[..., Any], **members: Any) -> Any:
        """Calls a function of the extension, whose error gets a Failure."""
        try:
            return function(**given(**members))
        except OSError as error:
            if not isinstance(error.strerror, tuple):
                raise
            raise self.error_of(error.strerror) from None

    def error_of(self, failed: Tuple[int, int, bytes]) -> OSError:
        """The OSError of a tuple as of Child.wait_started()."""
        step, number, text = failed[0], failed[1], os.fsdecode(failed[2])
        action = index = name = None
        if step >= 0:
            action = self.actions[step]
            index = self.own.index(step) if step in self.own else None
            subject = text.partition(", ")[2]  # after "action N", which is no index in actions=
            text = subject if index is None else f"action {index}, {subject}"
            name = next((argument for argument in action[1:] if isinstance(argument, (str, bytes, os.PathLike))
                         and not isinstance(argument, Packed)), None)
        elif step in (Step.SEARCH, Step.EXEC, Step.INTERPRETER):
            name = self.executable
        elif step == Step.ARGUMENT:
            text = re.sub(r'(?<=^argument ")[^"]+', lambda found: ARGUMENTS.get(found[0], found[0]), text)
        error: Any = OSError(number, text if step == Step.ARGUMENT else os.strerror(number),
                             *(() if name is None else (name,)))
        error.failure = Failure(index, action, text)
        if action is not None and hasattr(error, "add_note"):  # 3.11
            error.add_note(text)
        return error  # type: ignore[no-any-return]
