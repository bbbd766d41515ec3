"""The counted evaluation: what kube-scheduler does, step by step, with the cost of each step.

Every node is evaluated, priced and recorded in upstream's order; errors are values. It is the reference that the
closures are tested against, and answers where they might differ: near the cost limit, and where an expression can see
that a comparison changed the form of a quantity.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol

from components.cel.checker import Checked
from components.cel.closures import _DEFAULTS as WRAPPER_DEFAULTS
from components.cel.closures import wrapped
from components.cel.constants import Constants, constants_of
from components.cel.counted_attributes import (
    AnyAttribute,
    Attribute,
    AttributeNode,
    ConditionalAttribute,
    Step,
    variable,
)
from components.cel.device import DeviceView
from components.cel.equality import equal
from components.cel.estimate import LIST_COST, MAP_COST, STRUCT_COST, is_bind
from components.cel.library.registry import found_text, implementation, is_variadic
from components.cel.loops import Unset, entries, settled
from components.cel.problem import EvaluationAborted, EvaluationError
from components.cel.syntax import Call, Expr, Fold, Ident, ListExpr, MapExpr, Select, StructExpr
from components.cel.tracker import Tracker, call_cost
from components.cel.types import DEVICE
from components.cel.values import NOTHING, OPTIONALS, UNHASHABLE, CelMap, Opt, Value

_CHAINED: Final = frozenset({"_[_]", "_[?_]", "_?._"})
_BINARY: Final = 2


class State:
    """What one evaluation changes."""

    __slots__ = ("device", "record", "slots", "tracker")

    def __init__(self, view: DeviceView, slots: int, limit: int, record: Callable[[int, Value], None] | None) -> None:
        self.device = view.fresh_value()
        self.slots: list[Value] = [Unset] * slots
        self.tracker = Tracker(limit) if record is None else _Recorder(limit, record)
        self.record = record


class _Recorder(Tracker):
    """A counter that also tells every value to a listener."""

    __slots__ = ("_record",)

    def __init__(self, limit: int, record: Callable[[int, Value], None]) -> None:
        super().__init__(limit)
        self._record = record

    def push(self, node_id: int, value: Value) -> None:
        """Record the value of a node."""
        self._record(node_id, value)
        super().push(node_id, value)


class Node(Protocol):
    """A planned node."""

    @property
    def id(self) -> int:
        """The id on the stack."""

    def evaluate(self, state: State) -> Value:
        """Evaluate, price and record."""


class CountedProgram:
    """A plan of a checked expression; makes a fresh state for every run."""

    def __init__(self, checked: Checked) -> None:
        planner = _Planner(checked, constants_of(checked, ""))
        self._root = planner.plan(checked.root)
        self._slots = planner.slots

    def run(
        self, view: DeviceView, limit: int, record: Callable[[int, Value], None] | None = None
    ) -> tuple[Value, int]:
        """Give the value, or the error as a value, and the cost."""
        state = State(view, self._slots, limit, record)
        try:
            value = self._root.evaluate(state)
        except EvaluationAborted as error:
            return error, state.tracker.cost
        return value, state.tracker.cost


class _Const:
    __slots__ = ("id", "value")

    def __init__(self, node_id: int, value: Value) -> None:
        self.id = node_id
        self.value = value

    def evaluate(self, state: State) -> Value:
        state.tracker.push(self.id, self.value)
        return self.value


class _Operation:
    """A node with a function that evaluates it; the subclasses say how it is priced."""

    __slots__ = ("_run", "id")

    def __init__(self, node_id: int, run: Callable[[State], Value]) -> None:
        self.id = node_id
        self._run = run

    def evaluate(self, state: State) -> Value:
        value = self._run(state)
        self._price(state, value)
        state.tracker.push(self.id, value)
        return value

    def _price(self, state: State, value: Value) -> None:
        """Price nothing: membership in a constant set, and optional alternatives, are free."""


class _Dropping(_Operation):
    """Logic and folds: free, and their operands leave the stack."""

    __slots__ = ("_drops",)

    def __init__(self, node_id: int, run: Callable[[State], Value], drops: tuple[int, ...]) -> None:
        super().__init__(node_id, run)
        self._drops = drops

    def _price(self, state: State, value: Value) -> None:
        state.tracker.drop(*self._drops)


class _Priced(_Operation):
    """A call."""

    __slots__ = ("_args", "_function", "_overload")

    def __init__(
        self, node_id: int, run: Callable[[State], Value], function: str, overload: str, args: tuple[int, ...]
    ) -> None:
        super().__init__(node_id, run)
        self._function = function
        self._overload = overload
        self._args = args

    def _price(self, state: State, value: Value) -> None:
        args = state.tracker.take(self._args)
        if args is not None:
            state.tracker.cost += call_cost(self._function, self._overload, args, value)


class _Built(_Operation):
    """A list, map or message literal."""

    __slots__ = ("_cost", "_parts")

    def __init__(self, node_id: int, run: Callable[[State], Value], cost: int, parts: tuple[int, ...]) -> None:
        super().__init__(node_id, run)
        self._cost = cost
        self._parts = parts

    def _price(self, state: State, value: Value) -> None:
        state.tracker.take(self._parts)
        state.tracker.cost += self._cost


class _Planner:
    def __init__(self, checked: Checked, constants: Constants) -> None:
        self._checked = checked
        self._constants = constants
        self.slots = 0
        self._scopes: list[tuple[str, int, Node | None]] = []

    def plan(self, node: Expr) -> Node:
        if node.id in self._constants.values:
            return _Const(node.id, self._constants.values[node.id])
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
        if isinstance(key, _Const):
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
        if name == "_&&_" or name == "_||_":
            return _logic(node, args, absorbing=name == "_||_")
        if name == "_?_:_":
            return self._conditional(node, args)
        ids = tuple(arg.id for arg in args)
        if name == "_==_" or name == "_!=_":
            overload = "equals" if name == "_==_" else "not_equals"
            return _Priced(node.id, _equality(node, args, negated=name == "_!=_"), name, overload, ids)
        if node.id in self._constants.sets:
            return _Operation(node.id, _membership(node, args[0], self._constants.sets[node.id]))
        if name in {"or", "orValue"} and len(args) == _BINARY:
            return _Operation(node.id, _alternative(args, unwrap=name == "orValue"))
        return self._function(node, name, args, ids)

    def _function(self, node: Call, name: str, args: list[Node], ids: tuple[int, ...]) -> Node:
        overloads = self._checked.overloads[node.id]
        overload = overloads[0] if len(overloads) == 1 else ""
        pattern = self._constants.patterns.get(node.id)
        function = self._checked.environment.functions[name]
        early = len(args) > _BINARY or pattern is not None or is_variadic(function, overloads)
        if pattern is not None:
            run = _pattern_run(name, pattern)
        else:
            run = implementation(function, overloads, growing=True)
        if name == "@not_strictly_false":
            return _Priced(node.id, _not_strictly_false(args[0]), name, overload, ids)
        return _Priced(node.id, _strict(node.pos, run, args, early=early), name, overload, ids)

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
            return _Dropping(node.id, _bound(ranged, slot, result), (ranged.id,))
        accu = self._enter(node.accu, init)
        slots = [self._enter(name) for name in ((node.var, node.var2) if node.var2 else (node.var,))]
        condition, step = self.plan(node.condition), self.plan(node.step)
        for _ in slots:
            self._scopes.pop()
        result = self.plan(node.result)
        self._scopes.pop()
        run = _folded(node, ranged, accu, slots, (condition, step, result))
        return _Dropping(node.id, run, (ranged.id,))

    def _list(self, node: ListExpr) -> Node:
        elements = [self.plan(element) for element in node.elements]

        def build(state: State) -> Value:
            found: list[Value] = []
            for index, element in enumerate(elements):
                value = element.evaluate(state)
                if type(value) is EvaluationError:
                    return value
                if index in node.optional:
                    if type(value) not in OPTIONALS:
                        return _not_optional(node.pos)
                    if value is NOTHING:
                        continue
                    assert isinstance(value, Opt)
                    value = value.value
                found.append(value)
            return found

        return _Built(node.id, build, LIST_COST, tuple(element.id for element in elements))

    def _map(self, node: MapExpr) -> Node:
        planned: list[tuple[Node, Node, bool]] = []
        for entry in node.entries:
            assert isinstance(entry.key, Expr)
            planned.append((self.plan(entry.key), self.plan(entry.value), entry.optional))
        parts = tuple(part.id for key, value, _ in planned for part in (key, value))
        return _Built(node.id, lambda state: _build_map(state, planned, node.pos), MAP_COST, parts)

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
                return wrapped(kind, found) if values else WRAPPER_DEFAULTS[kind]
            except EvaluationError as error:
                return error

        return _Built(node.id, build, STRUCT_COST, tuple(value.id for value in values))


def _not_optional(pos: int) -> EvaluationError:
    return EvaluationError("invalid-argument", "an optional entry must have an optional value", offset=pos)


def _build_map(state: State, planned: list[tuple[Node, Node, bool]], pos: int) -> Value:
    found = CelMap()
    for key_node, value_node, optional in planned:
        key = key_node.evaluate(state)
        if type(key) is EvaluationError:
            return key
        value = value_node.evaluate(state)
        if type(value) is EvaluationError:
            return value
        if optional:
            if type(value) not in OPTIONALS:
                return _not_optional(pos)
            if value is NOTHING:
                continue
            assert isinstance(value, Opt)
            value = value.value
        found.insert(key, value)
    return found


def _logic(node: Call, terms: list[Node], *, absorbing: bool) -> Node:
    passing = not absorbing

    def run(state: State) -> Value:
        failed: Value = None
        for term in terms:
            value = term.evaluate(state)
            if value is absorbing:
                return absorbing
            if value is not passing and failed is None:
                failed = value
                if type(value) is not EvaluationError:
                    failed = EvaluationError("no-such-overload", "no such overload", offset=node.pos)
        return passing if failed is None else failed

    return _Dropping(node.id, run, tuple(term.id for term in terms))


def _equality(node: Call, args: list[Node], *, negated: bool) -> Callable[[State], Value]:
    left_node, right_node = args

    def run(state: State) -> Value:
        left, right = left_node.evaluate(state), right_node.evaluate(state)
        if type(left) is EvaluationError:
            return left
        if type(right) is EvaluationError:
            return right
        try:
            return equal(left, right) is not negated
        except EvaluationError as error:
            error.offset = node.pos
            return True if negated else error

    return run


def _membership(node: Call, element: Node, members: frozenset[tuple[type, Value]]) -> Callable[[State], Value]:
    def run(state: State) -> Value:
        value = element.evaluate(state)
        if type(value) is EvaluationError:
            return value
        if type(value) in UNHASHABLE:
            message = "a version cannot be looked up in a constant list; compare it with == or compareTo"
            raise EvaluationAborted("unhashable", message, offset=node.pos)
        try:
            return (type(value), value) in members
        except TypeError:  # lists and maps, which are in no set of primitives
            return False

    return run


def _alternative(args: list[Node], *, unwrap: bool) -> Callable[[State], Value]:
    first, second = args

    def run(state: State) -> Value:
        value = first.evaluate(state)
        if value is NOTHING:
            return second.evaluate(state)
        return value.value if unwrap and isinstance(value, Opt) else value

    return run


def _not_strictly_false(arg: Node) -> Callable[[State], Value]:
    def run(state: State) -> Value:
        value = arg.evaluate(state)
        return value if type(value) is bool else True

    return run


def _pattern_run(name: str, pattern: Any) -> Callable[..., Value]:
    def run(text: Value, _source: Value, limit: Value = -1) -> Value:
        if type(text) is not str or type(limit) is not int:
            raise EvaluationError("no-such-overload", f"no such overload: {name}")
        if name == "matches":
            return pattern.matches(text)
        return found_text(pattern, text) if name == "find" else pattern.find_all(text, limit)

    return run


def _strict(pos: int, run: Callable[..., Value], args: list[Node], *, early: bool) -> Callable[[State], Value]:
    """Plan a call of a function that takes no errors; ``early`` stops at the first of them."""

    def call(state: State) -> Value:
        values: list[Value] = []
        failed: Value = None
        for arg in args:
            value = arg.evaluate(state)
            if type(value) is EvaluationError:
                if early:
                    return value
                failed = failed or value
            values.append(value)
        if failed is not None:
            return failed
        try:
            return run(*values)
        except EvaluationError as error:
            if error.offset < 0:
                error.offset = pos
            return error

    return call


def _bound(ranged: Node, slot: int, result: Node) -> Callable[[State], Value]:
    def run(state: State) -> Value:
        ranged.evaluate(state)
        state.slots[slot] = Unset
        return settled(result.evaluate(state))

    return run


def _folded(
    node: Fold, ranged: Node, accu: int, slots: list[int], parts: tuple[Node, Node, Node]
) -> Callable[[State], Value]:
    condition, step, result = parts

    def run(state: State) -> Value:
        state.slots[accu] = Unset
        iterated = ranged.evaluate(state)
        if type(iterated) is EvaluationError:
            return iterated
        try:
            steps = entries(iterated, len(slots), node.range.pos)
        except EvaluationError as error:
            return error
        for values in steps:
            for slot, value in zip(slots, values, strict=True):
                state.slots[slot] = value
            if condition.evaluate(state) is False:
                break
            state.slots[accu] = step.evaluate(state)
        return settled(result.evaluate(state))

    return run
