"""The values of a running evaluation.

Strings, bytes, ints, doubles, bools, null and lists are Python's own; the classes here are what Python has no match
for. ``int`` and ``bool`` are told apart by ``type(value) is``, never by ``isinstance``. Nobody changes a value after
it was made, with two exceptions that upstream makes as well: the accumulator of a fold (``Accumulator``,
``MapAccumulator``) grows in place, and a ``Cell`` may change the form of its quantity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from components.cel.problem import EvaluationAborted
from components.cel.semver import Semver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from components.cel.quantity import Quantity

Value: TypeAlias = Any


class UInt(int):
    """An unsigned 64-bit integer."""

    __slots__ = ()


class ConcatList(list[Value]):
    """A list made by ``+``: its equality reports an error of an element, where a plain list's ignores it."""

    __slots__ = ()


class Accumulator(list[Value]):
    """The list that a fold appends to."""

    __slots__ = ()


class CelMap(dict[Value, tuple[Value, Value]]):
    """A map from a normalised key to (key, value), in insertion order; see ``key_of``."""

    __slots__ = ()

    def find(self, key: Value) -> tuple[Value, Value] | None:
        """Look a key up; ints, uints and whole doubles find each other."""
        found = self.get(key_of(key))
        if found is None and self:
            kind = type(key)
            if kind is int:
                return self.get(("uint", key))
            if kind is UInt:
                return self.get(int(key))
            if kind is float and key.is_integer():
                whole = int(key)
                return self.get(whole) or self.get(("uint", whole))
        return found

    def keys_in_order(self) -> Iterator[Value]:
        """Give the keys as they were written."""
        return (key for key, _ in self.values())

    def insert(self, key: Value, value: Value) -> None:
        """Put an entry in; only for a map that is still being made."""
        self[key_of(key)] = (key, value)


class MapAccumulator(CelMap):
    """The map that a fold inserts into."""

    __slots__ = ()


class DomainMap(CelMap):
    """``device.attributes`` and ``device.capacity``: any unknown domain is found and is empty."""

    __slots__ = ()

    def find(self, key: Value) -> tuple[Value, Value]:
        """Look a domain up."""
        return (self.get(key) if type(key) is str else None) or (key, EMPTY_MAP)


class StringMap(CelMap):
    """A map of a device or a URL: only strings can be keys of it."""

    __slots__ = ()

    def find(self, key: Value) -> tuple[Value, Value] | None:
        """Look a key up."""
        return self.get(key) if type(key) is str else None


EMPTY_MAP: Final = StringMap()


def key_of(key: Value) -> Value:
    """Normalise a key so that Python's idea of equal keys (``1 == True == 1.0``) is not used."""
    kind = type(key)
    if kind is str or kind is int:
        return key
    if kind is UInt:
        return ("uint", int(key))
    if kind is float and key != key:  # noqa: PLR0124 - NaN
        return object()
    if kind is bool or kind is float or key is None:
        return (kind, key)
    if kind in UNHASHABLE:
        raise EvaluationAborted("unhashable", "a version or bytes cannot be looked up in a constant list or a map")
    return (id(key), kind)


UNHASHABLE: Final[set[type]] = {bytes, Semver}  # and NamedFormat, below


@dataclass(frozen=True, slots=True)
class Opt:
    """A present optional."""

    value: Value


class _Nothing:
    """The class of the absent optional."""

    __slots__ = ()


NOTHING: Final = _Nothing()
OPTIONALS: Final = frozenset({Opt, _Nothing})


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type as a value, as ``type(x)`` gives it."""

    name: str


@dataclass(frozen=True, slots=True)
class Timestamp:
    """Nanoseconds since the epoch and the offset from UTC it was written with, in seconds."""

    nanos: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Duration:
    """Nanoseconds in int64."""

    nanos: int


class Cell:
    """A quantity during one evaluation; ``computed`` marks a result of ``add`` or ``sub``.

    The quantity is in a box, because upstream's sum of a big quantity is the same memory as its receiver.
    """

    __slots__ = ("box", "computed")

    def __init__(self, box: list[Quantity], *, computed: bool = False) -> None:
        self.box = box
        self.computed = computed

    @property
    def quantity(self) -> Quantity:
        """The quantity as it is now."""
        return self.box[0]


@dataclass(frozen=True, slots=True)
class IpAddress:
    """An IP address: its number, 4 or 6, and the zone upstream would keep."""

    number: int
    family: int


@dataclass(frozen=True, slots=True)
class Cidr:
    """An address with a prefix length, host bits kept."""

    address: IpAddress
    prefix: int


@dataclass(frozen=True, slots=True)
class Url:
    """A parsed URL, as far as selectors can look into it."""

    text: str
    scheme: str
    host: str
    escaped_path: str
    query: str


@dataclass(frozen=True, slots=True)
class NamedFormat:
    """One of the named formats of Kubernetes."""

    name: str


UNHASHABLE.add(NamedFormat)
