"""The nodes of the counted evaluation: constants, operations with their prices, and what they run."""

from __future__ import annotations

from components.cel.equality import equal
from components.cel.loops import Unset, entries, settled
from components.cel.problem import EvaluationAborted, EvaluationError
from components.cel.tracker import Tracker, call_cost
from components.cel.values import NOTHING, OPTIONALS, UNHASHABLE, CelMap, Opt, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol, TypeAlias

    from components.cel.device import DeviceView
    from components.cel.syntax import Call, Fold

    Record: TypeAlias = Callable[[int, Value, bool], None]

    class Node(Protocol):
        """A planned node."""

        @property
        def id(self) -> int:
            """The id on the stack."""

        def evaluate(self, state: State) -> Value:
            """Evaluate, price and record."""


class State:
    """What one evaluation changes."""

    __slots__ = ("device", "record", "slots", "tracker")

    def __init__(self, view: DeviceView, slots: int, limit: int, record: Record | None) -> None:
        self.device = view.fresh_value()
        self.slots: list[Value] = [Unset] * slots
        self.tracker = Tracker(limit) if record is None else _Recorder(limit, record)
        self.record = record


class _Recorder(Tracker):
    """A counter that also tells every value to a listener.

    An attribute is pushed by its last step, dropped, and pushed as a whole, for the counter's sake: to the listener
    the second push is the same value ``again``, now as an optional or as the answer of ``has()``.
    """

    __slots__ = ("_dropped", "_latest", "_record")

    def __init__(self, limit: int, record: Record) -> None:
        super().__init__(limit)
        self._record = record
        self._dropped: tuple[int, ...] = ()
        self._latest = -1

    def push(self, node_id: int, value: Value) -> None:
        """Record the value of a node."""
        self._record(node_id, value, node_id == self._latest and node_id in self._dropped)
        self._dropped, self._latest = (), node_id
        super().push(node_id, value)

    def drop(self, *node_ids: int) -> None:
        """Take nodes off the stack."""
        self._dropped = node_ids
        super().drop(*node_ids)


class Const:
    """A constant: free."""

    __slots__ = ("id", "value")

    def __init__(self, node_id: int, value: Value) -> None:
        self.id = node_id
        self.value = value

    def evaluate(self, state: State) -> Value:
        """Evaluate, price and record."""
        state.tracker.push(self.id, self.value)
        return self.value


class Operation:
    """A node with a function that evaluates it; the subclasses say how it is priced."""

    __slots__ = ("_run", "id")

    def __init__(self, node_id: int, run: Callable[[State], Value]) -> None:
        self.id = node_id
        self._run = run

    def evaluate(self, state: State) -> Value:
        """Evaluate, price and record."""
        value = self._run(state)
        self._price(state, value)
        state.tracker.push(self.id, value)
        return value

    def _price(self, state: State, value: Value) -> None:
        """Price nothing: membership in a constant set, and optional alternatives, are free."""


class Dropping(Operation):
    """Logic and folds: free, and their operands leave the stack."""

    __slots__ = ("_drops",)

    def __init__(self, node_id: int, run: Callable[[State], Value], drops: tuple[int, ...]) -> None:
        super().__init__(node_id, run)
        self._drops = drops

    def _price(self, state: State, value: Value) -> None:  # noqa: ARG002 - the signature of the table
        state.tracker.drop(*self._drops)


class Priced(Operation):
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


class Built(Operation):
    """A list, map or message literal."""

    __slots__ = ("_cost", "_parts")

    def __init__(self, node_id: int, run: Callable[[State], Value], cost: int, parts: tuple[int, ...]) -> None:
        super().__init__(node_id, run)
        self._cost = cost
        self._parts = parts

    def _price(self, state: State, value: Value) -> None:  # noqa: ARG002 - the signature of the table
        state.tracker.take(self._parts)
        state.tracker.cost += self._cost


def not_optional(pos: int) -> EvaluationError:
    """Make the error of an optional entry without an optional value."""
    return EvaluationError("invalid-argument", "an optional entry must have an optional value", offset=pos)


def build_map(state: State, planned: list[tuple[Node, Node, bool]], pos: int) -> Value:
    """Build a map literal."""
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
                return not_optional(pos)
            if value is NOTHING:
                continue
            assert isinstance(value, Opt)
            value = value.value
        found.insert(key, value, pos=pos)
    return found


def logic(node: Call, terms: list[Node], *, absorbing: bool) -> Node:
    """Plan ``&&`` (absorbed by false) or ``||`` (absorbed by true) of any number of terms."""
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

    return Dropping(node.id, run, tuple(term.id for term in terms))


def equality(node: Call, args: list[Node], *, negated: bool) -> Callable[[State], Value]:
    """Run ``==`` or ``!=``."""
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


def membership(node: Call, element: Node, members: frozenset[tuple[type, Value]]) -> Callable[[State], Value]:
    """Plan ``in`` with a constant set."""

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


def alternative(args: list[Node], *, unwrap: bool, pos: int) -> Callable[[State], Value]:
    """Run ``or`` or ``orValue``."""
    first, second = args

    def run(state: State) -> Value:
        value = first.evaluate(state)
        if value is NOTHING:
            return second.evaluate(state)
        if not unwrap or not isinstance(value, Opt):
            return value
        if isinstance(value.value, EvaluationError) and value.value.offset < 0:
            value.value.offset = pos
        return value.value

    return run


def not_strictly_false(arg: Node) -> Callable[[State], Value]:
    """Plan the condition of quantifiers: everything but false, errors too."""

    def run(state: State) -> Value:
        value = arg.evaluate(state)
        return value if type(value) is bool else True

    return run


def strict(pos: int, run: Callable[..., Value], args: list[Node], *, early: bool) -> Callable[[State], Value]:
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
            error.offset = pos
            return error
        except EvaluationAborted as error:
            error.offset = pos
            raise

    return call


def bound(ranged: Node, slot: int, result: Node) -> Callable[[State], Value]:
    """Run a binding."""

    def run(state: State) -> Value:
        ranged.evaluate(state)
        state.slots[slot] = Unset
        return settled(result.evaluate(state))

    return run


def folded(
    node: Fold, ranged: Node, accu: int, slots: list[int], parts: tuple[Node, Node, Node]
) -> Callable[[State], Value]:
    """Run a fold."""
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
