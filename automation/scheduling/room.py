"""Room in words: how much an engine wants of a pool, how much is free, and whose pod would be in danger."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain
from types import MappingProxyType

from automation.scheduling.existing import ExistingReplica, NamespacedName
from automation.scheduling.filters import Filters
from automation.scheduling.hardware import Hardware
from automation.scheduling.hosting import Add, Hosting, Option, adds_of
from automation.scheduling.ledger import Ledger, PoolLoad
from automation.scheduling.patterns import Demand
from automation.scheduling.resources import quantity, words
from automation.scheduling.retain import Judge
from automation.scheduling.snapshot import Accounting
from automation.scheduling.verdict import Code, PoolVerdict
from automation.scheduling.work import Work

Pod = tuple[int, int, Demand]
"""A kind of pod on a pool: the cluster and the pool (positions), and what it takes."""

_State = tuple[str, str, int, int, frozenset[tuple[Demand, int]], tuple[Add, ...]]
"""What room depends on: names of pool and engine, hardware, nodes, pods on them, and what the engine adds."""


class RoomExplainer:
    """Explains the pools of one finished pass."""

    def __init__(
        self, filters: Filters, ledger: Ledger, works: Mapping[NamespacedName, Work], owners: "Owners"
    ) -> None:
        self._filters = filters
        self._ledger = ledger
        self._works = works
        self._owners = owners
        self._known: dict[_State, PoolVerdict] = {}

    def together(self, position: int, engines: Sequence[str], hosting: Hosting) -> str:
        """Say which engine finds no room once those before it have theirs; empty when each finds some."""
        beside: dict[int, dict[Demand, int]] = {}
        for place, (engine, options) in enumerate(zip(engines, hosting, strict=True)):
            if any(self._put(position, beside, option) for option in options):
                continue
            option = options[0]
            number = option.pools[0]
            found = self.verdict(position, number, engine, option, beside=beside.get(number, {}))
            return (
                f"its engines fit one by one, and not together: beside {' and '.join(engines[:place])},"
                f" {engine} has no room on {found.pool} ({found.message})"
            )
        return ""

    def _put(self, position: int, beside: dict[int, dict[Demand, int]], option: Option) -> bool:
        """Put an engine beside the others if there is room for it."""
        adds: dict[int, dict[Demand, int]] = {}
        for pool, demand, pods in option.adds:
            extra = adds.setdefault(pool, {})
            extra[demand] = extra.get(demand, 0) + pods
        if not all(self._ledger.fits(self._loaded(position, pool, beside.get(pool, {})), adds[pool]) for pool in adds):
            return False
        for pool, extra in adds.items():
            taken = beside.setdefault(pool, {})
            for demand, pods in extra.items():
                taken[demand] = taken.get(demand, 0) + pods
        return True

    def _loaded(self, position: int, number: int, beside: Mapping[Demand, int]) -> PoolLoad:
        load = self._ledger.loads[position][number]
        if not beside:
            return load
        pods = dict(load.pods)
        for demand, count in beside.items():
            pods[demand] = pods.get(demand, 0) + count
        return PoolLoad(load.hardware, load.nodes, pods)

    def verdict(
        self,
        position: int,
        number: int,
        engine: str,
        option: Option,
        *,
        beside: Mapping[Demand, int] = MappingProxyType({}),
    ) -> PoolVerdict:
        """Say whether a whole engine fits on a pool that suits it, ``beside`` pods of the same replica."""
        load = self._loaded(position, number, beside)
        pool = self._filters.clusters[position].pools[number]
        state = (pool.name, engine, load.hardware.number, load.nodes, frozenset(load.pods.items()), option.adds)
        known = None if pool.refused else self._known.get(state)
        if known is None:
            known = self._look(position, number, engine, option, beside)
            wanted, free = known.wanted or 0, known.free or 0
            if known.code is Code.FITS or (wanted > free and not pool.refused):  # else it may name who is in the way
                self._known[state] = known
        return known

    def _look(
        self, position: int, number: int, engine: str, option: Option, beside: Mapping[Demand, int]
    ) -> PoolVerdict:
        pool, load = self._filters.clusters[position].pools[number], self._loaded(position, number, beside)
        extra: dict[Demand, int] = {}
        for _, demand, pods in option.adds:
            extra[demand] = extra.get(demand, 0) + pods
        wanted, free, _, unit = self._numbers(load, extra)
        if self._ledger.fits(load, extra):
            text = f"wants {wanted} {unit}, {free} free"
            return PoolVerdict(pool.name, Code.FITS, text, engine, wanted=wanted, free=free)
        message = self._refusal(position, number, load, extra, own=beside)
        return PoolVerdict(pool.name, Code.NO_ROOM, message, engine, wanted=wanted, free=free)

    def _numbers(self, load: PoolLoad, extra: Mapping[Demand, int]) -> tuple[int, int, int, str]:
        """Return how many devices (or nodes) are wanted, free and there, of the kind that is shortest, and its name."""
        if self._ledger.capacity.accounting is Accounting.NODE:
            pods = sum(extra.values())
            return pods, max(0, load.nodes - sum(load.pods.values())), load.nodes, "node" if pods == 1 else "nodes"
        devices = [load.hardware.devices[kind] for kind in load.hardware.kinds]
        numbers = [
            (*_count(load, extra, dimension, device.count), device.name) for dimension, device in enumerate(devices)
        ]
        wanted = [each for each in numbers if each[0]]
        number, free, there, name = min(wanted, key=lambda each: (each[1] - each[0], each[3]))
        return number, free, there, f"device of {name}" if number == 1 else f"devices of {name}"

    def _refusal(
        self,
        position: int,
        number: int,
        load: PoolLoad,
        extra: Mapping[Demand, int],
        *,
        own: Mapping[Demand, int],
    ) -> str:
        wanted, free, total, unit = self._numbers(load, extra)
        short, others = _resources(load, extra)
        enough = [] if short and wanted <= free else [f"wanted {wanted} {unit}, free {free} of {total}"]
        message = "; ".join([*enough, *(short or others)])
        refused = self._filters.clusters[position].pools[number].refused
        if refused is not None:
            message += f"; {refused}"
        if short or wanted > free:
            return message
        merged = dict(load.pods)
        for demand, pods in extra.items():
            merged[demand] = merged.get(demand, 0) + pods
        victim = self._ledger.capacity.victim(load.hardware.node, load.nodes, merged)
        if victim is None:
            return message
        size, less, pod = _in_words(load.hardware, victim)
        ways = "use pods of one size per pool, add nodes, or place it elsewhere"
        if victim in extra:
            return (
                f"{message}, but no node is sure to have {size} free for its own pod: the others could leave each of"
                f" the {load.nodes} with {less}; {ways}"
            )
        owner = self._owner(position, number, victim)
        whose = (
            "its own other engine's" if victim in own else f"{owner[0]}/{owner[1]}'s" if owner else "somebody else's"
        )
        return (
            f"{message}, but it could strand {whose} {pod}: each of the {load.nodes} nodes could be left"
            f" with {less} than {size} free; {ways}"
        )

    def _owner(self, position: int, number: int, demand: Demand) -> NamespacedName | None:
        """Find a deployment that has such a pod on the pool: one that this pass put there, else a live one."""
        pod = (position, number, demand)
        return self._placed.get(pod) or self._owners.of(pod)

    @cached_property
    def _placed(self) -> Mapping[Pod, NamespacedName]:
        """The first deployment of which each kind of pod is new, changed in its place, or waits for others to go."""
        found: dict[Pod, NamespacedName] = {}
        for key, work in sorted(self._works.items()):
            for position, options in (
                *(new.spot for new in work.new),
                *(spot for _, spot, _ in work.changed),
                *(awaited.spot for awaited in work.awaited),
            ):
                for number, demand, _ in adds_of(options):
                    found.setdefault((position, number, demand), key)
        return found


def _count(load: PoolLoad, extra: Mapping[Demand, int], dimension: int, has: int) -> tuple[int, int, int]:
    """Return how much pods want of a kind of which a node has so much, how much is free, and how much there is."""
    total = has * load.nodes
    wanted = sum(demand[dimension] * pods for demand, pods in extra.items())
    return wanted, max(0, total - load.used(dimension)), total


def _resources(load: PoolLoad, extra: Mapping[Demand, int]) -> tuple[list[str], list[str]]:
    """Say how much CPU and memory pods want: of what there is too little, and of the rest."""
    short: list[str] = []
    others: list[str] = []
    first = len(load.hardware.node.has) - len(load.hardware.resources)
    for dimension, (name, has) in enumerate(load.hardware.resources, first):
        wanted, free, total = _count(load, extra, dimension, has)
        text = ", free ".join(quantity(name, amount) for amount in (wanted, free))
        (short if wanted > free else others).append(f"{name}: wanted {text} of {quantity(name, total)}")
    return short, others


def _in_words(hardware: Hardware, demand: Demand) -> tuple[str, str, str]:
    """Return what a pod takes, the word for less than that, and the pod."""
    devices = max(demand[: len(hardware.kinds)])
    if not hardware.resources:
        return str(devices), "fewer", f"{devices}-device pod"
    amounts = zip((name for name, _ in hardware.resources), demand[-len(hardware.resources) :], strict=True)
    parts = [f"{devices} device{'' if devices == 1 else 's'}"] if devices else []
    size = ", ".join([*parts, *words((name, amount) for name, amount in amounts if amount)])
    return size, "less", f"pod of {size}"


class Owners:
    """Whose live pods are on a pool; looked up only when a refusal names a victim."""

    def __init__(
        self, filters: Filters, judge: Judge, live: Mapping[NamespacedName, Sequence[ExistingReplica]]
    ) -> None:
        self._filters = filters
        self._judge = judge
        self._live = live

    def of(self, pod: Pod) -> NamespacedName | None:
        """Return the first deployment that has a live pod of this demand on the pool."""
        return self._live_pods.get(pod)

    @cached_property
    def _live_pods(self) -> Mapping[Pod, NamespacedName]:
        found: dict[Pod, NamespacedName] = {}
        for position, replicas in self._filters.holding(chain.from_iterable(self._live.values())).items():
            for replica in sorted(replicas, key=lambda each: each.id):
                for number, demand, _ in self._judge.adds(replica, position):
                    key = (replica.id.namespace, replica.id.deployment)
                    found.setdefault((position, number, demand), key)
        return found
