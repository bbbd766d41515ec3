"""Hardware: what the nodes of pools with the same devices have in common, as the scheduler counts it.

Pools whose devices are equal, on clusters of one Kubernetes minor, share one value, so that everything that depends on
devices and selectors alone (matching, the layout of demands, the price of a pod in nodes) is computed once for the
whole fleet.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from automation.scheduling.patterns import NO_LIMIT, Demand, Node
from automation.scheduling.resources import Resources
from automation.scheduling.snapshot import Device, Pool
from components.cel.environment import DEFAULT_MINOR

Taking = tuple[int, frozenset[int]]
"""A number of devices, and the positions of the kinds that any of them may be."""


@dataclass(frozen=True, slots=True, eq=False)
class Hardware:
    """The devices of a node and their layout as dimensions; compared by identity.

    Every claimable kind has a dimension. Kinds that share a DeviceClass add more, because the allocator may take a
    request from any of them: one per kind for what cannot be elsewhere, and one for the sum. CPU and memory have the
    last ones, where the pool says what its nodes offer.
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
    resources: Resources = ()
    """What a node offers of CPU and memory, as far as it counts."""
    minor: str = DEFAULT_MINOR
    """The Kubernetes minor by whose language selectors are answered here."""

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

    def beside(self, demand: Demand | None, resources: Resources) -> Demand | None:
        """Return the demand of a pod that also requests CPU and memory; None when it takes nothing that counts here."""
        if not self.resources:
            return demand
        first = len(self.node.has) - len(self.resources)
        amounts = dict(resources)
        asked = tuple(amounts.get(name, 0) for name, _ in self.resources)
        if demand is None and not any(asked):
            return None
        return ((0,) * first if demand is None else demand[:first]) + asked

    def lacking(self, resources: Resources) -> Iterator[tuple[str, int, int]]:
        """Yield of which resources an empty node has too little for a pod, what that wants, and what there is."""
        has = dict(self.resources)
        return ((name, wanted, has[name]) for name, wanted in resources if wanted > has.get(name, wanted))

    def devices_of(self, demand: Demand) -> Demand:
        """Return what a pod takes of devices alone."""
        return demand[: len(demand) - len(self.resources)]

    def size(self, demand: Demand) -> int:
        """Return how many devices a pod takes, of the kind it takes most of."""
        return max(self.devices_of(demand), default=0)

    def share(self, demand: Demand) -> Fraction:
        """Return the part of a node that a pod takes: that of the kind it takes most of."""
        return max(Fraction(min(taken, has), has) for taken, has in zip(demand, self.node.has, strict=True) if taken)

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

    def foreign(self, devices: Mapping[str, int], resources: Resources = ()) -> Demand | None:
        """Return the demand of a pod that holds numbers of devices, by name; None when it takes nothing that counts.

        Devices of a name that is not known here (the class was edited since they were seen) may be of any kind. The pod
        is on one node, so what it holds beyond that (a class that now has fewer) is no other node's.
        """
        takings = [
            (devices[self.devices[position].name], frozenset({kind}))
            for kind, position in enumerate(self.kinds)
            if devices.get(self.devices[position].name)
        ]
        known = {device.name for device in self.devices}
        unknown = sum(count for name, count in devices.items() if name not in known)
        takings += [(unknown, frozenset(kinds)) for _, kinds in self.classes if unknown]
        demand = self.beside(self.demand(takings) if takings else None, resources)
        return None if demand is None else tuple(map(min, demand, self.node.has, self.node.room))


def make_hardware(
    number: int, devices: tuple[Device, ...], resources: Resources = (), minor: str = DEFAULT_MINOR
) -> Hardware:
    """Lay out the devices of a node, and what it offers of CPU and memory."""
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
    offered = tuple(amount for _, amount in resources)
    return Hardware(
        number=number,
        devices=devices,
        kinds=tuple(claimable),
        classes=tuple((name, tuple(kinds)) for name, kinds in classes.items()),
        sums=tuple(sums),
        node=Node((*has, *offered), (*room, *offered)),
        resources=resources,
        minor=minor,
    )


class Catalogue:
    """Every distinct hardware of a snapshot."""

    def __init__(self, *, devices_only: bool = False) -> None:
        self._devices_only = devices_only
        self._by_value: dict[tuple[tuple[Device, ...], Resources, str], Hardware] = {}
        self._by_object: dict[tuple[int, Resources, str], tuple[Sequence[Device], Hardware]] = {}

    @property
    def all(self) -> Collection[Hardware]:
        """Every hardware that was asked for."""
        return self._by_value.values()

    def of(self, pool: Pool, minor: str) -> Hardware:
        """Return the hardware of a pool's nodes on a cluster of a minor; equal ones give the same value."""
        devices, resources = pool.devices, () if self._devices_only else pool.allocatable
        known = self._by_object.get((id(devices), resources, minor))
        if known is not None:
            return known[1]
        hardware = self._by_value.get((devices, resources, minor))
        if hardware is None:
            hardware = make_hardware(len(self._by_value), devices, resources, minor)
            self._by_value[devices, resources, minor] = hardware
        # Holding the tuple keeps its id from being reused.
        self._by_object[id(devices), resources, minor] = (devices, hardware)
        return hardware
