"""Quotas of namespaces, cost limits of deployments and the budget of the fleet: what they let in, and what they say."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from automation.scheduling.bill import running
from automation.scheduling.existing import ExistingReplica
from automation.scheduling.hardware import make_hardware
from automation.scheduling.observation import PoolObservation
from automation.scheduling.reason import Reason
from automation.scheduling.remedy import Answer
from automation.scheduling.result import Schedule
from automation.scheduling.snapshot import Accounting, Budget, Cluster, Deployment, Device, Pool, Purchase, Quota
from automation.scheduling.verdict import Code
from components.lock import Phase
from tests.unit.scheduling.builder import (
    after,
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
    where,
)

WHOLE = engine("main", member(8))
HALF = engine("main", member(4))


def h100(count: int = 8) -> Device:
    """Make a GPU kind that quotas count."""
    return gpu("h100", count, accelerator="nvidia-h100")


def h200(count: int = 8) -> Device:
    """Make another one."""
    return gpu("h200", count, memory=140, accelerator="nvidia-h200")


def usd(number: float | str) -> Decimal:
    """Write an amount of money."""
    return Decimal(str(number))


def paid(name: str, *devices: Device, nodes: int = 4, price: float | None = 80, **other: Any) -> Cluster:
    """Make a cluster of one pool with a price per node."""
    per_hour = None if price is None else usd(price)
    return cluster(name, pool("gpus", *(devices or (h100(),)), nodes=nodes, price=per_hour, **other))


@dataclass(frozen=True)
class Case:
    """A quota of namespace ``ml`` on a cluster of four nodes of eight GPUs at 80 USD, and how many of five fit."""

    name: str
    quota: Quota
    placed: int
    said: str = ""
    what: Any = WHOLE
    accounting: Accounting = Accounting.DEVICE


CASES = [
    Case("no limit", Quota(), 4, "1 full"),
    Case(
        "devices",
        Quota({"nvidia-h100": 20}),
        2,
        "wanted 8 devices of nvidia-h100; the quota of namespace ml is 20, used 16",
    ),
    Case("other devices", Quota({"nvidia-h200": 0}), 4, "1 full"),
    Case(
        "none at all",
        Quota({"nvidia-h100": 0}),
        0,
        "wanted 8 devices of nvidia-h100; the quota of namespace ml is 0, used 0",
    ),
    Case("nodes", Quota(nodes=3), 3, "wanted 1 node; the quota of namespace ml is 3, used 3"),
    Case("parts of nodes", Quota(nodes=1), 2, "wanted 0.5 nodes; the quota of namespace ml is 1, used 1", HALF),
    Case(
        "whole nodes",
        Quota(nodes=1),
        1,
        "wanted 1 node; the quota of namespace ml is 1, used 1",
        HALF,
        Accounting.NODE,
    ),
    Case(
        "cost",
        Quota(max_cost_per_hour=usd(250)),
        3,
        "wanted 80 USD per hour; the quota of namespace ml is 250, used 240",
    ),
    Case("cost of parts", Quota(max_cost_per_hour=usd(100)), 2, "wanted 40 USD per hour", HALF),
    Case("the first that ends", Quota({"nvidia-h100": 16}, 1), 1, "wanted 1 node"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_quota_ends_where_it_says(case: Case) -> None:
    """With numbers in the shortfall and in the verdict of the cluster; what has no limit is not limited."""
    wanted = deployment("d", 5, case.what)
    made = plan([paid("a")], [wanted], quotas={"ml": case.quota}, accounting=case.accounting)
    assert len(made.placements) == case.placed
    assert case.said in made.shortfalls[0].message
    verdict = made.trace[wanted.key].verdict("a")
    if case.said.startswith("wanted"):
        assert case.said in verdict.message
        assert "over the quota" in made.shortfalls[0].message
        assert verdict.code is (Code.TAKEN if case.placed else Code.OVER_QUOTA)


def test_a_quota_counts_its_own_namespace_alone() -> None:
    """All deployments of it together, and nobody else's."""
    fleet = [deployment("d", 2, WHOLE), deployment("e", 2, WHOLE), deployment("d", 1, WHOLE, namespace="search")]
    made = plan([paid("a", nodes=9)], fleet, quotas={"ml": Quota({"nvidia-h100": 24})})
    assert [str(each.id) for each in made.placements] == ["ml/d/a/0", "ml/d/a/1", "ml/e/a/0", "search/d/a/0"]


