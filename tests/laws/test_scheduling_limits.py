"""Laws of the scheduler in fleets with quotas, budgets, prices, priorities and preemption.

L10: nothing new takes more than a limit allows, and no limit takes a live replica away. L11: a replica gives way only
to one of a higher priority, and only where the environment allows it. L1 to L5, L7 and L8 hold as without limits.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product

from hypothesis import event, given
from hypothesis import strategies as st

from automation.scheduling.hardware import Hardware, make_hardware
from automation.scheduling.matching import Match, Matcher, requests_of
from automation.scheduling.patterns import Demand
from automation.scheduling.reason import Reason
from automation.scheduling.result import Schedule
from automation.scheduling.retain import MOVING, OUTDATED
from automation.scheduling.schedule import Pass
from automation.scheduling.snapshot import Accounting, Cluster, ClusterState, Pool, Snapshot
from automation.scheduling.verdict import Code
from components.lock import EnginePlacement, Phase, ReplicaShape
from components.naming import ReplicaId
from tests.laws.test_scheduling import overfull, run, target
from tests.support.effort import law
from tests.unit.scheduling.builder import after, evaluate
from tests.unit.scheduling.random_fleets import Story, clusters, crowded, fresh, serving, stories

LAW = law(60)

STORIES = st.one_of(stories(limited=True), crowded())

Running = tuple[ReplicaId, ReplicaShape, tuple[EnginePlacement, ...]]
Claiming = tuple[ReplicaId, Cluster, Pool, Hardware, Demand, int]


def living(snapshot: Snapshot) -> list[Running]:
    """Return what runs before a move."""
    lost = {each.name for each in snapshot.clusters if each.state is ClusterState.LOST}
    return [(each.id, each.shape, each.entry.placement) for each in snapshot.replicas if each.id.cluster not in lost]


def wanted(made: Schedule) -> list[Running]:
    """Return what runs after it."""
    return [(each.id, each.shape, each.placement) for each in made.placements]


def claiming(snapshot: Snapshot, replicas: Iterable[Running]) -> Iterator[Claiming]:
    """Yield the pods that claim devices: whose, where, what each takes, and how many."""
    places = {(one.name, each.name): (one, each) for one in snapshot.clusters for each in one.pools}
    for identity, shape, placement in replicas:
        for engine, placing in zip(shape.engines, placement, strict=True):
            for member, place in zip(engine.members, placing.members, strict=True):
                found = places.get((identity.cluster, place.pool))
                if found is None:
                    continue
                hardware = make_hardware(0, found[1].devices)
                match = Matcher(evaluate).match(requests_of(member), hardware, any_minor=True)
                if isinstance(match, Match) and match.demand:
                    yield identity, *found, hardware, match.demand, member.pods * engine.copies


def takes(snapshot: Snapshot, replicas: Iterable[Running]) -> dict[tuple[str, ...], dict[str, Fraction]]:
    """Count what every namespace, and every deployment, takes of all that can be limited."""
    found: dict[tuple[str, ...], dict[str, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    whole = snapshot.options.accounting is Accounting.NODE
    for identity, _, pool, hardware, demand, number in claiming(snapshot, replicas):
        share = Fraction(1) if whole else hardware.share(demand)
        for owner in ((identity.namespace,), (identity.namespace, identity.deployment)):
            for name, count in hardware.accelerators(demand).items():
                found[owner][name] += count * number
            found[owner]["nodes"] += share * number
            found[owner]["unpriced"] += number if pool.price is None else 0
            found[owner]["cost"] += share * number * Fraction(pool.price or 0)
    return found


def allowed(snapshot: Snapshot) -> dict[tuple[str, ...], dict[str, Fraction]]:
    """Return every limit."""
    found: dict[tuple[str, ...], dict[str, Fraction]] = {}
    for name, quota in snapshot.quotas.items():
        found[name,] = {each: Fraction(most) for each, most in quota.devices.items()}
        if quota.nodes is not None:
            found[name,]["nodes"] = Fraction(quota.nodes)
        if quota.max_cost_per_hour is not None:
            found[name,] |= {"cost": Fraction(quota.max_cost_per_hour), "unpriced": Fraction(0)}
    for each in snapshot.deployments:
        if each.max_cost_per_hour is not None:
            found[each.key] = {"cost": Fraction(each.max_cost_per_hour), "unpriced": Fraction(0)}
    return found


def bill(snapshot: Snapshot, replicas: Iterable[Running]) -> tuple[Fraction, int]:
    """Return what the nodes may cost, and how many may run of which nobody knows it."""
    number: Counter[tuple[str, str]] = Counter()
    for _, one, pool, _, _, count in claiming(snapshot, replicas):
        number[one.name, pool.name] += count
    cost, unknown = Fraction(0), 0
    for one in snapshot.clusters:
        if one.state in {ClusterState.LOST, ClusterState.GOING_AWAY}:
            continue
        for pool in (each for each in one.pools if not each.leaving):
            nodes = pool.realised
            if pool.scales:
                nodes = max(nodes, min(pool.maximum, number[one.name, pool.name]))
            cost += nodes * (Fraction(pool.price) if pool.price is not None else 0)
            unknown += nodes if pool.price is None else 0
    return cost, unknown


@LAW
@given(STORIES)
def test_l10_nothing_new_takes_more_than_a_limit_allows(story: Story) -> None:
    """After the move every limit holds, or no more is taken than before it."""
    made = run(story.after)
    before, then = takes(story.after, living(story.after)), takes(story.after, wanted(made))
    for owner, most in allowed(story.after).items():
        for kind, limit in most.items():
            assert then[owner][kind] <= max(limit, before[owner][kind]), (owner, kind)


@LAW
@given(STORIES)
def test_l10_the_nodes_never_cost_more_than_the_budget_while_old_and_new_live_together(story: Story) -> None:
    """Or than they may cost already."""
    snapshot = story.after
    if snapshot.budget is None or snapshot.budget.advisory:
        return
    made = run(snapshot)
    ids = {(each.id, each.digest) for each in made.placements}
    going = [
        (each.id, each.shape, each.entry.placement)
        for each in snapshot.replicas
        if (each.id, each.entry.shape) not in ids and each.id not in {placed.id for placed in made.placements}
    ]
    lost = {each.name for each in snapshot.clusters if each.state is ClusterState.LOST}
    both = [each for each in (*wanted(made), *going) if each[0].cluster not in lost]
    before, then = bill(snapshot, living(snapshot)), bill(snapshot, both)
    assert then[0] <= max(before[0], Fraction(snapshot.budget.max_cost_per_hour))
    if not made.leaving and all(each.kept for each in made.placements):
        assert then == before


@LAW
@given(STORIES)
def test_l10_the_clusters_within_the_limits_are_those_where_some_way_to_be_is(story: Story) -> None:
    """They are worked out by what engines may take; every way to be on every cluster says the same."""
    done = Pass(replace(story.after, budget=None), evaluate)
    done.run()
    for work in done.works.values():
        for position in done.filters.members(work.allowed) if work.account else ():
            ways = product(*(done.filters.hosting(work.need, position) or ()))
            some = any(work.account.admits(position, way, work.release) for way in ways if work.account)
            event(f"within the limits: {some}")
            assert bool(done.placer.within(work, work.release) >> position & 1) is some


@LAW
@given(STORIES)
def test_l10_no_limit_takes_a_live_replica_away(story: Story) -> None:
    """Nobody leaves for one who would stay where he may, apart from those who give way."""
    free = replace(
        story.after,
        quotas={},
        budget=None,
        deployments=tuple(replace(each, max_cost_per_hour=None) for each in story.after.deployments),
        options=replace(story.after.options, preemption=False),
    )
    gone = {each.id for each in run(free).leaving}
    anyway = {Reason.PREEMPTED, *MOVING, *OUTDATED}
    assert {each.id for each in run(story.after).leaving if each.reason not in anyway} <= gone


@LAW
@given(STORIES)
def test_l11_a_replica_gives_way_only_to_a_higher_priority(story: Story) -> None:
    """To a deployment that is short, and only where the environment allows it."""
    made = run(story.after)
    priority = {each.key: each.priority for each in story.after.deployments}
    short = [priority[each.namespace, each.deployment] for each in made.shortfalls]
    for each in made.leaving:
        event(f"leaves: {each.reason.value}")
        if each.reason is Reason.PREEMPTED:
            assert story.after.options.preemption
            assert priority[each.id.namespace, each.id.deployment] < max(short)
            assert each.successor is None


@LAW
@given(STORIES)
def test_l1_every_promise_is_kept(story: Story) -> None:
    """Old and new of a move fit at once, those who give way and those who come for them as well."""
    made = run(story.after)
    assert overfull(story.after, made) <= {(each.cluster, each.pool) for each in made.overfull}


@LAW
@given(STORIES)
def test_l2_nothing_moves_when_nothing_changed(story: Story) -> None:
    """In steady mode nobody leaves, whoever is short."""
    assert not run(story.before).leaving


@LAW
@given(STORIES, st.randoms(use_true_random=False))
def test_l3_the_order_of_the_input_means_nothing(story: Story, dice: random.Random) -> None:
    """Nor does that of quotas."""
    snapshot = story.after
    mixed = replace(
        snapshot,
        clusters=tuple(dice.sample(snapshot.clusters, len(snapshot.clusters))),
        deployments=tuple(dice.sample(snapshot.deployments, len(snapshot.deployments))),
        replicas=tuple(dice.sample(snapshot.replicas, len(snapshot.replicas))),
        quotas={key: snapshot.quotas[key] for key in sorted(snapshot.quotas, reverse=True)},
    )
    one, other = run(snapshot), run(mixed)
    assert one == other
    assert dict(one.trace) == dict(other.trace)


@LAW
@given(STORIES, st.booleans())
def test_l4_planning_again_during_a_move_changes_nothing(story: Story, ready: bool) -> None:
    """Also while those who give way are still there."""
    first = run(story.after)
    built = after(first, story.after.replicas, ready=ready, phase=Phase.STARTING)
    assert target(run(replace(story.after, replicas=tuple(built)))) == target(first)


@LAW
@given(STORIES)
def test_l4_planning_again_after_a_move_ends(story: Story) -> None:
    """Whoever gave way does not come back at the cost of those who came."""
    snapshot = story.after
    for _ in range(16):
        made = run(snapshot)
        kept = {each.id for each in made.placements}
        live = [each for each in after(made, snapshot.replicas) if each.id in kept]
        same = {(each.id, each.entry.shape) for each in snapshot.replicas}
        if not made.leaving and {(each.id, each.digest) for each in made.placements} == same:
            return
        snapshot = replace(snapshot, replicas=tuple(serving(live)))
    raise AssertionError("the fleet never comes to rest")


@LAW
@given(STORIES, clusters())
def test_l5_added_capacity_never_unplaces(story: Story, more: list[Cluster]) -> None:
    """In steady mode, whatever it costs."""
    snapshot = story.before
    extra = tuple(replace(each, name=f"x-{each.name}") for each in more)
    before, grown = run(snapshot), run(replace(snapshot, clusters=(*snapshot.clusters, *extra)))
    assert {each.id for each in before.placements} <= {each.id for each in grown.placements}


@LAW
@given(fresh(limited=True))
def test_l7_l8_every_cluster_has_a_verdict_that_agrees_with_the_decision(snapshot: Snapshot) -> None:
    """Where something is missing, no cluster would take one more, and the remedy is not that it fits."""
    made = run(snapshot)
    for trace in made.trace.values():
        assert [each.cluster for each in trace.verdicts] == sorted(each.name for each in snapshot.clusters)
        if trace.placed < trace.wanted:
            assert not any(each.code is Code.FITS for each in trace.verdicts)
            assert trace.beyond.answer.value in {"change", "never"}
