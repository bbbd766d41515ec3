"""A pool that is edited to less than what runs on it: who stays, who leaves, and what waits for them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from automation.scheduling.existing import ExistingReplica
from automation.scheduling.observation import PoolObservation
from automation.scheduling.reason import Reason
from automation.scheduling.snapshot import Deployment, Pool, PoolBefore
from tests.unit.scheduling.builder import cluster, deployment, engine, gpu, live, member, offering, plan, pool

WHOLE = deployment("d", 3, engine("main", member(8)))
HALF = deployment("half", 2, engine("main", member(4)))
THREE = deployment("three", 1, engine("main", member(2), copies=3))
LEAN = deployment("lean", 1, engine("main", member(4, cpu="1")))
BUSY = deployment("busy", 1, engine("main", member(2, cpu="8")))
AWAY = deployment("away", 1, engine("main", member(8)), selector={"x": "y"})
SPARE = cluster("z", pool(nodes=9), labels={"x": "y"})


def shrunk(name: str = "gpus", nodes: int = 2, *devices: Any, **other: Any) -> Pool:
    """Make a pool that had nine nodes and gets fewer."""
    return pool(name, *devices, nodes=nodes, before=PoolBefore(9, "h100"), **other)


def on(wanted: Deployment, number: int, **other: Any) -> list[ExistingReplica]:
    """Make so many live replicas on cluster ``a``."""
    return [live(wanted, "a", index, **other) for index in range(number)]


def broken(wanted: Deployment, index: int) -> ExistingReplica:
    """Make one that does not serve."""
    return live(wanted, "a", index, ready=False)


@dataclass(frozen=True)
class Case:
    """Pools of cluster ``a``, what runs there, and who has to leave each pool."""

    name: str
    pools: Sequence[Pool]
    replicas: Sequence[ExistingReplica]
    excess: dict[str, list[str]]
    held: frozenset[tuple[str, str]] = frozenset()
    others: Sequence[Deployment] = ()


CASES = [
    Case("what fits stays", [shrunk()], on(WHOLE, 2), {}),
    Case("a pool that was not edited", [pool(nodes=2)], on(WHOLE, 3), {}),
    Case("the highest index leaves", [shrunk()], on(WHOLE, 3), {"gpus": ["d/a/2"]}),
    Case("all of it", [shrunk(nodes=0)], on(WHOLE, 2), {"gpus": ["d/a/0", "d/a/1"]}),
    Case(
        "those that serve stay",
        [shrunk()],
        [broken(WHOLE, 0), live(WHOLE, "a", 1), live(WHOLE, "a", 2)],
        {"gpus": ["d/a/0"]},
    ),
    Case(
        "as many as fit, so the smaller ones stay",
        [shrunk(nodes=1)],
        [*on(WHOLE, 1), *on(HALF, 2)],
        {"gpus": ["d/a/0"]},
    ),
    Case(
        "the smaller ones stay although they do not serve",
        [shrunk(nodes=1)],
        [*on(WHOLE, 1), broken(HALF, 0), broken(HALF, 1)],
        {"gpus": ["d/a/0"]},
    ),
    Case(
        "who leaves anyway does not push others out",
        [shrunk(nodes=1)],
        [*on(AWAY, 1), *on(WHOLE, 1)],
        {"gpus": ["away/a/0"]},
    ),
    Case(
        "who cannot be moved stays before all others",
        [shrunk(nodes=1)],
        [*on(WHOLE, 1), *on(HALF, 2)],
        {"gpus": ["half/a/0", "half/a/1"]},
        held=frozenset({("ml", "d")}),
    ),
    Case(
        "all pods of a replica make its size",
        [shrunk(nodes=1)],
        [*on(THREE, 1), *on(HALF, 1)],
        {"gpus": ["three/a/0"]},
        others=[THREE],
    ),
    Case(
        "devices make the size, whatever else pods take",
        [shrunk(nodes=1, allocatable=offering(cpu="8"))],
        [*on(LEAN, 1), *on(BUSY, 1)],
        {"gpus": ["lean/a/0"]},
        others=[LEAN, BUSY],
    ),
    Case("a pool that goes away is no smaller one", [shrunk(leaving="it goes")], on(WHOLE, 3), {}),
    Case("a node that is broken today moves nobody", [shrunk(observed=PoolObservation(0, 2))], on(WHOLE, 2), {}),
    Case("what may be scaled to is what is declared", [shrunk(nodes=0, maximum=2, scales=True)], on(WHOLE, 2), {}),
    Case(
        "other devices that still suit",
        [shrunk("gpus", 2, gpu("h200"))],
        on(WHOLE, 3),
        {"gpus": ["d/a/2"]},
    ),
    Case(
        "devices of another DeviceClass",
        [shrunk("gpus", 9, gpu("mi300", driver="gpu.amd.com", device_class="gpu.amd.com"))],
        on(WHOLE, 2),
        {"gpus": ["d/a/0", "d/a/1"]},
    ),
    Case(
        "two pools, each with its own",
        [shrunk("gpus", 1), shrunk("other", 0)],
        [*on(WHOLE, 2), *on(HALF, 1, pools="other")],
        {"gpus": ["d/a/1"], "other": ["half/a/0"]},
    ),
    Case(
        "a pool beside it keeps what it has",
        [shrunk("gpus", 0), pool("other")],
        [*on(WHOLE, 1), *on(HALF, 1, pools="other")],
        {"gpus": ["d/a/0"]},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_who_leaves_a_pool_that_shrinks(case: Case) -> None:
    """And what it says of the pool: what it was, and what it is to become."""
    made = plan([cluster("a", *case.pools), SPARE], [WHOLE, HALF, AWAY, *case.others], case.replicas, held=case.held)
    assert {each.pool: [str(one).removeprefix("ml/") for one in each.excess] for each in made.shrinking} == case.excess
    pools = {each.name: each for each in case.pools}
    for each in made.shrinking:
        one = pools[each.pool]
        assert (each.cluster, each.before, each.nodes, each.class_name) == (
            "a",
            one.before,
            one.maximum,
            one.class_name,
        )
    gone = {str(each.id).removeprefix("ml/"): each.reason for each in made.leaving}
    for one in {one for excess in case.excess.values() for one in excess}:
        assert gone[one] is (Reason.DESELECTED if one.startswith("away") else Reason.POOL_SHRINKS)


SPLIT = deployment("split", 1, engine("big", member(8)), engine("small", member(1)))


def split(wanted: Deployment) -> ExistingReplica:
    """Make a replica with its big engine on one pool, and its small one on another."""
    replica = live(wanted, "a")
    big, small = replica.entry.placement
    elsewhere = small.model_copy(update={"members": (small.members[0].model_copy(update={"pool": "other"}),)})
    return replace(replica, entry=replica.entry.model_copy(update={"placement": (big, elsewhere)}))


def test_a_replica_on_two_pools_leaves_both() -> None:
    """Each pool waits for it; what it has on a pool that keeps its size makes it no larger."""
    made = plan([cluster("a", shrunk("gpus", 0), shrunk("other", 1)), SPARE], [SPLIT], [split(SPLIT)])
    assert {each.pool: [str(one) for one in each.excess] for each in made.shrinking} == {
        "gpus": ["ml/split/a/0"],
        "other": ["ml/split/a/0"],
    }
    quarter = [cluster("a", pool("gpus"), shrunk("other", 1, gpu(count=4))), SPARE]
    made = plan(quarter, [SPLIT, HALF], [split(SPLIT), *on(HALF, 1, pools="other")])
    assert [str(one) for each in made.shrinking for one in each.excess] == ["ml/half/a/0"]


def test_a_replica_that_leaves_one_pool_holds_nothing_on_the_other() -> None:
    """It is the smaller one and comes first, but has no room on the one pool; so it takes none on the other."""
    pair = deployment("pair", 1, engine("big", member(4)), engine("small", member(1)))
    clusters = [cluster("a", shrunk("gpus", 1), shrunk("other", 0)), SPARE]
    made = plan(clusters, [pair, replace(WHOLE, replicas=1)], [split(pair), *on(WHOLE, 1)])
    assert [[str(one) for one in each.excess] for each in made.shrinking] == [["ml/pair/a/0"], ["ml/pair/a/0"]]


def test_with_nowhere_to_go_it_stays_and_is_counted() -> None:
    """And so does the pool."""
    made = plan([cluster("a", shrunk(nodes=2))], [WHOLE], on(WHOLE, 3))
    assert [str(one) for each in made.shrinking for one in each.excess] == ["ml/d/a/2"]
    assert [each.reason for each in made.placements] == [Reason.KEPT, Reason.KEPT, Reason.NOWHERE_TO_GO]
    assert [(each.placed, each.stranded) for each in made.shortfalls] == [(2, 1)]


def test_who_leaves_goes_after_the_one_that_comes_for_it() -> None:
    """Not after one beside it that serves already: what serves now is no successor."""
    (z,) = (replica.id for replica in plan([cluster("z")], [replace(WHOLE, replicas=1)]).placements)
    made = plan([cluster("a", shrunk()), cluster("z", pool(nodes=9))], [WHOLE], on(WHOLE, 3))
    assert [(str(each.id), each.successor) for each in made.leaving] == [("ml/d/a/2", z)]
    assert [str(each.predecessor) for each in made.placements if not each.kept] == ["ml/d/a/2"]