def test_the_important_ones_of_a_namespace_get_its_quota() -> None:
    """As they get room."""
    fleet = [deployment("d", 2, WHOLE), deployment("e", 2, WHOLE, priority=1)]
    assert where(plan([paid("a")], fleet, quotas={"ml": Quota(nodes=2)})) == ["e@a/0", "e@a/1"]


def test_where_one_accelerator_ends_another_is_taken() -> None:
    """On another cluster, or on another pool of the same one; the search does not stop at the first."""
    wanted, quota = deployment("d", 3, WHOLE), {"ml": Quota({"nvidia-h100": 8})}
    apart = plan([paid("a"), paid("b", h200())], [wanted], quotas=quota)
    assert where(apart) == ["d@a/0", "d@b/0", "d@b/1"]
    both = cluster("a", pool("one", h100(), nodes=4), pool("two", h200(), nodes=4))
    beside = plan([both], [wanted], quotas=quota)
    assert sorted(each.placement[0].members[0].pool for each in beside.placements) == ["one", "two", "two"]


def test_engines_are_counted_together() -> None:
    """Each alone would be within the quota; an assignment of engines to pools that is within it is found."""
    wanted = deployment("d", 1, engine("a", member(8)), engine("b", member(8)))
    both = cluster("a", pool("one", h100(), nodes=4), pool("two", h200(), nodes=4))
    made = plan([both], [wanted], quotas={"ml": Quota({"nvidia-h100": 8, "nvidia-h200": 8})})
    assert [each.members[0].pool for each in made.placements[0].placement] == ["one", "two"]
    refused = plan([both], [wanted], quotas={"ml": Quota({"nvidia-h100": 8, "nvidia-h200": 0})})
    assert refused.trace[wanted.key].verdict("a").code is Code.OVER_QUOTA


def test_a_quota_that_is_exceeded_keeps_what_runs_and_is_reported() -> None:
    """A lowered quota is no reason to move; of what it does not limit more is let in."""
    wanted = deployment("d", 3, WHOLE)
    running_now = [live(wanted, "a", 0), live(wanted, "a", 1)]
    made = plan([paid("a")], [wanted], running_now, quotas={"ml": Quota({"nvidia-h100": 8})})
    assert where(made) == ["d@a/0", "d@a/1"]
    assert not made.leaving
    assert [(each.owner, each.message) for each in made.overruns] == [
        ("namespace ml", "takes 16 devices of nvidia-h100, and the quota is 8: it gets nothing more of them")
    ]
    elsewhere = plan([paid("a"), paid("b", h200())], [wanted], running_now, quotas={"ml": Quota({"nvidia-h100": 8})})
    assert where(elsewhere) == ["d@a/0", "d@a/1", "d@b/0"]
    smaller = plan([paid("a")], [replace(wanted, replicas=1)], running_now, quotas={"ml": Quota({"nvidia-h100": 8})})
    assert smaller.overruns == ()


def test_a_namespace_at_its_quota_can_change_an_image() -> None:
    """A successor counts for nothing beyond what the replica takes whose place it takes."""
    old, new = deployment("d", 1, WHOLE), deployment("d", 1, WHOLE, version="v2")
    made = plan([paid("a")], [new], [live(old, "a")], quotas={"ml": Quota({"nvidia-h100": 8}, 1, usd(80))})
    assert [(each.reason, str(each.predecessor)) for each in made.placements] == [(Reason.EDITED, "ml/d/a/0")]
    assert not made.shortfalls


