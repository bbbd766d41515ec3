"""Functions of quantities, versions and optionals."""

from __future__ import annotations

from components.cel.arithmetic import MIN_TIME
from components.cel.problem import EvaluationError
from components.cel.quantity import Quantity, QuantityError
from components.cel.semver import Semver, SemverError
from components.cel.values import NOTHING, Cell, CelMap, DomainMap, Duration, Opt, Timestamp, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final

_WRAP: Final = 2**64
_MAX_INT: Final = 2**63


def quantity(text: str) -> Cell:
    """Parse a quantity."""
    try:
        return Cell([Quantity.parse(text)])
    except QuantityError as error:
        raise EvaluationError("unsupported" if error.unsupported else "parse-quantity", error.message) from error


def is_quantity(text: str) -> bool:
    """Tell whether a text is a quantity."""
    try:
        Quantity.parse(text)
    except QuantityError as error:
        if error.unsupported:
            raise EvaluationError("unsupported", error.message) from error
        return False
    return True


def as_integer(cell: Cell) -> int:
    """Give the int64 value of a small whole quantity."""
    if not cell.quantity.is_integer:
        raise EvaluationError("not-an-integer", "cannot convert value to integer")
    return cell.quantity.as_integer()


def compare(left: Cell, right: Cell) -> int:
    """Compare two quantities and leave both as they are."""
    return left.box[0].compare(right.box[0])


def compare_and_grow(left: Cell, right: Cell) -> int:
    """Compare as upstream does: the receiver takes the big form when only the other has it."""
    if right.quantity.big and not left.quantity.big:
        left.box[0] = left.quantity.as_big()
    return left.quantity.compare(right.quantity)


def _sum(*, subtract: bool) -> Callable[[Cell, Cell | int], Cell]:
    """Add or subtract; upstream's fault of changing a receiver in the big form is kept."""

    def total(cell: Cell, other: Cell | int) -> Cell:
        operand = other.quantity if isinstance(other, Cell) else other
        try:
            result = cell.quantity.sub(operand) if subtract else cell.quantity.add(operand)
        except QuantityError as error:
            raise EvaluationError("unsupported", error.message) from error
        if cell.quantity.big:
            cell.box[0] = result
            return Cell(cell.box, computed=True)
        return Cell([result], computed=True)

    return total


def semver(text: str, normalize: bool = False) -> Semver:  # noqa: FBT001, FBT002 - an argument of the language
    """Parse a version."""
    try:
        return Semver.parse(text, normalize=normalize)
    except SemverError as error:
        raise EvaluationError("parse-semver", error.message) from error


def is_semver(text: str, normalize: bool = False) -> bool:  # noqa: FBT001, FBT002 - an argument of the language
    """Tell whether a text is a version."""
    try:
        Semver.parse(text, normalize=normalize)
    except SemverError:
        return False
    return True


def _wrapped(number: int) -> int:
    return number - _WRAP if number >= _MAX_INT else number


def value_of(optional: Value) -> Value:
    """Give the value of an optional."""
    if isinstance(optional, Opt):
        if isinstance(optional.value, EvaluationError):
            raise optional.value.again()
        return optional.value
    raise EvaluationError("optional-none", "optional.none() dereference")


def _non_zero(value: Value) -> Value:
    plain = isinstance(value, str | bytes | int | float | list | CelMap | None) and type(value) is not DomainMap
    zero = plain and not value  # upstream's map of the domains does not tell whether it is empty
    if isinstance(value, Duration):
        zero = value.nanos == 0
    if isinstance(value, Timestamp):
        zero = value.nanos == MIN_TIME
    return NOTHING if zero else Opt(value)


def _unwrapped(values: list[Value]) -> list[Value]:
    found: list[Value] = []
    for value in values:
        if isinstance(value, Opt):
            found.append(value.value)
        elif value is not NOTHING:
            raise EvaluationError("invalid-argument", "a value of the list is not optional")
    return found


OVERLOADS: Final[dict[str, Callable[..., Any]]] = {
    "string_to_quantity": quantity,
    "is_quantity_string": is_quantity,
    "quantity_sign": lambda cell: cell.quantity.sign,
    "quantity_is_greater_than": lambda left, right: compare(left, right) > 0,
    "quantity_is_less_than": lambda left, right: compare(left, right) < 0,
    "quantity_compare_to": compare,
    "quantity_get_float": lambda cell: cell.quantity.as_approximate_float(),
    "quantity_get_int": as_integer,
    "quantity_is_integer": lambda cell: cell.quantity.is_integer,
    **{name: _sum(subtract=False) for name in ("quantity_add", "quantity_add_int")},
    **{name: _sum(subtract=True) for name in ("quantity_sub", "quantity_sub_int")},
    "string_to_semver": semver,
    "string_bool_to_semver": semver,
    "is_semver_string": is_semver,
    "is_semver_string_bool": is_semver,
    "semver_is_greater_than": lambda left, right: left.compare(right) > 0,
    "semver_is_less_than": lambda left, right: left.compare(right) < 0,
    "semver_compare_to": lambda left, right: left.compare(right),
    "semver_major": lambda version: _wrapped(version.major),
    "semver_minor": lambda version: _wrapped(version.minor),
    "semver_patch": lambda version: _wrapped(version.patch),
    "optional_of": Opt,
    "optional_ofNonZeroValue": _non_zero,
    "optional_none": lambda: NOTHING,
    "optional_value": value_of,
    "optional_hasValue": lambda optional: optional is not NOTHING,
    "optional_unwrap": _unwrapped,
    "optional_unwrapOpt": _unwrapped,
    "list_first": lambda values: Opt(values[0]) if values else NOTHING,
    "list_last": lambda values: Opt(values[-1]) if values else NOTHING,
}
GROWING: Final[dict[str, Callable[..., Any]]] = {
    "quantity_is_greater_than": lambda left, right: compare_and_grow(left, right) > 0,
    "quantity_is_less_than": lambda left, right: compare_and_grow(left, right) < 0,
    "quantity_compare_to": compare_and_grow,
}
"""What replaces the plain comparisons where an evaluation can observe the form of a quantity."""
