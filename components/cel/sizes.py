"""Sizes and prices of the worst-case estimate: uint64 arithmetic that stops at the top, and the declared bounds.

Sizes of strings, lists and maps keep both bounds; costs are upper bounds only, since no lower bound of a cost ever
reaches an upper one in upstream's two-sided arithmetic.
"""

# ruff: noqa: C901 - one branch per kind of node
# ruff: noqa: PLR0911 - one return per kind of value reads best
# ruff: noqa: PLR2004 - bounds of the language, named by the text beside them

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypeAlias

    from components.cel.syntax import Expr
    from components.cel.types import Type

MAX: Final = 2**64 - 1
Size: TypeAlias = tuple[int, int]
UNKNOWN: Final[Size] = (0, MAX)
STRING_FACTOR: Final = 0.1
LIST_COST: Final = 10
MAP_COST: Final = 30
STRUCT_COST: Final = 40


def add(left: int, right: int) -> int:
    """Add without leaving uint64."""
    total = left + right
    return total if total < MAX else MAX  # noqa: FURB136 - a call takes longer than the sum


def multiply(left: int, right: int) -> int:
    """Multiply without leaving uint64."""
    return min(left * right, MAX)


def scaled(amount: int, factor: float) -> int:
    """Multiply by a price and round up, in the floating-point arithmetic of upstream."""
    value = float(amount)
    if value > 0 and factor > 0 and value > float(MAX) / factor:
        return MAX
    up = math.ceil(value * factor)
    return MAX if up >= 2**64 else up


def union(left: Size, right: Size) -> Size:
    """Give the bounds that hold both."""
    return min(left[0], right[0]), max(left[1], right[1])


class Path:
    """Where a value comes from: a variable, then fields, ``@keys``, ``@values`` and ``@items``.

    It is a slice of Go. Where its array has room, what is appended lands in an array that other paths share, and the
    later one wins: in ``m.all(k, v, ...)`` over the attributes of a domain, ``k`` gets the bounds of ``v``.
    """

    __slots__ = ("_array", "_length")

    def __init__(self, array: list[str], length: int) -> None:
        self._array = array
        self._length = length

    @classmethod
    def of(cls, *steps: str) -> Path:
        """Make a path with an array of its own, and no room in it."""
        return cls([*steps], len(steps))

    def then(self, step: str) -> Path:
        """Append a step; an array without room is copied into one of twice the size."""
        array, length = self._array, self._length
        if length < len(array):
            array[length] = step
        else:
            array = [*array, step, *[""] * (length - 1)]
        return Path(array, length + 1)

    @property
    def root(self) -> str:
        """The variable it starts at; empty for no path."""
        return self._array[0] if self._length else ""

    def steps(self) -> list[str]:
        """Give the steps as they are now."""
        return self._array[: self._length]


NOWHERE: Final = Path.of()


class Node:
    """An argument as the price list sees it."""

    __slots__ = ("expr", "path", "size", "type")

    def __init__(self, path: Path, kind: Type, expr: Expr | None, size: Size | None) -> None:
        self.path = path
        self.type = kind
        self.expr = expr
        self.size = size


_BOUNDS: Final = {"driver": 63, "allowMultipleAllocations": 1, "attributes": 32, "capacity": 32}
_DOMAIN, _ID, _ENTRIES, _VALUE = 63, 32, 32, 64


def declared_size(path: Path) -> Size | None:
    """Give the declared bound of a path below ``device``."""
    if path.root != "device":
        return None
    steps = path.steps()
    if len(steps) == 1:
        return (0, 0)
    field = steps[1]
    if field not in _BOUNDS:  # of a variable named device, read as .device
        return None
    rest = steps[2:]
    if not rest:
        return (0, _BOUNDS[field])
    if field not in {"attributes", "capacity"}:
        return None
    if rest[0] == "@keys":
        return (0, _DOMAIN) if len(rest) == 1 else None
    if rest[0] not in {"@values", "@items"}:
        return None
    if len(rest) == 1:
        return (0, _ENTRIES)
    if rest[1] == "@keys":
        return (0, _ID) if len(rest) == 2 else None
    if rest[1] not in {"@values", "@items"} and field != "attributes":
        return None
    if len(rest) == 2:
        return (0, _VALUE) if field == "attributes" else (0, 0)
    return None
