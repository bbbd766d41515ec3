"""Where new replicas go: room, spread, strategies, engines on pools, scale-up."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import pytest

from automation.scheduling import ledger
from automation.scheduling.observation import ForeignPod, PoolObservation
from automation.scheduling.snapshot import Accounting, CacheNeed, Cluster, Deployment, Strategy
from automation.scheduling.verdict import Code
from tests.unit.scheduling.builder import (
    cluster,
    deployment,
    engine,
    gang,
    gpu,
    live,
    member,
    nic,
    plan,
    pool,
    synthetic,
    where,
)

ONE = engine("main", member(1))
WHOLE = engine("main", member(8))


@dataclass(frozen=True)
class Case:
    """A fleet and where its replicas go."""

    name: str
    clusters: Sequence[Cluster]
    wanted: Sequence[Deployment]
    target: list[str]
    strategy: Strategy = Strategy.SPREAD
    accounting: Accounting | None = None


SHARED = {"storage_class": "shared"}
EAST = {"region": "east"}
WEST = {"region": "west"}

CASES = [
    Case(
        "nine one-device engines on eight devices",
        [cluster("a")],
        [deployment("d", 9, ONE)],
        [f"d@a/{index}" for index in range(8)],
    ),
    Case(
        "the same by whole nodes",
        [cluster("a", pool(nodes=2))],
        [deployment("d", 9, ONE)],
        ["d@a/0", "d@a/1"],
        accounting=Accounting.NODE,
    ),
    Case(
        "two gangs of a hundred on a hundred nodes: one whole gang",
        [cluster("a", pool(nodes=100, fabric="x"))],
        [deployment("d", 1, gang(8, 99)), deployment("e", 1, gang(8, 99))],
        ["d@a/0"],
    ),
    Case(
        "fewest own replicas first, then the name",
        [cluster("b", pool(nodes=9)), cluster("a", pool(nodes=9))],
        [deployment("d", 3, WHOLE)],
        ["d@a/0", "d@a/1", "d@b/0"],
    ),
    Case(
        "regions are spread before names",
        [cluster("a", **EAST), cluster("b", **EAST), cluster("c", **WEST)],
        [deployment("d", 2, WHOLE)],
        ["d@a/0", "d@c/0"],
    ),
    Case(
        "clusters of unknown regions are regions of their own",
        [cluster("a", **EAST), cluster("b", **EAST), cluster("c"), cluster("d")],
        [deployment("x", 3, WHOLE)],
        ["x@a/0", "x@c/0", "x@d/0"],
    ),
    Case(
        "compatible looks at names only",
        [cluster("a", **EAST), cluster("b", **EAST), cluster("c", **WEST)],
        [deployment("d", 2, WHOLE)],
        ["d@a/0", "d@b/0"],
        strategy=Strategy.COMPATIBLE,
    ),
    Case(
        "pack fills a cluster before the next",
        [cluster("a", pool(nodes=2)), cluster("b", pool(nodes=2))],
        [deployment("d", 3, WHOLE)],
        ["d@a/0", "d@a/1", "d@b/0"],
        strategy=Strategy.PACK,
    ),
    Case(
        "cost takes the cheapest first",
        [cluster("a", pool(price=Decimal(9), nodes=2)), cluster("b", pool(price=Decimal(5), nodes=2)), cluster("c")],
        [deployment("d", 3, WHOLE)],
        ["d@a/0", "d@b/0", "d@b/1"],
        strategy=Strategy.COST,
    ),
    Case(
        "cost breaks a tie of spread, an unknown price comes last",
        [cluster("a"), cluster("b", pool(price=Decimal(9))), cluster("c", pool(price=Decimal(5)))],
        [deployment("d", 2, WHOLE)],
        ["d@b/0", "d@c/0"],
    ),
    Case(
        "two namespaces with the same name do not see each other",
        [cluster("a"), cluster("b")],
        [deployment("d", 1, WHOLE), deployment("d", 1, WHOLE, namespace="other")],
        ["d@a/0", "d@b/0"],
    ),
    Case(
        "priority before size",
        [cluster("a")],
        [deployment("big", 1, WHOLE, priority=1), deployment("small", 1, ONE)],
        ["big@a/0"],
    ),
    Case(
        "the smallest first",
        [cluster("a")],
        [deployment("a-big", 1, WHOLE), deployment("small", 1, ONE)],
        ["small@a/0"],
    ),
    Case(
        "compatible takes one deployment after the other",
        [cluster("a")],
        [deployment("a-big", 1, WHOLE), deployment("small", 1, ONE)],
        ["a-big@a/0"],
        strategy=Strategy.COMPATIBLE,
    ),
    Case(
        "a selector that asks for labels",
        [cluster("a"), cluster("b", labels={"tier": "gold"})],
        [deployment("d", 1, selector={"tier": "gold"})],
        ["d@b/0"],
    ),
    Case(
        "states that take replicas",
        [
            cluster("a", state="lost"),
            cluster("b", state="going away"),
            cluster("c", state="not ready"),
            cluster("d", state="planned"),
        ],
        [deployment("x", 1)],
        ["x@d/0"],
    ),
    Case(
        "taints that are tolerated",
        [cluster("a", taints=["k=v:NoSchedule"]), cluster("b", taints=["k=v:NoExecute", "z=:NoSchedule"])],
        [deployment("d", 2, tolerations=["k=v"])],
        ["d@a/0", "d@a/1"],
    ),
    Case(
        "a toleration of every key, of one effect, of another value, and one of two taints",
        [
            cluster("a", taints=["k=v:NoSchedule"]),
            cluster("b", taints=["k=v:NoExecute"]),
            cluster("c", taints=["k=v:NoSchedule", "z=:NoExecute"]),
        ],
        [
            deployment("all", 3, ONE, tolerations=[""]),
            deployment("effect", 3, ONE, tolerations=["k:NoExecute"]),
            deployment("other", 3, ONE, tolerations=["k=w"]),
            deployment("two", 3, ONE, tolerations=["k=v"]),
        ],
        [
            *("all@a/0", "all@b/0", "all@c/0"),
            *("effect@b/0", "effect@b/1", "effect@b/2"),
            *("two@a/0", "two@a/1", "two@b/0"),
        ],
    ),
    Case(
        "the selectors of the deployment and of its cache both hold, and neither replaces the other",
        [
            cluster("a", labels={"tier": "gold", "zone": "1"}, **SHARED),
            cluster("b", labels={"tier": "silver", "zone": "1"}, **SHARED),
            cluster("c", labels={"tier": "gold", "zone": "2"}, **SHARED),
        ],
        [
            deployment("both", 2, ONE, selector={"tier": "gold"}, cache=CacheNeed("c", "sha256:1", {"zone": "1"})),
            deployment("torn", 2, ONE, selector={"tier": "gold"}, cache=CacheNeed("c", "sha256:1", {"tier": "silver"})),
        ],
        ["both@a/0", "both@a/1"],
    ),
    Case(
        "no deployments",
        [cluster("a")],
        [],
        [],
    ),
    Case("no clusters", [], [deployment("d", 1)], []),
    Case("a pool of no nodes", [cluster("a", pool(nodes=0))], [deployment("d", 1)], []),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_replicas_go(case: Case) -> None:
    """The target is exactly this."""
    made = plan(case.clusters, case.wanted, strategy=case.strategy, accounting=case.accounting)
    assert where(made) == case.target
    wanted = sum(each.replicas for each in case.wanted)
    assert len(case.target) + sum(each.wanted - each.placed for each in made.shortfalls) == wanted


def test_an_own_replica_beside_which_another_one_goes_is_of_its_size() -> None:
    """The first new one goes where none is; then both clusters are equal, and the name decides."""
    wanted = deployment("d", 3, WHOLE)
    made = plan([cluster("a", pool(nodes=9)), cluster("b", pool(nodes=9))], [wanted], [live(wanted, "b")])
    assert where(made) == ["d@a/0", "d@a/1", "d@b/0"]


def pools_of(clusters: Sequence[Cluster], *wanted: Deployment, strategy: Strategy = Strategy.SPREAD) -> list[list[str]]:
    """Return the pools of every engine's members, replica by replica."""
    made = plan(clusters, wanted, strategy=strategy)
    return [[member.pool for engine in each.placement for member in engine.members] for each in made.placements]


