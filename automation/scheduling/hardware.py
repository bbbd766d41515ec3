"""Hardware: what the nodes of pools with the same devices have in common, as the scheduler counts it.

Pools whose devices are equal share one value, so that everything that depends on devices alone (matching, the layout
of demands, the price of a pod in nodes) is computed once for the whole fleet.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from automation.scheduling.patterns import NO_LIMIT, Demand, Node
from automation.scheduling.snapshot import Device

Taking = tuple[int, frozenset[int]]
"""A number of devices, and the positions of the kinds that any of them may be."""


@dataclass(frozen=True, slots=True, eq=False)
class Hardware:
    """The devices of a node and their layout as dimensions; compared by identity.

    Every claimable kind has a dimension. Kinds that share a DeviceClass add more, because the allocator may take a
    request from any of them: one per kind for what cannot be elsewhere, and one for the sum.
    """

    number: int
    devices: tuple[Device, ...]
    kinds: tuple[int, ...]
    """Positions of the claimable devices; position i of a demand stands for kind i."""
    classes: tuple[tuple[str, tuple[int, ...]], ...]
    """DeviceClasses in the order in which they first stand, each with its kinds (as dimensions)."""
    sums: tuple[tuple[tuple[int, ...], int], ...]
    """The kinds of every DeviceClass that has several, and the dimension of their sum; theirs stand right before it."""
    node: Node

    def demand(self, takings: Iterable[Taking]) -> Demand:
        """Return the demand of a pod that takes ``takings``, each from kinds of one DeviceClass."""
        counts = [0] * len(self.node.has)
        for count, kinds in takings:
            for kind in kinds:
                counts[kind] += count
            for members, total in self.sums:
                if kinds <= frozenset(members):
                    counts[total] += count
                    if len(kinds) == 1:
                        counts[total - len(members) + members.index(min(kinds))] += count
        for members, _ in self.sums:
            for kind in members:  # more than all of a kind cannot be taken, however many requests may take it
                counts[kind] = min(counts[kind], self.node.has[kind])
        return tuple(counts)

    def share(self, demand: Demand) -> Fraction:
        """Return the part of a node that a pod takes: that of the kind it takes most of."""
        return max(Fraction(taken, has) for taken, has in zip(demand, self.node.has, strict=True))

    def accelerators(self, demand: Demand) -> dict[str, int]:
        """Return how many devices of each accelerator a pod may take; what it may take of either counts for both."""
        totals = {members: demand[total] for members, total in self.sums}
        found: dict[str, int] = {}
        for _, kinds in self.classes:
            by_name: dict[str, int] = {}
            for kind in kinds:
                name = self.devices[self.kinds[kind]].accelerator
                by_name[name] = by_name.get(name, 0) + demand[kind]
            for name, taken in by_name.items():
                count = min(taken, totals.get(kinds, taken))
                if name and count:
                    found[name] = found.get(name, 0) + count
        return found

    def foreign(self, devices: Mapping[str, int]) -> Demand | None:
        """Return the demand of a pod that holds given numbers of devices, by name; None when it holds none of these."""
        takings = [
            (devices[self.devices[position].name], frozenset({kind}))
            for kind, position in enumerate(self.kinds)
            if devices.get(self.devices[position].name)
        ]
        return self.demand(takings) if takings else None


def make_hardware(number: int, devices: tuple[Device, ...]) -> Hardware:
    """Lay out the devices of a node."""
    claimable = [position for position, device in enumerate(devices) if device.claimable]
    classes: dict[str, list[int]] = {}
    for dimension, position in enumerate(claimable):
        classes.setdefault(devices[position].device_class, []).append(dimension)
    counts = [devices[position].count for position in claimable]
    has, room = list(counts), list(counts)
    sums: list[tuple[tuple[int, ...], int]] = []
    for kinds in classes.values():
        if len(kinds) > 1:
            sums.append((tuple(kinds), len(has) + len(kinds)))
            for kind in kinds:
                room[kind] = NO_LIMIT
            exact = [counts[kind] for kind in kinds]
            room += [*exact, sum(exact)]
            has += [NO_LIMIT] * (len(kinds) + 1)
    return Hardware(
        number=number,
        devices=devices,
        kinds=tuple(claimable),
        classes=tuple((name, tuple(kinds)) for name, kinds in classes.items()),
        sums=tuple(sums),
        node=Node(tuple(has), tuple(room)),
    )


class Catalogue:
    """Every distinct hardware of a snapshot."""

    def __init__(self) -> None:
        self._by_value: dict[tuple[Device, ...], Hardware] = {}
        self._by_object: dict[int, tuple[Sequence[Device], Hardware]] = {}

    @property
    def all(self) -> Collection[Hardware]:
        """Every hardware that was asked for."""
        return self._by_value.values()

    def of(self, devices: tuple[Device, ...]) -> Hardware:
        """Return the hardware of a node with these devices; equal devices give the same value."""
        known = self._by_object.get(id(devices))
        if known is not None:
            return known[1]
        hardware = self._by_value.get(devices)
        if hardware is None:
            hardware = self._by_value[devices] = make_hardware(len(self._by_value), devices)
        self._by_object[id(devices)] = (devices, hardware)  # holding the tuple keeps its id from being reused
        return hardware
