"""Functions of lists and sets; order, sums and membership follow the operators."""

from __future__ import annotations

import functools

from components.cel.arithmetic import plus
from components.cel.equality import ORDERED, compare, contains, equal, no_overload
from components.cel.kinds import type_name
from components.cel.problem import EvaluationError
from components.cel.values import Duration, UInt, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Final

MAX_LIST: Final = 1_000_000
MAX_INCLUDES: Final = 48
_QUADRATIC: Final = 5_000


def _ordered(values: Iterable[Value]) -> Iterable[Value]:
    for value in values:
        if type(value) not in ORDERED:
            raise no_overload()
        yield value


def _at_most(left: Value, right: Value) -> int:
    """Compare; what cannot be compared counts as in order, as upstream has it."""
    try:
        return compare(left, right)
    except EvaluationError:
        return 0


def is_sorted(values: list[Value]) -> bool:
    """Tell whether no element is greater than the next."""
    previous: Value = None
    for index, value in enumerate(_ordered(values)):
        if index and _at_most(previous, value) > 0:
            return False
        previous = value
    return True


def _extreme(name: str, wanted: int) -> Callable[[list[Value]], Value]:
    def extreme(values: list[Value]) -> Value:
        if not values:
            raise EvaluationError("empty-list", f"{name} called on empty list")
        best: Value = None
        for index, value in enumerate(_ordered(values)):
            if not index or _at_most(best, value) == wanted:
                best = value
        return best

    return extreme


def _sum(zero: Value) -> Callable[[list[Value]], Value]:
    def total(values: list[Value]) -> Value:
        result = zero
        for value in values:
            try:
                result = plus(result, value)
            except EvaluationError as error:  # upstream reports every failed addition this way
                raise EvaluationError("no-such-overload", "no such overload: sum") from error
        return result

    return total


def _is(element: Value, item: Value) -> bool:
    try:
        return equal(element, item)
    except EvaluationError:
        return False


def index_of(values: list[Value], item: Value) -> int:
    """Find the first equal element."""
    return next((index for index, value in enumerate(values) if _is(value, item)), -1)


def last_index_of(values: list[Value], item: Value) -> int:
    """Find the last equal element."""
    return next((index for index in range(len(values) - 1, -1, -1) if _is(values[index], item)), -1)


def slice_of(values: list[Value], start: int, end: int) -> list[Value]:
    """Cut a part out."""
    text = f"cannot slice({start}, {end})"
    if start < 0 or end < 0:
        raise EvaluationError("index", f"{text}, negative indexes not supported")
    if start > end:
        raise EvaluationError("index", f"{text}, start index must be less than or equal to end index")
    if len(values) < end:
        raise EvaluationError("index", f"{text}, list is length {len(values)}")
    return values[start:end]


def flatten(values: Value, depth: Value = 1) -> list[Value]:
    """Resolve lists in lists, ``depth`` levels of them."""
    if not isinstance(values, list) or type(depth) is not int:
        raise no_overload("flatten")
    if depth < 0:
        raise EvaluationError("invalid-argument", "level must be non-negative")
    current: list[Value] = list(values)
    for _ in range(min(depth, 1_000)):
        if not any(isinstance(value, list) for value in current):
            break
        current = [inner for value in current for inner in (value if isinstance(value, list) else (value,))]
        if len(current) > MAX_LIST:
            raise EvaluationError("unsupported", f"a list of more than {MAX_LIST} elements is not built")
    return current


def sort_by_keys(values: Value, keys: Value) -> list[Value]:
    """Sort a list by a list of keys of one type."""
    if not isinstance(values, list) or not isinstance(keys, list):
        raise no_overload("sort")
    if len(values) != len(keys):  # a key that adds to the list of cel.bind which is sorted
        raise EvaluationError("invalid-argument", "the list and its keys differ in length")
    if not keys:
        return values
    if type(keys[0]) not in ORDERED:
        raise EvaluationError("invalid-argument", "list elements must be comparable")
    if len(keys) > 1 and any(type_name(key) != type_name(keys[0]) for key in keys):
        raise EvaluationError("invalid-argument", "list elements must have the same type")

    def by_key(one: int, two: int) -> int:
        return _at_most(keys[one], keys[two])

    order = sorted(range(len(keys)), key=functools.cmp_to_key(by_key))
    return [values[index] for index in order]


def numbers(count: int) -> list[Value]:
    """Give 0, 1, ... below ``count``."""
    if count > MAX_LIST:
        raise EvaluationError("unsupported", f"a list of more than {MAX_LIST} elements is not built")
    return list(range(max(0, count)))


def distinct(values: list[Value]) -> list[Value]:
    """Drop what equals an earlier element."""
    found: list[Value] = []
    _bounded(len(values))
    for value in values:
        if not any(_is(value, other) for other in found):
            found.append(value)
    return found


def _bounded(size: int) -> None:
    if size > _QUADRATIC:
        raise EvaluationError("unsupported", f"more than {_QUADRATIC} elements are not compared with each other")


def sets_contain(values: list[Value], part: list[Value]) -> bool:
    """Tell whether every element of the second list is in the first."""
    _bounded(int((len(values) * len(part)) ** 0.5))
    return all(contains(values, element) for element in part)


def sets_intersect(left: list[Value], right: list[Value]) -> bool:
    """Tell whether the lists have an element in common."""
    _bounded(int((len(left) * len(right)) ** 0.5))
    return any(contains(right, element) for element in left)


def includes(target: Value, item: Value) -> bool:
    """Tell whether a list holds a value, or is the value when it is none; lists are bounded."""
    if isinstance(target, list):
        for index, value in enumerate(target):
            if index >= MAX_INCLUDES:
                message = f"'includes' function cannot be applied to lists longer than {MAX_INCLUDES} values"
                raise EvaluationError("list-too-long", message)
            if _is(value, item):
                return True
        return False
    return _is(target, item)


_TYPES: Final = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
OVERLOADS: Final[dict[str, Callable[..., Any]]] = {
    **{f"list_{name}_is_sorted_bool": is_sorted for name in _TYPES},
    **{f"list_{name}_min_{name}": _extreme("min", 1) for name in _TYPES},
    **{f"list_{name}_max_{name}": _extreme("max", -1) for name in _TYPES},
    "list_int_sum_int": _sum(0),
    "list_uint_sum_uint": _sum(UInt(0)),
    "list_double_sum_double": _sum(0.0),
    "list_duration_sum_duration": _sum(Duration(0)),
    "list_a_index_of_int": index_of,
    "list_a_last_index_of_int": last_index_of,
    "sort": lambda values: sort_by_keys(values, values),
    "@sortByAssociatedKeys": sort_by_keys,
    "flatten": flatten,
    "list_slice": slice_of,
    "lists_range": numbers,
    "list_reverse": lambda values: values[::-1],
    "list_distinct": distinct,
    "list_sets_contains_list": sets_contain,
    "list_sets_intersects_list": sets_intersect,
    "list_sets_equivalent_list": lambda one, two: sets_contain(one, two) and sets_contain(two, one),
    "dra_includes_dyn_dyn": includes,
}