A100 = gpu("a100", 8, 40)


def test_engines_take_pools_in_order() -> None:
    """The first pool that has room, then the next."""
    two = cluster("a", pool("first"), pool("second", nodes=2))
    engines = [engine(f"e{number}", member(8)) for number in range(3)]
    assert pools_of([two], deployment("d", 1, *engines)) == [["first", "second", "second"]]


def test_engines_that_first_fit_cannot_place_are_searched_for() -> None:
    """The first engine takes the only pool the second could use; the search finds the other way round."""
    both = cluster("a", pool("large", gpu()), pool("small", A100))
    replica = deployment("d", 1, engine("any", member(8, "40")), engine("picky", member(8, "80")))
    assert pools_of([both], replica) == [["small", "large"]]
    assert pools_of([both], replica, strategy=Strategy.COMPATIBLE) == []


def test_hardware_that_others_want_stays_free() -> None:
    """What runs anywhere leaves the scarce pool to what needs it."""
    both = cluster("a", pool("h100", gpu()), pool("a100", A100))
    easy, picky = (
        deployment("a-easy", 1, engine("e", member(8, "40"))),
        deployment("picky", 1, engine("e", member(8, "80"))),
    )
    assert pools_of([both], easy, picky) == [["a100"], ["h100"]]


def test_pools_of_one_size_are_preferred() -> None:
    """A small pod does not go beside large ones while another pool has room."""
    two = cluster("a", pool("first", nodes=4), pool("second", nodes=4))
    assert pools_of([two], deployment("z-big", 1, WHOLE), deployment("a-small", 1, ONE)) == [["first"], ["second"]]