def test_a_namespace_at_its_quota_cannot_grow_by_an_edit() -> None:
    """The old shape stays, and the reason is the quota, not room."""
    old, new = deployment("d", 2, HALF), deployment("d", 2, WHOLE)
    replicas = [live(old, "a", 0), live(old, "a", 1)]
    made = plan([paid("a")], [new], replicas, quotas={"ml": Quota({"nvidia-h100": 8})})
    assert {each.reason for each in made.placements} == {Reason.EDIT_WAITS}
    assert "wanted 4 devices of nvidia-h100; the quota of namespace ml is 8, used 8" in made.shortfalls[0].message


def test_a_successor_counts_on_the_least_that_may_go_for_it() -> None:
    """Of two that are edited one is small; whichever goes first, the quota holds. The large one can change in place."""
    small, large, new = (
        deployment("d", 2, what, version=version) for what, version in ((HALF, "a"), (WHOLE, "b"), (WHOLE, "c"))
    )
    replicas = [live(small, "a", 0), live(large, "a", 1)]
    made = plan([paid("a", nodes=9)], [new], replicas, quotas={"ml": Quota({"nvidia-h100": 12})})
    assert [each.reason for each in made.placements] == [Reason.EDIT_WAITS, Reason.EDITED_IN_PLACE]
    enough = plan([paid("a", nodes=9)], [new], replicas, quotas={"ml": Quota({"nvidia-h100": 20})})
    assert {each.reason for each in enough.placements} == {Reason.EDITED}


def test_clusters_that_something_else_refuses_are_not_counted_as_limited() -> None:
    """With limits of two kinds, each sort of clusters is asked by itself."""
    wanted = deployment("d", 2, WHOLE, max_cost_per_hour=usd(1000))
    tainted = replace(paid("b"), taints=cluster("x", taints=["k=v:NoSchedule"]).taints)
    made = plan([paid("a"), tainted, paid("c")], [wanted], quotas={"ml": Quota({"nvidia-h100": 8})})
    assert "0/3 clusters: 1 tainted, 2 over the quota" in made.shortfalls[0].message


def test_each_cluster_is_counted_for_the_limit_that_refuses_it() -> None:
    """One is too dear, the other has what the quota does not give."""
    wanted = deployment("d", 1, WHOLE, max_cost_per_hour=usd(50))
    made = plan([paid("a"), paid("b", h200(), price=10)], [wanted], quotas={"ml": Quota({"nvidia-h200": 0})})
    assert "1 over the quota" in made.shortfalls[0].message
    assert "1 too dear for the deployment" in made.shortfalls[0].message


def test_a_namespace_at_its_quota_leaves_a_drained_cluster() -> None:
    """What it must leave it does not hold against it."""
    wanted = deployment("d", 1, WHOLE)
    drained = replace(paid("a"), taints=cluster("x", taints=["k=v:NoExecute"]).taints)
    made = plan([drained, paid("b")], [wanted], [live(wanted, "a")], quotas={"ml": Quota(nodes=1)})
    assert where(made) == ["d@b/0"]
    assert [each.reason for each in made.leaving] == [Reason.DRAINED]


def test_what_goes_holds_its_part_until_it_is_gone() -> None:
    """As it holds its room: the next plan gives it to others."""
    gone, wanted = deployment("a", 1, WHOLE), deployment("d", 1, WHOLE)
    replicas: Sequence[ExistingReplica] = [live(gone, "a")]
    quotas = {"ml": Quota(nodes=1)}
    made = plan([paid("a")], [wanted], replicas, quotas=quotas)
    assert where(made) == []
    assert where(plan([paid("a")], [wanted], (), quotas=quotas)) == ["d@a/0"]


def test_network_cards_and_described_devices_are_counted_by_no_quota() -> None:
    """Only what is the accelerator of its class; what may be either of two counts for both."""
    mixed = make_hardware(0, (h100(4), h200(4), nic()))
    assert mixed.accelerators(mixed.demand([(2, frozenset({0})), (8, frozenset({2}))])) == {"nvidia-h100": 2}
    assert mixed.accelerators(mixed.demand([(2, frozenset({0, 1}))])) == {"nvidia-h100": 2, "nvidia-h200": 2}
    alike = make_hardware(0, (h100(4), replace(h100(4), name="other")))
    assert alike.accelerators(alike.demand([(2, frozenset({0, 1})), (1, frozenset({1}))])) == {"nvidia-h100": 3}
    assert mixed.share(mixed.demand([(2, frozenset({0})), (8, frozenset({2}))])) == Fraction(1, 2)


