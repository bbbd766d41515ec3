"""A device as selectors see it, from an InferenceClass or from a ResourceSlice: the same answers from both.

A view is immutable and hashable by content. A device that the API server would never have let in, or that upstream
cannot convert (a version that is no version, an attribute without a value), is kept: it answers *error* to every
selector, as it does on a real cluster.
"""

from __future__ import annotations

from collections.abc import Mapping

from components.cel.quantity import Quantity, QuantityError
from components.cel.record import Record, put
from components.cel.semver import Semver, SemverError
from components.cel.values import Cell, DomainMap, StringMap, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

MAX_VALUE: Final = 64
MAX_DOMAIN: Final = 63
MAX_ID: Final = 32
MAX_DRIVER: Final = 63
MAX_ENTRIES: Final = 32
MAX_LIST_VALUES: Final = 48
_LISTS: Final = {"ints": int, "bools": bool, "strings": str, "versions": str}
_SCALARS: Final = {"int": int, "bool": bool, "string": str, "version": str}
_MUST: Final = {int: "it must be an integer", bool: "it must be true or false", str: "it must be text, in quotes"}
_MAX_INT: Final = 2**63


class DeviceError(ValueError):
    """The description of a device cannot be used; ``kind`` is the class of the error."""


class DeviceView(Record):
    """What one device publishes; make it with ``from_class_device`` or ``from_slice_device``.

    ``problem`` says why the device is malformed, and is empty otherwise. ``bounded`` tells that all values keep the
    bounds of the API, which the shortcut of the cost counter rests on.
    """

    __slots__ = (
        "allow_multiple",
        "attributes",
        "bounded",
        "capacity",
        "driver",
        "has_lists",
        "key",
        "problem",
        "value",
    )

    key: tuple[object, ...]
    driver: str
    problem: str
    attributes: Mapping[str, Mapping[str, Value]]
    capacity: Mapping[str, Mapping[str, Value]]
    allow_multiple: bool
    has_lists: bool
    bounded: bool
    value: StringMap

    def __init__(
        self,
        *,
        key: tuple[object, ...],
        driver: str,
        problem: str,
        attributes: Mapping[str, Mapping[str, Value]],
        capacity: Mapping[str, Mapping[str, Value]],
        allow_multiple: bool,
        has_lists: bool,
        bounded: bool,
        value: StringMap,
    ) -> None:
        put(self, "key", key)
        put(self, "driver", driver)
        put(self, "problem", problem)
        put(self, "attributes", attributes)
        put(self, "capacity", capacity)
        put(self, "allow_multiple", allow_multiple)
        put(self, "has_lists", has_lists)
        put(self, "bounded", bounded)
        put(self, "value", value)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, DeviceView) else NotImplemented

    @classmethod
    def from_class_device(
        cls,
        *,
        driver: str,
        attributes: Mapping[str, Mapping[str, object]],
        capacity: Mapping[str, str],
        allow_multiple_allocations: bool = False,
        bounded: bool = True,
    ) -> DeviceView:
        """View a device of an InferenceClass; a bare key's domain is the driver.

        ``bounded=False`` leaves out the bounds of the API, for tables that hold devices no API server would take.
        """
        return _build(driver, attributes, capacity, sharing=allow_multiple_allocations, bounded=bounded)

    @classmethod
    def from_slice_device(cls, driver: str, device: Mapping[str, Any], *, bounded: bool = True) -> DeviceView:
        """View a device of a ResourceSlice, in its current form or the older one that nests all under ``basic``."""
        body = device.get("basic") or device
        capacity: dict[str, Any] = {}
        for name, entry in (body.get("capacity") or {}).items():
            capacity[name] = entry.get("value") if isinstance(entry, Mapping) else entry
        sharing = bool(body.get("allowMultipleAllocations"))
        return _build(driver, body.get("attributes") or {}, capacity, sharing=sharing, bounded=bounded)

    def fresh_cells(self) -> dict[str, dict[str, Value]]:
        """Give capacities whose form an evaluation may change."""
        return {
            domain: {name: Cell([cell.quantity]) for name, cell in entries.items() if isinstance(cell, Cell)}
            for domain, entries in self.capacity.items()
        }

    def fresh_value(self) -> StringMap:
        """Give the variable ``device`` with capacities of its own."""
        found = StringMap(self.value)
        found.insert("capacity", _domains(self.fresh_cells()))
        return found


def _domains(domains: Mapping[str, Mapping[str, Value]]) -> DomainMap:
    found = DomainMap()
    for domain, entries in domains.items():
        inner = StringMap()
        for name, value in entries.items():
            inner.insert(name, value)
        found.insert(domain, inner)
    return found


