"""Preemption: who gives way to whom, and that nobody does unless it is asked for and helps."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from automation.scheduling import preempt
from automation.scheduling.existing import ExistingReplica
from automation.scheduling.freed import freed
from automation.scheduling.reason import Reason
from automation.scheduling.result import Schedule
from automation.scheduling.schedule import schedule
from automation.scheduling.snapshot import Accounting, Cluster, Deployment, Options, Quota, Strategy
from components.lock import Phase
from tests.unit.scheduling.builder import (
    after,
    cluster,
    deployment,
    engine,
    evaluate,
    gpu,
    live,
    member,
    pool,
    snapshot,
    where,
)

LOW = deployment("low", 2, engine("main", member(8)))
HIGH = deployment("high", 1, engine("main", member(8)), priority=10)
FULL = [live(LOW, "a", 0), live(LOW, "a", 1)]


def nodes(number: int, name: str = "a", **other: Any) -> Cluster:
    """Make a cluster of nodes of eight GPUs."""
    return cluster(name, pool("gpus", nodes=number), **other)


def sized(name: str, size: int, priority: int = 0, replicas: int = 1) -> Deployment:
    """Make a deployment of one pod per replica."""
    return deployment(name, replicas, engine("main", member(size)), priority=priority)


def preempting(
    clusters: Sequence[Cluster],
    wanted: Sequence[Deployment],
    replicas: Sequence[ExistingReplica],
    options: Options = Options(preemption=True),  # noqa: B008 (frozen)
    **other: Any,
) -> Schedule:
    """Schedule where replicas of a lower priority may go."""
    return schedule(snapshot(clusters, wanted, replicas, options, **other), evaluate=evaluate)


def victims(made: Schedule) -> list[str]:
    """Return who gives way."""
    return [str(each.id) for each in made.leaving if each.reason is Reason.PREEMPTED]


def test_the_room_of_a_lower_priority_is_taken_in_two_moves() -> None:
    """First they go, since nothing takes room that is held; the next plan places what they went for."""
    made = preempting([nodes(2)], [LOW, HIGH], FULL)
    assert victims(made) == ["ml/low/a/1"]
    assert where(made) == ["low@a/0"]
    short = {each.deployment: each.message for each in made.shortfalls}
    assert "ml/low/a/1 (priority 0) leaves for it (priority 10): plan again then" in short["high"]
    assert "ml/low/a/1 gives way to a higher priority" in short["low"]
    assert made.trace[HIGH.key].beyond.message == "fits on a once ml/low/a/1 has gone"
    assert [each.deployment for each in freed(made)][:1] == [HIGH.key]
    then = preempting([nodes(2)], [LOW, HIGH], FULL[:1])
    assert where(then) == ["high@a/0", "low@a/0"]
    assert not then.leaving


@pytest.mark.parametrize(
    ("options", "priority", "gone"),
    [
        (Options(preemption=True), 10, ["ml/low/a/1"]),
        (Options(), 10, []),
        (Options(preemption=True), 0, []),
        (Options(preemption=True), -1, []),
        (Options(Strategy.COMPATIBLE, Accounting.NODE, preemption=True), 10, []),
    ],
    ids=["higher", "not asked for", "the same", "lower", "the predecessor has none"],
)
def test_only_a_higher_priority_preempts_and_only_where_it_may(
    options: Options, priority: int, gone: list[str]
) -> None:
    """Never the same priority."""
    made = preempting([nodes(2)], [LOW, replace(HIGH, priority=priority)], FULL, options)
    assert victims(made) == gone


def test_nobody_gives_way_where_there_is_room_elsewhere() -> None:
    """Or where it does not help: what is asked for is nowhere."""
    assert victims(preempting([nodes(2), nodes(1, "b")], [LOW, HIGH], FULL)) == []
    nowhere = deployment("high", 1, engine("main", member(8, "none")), priority=10)
    assert victims(preempting([nodes(2)], [LOW, nowhere], FULL)) == []
    larger = deployment("high", 1, engine("main", member(8), copies=3), priority=10)
    assert victims(preempting([nodes(2)], [LOW, larger], FULL)) == []


def test_the_lowest_priority_goes_first() -> None:
    """On one cluster, and across clusters."""
    other = sized("mid", 8, priority=5)
    assert victims(preempting([nodes(2)], [LOW, other, HIGH], [live(other, "a"), live(LOW, "a", 1)])) == ["ml/low/a/1"]
    apart = [live(other, "a"), live(LOW, "b")]
    assert victims(preempting([nodes(1), nodes(1, "b")], [replace(LOW, replicas=1), other, HIGH], apart)) == [
        "ml/low/b/0"
    ]


def test_the_most_important_one_that_goes_tells_clusters_apart() -> None:
    """Two of priority four go, rather than one of five with one of one."""
    five, one, four = sized("five", 4, 5), sized("one", 4, 1), sized("four", 4, 4, replicas=2)
    replicas = [live(five, "a"), live(one, "a"), live(four, "b", 0), live(four, "b", 1)]
    made = preempting([nodes(1), nodes(1, "b")], [five, one, four, HIGH], replicas)
    assert victims(made) == ["ml/four/b/0", "ml/four/b/1"]


def test_as_few_go_as_can() -> None:
    """One of four devices rather than four of one; and one cluster where one goes rather than one where two do."""
    small, large, wanted = sized("small", 1, replicas=4), sized("large", 4), sized("high", 4, priority=10)
    replicas = [*(live(small, "a", each) for each in range(4)), live(large, "a")]
    assert victims(preempting([nodes(1)], [small, large, wanted], replicas)) == ["ml/large/a/0"]
    halves = sized("halves", 4, replicas=2)
    apart = [live(halves, "a", 0), live(halves, "a", 1), live(LOW, "b")]
    made = preempting([nodes(1), nodes(1, "b")], [halves, replace(LOW, replicas=1), HIGH], apart)
    assert victims(made) == ["ml/low/b/0"]


def test_one_that_serves_nobody_goes_before_one_that_does() -> None:
    """Whatever their order otherwise."""
    broken = live(LOW, "a", 0, phase=Phase.STARTING, ready=False)
    assert victims(preempting([nodes(2)], [LOW, HIGH], [broken, FULL[1]])) == ["ml/low/a/0"]


def test_several_that_lack_room_share_what_goes() -> None:
    """The room that one replica leaves takes two halves."""
    wanted = sized("high", 4, priority=10, replicas=2)
    made = preempting([nodes(1)], [replace(LOW, replicas=1), wanted], FULL[:1])
    assert victims(made) == ["ml/low/a/0"]
    then = preempting([nodes(1)], [replace(LOW, replicas=1), wanted], [])
    assert where(then) == ["high@a/0", "high@a/1"]


def test_nobody_more_goes_where_what_has_gone_is_enough() -> None:
    """The second half fits beside the first, so the replica on the other cluster stays."""
    wanted = sized("high", 4, priority=10, replicas=2)
    made = preempting([nodes(1), nodes(1, "b")], [LOW, wanted], [live(LOW, "a"), live(LOW, "b")])
    assert victims(made) == ["ml/low/a/0"]


def test_what_gave_way_holds_its_room_until_it_has_gone() -> None:
    """Two give way, one after the other; nobody else gets what they hold, and each is counted once."""
    low, wanted, other = sized("low", 4, replicas=2), sized("high", 4, priority=10, replicas=2), sized("other", 1)
    replicas = [live(low, "a", 0), live(low, "a", 1)]
    made = preempting([nodes(1)], [low, wanted, other], replicas)
    assert victims(made) == ["ml/low/a/0", "ml/low/a/1"]
    assert where(made) == []
    assert where(preempting([nodes(1)], [low, wanted, other], replicas[:1])) == ["high@a/0"]


def test_what_was_put_aside_for_the_first_is_held_after_the_second() -> None:
    """One goes on each cluster; what is left beside those who come is not free before they have gone."""
    wanted, other = sized("high", 5, priority=10, replicas=2), sized("other", 3)
    made = preempting([nodes(1), nodes(1, "b")], [LOW, wanted, other], [live(LOW, "a"), live(LOW, "b")])
    assert victims(made) == ["ml/low/a/0", "ml/low/b/0"]
    assert where(made) == []
    assert "other@a/0" in where(preempting([nodes(1), nodes(1, "b")], [LOW, wanted, other], []))


def test_two_of_one_priority_ask_each_for_its_own() -> None:
    """What the small one was told of the other cluster is no answer for the large one."""
    low, small, large = sized("low", 4, replicas=4), sized("small", 4, priority=10), sized("large", 8, priority=10)
    replicas = [live(low, name, index) for name in "ab" for index in (0, 1)]
    made = preempting([nodes(1), nodes(1, "b")], [low, small, large], replicas)
    assert [each[:-2] for each in victims(made)] == ["ml/low/a", "ml/low/b", "ml/low/b"]


def test_the_search_is_bounded_by_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two live replicas may be looked at in all: for the first that lacks room, and for no other."""
    wanted = replace(HIGH, replicas=2)
    monkeypatch.setattr(preempt, "BUDGET", 2)
    assert len(victims(preempting([nodes(2)], [LOW, wanted], FULL))) == 1
    monkeypatch.setattr(preempt, "BUDGET", 3)
    assert len(victims(preempting([nodes(2)], [LOW, wanted], FULL))) == 2


