"""Building the snapshot: what each source of facts says, and what follows from it."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from automation.scheduling.build import build_snapshot
from automation.scheduling.changes import NO_CHANGES, Change, PlatformChanges
from automation.scheduling.existing import Existing, ExistingCluster
from automation.scheduling.journal import Journal
from automation.scheduling.observation import ClusterObservation, Observation, PoolObservation
from automation.scheduling.snapshot import (
    Accounting,
    Cluster,
    ClusterState,
    PoolBefore,
    Refusal,
    Snapshot,
    Strategy,
    Version,
    Versions,
)
from components.api.fleet import Fleet
from components.api.inference_cluster import Fabric
from components.lock import shape_digest
from components.lock_model import HeldPool
from tests.unit.planning.world import H100, World, cache, cluster, deployment, document, fleet
from tests.unit.scheduling.builder import deployment as wanted
from tests.unit.scheduling.builder import live

NOW = datetime(2026, 1, 1, tzinfo=UTC)
READY = ExistingCluster("a", gateway_address="a.example.com")


def build(loaded: Fleet, existing: Existing | None = None, **other: Any) -> Snapshot:
    """Build a snapshot, by default of a fleet of which nothing exists."""
    options: dict[str, Any] = {"changes": NO_CHANGES, "observation": None, "now": NOW}
    return build_snapshot(loaded, existing or Existing(), **(options | other))


@dataclass(frozen=True)
class Case:
    """What is known of cluster ``a``, and the state it is given."""

    name: str
    state: ClusterState
    why: str
    manifest: dict[str, Any]
    existing: ExistingCluster | None = READY
    change: Change = Change.NONE
    reachable: bool = True


CASES = [
    Case("ready", ClusterState.READY, "", cluster("a")),
    Case("not there yet", ClusterState.PLANNED, "this plan creates it", cluster("a"), existing=None),
    Case(
        "half made",
        ClusterState.PLANNED,
        "was interrupted",
        cluster("a"),
        existing=replace(READY, ready=False, gateway_address=None),
    ),
    Case(
        "without an address yet", ClusterState.PLANNED, "was interrupted", cluster("a"), existing=ExistingCluster("a")
    ),
    Case(
        "failed", ClusterState.NOT_READY, "quota", cluster("a"), existing=replace(READY, ready=False, failure="quota")
    ),
    Case("silent", ClusterState.NOT_READY, "did not answer at 2026-01-01 00:00 UTC", cluster("a"), reachable=False),
    Case("on its way out", ClusterState.GOING_AWAY, "being removed", cluster("a", removing=True)),
    Case("lost", ClusterState.LOST, "marked as lost", cluster("a", lost=True)),
    Case("would be replaced", ClusterState.GOING_AWAY, "would replace it", cluster("a"), change=Change.REPLACE),
    Case("would be deleted", ClusterState.GOING_AWAY, "would delete it", cluster("a"), change=Change.DELETE),
    Case("protected", ClusterState.GOING_AWAY, "its protection forbids", cluster("a"), change=Change.REPLACE_REFUSED),
    Case("changed in place", ClusterState.READY, "", cluster("a"), change=Change.UPDATE),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_cluster_is(case: Case) -> None:
    """The worst that is known decides, and is said in words."""
    existing = Existing(clusters={"a": case.existing} if case.existing else {})
    seen = Observation({"a": ClusterObservation(NOW, reachable=case.reachable)})
    changes = PlatformChanges(clusters={"a": case.change})
    (one,) = build(fleet(case.manifest), existing, changes=changes, observation=seen).clusters
    assert one.state is case.state
    assert case.why in one.why


def test_a_cluster_without_a_manifest_is_going_away() -> None:
    """It has no pools to place on, and what is on it has to move."""
    (one,) = build(fleet(), Existing(clusters={"a": READY})).clusters
    assert (one.name, one.state, one.pools) == ("a", ClusterState.GOING_AWAY, ())


def test_a_cluster_that_only_its_replicas_remember_is_lost() -> None:
    """A saved snapshot has every cluster that something is on, so that it can be read again."""
    replica = live(wanted("d"), "gone")
    (one,) = build(fleet(), Existing(replicas={replica.id: replica})).clusters
    assert (one.name, one.state, one.why) == ("gone", ClusterState.LOST, "neither a manifest nor the state knows it")


def test_a_front_door_without_pools_needs_no_address_of_its_own() -> None:
    """It serves no models."""
    door = document(
        "InferenceCluster", "a", {"cluster": {"source": "Existing", "existing": {"secretRef": {"name": "k"}}}}
    )
    (one,) = build(fleet(door, doors=["a"]), Existing(clusters={"a": ExistingCluster("a")})).clusters
    assert one.state is ClusterState.READY


def eks(**pool: Any) -> dict[str, Any]:
    """Return an EKS cluster with one pool."""
    body = {
        "cluster": {"source": "EKS", "eks": {"region": "us-east-1"}},
        "nodePools": [{"name": "gpus", "className": "p5", "zones": ["us-east-1a"], **pool}],
    }
    return document("InferenceCluster", "a", body, labels={"tier": "gold"})


DEVICES: Any = H100["spec"]
P5_PROVISIONING = {
    "provider": "EKS",
    "eks": {"instanceType": "p5.48xlarge", "accelerator": {"type": "nvidia-h100", "count": 8}},
}
P5 = {
    **H100,
    "metadata": {"name": "p5"},
    "spec": {
        **DEVICES,
        "provisioning": P5_PROVISIONING,
    },
}


def only_pool(manifest: dict[str, Any], **other: Any) -> Any:
    """Return the only pool of the only cluster."""
    (one,) = build(fleet(manifest, P5), **other).clusters
    return one.pools[0]


def test_a_provisioned_pool_reaches_its_maximum_an_existing_one_does_not() -> None:
    """Berth installs the autoscaler where it makes the cluster; elsewhere nobody says that there is one."""
    within = only_pool(eks(nodeCount=5, maxNodeCount=4))
    assert (within.realised, within.maximum) == (4, 4)
    pool = only_pool(eks(nodeCount=2, maxNodeCount=4))
    assert (pool.present, pool.nodes, pool.scales) == (2, 4, True)
    pools = [{"name": "gpus", "className": "h100", "nodeCount": 2, "maxNodeCount": 4}]
    pool = only_pool(cluster("a", nodePools=pools))
    assert (pool.present, pool.nodes, pool.maximum, pool.scales) == (2, 2, 4, False)


def test_quotas_count_what_the_first_claimed_driver_has_under_the_name_of_its_accelerator() -> None:
    """Network cards are counted by none; hardware that no cloud makes goes by its class."""
    cards = {"name": "nic", "driver": "dra.net", "deviceClassName": "efa.aws", "count": 32}
    spec: Any = {**DEVICES, "devices": [*DEVICES["devices"], cards], "provisioning": P5_PROVISIONING}
    (one,) = build(fleet(eks(), {**P5, "spec": spec})).clusters
    assert [each.accelerator for each in one.pools[0].devices] == ["nvidia-h100", ""]
    (one,) = build(fleet(cluster("a"))).clusters
    assert [each.accelerator for each in one.pools[0].devices] == ["h100"]


def test_without_a_maximum_a_pool_keeps_its_count() -> None:
    """Nothing grows what the scheduler does not count."""
    pool = only_pool(eks(nodeCount=3))
    assert (pool.nodes, pool.maximum, pool.scales) == (3, 3, False)


def test_an_observation_reaches_its_pool() -> None:
    """With the time at which it was made on the cluster."""
    seen = Observation({"a": ClusterObservation(NOW, pools={"gpus": PoolObservation(1, 1)})})
    (one,) = build(fleet(eks(nodeCount=2, maxNodeCount=4), P5), observation=seen).clusters
    assert (one.seen, one.pools[0].present, one.pools[0].nodes) == (NOW, 1, 3)


def test_an_observation_that_is_too_old_is_no_reason_to_leave_a_cluster_out() -> None:
    """It did not answer then, and may now; what was seen of its pools stays in the snapshot, with its time."""
    hour_ago = NOW - timedelta(hours=1)
    seen = Observation({"a": ClusterObservation(hour_ago, reachable=False, pools={"gpus": PoolObservation(1)})})
    for age, state in (("2h", ClusterState.NOT_READY), ("30m", ClusterState.READY)):
        made = build(
            fleet(cluster("a"), observation={"maxAge": age}), Existing(clusters={"a": READY}), observation=seen
        )
        assert made.clusters[0].state is state
        assert (made.clusters[0].seen, made.clusters[0].pools[0].nodes) == (hour_ago, 1)
        assert made.counted[0].pools[0].nodes == (1 if age == "2h" else 2)


def test_the_journal_says_since_when() -> None:
    """A cluster that is ready has not been not ready, and without a fact it is not ready since now."""
    long_ago, later = NOW - timedelta(days=1), NOW + timedelta(hours=1)
    refusal = Refusal(later, "no capacity")
    journal = Journal({"a": long_ago, "b": long_ago}, {("a", "gpus"): refusal})
    manifests = [cluster(name) for name in "abc"]
    failed = replace(READY, ready=False, failure="quota")
    existing = Existing(clusters={"a": failed, "b": READY, "c": failed})
    a, b, c = build(fleet(*manifests), existing, journal=journal).clusters
    assert [each.not_ready_since for each in (a, b, c)] == [long_ago, None, NOW]
    assert [each.pools[0].refused for each in (a, b, c)] == [refusal, None, None]


def test_versions_are_those_that_were_seen_else_those_that_are_written() -> None:
    """Each with the time at which it was seen; nobody writes the version of a driver."""
    written = cluster("a")
    body: Any = written["spec"]
    body["cluster"]["existing"] |= {"kubernetesVersion": "1.35", "zone": "eu-west-1a"}
    (one,) = build(fleet(written)).clusters
    assert (one.zone, one.versions) == ("eu-west-1a", Versions(Version("1.35"), Version("1.35")))
    seen = Observation({"a": ClusterObservation(NOW, kubelet="v1.34.2", driver="580.1")})
    (one,) = build(fleet(written), observation=seen).clusters
    assert one.versions == Versions(Version("1.35"), Version("v1.34.2", NOW), Version("580.1", NOW))


def test_a_pool_that_would_be_replaced_leaves() -> None:
    """The cluster stays."""
    changes = PlatformChanges(pools={("a", "gpus"): Change.REPLACE})
    (one,) = build(fleet(eks(), P5), Existing(clusters={"a": READY}), changes=changes).clusters
    assert one.state is ClusterState.READY
    assert one.pools[0].leaving == "this change would replace it"


def test_a_named_fabric_a_price_and_a_priority_reach_the_scheduler() -> None:
    """As they are written; without them there is no price, and every deployment is as important as another."""
    pool = {"name": "gpus", "className": "h100", "fabricId": "rail-1", "pricePerHour": 0.1}
    first: Any = deployment("first")
    first["spec"]["priority"] = 5
    snapshot = build(fleet(cluster("a"), cluster("b", nodePools=[pool]), first, deployment("second")))
    a, b = (each.pools[0] for each in snapshot.clusters)
    assert (a.fabric, a.price) == ("", None)
    assert (b.fabric, b.price) == ("fabric rail-1", Decimal("0.1"))
    assert {each.name: each.priority for each in snapshot.deployments} == {"first": 5, "second": 0}


@pytest.mark.parametrize(
    ("fabric", "zones", "identity"),
    [
        (None, ["us-east-1a"], ""),
        ({"type": "EFA"}, ["us-east-1a"], "EFA us-east-1a"),
        ({"type": "EFA"}, ["us-east-1a", "us-east-1b"], "EFA of gpus"),
    ],
    ids=["none", "one zone", "two zones"],
)
def test_a_fabric_is_shared_within_a_zone(fabric: dict[str, str] | None, zones: list[str], identity: str) -> None:
    """A pool over several zones shares it with nobody."""
    assert only_pool(eks(zones=zones, **({"fabric": fabric} if fabric else {}))).fabric == identity


@pytest.mark.parametrize(
    ("fabric", "identity"),
    [
        ({"type": "InfiniBand", "infiniband": {"fabric": "fabric-2"}}, "InfiniBand fabric-2"),
        ({"type": "InfiniBand"}, "InfiniBand of gpus"),
    ],
    ids=["named", "unnamed"],
)
def test_infiniband_is_shared_under_its_name(fabric: dict[str, Any], identity: str) -> None:
    """Without one it is the pool's own."""
    loaded = fleet(cluster("a"))
    pool = loaded.clusters["a"].spec.node_pools[0].model_copy(update={"fabric": Fabric.model_validate(fabric)})
    spec = loaded.clusters["a"].spec.model_copy(update={"node_pools": (pool,)})
    changed = loaded.clusters["a"].model_copy(update={"spec": spec})
    (one,) = build(replace(loaded, clusters={"a": changed})).clusters
    assert one.pools[0].fabric == identity


