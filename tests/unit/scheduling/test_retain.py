"""What becomes of live replicas when their surroundings change."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from automation.scheduling.existing import ExistingReplica
from automation.scheduling.reason import Reason
from automation.scheduling.snapshot import Accounting, CacheNeed, Cluster, Deployment, Strategy
from components.lock import Phase
from tests.unit.scheduling.builder import cluster, deployment, engine, gpu, live, member, plan, pool, where

WANTED = deployment("d", 1, engine("main", member(4)))
HERE = live(WANTED, "a")
SPARE = cluster("b")


@dataclass(frozen=True)
class Case:
    """A replica on cluster ``a`` and what happens to it; it leaves for ``b`` if a reason to leave is given."""

    name: str
    clusters: Sequence[Cluster]
    wanted: Deployment = WANTED
    replica: ExistingReplica = HERE
    leaves: Reason | None = None
    strands: bool = False


TAINTED = ["k=v:NoExecute"]
CASES = [
    Case("nothing happens", [cluster("a"), SPARE]),
    Case("its cluster has a problem", [cluster("a", state="not ready"), SPARE]),
    Case("its cluster is not finished", [cluster("a", state="planned"), SPARE]),
    Case("NoSchedule leaves it", [cluster("a", taints=["k=v:NoSchedule"]), SPARE]),
    Case("NoExecute moves it", [cluster("a", taints=TAINTED), SPARE], leaves=Reason.DRAINED),
    Case(
        "NoExecute that is tolerated",
        [cluster("a", taints=TAINTED), SPARE],
        replace(WANTED, tolerations=deployment("x", tolerations=["k"]).tolerations),
    ),
    Case("NoExecute with nowhere to go", [cluster("a", taints=TAINTED)], strands=True),
    Case("NoExecute on every cluster", [cluster("a", taints=TAINTED), cluster("b", taints=TAINTED)], strands=True),
    Case("its cluster is being removed", [cluster("a", state="going away"), SPARE], leaves=Reason.CLUSTER_LEAVES),
    Case("its cluster is being removed with nowhere to go", [cluster("a", state="going away")], strands=True),
    Case("its cluster is lost", [cluster("a", state="lost"), SPARE], leaves=Reason.CLUSTER_LOST),
    Case("its cluster is not in the snapshot", [SPARE], leaves=Reason.CLUSTER_LOST),
    Case(
        "its cluster is deselected",
        [cluster("a"), cluster("b", labels={"x": "y"})],
        replace(WANTED, selector={"x": "y"}),
        leaves=Reason.DESELECTED,
    ),
    Case(
        "its cache leaves its cluster",
        [cluster("a", storage_class="s"), cluster("b", storage_class="s", labels={"x": "y"})],
        replace(WANTED, cache=CacheNeed("c", "sha256:1", {"x": "y"})),
        leaves=Reason.DESELECTED,
    ),
    Case("its pool is gone", [cluster("a", pool("other", nodes=0)), SPARE], leaves=Reason.POOL_LEAVES),
    Case(
        "its pool would be replaced", [cluster("a", pool("gpus", leaving="replaced")), SPARE], leaves=Reason.POOL_LEAVES
    ),
    Case("its pool drifted and still matches", [cluster("a", pool("gpus", gpu(memory=96))), SPARE]),
    Case(
        "its pool no longer matches",
        [cluster("a", pool("gpus", gpu(memory=40))), SPARE],
        deployment("d", 1, engine("main", member(4, "80"))),
        live(deployment("d", 1, engine("main", member(4, "80"))), "a"),
        leaves=Reason.UNMATCHED,
    ),
    Case(
        "a selector that fails on its pool",
        [cluster("a", pool("gpus", gpu(capacity=())))],
        deployment("d", 1, engine("main", member(4, "80"))),
        live(deployment("d", 1, engine("main", member(4, "80"))), "a"),
        strands=True,
    ),
    Case("it is not ready", [cluster("a"), SPARE], replica=replace(HERE, ready=False, failure="crash loop")),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_live_replica(case: Case) -> None:
    """It stays, moves with its reason, or stays with nowhere to go and is counted."""
    made = plan(case.clusters, [case.wanted], [case.replica])
    if case.leaves is None:
        assert where(made) == ["d@a/0"]
        assert not made.leaving
        expected = Reason.NOWHERE_TO_GO if case.strands else Reason.KEPT
        assert made.placements[0].reason is expected
        assert [(each.placed, each.stranded) for each in made.shortfalls] == ([(0, 1)] if case.strands else [])
    else:
        assert [(str(each.id), each.reason) for each in made.leaving] == [("ml/d/a/0", case.leaves)]
        lost = case.leaves is Reason.CLUSTER_LOST
        assert [str(each.predecessor) for each in made.placements] == ["None" if lost else "ml/d/a/0"]
        assert not made.shortfalls


@pytest.mark.parametrize(
    "case", [each for each in CASES if each.leaves not in (None, Reason.CLUSTER_LOST)], ids=lambda case: case.name
)
def test_a_live_replica_that_must_leave_and_has_nowhere_to_go(case: Case) -> None:
    """Whatever it must leave for, it stays and is counted as missing, and not as waiting for an edit."""
    made = plan([each for each in case.clusters if each.name == "a"], [case.wanted], [case.replica])
    assert [(str(each.id), each.reason) for each in made.placements] == [("ml/d/a/0", Reason.NOWHERE_TO_GO)]
    assert [(each.placed, each.stranded, each.outdated) for each in made.shortfalls] == [(0, 1, 0)]


def test_a_stranded_replica_is_named() -> None:
    """The shortfall says which one, and the summary why nothing else takes it."""
    (short,) = plan([cluster("a", taints=TAINTED), cluster("b", pool(nodes=0))], [WANTED], [HERE]).shortfalls
    assert "ml/d/a/0 must leave and has nowhere to go" in short.message
    assert "0/2 clusters: 1 tainted, 1 full" in short.message


def test_a_held_deployment_stays_exactly_as_it_is() -> None:
    """Whatever its manifest says or its clusters are, except that a lost cluster holds nothing."""
    edited = deployment("d", 3, engine("main", member(8)), version="v9")
    replicas = [HERE, live(WANTED, "b", phase=Phase.STARTING)]
    clusters = [cluster("a", taints=TAINTED), cluster("b", state="lost")]
    made = plan(clusters, [edited], replicas, held=frozenset({("ml", "d")}))
    assert [(str(each.id), each.reason, each.digest) for each in made.placements] == [
        ("ml/d/a/0", Reason.HELD, WANTED.digest)
    ]
    assert not made.leaving
    assert not made.shortfalls


def test_a_removed_deployment_lets_its_replicas_go() -> None:
    """And only those of its own namespace."""
    other = live(deployment("d", 1, engine("main", member(4)), namespace="other"), "a")
    made = plan([cluster("a")], [WANTED], [HERE, other])
    assert [(str(each.id), each.reason) for each in made.leaving] == [("other/d/a/0", Reason.REMOVED)]


@pytest.mark.parametrize("accounting", Accounting, ids=lambda each: each.value)
def test_claims_of_a_class_that_is_gone_hold_nothing(accounting: Accounting) -> None:
    """Their pods cannot be scheduled any more; the replica leaves, and its node is there for another one."""
    amd = gpu("mi300", driver="gpu.amd.com", device_class="gpu.amd.com")
    made = plan([cluster("a", pool("gpus", amd))], [WANTED], [HERE], accounting=accounting)
    assert where(made) == ["d@a/1"]
    assert [(str(each.id), each.reason) for each in made.leaving] == [("ml/d/a/0", Reason.RECLAIMED)]


def test_nothing_moves_back_when_a_taint_goes() -> None:
    """A moved replica stays where it is."""
    made = plan([cluster("a"), cluster("b")], [WANTED], [live(WANTED, "b")])
    assert where(made) == ["d@b/0"]


def test_a_move_waits_for_one_place_and_strands_the_rest() -> None:
    """Two must leave and one place is free: one moves, the other is counted."""
    two = replace(WANTED, replicas=2)
    full = cluster("a", pool("gpus"), taints=TAINTED)
    made = plan([full, cluster("b", pool("gpus", gpu(count=4)))], [two], [live(two, "a"), live(two, "a", 1)])
    assert where(made) == ["d@a/0", "d@b/0"]
    assert [(each.placed, each.stranded) for each in made.shortfalls] == [(1, 1)]


@dataclass(frozen=True)
class ScaleDown:
    """Two replicas of which one is wanted; ``idle`` holds the phase and readiness of those that serve nobody."""

    name: str
    idle: dict[str, tuple[Phase, bool]]
    goes: str
    strategy: Strategy = Strategy.SPREAD


SCALE_DOWNS = [
    ScaleDown("all serve: the last cluster by name", {}, "b/0"),
    ScaleDown("one never served", {"a/0": (Phase.STARTING, False)}, "a/0"),
    ScaleDown("one broke", {"a/0": (Phase.SERVING, False)}, "a/0"),
    ScaleDown("one drains already", {"a/0": (Phase.DRAINING, True)}, "a/0"),
    ScaleDown("none serves", {"a/0": (Phase.STARTING, False), "b/0": (Phase.STARTING, False)}, "b/0"),
    ScaleDown("the predecessor does not look", {"a/0": (Phase.STARTING, False)}, "b/0", Strategy.COMPATIBLE),
]


@pytest.mark.parametrize("case", SCALE_DOWNS, ids=lambda case: case.name)
def test_scaling_down_keeps_the_replica_that_serves(case: ScaleDown) -> None:
    """The one that serves nobody goes, then the predecessor's order decides; Compatible knows that order alone."""
    states = {place: case.idle.get(place, (Phase.SERVING, True)) for place in ("a/0", "b/0")}
    replicas = [live(WANTED, place[0], phase=phase, ready=ready) for place, (phase, ready) in states.items()]
    made = plan([cluster("a"), cluster("b")], [WANTED], replicas, strategy=case.strategy)
    assert [(str(each.id), each.reason) for each in made.leaving] == [(f"ml/d/{case.goes}", Reason.SCALED_DOWN)]


