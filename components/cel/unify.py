"""Assignability of types with type parameters: the small unification that overload resolution rests on.

``Bindings`` maps type parameters to what they stand for. A failed attempt leaves no trace: what it bound is
unbound again.
"""

# ruff: noqa: C901 - one branch per kind of node
# ruff: noqa: PLR0911 - one return per kind of value reads best

from __future__ import annotations

from components.cel import types as t
from components.cel.types import Kind, Type, is_dyn

_NULLABLE = frozenset({Kind.OPAQUE, Kind.STRUCT, Kind.ANY, Kind.DURATION, Kind.TIMESTAMP})
_OPEN = frozenset({Kind.ANY, Kind.DYN, Kind.ERROR, Kind.NULL, Kind.PARAM})
_STRUCTURED = frozenset({Kind.OPAQUE, Kind.LIST, Kind.MAP})


class Bindings:
    """The type parameters bound so far in one check."""

    __slots__ = ("_map", "_trail")

    def __init__(self) -> None:
        self._map: dict[Type, Type | None] = {}
        self._trail: list[tuple[Type, Type | None]] = []

    def _bind(self, parameter: Type, value: Type) -> None:
        self._trail.append((parameter, self._map.get(parameter)))
        self._map[parameter] = value

    def assign(self, sources: list[Type], targets: tuple[Type, ...] | list[Type]) -> bool:
        """Tell whether each source is assignable to its target, of as many; bindings stay only if all are."""
        trail = self._trail
        for source, target in zip(sources, targets, strict=True):
            if source is target and not source.generic:
                continue
            if not self._assignable(source, target):
                for parameter, before in reversed(trail):
                    self._map[parameter] = before
                trail.clear()
                return False
        trail.clear()
        return True

    def resolve(self, value: Type, *, free_to_dyn: bool) -> Type:
        """Replace bound parameters; free ones become ``dyn`` on request."""
        if value.kind is Kind.PARAM:
            bound = self._map.get(value)
            if bound is not None:
                return self.resolve(bound, free_to_dyn=free_to_dyn)
            return t.DYN if free_to_dyn else value
        if not value.generic:
            return value
        params: list[Type] = []
        for param in value.params:
            params.append(self.resolve(param, free_to_dyn=free_to_dyn))  # noqa: PERF401 - a comprehension costs a frame
        return Type(value.kind, value.name, tuple(params))

    def _assignable(self, source: Type, target: Type) -> bool:
        if target.kind is Kind.PARAM:
            valid, bound = self._substitute(source, target)
            if valid:
                return True
            if bound:
                return False
        if source.kind is Kind.PARAM:
            return self._substitute(target, source)[0]
        kinds = (source.kind, target.kind)
        if is_dyn(source) or is_dyn(target) or Kind.ERROR in kinds:
            return True
        if source.kind is Kind.NULL:
            return _takes_null(target)
        if target.kind is Kind.NULL:
            return _takes_null(source)
        if source.kind is Kind.TYPE:
            return target.kind is Kind.TYPE
        if source.kind in _STRUCTURED:
            if source.kind is not target.kind or source.name != target.name or len(source.params) != len(target.params):
                return False
            for mine, theirs in zip(source.params, target.params, strict=True):
                if not self._assignable(mine, theirs):
                    return False
            return True
        return source.kind is target.kind and source.name == target.name

    def _substitute(self, value: Type, parameter: Type) -> tuple[bool, bool]:
        """Try to let ``parameter`` stand for ``value``; also tell whether it was bound already."""
        if value == parameter:
            return True, True
        bound = self._map.get(parameter)
        if bound is not None:
            if value == bound:
                return True, True
            if not self._assignable(value, bound):
                return False, True
            general = most_general(value, bound)
            if self._absent(parameter, general):
                self._bind(parameter, general)
            return True, True
        if self._absent(parameter, value):
            self._bind(parameter, value)
            return True, False
        return False, False

    def _absent(self, parameter: Type, within: Type) -> bool:
        """Tell whether the parameter does not occur in a type."""
        if parameter == within:
            return False
        if not within.generic:
            return True
        if within.kind is Kind.PARAM:
            bound = self._map.get(within)
            return bound is None or self._absent(parameter, bound)
        for one in within.params:  # noqa: SIM110 - all() costs a frame a level
            if not self._absent(parameter, one):
                return False
        return True


def hopeless(types: list[Type], args: tuple[Type, ...]) -> bool:
    """Rule an overload out by the kinds alone."""
    for found, declared in zip(types, args, strict=True):
        kind = found.kind
        if kind is not declared.kind and kind not in _OPEN and declared.kind not in _OPEN:
            return True
    return False


def renamed(value: Type, names: dict[Type, Type]) -> Type:
    """Replace type parameters."""
    if value.kind is Kind.PARAM:
        return names[value]
    if not value.generic:
        return value
    return Type(value.kind, value.name, tuple([renamed(param, names) for param in value.params]))


def most_general(left: Type, right: Type) -> Type:
    """Pick the more general of two types that unify."""
    return left if _at_most_as_specific(left, right) else right


def _at_most_as_specific(left: Type, right: Type) -> bool:
    if is_dyn(left) or left.kind is Kind.PARAM:
        return True
    if is_dyn(right) or right.kind is Kind.PARAM or left.kind is not right.kind:
        return False
    if left.kind in _STRUCTURED:  # of one name, because they unify
        for mine, theirs in zip(left.params, right.params, strict=True):  # noqa: SIM110 - all() costs a frame a level
            if not _at_most_as_specific(mine, theirs):
                return False
        return True
    return left.kind is Kind.TYPE or left == right


def _takes_null(value: Type) -> bool:
    return value.kind in _NULLABLE or value.kind is Kind.NULL or value.nullable
