"""Find the implementation of a call: one for the whole function, the one overload that fits, or a choice at run time.

An implementation raises ``EvaluationError``; a value of a type that no overload takes is "no such overload". What is
found is called with exactly the arguments of the call, receiver first.
"""

# ruff: noqa: PLR2004 - bounds of the language, named by the text beside them

from __future__ import annotations

from functools import cache
from importlib import import_module

from components.cel.arithmetic import OPERATORS, negate
from components.cel.declarations import all_functions
from components.cel.equality import ORDERED, compare, contains, no_overload
from components.cel.kinds import fits, type_name
from components.cel.problem import EvaluationError
from components.cel.types import Kind
from components.cel.values import CelMap, MapAccumulator, TypeValue, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final, TypeAlias

    from components.cel.declarations import Function, Overload

Implementation: TypeAlias = "Callable[..., Value]"


def _not(value: Value) -> Value:
    if type(value) is not bool:
        raise no_overload("!_")
    return not value


def _size(value: Value) -> Value:
    if isinstance(value, str | bytes | list | CelMap):
        return len(value)
    raise no_overload("size")


def _type(value: Value) -> Value:
    return TypeValue(type_name(value))


def _in(element: Value, container: Value) -> Value:
    return contains(container, element)


def _ordering(test: Callable[[int], bool]) -> Implementation:
    def ordering(left: Value, right: Value) -> Value:
        if type(left) not in ORDERED:
            raise no_overload()
        return test(compare(left, right))

    return ordering


def insert(target: Value, *rest: Value) -> Value:
    """Insert a key with its value, or all entries of a map; a key that is there already is an error."""
    assert isinstance(target, CelMap)
    entries: list[tuple[Value, Value]] = [(rest[0], rest[1])] if len(rest) == 2 else []
    if not entries:
        assert isinstance(rest[0], CelMap)
        entries = list(rest[0].values())
    grown = target if type(target) is MapAccumulator else CelMap(target)
    for key, value in entries:
        if grown.find(key) is not None:
            raise EvaluationError("duplicate-key", f"insert failed: key {str(key)[:80]} already exists")
        grown.insert(key, value)
    return grown


_OWN: Final[dict[str, Implementation]] = {
    **OPERATORS,
    "!_": _not,
    "-_": negate,
    "@in": _in,
    "_<_": _ordering(lambda sign: sign < 0),
    "_<=_": _ordering(lambda sign: sign <= 0),
    "_>_": _ordering(lambda sign: sign > 0),
    "_>=_": _ordering(lambda sign: sign >= 0),
    "size": _size,
    "type": _type,
    "dyn": lambda value: value,
}
_WHOLE: Final = frozenset({*_OWN, "matches", "sort", "@sortByAssociatedKeys", "flatten"})
"""Functions with one implementation that judges its arguments itself; the others have one for each overload."""

_LIBRARY: Final = """
conversions: bool bytes double duration int string timestamp uint
formats: format.byte format.date format.datetime format.dns1035Label format.dns1035LabelPrefix format.dns1123Label
formats: format.dns1123LabelPrefix format.dns1123Subdomain format.dns1123SubdomainPrefix format.labelValue
formats: format.named format.qualifiedName format.uri format.uuid validate
lists: @sortByAssociatedKeys distinct flatten includes indexOf isSorted lastIndexOf lists.range max min reverse
lists: sets.contains sets.equivalent sets.intersects slice sort sum
network: cidr containsCIDR containsIP family ip ip.isCanonical isCIDR isGlobalUnicast isIP isLinkLocalMulticast
network: isLinkLocalUnicast isLoopback isUnspecified masked prefixLength
objects: add asApproximateFloat asInteger compareTo first hasValue isGreaterThan isInteger isLessThan isQuantity
objects: isSemver last major minor optional.none optional.of optional.ofNonZeroValue optional.unwrap patch quantity
objects: semver sign sub unwrapOpt value
searches: find findAll matches
templates: format
text: charAt contains endsWith indexOf join lastIndexOf lowerAscii replace split startsWith strings.quote substring
text: trim upperAscii
times: getDate getDayOfMonth getDayOfWeek getDayOfYear getFullYear getHours getMilliseconds getMinutes getMonth
times: getSeconds
urls: getEscapedPath getHost getHostname getPort getQuery getScheme isURL url
"""
"""Which modules beside this one implement which functions; they are imported when a call needs them."""