def test_facts_of_a_cluster_come_from_its_manifest() -> None:
    """Region, labels, taints, shared storage by source, devices by class."""
    (one,) = build(fleet(eks(), P5)).clusters
    assert (one.source, one.region, dict(one.labels)) == ("EKS", "us-east-1", {"tier": "gold"})
    assert one.storage_class == "modelplane-rwx-efs"
    (device,) = one.pools[0].devices
    assert (device.name, device.count, device.device_class, device.capacity) == (
        "gpu",
        8,
        "gpu.nvidia.com",
        (("memory", "80Gi"),),
    )


@pytest.mark.parametrize(("storage", "name"), [(True, "shared"), (False, None)])
def test_an_existing_cluster_names_its_own_shared_storage(name: str | None, *, storage: bool) -> None:
    """Without it no cache can be staged there."""
    one: Cluster = build(fleet(cluster("a", storage=storage, taints=["k=v:NoExecute"]))).clusters[0]
    assert one.storage_class == name
    assert [str(taint) for taint in one.taints] == ["k=v:NoExecute"]


def test_facts_of_a_deployment_come_from_its_manifest() -> None:
    """Shape and digest, labels, tolerations, both selectors, and whether a gap is allowed."""
    wanted = deployment("d", 3, cache="w", tolerations=[{"key": "k", "operator": "Exists"}], gap=True)
    spec = wanted["spec"]
    assert isinstance(spec, dict)
    spec["template"]["spec"]["clusterSelector"] = {"matchLabels": {"tier": "gold"}}
    manifests = (cluster("a", storage=True, labels={"tier": "gold", "x": "y"}), cache("w", selector={"x": "y"}), wanted)
    (one,) = build(fleet(*manifests)).deployments
    assert (one.key, one.replicas, one.allow_gap) == (("ml", "d"), 3, True)
    assert one.digest == shape_digest(one.shape)
    assert (dict(one.labels), dict(one.selector or {})) == ({"app": "d"}, {"tier": "gold"})
    assert [(each.key, each.operator) for each in one.tolerations] == [("k", "Exists")]
    assert one.cache is not None
    assert one.shape.cache is not None
    assert (one.cache.name, one.cache.shape, dict(one.cache.selector or {})) == ("w", one.shape.cache.shape, {"x": "y"})