@pytest.mark.parametrize(
    ("live_at", "wanted", "stay"),
    [
        (["a/0", "a/1", "b/0"], 2, ["a/0", "b/0"]),
        (["a/0", "b/0", "b/1", "b/2"], 2, ["a/0", "b/0"]),
        (["a/0", "b/0", "c/0"], 1, ["a/0"]),
        (["a/0", "a/1", "b/0", "b/1"], 1, ["a/0"]),
        (["a/2", "a/5", "b/3"], 2, ["a/2", "b/3"]),
        (["a/0", "b/0"], 0, []),
    ],
    ids=["the fullest cluster", "until it is no fuller", "the last name", "each time anew", "same indices", "all"],
)
def test_scaling_down_takes_from_the_fullest_cluster(live_at: list[str], wanted: int, stay: list[str]) -> None:
    """Then from the last by name, then the highest index; who stays keeps place and index."""
    less = replace(WANTED, replicas=wanted)
    replicas = [live(WANTED, each[0], int(each[2])) for each in live_at]
    made = plan([cluster(name, pool(nodes=3)) for name in "abc"], [less], replicas)
    assert where(made) == [f"d@{each}" for each in stay]
    assert {each.reason for each in made.leaving} == {Reason.SCALED_DOWN}


def test_scaling_down_an_edited_deployment_keeps_the_replica_that_serves() -> None:
    """The old shapes are chosen among in the same order: one that broke goes before one that serves."""
    edited = deployment("d", 1, engine("main", member(4)), version="v2")
    replicas = [live(WANTED, "a", ready=False), live(WANTED, "b")]
    made = plan([cluster("a", pool(nodes=0)), cluster("b", pool(nodes=0))], [edited], replicas)
    assert [str(each.id) for each in made.leaving] == ["ml/d/a/0"]
