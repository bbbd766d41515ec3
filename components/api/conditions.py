"""Rules between the fields of a model that a JSON Schema can say as well: each is written once and has both faces.

As a check it yields violations in our own words; as a schema it becomes an entry of the model's ``allOf``, so that an
editor marks what ``berth validate`` refuses. A field counts as set when it has a value: a key with ``null`` is absent.
Rules that compare two values (a minimum with a maximum, a name with another item's) have no such face and stand in
``Ruled.rules``.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from pydantic import BaseModel

from components.api.codes import Code
from components.api.rules import Violation

Schema = dict[str, Any]

NOTHING: Final[Schema] = {"type": "null"}
"""What an absent value is; a field that is not there at all is not asked."""


class Condition(Protocol):
    """A rule with both faces; fields go by their attributes."""

    def violations(self, model: BaseModel) -> Iterator[Violation]:
        """Yield what is wrong with a model whose fields are right by themselves."""
        ...

    def schemas(self, model: type[BaseModel]) -> Iterator[Schema]:
        """Yield what the same rule is in JSON Schema."""
        ...


@dataclass(frozen=True, slots=True)
class ChosenBlock:
    """A choice calls for the block of the same name: ``blocks`` leads from each value to the block's attribute."""

    choice: str
    blocks: Mapping[str, str]

    def violations(self, model: BaseModel) -> Iterator[Violation]:
        """Yield a violation when the chosen block is not there."""
        value = getattr(model, self.choice)
        block = self.blocks.get(value)
        if block is not None and getattr(model, block) is None:
            choice, name = wire(type(model), self.choice), wire(type(model), block)
            message = f"{choice} {value} needs the block `{name}` beside it"
            yield Violation(Code.BLOCK_MISSING, message, (choice,))

    def schemas(self, model: type[BaseModel]) -> Iterator[Schema]:
        """Yield one implication for each value."""
        for value, block in self.blocks.items():
            yield {"if": valued(model, self.choice, value), "then": given(wire(model, block))}


@dataclass(frozen=True, slots=True)
class ExactlyOne:
    """Exactly one of several fields is set; ``what`` begins the message."""

    what: str
    fields: tuple[str, ...]
    at_key: bool = False

    def violations(self, model: BaseModel) -> Iterator[Violation]:
        """Yield a violation unless exactly one is set."""
        names = {wire(type(model), each): getattr(model, each) for each in self.fields}
        found = [name for name, value in names.items() if value is not None]
        if len(found) != 1:
            message = f"{self.what} {', '.join(names)}; {' and '.join(found) or 'none'} is set"
            yield Violation(Code.FIELD_CONFLICT, message, at_key=self.at_key)

    def schemas(self, model: type[BaseModel]) -> Iterator[Schema]:
        """Yield the alternatives."""
        yield {"oneOf": [given(wire(model, each)) for each in self.fields]}


@dataclass(frozen=True, slots=True)
class AtLeastOne:
    """One of several fields is set, or more of them."""

    message: str
    fields: tuple[str, ...]
    at_key: bool = False

    def violations(self, model: BaseModel) -> Iterator[Violation]:
        """Yield a violation when none is set; an empty map is none."""
        if all(_unset(getattr(model, each)) for each in self.fields):
            yield Violation(Code.FIELD_MISSING, self.message, at_key=self.at_key)

    def schemas(self, model: type[BaseModel]) -> Iterator[Schema]:
        """Yield the alternatives."""
        yield {"anyOf": [given(wire(model, each), but=({},)) for each in self.fields]}