def test_a_held_deployment_is_not_wanted_by_its_manifest() -> None:
    """It is only named, so that its replicas stay."""
    made = build(fleet(cluster("a"), deployment("d"), deployment("e")), held=frozenset({("ml", "d")}))
    assert [each.key for each in made.deployments] == [("ml", "e")]
    assert made.held == {("ml", "d")}


def test_a_deployment_whose_cache_is_gone_is_held() -> None:
    """Loading refuses it; should it come this far, nothing moves."""
    loaded = fleet(cluster("a", storage=True), cache("w"), deployment("d", cache="w"))
    made = build(replace(loaded, caches={}))
    assert made.deployments == ()
    assert made.held == {("ml", "d")}


@pytest.mark.parametrize(
    ("spec", "strategy", "accounting"),
    [
        ({}, Strategy.SPREAD, Accounting.DEVICE),
        ({"strategy": "Compatible"}, Strategy.COMPATIBLE, Accounting.NODE),
        ({"accounting": "BestFit"}, Strategy.SPREAD, Accounting.BEST_FIT),
    ],
    ids=["default", "compatible", "best fit"],
)
def test_options_are_the_environments(spec: dict[str, str], strategy: Strategy, accounting: Accounting) -> None:
    """The predecessor's choices come with its accounting."""
    made = build(fleet(cluster("a"), scheduling=spec))
    assert (made.options.strategy, made.options.accounting) == (strategy, accounting)


