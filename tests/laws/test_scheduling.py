"""Laws of the scheduler, over random small fleets, fresh ones and ones in which something was edited.

L1 Nothing is over the promise under any legal packing. L2 A replica moves or goes only for a reason of the one table.
L3 The order of the input means nothing. L4 Planning again changes nothing. L5 In steady mode added capacity never
unplaces. L6 A cluster that was not chosen can be taken away. L7 Every unplaced replica has a verdict for every cluster.
L8 Trace and decision agree.
"""

import random
from collections import Counter, defaultdict
from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from automation.scheduling.capacity import Capacity
from automation.scheduling.hardware import make_hardware
from automation.scheduling.matching import Match, Matcher, requests_of
from automation.scheduling.patterns import Demand
from automation.scheduling.reason import Reason
from automation.scheduling.result import Schedule
from automation.scheduling.schedule import schedule
from automation.scheduling.snapshot import Cluster, ClusterState, Snapshot, Strategy
from automation.scheduling.verdict import Code
from components.lock import EnginePlacement, Phase, ReplicaShape
from tests.support.effort import law
from tests.unit.scheduling.builder import after, evaluate
from tests.unit.scheduling.random_fleets import Story, clusters, fresh, serving, stories

LAW = law(60)


def run(snapshot: Snapshot) -> Schedule:
    """Schedule with the toy selectors."""
    return schedule(snapshot, evaluate=evaluate)


def target(made: Schedule) -> list[object]:
    """Return what a lock would hold of a schedule."""
    return [(each.id, each.name, each.placement, each.digest, each.labels) for each in made.placements]


def pods(snapshot: Snapshot, made: Schedule) -> dict[tuple[str, str], Counter[Demand]]:
    """Count every pod that can exist at once, by cluster and pool: live ones at their old shape, and the target's."""
    everything: list[tuple[str, ReplicaShape, tuple[EnginePlacement, ...]]] = []
    placed = {each.id: each for each in made.placements}
    for replica in snapshot.replicas:
        successor = placed.get(replica.id)
        if successor is None or successor.digest == replica.entry.shape:
            everything.append((replica.id.cluster, replica.shape, replica.entry.placement))
    everything += [
        (each.id.cluster, each.shape, each.placement)
        for each in made.placements
        if not any(live.id == each.id and live.entry.shape == each.digest for live in snapshot.replicas)
    ]
    places = {(one.name, each.name): make_hardware(0, each.devices) for one in snapshot.clusters for each in one.pools}
    counts: dict[tuple[str, str], Counter[Demand]] = defaultdict(Counter)
    for where, what, placement in everything:
        for engine, placing in zip(what.engines, placement, strict=True):
            for member, place in zip(engine.members, placing.members, strict=True):
                hardware = places.get((where, place.pool))
                if hardware is None:
                    continue
                match = Matcher(evaluate).match(requests_of(member), hardware, any_minor=True)
                if isinstance(match, Match) and match.demand:
                    counts[where, place.pool][match.demand] += member.pods * engine.copies
    return counts


def overfull(snapshot: Snapshot, made: Schedule) -> set[tuple[str, str]]:
    """Return the pools that are promised more than they are sure to hold."""
    capacity = Capacity(snapshot.options.accounting)
    declared = snapshot.options.strategy is Strategy.COMPATIBLE
    shapes = {(one.name, each.name): each for one in snapshot.clusters for each in one.pools}
    broken = set()
    for key, counts in pods(snapshot, made).items():
        pool = shapes[key]
        nodes = pool.maximum if declared else pool.nodes
        if not capacity.fits(make_hardware(0, pool.devices).node, nodes, counts):
            broken.add(key)
    return broken


@LAW
@given(stories())
def test_what_is_new_is_where_its_selectors_are_taken(story: Story) -> None:
    """A cluster of an older minor refuses the claim; what runs there was taken when the cluster was newer."""
    minors = {each.name: each.minor for each in story.after.clusters}
    live = {(each.id, each.entry.shape) for each in story.after.replicas}
    for placed in run(story.after).placements:
        if (placed.id, placed.digest) not in live:
            members = [member for engine in placed.shape.engines for member in engine.members]
            asked = [each for member in members for request in member.requests for each in request.selectors]
            assert all(each.partition("@")[2] <= minors[placed.id.cluster] for each in asked)


@LAW
@given(fresh())
def test_l1_a_fresh_schedule_keeps_every_promise(snapshot: Snapshot) -> None:
    """Whatever the accounting, no pool is promised more than it is sure to hold."""
    assert not overfull(snapshot, run(snapshot))


@LAW
@given(stories())
def test_l1_a_move_keeps_every_promise_while_old_and_new_live_together(story: Story) -> None:
    """Old and new of a move fit at once; a pool that was over its promise gets nothing more."""
    made = run(story.after)
    already = {(each.cluster, each.pool) for each in made.overfull}
    assert overfull(story.after, made) <= already


@LAW
@given(stories())
def test_l2_every_live_replica_stays_or_leaves_for_a_listed_reason(story: Story) -> None:
    """Each is in the target or in the list of departures, with a reason that fits, never in both or none."""
    made = run(story.after)
    staying, leaving = {each.id: each.reason for each in made.placements}, {each.id: each for each in made.leaving}
    gone_clusters = {one.name for one in story.after.clusters if one.state is ClusterState.LOST}
    for replica in story.after.replicas:
        assert (replica.id in staying) is not (replica.id in leaving)
        if replica.id in leaving:
            assert not leaving[replica.id].reason.stays
        else:
            assert staying[replica.id].stays
            assert replica.id.cluster not in gone_clusters


