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
from components.cel.unparse import macro_of, shown, unparse
from components.cel.values import NOTHING, Cell, CelMap, Opt, TypeValue, UInt, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from components.cel.device import DeviceView

_SHOWN: Final = 120
_ELEMENTS: Final = 8
_PARTS: Final = 200
_ONCE: Final = frozenset({"cel.bind", "optMap", "optFlatMap"})
_LAZY: Final = frozenset({"_&&_", "_||_", "_?_:_"})
_PLAIN: Final = frozenset({str, bytes, bool, int, float, UInt, type(None)})


@dataclass(frozen=True, slots=True)
class Part:
    """A sub-expression with the value it had last; ``decided`` marks the clause that settled the answer.

    In the body of a macro, ``rounds`` has its value in each of the first rounds, of ``times`` in all.
    """

    text: str
    value: str
    position: Position
    decided: bool = False
    rounds: tuple[str, ...] = ()
    times: int = 1

    @property
    def obvious(self) -> bool:
        """Whether the text is the value, as it is for a literal."""
        return self.text == self.value and {self.text}.issuperset(self.rounds)


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
    seen: dict[int, _Seen] = {}

    def record(node: int, value: Value, again: bool) -> None:  # noqa: FBT001 - told for every value
        seen.setdefault(node, _Seen()).add(value, again=again)

    value, _ = selector.program().run(view, COST_LIMIT, record)
    root = checked.root
    if isinstance(value, EvaluationAborted):
        value = EvaluationError(value.kind, value.message)
    seen.setdefault(root.id, _Seen()).last = value
    deciding = _deciding(root, {node: one.last for node, one in seen.items()})
    found: list[tuple[int, int, Expr, bool]] = []
    _collect(root, seen, found, within=False)
    parts = [
        _part(
            node, seen[node.id], Position.at(selector.expression, node.pos), within=within, decided=node.id == deciding
        )
        for _, _, node, within in sorted(found, key=lambda entry: entry[:2])[:_PARTS]
    ]
    return Explanation(answer, cost, tuple(parts))


class _Seen:
    """The values that a node had: the last, the first ones as text, and how many there were."""

    __slots__ = ("first", "last", "times")

    def __init__(self) -> None:
        self.first: list[str] = []
        self.last: Value = None
        self.times = 0

    def add(self, value: Value, *, again: bool = False) -> None:
        if again:
            del self.first[self.times - 1 :]
            self.times -= 1
        if self.times < _ELEMENTS:
            self.first.append(_value(value))
        self.last = value
        self.times += 1


def _part(node: Expr, seen: _Seen, position: Position, *, within: bool, decided: bool) -> Part:
    text, value = _cut(unparse(node)), _value(seen.last)
    return (
        Part(text, value, position, decided, tuple(seen.first), seen.times)
        if within
        else Part(text, value, position, decided)
    )


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


def _collect(node: Expr, seen: dict[int, _Seen], found: list[tuple[int, int, Expr, bool]], *, within: bool) -> None:
    """Gather evaluated nodes with where they start; ``within`` is the body of a macro that goes round."""
    if node.id in seen:
        found.append((_start(node), -node.id, node, within))
        if _strict(node):
            for child in _written(node):
                if isinstance(child, Literal) and child.id not in seen:  # a key, or an argument of a constant
                    seen[child.id] = _Seen()
                    seen[child.id].add(child.value)
    macro = macro_of(node)
    if macro is None:
        for child in children(node):
            _collect(child, seen, found, within=within)
        return
    if macro.owner is not None:
        _collect(macro.owner, seen, found, within=within)
    for arg in macro.args:
        _collect(arg, seen, found, within=within or macro.name not in _ONCE)


def _strict(node: Expr) -> bool:
    return not isinstance(node, Fold) and not (isinstance(node, Call) and node.function in _LAZY)


def _written(node: Expr) -> tuple[Expr, ...]:
    """Give the sub-expressions that the text of a node has, in source order."""
    macro = macro_of(node)
    if macro is None:
        return children(node)
    return macro.args if macro.owner is None else (macro.owner, *macro.args)


def _start(node: Expr) -> int:
    """Give the offset of the first token of a node."""
    start = node.pos
    while True:
        inner = _written(node)
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
        elif node.function == "_?_:_" and macro_of(node) is None:
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