def limited(most: float, clusters: Sequence[Cluster], replicas: Sequence[ExistingReplica] = ()) -> Schedule:
    """Schedule three replicas that may cost so much together."""
    return plan(clusters, [deployment("d", 3, WHOLE, max_cost_per_hour=usd(most))], replicas)


def test_a_deployment_may_limit_what_it_costs() -> None:
    """All its replicas together; cheaper clusters are still taken where dear ones are out of reach."""
    made = limited(170, [paid("a")])
    assert len(made.placements) == 2
    said = "wanted 80 USD per hour; the limit of deployment ml/d is 170, used 160"
    assert f"0/1 clusters: 1 too dear for the deployment ({said})" in made.shortfalls[0].message
    assert where(limited(170, [paid("a"), paid("b", price=10)])) == ["d@a/0", "d@b/0", "d@b/1"]


def test_an_unknown_price_is_never_zero() -> None:
    """A pool without one is refused to a deployment that limits its cost, and so is growth beside one."""
    made = limited(1000, [paid("a", price=None)])
    assert where(made) == []
    verdict = made.trace["ml", "d"].verdict("a")
    assert verdict.code is Code.OVER_COST
    assert where(limited(1000, [paid("a", price=None), paid("b")])) == ["d@b/0", "d@b/1", "d@b/2"]
    held = limited(1000, [paid("a", price=None), paid("b")], [live(deployment("d", 3, WHOLE), "a")])
    assert where(held) == ["d@a/0"]
    assert [each.owner for each in held.overruns] == ["deployment ml/d"]


def dark(name: str, *, nodes: int = 1) -> Cluster:
    """Make a cluster whose pool may grow at a price that nobody knows."""
    return paid(name, nodes=nodes, maximum=4, price=None, scales=True)


GROWS = paid("a", nodes=0, maximum=4, scales=True)
MOST = usd(1000)
LIMITED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("deployment", {"max_cost_per_hour": MOST}, {}),
    ("quota", {}, {"quotas": {"ml": Quota(max_cost_per_hour=MOST)}}),
    ("budget", {}, {"budget": Budget(MOST)}),
]
UNKNOWN: list[tuple[str, list[Cluster], str, str]] = [
    ("where it would be", [dark("a", nodes=0)], "", "price of pool a/gpus"),
    ("where another one is", [GROWS, dark("b")], "b", "price of pool b/gpus"),
    ("three", [GROWS, *map(dark, "bcd")], "bcd", "prices of pools b/gpus, c/gpus, d/gpus"),
    ("more than three", [GROWS, *map(dark, "bcdef")], "bcdef", "prices of pools b/gpus, c/gpus, d/gpus and 2 more"),
]


def test_pools_of_unknown_price_are_named_in_order_of_clusters() -> None:
    """Also where the first has nodes only once what runs there is counted, and the last has idle ones."""
    wanted = deployment("d", 2, WHOLE)
    idle = paid("b", nodes=1, price=None)
    made = plan([dark("a", nodes=0), idle], [wanted], [live(wanted, "a")], budget=Budget(MOST))
    assert [each.message for each in made.overruns] == [
        "nobody can say whether 1000 USD per hour are enough: nobody knows the prices of pools a/gpus, b/gpus"
    ]


