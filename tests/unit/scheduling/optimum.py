"""The most replicas that could be placed on a small fleet, found by trying everything: an oracle for the scheduler.

It obeys the same accounting, ignores spread and names, and takes exponential time; a few clusters are its limit.
"""

from functools import cache
from itertools import product

from automation.scheduling.capacity import Capacity
from automation.scheduling.hardware import make_hardware
from automation.scheduling.matching import Match, Matcher, requests_of
from automation.scheduling.patterns import Demand
from automation.scheduling.snapshot import Deployment, Snapshot
from tests.unit.scheduling.builder import evaluate

Adds = tuple[tuple[int, Demand, int], ...]
"""Pool (over the whole fleet), demand and pods."""
Load = tuple[tuple[Demand, int], ...]


def most_placed(snapshot: Snapshot) -> int:
    """Return the largest number of replicas that fit; deployments without selectors and gangs only."""
    pools = [(one, pool) for one in snapshot.clusters for pool in one.pools]
    nodes = [make_hardware(number, pool.devices).node for number, (_, pool) in enumerate(pools)]
    counts = [pool.nodes for _, pool in pools]
    options = [_options(deployment, snapshot) for deployment in snapshot.deployments]
    wanted = [deployment.replicas for deployment in snapshot.deployments]
    capacity = Capacity(snapshot.options.accounting)

    def add(loads: tuple[Load, ...], adds: Adds) -> tuple[Load, ...] | None:
        after = [dict(load) for load in loads]
        for pool, demand, pods in adds:
            after[pool][demand] = after[pool].get(demand, 0) + pods
        for pool in {pool for pool, _, _ in adds}:
            if not capacity.fits(nodes[pool], counts[pool], after[pool]):
                return None
        return tuple(tuple(sorted(load.items())) for load in after)

    @cache
    def best(deployment: int, left: int, first: int, loads: tuple[Load, ...]) -> int:
        """Place the rest: ``left`` more of one deployment by its options from ``first`` on, then the next ones."""
        if deployment == len(options):
            return 0
        found = best(deployment + 1, wanted[deployment + 1] if deployment + 1 < len(wanted) else 0, 0, loads)
        for number in range(first, len(options[deployment])) if left else ():
            after = add(loads, options[deployment][number])
            if after is not None:
                found = max(found, 1 + best(deployment, left - 1, number, after))
        return found

    return best(0, wanted[0] if wanted else 0, 0, ((),) * len(pools))


def _options(deployment: Deployment, snapshot: Snapshot) -> list[Adds]:
    """Return every way to put one replica on one cluster, each engine on one pool."""
    matcher = Matcher(evaluate)
    ways: list[Adds] = []
    offset = 0
    for one in snapshot.clusters:
        choices = []
        for engine in deployment.shape.engines:
            fitting = []
            for number, pool in enumerate(one.pools):
                match = matcher.match(requests_of(engine.members[0]), make_hardware(offset + number, pool.devices))
                if isinstance(match, Match) and match.demand:
                    fitting.append((offset + number, match.demand, engine.copies))
            choices.append(fitting)
        ways += [tuple(each) for each in product(*choices)]
        offset += len(one.pools)
    return ways
