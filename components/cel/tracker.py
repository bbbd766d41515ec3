"""The counter of one evaluation: the cost so far, the limit, and the stack of values that prices are taken from.

Upstream finds the arguments of a call by searching a stack for node ids and dropping what lies above; a call whose
arguments are not found is free. That search is part of the answer and is kept.
"""

# ruff: noqa: PLR2004 - bounds of the language, named by the text beside them

from __future__ import annotations

import math

from components.cel.kinds import own_size, size_of
from components.cel.library.formats import regex_size
from components.cel.meter import spend_parts
from components.cel.problem import EvaluationAborted
from components.cel.semver import Semver
from components.cel.values import Cell, CelMap, Cidr, IpAddress, NamedFormat, Url, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Final, TypeAlias

_TEXT: Final = 0.1
_REGEX: Final = 0.25
_LIST: Final = 10
_OBJECTS: Final = (Cell, IpAddress, Cidr, NamedFormat, Url, Semver)


class Tracker:
    """Counts one evaluation.

    The stack may grow with every round of a fold, so the places of a node on it are indexed. Places of what was dropped
    stay in the index until they are met; the last place that still holds its node is the highest.
    """

    __slots__ = ("_places", "_stack", "cost", "limit")

    def __init__(self, limit: int) -> None:
        self.cost = 0
        self.limit = limit
        self._stack: list[tuple[int, Value]] = []
        self._places: dict[int, list[int]] = {}

    def push(self, node_id: int, value: Value) -> None:
        """Record the value of a node; ends the evaluation when the limit is exceeded."""
        places = self._places.get(node_id)
        if places is None:
            self._places[node_id] = [len(self._stack)]
        else:
            places.append(len(self._stack))
        self._stack.append((node_id, value))
        if self.cost > self.limit:
            message = f"the evaluation costs more than {self.limit}; kube-scheduler stops here"
            raise EvaluationAborted("cost-limit", message)

    def _find(self, node_id: int) -> int:
        """Give the highest place of a node; -1 when it is not there."""
        places, stack = self._places.get(node_id), self._stack
        while places:
            place = places[-1]
            if place < len(stack) and stack[place][0] == node_id:
                return place
            places.pop()
        return -1

    def drop(self, *node_ids: int) -> None:
        """Remove nodes from the stack, and what lies above them."""
        for node_id in node_ids:
            place = self._find(node_id)
            if place >= 0:
                del self._stack[place:]

    def take(self, node_ids: Sequence[int]) -> list[Value] | None:
        """Remove arguments, last first, and give their values; nothing when one is not there."""
        found: list[Value] = [None] * len(node_ids)
        for position in range(len(node_ids) - 1, -1, -1):
            place = self._find(node_ids[position])
            if place < 0:
                return None
            found[position] = self._stack[place][1]
            del self._stack[place:]
        return found


def call_cost(function: str, overload: str, args: Sequence[Value], result: Value) -> int:
    """Price one call that was made."""
    price = _BY_OVERLOAD.get(overload)
    if price is not None:
        return price(args, result)
    by_function = _BY_FUNCTION.get(function)
    if by_function is not None:
        return by_function(overload, args, result)
    if function == "_==_" and isinstance(args[0], _OBJECTS):
        return 1
    standard = _STANDARD.get(overload)
    return 1 if standard is None else standard(args)


def _up(amount: float) -> int:
    return math.ceil(amount)


def _text(value: Value, factor: float = _TEXT) -> int:
    return _up(own_size(value) * factor)


def _traversal(value: Value) -> int:
    """Count a value as a tree of data; strings cost a tenth of their bytes, rounded down."""
    if isinstance(value, str):
        return int(len(value.encode("utf-8", "surrogatepass")) * _TEXT)
    if isinstance(value, bytes):
        return int(len(value) * _TEXT)
    if isinstance(value, list | CelMap):
        spend_parts(len(value))
    if isinstance(value, list):
        return sum(_traversal(element) for element in value)
    if isinstance(value, CelMap):
        return sum(_traversal(key) + _traversal(entry) for key, entry in value.values())
    return 1


def _allocated(factor: float, size: int) -> int:
    # A negative product wraps to the top of uint64 in Go and then stays near it; one above becomes the middle.
    product = int(float(size) * factor)
    return ((product if product < 2**64 else 2**63) + 1 + _LIST) % 2**64


def _crash() -> EvaluationAborted:
    """Report what makes upstream's counter panic, which ends the evaluation whatever stands around it."""
    return EvaluationAborted("internal", "kube-scheduler fails on a list function whose receiver is no list")


def _flattened(args: Sequence[Value], _result: Value) -> int:
    depth = 1.0
    if len(args) == 2:
        if type(args[1]) is not int:
            raise _crash()
        depth = float(args[1])
    return _allocated(depth, own_size(args[0]))


def _self_compared(value: Value) -> int:
    if not isinstance(value, list):
        raise _crash()
    size = len(value)
    first = value[0] if value else None
    return _allocated(2.0 + _TEXT if isinstance(first, str | bytes) else 2.0, size * size)


