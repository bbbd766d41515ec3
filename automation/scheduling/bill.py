"""The bill: what the nodes of the fleet may cost per hour, as a promise, against its budget.

A pool costs for the nodes that are there anyway, and for those that its pods may bring: a node for each pod at worst,
since nobody knows how the autoscaler and the scheduler of the cluster will pack them, and never more than the declared
maximum. So the fleet stays within its budget whatever happens inside the clusters, and a high maximum costs nothing
until it is used. Everything that can exist at once counts, old and new of a move alike, for both are paid. What goes
away with its cluster or pool does not count: it is on no bill that is to come.

An unknown price is never zero. A pool of unknown price takes nothing new, and while one has nodes, nothing may bring
another one anywhere.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from math import floor, lcm

from automation.scheduling.filters import Filters
from automation.scheduling.hosting import Add, Option, adds_of
from automation.scheduling.ledger import Ledger
from automation.scheduling.refused import Refused, nobody_knows, once_known, usd
from automation.scheduling.snapshot import Budget, Cluster, ClusterState, Pool
from automation.scheduling.verdict import Code


class Bill:
    """What the pods of a ledger may cost; it follows the ledger."""

    def __init__(self, filters: Filters, ledger: Ledger, budget: Budget) -> None:
        self._filters = filters
        self._ledger = ledger
        self._most = Fraction(budget.max_cost_per_hour)
        prices = {pool.price for cluster in filters.clusters for pool in cluster.pools if pool.price is not None}
        self._scale = lcm(*(Fraction(price).denominator for price in prices))
        """Costs are whole numbers of USD per hour divided by this, so that sums are exact and quick."""
        self._limit = floor(self._most * self._scale)
        self._prices = {price: int(Fraction(price) * self._scale) for price in prices}
        self._costs: dict[int, int] = {}
        self._unpriced: dict[int, tuple[str, ...]] = {}
        self._total = 0
        for position in range(len(filters.clusters)):
            self._follow(position)

    def admits(self, position: int, options: Sequence[Option]) -> bool:
        """Whether the budget holds with these engines on a cluster as well."""
        self._catch_up()
        return self._holds(*self._more(position, adds_of(options)))

    def refusal(self, position: int, options: Sequence[Option]) -> Refused | None:
        """Return why the budget may not hold with these engines on a cluster; None when it does."""
        self._catch_up()
        more, unpriced = self._more(position, adds_of(options))
        if self._holds(more, unpriced):
            return None
        unknown = [self._filters.pool_name(position, pool) for pool in unpriced] or self._unknown()
        if unknown:
            message = f"the budget may not hold: {nobody_knows(unknown)}"
            return Refused(Code.OVER_BUDGET, message, once_known(unknown))
        message = f"could cost {usd(self._usd(more))} more; the budget is {usd(self._most)}, used {usd(self._used)}"
        return Refused(Code.OVER_BUDGET, message, f"the budget is raised to {usd(self._used + self._usd(more))}")

    def lifted(self, position: int, adds: Iterable[Add], nodes: Mapping[int, int]) -> str:
        """Return what has to become of the budget for pods on a cluster some of whose pools get more ``nodes``.

        Empty when it holds.
        """
        self._catch_up()
        cluster = self._filters.clusters[position]
        grown = [_grown(pool, nodes.get(number, 0)) for number, pool in enumerate(cluster.pools)]
        more, unpriced = self._more(position, adds, grown)
        if self._holds(more, unpriced):
            return ""
        unknown = [self._filters.pool_name(position, pool) for pool in unpriced] or self._unknown()
        return once_known(unknown) if unknown else f"the budget is raised to {usd(self._used + self._usd(more))}"

    def overrun(self) -> str:
        """Say how the budget does not hold as things are; empty when it does."""
        self._catch_up()
        unknown = self._unknown()
        if unknown:
            return f"nobody can say whether {usd(self._most)} are enough: {nobody_knows(unknown)}"
        if self._total <= self._limit:
            return ""
        return f"the nodes may cost {usd(Fraction(self._total, self._scale))}, which is more than {usd(self._most)}"

    @property
    def _used(self) -> Fraction:
        return self._usd(self._total)

    def _usd(self, cost: int) -> Fraction:
        """Return a cost in USD per hour."""
        return Fraction(cost, self._scale)

    def _holds(self, more: int, unpriced: Sequence[Pool]) -> bool:
        """Whether the budget holds with so much more cost, and pods on pools of which nobody knows the price."""
        return not unpriced and (not more or (not self._unpriced and self._total + more <= self._limit))

    def _catch_up(self) -> None:
        while self._ledger.recent:
            self._follow(self._ledger.recent.pop())

    def _follow(self, position: int) -> None:
        pods = self._pods(position)
        counted = [(pool, running(pool, pods[number])) for number, pool in self._counted(position)]
        cost = sum(self._prices[pool.price] * nodes for pool, nodes in counted if pool.price is not None)
        self._total += cost - self._costs.get(position, 0)
        self._costs[position] = cost
        unknown = tuple(
            self._filters.pool_name(position, pool) for pool, nodes in counted if pool.price is None and nodes
        )
        if unknown:
            self._unpriced[position] = unknown
        else:
            self._unpriced.pop(position, None)

    def _more(self, position: int, adds: Iterable[Add], grown: Sequence[Pool] | None = None) -> tuple[int, list[Pool]]:
        """Return how much more a cluster may cost with more pods, and which of their pools have no known price.

        ``grown`` are its pools as they would be with more nodes; nodes that nobody uses count where they are there.
        """
        extra: dict[int, int] = {}
        for number, _, pods in adds:
            extra[number] = extra.get(number, 0) + pods
        cluster = self._filters.clusters[position]
        unpriced: list[Pool] = []
        more = 0
        for number, pods in extra.items():
            pool = cluster.pools[number]
            if pool.price is None:
                unpriced.append(pool)
            elif _counts(cluster, pool):
                before = sum(self._ledger.loads[position][number].pods.values())
                after = pool if grown is None else grown[number]
                more += self._prices[pool.price] * (running(after, before + pods) - running(pool, before))
        return more, unpriced

    def _counted(self, position: int) -> Iterable[tuple[int, Pool]]:
        cluster = self._filters.clusters[position]
        return [(number, pool) for number, pool in enumerate(cluster.pools) if _counts(cluster, pool)]

    def _pods(self, position: int) -> list[int]:
        return [sum(load.pods.values()) for load in self._ledger.loads[position]]

    def _unknown(self) -> list[str]:
        return list(chain.from_iterable(self._unpriced[position] for position in sorted(self._unpriced)))


def _counts(cluster: Cluster, pool: Pool) -> bool:
    """Whether a pool is on a bill that is to come."""
    return cluster.state not in {ClusterState.LOST, ClusterState.GOING_AWAY} and not pool.leaving


def _grown(pool: Pool, more: int) -> Pool:
    """Return a pool with so many more nodes; those of one that does not scale are there at once."""
    there = 0 if pool.scales else more
    return replace(pool, maximum=pool.maximum + more, realised=pool.realised + there)


def running(pool: Pool, pods: int) -> int:
    """Return how many nodes of a pool may run at worst when so many pods that claim devices are on it."""
    if not pool.scales:
        return pool.realised
    broken = pool.observed.unusable if pool.observed else 0
    return max(pool.realised, min(pool.maximum, pods + broken))
