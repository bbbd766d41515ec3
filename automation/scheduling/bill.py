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
from fractions import Fraction
from itertools import chain

from automation.scheduling.filters import Filters
from automation.scheduling.hosting import Add, Option, adds_of
from automation.scheduling.ledger import Ledger
from automation.scheduling.refused import Refused, usd
from automation.scheduling.snapshot import Budget, ClusterState, Pool
from automation.scheduling.verdict import Code

_NAMED = 3
"""Pools of unknown price that a message names."""


class Bill:
    """What the pods of a ledger may cost; it follows the ledger."""

    def __init__(self, filters: Filters, ledger: Ledger, budget: Budget) -> None:
        self._filters = filters
        self._ledger = ledger
        self._most = Fraction(budget.max_cost_per_hour)
        self._costs: dict[int, Fraction] = {}
        self._unpriced: dict[int, tuple[str, ...]] = {}
        self._total = Fraction(0)
        for position in range(len(filters.clusters)):
            self._follow(position)

    def admits(self, position: int, options: Sequence[Option]) -> bool:
        """Whether the budget holds with these engines on a cluster as well."""
        return self.refusal(position, adds_of(options)) is None

    def refusal(self, position: int, adds: Iterable[Add]) -> Refused | None:
        """Return why the budget may not hold with these pods on a cluster; None when it does."""
        self._catch_up()
        extra: dict[int, int] = {}
        for pool, _, pods in adds:
            extra[pool] = extra.get(pool, 0) + pods
        pools = self._filters.clusters[position].pools
        unknown = [self._name(position, pools[pool]) for pool in extra if pools[pool].price is None]
        more = Fraction(0) if unknown else self._cost(position, extra) - self._costs[position]
        if not unknown and not more:
            return None
        unknown = unknown or self._unknown()
        if unknown:
            return Refused(Code.OVER_BUDGET, f"the budget may not hold: {_nobody_knows(unknown)}", _PRICES)
        total = self._total + more
        if total <= self._most:
            return None
        message = f"could cost {usd(more)} more; the budget is {usd(self._most)}, used {usd(self._total)}"
        return Refused(Code.OVER_BUDGET, message, f"the budget is raised to {usd(total)}")

    def overrun(self) -> str:
        """Say how the budget does not hold as things are; empty when it does."""
        self._catch_up()
        unknown = self._unknown()
        if unknown:
            return f"nobody can say whether {usd(self._most)} are enough: {_nobody_knows(unknown)}"
        if self._total <= self._most:
            return ""
        return f"the nodes may cost {usd(self._total)}, which is more than {usd(self._most)}"

    def _catch_up(self) -> None:
        while self._ledger.recent:
            self._follow(self._ledger.recent.pop())

    def _follow(self, position: int) -> None:
        cost = self._cost(position, {})
        self._total += cost - self._costs.get(position, Fraction(0))
        self._costs[position] = cost
        pods = self._pods(position)
        unknown = tuple(
            self._name(position, pool)
            for number, pool in self._counted(position)
            if pool.price is None and running(pool, pods[number])
        )
        if unknown:
            self._unpriced[position] = unknown
        else:
            self._unpriced.pop(position, None)

    def _cost(self, position: int, extra: Mapping[int, int]) -> Fraction:
        """Return the cost of a cluster with more pods by pool, as far as prices are known."""
        pods = self._pods(position)
        return sum(
            (
                Fraction(pool.price) * running(pool, pods[number] + extra.get(number, 0))
                for number, pool in self._counted(position)
                if pool.price is not None
            ),
            Fraction(0),
        )

    def _counted(self, position: int) -> Iterable[tuple[int, Pool]]:
        cluster = self._filters.clusters[position]
        if cluster.state in {ClusterState.LOST, ClusterState.GOING_AWAY}:
            return []
        return [(number, pool) for number, pool in enumerate(cluster.pools) if not pool.leaving]

    def _pods(self, position: int) -> list[int]:
        return [sum(load.pods.values()) for load in self._ledger.loads[position]]

    def _unknown(self) -> list[str]:
        return list(chain.from_iterable(self._unpriced[position] for position in sorted(self._unpriced)))

    def _name(self, position: int, pool: Pool) -> str:
        return f"{self._filters.clusters[position].name}/{pool.name}"


def running(pool: Pool, pods: int) -> int:
    """Return how many nodes of a pool may run at worst when so many pods that claim devices are on it."""
    if not pool.scales:
        return pool.realised
    broken = pool.observed.unusable if pool.observed else 0
    return max(pool.realised, min(pool.maximum, pods + broken))


_PRICES = "all prices are known: write `pricePerHour` of these pools"


def _nobody_knows(pools: Sequence[str]) -> str:
    more = f" and {len(pools) - _NAMED} more" if len(pools) > _NAMED else ""
    word = "price of pool" if len(pools) == 1 else "prices of pools"
    return f"nobody knows the {word} {', '.join(pools[:_NAMED])}{more}"