def test_all_members_of_a_gang_share_a_pool_if_they_can() -> None:
    """Both pods on the pool with two nodes."""
    two = cluster("a", pool("first", fabric="x"), pool("second", fabric="x", nodes=2))
    assert pools_of([two], deployment("d", 1, gang())) == [["second", "second"]]


def test_a_gang_spans_pools_of_one_fabric_only() -> None:
    """With one node each, the fabric decides; a refusal names both."""
    same = cluster("a", pool("first", fabric="x"), pool("second", fabric="x"))
    apart = cluster("a", pool("first", fabric="x"), pool("second"))
    assert pools_of([same], deployment("d", 1, gang())) == [["first", "second"]]
    assert pools_of([same], deployment("d", 1, gang()), strategy=Strategy.COMPATIBLE) == []
    verdict = plan([apart], [deployment("d", 1, gang())]).trace["ml", "d"].verdicts[0]
    assert verdict.code is Code.NO_FABRIC
    assert "first (x) and second (no fabric)" in verdict.message


def test_a_member_that_asks_for_nothing_rides_with_its_gang() -> None:
    """The coordinator claims nothing, costs nothing, and is pinned to the worker's pool."""
    coordinator = engine("main", member(0, role="Leader"), member(8, role="Worker"))
    made = plan([cluster("a", pool(fabric="x"))], [deployment("d", 2, coordinator)])
    assert where(made) == ["d@a/0"]
    leader, worker = made.placements[0].placement[0].members
    assert (leader.pool, leader.claims) == ("gpus", ())
    assert [claim.device_class for claim in worker.claims] == ["gpu.nvidia.com"]


def test_only_what_claims_costs() -> None:
    """A coordinator adds nothing to what its engine costs, and a pool that only describes devices is no cheap one."""
    coordinator = engine("main", member(0, role="Leader"), member(8, role="Worker"))
    dear = pool("gpus", price=Decimal(9), fabric="x")
    cheap = replace(dear, price=Decimal(5))
    assert where(plan([cluster("a", dear), cluster("b", cheap)], [deployment("d", 1, coordinator)])) == ["d@b/0"]
    described = cluster("a", pool("described", synthetic("gpu"), price=Decimal(1)), dear)
    assert where(plan([described, cluster("b", cheap)], [deployment("d", 1, WHOLE)])) == ["d@b/0"]


def test_copies_and_workers_count() -> None:
    """Three copies of a gang of two take six nodes."""
    copies = engine("main", member(8, role="Leader"), member(8, role="Worker"), copies=3)
    assert where(plan([cluster("a", pool(nodes=6, fabric="x"))], [deployment("d", 1, copies)])) == ["d@a/0"]
    assert where(plan([cluster("a", pool(nodes=5, fabric="x"))], [deployment("d", 1, copies)])) == []


def test_a_member_is_not_stranded_on_a_pool_that_only_describes_its_devices() -> None:
    """Where real devices for it are on another pool of the cluster, a synthetic match is none."""
    worker = member(1, "name=ib", role="Worker")
    replica = deployment("d", 1, engine("main", member(8, "80", role="Leader"), worker))
    described = pool("described", gpu(), synthetic(), fabric="x")
    real = pool("real", nic("ib", 8))
    assert where(plan([cluster("a", described)], [replica])) == ["d@a/0"]
    assert where(plan([cluster("a", described, real)], [replica])) == []


def test_an_engine_that_claims_nothing_is_refused() -> None:
    """Something must be claimed, or the engine could land anywhere."""
    made = plan([cluster("a", pool("gpus", synthetic()))], [deployment("d", 1, engine("e", member(1, "name=ib")))])
    assert made.trace["ml", "d"].verdicts[0].code is Code.NO_MATCH


