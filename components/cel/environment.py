"""The environments of Kubernetes: what each minor declares for new and for stored expressions.

A *new* expression is compiled with the libraries of the minor before the server's, and feature gates count. A *stored*
one, which is also what the scheduler evaluates, is compiled with every library the binary knows, and gates are
ignored. The facts were checked against Kubernetes 1.34.8, 1.35.6, 1.36.2 and 1.37.0-alpha.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from components.cel import types as t
from components.cel.declarations import Function, all_functions
from components.cel.macros import STANDARD, WITH_SORT_BY, Macros

if TYPE_CHECKING:
    from components.cel.types import Type

MINORS: Final = ("1.34", "1.35", "1.36", "1.37")
DEFAULT_MINOR: Final = "1.34"
COST_LIMIT: Final = 1_000_000
MAX_BYTES: Final = 10_240

_LIST_LIBRARY: Final = frozenset(
    {"slice", "flatten", "sort", "@sortByAssociatedKeys", "lists.range", "reverse", "distinct"}
)


@dataclass(frozen=True, slots=True)
class Gates:
    """Feature gates that a cluster sets otherwise than its minor's default; absent means the default."""

    consumable_capacity: bool | None = None
    list_type_attributes: bool | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Environment:
    """One environment; made once per minor, gates and kind, and shared by all threads."""

    minor: str
    stored: bool
    functions: dict[str, Function]
    macros: Macros
    device_fields: dict[str, Type]
    attribute: Type
    result_types: frozenset[Type]
    list_attributes: bool
    backquotes: bool = False


DEFAULT_GATES: Final = Gates()


@cache
def environment(minor: str, *, stored: bool, gates: Gates = DEFAULT_GATES) -> Environment:
    """Give the environment of a minor; stored environments know every gate's features."""
    if minor not in MINORS:
        raise ValueError(f"unknown Kubernetes minor {minor!r}: one of {', '.join(MINORS)}")
    number = MINORS.index(minor)
    recent = number >= MINORS.index("1.36")
    latest = minor == "1.37"
    lists_on = bool(gates.list_type_attributes) and recent
    sharing_on = recent if gates.consumable_capacity is None else gates.consumable_capacity
    hidden: set[str] = set()
    if not stored and minor == "1.34":
        hidden |= _LIST_LIBRARY
    if not recent or (not stored and not lists_on):
        hidden.add("includes")
    dynamic = lists_on or (latest and stored)
    attribute = t.DYN if dynamic else t.ANY
    fields = {
        "driver": t.STRING,
        "attributes": t.map_of(t.STRING, t.map_of(t.STRING, attribute)),
        "capacity": t.map_of(t.STRING, t.map_of(t.STRING, t.QUANTITY)),
    }
    if stored or sharing_on:
        fields["allowMultipleAllocations"] = t.BOOL
    results = {t.BOOL, attribute} if latest else {t.BOOL, t.ANY} | ({t.DYN} if lists_on else set())
    return Environment(
        minor=minor,
        stored=stored,
        functions={name: function for name, function in all_functions().items() if name not in hidden},
        macros=STANDARD if "sort" in hidden else WITH_SORT_BY,
        device_fields=fields,
        attribute=attribute,
        result_types=frozenset(results),
        list_attributes=latest or lists_on,
    )