@LAW
@given(stories())
def test_l2_nothing_moves_when_nothing_changed(story: Story) -> None:
    """In steady mode every replica stays exactly as it is."""
    made = run(story.before)
    assert not made.leaving
    live = {each.id: each.entry for each in story.before.replicas}
    kept = {each.id: each for each in made.placements if each.id in live}
    assert kept.keys() == live.keys()
    assert all(each.reason is Reason.KEPT and each.placement == live[key].placement for key, each in kept.items())


@LAW
@given(stories(), st.randoms(use_true_random=False))
def test_l3_the_order_of_the_input_means_nothing(story: Story, dice: random.Random) -> None:
    """Shuffled clusters, deployments and replicas give an equal schedule, and equal words."""
    snapshot = story.after
    mixed = replace(
        snapshot,
        clusters=tuple(dice.sample(snapshot.clusters, len(snapshot.clusters))),
        deployments=tuple(dice.sample(snapshot.deployments, len(snapshot.deployments))),
        replicas=tuple(dice.sample(snapshot.replicas, len(snapshot.replicas))),
    )
    one, other = run(snapshot), run(mixed)
    assert one == other
    assert dict(one.trace) == dict(other.trace)
    assert [one.trace[key].beyond for key in one.trace] == [other.trace[key].beyond for key in other.trace]


@LAW
@given(stories(), st.booleans())
def test_l4_planning_again_during_a_move_changes_nothing(story: Story, ready: bool) -> None:
    """With the successors built, ready or not, and the old ones still there, the target is the same."""
    first = run(story.after)
    built = after(first, story.after.replicas, ready=ready, phase=Phase.STARTING)
    again = run(replace(story.after, replicas=tuple(built)))
    assert target(again) == target(first)


@LAW
@given(stories())
def test_l4_planning_again_after_a_move_ends(story: Story) -> None:
    """Moves come to an end: after a few, planning changes nothing."""
    snapshot = story.after
    for _ in range(12):
        made = run(snapshot)
        kept = {each.id for each in made.placements}
        live = [each for each in after(made, snapshot.replicas) if each.id in kept]
        if target(made) == [
            (each.id, each.entry.name, each.entry.placement, each.entry.shape, each.entry.labels)
            for each in sorted(snapshot.replicas, key=lambda one: one.id)
        ]:
            return
        snapshot = replace(snapshot, replicas=tuple(serving(live)))
    raise AssertionError("the fleet never comes to rest")


@LAW
@given(stories(), clusters())
def test_l5_added_capacity_never_unplaces(story: Story, more: list[Cluster]) -> None:
    """In steady mode, with clusters added, every deployment has at least what it had."""
    snapshot = story.before
    extra = tuple(replace(each, name=f"x-{each.name}") for each in more)
    before, grown = run(snapshot), run(replace(snapshot, clusters=(*snapshot.clusters, *extra)))
    kept = {each.id for each in before.placements if each.kept}
    assert kept <= {each.id for each in grown.placements}
    counts = Counter((each.id.namespace, each.id.deployment) for each in grown.placements)
    for each in before.placements:
        counts[each.id.namespace, each.id.deployment] -= 1
    assert min(counts.values(), default=0) >= 0


@LAW
@given(fresh(), st.integers(0, 3))
def test_l6_a_cluster_that_was_not_chosen_is_irrelevant(snapshot: Snapshot, number: int) -> None:
    """Taking it away leaves every placement as it was."""
    made = run(snapshot)
    chosen = {each.id.cluster for each in made.placements}
    idle = [each for each in snapshot.clusters if each.name not in chosen]
    assume(idle)
    without = tuple(each for each in snapshot.clusters if each is not idle[number % len(idle)])
    assert target(run(replace(snapshot, clusters=without))) == target(made)


@LAW
@given(stories())
def test_l7_l8_every_cluster_has_a_verdict_that_agrees_with_the_decision(story: Story) -> None:
    """Taken clusters hold replicas, no other does; where something is missing, no cluster would take one more."""
    made = run(story.after)
    names = sorted(each.name for each in story.after.clusters)
    for (namespace, name), trace in made.trace.items():
        assert [each.cluster for each in trace.verdicts] == names
        own = Counter(
            each.id.cluster for each in made.placements if (each.id.namespace, each.id.deployment) == (namespace, name)
        )
        assert {each.cluster: each.taken for each in trace.verdicts if each.taken} == dict(own)
        assert all((each.code is Code.TAKEN) is (each.taken > 0) for each in trace.verdicts)
        assert all(each.message for each in trace.verdicts)
        short = [each for each in made.shortfalls if (each.namespace, each.deployment) == (namespace, name)]
        wanted = next(each.replicas for each in story.after.deployments if each.key == (namespace, name))
        assert bool(short) or trace.placed == wanted
        if trace.placed < wanted:
            assert not any(each.code is Code.FITS for each in trace.verdicts)
        if trace.placed < wanted and names:
            said = dict(each.split(" ", 1)[::-1] for each in trace.summary.partition(": ")[2].split(", "))
            assert sum(map(int, said.values())) == len(names)
            for code, number in Counter(each.code for each in trace.verdicts).items():  # taken ones are among them
                assert code is Code.TAKEN or number <= int(said[code.noun]) <= number + len(own)