@pytest.mark.parametrize(("own", "others"), [row[1:] for row in LIMITED], ids=[row[0] for row in LIMITED])
@pytest.mark.parametrize(("clusters", "on", "named"), [row[1:] for row in UNKNOWN], ids=[row[0] for row in UNKNOWN])
def test_a_refusal_for_want_of_a_price_names_the_pools(
    clusters: list[Cluster], on: str, named: str, own: dict[str, Any], others: dict[str, Any]
) -> None:
    """The verdict of the first cluster does, what would lift it, and what is said of the limit where something runs."""
    wanted = deployment("d", 9, WHOLE, **own)
    made = plan(clusters, [wanted], [live(wanted, name) for name in on], **others)
    trace = made.trace[wanted.key]
    assert trace.verdict("a").message.endswith(f"nobody knows the {named}")
    known = "is known: write its" if named.startswith("price ") else "are known: write their"
    assert trace.beyond.message == f"would fit on a once the {named} {known} `pricePerHour`"
    assert [f"nobody knows the {named}" in each.message for each in made.overruns] == [True] * bool(on)


def test_a_pool_is_named_no_more_when_what_is_on_it_goes() -> None:
    """A limit is judged once all that leaves has gone."""
    wanted, asking = deployment("d", 1, WHOLE), deployment("e", 1, WHOLE, namespace="other")
    clusters, replicas = [dark("b"), dark("c", nodes=0)], [live(wanted, "b"), live(wanted, "c")]
    for _, _, limits in LIMITED[1:]:
        (overrun,) = plan(clusters, [wanted, asking], replicas, **limits).overruns
        assert "nobody knows the price of pool b/gpus" in overrun.message


def test_reserved_nodes_count_for_what_they_cost() -> None:
    """They come first because they are paid for; that is what a limit is about."""
    made = limited(100, [paid("a", purchase=Purchase.RESERVED)])
    assert len(made.placements) == 1


def test_the_remedy_of_a_limit_says_how_far_to_raise_it() -> None:
    """And that is enough."""
    wanted = deployment("d", 2, WHOLE)
    made = plan([paid("a")], [wanted], quotas={"ml": Quota({"nvidia-h100": 8})})
    beyond = made.trace[wanted.key].beyond
    assert (beyond.answer, beyond.cluster) == (Answer.CHANGE, "a")
    assert beyond.message == "would fit on a once the quota of namespace ml is raised to 16 devices of nvidia-h100"
    assert len(plan([paid("a")], [wanted], quotas={"ml": Quota({"nvidia-h100": 16})}).placements) == 2


def elastic(name: str, *, nodes: int = 1, maximum: int = 4, price: float | None = 80, **other: Any) -> Cluster:
    """Make a cluster whose pool brings nodes when it is asked to."""
    return paid(name, nodes=nodes, maximum=maximum, price=price, scales=True, **other)


def budgeted(
    most: float,
    clusters: Sequence[Cluster],
    wanted: Deployment | None = None,
    replicas: Sequence[ExistingReplica] = (),
    *,
    advisory: bool = False,
) -> Schedule:
    """Schedule three replicas, or others, under a budget."""
    fleet = [wanted or deployment("d", 3, WHOLE)]
    return plan(clusters, fleet, replicas, budget=Budget(usd(most), advisory=advisory))


def test_the_budget_ends_where_a_node_more_could_cost_more() -> None:
    """Nodes that are there cost anyway and may be used; a high maximum costs nothing until it is used."""
    made = budgeted(200, [elastic("a", maximum=100)])
    assert len(made.placements) == 2
    said = "could cost 80 USD per hour more; the budget is 200 USD per hour, used 160 USD per hour"
    assert f"0/1 clusters: 1 over the budget ({said})" in made.shortfalls[0].message
    assert made.trace["ml", "d"].beyond.message == "would fit on a once the budget is raised to 240 USD per hour"
    assert made.overruns == ()
    assert len(budgeted(240, [elastic("a", maximum=100)]).placements) == 3


def test_under_a_budget_nodes_that_are_there_are_used_before_others_are_refused() -> None:
    """Whichever cluster would have come first."""
    assert where(budgeted(400, [elastic("a", nodes=0), paid("b", nodes=4)])) == ["d@a/0", "d@b/0", "d@b/1"]
    assert where(budgeted(320, [elastic("a", nodes=0), paid("b", nodes=4)])) == ["d@b/0", "d@b/1", "d@b/2"]


