"""Laws of a pool that shrinks under what runs on it (L1 and L2 of the scheduler, for the size that it is edited to)."""

from collections import Counter
from itertools import combinations

from hypothesis import given

from automation.scheduling.capacity import Capacity
from automation.scheduling.existing import ExistingReplica
from automation.scheduling.hardware import make_hardware
from automation.scheduling.matching import Match, Matcher, requests_of
from automation.scheduling.patterns import Demand
from automation.scheduling.reason import Reason
from automation.scheduling.schedule import schedule
from automation.scheduling.snapshot import Cluster, ClusterState, Pool, Snapshot
from tests.support.effort import law
from tests.unit.scheduling.builder import evaluate
from tests.unit.scheduling.random_fleets import Story, stories

LAW = law(60)
STAY_FOR_NOW = {Reason.NOWHERE_TO_GO, Reason.MOVE_WAITS}
"""Why one in excess is still there: there is no room for its successor, or as many successors as may exist do."""


def pods_on(replica: ExistingReplica, pool: Pool) -> Counter[Demand] | None:
    """Count a live replica's pods on a pool, with a matcher of its own; None when they match it no more."""
    hardware = make_hardware(0, pool.devices)
    counts: Counter[Demand] = Counter()
    for engine, placing in zip(replica.shape.engines, replica.entry.placement, strict=True):
        for member, place in zip(engine.members, placing.members, strict=True):
            if place.pool != pool.name:
                continue
            match = Matcher(evaluate).match(requests_of(member), hardware, any_minor=True)
            if not isinstance(match, Match):
                return None
            if match.demand:
                counts[match.demand] += member.pods * engine.copies
    return counts


def fits(snapshot: Snapshot, cluster: Cluster, replicas: list[ExistingReplica]) -> bool:
    """Say whether replicas fit the edited pools of a cluster together, at the size that these are to have."""
    capacity = Capacity(snapshot.options.accounting)
    for pool in (each for each in cluster.pools if each.before):
        total: Counter[Demand] = Counter()
        for replica in replicas:
            total += pods_on(replica, pool) or Counter()
        if not capacity.fits(make_hardware(0, pool.devices).node, pool.maximum, total):
            return False
    return True


def readable(cluster: Cluster, replicas: list[ExistingReplica]) -> bool:
    """Say whether all of them still match every edited pool that they are on."""
    return all(pods_on(each, pool) is not None for each in replicas for pool in cluster.pools if pool.before)


@LAW
@given(stories())
def test_what_stays_on_a_shrunk_pool_fits_it_and_no_more_could(story: Story) -> None:
    """Those in excess leave or are stranded for that reason, or wait for their turn; the rest fits; no larger would."""
    made = schedule(story.after, evaluate=evaluate)
    why = {each.id: each.reason for each in made.placements} | {each.id: each.reason for each in made.leaving}
    for cluster in story.after.clusters:
        on = [each for each in story.after.replicas if each.id.cluster == cluster.name]
        edited = {pool.name for pool in cluster.pools if pool.before and not pool.leaving}
        excess = {one for each in made.shrinking if each.cluster == cluster.name for one in each.excess}
        assert {each.pool for each in made.shrinking if each.cluster == cluster.name} <= edited
        if not edited or cluster.state is ClusterState.LOST or not readable(cluster, on):
            continue
        stay = [each for each in on if each.id not in excess]
        assert fits(story.after, cluster, stay)
        assert not any(fits(story.after, cluster, list(some)) for some in combinations(on, len(stay) + 1))
        assert all(not why[each].stays or why[each] in STAY_FOR_NOW for each in excess)


@LAW
@given(stories())
def test_nobody_leaves_a_pool_that_was_not_edited(story: Story) -> None:
    """Without a smaller size or other devices in a manifest, no replica goes for the size of its pool."""
    made = schedule(story.before, evaluate=evaluate)
    assert not made.shrinking
    assert Reason.POOL_SHRINKS not in {each.reason for each in schedule(story.after, evaluate=evaluate).leaving} or any(
        pool.before for cluster in story.after.clusters for pool in cluster.pools
    )
