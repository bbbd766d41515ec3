"""What exists and whether it is ready, read from states alone."""

from collections.abc import Mapping
from typing import Any

import pytest

from automation.engine.checkpoint import Checkpoint
from automation.engine.state import PARTS, is_backed, is_simulated, kubernetes_providers, read_existing
from components.errors import DriverError, MixedState
from components.lock import (
    CacheShape,
    Claim,
    EnginePlacement,
    EngineShape,
    ExternalEndpoint,
    MemberPlacement,
    MemberShape,
    Phase,
    ReplicaShape,
    shape_digest,
)
from components.lock_model import HeldPool
from components.naming import CacheId, ReplicaId, StackName
from tests.unit.engine.samples import SECRET, UNKNOWN, checkpoint, entry, stack_entry, urn

REPLICA, CACHE, POOL = "berth:index:Replica", "berth:index:Cache", "berth:index:Pool"
CLUSTER, EXISTING, SERVING = "berth:index:EksCluster", "berth:index:ExistingCluster", "berth:index:ServingStack"
ENDPOINT, SERVICE, NAMESPACE = "berth:index:Endpoint", "berth:index:Service", "berth:index:Namespace"
DEPLOYMENT, EKS, PROVIDER = "kubernetes:apps/v1:Deployment", "aws:eks/cluster:Cluster", "pulumi:providers:kubernetes"

ID = ReplicaId("ml", "qwen", "east", 0)
MEMBER = MemberShape(
    role="Leader", template={"spec": {"containers": [{"name": "main", "ports": [{"containerPort": 8000}]}]}}
)
SHAPE = ReplicaShape(engines=(EngineShape(name="main", members=(MEMBER,)),))
PLACEMENT = (
    EnginePlacement(
        engine="main", members=(MemberPlacement(pool="gpus", claims=(Claim(request="gpu", device_class="g"),)),)
    ),
)


def replica_inputs(**changes: Any) -> dict[str, Any]:
    """Return a replica's description, as its component keeps it."""
    return {
        "namespace": "ml",
        "deployment": "qwen",
        "cluster": "east",
        "index": 0,
        "name": "qwen-1a2b3",
        "phase": "Starting",
        "shapeDigest": shape_digest(SHAPE),
        "shape": SHAPE.to_json(),
        "labels": {"team": "search"},
        "placement": [engine.to_json() for engine in PLACEMENT],
        "tolerations": [],
        "cacheFootprint": None,
        **changes,
    }