def test_a_budget_counts_a_node_for_each_pod_at_worst() -> None:
    """Nobody knows how the autoscaler packs; when the maximum is reached, more pods bring no more nodes."""
    ones = deployment("d", 20, engine("main", member(1)))
    assert len(budgeted(170, [elastic("a", nodes=1, maximum=9)], ones).placements) == 2
    assert len(budgeted(170, [elastic("a", nodes=1, maximum=2)], ones).placements) == 16


def test_nodes_that_somebody_would_have_to_add_are_held_against_the_budget() -> None:
    """It says what the budget has to be for them; an advisory one ends nothing."""
    two, more = deployment("d", 2, WHOLE), "with pool gpus from 1 to 2 nodes (80 USD per hour)"
    made = budgeted(150, [paid("a", nodes=1)], two)
    raised = "once the budget is raised to 160 USD per hour"
    assert made.trace["ml", "d"].beyond.message == f"would fit on a {more}, {raised}"
    for enough in (budgeted(160, [paid("a", nodes=1)], two), budgeted(150, [paid("a", nodes=1)], two, advisory=True)):
        assert enough.trace["ml", "d"].beyond.message == f"would fit on a {more}"
    tainted = replace(paid("a", nodes=1), taints=cluster("a", taints=["k=v:NoSchedule"]).taints)
    drained = budgeted(150, [tainted], deployment("d", 1, WHOLE, engine("more", member(8))))
    message = drained.trace["ml", "d"].beyond.message
    assert message == f"would fit on a {more}, {raised} and its taints are tolerated or taken away"


def test_a_node_to_be_added_may_bring_others_that_are_declared() -> None:
    """A gang that needs one node more than the pool may have uses all of those that nobody has used."""
    fleet = [deployment("a1", 3, WHOLE), deployment("g", 1, gang())]

    def asked(maximum: int, most: float) -> str:
        made = plan([elastic("a", nodes=0, maximum=maximum, price=10, fabric="x")], fleet, budget=Budget(usd(most)))
        return made.trace["ml", "g"].beyond.message

    more = "would fit on a with pool gpus from 4 to 5 nodes (10 USD per hour)"
    assert asked(4, 40) == f"{more}, once the budget is raised to 50 USD per hour"
    assert asked(4, 50) == more


def test_nodes_of_unknown_price_are_not_offered_under_a_budget_without_a_word() -> None:
    """Whoever added them would be refused for the price."""
    message = budgeted(1000, [elastic("a", nodes=0, maximum=0, price=None)]).trace["ml", "d"].beyond.message
    assert message == (
        "would fit on a with pool gpus from 0 to 1 nodes (price unknown),"
        " once the price of pool a/gpus is known: write its `pricePerHour`"
    )


def test_every_limit_that_ends_is_named() -> None:
    """The deployment's own and the quota of its namespace, and both of a quota's kinds."""
    wanted = deployment("d", 2, WHOLE, max_cost_per_hour=usd(80))
    made = plan([paid("a")], [wanted], quotas={"ml": Quota({"nvidia-h100": 8})})
    assert made.trace[wanted.key].beyond.message == (
        "would fit on a once the limit of deployment ml/d is raised to 160 USD per hour"
        " and the quota of namespace ml is raised to 16 devices of nvidia-h100"
    )
    both = plan([paid("a")], [deployment("d", 2, WHOLE)], quotas={"ml": Quota({"nvidia-h100": 8}, 1)})
    message = both.trace["ml", "d"].beyond.message
    assert "is raised to 16 devices of nvidia-h100 and " in message
    assert "2 nodes" in message


def test_what_a_change_in_place_frees_of_the_budget_is_there_in_the_same_plan() -> None:
    """For one to which the budget had ended before."""
    old, new = deployment("d", 2, WHOLE, engine("more", member(8))), deployment("d", 2, WHOLE)
    fleet, replicas = [new, deployment("z", 1, WHOLE)], [live(old, "a", 0), live(old, "a", 1)]
    made = plan([elastic("a", nodes=0, maximum=9)], fleet, replicas, budget=Budget(usd(320)))
    assert [str(each.id) for each in made.placements] == ["ml/d/a/0", "ml/d/a/1", "ml/z/a/0"]
    assert sorted(each.reason for each in made.placements) == [Reason.EDIT_WAITS, Reason.EDITED_IN_PLACE, Reason.PLACED]


