"""Why a selector answers as it does: the value of every part, the clause that decided, and counts over devices."""

# ruff: noqa: PLR0911 - one return per kind of value reads best
# ruff: noqa: PLR2004 - bounds of the language, named by the text beside them

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from components.cel.environment import COST_LIMIT
from components.cel.kinds import type_name
from components.cel.library.conversions import OVERLOADS as CONVERSIONS
from components.cel.messages import words
from components.cel.problem import EvaluationAborted, EvaluationError, Position, bounded
from components.cel.selector import Answer, Outcome, Selector
from components.cel.semver import Semver
from components.cel.syntax import Call, Expr, Fold, Literal, children
from components.cel.unparse import shown, unparse
from components.cel.values import NOTHING, Cell, CelMap, Opt, TypeValue, UInt, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from components.cel.device import DeviceView

_SHOWN: Final = 120
_ELEMENTS: Final = 8
_PARTS: Final = 200
_PLAIN: Final = frozenset({str, bytes, bool, int, float, UInt, type(None)})


@dataclass(frozen=True, slots=True)
class Part:
    """A sub-expression with the value it had last; ``decided`` marks the clause that settled the answer."""

    text: str
    value: str
    position: Position
    decided: bool = False


@dataclass(frozen=True, slots=True)
class Explanation:
    """An answer with its parts in source order; what was not evaluated is left out."""

    answer: Answer
    cost: int
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Tally:
    """How many devices match, do not match, and make the selector fail; with the messages of the failures."""

    match: int
    no_match: int
    error: int
    messages: Mapping[str, int]


def explain(selector: Selector, view: DeviceView) -> Explanation:
    """Evaluate once and tell the value of every part."""
    answer, cost = selector.counted(view)
    if answer.kind == "device-attribute":
        return Explanation(answer, cost, ())
    checked = selector.tree()
    values: dict[int, Value] = {}
    value, _ = selector.program().run(view, COST_LIMIT, values.__setitem__)
    root = checked.root
    values.setdefault(root.id, value)
    if isinstance(value, EvaluationAborted):
        values[root.id] = EvaluationError(value.kind, value.message)
    deciding = _deciding(root, values)
    found: list[tuple[int, int, Expr]] = []
    _collect(root, values, found)
    parts = [
        Part(
            _cut(unparse(node)),
            _value(values[node.id]),
            Position.at(selector.expression, node.pos),
            node.id == deciding,
        )
        for _, _, node in sorted(found, key=lambda entry: entry[:2])[:_PARTS]
    ]
    return Explanation(answer, cost, tuple(parts))


def tally(selector: Selector, views: Iterable[DeviceView]) -> Tally:
    """Count the answers over devices."""
    outcomes: Counter[Outcome] = Counter()
    messages: Counter[str] = Counter()
    for view in views:
        answer = selector.evaluate(view)
        outcomes[answer.outcome] += 1
        if answer.outcome is Outcome.ERROR:
            messages[answer.message] += 1
    return Tally(
        outcomes[Outcome.MATCH], outcomes[Outcome.NO_MATCH], outcomes[Outcome.ERROR], dict(sorted(messages.items()))
    )


def _collect(node: Expr, values: Mapping[int, Value], found: list[tuple[int, int, Expr]]) -> None:
    """Gather evaluated nodes with where they start; the insides of folds have many values and are left out."""
    if node.id in values and not isinstance(node, Literal):
        found.append((_start(node), -node.id, node))
    inner = (node.range,) if isinstance(node, Fold) else children(node)
    for child in inner:
        _collect(child, values, found)


def _start(node: Expr) -> int:
    """Give the offset of the first token of a node."""
    start = node.pos
    while True:
        inner = children(node)
        if isinstance(node, Fold):
            inner = (node.range,)
        if not inner or (isinstance(node, Call) and node.target is None and not node.function.startswith(("_", "@"))):
            return min(start, node.pos)
        node = inner[0]
        start = min(start, node.pos)


def _deciding(node: Expr, values: Mapping[int, Value]) -> int:
    """Follow the answer down to the clause that settled it; all clauses together settle a passing ``&&``."""
    while isinstance(node, Call):
        value = values.get(node.id)
        if node.function in {"_&&_", "_||_"}:
            settled = [arg for arg in node.args if _same(values.get(arg.id, NOTHING), value)]
            passing = value is (node.function == "_&&_")
            if not settled or passing:
                return node.id
            node = settled[0]
        elif node.function == "_?_:_":
            chosen = values.get(node.args[0].id)
            node = node.args[1] if chosen is True else node.args[2] if chosen is False else node.args[0]
        elif node.function == "!_":
            node = node.args[0]
        else:
            break
    return node.id


def _same(part: Value, whole: Value) -> bool:
    if isinstance(whole, EvaluationError):
        return isinstance(part, EvaluationError)
    return part is whole


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def _value(value: Value, depth: int = 0) -> str:
    """Write a value for people."""
    if isinstance(value, EvaluationError):
        return _cut(f"error: {words(value.kind, value.key, value.message)}")
    if type(value) in _PLAIN:
        return _cut(shown(value))
    if isinstance(value, Cell):
        return f'quantity("{bounded(str(value.quantity))}")'
    if isinstance(value, Semver):
        return f'semver("{value}")'
    if isinstance(value, Opt):
        return f"optional.of({_value(value.value, depth + 1)})"
    if value is NOTHING:
        return "optional.none()"
    if isinstance(value, TypeValue):
        return value.name
    if isinstance(value, list | CelMap):
        return _cut(_container(value, depth))
    name = {"google.protobuf.Timestamp": "timestamp_to_string", "google.protobuf.Duration": "duration_to_string"}.get(
        type_name(value)
    )
    return f"{type_name(value)}({CONVERSIONS[name](value)})" if name else type_name(value)


def _container(value: list[Value] | CelMap, depth: int) -> str:
    if depth > 2:
        return "[...]" if isinstance(value, list) else "{...}"
    more = ", ..." if len(value) > _ELEMENTS else ""
    if isinstance(value, list):
        return "[" + ", ".join(_value(one, depth + 1) for one in value[:_ELEMENTS]) + more + "]"
    pairs = [f"{_value(key, depth + 1)}: {_value(one, depth + 1)}" for key, one in list(value.values())[:_ELEMENTS]]
    return "{" + ", ".join(pairs) + more + "}"
