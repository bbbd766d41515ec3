"""Attributes of the counted evaluation: variables, values and conditionals with their selections and indices.

Selections and indices that follow each other form one attribute, as upstream plans it; each step costs one, and the
attribute itself one more when it is evaluated as a whole (a presence test costs no such one).
"""

from __future__ import annotations

from components.cel.loops import Unset, growable
from components.cel.problem import EvaluationError
from components.cel.qualify import ABSENT, check_key, get, get_optional, is_present, through_native
from components.cel.values import NOTHING, OPTIONALS, Opt, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final, TypeAlias

    from components.cel.counted_nodes import Node, State

_ADDRESS_STEPS: Final = 3

Lookup: TypeAlias = "Callable[[State], Value]"


class Step:
    """One selection or index; the key is constant, or another attribute."""

    __slots__ = ("address", "attribute", "id", "key", "optional", "pos", "test")

    def __init__(
        self, node_id: int, pos: int, key: Value, attribute: Attribute | None, *, optional: bool, test: bool
    ) -> None:
        self.id = node_id
        self.pos = pos
        self.key = key
        self.attribute = attribute
        self.optional = optional
        self.test = test
        self.address: tuple[Value, ...] | None = None

    def take(self, state: State, value: Value, *, optional: bool) -> Value:
        """Make the step, count it, and give what is there, ``ABSENT``, or an error."""
        key = self.key
        if self.attribute is not None:
            key = self.attribute.resolve(state)
            if type(key) is EvaluationError:
                return key if optional else self._observed(state, key)
        try:
            if self.attribute is not None:
                check_key(key)
            if self.test:
                present = is_present(value, key)
                if optional and not present:
                    return ABSENT
                return self._observed(state, present)
            found = get_optional(value, key) if optional else get(value, key)
        except EvaluationError as error:
            error.offset = self.pos
            if self.address is not None and error.kind == "no-such-key":
                error.key = self.address
            return error if optional else self._observed(state, error)
        return found if found is ABSENT else self._observed(state, found)

    def _observed(self, state: State, value: Value) -> Value:
        state.tracker.cost += 1
        state.tracker.push(self.id, value)
        return value


class Attribute:
    """A variable or a value, and the steps from it."""

    __slots__ = ("_device", "_id", "_lookup", "_operand", "steps")

    def __init__(
        self, node_id: int, *, lookup: Lookup | None = None, operand: Node | None = None, device: bool = False
    ) -> None:
        self._id = node_id
        self._device = device
        self._lookup = lookup
        self._operand = operand
        self.steps: list[Step] = []

    @property
    def id(self) -> int:
        """The id of the last step, or of the start."""
        return self.steps[-1].id if self.steps else self._id

    def add(self, step: Step) -> None:
        """Append a step; the third from the device names an attribute or a capacity."""
        self.steps.append(step)
        if self._device and len(self.steps) == _ADDRESS_STEPS:
            keys = tuple(one.key for one in self.steps)
            if all(type(key) is str for key in keys):
                step.address = ("capacity" if keys[0] == "capacity" else "attribute", *keys[1:])

    def resolve(self, state: State) -> Value:
        """Give the value, or an error."""
        value = self._lookup(state) if self._lookup is not None else self._operand_value(state)
        if type(value) is EvaluationError or value is NOTHING:
            return value
        optional = type(value) is Opt
        if optional:
            value = through_native(value.value)
        for step in self.steps:
            optional = optional or step.optional
            value = step.take(state, value, optional=optional)
            if type(value) is EvaluationError:
                return value
            if value is ABSENT:
                return NOTHING
        return Opt(value) if optional else value

    def _operand_value(self, state: State) -> Value:
        assert self._operand is not None
        return self._operand.evaluate(state)


class ConditionalAttribute:
    """``c ? a : b``; steps after it belong to both branches."""

    __slots__ = ("_condition", "_falsy", "_id", "_pos", "_truthy")

    def __init__(self, node_id: int, pos: int, condition: Node, truthy: AnyAttribute, falsy: AnyAttribute) -> None:
        self._id = node_id
        self._pos = pos
        self._condition = condition
        self._truthy = truthy
        self._falsy = falsy

    @property
    def id(self) -> int:
        """The id of the branches when it is the same, else of the conditional."""
        return self._truthy.id if self._truthy.id == self._falsy.id else self._id

    @property
    def parts(self) -> tuple[int, int, int]:
        """The ids that leave the stack with it."""
        return self._falsy.id, self._truthy.id, self._condition.id

    def add(self, step: Step) -> None:
        """Append a step to both branches."""
        self._truthy.add(step)
        self._falsy.add(step)

    def resolve(self, state: State) -> Value:
        """Give the value of the branch taken, or an error."""
        value = self._condition.evaluate(state)
        if value is True:
            return self._truthy.resolve(state)
        if value is False:
            return self._falsy.resolve(state)
        if type(value) is EvaluationError:
            return value
        return EvaluationError("no-such-overload", "no such overload", offset=self._pos)


AnyAttribute: TypeAlias = "Attribute | ConditionalAttribute"


class AttributeNode:
    """An attribute as a node: evaluated, counted and recorded."""

    __slots__ = ("attribute", "constant", "test_id")

    def __init__(self, attribute: AnyAttribute) -> None:
        self.attribute = attribute
        self.test_id: int | None = None

    @property
    def id(self) -> int:
        """The id on the stack."""
        return self.attribute.id if self.test_id is None else self.test_id

    def evaluate(self, state: State) -> Value:
        """Evaluate the whole attribute."""
        value = self.attribute.resolve(state)
        if self.test_id is not None and type(value) in OPTIONALS:
            value = value is not NOTHING
        tracker = state.tracker
        if isinstance(self.attribute, ConditionalAttribute):
            tracker.drop(*self.attribute.parts)
        else:
            tracker.drop(self.attribute.id)
            tracker.cost += 1
        if self.test_id is not None:
            tracker.cost -= 1
        tracker.push(self.id, value)
        return value


def variable(slot: int, init: Node | None) -> Lookup:
    """Look a variable up; one of ``cel.bind`` is computed at its first use."""

    def lookup(state: State) -> Value:
        value = state.slots[slot]
        if value is Unset:
            assert init is not None
            value = growable(init.evaluate(state))
            state.slots[slot] = value
        return value

    return lookup
