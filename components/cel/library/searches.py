"""Functions of regular expressions: with a pattern that is computed, or one that is constant and compiled once."""

from __future__ import annotations

from components.cel.equality import no_overload
from components.cel.problem import EvaluationError
from components.cel.regex.code import RegexError
from components.cel.regex.pattern import computed_pattern
from components.cel.values import Opt, TypeValue, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final


def _pattern(source: str) -> Any:
    try:
        return computed_pattern(source)
    except RegexError as error:
        raise EvaluationError("bad-regex", error.message) from error


def _matches(value: Value, pattern: Value) -> Value:
    if type(value) is not str or type(pattern) is not str:
        raise no_overload("matches")
    return _pattern(pattern).matches(value)


def _find(value: str, pattern: str) -> str:
    return _first(_pattern(pattern), value)


def _first(pattern: Any, value: str) -> str:
    span = pattern.search(value)
    return value[span[0] : span[1]] if span else ""


def _find_all(value: str, pattern: str, limit: int = -1) -> Value:
    return _pattern(pattern).find_all(value, limit)


def with_constant(name: str, pattern: Any) -> Callable[..., Value]:
    """Give what ``matches``, ``find`` or ``findAll`` runs with a constant pattern."""

    def search(value: Value, _source: Value, limit: Value = -1) -> Value:
        text = _native_text(value)
        if text is None or type(limit) is not int:
            raise no_overload(name)
        if name == "matches":
            return pattern.matches(text)
        return _first(pattern, text) if name == "find" else pattern.find_all(text, limit)

    return search


def _native_text(value: Value) -> str | None:
    """Read a text as upstream does here, which also takes the name of a type and looks into optionals."""
    while type(value) is Opt:
        value = value.value
    if type(value) is TypeValue:
        return value.name
    return value if type(value) is str else None


OVERLOADS: Final[dict[str, Callable[..., Any]]] = {
    "matches": _matches,
    "string_find_string": _find,
    "string_find_all_string": _find_all,
    "string_find_all_string_int": _find_all,
}
