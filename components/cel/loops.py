"""Closures of folds and of the variables they bind.

Variables live in slots of the environment list. The variable of ``cel.bind`` is computed when it is first read, once,
and an empty list or map in it is one that ``+`` grows in place, as upstream has it.
"""

# ruff: noqa: PLR0917 - inner functions of a hot path
# ruff: noqa: PLR2004 - bounds of the language, named by the text beside them

from __future__ import annotations

from components.cel.kinds import type_name
from components.cel.problem import EvaluationError
from components.cel.qualify import through_native
from components.cel.syntax import Call, Expr, Fold
from components.cel.values import Accumulator, CelMap, MapAccumulator, Opt, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Final, Protocol, TypeAlias

    class Grow(Protocol):
        """One round of a fold that collects or counts."""

        def __call__(self, env: list[Any], accu: int, *, failed: bool) -> None:
            """Change the accumulator, or raise; after a failure it is left as it is."""


Closure: TypeAlias = "Callable[[list[Any]], Value]"


class _UnsetType:
    """The class of the mark of a slot without a value."""

    __slots__ = ()


Unset: Final = _UnsetType()


class FoldPlans:
    """The part of the planner that knows folds and scopes."""

    def __init__(self) -> None:
        self.slots = 1
        self._scopes: list[tuple[str, int]] = []
        self._inits: dict[int, Closure] = {}

    if TYPE_CHECKING:

        def plan(self, node: Expr) -> Closure:
            """Plan one node, as the planner of all nodes does."""

    def slot_of(self, name: str) -> int | None:
        """Find the slot of a variable in scope."""
        for scoped, slot in reversed(self._scopes):
            if scoped == name:
                return slot
        return None

    def lazy_init(self, slot: int) -> Closure | None:
        """Give what computes the variable of a slot when it is first read."""
        return self._inits.get(slot)

    def _enter(self, name: str) -> int:
        slot = self.slots
        self.slots += 1
        self._scopes.append((name, slot))
        return slot

    def plan_fold(self, node: Fold) -> Closure:
        """Plan a fold: a binding, a quantifier, or one that collects."""
        step = node.step
        if not isinstance(step, Call):  # the variable that is bound; not ``is_bind``, which is a matter of prices
            init = self.plan(node.init)
            slot = self._enter(node.accu)
            self._inits[slot] = init
            result = self.plan(node.result)
            self._scopes.pop()
            return _bind(slot, result)
        ranged = self.plan(node.range)
        accu = self._enter(node.accu)
        names = (node.var, node.var2) if node.var2 else (node.var,)
        slots = [self._enter(name) for name in names]
        quantifier = step.function if step.function in {"_&&_", "_||_"} else ""
        conditional = step.function == "_?_:_"
        condition = self.plan(step.args[0]) if conditional else None
        planned = self.plan(step.args[1] if quantifier or conditional else step)
        for _ in slots:
            self._scopes.pop()
        result = self.plan(node.result)
        self._scopes.pop()
        pos = node.range.pos
        if quantifier:
            return _quantifier(ranged, slots, planned, (pos, step.pos), absorbing=quantifier == "_||_")
        grow = _every(planned) if condition is None else _filtered(condition, planned, step.pos)
        return _collector(ranged, slots, accu, self.plan(node.init), grow, result, pos)


def bind_variable(slot: int, init: Closure | None) -> Closure:
    """Plan the reading of a variable."""
    if init is None:

        def variable(env: list[Any]) -> Value:
            value = env[slot]
            return Opt(through_native(value.value)) if type(value) is Opt else value

        return variable

    def lazy(env: list[Any]) -> Value:
        value = env[slot]
        if value is Unset:
            value = env[slot] = _first_value(init, env)
        if type(value) is EvaluationError:
            raise value
        return Opt(through_native(value.value)) if type(value) is Opt else value

    return lazy


def _first_value(init: Closure, env: list[Any]) -> Value:
    try:
        value = init(env)
    except EvaluationError as error:
        return error
    return growable(value)


def growable(value: Value) -> Value:
    """Replace an empty list or map by one that grows in place."""
    if isinstance(value, list) and not value:
        return Accumulator()
    return MapAccumulator() if isinstance(value, CelMap) and not value else value


def settled(value: Value) -> Value:
    """Replace a list or map that grew in place by a plain one."""
    if type(value) is Accumulator:
        return [*value]
    return CelMap(value) if type(value) is MapAccumulator else value


def _bind(slot: int, result: Closure) -> Closure:
    def bind(env: list[Any]) -> Value:
        env[slot] = Unset
        return settled(result(env))

    return bind


def entries(value: Value, count: int, pos: int) -> Iterable[tuple[Value, ...]]:
    """Give what a fold iterates over: elements or keys, or (index or key, element or value)."""
    if isinstance(value, CelMap):
        return list(value.values()) if count == 2 else [(key,) for key, _ in value.values()]
    if isinstance(value, list):
        return list(enumerate(value)) if count == 2 else [(element,) for element in value]
    raise EvaluationError("not-iterable", f"a value of type {type_name(value)} cannot be iterated", offset=pos)


def _quantifier(
    ranged: Closure, slots: list[int], test: Closure, places: tuple[int, int], *, absorbing: bool
) -> Closure:
    """Plan ``all`` (absorbed by false) or ``exists`` (absorbed by true); places are of the range and of the test."""
    pos, test_pos = places

    def quantify(env: list[Any]) -> Value:
        failed: EvaluationError | None = None
        for values in entries(ranged(env), len(slots), pos):
            for slot, value in zip(slots, values, strict=True):
                env[slot] = value
            try:
                found = test(env)
                if found is absorbing:
                    return absorbing
                if type(found) is not bool:
                    failed = failed or EvaluationError("no-such-overload", "no such overload", offset=test_pos)
            except EvaluationError as error:
                failed = failed or error
        if failed is not None:
            raise failed
        return not absorbing

    return quantify


def _filtered(condition: Closure, grow: Closure, pos: int) -> Grow:
    """Grow where the condition holds; once an element failed, only the condition is asked."""

    def filtered(env: list[Any], accu: int, *, failed: bool) -> None:
        found = condition(env)
        if found is True:
            if not failed:
                env[accu] = grow(env)
        elif found is not False:
            raise EvaluationError("no-such-overload", "no such overload", offset=pos)

    return filtered


def _every(grow: Closure) -> Grow:
    """Grow with each element."""

    def every(env: list[Any], accu: int, *, failed: bool) -> None:
        if not failed:
            env[accu] = grow(env)

    return every


def _collector(
    ranged: Closure, slots: list[int], accu: int, init: Closure, grow: Grow, result: Closure, pos: int
) -> Closure:
    """Plan what collects or counts; as upstream goes on after an error, the last condition that fails is the error."""

    def collect(env: list[Any]) -> Value:
        steps = entries(ranged(env), len(slots), pos)
        env[accu] = growable(init(env))
        failed: EvaluationError | None = None
        for values in steps:
            for slot, value in zip(slots, values, strict=True):
                env[slot] = value
            try:
                grow(env, accu, failed=failed is not None)
            except EvaluationError as error:
                failed = error
        if failed is not None:
            raise failed
        return settled(result(env))

    return collect
