"""What the API server checks of constants after the types: times, patterns, homogeneous literals and templates."""

from __future__ import annotations

from components.cel import types as t
from components.cel.library.registry import implementation
from components.cel.problem import EvaluationError, SelectorError
from components.cel.syntax import Call, Expr, ListExpr, Literal, MapExpr, children
from components.cel.types import Kind, Type, equivalent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final

    from components.cel.checker import Checked

_CLAUSE_KINDS: Final = {
    "d": (Kind.INT, Kind.UINT),
    "f": (Kind.DOUBLE, Kind.STRING),
    "e": (Kind.DOUBLE, Kind.STRING),
    "b": (Kind.INT, Kind.UINT, Kind.BOOL),
    "x": (Kind.INT, Kind.UINT, Kind.STRING, Kind.BYTES),
    "X": (Kind.INT, Kind.UINT, Kind.STRING, Kind.BYTES),
    "o": (Kind.INT, Kind.UINT),
    "s": (
        Kind.LIST, Kind.MAP, Kind.INT, Kind.UINT, Kind.DOUBLE, Kind.BOOL, Kind.STRING, Kind.TIMESTAMP, Kind.BYTES,
        Kind.DURATION, Kind.TYPE, Kind.NULL,
    ),
}  # fmt: skip


_CHECKED: Final = frozenset({"duration", "timestamp", "matches", "format", "[]", "{}"})


def validate(checked: Checked, expression: str) -> None:
    """Check the constants of a checked expression."""
    if checked.called.isdisjoint(_CHECKED):
        return
    for node, exempt in _walk(checked.root):
        if isinstance(node, Call):
            _call(node, checked, expression)
        elif exempt:
            continue
        elif isinstance(node, ListExpr):
            _list(node, checked, expression)
        elif isinstance(node, MapExpr):
            _map(node, checked, expression)


def _walk(root: Expr) -> Iterator[tuple[Expr, bool]]:
    """Give every node, and whether it stands inside a call of ``format``, whose arguments may be of any types."""
    stack = [(root, False)]
    while stack:
        node, exempt = stack.pop()
        yield node, exempt
        inside = exempt or (isinstance(node, Call) and node.function == "format")
        stack += [(child, inside) for child in reversed(children(node))]


def _refuse(kind: str, message: str, expression: str, node: Expr) -> SelectorError:
    return SelectorError(kind, message, expression=expression, offset=node.pos)


def _call(node: Call, checked: Checked, expression: str) -> None:
    name = node.function
    first = node.args[0] if node.args else None
    if name in {"duration", "timestamp"} and isinstance(first, Literal):
        function = checked.environment.functions[name]
        try:
            implementation(function, checked.overloads[node.id], growing=False)(first.value)
        except EvaluationError as error:
            raise _refuse(f"bad-{name}-literal", f"invalid {name} argument", expression, first) from error
    elif name == "matches" and isinstance(first, Literal) and isinstance(first.value, str):
        from components.cel.regex.code import RegexError  # noqa: PLC0415 - only searches pay for the engine
        from components.cel.regex.pattern import compile_pattern  # noqa: PLC0415 - as above

        try:
            compile_pattern(first.value, checked.environment.minor)
        except RegexError as error:
            raise _refuse(
                "bad-regex-literal", f"invalid matches argument: {error.message}", expression, first
            ) from error
    elif name == "format" and node.target is not None and node.id not in checked.global_names:
        _template(node, checked, expression)


def _template(node: Call, checked: Checked, expression: str) -> None:
    from components.cel.library.templates import TemplateError, clauses  # noqa: PLC0415 - only templates pay for them

    template, listed = node.target, node.args[0]
    if not isinstance(template, Literal) or not isinstance(template.value, str) or not isinstance(listed, ListExpr):
        return
    used = 0

    def clause(letter: str, index: int, _precision: int | None) -> str:
        nonlocal used
        used = index + 1
        wrong = _unfit(listed.elements[index], letter, checked)
        if wrong is not None:
            message = f"error during formatting: %{letter} does not take {checked.types[wrong.id]}"
            raise _refuse("bad-format-literal", message, expression, wrong)
        return ""

    try:
        clauses(template.value, len(listed.elements), clause)
    except TemplateError as error:
        raise _refuse("bad-format-literal", str(error), expression, node) from error
    if len(listed.elements) > used:
        message = f"too many arguments supplied to string.format (expected {used}, got {len(listed.elements)})"
        raise _refuse("bad-format-literal", message, expression, node)


def _unfit(node: Expr, letter: str, checked: Checked) -> Expr | None:
    """Find the (sub-)argument that a clause does not take."""
    found = checked.types[node.id]
    if found != t.DYN and found.kind not in _CLAUSE_KINDS[letter]:
        return node
    if letter == "s" and isinstance(node, ListExpr | MapExpr):
        for child in children(node):
            wrong = _unfit(child, letter, checked)
            if wrong is not None:
                return wrong
    return None


def _list(node: ListExpr, checked: Checked, expression: str) -> None:
    wanted: Type | None = None
    for index, element in enumerate(node.elements):
        found = checked.types[element.id]
        if index in node.optional:
            found = _content(found, element, expression)
        wanted = _same(wanted, found, element, expression)


def _map(node: MapExpr, checked: Checked, expression: str) -> None:
    keys: Type | None = None
    values: Type | None = None
    for entry in node.entries:
        assert isinstance(entry.key, Expr)
        found = checked.types[entry.value.id]
        if entry.optional:
            found = _content(found, entry.value, expression)
        keys = _same(keys, checked.types[entry.key.id], entry.key, expression)
        values = _same(values, found, entry.value, expression)


def _content(found: Type, node: Expr, expression: str) -> Type:
    """Give the type that an optional entry holds; upstream takes it from ``dyn``, too, which has none, and panics."""
    if not found.params:
        message = f"expected type 'optional_type' but found '{found}', which kube-apiserver fails to compile"
        raise _refuse("type-mismatch", message, expression, node)
    return found.params[0]


def _same(wanted: Type | None, found: Type, node: Expr, expression: str) -> Type:
    if wanted is not None and not equivalent(wanted, found):
        raise _refuse("type-mismatch", f"expected type '{wanted}' but found '{found}'", expression, node)
    return wanted or found