@dataclass(frozen=True)
class Count:
    """Two nodes declared, four at most, and what is promised."""

    name: str
    scales: bool
    seen: PoolObservation | None
    placed: int
    waiting: int


COUNTS = [
    Count("no autoscaler", scales=False, seen=None, placed=2, waiting=0),
    Count("an autoscaler", scales=True, seen=None, placed=4, waiting=2),
    Count("nothing seen and no autoscaler", scales=False, seen=PoolObservation(0), placed=0, waiting=0),
    Count("nothing seen and an autoscaler", scales=True, seen=PoolObservation(0), placed=4, waiting=4),
    Count("more seen than declared", scales=False, seen=PoolObservation(9), placed=2, waiting=0),
    Count("a dead node among the seen", scales=True, seen=PoolObservation(1, 1), placed=3, waiting=2),
    Count(
        "a foreign pod", scales=False, seen=PoolObservation(2, 0, (ForeignPod((("h100", 8),)),)), placed=1, waiting=0
    ),
    Count(
        "a pod of devices of an unknown name",
        scales=False,
        seen=PoolObservation(2, 0, (ForeignPod((("x", 8),)),)),
        placed=1,
        waiting=0,
    ),
]


@pytest.mark.parametrize("case", COUNTS, ids=lambda case: case.name)
def test_nodes_that_may_be_promised(case: Count) -> None:
    """The maximum counts only where something reaches it; an observation only lowers; waiting ones say so."""
    gpus = pool("gpus", nodes=2, maximum=4, scales=case.scales, observed=case.seen)
    made = plan([cluster("a", gpus)], [deployment("d", 9, WHOLE)])
    assert len(made.placements) == case.placed
    assert sum(each.needs_scale_up for each in made.placements) == case.waiting


def test_compatible_counts_the_declared_maximum() -> None:
    """As the predecessor does, whether anything reaches it or not."""
    gpus = pool("gpus", nodes=2, maximum=4)
    assert len(plan([cluster("a", gpus)], [deployment("d", 9, WHOLE)], strategy=Strategy.COMPATIBLE).placements) == 4


def test_others_are_charged_at_their_own_shape() -> None:
    """A live replica of somebody else takes what it was stamped with, until it goes."""
    other = deployment("other", 1, engine("main", member(4)))
    smaller = replace(other, replicas=0)
    made = plan([cluster("a")], [smaller, deployment("d", 2, engine("main", member(4)))], [live(other, "a")])
    assert where(made) == ["d@a/0"]


def test_a_pool_over_its_promise_takes_nothing_and_is_reported() -> None:
    """Three whole-node replicas on two nodes stay, and a small one finds no room."""
    big = deployment("big", 3, WHOLE)
    replicas = [live(big, "a", index) for index in range(3)]
    made = plan([cluster("a", pool(nodes=2))], [big, deployment("small", 1, ONE)], replicas)
    assert where(made) == ["big@a/0", "big@a/1", "big@a/2"]
    assert [(each.cluster, each.pool) for each in made.overfull] == [("a", "gpus")]


def test_the_lowest_free_index_is_taken() -> None:
    """A gap is filled, counting also what is on its way out."""
    wanted = deployment("d", 3, WHOLE)
    made = plan([cluster("a", pool(nodes=3))], [wanted], [live(wanted, "a", 0), live(wanted, "a", 2)])
    assert where(made) == ["d@a/0", "d@a/1", "d@a/2"]


def test_the_exact_search_for_pools_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The small engine takes the pool that the large one needs; without any tries that is the end."""
    both = cluster("a", pool("first", nodes=2), pool("second"))
    replica = deployment("d", 1, engine("small", member(8)), engine("large", member(8), copies=2))
    assert pools_of([both], replica) == [["second", "first"]]
    monkeypatch.setattr(ledger, "EXACT_BUDGET", 0)
    assert pools_of([both], replica) == []


def test_engines_that_need_the_same_are_tried_in_one_order_only() -> None:
    """Three alike and one picky one, and no assignment that works: the search ends with none."""
    both = cluster("a", pool("large", gpu(), nodes=2), pool("small", A100))
    alike = [engine(f"e{number}", member(8, "40")) for number in range(3)]
    assert pools_of([both], deployment("d", 1, *alike)) == [["large", "large", "small"]]
    assert pools_of([both], deployment("d", 1, *alike, engine("picky", member(8, "80")))) == []