def test_what_is_free_beside_the_victims_is_given_to_nobody_else() -> None:
    """Otherwise more would have to go in the next move, and so on."""
    half, wanted, other = sized("half", 4), sized("high", 8, priority=10), sized("other", 4)
    made = preempting([nodes(1)], [half, wanted, other], [live(half, "a")])
    assert victims(made) == ["ml/half/a/0"]
    assert where(made) == []
    then = preempting([nodes(1)], [half, wanted, other], [])
    assert where(then) == ["high@a/0"]


def test_planning_again_while_they_are_there_says_the_same() -> None:
    """Whatever else was built in between."""
    wanted = [LOW, HIGH, sized("other", 4)]
    clusters = [nodes(2), cluster("b", pool("gpus", gpu("l4", 4)))]
    made = preempting(clusters, wanted, FULL)
    again = preempting(clusters, wanted, after(made, FULL))
    assert victims(again) == victims(made) == ["ml/low/a/1"]
    assert where(again) == where(made) == ["low@a/0", "other@b/0"]


def test_a_replica_that_must_leave_its_place_may_have_others_give_way() -> None:
    """It stays where it is until they have gone."""
    drained = nodes(1, "x", taints=["k=v:NoExecute"])
    made = preempting([drained, nodes(2)], [LOW, HIGH], [*FULL, live(HIGH, "x")])
    assert victims(made) == ["ml/low/a/1"]
    assert where(made) == ["high@x/0", "low@a/0"]
    then = preempting([drained, nodes(2)], [LOW, HIGH], [FULL[0], live(HIGH, "x")])
    assert where(then) == ["high@a/0", "low@a/0"]
    assert [each.reason for each in then.leaving] == [Reason.DRAINED]