def _build(
    driver: str, attributes: Mapping[str, Any], capacity: Mapping[str, Any], *, sharing: bool, bounded: bool
) -> DeviceView:
    key = (driver, sharing, bounded, _frozen(attributes), _frozen(capacity))
    problem = ""
    converted: dict[str, dict[str, Value]] = {}
    quantities: dict[str, dict[str, Value]] = {}
    lists = 0
    try:
        if bounded:
            _check_bounds(driver, attributes, capacity)
        for name, attribute in attributes.items():
            value, count = _attribute(name, attribute, bounded=bounded)
            lists += count
            _put(converted, name, driver, value)
        if bounded and lists > MAX_LIST_VALUES:
            raise DeviceError(f"{lists} values in list attributes, the limit is {MAX_LIST_VALUES}")  # noqa: TRY301 - caught right here with the others
        for name, text in capacity.items():
            _put(quantities, name, driver, Cell([_quantity(name, text)]))
    except DeviceError as error:
        problem = str(error)
    value = StringMap()
    value.insert("driver", driver)
    value.insert("allowMultipleAllocations", sharing)
    value.insert("attributes", _domains(converted))
    value.insert("capacity", _domains(quantities))
    return DeviceView(
        key=key,
        driver=driver,
        problem=problem,
        attributes=converted,
        capacity=quantities,
        allow_multiple=sharing,
        has_lists=lists > 0,
        bounded=bounded,
        value=value,
    )


def _frozen(value: object) -> object:
    """Make a description hashable; the type keeps 1, 1.0 and true apart."""
    if isinstance(value, Mapping):
        return tuple(sorted((str(name), _frozen(entry)) for name, entry in value.items()))
    if isinstance(value, list | tuple):
        return ("list", *(_frozen(entry) for entry in value))
    return (type(value).__name__, str(value))


def _put(domains: dict[str, dict[str, Value]], name: str, driver: str, value: Value) -> None:
    domain, slash, bare = name.partition("/")
    if slash:
        domains.setdefault(domain, {})[bare] = value
    else:
        domains.setdefault(driver, {})[name] = value


def _check_bounds(driver: str, attributes: Mapping[str, Any], capacity: Mapping[str, Any]) -> None:
    _check_length("driver", driver, MAX_DRIVER)
    count = len(attributes) + len(capacity)
    if count > MAX_ENTRIES:
        raise DeviceError(f"{count} attributes and capacities, the limit is {MAX_ENTRIES}")
    for name in (*attributes, *capacity):
        domain, slash, bare = name.partition("/")
        if slash:
            _check_length("domain", domain, MAX_DOMAIN)
        _check_length("name", bare if slash else name, MAX_ID)


def _check_length(what: str, text: str, limit: int) -> None:
    if len(text.encode("utf-8", "surrogatepass")) > limit:
        raise DeviceError(f"{what} {text[:80]!r} is longer than {limit} bytes")


def _attribute(name: str, attribute: object, *, bounded: bool) -> tuple[Value, int]:
    """Convert one attribute; also count the values of a list."""
    if not isinstance(attribute, Mapping):
        raise DeviceError(f"attribute {name}: expected one of string, int, bool, version")
    present = [form for form in (*_LISTS, *_SCALARS) if attribute.get(form) is not None]
    if not present:
        raise DeviceError(f"attribute {name}: unsupported attribute value")
    if bounded and len(present) > 1:
        raise DeviceError(f"attribute {name}: exactly one value must be set, found {', '.join(present)}")
    form = present[0]
    value = attribute[form]
    if form in _SCALARS:
        return _scalar(name, form, value, bounded=bounded), 0
    if not isinstance(value, list | tuple):
        raise DeviceError(f"attribute {name}: {form} must be a list")
    return [_scalar(name, form[:-1], entry, bounded=bounded) for entry in value], len(value)


def _scalar(name: str, form: str, value: object, *, bounded: bool) -> Value:
    if type(value) is not _SCALARS[form]:
        raise DeviceError(
            f"attribute {name}: the {form} value {str(value)[:80]} has the wrong type: {_MUST[_SCALARS[form]]}"
        )
    if isinstance(value, int) and not -_MAX_INT <= value < _MAX_INT:
        raise DeviceError(f"attribute {name}: the integer does not fit 64 bits")
    if isinstance(value, str):
        if bounded:
            _check_length(f"attribute {name}: value", value, MAX_VALUE)
        if form == "version":
            try:
                return Semver.parse(value)
            except SemverError as error:
                raise DeviceError(f"attribute {name}: parse semantic version: {error.message}") from error
    return value


def _quantity(name: str, value: object) -> Quantity:
    """Read a capacity; YAML reads an unquoted one as a number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise DeviceError(f"capacity {name}: a quantity must be written as text")
    try:
        return Quantity.parse(str(value))
    except QuantityError as error:
        raise DeviceError(f"capacity {name}: {error.message}") from error
