"""What a manifest says about scheduling changes where replicas are: one field, one difference."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from automation.scheduling.existing import Existing
from automation.scheduling.reason import Reason
from automation.scheduling.result import Schedule
from components.api.fleet import Fleet
from tests.unit.planning.world import H100, World, cluster, deployment, fleet, with_field

Document = dict[str, Any]


def pool(name: str, nodes: int = 1, **other: object) -> Document:
    """Return a pool of eight-GPU nodes."""
    return {"name": name, "className": "h100", "nodeCount": nodes} | other


def pools(name: str, *node_pools: Document, region: str = "") -> Document:
    """Return an existing cluster with these pools."""
    made = with_field(cluster(name), "spec.nodePools", list(node_pools))
    return with_field(made, "spec.cluster.existing.region", region) if region else made


@dataclass(frozen=True)
class Case:
    """A fleet, a field of one of its documents (of the environment without one), and where replicas are for it.

    Places are ``cluster/pool`` with the number of replicas.
    """

    path: str
    value: object
    reason: str
    documents: tuple[Mapping[str, Any], ...]
    without: dict[str, int]
    given: dict[str, int]
    document: int | None = None
    environment: dict[str, Any] = field(default_factory=dict)

    def fleet(self, *, given: bool) -> Fleet:
        """Return the fleet, with the field or without it."""
        documents = [dict(each) for each in self.documents]
        environment: Document = {"spec": dict(self.environment)}
        if given and self.document is None:
            environment = with_field(environment, self.path, self.value)
        elif given and self.document is not None:
            documents[self.document] = with_field(documents[self.document], self.path, self.value)
        return fleet(*documents, **environment["spec"])

    def __str__(self) -> str:
        return f"{self.path}={self.value} {self.reason}"


def places(made: Schedule) -> dict[str, int]:
    """Count replicas by cluster and pool."""
    return dict(Counter(f"{each.id.cluster}/{each.placement[0].members[0].pool}" for each in made.placements))


def gang(name: str) -> Document:
    """Return a deployment of a gang over two whole nodes."""
    made: Document = deployment(name)
    (one,) = made["spec"]["template"]["spec"]["engines"][0]["members"]
    follower = {**one, "role": "Worker", "worker": {"nodes": 1}}
    return with_field(made, "spec.template.spec.engines.0.members", [{**one, "role": "Leader"}, follower])


def scaling(name: str) -> Document:
    """Return a cluster of which every node has to be brought, at 3 USD per hour."""
    nodes = pool("gpus", 0, maxNodeCount=2, pricePerHour=3, zones=["us-east-1a"], className="p5")
    source = {"source": "EKS", "eks": {"region": "us-east-1"}}
    return with_field(cluster(name, nodePools=[nodes]), "spec.cluster", source)


P5 = with_field(
    with_field(H100, "metadata.name", "p5"),
    "spec.provisioning",
    {"provider": "EKS", "eks": {"instanceType": "p5.48xlarge", "accelerator": {"type": "nvidia-h100", "count": 8}}},
)
TWO = (pools("a", pool("gpus", 2)), pools("b", pool("gpus", 2)))
PRICED = (pools("a", pool("gpus", 2, pricePerHour=3)), pools("b", pool("gpus", 2, pricePerHour=3)))
SCALING = (P5, scaling("a"), scaling("b"))
ONE, BOTH = {"a/gpus": 1}, {"a/gpus": 1, "b/gpus": 1}

CASES = [
    Case(
        "spec.scheduling.strategy",
        "Pack",
        "own replicas stay together",
        (*TWO, deployment("d", 2)),
        {"a/gpus": 1, "b/gpus": 1},
        {"a/gpus": 2},
    ),
    Case(
        "spec.scheduling.strategy",
        "Cost",
        "the cheapest is filled first",
        (pools("a", pool("gpus", 2, pricePerHour=9)), pools("b", pool("gpus", 2, pricePerHour=3)), deployment("d", 2)),
        {"a/gpus": 1, "b/gpus": 1},
        {"b/gpus": 2},
    ),
    Case(
        "spec.scheduling.fabric",
        "None",
        "gangs whose deployments say nothing do without a fast network",
        (pools("a", pool("plain", 2)), gang("d")),
        {},
        {"a/plain": 1},
    ),
    Case(
        "spec.nodePools.1.capacityType",
        "Reserved",
        "what is reserved is paid for, so it comes first",
        (pools("a", pool("usual", pricePerHour=3), pool("other", pricePerHour=9)), deployment("d")),
        {"a/usual": 1},
        {"a/other": 1},
        document=0,
    ),
    Case(
        "spec.nodePools.0.capacityType",
        "Spot",
        "who does not allow spot nodes is not put on them",
        (pools("a", pool("usual"), pool("other")), deployment("d")),
        {"a/usual": 1},
        {"a/other": 1},
        document=0,
    ),
    Case(
        "spec.spot",
        True,
        "who allows spot nodes may be put on them",
        (pools("a", pool("spot", capacityType="Spot")), deployment("d")),
        {},
        {"a/spot": 1},
        document=1,
    ),
    Case(
        "spec.template.spec.fabric",
        "EFA",
        "the nodes of the gang share what it needs",
        (pools("a", pool("other", 2, fabricId="rack"), pool("efa", 2, fabric={"type": "EFA"})), gang("d")),
        {"a/other": 1},
        {"a/efa": 1},
        document=1,
    ),
    Case(
        "spec.template.spec.fabric",
        "None",
        "a gang that needs no fast network spans any two pools",
        (pools("a", pool("one"), pool("two")), gang("d")),
        {},
        {"a/one": 1},
        document=1,
    ),
    Case(
        "spec.nodePools.1.fabricId",
        "rail",
        "pools that share a network carry one gang",
        (pools("a", pool("one", fabricId="rail"), pool("two")), gang("d")),
        {},
        {"a/one": 1},
        document=0,
    ),
    Case(
        "spec.strategy", "Pack", "for one deployment alone", (*TWO, deployment("d", 2)), BOTH, {"a/gpus": 2}, document=2
    ),
    Case("spec.quotas", {"ml": {"devices": {"h100": 8}}}, "eight devices", (*TWO, deployment("d", 2)), BOTH, ONE),
    Case("spec.quotas", {"ml": {"nodes": 1}}, "one node", (*TWO, deployment("d", 2)), BOTH, ONE),
    Case("spec.quotas", {"ml": {"maxCostPerHour": 5}}, "one of 3 USD", (*PRICED, deployment("d", 2)), BOTH, ONE),
    Case("spec.quotas", {"other": {"nodes": 0}}, "another namespace's", (*TWO, deployment("d", 2)), BOTH, BOTH),
    Case("spec.budget", {"maxCostPerHour": 5}, "one node of 3 USD", (*SCALING, deployment("d", 2)), BOTH, ONE),
    Case("spec.budget", {"maxCostPerHour": 5}, "an unknown price is not zero", (*TWO, deployment("d", 2)), BOTH, {}),
    Case(
        "spec.budget",
        {"maxCostPerHour": 5, "enforcement": "Advisory"},
        "it only says so",
        (*SCALING, deployment("d", 2)),
        BOTH,
        BOTH,
    ),
    Case("spec.maxCostPerHour", 5, "one of 3 USD", (*PRICED, deployment("d", 2)), BOTH, ONE, document=2),
    Case(
        "spec.nodePools.1.pricePerHour",
        2,
        "the cheaper pool is taken",
        (pools("a", pool("first", pricePerHour=9), pool("second", pricePerHour=10)), deployment("d")),
        {"a/first": 1},
        {"a/second": 1},
        document=0,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_field_changes_the_placement(case: Case) -> None:
    """As it is documented, and only by being written."""
    assert places(World(case.fleet(given=False)).schedule()) == case.without
    assert places(World(case.fleet(given=True)).schedule()) == case.given, case.reason


@pytest.mark.parametrize(("dwell", "moves"), [(None, False), ("0s", True), ("30m", False)])
def test_replicas_leave_a_cluster_that_is_not_ready_for_longer_than_the_dwell_time(
    dwell: str | None, moves: bool
) -> None:
    """Nobody knows yet since when it has not been ready: this moment counts, so that only ``0s`` has passed."""
    world = World(fleet(*TWO, deployment("d"), **({"scheduling": {"repinDwell": dwell}} if dwell else {})))
    world.up()
    assert places(world.schedule()) == {"a/gpus": 1}
    world.existing = failed(world.existing, "a")
    assert places(world.schedule()) == ({"b/gpus": 1} if moves else {"a/gpus": 1})


def failed(existing: Existing, name: str) -> Existing:
    """Return what exists, with a cluster that failed."""
    sick = replace(existing.clusters[name], ready=False, failure="its nodes do not join")
    return replace(existing, clusters={**existing.clusters, name: sick})


@pytest.mark.parametrize("allowed", [True, False])
def test_a_lower_priority_makes_room_where_the_environment_allows_it(*, allowed: bool) -> None:
    """The room is full; without the permission what runs stays."""
    low = deployment("low")
    high = with_field(deployment("high"), "spec.priority", 5)
    scheduling = {"scheduling": {"preemption": True}} if allowed else {}
    world = World(fleet(pools("a", pool("gpus", 1)), low, **scheduling))
    world.up()
    world.fleet = fleet(pools("a", pool("gpus", 1)), low, high, **scheduling)
    made = world.schedule()
    assert [each.reason for each in made.leaving] == ([Reason.PREEMPTED] if allowed else [])


@pytest.mark.parametrize(
    ("environment", "own", "edited"),
    [
        ({}, None, 4),
        ({"maxSurge": 3}, None, 3),
        ({"maxSurgePerCluster": 1}, None, 2),
        ({}, {"maxSurge": 1}, 2),
    ],
    ids=["no limit", "of the fleet", "of a cluster", "of a deployment"],
)
def test_no_more_replicas_are_replaced_at_once_than_a_limit_says(
    environment: Document, own: Document | None, edited: int
) -> None:
    """Two deployments of two are edited; the next runs go on with the rest, until nothing is left of the old."""

    def manifests(image: str) -> Fleet:
        wanted = [deployment(name, 2, image=image) for name in ("d", "e")]
        wanted = [with_field(each, "spec.surge", own) if own else each for each in wanted]
        clusters = [pools(name, pool("gpus", 4)) for name in "ab"]
        return fleet(*clusters, *wanted, **({"scheduling": {"surge": environment}} if environment else {}))

    world = World(manifests("vllm:1"))
    world.up()
    world.fleet = manifests("vllm:2")
    assert [each.reason for each in world.schedule().leaving] == [Reason.EDITED] * edited
    runs = 0
    while world.up():
        runs += 1
    assert runs == -(-4 // edited)
    assert not world.schedule().shortfalls
    assert len(world.existing.replicas) == 4