def test_a_deployment_that_gave_way_is_not_told_that_all_is_full() -> None:
    """It asks again in the next plan, where it finds what is free now elsewhere and suits it alone."""
    high = deployment("high", 1, engine("main", member(8, "name=h100")), priority=10)
    clusters = [nodes(1), cluster("b", pool("gpus", gpu("a100", 8, 40))), cluster("c", pool("gpus", nodes=0))]
    made = preempting(clusters, [replace(LOW, replicas=1), high], FULL[:1])
    assert victims(made) == ["ml/low/a/0"]
    short = {each.deployment: each.message for each in made.shortfalls}
    assert short["low"].startswith("0 of 1 placed; 1/3 clusters: 2 full; ")


def test_what_gave_way_counts_no_more_for_spreading() -> None:
    """Its deployment lacks another one, and its cluster has other room: nothing of it will be there."""
    high = deployment("high", 1, engine("main", member(8, "name=h100")), priority=10)
    old = pool("old", gpu("a100", 8, 40))
    made = preempting([cluster("a", pool(), old), cluster("b", old)], [LOW, high], FULL[:1])
    assert victims(made) == ["ml/low/a/0"]
    assert where(made) == ["low@a/1"]


def test_a_held_replica_does_not_give_way() -> None:
    """Its manifest cannot be used, so nobody knows how important it is."""
    assert victims(preempting([nodes(2)], [HIGH], FULL, held=frozenset({LOW.key}))) == []


def test_preemption_makes_room_in_a_quota_on_its_own_cluster() -> None:
    """And does not reach beyond one that would be exceeded even then."""
    clusters = [cluster("a", pool("gpus", gpu(accelerator="h100"), nodes=2))]
    made = preempting(clusters, [LOW, HIGH], FULL, quotas={"ml": Quota({"h100": 16})})
    assert victims(made) == ["ml/low/a/1"]
    assert victims(preempting(clusters, [LOW, HIGH], FULL, quotas={"ml": Quota({"h100": 8})})) == [
        "ml/low/a/0",
        "ml/low/a/1",
    ]
    assert victims(preempting(clusters, [LOW, HIGH], FULL, quotas={"ml": Quota({"h100": 4})})) == []


def test_one_that_would_change_in_place_gives_way_as_it_is() -> None:
    """It never served, so it would take its new shape at once; it goes instead, now and when it is asked again."""
    new = replace(
        LOW, replicas=1, shape=deployment("low", 1, engine("main", member(8)), version="v2").shape, digest="v2"
    )
    replicas = [live(LOW, "a", phase=Phase.STARTING, ready=False)]
    made = preempting([nodes(1)], [new, HIGH], replicas)
    assert victims(made) == victims(preempting([nodes(1)], [new, HIGH], after(made, replicas))) == ["ml/low/a/0"]
    assert made.placements == ()


def test_a_cluster_is_looked_at_again_only_when_somebody_went_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replicas that ask the same share what was found, so that the budget of looks reaches for all of them."""
    monkeypatch.setattr(preempt, "BUDGET", 8)  # six live replicas, looked at once, and those of two clusters again
    low = [live(replace(LOW, replicas=6), name, index) for name in "abc" for index in range(2)]
    made = preempting([nodes(2, name) for name in "abc"], [replace(LOW, replicas=6), replace(HIGH, replicas=3)], low)
    assert victims(made) == ["ml/low/a/0", "ml/low/a/1", "ml/low/b/1"]


def test_a_refusal_names_whose_pods_wait_for_others_to_go() -> None:
    """They are promised their place, though they are not in the plan yet."""
    small, one = deployment("sm", 3, engine("main", member(1))), deployment("x", 1, engine("main", member(4)))
    replicas = [live(small, "a", index) for index in range(3)]
    fleet = snapshot([nodes(3)], [small, HIGH, one], replicas, Options(preemption=True))
    made = schedule(fleet, evaluate=evaluate)
    message = made.trace["ml", "x"].verdict("a").message
    assert "could strand ml/high's 8-device pod" in message
