"""Remedies: what one more replica of a deployment would need, as one of four answers.

It fits now; it fits once something that is declared already has scaled up; it fits after one named change (a pool with
so many more nodes, at a price if it is known, or one refusal that a person can lift); or it never fits, because no pool
has such devices. The ledger and the filters that decided are asked again with the change made, so a remedy that is
named is one that works.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from automation.scheduling.filters import Clusters, Filters
from automation.scheduling.hosting import Hosting
from automation.scheduling.ledger import Ledger
from automation.scheduling.refused import Refused
from automation.scheduling.snapshot import ClusterState
from automation.scheduling.verdict import FABRIC_LINES, Code
from automation.scheduling.work import Work


class Answer(StrEnum):
    """Whether one more replica could be placed."""

    NOW = "now"
    """There is room on nodes that are there."""
    SCALE_UP = "scale-up"
    """There is room once the cluster has brought nodes that are declared."""
    CHANGE = "change"
    """There is room after a change that somebody has to make."""
    NEVER = "never"
    """No cluster has such devices, whatever is changed otherwise."""


@dataclass(frozen=True, slots=True)
class Growth:
    """A pool, how many nodes it has, how many it would need, and what the difference costs in USD per hour.

    ``refused`` says that its cloud has refused to bring more for now, ``unusable`` how many of the nodes it has cannot
    be promised because of what was seen.
    """

    pool: str
    nodes: int
    needed: int
    cost: Decimal | None
    refused: str = ""
    unusable: int = 0

    def __str__(self) -> str:
        """Say it in words."""
        price = "price unknown" if self.cost is None else f"{self.cost} USD per hour"
        refused = f"; {self.refused}" if self.refused else ""
        unusable = f"; {self.unusable} of the {self.nodes} cannot be used, as they were seen" if self.unusable else ""
        return f"pool {self.pool} from {self.nodes} to {self.needed} nodes ({price}{unusable}{refused})"


@dataclass(frozen=True, slots=True)
class Remedy:
    """The answer, with the cluster and the pools that it is about, and in words."""

    answer: Answer
    message: str
    cluster: str = ""
    growth: tuple[Growth, ...] = ()


_SEVERAL = Remedy(Answer.CHANGE, "would need several changes: see what each cluster says")
_NEVER = Remedy(Answer.NEVER, "never fits: no pool of any cluster can carry it")

_LIFTABLE = (Code.NOT_READY, Code.TAINTED, Code.DESELECTED, Code.OUTSIDE_CACHE, Code.NO_STORAGE, Code.CACHE_FAILED)
"""Refusals that a person can lift without another machine."""
_LIFTED = {
    Code.NOT_READY: "it is ready again",
    Code.TAINTED: "its taints are tolerated or taken away",
    Code.DESELECTED: "the deployment's clusterSelector takes it in",
    Code.OUTSIDE_CACHE: "the clusterSelector of the cache takes it in",
    Code.NO_STORAGE: "it has a storage class that many nodes can mount",
    Code.CACHE_FAILED: "the cache is staged on it",
}


_HAS = ("has", "have")

Limiting = Callable[[Work, int], Refused | None]
"""Says which limit keeps one more replica of a deployment off a cluster."""


class Remedies:
    """Answers for the state in which a pass ended."""

    def __init__(self, filters: Filters, ledger: Ledger, limit: Limiting) -> None:
        self._filters = filters
        self._ledger = ledger
        self._limit = limit

    def next(self, work: Work) -> Remedy:
        """Say what one more replica of a deployment would need; the least first, ties by name."""
        for awaited in work.awaited:
            name = self._filters.clusters[awaited.spot[0]].name
            going = ", ".join(str(replica) for replica, _ in awaited.going)
            return Remedy(Answer.CHANGE, f"fits on {name} once {going} {_HAS[len(awaited.going) > 1]} gone", name)
        growths: list[tuple[str, tuple[Growth, ...]]] = []
        scaled: list[tuple[str, tuple[Growth, ...]]] = []
        limited: list[tuple[str, str]] = []
        for position, hosting in self._hosting(work, work.allowed):
            name = self._filters.clusters[position].name
            refused = self._limit(work, position)
            if refused is not None:
                limited.append((name, refused.lifted))
                continue
            if self._ledger.room(position, hosting) is None:
                growths.append((name, self._grown(position, hosting, self._promised(position))))
                continue
            missing = self._grown(position, hosting, self._present(position))
            if not missing:
                return Remedy(Answer.NOW, self._now(position), name)
            scaled.append((name, missing))
        if scaled:
            name, growth = min(scaled, key=_least)
            return Remedy(Answer.SCALE_UP, f"fits on {name} after scale-up: {_words(growth)}", name, growth)
        if limited:
            name, lifted = limited[0]
            return Remedy(Answer.CHANGE, f"would fit on {name} once {lifted}", name)
        growths = [each for each in growths if each[1]]
        if growths:
            name, growth = min(growths, key=_least)
            return Remedy(Answer.CHANGE, f"would fit on {name} with {_words(growth)}", name, growth)
        return self._lifted(work)

    def _now(self, position: int) -> str:
        cluster = self._filters.clusters[position]
        planned = cluster.state is ClusterState.PLANNED
        return f"fits on {cluster.name} once it is built" if planned else f"fits now on {cluster.name}"

    def _lifted(self, work: Work) -> Remedy:
        """Find a cluster that has room and is refused for one thing alone that a person can lift."""
        refused = dict(self._filters.refused(work.deployment, work.need))
        hosts = self._filters.everywhere & ~refused[Code.NO_MATCH] & ~refused[Code.NO_POOLS]
        for code in reversed(_LIFTABLE):
            only = refused.get(code, 0) & hosts
            for other, clusters in refused.items():
                only &= self._filters.everywhere if other is code else ~clusters
            for position, hosting in self._hosting(work, only):
                if self._ledger.room(position, hosting) is not None and self._limit(work, position) is None:
                    name = self._filters.clusters[position].name
                    return Remedy(Answer.CHANGE, f"would fit on {name} once {_LIFTED[code]}", name)
        if hosts:
            return _SEVERAL
        alone = self._unlike(work, refused)
        return alone or (_SEVERAL if self._filters.has_devices(work.need) else _NEVER)

    def _unlike(self, work: Work, refused: Mapping[Code, Clusters]) -> Remedy | None:
        """Find a cluster whose pools lack nothing but the network between the nodes of a gang, or leave for spot."""
        clusters = self._filters.everywhere
        for code, others in refused.items():
            if code is not Code.NO_MATCH:
                clusters &= ~others
        ways = f": {FABRIC_LINES}" if work.deployment.fabric is None else ""
        for position in self._filters.members(clusters):
            name = self._filters.clusters[position].name
            if self._has_room(position, self._filters.whatever_fabric(work.need, position)):
                return Remedy(Answer.CHANGE, f"would fit on {name} if its nodes shared what a gang needs{ways}", name)
            if self._has_room(position, self._filters.on_spot(work.need, position)):
                return Remedy(
                    Answer.CHANGE, f"would fit on {name} if it might run on spot nodes: write `spot: true`", name
                )
        return None

    def _has_room(self, position: int, hosting: Hosting | None) -> bool:
        return hosting is not None and self._ledger.room(position, hosting) is not None

    def _hosting(self, work: Work, clusters: int) -> Iterator[tuple[int, Hosting]]:
        for position in self._filters.members(clusters):
            hosting = self._filters.hosting(work.need, position)
            if hosting is not None:
                yield position, hosting

    def _promised(self, position: int) -> list[int]:
        return [load.nodes for load in self._ledger.loads[position]]

    def _present(self, position: int) -> list[int]:
        loads = self._ledger.loads[position]
        pools = self._filters.clusters[position].pools
        return [min(pool.present, load.nodes) for pool, load in zip(pools, loads, strict=True)]

    def _grown(self, position: int, hosting: Hosting, base: Sequence[int]) -> tuple[Growth, ...]:
        """Return the fewest nodes beyond ``base`` with which a replica fits: in one pool, else in several alike.

        Empty when it fits without any, or with none that would help.
        """
        loads = self._ledger.loads[position]
        before = [load.nodes for load in loads]
        used = sorted({pool for options in hosting for option in options for pool, _, _ in option.adds})
        try:
            if self._fits(position, hosting, base, (), 0):
                return ()
            # With a node for every pod there is always room, whatever else is on the pool.
            asked = sum(max(sum(add[2] for add in option.adds) for option in options) for options in hosting)
            most = {pool: sum(loads[pool].pods.values()) + asked for pool in used}
            trials: list[tuple[int, tuple[int, ...]]] = [
                (self._least_nodes(position, hosting, base, (pool,), most[pool]), (pool,)) for pool in used
            ]
            found = [(number, pools) for number, pools in trials if number]
            if not found and len(used) > 1:
                together = self._least_nodes(position, hosting, base, tuple(used), max(most.values()))
                found = [(together, tuple(used))] if together else []
            if not found:
                return ()
            number, pools = min(found)
        finally:
            for load, nodes in zip(loads, before, strict=True):
                load.nodes = nodes
        return tuple(self._growth(position, pool, base[pool], number) for pool in pools)

    def _growth(self, position: int, pool: int, nodes: int, more: int) -> Growth:
        """Say it of the nodes that are declared: those that were seen out of use are among them."""
        known = self._filters.clusters[position].pools[pool]
        cost = None if known.price is None else known.price * more
        unusable = 0
        if nodes == known.nodes and known.observed is not None and known.refused is None:
            unusable = (known.maximum if known.scales else known.realised) - nodes
            nodes += unusable
        return Growth(known.name, nodes, nodes + more, cost, str(known.refused or ""), unusable)

    def _least_nodes(
        self, position: int, hosting: Hosting, base: Sequence[int], pools: tuple[int, ...], most: int
    ) -> int:
        """Return how many nodes each of ``pools`` has to get; 0 when not even ``most`` help. More never fits less."""
        if not self._fits(position, hosting, base, pools, most):
            return 0
        low, high = 0, most
        while high - low > 1:
            middle = (low + high) // 2
            if self._fits(position, hosting, base, pools, middle):
                high = middle
            else:
                low = middle
        return high

    def _fits(self, position: int, hosting: Hosting, base: Sequence[int], pools: tuple[int, ...], more: int) -> bool:
        for number, load in enumerate(self._ledger.loads[position]):
            load.nodes = base[number] + (more if number in pools else 0)
        return self._ledger.room(position, hosting) is not None


def _least(found: tuple[str, tuple[Growth, ...]]) -> tuple[object, ...]:
    name, growth = found
    costs = [each.cost for each in growth]
    known = [cost for cost in costs if cost is not None]
    nodes = sum(each.needed - each.nodes for each in growth)
    return (len(known) < len(costs), sum(known, Decimal(0)), nodes, name)


def _words(growth: Sequence[Growth]) -> str:
    return " and ".join(map(str, growth))