def test_what_exists_is_in_the_snapshot_sorted() -> None:
    """Replicas and caches, whatever order the state gave them in."""
    world = World(
        fleet(cluster("a", storage=True), cluster("b", storage=True), cache("w"), deployment("d", 2, cache="w"))
    )
    world.up()
    existing = world.existing
    backwards = replace(
        existing,
        replicas={key: existing.replicas[key] for key in sorted(existing.replicas, reverse=True)},
        caches={key: existing.caches[key] for key in sorted(existing.caches, reverse=True)},
    )
    made = build(world.fleet, backwards)
    assert made == build(world.fleet, existing)
    assert [str(each.id) for each in made.caches] == ["ml/w/a/0", "ml/w/b/0"]


@pytest.mark.parametrize(
    ("nodes", "devices", "before"),
    [
        (2, 8, None),
        (1, 8, None),
        (3, 8, PoolBefore(3, "old")),
        (2, 4, PoolBefore(2, "old")),
        (1, 4, PoolBefore(1, "old")),
    ],
    ids=["the same", "it grows", "it shrinks", "other devices", "more nodes of other devices"],
)
def test_a_pool_is_what_it_was_until_an_edit_that_takes_something_away(
    nodes: int, devices: int, before: PoolBefore | None
) -> None:
    """Fewer nodes, or other devices on them."""
    device = {"name": "gpu", "deviceClass": "gpu.nvidia.com", "claim": "DRA", "count": devices}
    held = HeldPool(pool="gpus", class_name="old", nodes=nodes, min_nodes=nodes, max_nodes=nodes, devices=(device,))
    existing = Existing(clusters={"a": READY}, pools={("a", "gpus"): held})
    (one,) = build(fleet(cluster("a", nodes=2)), existing).clusters
    assert one.pools[0].before == before
