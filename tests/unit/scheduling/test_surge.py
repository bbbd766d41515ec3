"""Limits of replicas that exist beside the ones they replace: in the fleet, on a cluster, of a deployment."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from automation.scheduling.existing import ExistingReplica
from automation.scheduling.reason import Reason
from automation.scheduling.result import Schedule
from automation.scheduling.schedule import schedule
from automation.scheduling.snapshot import Cluster, Deployment, Options
from components.lock import Phase
from tests.unit.scheduling.builder import (
    after,
    cluster,
    deployment,
    engine,
    evaluate,
    live,
    member,
    pool,
    snapshot,
    where,
)

WHOLE = engine("main", member(8))


def wide(name: str, nodes: int = 9, **other: Any) -> Cluster:
    """Make a cluster with room for as many replicas."""
    return cluster(name, pool(nodes=nodes), **other)


def plan(
    clusters: Sequence[Cluster], wanted: Sequence[Deployment], replicas: Sequence[ExistingReplica], **limits: Any
) -> Schedule:
    """Schedule under limits of the environment."""
    return schedule(snapshot(clusters, wanted, replicas, Options(**limits)), evaluate=evaluate)


def reasons(made: Schedule) -> list[str]:
    """Return why each replica of the target is there, in order."""
    return sorted(each.reason.value for each in made.placements)


def retired(made: Schedule, built: Sequence[ExistingReplica]) -> list[ExistingReplica]:
    """Return what is there once a move is through: what leaves has gone, and the rest serves."""
    gone = {each.id for each in made.leaving}
    entry = {"phase": Phase.SERVING}
    return [
        replace(each, ready=True, entry=each.entry.model_copy(update=entry)) for each in built if each.id not in gone
    ]


@pytest.mark.parametrize(
    ("limits", "own", "surged"),
    [
        ({}, None, 4),
        ({"max_surge": 3}, None, 3),
        ({"max_surge_per_cluster": 1}, None, 2),
        ({"max_surge": 1, "max_surge_per_cluster": 2}, None, 1),
        ({}, 2, 4),
        ({}, 1, 2),
    ],
    ids=["no limit", "in the fleet", "on a cluster", "both", "of a deployment, wide", "of a deployment"],
)
def test_edited_replicas_get_no_more_successors_than_may_be(
    limits: dict[str, int], own: int | None, surged: int
) -> None:
    """Two deployments of two replicas are edited, and there is room for all; what waits keeps its shape."""
    wanted = [deployment(name, 2, WHOLE, version="v2", max_surge=own) for name in "de"]
    before = [live(each, name, version="v1") for each in wanted for name in "ab"]
    made = plan([wide("a"), wide("b")], wanted, before, **limits)
    assert reasons(made) == ["edit-waits"] * (4 - surged) + ["edited"] * surged
    assert len(made.leaving) == surged
    short = [each.message for each in made.shortfalls]
    assert all("until a later move" in message for message in short)
    assert [(each.placed, each.wanted) for each in made.shortfalls] == [(2, 2)] * len(short)


def test_a_move_goes_on_in_turns_and_planning_again_changes_nothing() -> None:
    """Each plan replaces one of three, whether or not the one before was carried out to its end."""
    wanted = deployment("d", 3, WHOLE, version="v2")
    now = [live(wanted, name, version="v1") for name in "abc"]
    clusters = [wide(name) for name in "abc"]
    for done in range(3):
        made = plan(clusters, [wanted], now, max_surge=1)
        assert [str(each.id) for each in made.leaving] == [f"ml/d/{'abc'[done]}/0"]
        for phase, ready in ((Phase.STARTING, False), (Phase.SERVING, True)):
            built = after(made, now, phase=phase, ready=ready)
            again = plan(clusters, [wanted], built, max_surge=1)
            assert (where(again), again.leaving) == (where(made), made.leaving)
        now = retired(made, built)
    assert not plan(clusters, [wanted], now, max_surge=1).shortfalls


def test_what_must_leave_waits_for_its_turn_and_is_not_missing() -> None:
    """A cluster that goes is emptied in turns; with nowhere to go at all, that is said when its turn comes."""
    wanted = deployment("d", 3, WHOLE)
    before = [live(wanted, "a", index) for index in range(3)]
    made = plan([wide("a", state="going away"), wide("b")], [wanted], before, max_surge=2)
    assert reasons(made) == ["move-waits", "moved", "moved"]
    (short,) = made.shortfalls
    assert (short.placed, short.stranded) == (3, 0)
    assert short.message.endswith(
        "must leave, and waits for a later move since as many successors exist beside others as may"
    )
    full = plan([wide("a", state="going away")], [wanted], before, max_surge=2)
    assert reasons(full) == ["nowhere-to-go"] * 3


def test_on_a_cluster_the_successors_count_and_not_the_new_ones() -> None:
    """More replicas are wanted than before as well: those replace nobody."""
    wanted = deployment("d", 4, WHOLE)
    before = [live(wanted, "a", index) for index in range(2)]
    made = plan([wide("a", state="going away"), wide("b"), wide("c")], [wanted], before, max_surge_per_cluster=1)
    assert reasons(made) == ["moved", "moved", "placed", "placed"]
    assert [len([each for each in where(made) if f"@{name}" in each]) for name in "bc"] == [2, 2]


def test_a_replica_that_waits_for_its_turn_is_not_changed_in_place() -> None:
    """A restart is for where there is no room; here there is, and another deployment has its turn."""
    first, second = (deployment(name, 2, WHOLE, version="v2") for name in ("first", "second"))
    before = [live(each, "a", index, version="v1") for each in (first, second) for index in range(2)]
    made = plan([wide("a")], [first, second], before, max_surge=1)
    assert [each.reason for each in made.placements if each.id.deployment == "second"] == [Reason.EDIT_WAITS] * 2
    short = {each.deployment: each.message for each in made.shortfalls}
    assert short["second"] == (
        "2 keep the old shape until a later move since as many successors exist beside others as may"
    )
    # The same edit where nothing has room beside it is made in place, limit or not.
    tight = plan([wide("a", nodes=2)], [first], before[:2], max_surge=1)
    assert Reason.EDITED_IN_PLACE in {each.reason for each in tight.placements}


def test_a_cluster_that_takes_no_more_successors_is_passed_over() -> None:
    """By the second successor, also where its predecessor is there; not by what is new."""
    edited = [deployment(name, 1, WHOLE, version="v2") for name in "de"]
    before = [live(each, "b", version="v1") for each in edited]
    made = plan([wide("a"), wide("b")], edited, before, max_surge_per_cluster=1)
    assert where(made) == ["d@b/1", "e@a/0"]
    moving, fresh = deployment("d", 1, WHOLE), deployment("e", 2, WHOLE)
    drained = wide("x", taints=["k=v:NoExecute"])
    made = plan([wide("a"), drained], [moving, fresh], [live(moving, "x")], max_surge_per_cluster=1)
    assert where(made) == ["d@a/0", "e@a/0", "e@a/1"]


@pytest.mark.parametrize("limits", [{"max_surge": 1}, {"max_surge_per_cluster": 1}])
def test_a_successor_counts_also_where_its_predecessor_never_served(limits: dict[str, int]) -> None:
    """That one goes first and waits for nobody; the one that serves does not get its turn in the same move."""
    wanted = deployment("d", 2, WHOLE)
    serving, begun = live(wanted, "a"), live(wanted, "a", 1, phase=Phase.STARTING, ready=False)
    clusters = [wide("a", state="going away"), wide("b")]
    made = plan(clusters, [wanted], [serving, begun], **limits)
    assert [each.id for each in made.leaving] == [begun.id]
    built = after(made, [serving, begun], phase=Phase.STARTING, ready=False)
    again = plan(clusters, [wanted], built, **limits)
    assert (where(again), again.leaving) == (where(made), made.leaving)
