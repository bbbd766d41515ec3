"""Equality and order of values, with upstream's asymmetries.

Values of different types are unequal, not an error, except where the left side is a Kubernetes object (quantity,
version, address, URL, format): those refuse to compare with anything else. A quantity computed by ``add`` or ``sub``
is such an "anything else" when it stands on the right. Ints, uints and doubles compare by value, ints and doubles in
floating point, so that the largest int64 equals 9223372036854775807.0.
"""

# ruff: noqa: PLR2004 - bounds of the language, named by the text beside them

from __future__ import annotations

from components.cel.meter import spend_parts
from components.cel.problem import EvaluationError
from components.cel.semver import Semver
from components.cel.values import (
    NOTHING,
    OPTIONALS,
    Accumulator,
    Cell,
    CelMap,
    Cidr,
    ConcatList,
    DomainMap,
    Duration,
    IpAddress,
    MapAccumulator,
    NamedFormat,
    Opt,
    StringMap,
    Timestamp,
    TypeValue,
    UInt,
    Url,
    Value,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final

LISTS: Final = frozenset({list, ConcatList, Accumulator})
MAPS: Final = frozenset({CelMap, MapAccumulator, DomainMap, StringMap})
_NUMBERS: Final = frozenset({int, UInt, float})
_PLAIN: Final = frozenset({str, int, bool, bytes, UInt, Duration})
_SELF_ONLY: Final = frozenset({Semver, IpAddress, Cidr, Url, NamedFormat})
_REFUSING: Final = _SELF_ONLY | {Cell}
_MAX_UINT: Final = 2.0**64
_MAX_INT: Final = 2.0**63


def no_overload(name: str = "") -> EvaluationError:
    """Make the error of operands of types that the operation does not take."""
    return EvaluationError("no-such-overload", f"no such overload{': ' + name if name else ''}")


def equal(left: Value, right: Value) -> bool:
    """Compare two values; raises where the left side refuses to compare."""
    kind = type(left)
    if kind is type(right) and kind in _PLAIN:
        return bool(left == right)
    if left is None or right is None:
        return left is right
    if kind in _NUMBERS:
        return type(right) in _NUMBERS and _compare_numbers(left, right) == 0
    comparer = _EQUAL.get(kind)
    return comparer(left, right) if comparer is not None else False


def _same_kind(left: Value, right: Value) -> bool:
    if type(left) is not type(right):
        raise no_overload("_==_")
    return bool(left == right)


def _cells(left: Value, right: Value) -> bool:
    assert isinstance(left, Cell)
    if not isinstance(right, Cell) or right.computed:
        raise no_overload("_==_")
    return left.quantity.compare(right.quantity) == 0


def _lists(left: Value, right: Value) -> bool:
    assert isinstance(left, list)
    if not isinstance(right, list) or len(left) != len(right):
        return False
    spend_parts(len(left))
    failed: EvaluationError | None = None
    for mine, theirs in zip(left, right, strict=True):
        try:
            if not equal(mine, theirs):
                return False
        except EvaluationError as error:  # upstream counts an element that refuses to compare as equal
            failed = failed or error
    if failed is not None and type(left) is ConcatList:
        raise failed
    return True


def _maps(left: Value, right: Value) -> bool:
    assert isinstance(left, CelMap)
    if not isinstance(right, CelMap) or len(left) != len(right):
        return False
    spend_parts(len(left))
    for key, mine in left.values():
        theirs = right.find(key)
        if theirs is None:
            return False
        try:
            if not equal(mine, theirs[1]):
                return False
        except EvaluationError:  # as for lists
            continue
    return True


def _optionals(left: Value, right: Value) -> bool:
    if left is NOTHING or right is NOTHING or not isinstance(right, Opt):
        return left is right
    assert isinstance(left, Opt)
    mine, theirs = left.value, right.value
    if isinstance(mine, EvaluationError):  # what cannot be read back from Go fails when it is looked at
        raise mine.again()
    if type(mine) in _REFUSING and isinstance(theirs, EvaluationError):
        raise theirs.again()
    if mine is None or theirs is None:  # null has no special place here: the left value compares
        return mine is theirs or (type(mine) in _REFUSING and _EQUAL[type(mine)](mine, theirs))
    return equal(mine, theirs)


def _types(left: Value, right: Value) -> bool:
    return bool(left == right)


def _times(left: Value, right: Value) -> bool:
    assert isinstance(left, Timestamp)
    return isinstance(right, Timestamp) and left.nanos == right.nanos


_EQUAL: Final[dict[type, Callable[[Value, Value], bool]]] = {
    Cell: _cells,
    Timestamp: _times,
    TypeValue: _types,
    **dict.fromkeys(_SELF_ONLY, _same_kind),
    **dict.fromkeys(LISTS, _lists),
    **dict.fromkeys(MAPS, _maps),
    **dict.fromkeys(OPTIONALS, _optionals),
}


def _sign(left: float, right: float) -> int:
    return (left > right) - (left < right)


def _compare_numbers(left: Value, right: Value) -> int:
    """Compare two numbers; NaN equals nothing and is reported as 2."""
    left_float, right_float = type(left) is float, type(right) is float
    if left_float and right_float:
        return 2 if left != left or right != right else _sign(left, right)  # noqa: PLR0124 - NaN
    if left_float:
        return _compare_double(left, right)
    if right_float:
        found = _compare_double(right, left)
        return found if found == 2 else -found
    return _sign(left, right)


def _compare_double(left: float, right: int) -> int:
    if left != left:  # noqa: PLR0124 - NaN
        return 2
    low, high = (0.0, _MAX_UINT) if type(right) is UInt else (-_MAX_INT, _MAX_INT)
    if left < low:
        return -1
    return 1 if left > high else _sign(left, float(right))


def equal_at(left: Value, right: Value, pos: int) -> bool:
    """Compare for equality; an error gets the place of the comparison."""
    try:
        return equal(left, right)
    except EvaluationError as error:
        error.offset = pos
        raise


def compare(left: Value, right: Value) -> int:
    """Order a value of a type in ``ORDERED`` and another one: -1, 0 or 1; raises for values of two types."""
    kind = type(left)
    if kind in _NUMBERS:
        if type(right) not in _NUMBERS:
            if kind is float and left != left:  # noqa: PLR0124 - NaN
                raise EvaluationError("nan", "NaN values cannot be ordered")
            raise no_overload()
        found = _compare_numbers(left, right)
        if found == 2:
            raise EvaluationError("nan", "NaN values cannot be ordered")
        return found
    if kind is not type(right):
        raise no_overload()
    if kind is str or kind is bytes or kind is bool:
        return _order_plain(left, right)
    assert isinstance(left, Timestamp | Duration)  # callers compare what is in ORDERED
    assert isinstance(right, Timestamp | Duration)
    return (left.nanos > right.nanos) - (left.nanos < right.nanos)


def _order_plain(left: Any, right: Any) -> int:
    """Order strings by code point, which is the order of their UTF-8 bytes; false is before true."""
    return int(left > right) - int(left < right)


ORDERED: Final = frozenset({bool, bytes, float, Duration, int, str, Timestamp, UInt})


def contains(container: Value, element: Value) -> bool:
    """Test membership as ``in`` does: an element that refuses to compare is not it."""
    if isinstance(container, list):
        for candidate in container:
            try:
                if equal(element, candidate) if element is not None else candidate is None:
                    return True
            except EvaluationError:
                continue
        return False
    if type(container) is DomainMap:  # its keys are texts of Go; whatever is no text is not among them
        return type(element) is str and CelMap.find(container, element) is not None
    if isinstance(container, CelMap):
        return container.find(element) is not None
    raise no_overload()
