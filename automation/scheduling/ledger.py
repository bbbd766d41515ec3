"""The ledger: which pods are promised room on which pool, and whether more fit.

Every pod that may exist at once is in it: replicas that stay, replicas that go (they live until they are retired), the
new ones, and other people's pods that were seen. Replicas are charged at their own stamped shape, on the pool they are
pinned to; pods that claim nothing take nothing, but for CPU and memory that they request where the pool states them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from automation.scheduling.capacity import Capacity, per_node
from automation.scheduling.hardware import Hardware
from automation.scheduling.hosting import Add, Hosting, Option
from automation.scheduling.patterns import Demand
from automation.scheduling.snapshot import Accounting

EXACT_BUDGET = 20_000
"""Partial assignments looked at when engines are put on pools by exact search (at most 8 engines and 8 pools)."""

Trial = dict[int, dict[Demand, int]]
"""Pods on trial by pool (position) and demand."""

Admits = Callable[[Sequence[Option]], bool]
"""Says whether engines may take options, besides the room for them."""


@dataclass(slots=True)
class PoolLoad:
    """One pool: what its nodes are, how many there are, and the pods on it by demand."""

    hardware: Hardware
    nodes: int
    pods: dict[Demand, int] = field(default_factory=dict)

    def used(self, dimension: int) -> int:
        """Return the devices of one kind that are promised."""
        return sum(demand[dimension] * count for demand, count in self.pods.items())


class Ledger:
    """The pods of every pool of every cluster; clusters and pools are known by position."""

    def __init__(self, loads: Sequence[Sequence[PoolLoad]], capacity: Capacity, *, first_fit_only: bool) -> None:
        self.loads = loads
        self.capacity = capacity
        self.touched: set[int] = set()
        """The clusters with pods."""
        self.recent: set[int] = set()
        """The clusters whose pods have changed since somebody who follows the ledger has emptied this."""
        self._first_fit_only = first_fit_only
        self._sure: dict[tuple[int, Demand], int] = {}

    def charge(self, cluster: int, adds: Iterable[Add], *, times: int = 1) -> None:
        """Add pods (``times=-1`` takes them away again)."""
        for pool, demand, count in adds:
            pods = self.loads[cluster][pool].pods
            left = pods.get(demand, 0) + count * times
            if left:
                pods[demand] = left
            else:
                pods.pop(demand, None)
        self.touched.add(cluster)
        self.recent.add(cluster)

    def room(self, cluster: int, hosting: Hosting, admits: Admits | None = None) -> tuple[Option, ...] | None:
        """Return an option for every engine such that all fit together; None when there is none.

        First fit in the order of options decides if it succeeds; an exact search does otherwise. What ``admits``
        refuses is left out; it is asked about the first engines, and refuses no less when more are added.
        """
        trial: Trial = {}
        chosen: list[Option] = []
        for options in hosting:
            allowed = options if admits is None else [each for each in options if admits((*chosen, each))]
            option = self._first(cluster, trial, allowed)
            if option is None:
                alone = len(hosting) == 1
                return None if alone or self._first_fit_only else self._search(cluster, hosting, admits)
            chosen.append(option)
        return tuple(chosen)

    def mixes(self, cluster: int, options: Iterable[Option]) -> bool:
        """Whether pods of these options would share a pool with pods of another size, which costs room."""
        return any(self._mixed(cluster, {}, option) for option in options)

    def must_mix(self, cluster: int, options: Iterable[Option]) -> bool:
        """Whether the pods of an engine would, by whatever option: it is known without a look at the room."""
        return all(self._mixed(cluster, {}, option) for option in options)

    def left(self, cluster: int, options: Iterable[Option]) -> int:
        """Return how much is left on the pools of these options: devices, or nodes where whole ones are counted."""
        loads = [self.loads[cluster][pool] for pool in {pool for option in options for pool, _, _ in option.adds}]
        if self.capacity.accounting is Accounting.NODE:
            return sum(load.nodes - sum(load.pods.values()) for load in loads)
        return sum(
            device.count * load.nodes - load.used(dimension)
            for load in loads
            for dimension, device in enumerate(load.hardware.devices[kind] for kind in load.hardware.kinds)
        )

    def _first(self, cluster: int, trial: Trial, options: Sequence[Option]) -> Option | None:
        mixing_costs = self.capacity.accounting is Accounting.DEVICE and not self._first_fit_only
        if mixing_costs and len(options) > 1:
            options = sorted(options, key=lambda option: self._mixed(cluster, trial, option))
        for option in options:
            if self._take(cluster, trial, option.adds):
                return option
        return None

    def _mixed(self, cluster: int, trial: Trial, option: Option) -> bool:
        if self.capacity.accounting is not Accounting.DEVICE:
            return False
        for pool, demand, _ in option.adds:
            load = self.loads[cluster][pool]
            pods, others = load.pods, trial.get(pool, ())
            if len(pods) > 1 or (pods and demand not in pods) or any(each != demand for each in others):
                devices_of = load.hardware.devices_of
                if not load.hardware.resources or len({devices_of(each) for each in (demand, *pods, *others)}) > 1:
                    return True
        return False

    def _take(self, cluster: int, trial: Trial, adds: Sequence[Add]) -> bool:
        """Put pods on trial if they fit beside those that are; leave the trial as it was if they do not."""
        if len(adds) == 1 and adds[0][0] not in trial:  # nearly always: one pool, which nobody else is tried on
            pool, demand, count = adds[0]
            extra = {demand: count}
            if not self.fits(self.loads[cluster][pool], extra):
                return False
            trial[pool] = extra
            return True
        for position, (pool, demand, count) in enumerate(adds):
            extra = trial.setdefault(pool, {})
            extra[demand] = extra.get(demand, 0) + count
            if not self.fits(self.loads[cluster][pool], extra):
                _untake(trial, adds[: position + 1])
                return False
        return True

    def fits(self, load: PoolLoad, extra: dict[Demand, int]) -> bool:
        """Return whether ``extra`` pods fit on a pool beside its own."""
        pods = load.pods
        if len(extra) == 1 and self.capacity.accounting is Accounting.DEVICE:
            (demand, count) = next(iter(extra.items()))
            if not pods or (len(pods) == 1 and demand in pods):  # equal sizes: the common case, by arithmetic
                return pods.get(demand, 0) + count <= load.nodes * self._sure_per_node(load.hardware, demand)
        elif self.capacity.accounting is Accounting.NODE and sum(pods.values()) + sum(extra.values()) > load.nodes:
            return False
        merged = dict(pods)
        for demand, count in extra.items():
            merged[demand] = merged.get(demand, 0) + count
        return self.capacity.fits(load.hardware.node, load.nodes, merged)

    def settle(self, loads: Mapping[int, PoolLoad], adds: Iterable[Add]) -> bool:
        """Put a replica's pods on those of ``loads`` (by pool) that they are for; none of them if one does not fit."""
        before = {number: dict(load.pods) for number, load in loads.items()}
        for pool, demand, count in adds:
            load = loads.get(pool)
            if load is None:
                continue
            if not self.fits(load, {demand: count}):
                for number, pods in before.items():
                    loads[number].pods = pods
                return False
            load.pods[demand] = load.pods.get(demand, 0) + count
        return True

    def _sure_per_node(self, hardware: Hardware, demand: Demand) -> int:
        key = (hardware.number, demand)
        known = self._sure.get(key)
        if known is None:
            known = per_node(hardware.node, demand) if hardware.node.holds(demand) else 0
            self._sure[key] = known
        return known

    def _search(self, cluster: int, hosting: Hosting, admits: Admits | None) -> tuple[Option, ...] | None:
        """Try every assignment of engines to pools, in order, within the budget."""
        trial: Trial = {}
        chosen: list[int] = []
        engines = hosting
        budget = EXACT_BUDGET

        def step(position: int) -> bool:
            nonlocal budget
            if position == len(engines):
                return True
            options = engines[position]
            # Engines that need the same are interchangeable: of two in a row the later takes no earlier option.
            start = chosen[-1] if position and options is engines[position - 1] else 0
            for number in range(start, len(options)):
                budget -= 1
                if budget < 0:
                    return False
                before = [engines[place][which] for place, which in enumerate(chosen)]
                if admits is not None and not admits((*before, options[number])):
                    continue
                if self._take(cluster, trial, options[number].adds):
                    chosen.append(number)
                    if step(position + 1):
                        return True
                    chosen.pop()
                    _untake(trial, options[number].adds)
            return False

        if not step(0):
            return None
        return tuple(options[number] for options, number in zip(engines, chosen, strict=True))


def _untake(trial: Trial, adds: Sequence[Add]) -> None:
    for pool, demand, count in adds:
        extra = trial[pool]
        extra[demand] -= count
        if not extra[demand]:
            del extra[demand]