_OVERLOADS: Final[dict[str, Implementation]] = {"@mapInsert_map_key_value": insert, "@mapInsert_map_map": insert}
_OPEN: Final = frozenset({Kind.PARAM, Kind.DYN})


@cache
def _homes() -> dict[str, list[str]]:
    homes: dict[str, list[str]] = {}
    for line in _LIBRARY.strip().splitlines():
        module, _, names = line.partition(": ")
        for name in names.split():
            homes.setdefault(name, []).append(f"components.cel.library.{module}")
    return homes


@cache
def _table(name: str, *, growing: bool) -> dict[str, Implementation]:
    """Give the implementations that a function's home has, by overload, or by the name for a whole function."""
    found: dict[str, Implementation] = {**_OVERLOADS}
    for home in _homes().get(name, ()):
        module = import_module(home)
        found |= module.OVERLOADS
        if growing and home.endswith(".objects"):
            found |= module.GROWING
    return found


def is_variadic(function: Function, overloads: tuple[str, ...]) -> bool:
    """Tell whether the call is made through upstream's variadic form, which stops at the first error."""
    if function.name == "format":
        return True
    return function.name not in _WHOLE and len(overloads) != 1 and len(function.overloads) > 1


def implementation(function: Function, overloads: tuple[str, ...], *, growing: bool) -> Implementation:
    """Give what a call runs; ``growing`` selects the quantity comparisons that may change their receiver's form."""
    name = function.name
    own = _OWN.get(name)
    if own is not None:
        return own
    if name in _WHOLE:
        return _table(name, growing=growing)[name]
    if len(overloads) == 1 or len(function.overloads) == 1:
        return _alone(name, overloads[0], growing=growing)
    return _chosen(name, growing=growing)


@cache
def _alone(name: str, overload: str, *, growing: bool) -> Implementation:
    """Give what runs one overload, or the only one of a function."""
    overloads = all_functions()[name].overloads
    chosen = next((one for one in overloads if one.id == overload), overloads[0])
    return _guarded(name, chosen, _table(name, growing=growing).get(chosen.id))


def _never(name: str) -> Implementation:
    def never(*_values: Value) -> Value:
        raise no_overload(name)

    return never


def _guarded(name: str, overload: Overload, run: Implementation | None) -> Implementation:
    """Check the arguments before the one overload runs."""
    args = overload.args
    if run is None:
        return _never(name)
    checked = tuple((index, declared) for index, declared in enumerate(args) if declared.kind not in _OPEN)
    if not checked:
        return run
    if len(args) == 1:
        first = args[0]

        def unary(value: Value) -> Value:
            if not fits(value, first):
                raise no_overload(name)
            return run(value)

        return unary

    def many(*values: Value) -> Value:
        for index, declared in checked:
            if not fits(values[index], declared):
                raise no_overload(name)
        return run(*values)

    return many


@cache
def _chosen(name: str, *, growing: bool) -> Implementation:
    """Choose the first overload that takes the arguments."""
    table = _table(name, growing=growing)
    by_count: dict[int, list[tuple[Overload, Implementation]]] = {}
    for overload in all_functions()[name].overloads:
        run = table.get(overload.id)
        if run is not None:
            by_count.setdefault(len(overload.args), []).append((overload, run))

    def choose(*values: Value) -> Value:
        for overload, run in by_count.get(len(values), ()):
            if all(fits(value, declared) for value, declared in zip(values, overload.args, strict=True)):
                return run(*values)
        raise no_overload(name)

    return choose