def test_a_budget_that_does_not_hold_is_reported_and_takes_nothing_away() -> None:
    """What runs stays, and nodes that are paid for are still used."""
    wanted = deployment("d", 3, WHOLE)
    made = budgeted(100, [elastic("a", nodes=2)], wanted, [live(wanted, "a")])
    assert where(made) == ["d@a/0", "d@a/1"]
    assert [(each.owner, each.message) for each in made.overruns] == [
        ("the budget", "the nodes may cost 160 USD per hour, which is more than 100 USD per hour")
    ]


def test_a_budget_with_an_unknown_price_is_a_refusal_that_says_so() -> None:
    """On the pool itself, and everywhere that could bring a node; nodes that are there with a price are used."""
    made = budgeted(1000, [elastic("a", price=None)])
    assert where(made) == []
    assert made.trace["ml", "d"].verdict("a").code is Code.OVER_BUDGET
    assert "the budget may not hold: nobody knows the price of pool a/gpus" in made.shortfalls[0].message
    assert "nobody can say whether 1000 USD per hour are enough" in made.overruns[0].message
    assert where(budgeted(1000, [elastic("a", price=None), elastic("b", nodes=1)])) == ["d@b/0"]
    assert len(budgeted(1000, [elastic("a", nodes=0, price=None), elastic("b")]).placements) == 3


def test_an_advisory_budget_refuses_nothing_and_says_how_far_it_is_exceeded() -> None:
    """As the field promises."""
    made = budgeted(100, [elastic("a")], advisory=True)
    assert len(made.placements) == 3
    assert made.overruns[0].message == "the nodes may cost 240 USD per hour, which is more than 100 USD per hour"


def test_what_goes_away_is_on_no_bill_that_is_to_come() -> None:
    """A lost cluster, one that is removed, and a pool that leaves."""
    going = [elastic("a", nodes=4), elastic("b", nodes=4)]
    states = [replace(each, state=state) for each, state in zip(going, ["lost", "going away"], strict=True)]
    leaving = cluster("c", replace(pool("gpus", h100(), nodes=4, price=usd(80)), leaving="it goes"))
    made = budgeted(
        240, [*(cluster(each.name, *each.pools, state=each.state) for each in states), leaving, elastic("d")]
    )
    assert where(made) == ["d@d/0", "d@d/1", "d@d/2"]


@pytest.mark.parametrize(
    ("one", "pods", "nodes"),
    [
        (Pool("p", "c", (), 2, 5, scales=True), 0, 2),
        (Pool("p", "c", (), 2, 5, scales=True), 4, 4),
        (Pool("p", "c", (), 2, 5, scales=True), 9, 5),
        (Pool("p", "c", (), 2, 5, scales=False), 9, 2),
        (Pool("p", "c", (), 2, 5, scales=True, observed=PoolObservation(1, 2)), 2, 4),
    ],
    ids=["idle", "a node for each", "the maximum", "nothing scales", "broken nodes cost too"],
)
def test_nodes_that_may_run(one: Pool, pods: int, nodes: int) -> None:
    """At worst."""
    assert running(one, pods) == nodes


def test_limits_hold_again_once_a_move_has_ended() -> None:
    """Planning again with old and new there lets nobody else in; with the old ones gone it comes to rest."""
    old, new = deployment("d", 2, WHOLE), deployment("d", 2, WHOLE, version="v2")
    other, quotas = deployment("e", 1, WHOLE), {"ml": Quota({"nvidia-h100": 16})}
    replicas = [live(old, "a", 0), live(old, "a", 1)]
    made = plan([paid("a", nodes=9)], [new, other], replicas, quotas=quotas)
    assert len(made.placements) == 2
    again = plan([paid("a", nodes=9)], [new, other], after(made, replicas), quotas=quotas)
    assert where(again) == where(made)


