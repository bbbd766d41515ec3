"""Refused scale-ups: a pool that gets no more nodes for a while, and who waits for them in vain."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from automation.scheduling.existing import ExistingReplica
from automation.scheduling.observation import ForeignPod, PoolObservation
from automation.scheduling.reason import Reason
from automation.scheduling.snapshot import Cluster, Refusal, Strategy
from automation.scheduling.verdict import Code
from components.lock import Phase
from tests.unit.scheduling.builder import NOW, after, cluster, deployment, engine, live, member, plan, pool, where

WHOLE = deployment("d", 2, engine("main", member(8)))
HOUR = timedelta(hours=1)


def refusing(name: str = "a", *, until: timedelta = HOUR, nodes: int = 1, **other: Any) -> Cluster:
    """Make a cluster whose pool of one node may have four, and whose cloud has none to give."""
    refused = Refusal(NOW + until, "InsufficientInstanceCapacity")
    return cluster(name, pool("gpus", nodes=nodes, maximum=4, scales=True, refused=refused, **other))


def waiting(where_to: str, index: int = 0) -> ExistingReplica:
    """Make a replica that has never served."""
    return live(WHOLE, where_to, index, phase=Phase.STARTING, ready=False)


def test_a_pool_whose_scale_up_was_refused_promises_what_is_there() -> None:
    """The next plan looks elsewhere, and says why, until when, and what would have to change."""
    made = plan([refusing()], [WHOLE])
    assert where(made) == ["d@a/0"]
    said = (
        "its cloud refused to bring more nodes (InsufficientInstanceCapacity), which counts until 2026-01-01 01:00 UTC"
    )
    trace = made.trace[WHOLE.key]
    assert trace.verdict("a").pools[0].message == f"wanted 8 devices of h100, free 0 of 8; {said}"
    assert trace.beyond.message == f"would fit on a with pool gpus from 1 to 2 nodes (price unknown; {said})"
    assert where(plan([refusing(), cluster("b")], [WHOLE])) == ["d@a/0", "d@b/0"]


@pytest.mark.parametrize(
    ("one", "strategy"),
    [(refusing(until=timedelta(0)), Strategy.SPREAD), (refusing(until=HOUR), Strategy.COMPATIBLE)],
    ids=["expired", "the predecessor remembers none"],
)
def test_a_refusal_counts_until_it_expires(one: Cluster, strategy: Strategy) -> None:
    """Then the declared maximum is promised again."""
    assert where(plan([one], [WHOLE], strategy=strategy)) == ["d@a/0", "d@a/1"]


def test_nodes_that_were_seen_are_promised_although_no_more_come() -> None:
    """Three came before the cloud refused; an observation never raises the declared maximum."""
    assert len(plan([refusing(observed=PoolObservation(3))], [WHOLE]).placements) == 2
    many = deployment("d", 9, engine("main", member(8)))
    assert len(plan([refusing(observed=PoolObservation(3))], [many]).placements) == 3
    assert len(plan([refusing(observed=PoolObservation(9))], [many]).placements) == 4
    assert len(plan([refusing(nodes=2, observed=PoolObservation(1, 1))], [many]).placements) == 1


def test_who_waits_for_refused_nodes_goes_where_there_is_room() -> None:
    """One that serves stays, and so does the first that fits beside it."""
    replicas = [live(WHOLE, "a"), waiting("a", 1)]
    made = plan([refusing(), cluster("b")], [WHOLE], replicas)
    assert where(made) == ["d@a/0", "d@b/0"]
    assert [(str(each.id), each.reason) for each in made.leaving] == [("ml/d/a/1", Reason.SCALE_UP_REFUSED)]
    again = plan([refusing(), cluster("b")], [WHOLE], after(made, replicas))
    assert where(again) == where(made)


@pytest.mark.parametrize(
    ("replicas", "goes"),
    [
        ([waiting("a"), live(WHOLE, "a", 1)], "ml/d/a/0"),
        ([waiting("a"), waiting("a", 1)], "ml/d/a/1"),
        ([waiting("a", 1), waiting("a")], "ml/d/a/1"),
        ([waiting("b"), waiting("a", 1), waiting("a")], "ml/d/a/1"),
    ],
    ids=["who has served has the node", "else the lowest index", "in whatever order", "where nodes were refused"],
)
def test_the_nodes_that_are_there_are_counted_first(replicas: Sequence[ExistingReplica], goes: str) -> None:
    """The rest waits in vain; a cluster whose cloud refused nothing is not looked at."""
    grows = cluster("b", pool("gpus", nodes=0, maximum=4, scales=True))
    made = plan([refusing(), grows], [replace(WHOLE, replicas=len(replicas))], replicas)
    assert [(str(each.id), each.reason) for each in made.leaving] == [(goes, Reason.SCALE_UP_REFUSED)]


def test_only_what_is_on_the_pool_itself_is_put_aside_to_look_at_it() -> None:
    """A replica on another pool of the cluster is no pod of somebody else, and takes no node of this one."""
    both = refusing()
    both = replace(both, pools=(*both.pools, pool("other")))
    replicas = [waiting("a"), waiting("a", 1), live(WHOLE, "a", 2, pools="other")]
    made = plan([both, cluster("b")], [replace(WHOLE, replicas=3)], replicas)
    assert [str(each.id) for each in made.leaving] == ["ml/d/a/1"]


@pytest.mark.parametrize(
    ("clusters", "replicas"),
    [
        ([refusing()], [live(WHOLE, "a"), waiting("a", 1)]),
        ([refusing(until=timedelta(0)), cluster("b")], [live(WHOLE, "a"), waiting("a", 1)]),
        ([refusing(), cluster("b")], [live(WHOLE, "a"), live(WHOLE, "a", 1)]),
        ([refusing(nodes=2), cluster("b")], [waiting("a"), waiting("a", 1)]),
    ],
    ids=["nothing else has room", "expired", "it has served", "its node is there"],
)
def test_whoever_is_no_better_off_elsewhere_stays(
    clusters: Sequence[Cluster], replicas: Sequence[ExistingReplica]
) -> None:
    """And nothing is missing."""
    made = plan(clusters, [WHOLE], replicas)
    assert where(made) == ["d@a/0", "d@a/1"]
    assert not made.leaving
    assert not made.shortfalls


def test_pods_of_others_hold_their_nodes() -> None:
    """A replica that cannot start because of them waits as well."""
    seen = PoolObservation(1, 0, (ForeignPod((("h100", 1),)),))
    made = plan([refusing(observed=seen), cluster("b", pool(nodes=2))], [WHOLE], [waiting("a")])
    assert Reason.SCALE_UP_REFUSED in {each.reason for each in made.leaving}
    assert made.trace[WHOLE.key].verdict("a").code is Code.NO_ROOM
