# SPDX-License-Identifier: MIT
"""What the functions of aspawn.actions make."""
from array import array
from operator import index
from os import PathLike
from typing import Any, Iterable, Protocol, Tuple, Union

Path = Union[str, bytes, "PathLike[str]", "PathLike[bytes]"]


class HasFileno(Protocol):
    def fileno(self) -> int: ...


Descriptor = Union[int, HasFileno]


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


class Packed(bytes):
    """An array as C has it, shown as the numbers of which it was made."""
    shown: Any = ...

    def __repr__(self) -> str:
        return repr(self.shown)


def numbers_of(numbers: Iterable[int]) -> Packed:
    """An array of unsigned."""
    shown = tuple(numbers)
    try:
        packed = Packed(array("I", shown).tobytes())
    except OverflowError:
        raise ValueError("invalid group id") from None  # as subprocess
    packed.shown = shown
    return packed


def set_of(numbers: Iterable[int], first: int = 0) -> Packed:
    """A set as sigset_t, whose first number is 1, or cpu_set_t: an array of unsigned long."""
    shown = tuple(sorted(set(numbers), key=index))
    if shown and not first <= shown[0] <= shown[-1] < 1 << 16:
        raise OverflowError(f"not numbers from {first}: {shown}")
    bits = 8 * array("L").itemsize
    words = array("L", [0] * max(128 // bits, (shown[-1] if shown else 0) // bits + 1))
    for number in shown:
        words[(number - first) // bits] |= 1 << (number - first) % bits
    packed = Packed(words.tobytes())
    packed.shown = shown
    return packed
