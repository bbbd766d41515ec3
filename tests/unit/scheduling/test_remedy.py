"""What one more replica would need, and how many more fit."""

from dataclasses import dataclass, replace
from decimal import Decimal

import pytest
from hypothesis import given, settings

from automation.scheduling.headroom import headroom
from automation.scheduling.observation import PoolObservation
from automation.scheduling.remedy import Answer
from automation.scheduling.schedule import schedule
from automation.scheduling.snapshot import Cluster, Deployment, FabricNeed, Pool, PoolBefore, Purchase, Quota, Snapshot
from automation.scheduling.verdict import FABRIC_LINES
from tests.unit.scheduling.builder import (
    cluster,
    deployment,
    engine,
    evaluate,
    gang,
    gpu,
    live,
    member,
    plan,
    pool,
    snapshot,
)
from tests.unit.scheduling.random_fleets import Story, stories

WHOLE = engine("main", member(8))
ONE = engine("main", member(1))


@dataclass(frozen=True)
class Case:
    """One question: a fleet, who asks, and the answer in words."""

    name: str
    clusters: list[Cluster]
    wanted: Deployment
    answer: Answer
    message: str


PRICED = pool("gpus", nodes=1, price=Decimal("98.5"))
CASES = [
    Case("room", [cluster("a", pool(nodes=2))], deployment("d", 1, WHOLE), Answer.NOW, "fits now on a"),
    Case(
        "room on a cluster of this plan",
        [cluster("a", pool(nodes=2), state="planned")],
        deployment("d", 1, WHOLE),
        Answer.NOW,
        "fits on a once it is built",
    ),
    Case(
        "room that has to come",
        [cluster("a", pool(nodes=1, maximum=3, scales=True))],
        deployment("d", 1, WHOLE),
        Answer.SCALE_UP,
        "fits on a after scale-up: pool gpus from 1 to 2 nodes (price unknown)",
    ),
    Case(
        "one node more",
        [cluster("a", PRICED)],
        deployment("d", 2, WHOLE),
        Answer.CHANGE,
        "would fit on a with pool gpus from 1 to 2 nodes (98.5 USD per hour)",
    ),
    Case(
        "the cheapest, and not one without a price",
        [cluster("a", pool()), cluster("b", replace(PRICED, price=Decimal(9))), cluster("c", PRICED)],
        deployment("d", 4, WHOLE),
        Answer.CHANGE,
        "would fit on b with pool gpus from 1 to 2 nodes (9 USD per hour)",
    ),
    Case(
        "a gang needs several",
        [cluster("a", pool("gpus", nodes=1, fabric="x"))],
        deployment("d", 1, gang(8, 2)),
        Answer.CHANGE,
        "would fit on a with pool gpus from 1 to 3 nodes (price unknown)",
    ),
    Case(
        "two engines need two pools",
        [cluster("a", pool("big", gpu("h100", 8), nodes=0), pool("old", gpu("a100", 8, 40), nodes=0))],
        deployment("d", 1, engine("x", member(8, "name=h100")), engine("y", member(8, "name=a100"))),
        Answer.CHANGE,
        "would fit on a with pool big from 0 to 1 nodes (price unknown) and pool old from 0 to 1 nodes (price unknown)",
    ),
    Case(
        "a taint in the way",
        [cluster("a", taints=["k=v:NoSchedule"])],
        deployment("d", 1, WHOLE),
        Answer.CHANGE,
        "would fit on a once its taints are tolerated or taken away",
    ),
    Case(
        "a selector in the way",
        [cluster("a")],
        deployment("d", 1, WHOLE, selector={"tier": "gold"}),
        Answer.CHANGE,
        "would fit on a once the deployment's clusterSelector takes it in",
    ),
    Case(
        "a cluster in trouble",
        [cluster("a", state="not ready")],
        deployment("d", 1, WHOLE),
        Answer.CHANGE,
        "would fit on a once it is ready again",
    ),
    Case(
        "two things in the way",
        [cluster("a", taints=["k=v:NoSchedule"], state="not ready")],
        deployment("d", 1, WHOLE),
        Answer.CHANGE,
        "would fit on a once its taints are tolerated or taken away and it is ready again",
    ),
    Case(
        "three things, and nodes",
        [cluster("a", pool(nodes=0), taints=["k=v:NoSchedule"], state="not ready")],
        deployment("d", 1, WHOLE, selector={"tier": "gold"}),
        Answer.CHANGE,
        "would fit on a with pool gpus from 0 to 1 nodes (price unknown), once the deployment's clusterSelector takes"
        " it in, its taints are tolerated or taken away and it is ready again",
    ),
    Case(
        "one thing there, two here",
        [cluster("a", taints=["k=v:NoSchedule"], state="not ready"), cluster("b", pool(nodes=0)), cluster("c")],
        deployment("d", 2, WHOLE, selector={"tier": "gold"}),
        Answer.CHANGE,
        "would fit on c once the deployment's clusterSelector takes it in",
    ),
    Case(
        "a cluster that goes away",
        [cluster("a", state="going away", why="its manifest was removed")],
        deployment("d", 1, WHOLE),
        Answer.CHANGE,
        "would fit on a once it stays (its manifest was removed)",
    ),
    Case(
        "a cluster that is lost",
        [cluster("a", state="lost")],
        deployment("d", 1, WHOLE),
        Answer.CHANGE,
        "would fit on a once it is there again",
    ),
    Case(
        "a pool that leaves",
        [cluster("a", pool(leaving="this change would replace it"), pool("old", gpu("l4", 1)))],
        deployment("d", 1, WHOLE),
        Answer.CHANGE,
        "would fit on a once its pool gpus stays (this change would replace it)",
    ),
    Case(
        "other things first, where somebody has decided",
        [cluster("a", state="going away"), cluster("b", taints=["k=v:NoSchedule"], state="not ready")],
        deployment("d", 1, WHOLE),
        Answer.CHANGE,
        "would fit on b once its taints are tolerated or taken away and it is ready again",
    ),
    Case(
        "no such device",
        [cluster("a"), cluster("b", pool("old", gpu("a100", 4)))],
        deployment("d", 1, engine("main", member(8, "none"))),
        Answer.NEVER,
        "never fits: request gpu: h100 does not satisfy none (a/gpus comes closest)",
    ),
    Case(
        "what comes closest is told",
        [cluster("a"), cluster("b", pool("old", gpu("l4", 1, 160)), pool("more", gpu("a100", 4, 160)), state="lost")],
        deployment("d", 1, engine("main", member(8, "140"))),
        Answer.NEVER,
        "never fits: request gpu wants 8 devices, a node has 1 of l4 (b/old comes closest)",
    ),
    Case(
        "the engine for which there are no devices is told",
        [cluster("a", pool(purchase=Purchase.SPOT), pool("small", gpu("l4", 1)))],
        deployment("d", 1, engine("x", member(8)), engine("y", member(1, "none"))),
        Answer.NEVER,
        "never fits: request gpu: h100 does not satisfy none (a/gpus comes closest)",
    ),
    Case(
        "each engine on another cluster",
        [cluster("a"), cluster("b", pool("old", gpu("a100", 8, 40)))],
        deployment("d", 1, engine("x", member(8, "name=h100")), engine("y", member(8, "name=a100"))),
        Answer.NEVER,
        "never fits: request gpu: h100 does not satisfy name=a100 (a/gpus comes closest)",
    ),
    Case("no pools", [Cluster("a")], deployment("d", 1, WHOLE), Answer.NEVER, "never fits: no cluster has GPU pools"),
    Case(
        "its pools are spot ones",
        [cluster("a", pool(purchase=Purchase.SPOT))],
        deployment("d", 1, WHOLE),
        Answer.CHANGE,
        "would fit on a once it may run on spot nodes (write `spot: true`)",
    ),
    Case(
        "spot nodes of other devices",
        [cluster("a", pool("gpus", gpu("a100", 8, 40), purchase=Purchase.SPOT))],
        deployment("d", 1, engine("e", member(8, "80"))),
        Answer.NEVER,
        "never fits: request gpu: a100 does not satisfy 80 (a/gpus comes closest)",
    ),
    Case(
        "spot ones behind a taint",
        [cluster("a", pool(purchase=Purchase.SPOT), taints=["k=v:NoSchedule"])],
        deployment("d", 1, WHOLE),
        Answer.CHANGE,
        "would fit on a once its taints are tolerated or taken away and it may run on spot nodes (write `spot: true`)",
    ),
    Case(
        "too few nodes, and no network between them",
        [cluster("a", pool())],
        deployment("d", 1, gang()),
        Answer.CHANGE,
        "would fit on a with pool gpus from 1 to 2 nodes (price unknown), once its nodes share what a gang needs:"
        f" {FABRIC_LINES}",
    ),
    Case(
        "a gang on spot nodes of a pool that leaves, without the network that it asks for",
        [cluster("a", pool(nodes=2, purchase=Purchase.SPOT, leaving="it goes"))],
        deployment("d", 1, gang(), fabric=FabricNeed.EFA),
        Answer.CHANGE,
        "would fit on a once it may run on spot nodes (write `spot: true`), its pool gpus stays (it goes) and its nodes"
        " share what a gang needs",
    ),
    Case("no cluster", [], deployment("d", 1, WHOLE), Answer.NEVER, "never fits: there are no clusters"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_one_more_replica_would_need(case: Case) -> None:
    """One of four answers, with pool, nodes and price where a pool is the answer."""
    remedy = plan(case.clusters, [case.wanted]).trace[case.wanted.key].beyond
    assert (remedy.answer, remedy.message) == (case.answer, case.message)


def test_headroom_counts_each_deployment_by_itself() -> None:
    """Both could have the same nodes; what is placed is in the way, the small ones at their worst for the big ones."""
    big, small = deployment("big", 1, WHOLE), deployment("small", 2, ONE)
    found = headroom(
        snapshot([cluster("a", pool(nodes=3)), cluster("b", pool(nodes=2))], [big, small]), evaluate=evaluate
    )
    assert [(each.deployment, each.wanted, each.placed, each.more) for each in found] == [
        ("big", 1, 1, 2),
        ("small", 2, 2, 16),
    ]
    assert found[0].beyond.answer is Answer.CHANGE
    assert headroom(snapshot([cluster("a")], [small]), evaluate=evaluate, most=4)[0].more == 4


def test_headroom_counts_beside_what_leaves() -> None:
    """A replica that is only on its way out still holds its devices."""
    other = deployment("other", 1, WHOLE)
    found = headroom(
        snapshot([cluster("a", pool(nodes=2))], [deployment("d", 0, WHOLE)], [live(other, "a")]), evaluate=evaluate
    )
    assert [each.more for each in found] == [1]


def grown(seen: Snapshot, name: str, pools: dict[str, int]) -> Snapshot:
    """Return a snapshot in which pools of one cluster have so many nodes."""

    def larger(each: Pool) -> Pool:
        nodes = pools.get(each.name)
        return each if nodes is None else replace(each, realised=nodes, maximum=nodes, scales=False, before=None)

    clusters = [
        replace(each, pools=tuple(map(larger, each.pools))) if each.name == name else each for each in seen.clusters
    ]
    return replace(seen, clusters=tuple(clusters))


@settings(deadline=None, max_examples=60)
@given(stories())
def test_a_pool_that_is_named_with_its_nodes_is_one_that_helps(story: Story) -> None:
    """With as many nodes there is room for another replica beside all others."""
    made = schedule(story.after, evaluate=evaluate)
    for key, trace in made.trace.items():
        remedy = trace.beyond
        assert remedy.message
        if remedy.answer is Answer.NOW:
            assert next(
                each for each in headroom(story.after, evaluate=evaluate) if (each.namespace, each.deployment) == key
            ).more
        if remedy.answer is Answer.CHANGE and remedy.growth and " once " not in remedy.message:
            more = grown(story.after, remedy.cluster, {each.pool: each.needed for each in remedy.growth})
            there = {each.id for each in story.after.replicas}
            # A successor of its own that waits for room is one of them.
            others = [each for each in made.shortfalls if (each.namespace, each.deployment) != key or each.outdated]
            if others or made.leaving or made.shrinking or {each.id for each in made.placements} - there:
                continue  # others would take part of what is added
            found = {(each.namespace, each.deployment): each for each in headroom(more, evaluate=evaluate)}
            assert found[key].placed + found[key].more > trace.placed


@pytest.mark.parametrize(
    ("gpus", "said"),
    [
        (
            pool(nodes=2, observed=PoolObservation(1, 1)),
            "from 2 to 3 nodes (price unknown; 1 of the 2 cannot be used, as they were seen)",
        ),
        (
            pool(nodes=1, maximum=3, scales=True, observed=PoolObservation(0, 2)),
            "from 3 to 4 nodes (price unknown; 2 of the 3 cannot be used, as they were seen)",
        ),
        (pool(nodes=1, maximum=3, scales=True, observed=PoolObservation(1)), "from 3 to 4 nodes (price unknown)"),
    ],
    ids=["fixed", "scales", "all usable"],
)
def test_nodes_that_were_seen_out_of_use_are_among_those_that_a_pool_has(gpus: Pool, said: str) -> None:
    """Else the change that is named would be what the manifest says already."""
    filled = deployment("d", gpus.nodes + 1, WHOLE)
    (trace,) = plan([cluster("a", gpus)], [filled]).trace.values()
    assert trace.beyond.message == f"would fit on a with pool gpus {said}"


def test_a_pool_under_a_live_pod_larger_than_its_nodes_is_not_helped_by_nodes() -> None:
    """The class has shrunk under it: no number of nodes is sure to hold it, so the answer names who has to go."""
    large, small = deployment("large", 1, WHOLE), deployment("small", 1, ONE)
    made = plan([cluster("a", pool("gpus", gpu(count=4), nodes=3))], [large, small], [live(large, "a")])
    beyond = made.trace[small.key].beyond
    assert (beyond.answer, beyond.growth) == (Answer.CHANGE, ())
    assert beyond.message == "would fit on a once pods that are larger than a node of their pool have gone"
    assert [each.message for each in made.overfull] == [
        "1 pod is promised more than its 3 nodes are sure to hold",
    ]


@pytest.mark.parametrize(
    ("there", "replicas", "message"),
    [
        (
            cluster("a", pool(), taints=["gone=:NoExecute"]),
            1,
            "would fit on a once its taints are tolerated or taken away",
        ),
        (cluster("a", pool(), state="going away", why="retired"), 1, "would fit on a once it stays (retired)"),
        (
            cluster("a", pool(leaving="other class")),
            1,
            "would fit on a once its pool gpus stays (other class)",
        ),
        (
            cluster("a", pool(nodes=1, before=PoolBefore(2, "h100"))),
            2,
            "would fit on a with pool gpus from 1 to 2 nodes (price unknown)",
        ),
    ],
    ids=["drained", "cluster leaves", "pool leaves", "pool shrinks"],
)
def test_a_replica_with_nowhere_to_go_needs_no_room_beside_itself(there: Cluster, replicas: int, message: str) -> None:
    """It is what is missing, so where it may stay nothing has to be bought, and its quota is not raised for two."""
    wanted = deployment("d", replicas, WHOLE)
    live_ones = [live(wanted, "a", index) for index in range(replicas)]
    quotas = {wanted.namespace: Quota(nodes=replicas)}
    made = plan([there], [wanted], live_ones, quotas=quotas)
    (short,) = made.shortfalls
    assert short.stranded == 1
    before = made.trace[wanted.key].verdicts[0]
    assert made.trace[wanted.key].beyond.message == message
    assert made.trace[wanted.key].verdicts[0] == before


def test_nodes_are_asked_of_a_pool_that_the_limits_allow() -> None:
    """A node of the other one would let nothing in."""
    pools = pool("dear", price=Decimal(10)), pool("cheap", price=Decimal(4))
    wanted = deployment("d", 2, WHOLE, max_cost_per_hour=Decimal(8))
    other = deployment("other", 1, WHOLE)
    made = plan(
        [cluster("a", *pools)], [wanted, other], [live(wanted, "a", pools="cheap"), live(other, "a", pools="dear")]
    )
    assert made.trace[wanted.key].beyond.message == "would fit on a with pool cheap from 1 to 2 nodes (4 USD per hour)"