def _sets(factor: float) -> Callable[[Sequence[Value], Value], int]:
    return lambda args, _result: 1 + int(float(own_size(args[0]) * own_size(args[1])) * factor)


_SORTED: Final = (
    "int", "uint", "double", "bool", "google.protobuf.Duration", "google.protobuf.Timestamp", "string", "bytes",
)  # fmt: skip
_BY_OVERLOAD: Final[dict[str, Callable[[Sequence[Value], Value], int]]] = {
    **dict.fromkeys(("list_slice", "lists_range", "list_reverse"), lambda _, result: _allocated(1, own_size(result))),
    "list_flatten": _flattened,
    "list_flatten_int": _flattened,
    "list_distinct": lambda args, _: _self_compared(args[0]),
    **{f"list_{name}_sort": lambda args, _: _self_compared(args[0]) for name in _SORTED},
    **{f"list_{name}_sortByAssociatedKeys": lambda args, _: _self_compared(args[1]) for name in _SORTED},
    "list_sets_contains_list": _sets(1.0),
    "list_sets_intersects_list": _sets(1.0),
    "list_sets_equivalent_list": _sets(2.0),
}


def _selector(_overload: str, args: Sequence[Value], _result: Value) -> int:
    size = own_size(args[1])
    return 10 + _up(size * _TEXT) + _up(_up(size * 0.5) * 50)


def _pattern(_overload: str, args: Sequence[Value], _result: Value) -> int:
    return _up((1.0 + own_size(args[0])) * _TEXT) * _up(own_size(args[1]) * _REGEX)


def _ip(overload: str, args: Sequence[Value], _result: Value) -> int:
    return 1 if overload == "cidr_ip" else _text(args[0])


def _contains(*, block: bool) -> Callable[[str, Sequence[Value], Value], int]:
    def price(overload: str, args: Sequence[Value], _result: Value) -> int:
        size = own_size(args[0])
        cost = _up((size + size) * _TEXT)
        if block:
            cost += _up(size * _TEXT) + 1
        return cost + (_text(args[1]) if overload.endswith("_string") else 0)

    return price


def _validate(_overload: str, args: Sequence[Value], _result: Value) -> int:
    if not isinstance(args[0], NamedFormat):
        return 1
    return _up((1.0 + own_size(args[1])) * _TEXT) * _up(regex_size(args[0]) * _REGEX)


def _nominal(_overload: str, _args: Sequence[Value], _result: Value) -> int:
    return 1


def _first(factor: float) -> Callable[[str, Sequence[Value], Value], int]:
    return lambda _overload, args, _result: _text(args[0], factor)


_NOMINAL: Final = (
    "serviceAccount path group resource subresource namespace name allowed reason error errored masked prefixLength"
    " family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast format.named sign"
    " asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch getScheme"
    " getHostname getHost getPort getEscapedPath getQuery"
)
_BY_FUNCTION: Final[dict[str, Callable[[str, Sequence[Value], Value], int]]] = {
    **dict.fromkeys(_NOMINAL.split(), _nominal),
    "check": lambda _overload, _args, _result: 350_000,
    "fieldSelector": _selector,
    "labelSelector": _selector,
    **dict.fromkeys(
        ("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"),
        lambda _overload, args, _result: _traversal(args[0]),
    ),
    **dict.fromkeys(
        ("url", "lowerAscii", "upperAscii", "substring", "trim", "cidr", "isIP", "isCIDR", "quantity", "isQuantity",
         "semver", "isSemver"),
        _first(_TEXT),
    ),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _first(2 * _TEXT)),
    "join": lambda _overload, _args, result: _text(result, 2 * _TEXT),
    "find": _pattern,
    "findAll": _pattern,
    "ip": _ip,
    "containsIP": _contains(block=False),
    "containsCIDR": _contains(block=True),
    "validate": _validate,
}  # fmt: skip


def _smaller(args: Sequence[Value]) -> int:
    return _up(min(size_of(args[0]), size_of(args[1])) * _TEXT)


def _joined(args: Sequence[Value]) -> int:
    return _up((size_of(args[0]) + size_of(args[1])) * _TEXT)


def _matched(args: Sequence[Value]) -> int:
    return _up((1.0 + size_of(args[0])) * _TEXT) * _up(size_of(args[1]) * _REGEX)


def _searched(args: Sequence[Value]) -> int:
    return _up(size_of(args[0]) * _TEXT) * _up(size_of(args[1]) * _TEXT)


_STANDARD: Final[dict[str, Callable[[Sequence[Value]], int]]] = {
    **dict.fromkeys(
        ("starts_with_string", "ends_with_string", "string_to_bytes", "bytes_to_string", "strings_quote",
         "string_format"),
        lambda args: _up(size_of(args[0]) * _TEXT),
    ),
    "in_list": lambda args: size_of(args[1]),
    **{
        f"{operator}_{kind}": _smaller
        for operator in ("less", "less_equals", "greater", "greater_equals")
        for kind in ("string", "bytes")
    },
    "equals": _smaller,
    "not_equals": _smaller,
    "add_string": _joined,
    "add_bytes": _joined,
    "matches_string": _matched,
    "contains_string": _searched,
}  # fmt: skip


Run: TypeAlias = "Any"
