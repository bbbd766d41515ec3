"""Closures for the everyday shapes of selectors, each one call instead of three or four.

They answer exactly as the general closures do, also for values that are not of the expected type. No operand is
evaluated twice: each level of a nested expression would double the work.
"""

from __future__ import annotations

from components.cel.branches import placed
from components.cel.equality import compare, equal_at, no_overload
from components.cel.problem import EvaluationError
from components.cel.values import Cell, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final, TypeAlias

    from components.cel.quantity import Quantity

Closure: TypeAlias = "Callable[[list[Any]], Value]"
Address: TypeAlias = tuple[str, str, int]

TESTS: Final[dict[str, Callable[[int], bool]]] = {
    "_<_": lambda sign: sign < 0,
    "_<=_": lambda sign: sign <= 0,
    "_>_": lambda sign: sign > 0,
    "_>=_": lambda sign: sign >= 0,
}
_SIGNS: Final = (-1, 0, 1)
QUANTITY_TESTS: Final[dict[str, frozenset[int]]] = {
    "quantity_is_greater_than": frozenset({1}),
    "quantity_is_less_than": frozenset({-1}),
}


def unknown(field: str, address: Address) -> EvaluationError:
    """Report an attribute or capacity that the device does not have."""
    return EvaluationError("no-such-key", "", offset=address[2], key=(field, address[0], address[1]))


def attribute_equals(address: Address, wanted: Value, pos: int) -> Closure:
    """Compare an attribute of the device with a constant string, int or bool."""
    domain, name, _ = address
    kind = type(wanted)

    def test(env: list[Any]) -> Value:
        try:
            value = env[0].attributes[domain][name]
        except KeyError:
            raise unknown("attribute", address) from None
        return value == wanted if type(value) is kind else equal_at(value, wanted, pos)

    return test


def passing_signs(function: str, wanted: int) -> frozenset[int]:
    """Give the signs of a comparison that pass ``sign <function> wanted``."""
    if function in TESTS:
        return frozenset(sign for sign in _SIGNS if TESTS[function]((sign > wanted) - (sign < wanted)))
    return frozenset({wanted} & set(_SIGNS))


def quantity_test(left: Closure, wanted: Quantity, passing: frozenset[int], name: str, pos: int) -> Closure:
    """Compare a quantity with a constant one; null, which the types let through, has no overload of ``name``."""
    mantissa, scale = wanted.mantissa, wanted.scale
    less, same, more = -1 in passing, 0 in passing, 1 in passing

    def test(env: list[Any]) -> Value:
        value = left(env)
        if type(value) is not Cell:
            raise placed(no_overload(name), pos)
        quantity = value.box[0]
        if quantity.scale != scale:
            return quantity.compare(wanted) in passing
        number = quantity.mantissa
        if number > mantissa:
            return more
        return less if number < mantissa else same

    return test


def ordered(function: str, left: Closure, wanted: int, run: Callable[..., Value], pos: int) -> Closure:
    """Order an int against a constant one; ``run`` takes every other value."""
    test = TESTS[function]

    def order(env: list[Any]) -> Value:
        value = left(env)
        if type(value) is int:
            return test(compare(value, wanted))
        try:
            return run(value, wanted)
        except EvaluationError as error:
            raise placed(error, pos) from None

    return order
