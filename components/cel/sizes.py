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
Path: TypeAlias = tuple[str, ...]
UNKNOWN: Final[Size] = (0, MAX)
STRING_FACTOR: Final = 0.1
LIST_COST: Final = 10
MAP_COST: Final = 30
STRUCT_COST: Final = 40


def add(left: int, right: int) -> int:
    """Add without leaving uint64."""
    return min(left + right, MAX)


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
    if not path or path[0] != "device":
        return None
    if len(path) == 1:
        return (0, 0)
    field = path[1]
    if field not in _BOUNDS:
        return None
    rest = path[2:]
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