def test_a_deployment_that_wants_more_than_its_quota_moves_and_is_not_given_more_in_between() -> None:
    """Two are wanted and one is allowed: its successor is not taken for the other one while both are there."""
    wanted = deployment("d", 2, WHOLE)
    clusters = [replace(paid("a"), taints=cluster("x", taints=["k=v:NoExecute"]).taints), paid("b")]
    replicas, quotas = [live(wanted, "a")], {"ml": Quota(nodes=1)}
    made = plan(clusters, [wanted], replicas, quotas=quotas)
    assert (where(made), [str(each.id) for each in made.leaving]) == (["d@b/0"], ["ml/d/a/0"])
    built = after(made, replicas)
    again = plan(clusters, [wanted], built, quotas=quotas)
    assert (where(again), [str(each.id) for each in again.leaving]) == (["d@b/0"], ["ml/d/a/0"])
    shifted = [live(wanted, "b"), live(wanted, "a", phase=Phase.DRAINING)]
    assert where(plan(clusters, [wanted], shifted, quotas=quotas)) == ["d@b/0"]


def test_a_smaller_successor_makes_room_for_others_only_when_the_old_one_has_gone() -> None:
    """As it does on a pool."""
    old, new, other = deployment("d", 1, WHOLE), deployment("d", 1, HALF), deployment("e", 1, HALF)
    replicas, quotas = [live(old, "a")], {"ml": Quota({"nvidia-h100": 8})}
    made = plan([paid("a")], [new, other], replicas, quotas=quotas)
    built = after(made, replicas)
    assert where(made) == where(plan([paid("a")], [new, other], built, quotas=quotas)) == ["d@a/1"]
    assert where(plan([paid("a")], [new, other], built[:1], quotas=quotas)) == ["d@a/1", "e@a/0"]


@pytest.mark.parametrize("quotas", [{}, {"ml": Quota(nodes=9)}], ids=["none", "a quota with room"])
def test_one_more_that_starts_is_no_successor(quotas: dict[str, Quota]) -> None:
    """The old one serves on, as there is no room for a successor of its own; a quota that holds changes nothing."""
    old, new = deployment("d", 2, WHOLE), deployment("d", 2, WHOLE, version="v2")
    replicas = [live(old, "a", 0), live(new, "a", 1, phase=Phase.STARTING, ready=False)]
    made = plan([paid("a", nodes=2)], [new], replicas, quotas=quotas)
    assert [each.reason for each in made.placements] == [Reason.EDIT_WAITS, Reason.KEPT]
    assert not made.leaving


def test_one_that_changed_in_place_may_be_the_successor() -> None:
    """It never served; the one that does goes for it, both count as one, and a third is let in beside them."""
    first, old, new = (deployment("d", 1, WHOLE, version=version) for version in "abc")
    replicas = [live(old, "a", 0), live(first, "a", 1, phase=Phase.STARTING, ready=False)]
    made = plan([paid("a")], [new, deployment("e", 2, WHOLE)], replicas, quotas={"ml": Quota(nodes=2)})
    assert [str(each.id) for each in made.placements] == ["ml/d/a/1", "ml/e/a/0"]
    assert made.placements[0].reason is Reason.EDITED_UNSERVED
    assert [(str(each.id), str(each.successor)) for each in made.leaving] == [("ml/d/a/0", "ml/d/a/1")]


def test_a_move_that_was_cut_short_goes_on() -> None:
    """One of two successors was built: the other one is placed all the same."""
    old, new = deployment("d", 2, WHOLE), deployment("d", 2, WHOLE, version="v2")
    replicas, quotas = [live(old, "a", 0), live(old, "a", 1)], {"ml": Quota(nodes=2)}
    made = plan([paid("a", nodes=9)], [new], replicas, quotas=quotas)
    built = [each for each in after(made, replicas) if each.id.index != 3]
    assert where(made) == where(plan([paid("a", nodes=9)], [new], built, quotas=quotas)) == ["d@a/2", "d@a/3"]