@dataclass(frozen=True, slots=True)
class Belongs:
    """A field may be set only where a choice has one of some values."""

    owned: str
    choice: str
    values: tuple[str, ...]
    code: Code = Code.FIELD_CONFLICT

    def violations(self, model: BaseModel) -> Iterator[Violation]:
        """Yield a violation when the field stands where it does not belong."""
        value, choice = getattr(model, self.owned), getattr(model, self.choice)
        if _unset(value) or choice in self.values:
            return
        name, other = wire(type(model), self.owned), wire(type(model), self.choice)
        message = f"`{name}` belongs to {other} {' or '.join(self.values)}, and the {other} is {choice}"
        yield Violation(self.code, message, (name,), at_key=True)

    def schemas(self, model: type[BaseModel]) -> Iterator[Schema]:
        """Yield the implication."""
        then = valued(model, self.choice, *self.values)
        yield {"if": given(wire(model, self.owned)), "then": then}


@dataclass(frozen=True, slots=True)
class Needs:
    """A choice with one of some values calls for a field; ``where`` is the attribute that the problem stands at."""

    needed: str
    choice: str
    values: tuple[str, ...]
    code: Code = Code.FIELD_MISSING
    where: str = ""

    def violations(self, model: BaseModel) -> Iterator[Violation]:
        """Yield a violation when the field is not set."""
        choice = getattr(model, self.choice)
        if choice not in self.values or not _unset(getattr(model, self.needed)):
            return
        name, other = wire(type(model), self.needed), wire(type(model), self.choice)
        path = (wire(type(model), self.where),) if self.where else ()
        yield Violation(self.code, f"`{name}` is missing; {other} {choice} needs it", path)

    def schemas(self, model: type[BaseModel]) -> Iterator[Schema]:
        """Yield the implication."""
        yield {"if": valued(model, self.choice, *self.values), "then": given(wire(model, self.needed))}


@dataclass(frozen=True, slots=True)
class Beside:
    """A field is set only beside another."""

    owned: str
    other: str

    def violations(self, model: BaseModel) -> Iterator[Violation]:
        """Yield a violation when the field stands alone."""
        if getattr(model, self.owned) is not None and getattr(model, self.other) is None:
            name, other = wire(type(model), self.owned), wire(type(model), self.other)
            yield Violation(Code.FIELD_CONFLICT, f"{name} needs {other} beside it", (name,), at_key=True)

    def schemas(self, model: type[BaseModel]) -> Iterator[Schema]:
        """Yield the implication."""
        yield {"if": given(wire(model, self.owned)), "then": given(wire(model, self.other))}


@dataclass(frozen=True, slots=True)
class Together:
    """A rule of its own kind: a check, and what it is in JSON Schema."""

    check: Callable[[Any], Iterable[Violation]]
    said: tuple[Mapping[str, Any], ...]

    def violations(self, model: BaseModel) -> Iterator[Violation]:
        """Yield what the check finds."""
        yield from self.check(model)

    def schemas(self, model: type[BaseModel]) -> Iterator[Schema]:  # noqa: ARG002 (as every condition has it)
        """Yield what is said."""
        yield from (dict(each) for each in self.said)


def _unset(value: object) -> bool:
    return value is None or value in ((), {})


def wire(model: type[BaseModel], attribute: str) -> str:
    """Return the name that a field has in a manifest."""
    return model.model_fields[attribute].alias or attribute


def given(name: str, *, but: tuple[Any, ...] = ()) -> Schema:
    """Say that a field is there and has a value."""
    absent = {"enum": [None, *but]} if but else NOTHING
    return {"type": "object", "required": [name], "properties": {name: {"not": absent}}}


def equal(name: str, value: object) -> Schema:
    """Say that a field is there and has this value."""
    return {"type": "object", "required": [name], "properties": {name: {"const": value}}}


def valued(model: type[BaseModel], attribute: str, *values: str) -> Schema:
    """Say that a choice has one of some values; where the default is one of them, it may be left out."""
    name = wire(model, attribute)
    if model.model_fields[attribute].default in values:
        return {"type": "object", "properties": {name: {"enum": [*values, None]}}}
    return {"type": "object", "required": [name], "properties": {name: {"enum": list(values)}}}