def replica(*, outputs: Mapping[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """Return a replica's component; registered whole unless ``outputs`` says otherwise."""
    inputs = replica_inputs(**changes)
    return entry(REPLICA, str(ID), inputs=inputs, outputs=inputs if outputs is None else outputs)


def routing(*roles: str) -> list[dict[str, Any]]:
    """Return the parts of the replica that lead requests to it."""
    names = roles or PARTS[REPLICA]
    return [entry("kubernetes:core/v1:Service", f"{ID}-{role}", parent=urn(REPLICA, str(ID))) for role in names]


def workload(**fields: Any) -> dict[str, Any]:
    """Return the replica's only workload."""
    return entry(DEPLOYMENT, f"{ID}-workload-main", parent=urn(REPLICA, str(ID)), id="ml/qwen", **fields)


def test_a_replica_is_read_from_its_description() -> None:
    """Identity, shape, placement, phase and labels come from the component's inputs."""
    existing = read_existing([checkpoint(stack_entry(), replica(), *routing(), workload())])
    found = existing.replicas[ID]
    assert found.entry.name == "qwen-1a2b3"
    assert found.entry.phase is Phase.STARTING
    assert found.entry.labels == {"team": "search"}
    assert found.entry.placement == PLACEMENT
    assert found.entry.stays is None
    assert found.shape == SHAPE
    assert (found.ready, found.failure) == (True, "")
    assert existing.pending == ()


def test_a_replica_that_stays_under_a_taint_says_so() -> None:
    """Fields that are only written when they say something are read too."""
    found = read_existing([checkpoint(stack_entry(), replica(stays="gpu=bad:NoSchedule"), *routing(), workload())])
    assert found.replicas[ID].entry.stays == "gpu=bad:NoSchedule"


@pytest.mark.parametrize(
    ("state", "failure"),
    [
        pytest.param(
            checkpoint(stack_entry(), replica(), *routing(), workload(initErrors=["[ImagePullBackOff] no such image"])),
            "workload-main: ImagePullBackOff: no such image",
            id="failed-to-initialise",
        ),
        pytest.param(checkpoint(stack_entry(), replica(), *routing()), "", id="workload-never-made"),
        pytest.param(
            checkpoint(stack_entry(), replica(), *routing("pool", "picker", "picker-service"), workload()),
            "",
            id="route-never-made",
        ),
        pytest.param(checkpoint(stack_entry(), replica(outputs={}), *routing(), workload()), "", id="never-registered"),
        pytest.param(
            checkpoint(stack_entry(), replica(outputs={"made": ["x", UNKNOWN]}), *routing(), workload()),
            "",
            id="something-unknown",
        ),
        pytest.param(
            checkpoint(stack_entry(), replica(), *routing(), workload(), pending=[("updating", workload())]),
            "",
            id="pending-under-it",
        ),
        pytest.param(
            checkpoint(stack_entry(), replica(), *routing(), workload(pendingReplacement=True)), "", id="half-replaced"
        ),
    ],
)  # fmt: skip
def test_a_replica_is_not_ready_while_anything_of_it_is_in_doubt(state: Checkpoint, failure: str) -> None:
    """Whatever is pending, failed, missing or unknown keeps traffic away; a failure is told in words."""
    found = read_existing([state]).replicas[ID]
    assert found.ready is False
    assert found.failure == failure


def test_somebody_elses_trouble_is_not_ours() -> None:
    """A pending operation or a failure elsewhere leaves a replica ready."""
    other = entry("aws:iam/role:Role", "other", initErrors=["x"])
    state = checkpoint(
        stack_entry(),
        replica(),
        *routing(),
        workload(),
        other,
        pending=[("creating", entry("aws:iam/role:Role", "new"))],
    )
    existing = read_existing([state])
    assert existing.replicas[ID].ready
    assert existing.pending == (urn("aws:iam/role:Role", "new"),)


SYSTEM = "east/serving-system-namespace"


def platform(**serving: Any) -> list[dict[str, Any]]:
    """Return a cluster with two pools, its provider and its serving stack."""
    cluster = {"cluster": "east", "source": "EKS", "release": "1", "pools": ["big", "any"]}
    stack = {"cluster": "east", "release": "2026-10"}
    return [
        stack_entry(),
        entry(CLUSTER, "east", inputs=cluster, outputs={**cluster, "endpoint": "https://e", "storageClass": "shared"}),
        entry(EKS, "east-cluster", parent=urn(CLUSTER, "east")),
        entry(PROVIDER, "east-kubernetes", parent=urn(CLUSTER, "east"), id="9f"),
        entry(POOL, "east/any", inputs={"cluster": "east", "pool": "any"}, outputs={"pool": "any"}),
        entry(POOL, "east/big", inputs={"cluster": "east", "pool": "big"}, outputs={"pool": "big"}),
        entry(SERVING, "east/serving", inputs=stack, outputs={**stack, "gatewayAddress": "10.0.0.1", **serving}),
        entry("kubernetes:core/v1:Namespace", SYSTEM, parent=urn(SERVING, "east/serving")),
    ]


def test_a_cluster_has_the_facts_that_others_need() -> None:
    """Source and release from descriptions, addresses from outputs, pools in the order of the manifest."""
    found = read_existing([checkpoint(*platform())]).clusters["east"]
    assert (found.source, found.release, found.gateway_address) == ("EKS", "2026-10", "10.0.0.1")
    assert (found.endpoint, found.storage_class, found.pools) == ("https://e", "shared", ("big", "any"))
    assert (found.ready, found.failure) == (True, "")


def test_pools_are_read_as_they_were_applied() -> None:
    """With size, class and devices; one whose description says nothing of its size is passed over."""
    device = {"name": "gpu", "driver": "d", "deviceClass": "g", "claim": "DRA", "count": 8}
    said = {
        "cluster": "east",
        "pool": "new",
        "className": "h100",
        "nodes": 3.0,
        "minNodes": 1,
        "maxNodes": 3,
        "devices": [device],
    }
    pools = read_existing([checkpoint(*platform(), entry(POOL, "east/new", inputs=said))]).pools
    held = HeldPool(pool="new", class_name="h100", nodes=3, min_nodes=1, max_nodes=3, devices=(device,))
    assert pools == {("east", "new"): held}


def test_a_cluster_without_its_system_namespace_is_not_ready() -> None:
    """A cluster that serves no models has no gateway whose address could be missing."""
    whole = platform(gatewayAddress=None)
    assert read_existing([checkpoint(*whole)]).clusters["east"].ready
    parts = [each for each in whole if not each["urn"].endswith(SYSTEM)]
    assert not read_existing([checkpoint(*parts)]).clusters["east"].ready


@pytest.mark.parametrize(
    ("created", "child", "ready"),
    [(True, {}, True), (False, None, True), (True, None, False), (True, {"initErrors": ["no"]}, False)],
    ids=["made", "used as it is", "never made", "failed"],
)
def test_a_namespace_that_could_not_be_made_is_not_ready(
    *, created: bool, child: Mapping[str, Any] | None, ready: bool
) -> None:
    """Its component is in the state all the same; what lies in it cannot be made."""
    said = {"cluster": "east", "namespace": "ml", "created": created}
    parts = [entry(NAMESPACE, "east/ml", inputs=said, outputs=said)]
    if child is not None:
        patch = "kubernetes:core/v1:NamespacePatch"
        parts.append(entry(patch, "east/ml-namespace", parent=urn(NAMESPACE, "east/ml"), **child))
    (found,) = read_existing([checkpoint(*platform(), *parts)]).namespaces.values()
    assert (found.created, found.ready) == (created, ready)


def test_a_cluster_whose_serving_stack_failed_is_not_ready_and_says_why() -> None:
    """A chart that failed is the cluster's failure."""
    chart = entry(
        "kubernetes:helm.sh/v3:Release",
        "east/serving-gateway",
        parent=urn(SERVING, "east/serving"),
        initErrors=["late"],
    )
    found = read_existing([checkpoint(*platform(), chart)]).clusters["east"]
    assert (found.ready, found.failure) == (False, "gateway: late")


def test_an_interrupted_cluster_is_neither_ready_nor_failed() -> None:
    """Without serving stack, or with an address that is not known, the next update finishes it."""
    without = read_existing([checkpoint(*platform()[:-2])]).clusters["east"]
    unknown = read_existing([checkpoint(*platform(gatewayAddress=UNKNOWN))]).clusters["east"]
    for found in (without, unknown):
        assert (found.ready, found.failure, found.gateway_address) == (False, "", None)


def test_caches_routes_and_namespaces_are_read() -> None:
    """Everything that the lock knows comes back from the state, absent values as absent."""
    shape = CacheShape(source="HuggingFace", repo="org/model", sizeGiB=10)
    cache = {"namespace": "ml", "cache": "weights", "cluster": "east", "index": 1, "shapeDigest": shape_digest(shape)}
    own = {"namespace": "ml", "endpoint": "qwen-1a2b3", "frontDoor": "front", "replica": str(ID), "url": None}
    outside = {
        "namespace": "ml",
        "endpoint": "far",
        "frontDoor": "front",
        "url": "https://far.test/v1",
        "rewritePath": "/x/",
    }
    service = {
        "namespace": "ml",
        "service": "chat",
        "frontDoor": "front",
        "backends": [{"endpoint": "far", "weight": 3.0}],
    }
    parent = urn(CACHE, "ml/weights/east/1")
    staged = [entry("kubernetes:batch/v1:Job", f"ml/weights/east/1-{role}", parent=parent) for role in PARTS[CACHE]]
    existing = read_existing(
        [
            checkpoint(
                stack_entry(),
                entry(CACHE, "ml/weights/east/1", inputs={**cache, "shape": shape.to_json()}, outputs=cache),
                *staged,
                entry(ENDPOINT, "front/ml/qwen-1a2b3", inputs=own, outputs=own),
                entry(ENDPOINT, "front/ml/far", inputs=outside, outputs=outside),
                entry(SERVICE, "front/ml/chat", inputs=service, outputs=service),
                entry(NAMESPACE, "east/ml", inputs={"cluster": "east", "namespace": "ml", "created": False}),
            )
        ]
    )  # fmt: skip
    found = existing.caches[CacheId("ml", "weights", "east", 1)]
    assert (found.shape, found.ready) == (shape, True)
    assert existing.endpoints["ml", "qwen-1a2b3"].replica == ID
    assert existing.endpoints["ml", "qwen-1a2b3"].external is None
    assert existing.endpoints["ml", "far"].external == ExternalEndpoint(
        name="far", url="https://far.test/v1", rewrite_path="/x/"
    )
    (backend,) = existing.services["ml", "chat"].entry.backends
    assert (backend.endpoint, backend.weight) == ("far", 3)
    assert existing.namespaces["ml", "east"].created is False


def test_several_stacks_make_one_environment() -> None:
    """With one stack per cluster, what exists is the sum of their states, in one order whatever the stacks' order."""
    front = checkpoint(stack_entry(), entry(EXISTING, "front", inputs={"cluster": "front"}))
    east = checkpoint(stack_entry(), replica(), *routing(), workload(), stack=StackName("dev", "east"))
    assert read_existing([front, east]) == read_existing([east, front])
    assert set(read_existing([front, east]).clusters) == {"front"}
    assert set(read_existing([front, east]).replicas) == {ID}


def test_a_description_of_another_version_is_one_clear_error() -> None:
    """What cannot be read names the component and the stack."""
    state = checkpoint(stack_entry(), replica(shape={"kind": "Replica", "wings": 2}))
    with pytest.raises(DriverError, match="dev describes ml/qwen/east/0"):
        read_existing([state])
    with pytest.raises(DriverError, match="cannot read: 'namespace'"):
        read_existing([checkpoint(stack_entry(), entry(SERVICE, "x", inputs={"service": "x"}))])


def role(identifier: str) -> dict[str, Any]:
    """Return a cloud resource with an id."""
    return entry("aws:iam/role:Role", identifier, id=identifier)


@pytest.mark.parametrize(
    ("state", "want"),
    [
        pytest.param(checkpoint(stack_entry()), None, id="empty"),
        pytest.param(checkpoint(stack_entry(outputs={"simulated": True})), True, id="said"),
        pytest.param(checkpoint(stack_entry(outputs={"simulated": False}), role("r-1")), False, id="real"),
        pytest.param(checkpoint(stack_entry(), role("sim-1"), role("sim-2")), True, id="told-by-ids"),
        pytest.param(checkpoint(stack_entry(), role("r-1")), False, id="real-told-by-ids"),
        pytest.param(checkpoint(stack_entry(), workload(), replica()), None, id="objects-tell-nothing"),
        pytest.param(
            checkpoint(stack_entry(outputs={"simulated": False}), role("sim-city"), role("r-1")), False, id="real-name"
        ),
        pytest.param(checkpoint(stack_entry(outputs={"simulated": SECRET})), None, id="unreadable"),
    ],
)  # fmt: skip
def test_a_state_says_whether_it_is_simulated(state: Checkpoint, want: bool | None) -> None:
    """Outputs and ids of cloud resources tell; objects on clusters and nothing at all do not."""
    assert is_simulated(state) is want


def eks_cluster(endpoint: str) -> dict[str, Any]:
    """Return a simulated cluster at an address."""
    return entry("aws:eks/cluster:Cluster", "a", id="sim-a", outputs={"endpoint": endpoint})


@pytest.mark.parametrize(
    ("state", "want"),
    [
        pytest.param(checkpoint(stack_entry(outputs={"simulated": True, "backed": True})), True, id="said"),
        pytest.param(checkpoint(stack_entry(), eks_cluster("https://127.0.0.1:16443")), True, id="told-by-a-cluster"),
        pytest.param(checkpoint(stack_entry(), eks_cluster("https://sim-1.eks.amazonaws.com")), False, id="simulated"),
        pytest.param(checkpoint(stack_entry(outputs={"simulated": True})), False, id="said-simulated"),
    ],
)
def test_a_state_says_whether_its_clusters_are_backed(state: Checkpoint, want: bool) -> None:
    """By its outputs, or by where a simulated cluster is before there are any."""
    assert is_backed(state) is want
    assert read_existing([state]).backed is want


@pytest.mark.parametrize(
    "state",
    [
        pytest.param(checkpoint(stack_entry(), role("sim-1"), role("r-1")), id="both-kinds"),
        pytest.param(checkpoint(stack_entry(outputs={"simulated": True}), role("r-1")), id="said-simulated"),
        pytest.param(checkpoint(stack_entry(outputs={"simulated": False}), role("sim-1")), id="said-real"),
    ],
)
def test_mixed_state_is_refused(state: Checkpoint) -> None:
    """Simulated and real resources in one state refuse each other."""
    with pytest.raises(MixedState):
        is_simulated(state)


def test_stacks_of_two_kinds_refuse_each_other() -> None:
    """One simulated and one real stack are no environment."""
    stacks = [checkpoint(stack_entry(), role("sim-1")), checkpoint(stack_entry(), role("r-1"))]
    with pytest.raises(MixedState):
        read_existing(stacks)


def test_the_provider_of_a_cluster_is_found() -> None:
    """The provider under the cluster's component puts objects on it."""
    assert kubernetes_providers(checkpoint(*platform())) == {"east": (urn(PROVIDER, "east-kubernetes"),)}
