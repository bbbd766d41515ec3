"""Find the implementation of a call: one for the whole function, the one overload that fits, or a choice at run time.

An implementation raises ``EvaluationError``; a value of a type that no overload takes is "no such overload". What is
found is called with exactly the arguments of the call, receiver first.
"""

# ruff: noqa: PLR2004 - bounds of the language, named by the text beside them

from __future__ import annotations

from components.cel.arithmetic import OPERATORS, negate
from components.cel.equality import ORDERED, compare, contains, no_overload
from components.cel.kinds import fits
from components.cel.library import conversions, formats, lists, network, objects, templates, text, times
from components.cel.problem import EvaluationError
from components.cel.regex.parser import RegexError
from components.cel.regex.pattern import computed_pattern
from components.cel.types import Kind
from components.cel.values import CelMap, MapAccumulator, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final, TypeAlias

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


def _in(element: Value, container: Value) -> Value:
    return contains(container, element)


def _ordering(test: Callable[[int], bool]) -> Implementation:
    def ordering(left: Value, right: Value) -> Value:
        if type(left) not in ORDERED:
            raise no_overload()
        return test(compare(left, right))

    return ordering


def _pattern(source: str) -> Any:
    try:
        return computed_pattern(source)
    except RegexError as error:
        raise EvaluationError("bad-regex", error.message) from error


def _matches(value: Value, pattern: Value) -> Value:
    if type(value) is not str or type(pattern) is not str:
        raise no_overload("matches")
    return _pattern(pattern).matches(value)


def _find(value: str, pattern: str) -> Value:
    return found_text(_pattern(pattern), value)


def found_text(pattern: Any, value: str) -> str:
    """Give the first match, or an empty text."""
    span = pattern.search(value)
    return value[span[0] : span[1]] if span else ""


def _find_all(value: str, pattern: str, limit: int = -1) -> Value:
    return _pattern(pattern).find_all(value, limit)


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


WHOLE: Final[dict[str, Implementation]] = {
    **OPERATORS,
    "!_": _not,
    "-_": negate,
    "@in": _in,
    "_<_": _ordering(lambda sign: sign < 0),
    "_<=_": _ordering(lambda sign: sign <= 0),
    "_>_": _ordering(lambda sign: sign > 0),
    "_>=_": _ordering(lambda sign: sign >= 0),
    "size": _size,
    "type": conversions.type_of,
    "dyn": lambda value: value,
    "matches": _matches,
    "sort": lambda values: lists.sort_by_keys(values, values),
    "@sortByAssociatedKeys": lists.sort_by_keys,
    "flatten": lists.flatten,
}
"""Functions with one implementation that judges its arguments itself."""

OVERLOADS: Final[dict[str, Implementation]] = {
    **conversions.OVERLOADS,
    **formats.OVERLOADS,
    **lists.OVERLOADS,
    **network.OVERLOADS,
    **objects.OVERLOADS,
    **text.OVERLOADS,
    **times.OVERLOADS,
    "string_format": templates.render,
    "string_find_string": _find,
    "string_find_all_string": _find_all,
    "string_find_all_string_int": _find_all,
    "@mapInsert_map_key_value": insert,
    "@mapInsert_map_map": insert,
}
_GROWING: Final[dict[str, Implementation]] = {**OVERLOADS, **objects.GROWING}
_OPEN: Final = frozenset({Kind.PARAM, Kind.DYN})


def is_variadic(function: Function, overloads: tuple[str, ...]) -> bool:
    """Tell whether the call is made through upstream's variadic form, which stops at the first error."""
    if function.name == "format":
        return True
    return function.name not in WHOLE and len(overloads) != 1 and len(function.overloads) > 1


def implementation(function: Function, overloads: tuple[str, ...], *, growing: bool) -> Implementation:
    """Give what a call runs; ``growing`` selects the quantity comparisons that may change their receiver's form."""
    whole = WHOLE.get(function.name)
    if whole is not None:
        return whole
    table = _GROWING if growing else OVERLOADS
    if len(overloads) == 1 or len(function.overloads) == 1:
        chosen = next(
            (overload for overload in function.overloads if overload.id == overloads[0]), function.overloads[0]
        )
        return _guarded(function.name, chosen, table.get(chosen.id))
    return _chosen(function, table)


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


def _chosen(function: Function, table: dict[str, Implementation]) -> Implementation:
    """Choose the first overload that takes the arguments."""
    by_count: dict[int, list[tuple[Overload, Implementation]]] = {}
    for overload in function.overloads:
        run = table.get(overload.id)
        if run is not None:
            by_count.setdefault(len(overload.args), []).append((overload, run))
    name = function.name

    def choose(*values: Value) -> Value:
        for overload, run in by_count.get(len(values), ()):
            if all(fits(value, declared) for value, declared in zip(values, overload.args, strict=True)):
                return run(*values)
        raise no_overload(name)

    return choose
