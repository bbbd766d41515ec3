"""The environments of Kubernetes: what each minor declares for new and for stored expressions.

A *new* expression is compiled with the libraries of the minor before the server's, and feature gates count. A *stored*
one, which is also what the scheduler evaluates, is compiled with every library the binary knows, and gates are
ignored. The facts were checked against Kubernetes 1.34.8, 1.35.6, 1.36.2 and 1.37.0-alpha.3.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from components.cel import types as t
from components.cel.declarations import Function, all_functions
from components.cel.macros import STANDARD, WITH_SORT_BY, Macros
from components.cel.record import Record, put

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from components.cel.types import Type

MINORS: Final = ("1.34", "1.35", "1.36", "1.37")
DEFAULT_MINOR: Final = "1.34"
"""The oldest: where nobody says a cluster's version, it is safe to take it for this one."""
COST_LIMIT: Final = 1_000_000
MAX_BYTES: Final = 10_240

_VERSION: Final = re.compile(r"v?1\.(\d+)")
_NUMBERS: Final = tuple((int(minor.partition(".")[2]), minor) for minor in MINORS)

_LIST_LIBRARY: Final = frozenset(
    {"slice", "flatten", "sort", "@sortByAssociatedKeys", "lists.range", "reverse", "distinct"}
)


class Gates(Record):
    """Feature gates that a cluster sets otherwise than its minor's default; absent means the default."""

    __slots__ = ("consumable_capacity", "list_type_attributes")

    consumable_capacity: bool | None
    list_type_attributes: bool | None

    def __init__(self, *, consumable_capacity: bool | None = None, list_type_attributes: bool | None = None) -> None:
        put(self, "consumable_capacity", consumable_capacity)
        put(self, "list_type_attributes", list_type_attributes)


class Environment(Record):
    """One environment; made once per minor, gates and kind, and shared by all threads.

    ``namespaced`` has the last words of functions with a dotted name. ``resolved`` is what the checker found for calls
    with arguments of types without parts, by function, style and names of the types: the resulting type, the overloads,
    and how many type parameters that took. There are some thousands of such calls at the most.
    """

    __slots__ = (
        "attribute",
        "backquotes",
        "device_fields",
        "functions",
        "list_attributes",
        "macros",
        "minor",
        "namespaced",
        "resolved",
        "result_types",
        "stored",
        "wrapped_results",
    )

    minor: str
    stored: bool
    functions: dict[str, Function]
    namespaced: frozenset[str]
    resolved: dict[tuple[str, ...], tuple[Type, tuple[str, ...], int]]
    macros: Macros
    device_fields: dict[str, Type]
    attribute: Type
    result_types: frozenset[Type]
    list_attributes: bool
    wrapped_results: bool
    backquotes: bool

    def __init__(
        self,
        *,
        minor: str,
        stored: bool,
        functions: dict[str, Function],
        macros: Macros,
        device_fields: dict[str, Type],
        attribute: Type,
        result_types: frozenset[Type],
        list_attributes: bool,
        wrapped_results: bool,
        backquotes: bool = False,
    ) -> None:
        put(self, "minor", minor)
        put(self, "stored", stored)
        put(self, "functions", functions)
        put(self, "namespaced", frozenset(name.rpartition(".")[2] for name in functions if "." in name))
        put(self, "resolved", {})
        put(self, "macros", macros)
        put(self, "device_fields", device_fields)
        put(self, "attribute", attribute)
        put(self, "result_types", result_types)
        put(self, "list_attributes", list_attributes)
        put(self, "wrapped_results", wrapped_results)
        put(self, "backquotes", backquotes)

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__


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
        wrapped_results=latest,
    )


@lru_cache(maxsize=1_024)
def minor_of(version: str) -> str:
    """Return the newest minor that the language knows and that is not newer than a version (``v1.35.2-eks-1``).

    What cannot be read, or is older than all, is the oldest: it takes the least, and to refuse a selector that a
    cluster would take is the smaller harm.
    """
    found = _VERSION.match(version)
    number = int(found[1]) if found else 0
    return max(((known, minor) for known, minor in _NUMBERS if known <= number), default=(0, DEFAULT_MINOR))[1]


def written_minor(version: str) -> str:
    """Write the minor that a version names (``1.33`` of ``v1.33.2``); empty for what names none, such as ``latest``."""
    found = _VERSION.match(version)
    return f"1.{found[1]}" if found else ""
