"""The counted evaluation: what kube-scheduler does, step by step, with the cost of each step.

Every node is evaluated, priced and recorded in upstream's order; errors are values. It is the reference that the
closures are tested against, and answers where they might differ: near the cost limit, and where an expression can see
that a comparison changed the form of a quantity.
"""

# ruff: noqa: PLR0911 - one return per kind of value reads best

from __future__ import annotations

from components.cel.constants import Constants, constants_of
from components.cel.counted_attributes import (
    AnyAttribute,
    Attribute,
    AttributeNode,
    ConditionalAttribute,
    Step,
    variable,
)
from components.cel.counted_nodes import (
    Built,
    Const,
    Dropping,
    Operation,
    Priced,
    State,
    alternative,
    bound,
    build_map,
    equality,
    folded,
    logic,
    membership,
    not_optional,
    not_strictly_false,
    strict,
)
from components.cel.estimate import is_bind
from components.cel.library.registry import implementation, is_variadic
from components.cel.library.searches import with_constant
from components.cel.meter import metered
from components.cel.problem import EvaluationAborted, EvaluationError
from components.cel.sizes import LIST_COST, MAP_COST, STRUCT_COST
from components.cel.syntax import Call, Expr, Fold, Ident, ListExpr, MapExpr, Select, StructExpr
from components.cel.types import DEVICE
from components.cel.values import NOTHING, OPTIONALS, Opt, Value
from components.cel.wrappers import WRAPPER_DEFAULTS, wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final

    from components.cel.checker import Checked
    from components.cel.counted_nodes import Node, Record
    from components.cel.device import DeviceView

_CHAINED: Final = frozenset({"_[_]", "_[?_]", "_?._"})
_BINARY: Final = 2


class CountedProgram:
    """A plan of a checked expression; makes a fresh state for every run."""

    def __init__(self, checked: Checked) -> None:
        planner = _Planner(checked, constants_of(checked, ""))
        self._root = planner.plan(checked.root)
        self._slots = planner.slots

    def run(self, view: DeviceView, limit: int, record: Record | None = None) -> tuple[Value, int]:
        """Give the value, or the error as a value, and the cost; ``record`` is told every value as it comes."""
        state = State(view, self._slots, limit, record)
        try:
            value = metered(lambda: self._root.evaluate(state))
        except EvaluationAborted as error:
            return error, state.tracker.cost
        return value, state.tracker.cost


