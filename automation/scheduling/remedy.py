"""Remedies: what one more replica of a deployment would need, as one of four answers.

It fits now; it fits once something that is declared already has scaled up; it fits after named changes (a pool with so
many more nodes, at a price if it is known; refusals that a person can lift), on the cluster where the fewest do; or it
never fits, because no cluster has such devices, and what came closest is said. The ledger and the filters that decided
are asked again with the changes made, so a remedy that is named is one that works.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from itertools import product

from automation.scheduling.bill import Bill
from automation.scheduling.existing import ExistingReplica
from automation.scheduling.filters import Clusters, Filters
from automation.scheduling.growth import Growth, least, words
from automation.scheduling.hosting import Add, Hosting, adds_of
from automation.scheduling.ledger import Ledger
from automation.scheduling.needs import Lenience, Need
from automation.scheduling.place import Placer
from automation.scheduling.pools import PoolExplainer
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
class Remedy:
    """The answer, with the cluster and the pools that it is about, and in words."""

    answer: Answer
    message: str
    cluster: str = ""
    growth: tuple[Growth, ...] = ()


@dataclass(frozen=True, slots=True)
class _Obstacle:
    """What keeps a deployment off a cluster, room and limits aside: how it is lifted, in words."""

    lifted: str
    weight: int = 1


_DECIDED = 8
"""What somebody has decided to take away is asked for only where nothing else would help."""
_BY_CODE = {
    Code.CACHE_FAILED: _Obstacle("the cache is staged on it"),
    Code.NO_STORAGE: _Obstacle("it has a storage class that many nodes can mount"),
    Code.OUTSIDE_CACHE: _Obstacle("the clusterSelector of the cache takes it in"),
    Code.DESELECTED: _Obstacle("the deployment's clusterSelector takes it in"),
    Code.TAINTED: _Obstacle("its taints are tolerated or taken away"),
    Code.TOO_OLD: _Obstacle("its Kubernetes is upgraded"),
    Code.NOT_READY: _Obstacle("it is ready again"),
    Code.GOING_AWAY: _Obstacle("it stays", _DECIDED),
    Code.LOST: _Obstacle("it is there again", _DECIDED),
}
"""By the filter that refuses, what is lifted most easily first."""
_TOO_LARGE = "pods that are larger than a node of their pool have gone"
"""A live one that its class has shrunk under: nodes do not help, since no number of them is sure to hold it."""
_SPOT = _Obstacle("it may run on spot nodes (write `spot: true`)")
_POOL = _Obstacle("stays", _DECIDED)
_FABRIC = _Obstacle("its nodes share what a gang needs")
_MINOR = _Obstacle("it runs Kubernetes")
_LENIENT = (_SPOT, _POOL, _FABRIC, _MINOR)
"""What the parts of a lenience stand for, in their order."""
_ORDER = (*_BY_CODE.values(), *_LENIENT)
_LENIENCES = sorted(
    (Lenience(*each) for each in product((False, True), repeat=len(_LENIENT))),
    key=lambda each: (sum(each), each.leaving),
)
"""The fewest first, and those that keep a pool last."""


_Obstacles = tuple[_Obstacle, ...]
_HAS = ("has", "have")


Holds = Callable[[ExistingReplica, int], tuple[Add, ...]]
"""The pods of a live replica on the pools of its cluster (a position)."""


class Remedies:
    """Answers for the state in which a pass ended."""

    def __init__(
        self,
        filters: Filters,
        ledger: Ledger,
        placer: Placer,
        pools: PoolExplainer,
        *,
        holds: Holds,
        bill: Bill | None,
    ) -> None:
        self._filters = filters
        self._ledger = ledger
        self._placer = placer
        self._pools = pools
        self._holds = holds
        self._bill = bill
        """What nodes may cost; None where nothing ends it."""
        self._lenient: dict[int, dict[Lenience, Clusters]] = {}

    def next(self, work: Work) -> Remedy:
        """Say what one more replica of a deployment would need; the least first, ties by name.

        One that has nowhere to go is what is missing: where it only has to be let stay, it asks for no room beside it.
        """
        found = self._next(work)
        if found.answer is Answer.CHANGE and work.stranded and not work.awaited:
            replica = min(work.stranded, key=lambda each: each.id)
            with self._without(work, replica):
                stays = self._next(work)
            if stays.answer is Answer.CHANGE and stays.cluster == replica.id.cluster:
                return stays
        return found

    @contextmanager
    def _without(self, work: Work, replica: ExistingReplica) -> Generator[None]:
        """Take a live replica out of all that is counted, for a while."""
        position = self._filters.position[replica.id.cluster]
        adds, loads = self._holds(replica, position), self._ledger.loads[position]
        before = [dict(load.pods) for load in loads]
        self._placer.count(work.deployment.key, position, adds, times=-1)
        try:
            yield
        finally:
            self._placer.count(work.deployment.key, position, adds)
            for load, pods in zip(loads, before, strict=True):  # in the order that they had
                load.pods.clear()
                load.pods.update(pods)

    def _next(self, work: Work) -> Remedy:
        for awaited in work.awaited:
            name = self._filters.clusters[awaited.spot[0]].name
            going = ", ".join(str(replica) for replica, _ in awaited.going)
            return Remedy(Answer.CHANGE, f"fits on {name} once {going} {_HAS[len(awaited.going) > 1]} gone", name)
        growths: list[tuple[str, tuple[Growth, ...], str]] = []
        scaled: list[tuple[str, tuple[Growth, ...]]] = []
        limited: list[tuple[str, str]] = []
        for position in self._filters.members(work.allowed):
            hosting = self._filters.hosting(work.need, position)
            assert hosting is not None  # or the cluster would not be allowed
            name = self._filters.clusters[position].name
            room = self._ledger.room(position, hosting) is not None
            refused = [each.lifted for each in self._placer.limits(work, position)]
            if refused:
                limited += [(name, _listed(list(dict.fromkeys(refused))))] if room else []
            elif not room:
                admitted = self._admitted(work, position, hosting)
                growth = self._grown(position, admitted, self._promised(position))
                growths += [(name, growth, self._budget(position, admitted, growth))] if growth else []
            else:
                missing = self._grown(position, hosting, self._present(position))
                if not missing:
                    return Remedy(Answer.NOW, self._now(position), name)
                scaled.append((name, missing))
        if scaled:
            name, growth = min(scaled, key=lambda each: least(*each))
            return Remedy(Answer.SCALE_UP, f"fits on {name} after scale-up: {words(growth)}", name, growth)
        if limited:
            name, lifted = limited[0]
            return Remedy(Answer.CHANGE, f"would fit on {name} once {lifted}", name)
        if growths:
            name, growth, budget = min(growths, key=lambda each: least(*each[:2]))
            once = f", once {budget}" if budget else ""
            return Remedy(Answer.CHANGE, f"would fit on {name} with {words(growth)}{once}", name, growth)
        return self._changed(work) or Remedy(Answer.NEVER, f"never fits: {self._pools.closest(work)}")

    def _admitted(self, work: Work, position: int, hosting: Hosting) -> Hosting:
        """Leave out ways to be on a cluster that a limit refuses, if others are left.

        Only for one engine: what several take counts together.
        """
        if work.account is None or len(hosting) > 1:
            return hosting
        (options,) = hosting
        release = work.release_of_next
        return (tuple(each for each in options if work.account.admits(position, (each,), release)) or options,)

    def _now(self, position: int) -> str:
        cluster = self._filters.clusters[position]
        planned = cluster.state is ClusterState.PLANNED
        return f"fits on {cluster.name} once it is built" if planned else f"fits now on {cluster.name}"

    def _changed(self, work: Work) -> Remedy | None:
        """Find the cluster where the fewest changes make room, and name them; None where none have such devices."""
        parts = self._parts(work)
        found: tuple[int, _Obstacles, int] | None = None
        for obstacles in sorted(parts, key=lambda each: (_weight(each), [_ORDER.index(one) for one in each])):
            if found is not None and found[0] <= _weight(obstacles):
                break
            for position in self._filters.members(parts[obstacles]):
                hosting = self._host(work, position, obstacles)
                full = self._ledger.room(position, hosting) is None
                limited = self._placer.limit(work, position, hosting=hosting) is not None
                more = int(full) + int(limited)
                weight = _weight(obstacles) + more
                if found is None or weight < found[0]:
                    found = (weight, obstacles, position)
                if not more:
                    break
        return None if found is None else self._with(work, found[2], found[1])

    def _parts(self, work: Work) -> dict[_Obstacles, Clusters]:
        """Return the clusters that could carry a deployment by what would have to be lifted there."""
        parts: dict[_Obstacles, Clusters] = {}
        for lenience, clusters in self._leniences(work.need).items():
            named = zip(_LENIENT, lenience, strict=True)
            parts[tuple(each for each, needed in named if needed)] = clusters
        for code, refused in self._filters.refused(work.deployment, work.need):
            if code in _BY_CODE:
                for obstacles, clusters in list(parts.items()):
                    parts[obstacles] = clusters & ~refused
                    parts[_BY_CODE[code], *obstacles] = clusters & refused
        return {obstacles: clusters for obstacles, clusters in parts.items() if clusters}

    def _leniences(self, need: Need) -> dict[Lenience, Clusters]:
        """Return by what the least is that may not be asked of their pools, the clusters with devices for a need."""
        known = self._lenient.get(need.number)
        if known is None:
            known = self._lenient[need.number] = {}
            for alike in self._filters.sorts:
                position = alike.bit_length() - 1
                if self._filters.leniently(need, position, _LENIENCES[-1]) is not None:
                    least = next(each for each in _LENIENCES if self._filters.leniently(need, position, each))
                    known[least] = known.get(least, 0) | alike
        return known

    def _host(self, work: Work, position: int, obstacles: _Obstacles) -> Hosting:
        lenience = Lenience(*(each in obstacles for each in _LENIENT))
        hosting = self._filters.leniently(work.need, position, lenience)
        assert hosting is not None  # or the cluster would not be among those with devices
        return hosting

    def _with(self, work: Work, position: int, obstacles: _Obstacles) -> Remedy:
        """Name the changes after which a replica fits on a cluster: nodes, then what has to be lifted."""
        name, hosting = self._filters.clusters[position].name, self._host(work, position, obstacles)
        full = self._ledger.room(position, hosting) is None
        growth = self._grown(position, hosting, self._promised(position)) if full else ()
        once = [self._lifted(work, position, hosting, each) for each in obstacles]
        if full and not growth:
            once.insert(0, _TOO_LARGE)
        limits = list(self._placer.limits(work, position, hosting=hosting))
        lifted = [each.lifted for each in limits if not growth or each.code is not Code.OVER_BUDGET]
        if budget := self._budget(position, hosting, growth):
            lifted.append(budget)
        once = list(dict.fromkeys([*lifted, *once]))
        text = [f"with {words(growth)}"] if growth else []
        text += [f"once {_listed(once)}"] if once else []
        return Remedy(Answer.CHANGE, f"would fit on {name} {', '.join(text)}", name, growth)

    def _lifted(self, work: Work, position: int, hosting: Hosting, obstacle: _Obstacle) -> str:
        """Say how an obstacle is lifted, with whose word it is or what to write."""
        cluster = self._filters.clusters[position]
        if obstacle is _FABRIC:
            return obstacle.lifted + (f": {FABRIC_LINES}" if work.deployment.fabric is None else "")
        if obstacle is _MINOR:
            return f"{obstacle.lifted} {self._pools.needed_minor(work, position)} or newer"
        if obstacle is _POOL:
            used = {pool for options in hosting for pool in options[0].pools}
            pools = [each for number, each in enumerate(cluster.pools) if number in used and each.leaving]
            return " and ".join(f"its pool {each.name} {obstacle.lifted} ({each.leaving})" for each in pools)
        decided = obstacle.weight == _DECIDED and cluster.why
        return obstacle.lifted + (f" ({cluster.why})" if decided else "")

    def _budget(self, position: int, hosting: Hosting, growth: Sequence[Growth]) -> str:
        """Say what has to become of the budget for one more replica on pools that grow; empty when it holds."""
        if self._bill is None or not growth:
            return ""
        pools = {pool.name: number for number, pool in enumerate(self._filters.clusters[position].pools)}
        nodes = {pools[each.pool]: each.more for each in growth}
        loads = self._ledger.loads[position]
        with self._nodes_kept(position):
            for number, more in nodes.items():
                loads[number].nodes += more
            options = self._ledger.room(position, hosting)
        assert options is not None  # that is what they grow for
        return self._bill.lifted(position, adds_of(options), nodes)

    @contextmanager
    def _nodes_kept(self, position: int) -> Generator[None]:
        """Let pools have other numbers of nodes, for a while."""
        loads = self._ledger.loads[position]
        before = [load.nodes for load in loads]
        try:
            yield
        finally:
            for load, number in zip(loads, before, strict=True):
                load.nodes = number

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
        used = sorted({pool for options in hosting for option in options for pool, _, _ in option.adds})
        with self._nodes_kept(position):
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


def _weight(obstacles: _Obstacles) -> int:
    return sum(each.weight for each in obstacles)


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
