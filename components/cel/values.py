"""The values of a running evaluation.

Strings, bytes, ints, doubles, bools, null and lists are Python's own; the classes here are what Python has no match
for. ``int`` and ``bool`` are told apart by ``type(value) is``, never by ``isinstance``. Nobody changes a value after
it was made, with two exceptions that upstream makes as well: the accumulator of a fold (``Accumulator``,
``MapAccumulator``) grows in place, and a ``Cell`` may change the form of its quantity.
"""

from __future__ import annotations

from components.cel.problem import EvaluationAborted
from components.cel.record import Record, put
from components.cel.semver import Semver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, TypeAlias

    from components.cel.quantity import Quantity

Value: TypeAlias = "Any"


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
        if not self:  # upstream does not look at the key then, which may be one that cannot be hashed
            return None
        found = self.get(key_of(key))
        if found is None:
            kind = type(key)
            if kind is int:
                return self.get(("uint", key))
            if kind is UInt:
                return self.get(int(key))
            if kind is float and key.is_integer():
                whole = int(key)
                return self.get(whole) or self.get(("uint", whole))
        return found

    def insert(self, key: Value, value: Value, *, pos: int = -1) -> None:
        """Put an entry in; only for a map that is still being made, which stands at ``pos`` of the expression."""
        try:
            self[key_of(key)] = (key, value)
        except EvaluationAborted as error:
            error.offset = pos
            raise


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


_SHARED_OFFSETS: Final = range(-12 * 3600, 15 * 3600, 3600)
"""Go keeps one zone for each whole hour; a timestamp with any other offset has a zone of its own, and equals no key."""

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
    if kind in BY_VALUE or (kind is Timestamp and key.offset in _SHARED_OFFSETS):
        return key
    if kind in UNHASHABLE:
        raise EvaluationAborted("unhashable", "a version or bytes cannot be looked up in a constant list or a map")
    return (id(key), kind)


UNHASHABLE: Final[set[type]] = {bytes, Semver}  # and NamedFormat, below


class Opt(Record):
    """A present optional."""

    __slots__ = ("value",)

    value: Value

    def __init__(self, value: Value) -> None:
        put(self, "value", value)


class _Nothing:
    """The class of the absent optional."""

    __slots__ = ()


NOTHING: Final = _Nothing()
OPTIONALS: Final = frozenset({Opt, _Nothing})


class TypeValue(Record):
    """A type as a value, as ``type(x)`` gives it."""

    __slots__ = ("name",)

    name: str

    def __init__(self, name: str) -> None:
        put(self, "name", name)


class Timestamp(Record):
    """Nanoseconds since the epoch and the offset from UTC it was written with, in seconds."""

    __slots__ = ("nanos", "offset")

    nanos: int
    offset: int

    def __init__(self, nanos: int, offset: int = 0) -> None:
        put(self, "nanos", nanos)
        put(self, "offset", offset)


class Duration(Record):
    """Nanoseconds in int64."""

    __slots__ = ("nanos",)

    nanos: int

    def __init__(self, nanos: int) -> None:
        put(self, "nanos", nanos)


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


class IpAddress(Record):
    """An IP address: its number, 4 or 6, and the zone upstream would keep."""

    __slots__ = ("family", "number")

    number: int
    family: int

    def __init__(self, number: int, family: int) -> None:
        put(self, "number", number)
        put(self, "family", family)


class Cidr(Record):
    """An address with a prefix length, host bits kept."""

    __slots__ = ("address", "prefix")

    address: IpAddress
    prefix: int

    def __init__(self, address: IpAddress, prefix: int) -> None:
        put(self, "address", address)
        put(self, "prefix", prefix)


class Url(Record):
    """A parsed URL, as far as selectors can look into it; ``text`` is how Go prints it, by which two are compared."""

    __slots__ = ("escaped_path", "host", "query", "scheme", "text")

    text: str
    scheme: str
    host: str
    escaped_path: str
    query: str

    def __init__(self, text: str, scheme: str, host: str, escaped_path: str, query: str) -> None:
        put(self, "text", text)
        put(self, "scheme", scheme)
        put(self, "host", host)
        put(self, "escaped_path", escaped_path)
        put(self, "query", query)


class NamedFormat(Record):
    """One of the named formats of Kubernetes."""

    __slots__ = ("name",)

    name: str

    def __init__(self, name: str) -> None:
        put(self, "name", name)


UNHASHABLE.add(NamedFormat)
BY_VALUE: Final = frozenset({Duration, IpAddress, Cidr, TypeValue})
"""What is one key of a map when it is equal, beside numbers, texts and bools; anything else is only itself."""
