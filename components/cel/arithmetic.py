"""Arithmetic of the operators: 64-bit overflow is an error, times stay in their range, nothing mixes types."""

# ruff: noqa: PLR0911 - one return per kind of value reads best

from __future__ import annotations

import math

from components.cel.equality import LISTS, no_overload
from components.cel.problem import EvaluationError
from components.cel.values import Accumulator, ConcatList, Duration, Timestamp, UInt, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

MAX_INT: Final = 2**63 - 1
MIN_INT: Final = -(2**63)
MAX_UINT: Final = 2**64 - 1
_BILLION: Final = 10**9
MIN_TIME: Final = -62135596800 * _BILLION
MAX_TIME: Final = 253402300799 * _BILLION + _BILLION - 1


def _int(value: int) -> int:
    if MIN_INT <= value <= MAX_INT:
        return value
    raise EvaluationError("overflow", "integer overflow")


def _uint(value: int) -> UInt:
    if 0 <= value <= MAX_UINT:
        return UInt(value)
    raise EvaluationError("overflow", "unsigned integer overflow")


def duration(nanos: int) -> Duration:
    """Make a duration in int64 range."""
    if MIN_INT <= nanos <= MAX_INT:
        return Duration(nanos)
    raise EvaluationError("overflow", "duration overflow")


def timestamp(nanos: int, offset: int = 0) -> Timestamp:
    """Make a timestamp between the years 1 and 9999."""
    if MIN_TIME <= nanos <= MAX_TIME:
        return Timestamp(nanos, offset)
    raise EvaluationError("overflow", "timestamp overflow")


def plus(left: Value, right: Value) -> Value:
    """Add numbers and times, join strings, bytes and lists."""
    kind, other = type(left), type(right)
    if kind in LISTS:
        return _join(left, right)
    if kind is other:
        if kind is int:
            return _int(left + right)
        if kind is str or kind is float or kind is bytes:
            return left + right
        if kind is UInt:
            return _uint(int(left) + int(right))
        if kind is Duration:
            return duration(left.nanos + right.nanos)
    if isinstance(left, Timestamp) and isinstance(right, Duration):
        return timestamp(left.nanos + right.nanos, left.offset)
    if isinstance(left, Duration) and isinstance(right, Timestamp):
        return timestamp(left.nanos + right.nanos, right.offset)
    raise no_overload("_+_")


def _join(left: Value, right: Value) -> Value:
    if not isinstance(right, list):
        raise no_overload("_+_")
    assert isinstance(left, list)
    if type(left) is Accumulator:
        left.extend(right)
        return left
    if not left:
        return right
    if not right:
        return left
    joined = ConcatList(left)
    joined.extend(right)
    return joined


def minus(left: Value, right: Value) -> Value:
    """Subtract numbers and times."""
    kind, other = type(left), type(right)
    if kind is other:
        if kind is int:
            return _int(left - right)
        if kind is float:
            return left - right
        if kind is UInt:
            return _uint(int(left) - int(right))
        if kind is Duration:
            return duration(left.nanos - right.nanos)
        if kind is Timestamp:
            return duration(left.nanos - right.nanos)
    if isinstance(left, Timestamp) and isinstance(right, Duration):
        return timestamp(left.nanos - right.nanos, left.offset)
    raise no_overload("_-_")


def times(left: Value, right: Value) -> Value:
    """Multiply numbers of one type."""
    kind = type(left)
    if kind is type(right):
        if kind is int:
            return _int(left * right)
        if kind is float:
            return left * right
        if kind is UInt:
            return _uint(int(left) * int(right))
    raise no_overload("_*_")


def divide(left: Value, right: Value) -> Value:
    """Divide numbers of one type; integers round towards zero."""
    kind = type(left)
    if kind is type(right):
        if kind is float:
            return _divide_doubles(left, right)
        if kind is int or kind is UInt:
            if not right:
                raise EvaluationError("division-by-zero", "division by zero")
            whole: int = abs(left) // abs(right)
            if kind is UInt:
                return UInt(whole)
            return _int(whole if (left < 0) == (right < 0) else -whole)
    raise no_overload("_/_")


def _divide_doubles(left: float, right: float) -> float:
    if right:
        return left / right
    if not left or math.isnan(left) or math.isnan(right):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def modulo(left: Value, right: Value) -> Value:
    """Give the remainder with the sign of the left side."""
    kind = type(left)
    if kind is type(right) and (kind is int or kind is UInt):
        if not right:
            raise EvaluationError("modulus-by-zero", "modulus by zero")
        if left == MIN_INT and right == -1:
            raise EvaluationError("overflow", "integer overflow")
        rest: int = abs(left) % abs(right)
        if kind is UInt:
            return UInt(rest)
        return -rest if left < 0 else rest
    raise no_overload("_%_")


def negate(value: Value) -> Value:
    """Change the sign."""
    kind = type(value)
    if kind is int:
        return _int(-value)
    if kind is float:
        return -value
    if isinstance(value, Duration):
        return duration(-value.nanos)
    raise no_overload("-_")


OPERATORS: Final[dict[str, Callable[[Value, Value], Value]]] = {
    "_+_": plus,
    "_-_": minus,
    "_*_": times,
    "_/_": divide,
    "_%_": modulo,
}
