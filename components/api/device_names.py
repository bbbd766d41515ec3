"""What the devices of a fleet are called by, and which of these names a selector probably meant.

A name that no device has makes a selector fail or match nothing, and a guard around it only hides that: so before a
guard is recommended, the name is held against those that there are.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from components.api.inference_class import Device
from components.api.near import near
from components.cel.environment import MINORS
from components.cel.problem import Position, SelectorError
from components.cel.selector import compile_selector
from components.cel.syntax import Call, Expr, Ident, Literal, Select, children

_ATTRIBUTES: Final = "attributes"
_CAPACITY: Final = "capacity"
_TABLES: Final = (_ATTRIBUTES, _CAPACITY)
_INDICES: Final = ("_[_]", "_[?_]")
_STEPS: Final = (*_INDICES, "_?._")
_PAIR: Final = 2


class NameRead(NamedTuple):
    """One name that a selector reads.

    ``table`` is ``attributes`` or ``capacity``, or ``driver`` where the driver is compared with a text, which then is
    the ``domain``; ``name`` is empty where only the domain is said. ``position`` is that of the step that reads it.
    """

    table: str
    domain: str
    name: str
    position: Position


@dataclass(frozen=True, slots=True)
class DeviceNames:
    """The drivers of some devices, and their names by table and domain."""

    drivers: frozenset[str]
    tables: Mapping[str, Mapping[str, frozenset[str]]]

    @classmethod
    def of(cls, devices: Iterable[Device]) -> "DeviceNames":
        """Return what ``devices`` are called by; a name without a domain is in that of the driver."""
        tables: dict[str, dict[str, set[str]]] = {table: {} for table in _TABLES}
        drivers = set()
        for device in devices:
            drivers.add(device.driver)
            for table, entries in ((_ATTRIBUTES, device.attributes), (_CAPACITY, device.capacity)):
                for key in entries:
                    domain, slash, name = key.rpartition("/")
                    tables[table].setdefault(domain if slash else device.driver, set()).add(name)
        found = {table: {key: frozenset(names) for key, names in each.items()} for table, each in tables.items()}
        return cls(frozenset(drivers), found)

    def meant(self, expression: str, position: Position | None = None) -> str:
        """Return the hint for the first name in a selector that no device has and one is like; else nothing.

        With a ``position``, that of a failure, only for what is read there.
        """
        for read in names_read(expression):
            if position is None or position.offset == read.position.offset:
                found = self._near(read)
                if found:
                    return f"did you mean `{found}`?"
        return ""

    def _near(self, read: NameRead) -> str:
        if read.table not in _TABLES:
            return "" if read.domain in self.drivers else near(read.domain, self.drivers)
        domains = {*self.drivers, *(domain for table in self.tables.values() for domain in table)}
        if read.domain not in domains:
            return near(read.domain, domains)
        names = self.tables[read.table].get(read.domain, frozenset())
        if not read.name or read.name in names:
            return ""
        other = _CAPACITY if read.table == _ATTRIBUTES else _ATTRIBUTES
        if read.name in self.tables[other].get(read.domain, frozenset()):
            return f'device.{other}["{read.domain}"].{read.name}'
        return near(read.name, names)


def names_read(expression: str) -> Iterator[NameRead]:
    """Yield the names that a selector reads of a device, in the order in which they stand; none if it is wrong."""
    try:
        nodes: list[Expr] = [compile_selector(expression, minor=MINORS[-1]).tree().root]
    except SelectorError:
        return
    found: dict[int, NameRead] = {}
    taken: set[int] = set()
    """The nodes that are the domain of a name above them."""
    while nodes:
        node = nodes.pop()
        nodes += reversed(children(node))
        read = _read(node, expression)
        if read is not None and node.id not in taken:
            found[node.id] = read
            if read.name:
                taken.update(child.id for child in children(node))
    yield from sorted(found.values(), key=lambda each: each.position.offset)


def _read(node: Expr, expression: str) -> NameRead | None:
    """Return the name that a node reads, if it reads one."""
    position = Position.at(expression, node.pos)
    domain = _domain(node)
    if domain is not None:
        return NameRead(*domain, "", position)
    step = _step(node)
    if step is not None:
        domain = _domain(step[0])
        return None if domain is None else NameRead(*domain, step[1], position)
    if isinstance(node, Call) and node.function == "@in":
        sought, domain = node.args[0], _domain(node.args[1])
        if domain is None or not isinstance(sought, Literal) or not isinstance(sought.value, str):
            return None
        return NameRead(*domain, sought.value, position)
    if isinstance(node, Call) and node.function == "_==_" and len(node.args) == _PAIR:
        for one, other in (node.args, node.args[::-1]):
            if _of_device(one, ("driver",)) and isinstance(other, Literal) and isinstance(other.value, str):
                return NameRead("driver", other.value, "", position)
    return None


def _domain(node: Expr) -> tuple[str, str] | None:
    """Return table and domain of ``device.attributes["domain"]``."""
    step = _step(node)
    if step is None or not isinstance(node, Call):
        return None
    table = _of_device(step[0], _TABLES)
    return (table, step[1]) if table else None


def _step(node: Expr) -> tuple[Expr, str] | None:
    """Return what a node looks into, and the constant text that it looks for."""
    if isinstance(node, Select):
        return node.operand, node.field
    if isinstance(node, Call) and node.function in _STEPS and len(node.args) == _PAIR:
        key = node.args[1]
        if isinstance(key, Literal) and isinstance(key.value, str):
            return node.args[0], key.value
    return None


def _of_device(node: Expr, fields: Iterable[str]) -> str:
    """Return which of some fields of the device a node is."""
    if isinstance(node, Select) and isinstance(node.operand, Ident) and node.operand.name == "device":
        return node.field if node.field in fields else ""
    return ""