class _Planner:
    def __init__(self, checked: Checked, constants: Constants) -> None:
        self._checked = checked
        self._constants = constants
        self.slots = 0
        self._scopes: list[tuple[str, int, Node | None]] = []

    def plan(self, node: Expr) -> Node:
        if node.id in self._constants.values:
            return Const(node.id, self._constants.values[node.id])
        if isinstance(node, Ident):
            lookup, device = self._lookup(node)
            return AttributeNode(Attribute(node.id, lookup=lookup, device=device))
        if isinstance(node, Select):
            return self._select(node)
        if isinstance(node, Call):
            return self._call(node)
        if isinstance(node, Fold):
            return self._fold(node)
        if isinstance(node, ListExpr):
            return self._list(node)
        if isinstance(node, MapExpr):
            return self._map(node)
        assert isinstance(node, StructExpr)
        return self._struct(node)

    def _lookup(self, node: Ident) -> tuple[Callable[[State], Value], bool]:
        """Give what looks a variable up, and whether it is the device."""
        name = node.name.removeprefix(".")
        for scoped, slot, init in reversed(self._scopes):
            if scoped == name:
                return variable(slot, init), False
        assert self._checked.types[node.id] == DEVICE
        return (lambda state: state.device), True

    def _attribute(self, node: Node) -> AttributeNode:
        return node if isinstance(node, AttributeNode) else AttributeNode(Attribute(node.id, operand=node))

    def _select(self, node: Select) -> Node:
        found = self._attribute(self.plan(node.operand))
        step = Step(node.id, node.pos, node.field, None, optional=False, test=node.test)
        if node.test:
            tested = AttributeNode(found.attribute)
            tested.test_id = node.id
            found = tested
        found.attribute.add(step)
        return found

    def _index(self, node: Call) -> Node:
        found = self._attribute(self.plan(node.args[0]))
        key = self.plan(node.args[1])
        optional = node.function != "_[_]"
        if isinstance(key, Const):
            step = Step(node.id, node.pos, key.value, None, optional=optional, test=False)
        else:
            computed: Any = key.attribute if isinstance(key, AttributeNode) else Attribute(node.id, operand=key)
            step = Step(node.id, node.pos, None, computed, optional=optional, test=False)
        found.attribute.add(step)
        return found

    def _call(self, node: Call) -> Node:
        name = self._checked.global_names.get(node.id, node.function)
        if name in _CHAINED:
            return self._index(node)
        args = [self.plan(arg) for arg in node.args]
        if node.target is not None and node.id not in self._checked.global_names:
            args.insert(0, self.plan(node.target))
        if name in {"_&&_", "_||_"}:
            return logic(node, args, absorbing=name == "_||_")
        if name == "_?_:_":
            return self._conditional(node, args)
        ids = tuple(arg.id for arg in args)
        if name in {"_==_", "_!=_"}:
            overload = "equals" if name == "_==_" else "not_equals"
            return Priced(node.id, equality(node, args, negated=name == "_!=_"), name, overload, ids)
        if node.id in self._constants.sets:
            return Operation(node.id, membership(node, args[0], self._constants.sets[node.id]))
        if name in {"or", "orValue"} and len(args) == _BINARY:
            return Operation(node.id, alternative(args, unwrap=name == "orValue", pos=node.pos))
        return self._function(node, name, args, ids)

    def _function(self, node: Call, name: str, args: list[Node], ids: tuple[int, ...]) -> Node:
        overloads = self._checked.overloads[node.id]
        overload = overloads[0] if len(overloads) == 1 else ""
        pattern = self._constants.patterns.get(node.id)
        function = self._checked.environment.functions[name]
        early = len(args) > _BINARY or pattern is not None or is_variadic(function, overloads)
        if pattern is not None:  # noqa: SIM108 - two lines read better
            run = with_constant(name, pattern)
        else:
            run = implementation(function, overloads, growing=True)
        if name == "@not_strictly_false":
            return Priced(node.id, not_strictly_false(args[0]), name, overload, ids)
        return Priced(node.id, strict(node.pos, run, args, early=early), name, overload, ids)

    def _conditional(self, node: Call, args: list[Node]) -> Node:
        branches: list[AnyAttribute] = [
            arg.attribute if isinstance(arg, AttributeNode) and arg.test_id is None else Attribute(arg.id, operand=arg)
            for arg in args[1:]
        ]
        return AttributeNode(ConditionalAttribute(node.id, node.pos, args[0], branches[0], branches[1]))

    def _enter(self, name: str, init: Node | None = None) -> int:
        slot = self.slots
        self.slots += 1
        self._scopes.append((name, slot, init))
        return slot

    def _fold(self, node: Fold) -> Node:
        init = self.plan(node.init)
        ranged = self.plan(node.range)
        if is_bind(node):
            slot = self._enter(node.accu, init)
            result = self.plan(node.result)
            self._scopes.pop()
            return Dropping(node.id, bound(ranged, slot, result), (ranged.id,))
        accu = self._enter(node.accu, init)
        slots = [self._enter(name) for name in ((node.var, node.var2) if node.var2 else (node.var,))]
        condition, step = self.plan(node.condition), self.plan(node.step)
        for _ in slots:
            self._scopes.pop()
        result = self.plan(node.result)
        self._scopes.pop()
        run = folded(node, ranged, accu, slots, (condition, step, result))
        return Dropping(node.id, run, (ranged.id,))

    def _list(self, node: ListExpr) -> Node:
        elements = [self.plan(element) for element in node.elements]
        spoiled = _spoiled(elements, optional=bool(node.optional), pos=node.pos)
        if spoiled is not None:
            return Const(node.id, spoiled)

        def build(state: State) -> Value:
            found: list[Value] = []
            for index, element in enumerate(elements):
                value = element.evaluate(state)
                if type(value) is EvaluationError:
                    return value
                if index in node.optional:
                    if type(value) not in OPTIONALS:
                        return not_optional(node.pos)
                    if value is NOTHING:
                        continue
                    assert isinstance(value, Opt)
                    value = value.value
                found.append(value)
            return found

        return Built(node.id, build, LIST_COST, tuple(element.id for element in elements))

    def _map(self, node: MapExpr) -> Node:
        planned: list[tuple[Node, Node, bool]] = []
        for entry in node.entries:
            assert isinstance(entry.key, Expr)
            planned.append((self.plan(entry.key), self.plan(entry.value), entry.optional))
        parts = tuple(part.id for key, value, _ in planned for part in (key, value))
        inner = [part for key, value, _ in planned for part in (key, value)]
        spoiled = _spoiled(inner, optional=any(optional for *_, optional in planned), pos=node.pos)
        if spoiled is not None:
            return Const(node.id, spoiled)
        return Built(node.id, lambda state: build_map(state, planned, node.pos), MAP_COST, parts)

    def _struct(self, node: StructExpr) -> Node:
        values = [self.plan(entry.value) for entry in node.entries]
        name = node.name.removeprefix(".")

        def build(state: State) -> Value:
            found: Value = None
            for value in values:
                found = value.evaluate(state)
                if type(found) is EvaluationError:
                    return found
            if name == DEVICE.name:
                return EvaluationError("unknown-type", f"unknown type '{name}'", offset=node.pos)
            kind = name.removeprefix("google.protobuf.").removesuffix("Value")
            try:
                return (
                    wrapped(kind, found, optional=node.entries[-1].optional, pos=node.pos)
                    if values
                    else WRAPPER_DEFAULTS[kind]
                )
            except EvaluationError as error:
                return error

        return Built(node.id, build, STRUCT_COST, tuple(value.id for value in values))


def _spoiled(parts: list[Node], *, optional: bool, pos: int) -> EvaluationError | None:
    """Give the error that upstream folds a literal of constants to, free of cost: no constant is an optional."""
    if not all(isinstance(part, Const) for part in parts):
        return None
    for part in parts:
        if isinstance(part, Const) and type(part.value) is EvaluationError:
            return part.value
    return not_optional(pos) if optional else None
