"""The program registers what the lock says, and nothing else."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from components.api.fleet import Fleet
from components.errors import ConfigError, LockError
from components.lock import Lock, NamespaceEntry, NamespaceLock, Phase
from components.lock_model import HeldPool
from components.naming import CacheId, ReplicaId, StackName, cache_claim_name, replica_name
from stacks.config import ProgramConfig
from stacks.outputs import StackOutputs
from stacks.program import program
from stacks.shard import Shard
from tests.support.mini_engine import UNKNOWN, Computed, Recorded, Secret, leaves, run_program
from tests.support.samples import (
    DEV_CACHES,
    DEV_PLACED,
    EDGE_SECRETS,
    Placed,
    deployment,
    environment_files,
    fleet_of,
    lock_of,
    small_files,
)

COMPONENTS = "berth:index:"


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    """Return the sample environment."""
    return fleet_of(environment_files())


@pytest.fixture(scope="module")
def lock(fleet: Fleet) -> Lock:
    """Return its lock, with everything placed that can be."""
    return lock_of(fleet, DEV_PLACED, caches=DEV_CACHES)


def run(
    fleet: Fleet,
    lock: Lock,
    *,
    stack: str = "dev",
    secrets: Mapping[str, Any] = EDGE_SECRETS,
    dry_run: bool = True,
    check: bool = True,
    computed: Mapping[str, Computed] | None = None,
    **config: Any,
) -> Recorded:
    """Run the program for one stack."""
    settings = ProgramConfig(berth_version="0.1.0", secrets=secrets, **config)
    shard = Shard.of(StackName.parse(stack), fleet, clusters=[entry.name for entry in lock.platform.clusters])
    return run_program(
        lambda: program(fleet, lock, shard, settings), stack=stack, dry_run=dry_run, computed=computed, check=check
    )


def components(recorded: Recorded) -> list[str]:
    """Return type and name of every component."""
    return sorted(
        f"{resource.type.removeprefix(COMPONENTS)} {resource.name}"
        for resource in recorded.resources
        if resource.type.startswith(COMPONENTS)
    )


@pytest.fixture(scope="module")
def dev(fleet: Fleet, lock: Lock) -> Recorded:
    """Return a preview of the sample environment."""
    return run(fleet, lock)


def test_what_somebody_else_sets_is_set_again_only_where_berth_chose_the_name(dev: Recorded) -> None:
    """Everything in a namespace; objects of the whole cluster may be somebody's too."""
    taken: dict[bool, set[str]] = {True: set(), False: set()}
    for resource in dev.resources:
        if resource.type.startswith("kubernetes:") and "metadata" in resource.inputs:
            forced = resource.inputs["metadata"].get("annotations", {}).get("pulumi.com/patchForce") == "true"
            taken[forced].add(resource.type.rpartition(":")[2])
    assert taken[True] >= {"Deployment", "ConfigMap", "Service", "HTTPRoute", "ResourceClaimTemplate", "NamespacePatch"}
    assert taken[False] >= {"CustomResourceDefinition", "Namespace", "StorageClass", "GatewayClass"}


def with_namespace(lock: Lock, namespace: str, **changes: Any) -> Lock:
    """Return the lock with a namespace's part changed."""
    part: NamespaceLock = lock.namespaces[namespace].model_copy(update=changes)
    return lock.with_namespaces({**lock.namespaces, namespace: part})


def test_everything_of_the_lock_is_there(dev: Recorded) -> None:
    """One component each, with its full identity as its name."""
    assert components(dev) == [
        "Cache ml-team/qwen2-5-72b/eks-use1/0",
        "EksCluster eks-euw1",
        "EksCluster eks-use1",
        "Endpoint edge/ml-team/qwen2-5-72b-1f857",
        "Endpoint edge/ml-team/qwen3-8b-3a729",
        "Endpoint edge/search/embedder-b2b57",
        "Endpoint edge/search/reranker-97030",
        "ExistingCluster edge",
        "FrontDoor edge/front-door",
        "Namespace edge/ml-team",
        "Namespace edge/search",
        "Namespace eks-euw1/ml-team",
        "Namespace eks-euw1/search",
        "Namespace eks-use1/ml-team",
        "Pool eks-euw1/l4",
        "Pool eks-euw1/l40s",
        "Pool eks-use1/h100",
        "Pool eks-use1/l4",
        "Pool eks-use1/l40s",
        "Replica ml-team/qwen2-5-72b/eks-use1/0",
        "Replica ml-team/qwen3-8b/eks-euw1/0",
        "Replica search/embedder/eks-euw1/0",
        "Replica search/reranker/eks-euw1/0",
        "Service edge/ml-team/chat",
        "ServingStack edge/serving",
        "ServingStack eks-euw1/serving",
        "ServingStack eks-use1/serving",
    ]


def test_every_component_is_a_child_of_the_stack_and_fully_known_in_a_preview(dev: Recorded) -> None:
    """The state keeps its inputs whatever the cloud does, and its URN depends on nothing else."""
    for resource in dev.resources:
        if not resource.type.startswith(COMPONENTS):
            continue
        assert resource.parent == dev.root.urn
        values = dict(leaves(resource.inputs)).values()
        assert not any(isinstance(value, Secret) or value is UNKNOWN for value in values), resource.name
        assert resource.outputs is not None, f"{resource.name} registered no outputs"
        assert resource.inputs.items() <= resource.outputs.items()


def test_every_object_has_an_explicit_provider_of_its_own_cluster(dev: Recorded) -> None:
    """An object that fell back to a default provider would land wherever the machine is logged in."""
    for resource in dev.resources:
        if not resource.custom or resource.type.startswith("pulumi:"):
            continue
        assert resource.provider, f"{resource.name} has no provider"
        if resource.type.startswith("kubernetes:"):
            provider = dev.by_urn(resource.provider).name
            owner = dev.by_urn(resource.parent)
            cluster = owner.inputs.get("frontDoor") or owner.inputs["cluster"]
            assert provider == f"{cluster}-kubernetes", resource.name


def test_no_provider_is_asked_anything(dev: Recorded) -> None:
    """The program is a pure function."""
    assert dev.invokes == ()
    assert dev.logs == ()


def test_one_aws_provider_serves_a_region_and_no_cluster_shares_another_regions(dev: Recorded) -> None:
    """Providers are processes: one for each credential and region."""
    assert dev.names("pulumi:providers:aws") == ("aws-default-eu-west-1", "aws-default-us-east-1")


def test_running_twice_registers_the_same(fleet: Fleet, lock: Lock, dev: Recorded) -> None:
    """Nothing is kept between two runs, and nothing depends on when they are."""
    assert run(fleet, lock).resources == dev.resources


def test_endpoint_waits_for_the_replicas_workload_and_its_route(dev: Recorded) -> None:
    """A target that is applied by hand is in order, too: traffic comes last."""
    endpoint = dev.named("edge/ml-team/qwen3-8b-3a729-slice")
    needed = dev.requires(endpoint)
    for role in ("workload-vllm", "route", "pool"):
        assert dev.named(f"ml-team/qwen3-8b/eks-euw1/0-{role}").urn in needed
    assert dev.named("edge/ml-team/chat-route").urn not in needed
    assert endpoint.urn in dev.requires(dev.named("edge/ml-team/chat-route"))


def test_replica_waits_for_its_cache_its_nodes_and_the_serving_stack(dev: Recorded) -> None:
    """Weights are staged before an engine reads them; nothing is put on nodes that are not there."""
    needed = dev.requires(dev.named("ml-team/qwen2-5-72b/eks-use1/0-workload-vllm"))
    for name in ("ml-team/qwen2-5-72b/eks-use1/0-hydrate", "eks-use1/ml-team-namespace", "eks-use1/serving-gateway"):
        assert dev.named(name).urn in needed
    groups = [resource for resource in dev.of_type("aws:eks/nodeGroup:NodeGroup") if resource.urn in needed]
    assert any("h100" in group.name for group in groups)
    assert not any("l40s" in group.name for group in groups)


def test_traffic_is_divided_as_the_lock_says(dev: Recorded) -> None:
    """Weights and the rewrite of each backend stand on the service's one route."""
    (rule,) = dev.named("edge/ml-team/chat-route").inputs["spec"]["rules"]
    assert rule["matches"] == [{"path": {"type": "PathPrefix", "value": "/ml-team/chat/"}}]
    assert [
        (
            backend["name"],
            backend["port"],
            backend["weight"],
            backend["filters"][0]["urlRewrite"]["path"]["replacePrefixMatch"],
        )
        for backend in rule["backendRefs"]
    ] == [
        ("qwen3-8b-3a729", 80, 4, "/ml-team/qwen3-8b-3a729/"),
        ("qwen2-5-72b-1f857", 80, 1, "/ml-team/qwen2-5-72b-1f857/"),
    ]


def test_outputs_are_those_of_the_schema(fleet: Fleet, lock: Lock) -> None:
    """What other stacks and people read, after an update."""
    recorded = run(fleet, lock, dry_run=False, simulated=True)
    outputs = StackOutputs.model_validate(dict(recorded.outputs))
    assert (outputs.schema_version, outputs.environment, outputs.simulated) == (1, "dev", True)
    assert outputs.clusters["eks-use1"].pools == ("l4", "l40s", "h100")
    assert outputs.clusters["edge"].gateway_address is None
    assert outputs.front_doors == {"edge": "edge-front-door-gateway.lb.test"}
    assert outputs.services == {"ml-team/chat": {"edge": "http://edge-front-door-gateway.lb.test/ml-team/chat"}}


@pytest.fixture(scope="module")
def small() -> Fleet:
    """Return a fleet that registers in a moment."""
    return fleet_of(small_files())


QWEN = Placed("ml", "qwen", "a", "gpu")


@pytest.mark.parametrize(
    ("phase", "has_endpoint"), [(Phase.STARTING, False), (Phase.SERVING, True), (Phase.DRAINING, True)]
)
def test_phase_decides_whether_there_is_an_endpoint(small: Fleet, phase: Phase, has_endpoint: bool) -> None:
    """A replica that starts has none; one that drains keeps it for the requests under way."""
    recorded = run(small, lock_of(small, (replace(QWEN, phase=phase),)))
    assert bool(recorded.of_type("berth:index:Endpoint")) is has_endpoint
    assert recorded.one("berth:index:Replica").inputs["phase"] == phase.value


def test_service_without_backends_keeps_its_route(small: Fleet) -> None:
    """Clients are told to come back, and not that there is no such service."""
    recorded = run(small, lock_of(small, ()))
    (rule,) = recorded.named("edge/ml/chat-route").inputs["spec"]["rules"]
    assert "backendRefs" not in rule


def test_replica_without_a_manifest_is_built_from_its_shape(small: Fleet) -> None:
    """A deployment whose manifest is gone still runs until the lock lets go of it."""
    files = small_files()
    del files["models/ml/qwen.yaml"]
    recorded = run(fleet_of(files), lock_of(small, (QWEN,)))
    assert recorded.one("berth:index:Replica", "ml/qwen/a/0").inputs["tolerations"] == []
    assert recorded.named("ml/qwen/a/0-workload-main")


def test_old_and_new_shape_live_side_by_side(small: Fleet) -> None:
    """An edited manifest changes no running replica: what runs is in the lock."""
    files = small_files()
    files["models/ml/qwen.yaml"] = files["models/ml/qwen.yaml"].replace(b"vllm:1", b"vllm:2")
    edited = fleet_of(files)
    older = lock_of(small, (QWEN,))
    newer = lock_of(edited, (replace(QWEN, cluster="b", phase=Phase.STARTING),)).namespaces["ml"]
    part = older.namespaces["ml"]
    both = with_namespace(
        older,
        "ml",
        replicas=(*part.replicas, *newer.replicas),
        shapes={**part.shapes, **newer.shapes},
        namespaces=tuple(NamespaceEntry(cluster=name) for name in ("a", "b", "edge")),
    )
    recorded = run(edited, both)
    images = [
        recorded.named(f"{name}-workload-main").inputs["spec"]["template"]["spec"]["containers"][0]["image"]
        for name in ("ml/qwen/a/0", "ml/qwen/b/0")
    ]
    assert images == ["vllm:1", "vllm:2"]


def test_tolerations_and_footprint_reach_the_state_for_the_policies(small: Fleet) -> None:
    """Policies judge a replica by what it registered; both come from the manifests."""
    files = small_files()
    files["models/ml/qwen.yaml"] = deployment("qwen", cache="weights", taint="maintenance")
    files["models/ml/weights.yaml"] = CACHE
    fleet = fleet_of(files)
    recorded = run(fleet, lock_of(fleet, (QWEN,), caches=(("ml", "weights", "a"),)), secrets=TOKEN)
    inputs = recorded.one("berth:index:Replica").inputs
    assert inputs["tolerations"] == [{"key": "maintenance", "operator": "Exists"}]
    assert inputs["cacheFootprint"] == ["a"]
    assert (recorded.one("berth:index:Cache").outputs or {})["claimName"] == cache_claim_name(
        CacheId("ml", "weights", "a", 0)
    )


CACHE = b"""\
apiVersion: modelplane.ai/v1alpha1
kind: ModelCache
metadata: {name: weights, namespace: ml}
spec:
  source: HuggingFace
  huggingFace: {repo: o/m, sizeGiB: 10, authSecret: {name: hub}}
  clusterSelector: {matchLabels: {cluster: a}}
"""
TOKEN = MappingProxyType({**EDGE_SECRETS, "ml/hub": {"HF_TOKEN": "sample-download-token"}})


def cached() -> tuple[Fleet, Lock]:
    """Return a fleet with a gated cache, staged on one cluster."""
    fleet = fleet_of({**small_files(), "models/ml/weights.yaml": CACHE})
    return fleet, lock_of(fleet, (QWEN,), caches=(("ml", "weights", "a"),))


def test_download_token_is_on_one_cluster_as_a_secret_and_goes_when_the_weights_are_there() -> None:
    """Its value is wrapped wherever it appears, and no other object carries it."""
    fleet, lock = cached()
    recorded = run(fleet, lock, secrets=TOKEN)
    token = recorded.named("ml/weights/a/0-token")
    assert token.inputs["stringData"] == Secret({"HF_TOKEN": "sample-download-token"})
    plain = [value for resource in recorded.resources for _, value in leaves(resource.inputs) if isinstance(value, str)]
    assert not any("sample-download-token" in value for value in plain)
    staged = run(fleet, lock, secrets=EDGE_SECRETS, staged=frozenset({"ml/weights/a/0"}))
    assert "ml/weights/a/0-token" not in staged.names()
    assert staged.named("ml/weights/a/0-hydrate").inputs == recorded.named("ml/weights/a/0-hydrate").inputs


def test_secret_is_copied_to_the_clusters_and_namespaces_that_name_it_and_nowhere_else() -> None:
    """A secret that the configuration does not hold is taken to be on the cluster already."""
    held = "{name: A, valueFrom: {secretKeyRef: {name: keys, key: a}}}"
    env = held + ", {name: B, valueFrom: {secretKeyRef: {name: own, key: b}}}"
    fleet = fleet_of({**small_files(), "models/ml/other.yaml": deployment("other", env=env)})
    lock = lock_of(fleet, (QWEN, Placed("ml", "other", "b", "gpu")))
    secrets = {**EDGE_SECRETS, "ml/keys": {"a": "sample-key", "z": "1"}, "other/keys": {"a": "x"}}
    recorded = run(fleet, lock, secrets=secrets)
    copies = recorded.of_type("kubernetes:core/v1:Secret")
    assert [copy.name for copy in copies] == ["b/ml-secret-keys"]
    assert copies[0].inputs["metadata"]["namespace"] == "ml"
    assert copies[0].inputs["stringData"] == Secret({"a": "sample-key", "z": "1"})
    assert copies[0].urn in recorded.requires(recorded.named("ml/other/b/0-workload-main"))


def test_external_endpoint_is_a_backend_under_its_own_name() -> None:
    """TLS is verified, and the server is called by the name that it knows."""
    files = small_files()
    files["models/ml/saas.yaml"] = b"""\
apiVersion: modelplane.ai/v1alpha1
kind: ModelEndpoint
metadata: {name: saas, namespace: ml, labels: {app: qwen}}
spec: {url: "https://api.example.test/", rewritePath: /}
"""
    fleet = fleet_of(files)
    recorded = run(fleet, lock_of(fleet, (QWEN,)))
    assert recorded.named("edge/ml/saas-tls").inputs["spec"]["validation"] == {
        "hostname": "api.example.test",
        "wellKnownCACertificates": "System",
    }
    for part in ("service", "slice", "tls"):  # the name is the user's, who may have such objects already
        annotations = recorded.named(f"edge/ml/saas-{part}").inputs["metadata"]["annotations"]
        assert "pulumi.com/patchForce" not in annotations
    (rule,) = recorded.named("edge/ml/chat-route").inputs["spec"]["rules"]
    backends = {backend["name"]: backend for backend in rule["backendRefs"]}
    assert backends["saas"]["port"] == 443
    assert backends["saas"]["filters"][0]["urlRewrite"] == {
        "hostname": "api.example.test",
        "path": {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/"},
    }
    assert (
        "hostname"
        not in backends["qwen-" + recorded.one("berth:index:Replica").inputs["name"][5:]]["filters"][0]["urlRewrite"]
    )


def test_namespace_that_berth_does_not_create_is_used_as_it_is(small: Fleet) -> None:
    """The component stays, so that the state says so; no object is made."""
    lock = lock_of(small, (QWEN,))
    entries = tuple(
        entry.model_copy(update={"created": entry.cluster != "a"}) for entry in lock.namespaces["ml"].namespaces
    )
    recorded = run(small, with_namespace(lock, "ml", namespaces=entries))
    assert recorded.one("berth:index:Namespace", "a/ml").inputs["created"] is False
    assert "a/ml-namespace" not in recorded.names()
    assert "edge/ml-namespace" in recorded.names()


def test_created_namespaces_are_retained_and_can_be_adopted(dev: Recorded) -> None:
    """Deleting one would delete weights; creating one that was retained must not fail."""
    namespace = dev.named("eks-use1/ml-team-namespace")
    assert namespace.type == "kubernetes:core/v1:NamespacePatch"
    assert namespace.options.retain_on_delete is True


# -- shards ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def split() -> tuple[Fleet, Lock]:
    """Return the small fleet with a stack for each cluster."""
    fleet = fleet_of(small_files(layout="PerCluster"))
    return fleet, lock_of(fleet, (QWEN, replace(QWEN, cluster="b")))


def test_each_stack_holds_its_share_and_together_they_hold_everything(split: tuple[Fleet, Lock]) -> None:
    """With the other layout, one stack registers the same components."""
    fleet, lock = split
    shares = {
        "dev.a": run(fleet, lock, stack="dev.a"),
        "dev.b": run(fleet, lock, stack="dev.b"),
        "dev": run(fleet, lock, gateway_addresses={"a": "198.51.100.1", "b": "b.lb.test"}),
    }
    found = {stack: components(recorded) for stack, recorded in shares.items()}
    assert found["dev.a"] == [
        "ExistingCluster a",
        "Namespace a/ml",
        "Pool a/gpu",
        "Replica ml/qwen/a/0",
        "ServingStack a/serving",
    ]
    everything = components(run(fleet_of(small_files()), lock))
    assert sorted(name for share in found.values() for name in share) == everything
    assert {resource.parent for resource in shares["dev"].of_type("berth:index:Endpoint")} == {shares["dev"].root.urn}


def test_a_gateway_without_an_address_keeps_the_one_that_it_had(split: tuple[Fleet, Lock]) -> None:
    """No slice can lead to nothing, and the state must not forget where routes lead."""
    fleet, lock = split
    lost: Mapping[str, Computed] = {
        "kubernetes:gateway.networking.k8s.io/v1:Gateway": lambda *_: {"status": {"addresses": []}}
    }
    recorded = run(fleet, lock, stack="dev.b", dry_run=False, computed=lost, gateway_addresses={"b": "b.lb.test"})
    assert (recorded.named("b/serving").outputs or {})["gatewayAddress"] == "b.lb.test"


def test_routes_lead_to_the_addresses_that_other_stacks_have(split: tuple[Fleet, Lock]) -> None:
    """An IP address and a host name make different kinds of slices."""
    fleet, lock = split
    recorded = run(fleet, lock, gateway_addresses={"a": "198.51.100.1", "b": "b.lb.test"})
    slices = {
        resource.inputs["addressType"]: resource.inputs["endpoints"][0]["addresses"]
        for resource in recorded.of_type("kubernetes:discovery.k8s.io/v1:EndpointSlice")
    }
    assert slices == {"IPv4": ["198.51.100.1"], "FQDN": ["b.lb.test"]}


def test_address_that_is_not_known_yet_is_unknown_in_a_preview_and_refused_in_an_update(
    split: tuple[Fleet, Lock],
) -> None:
    """A full preview works before any cluster exists; an update must not send traffic nowhere."""
    fleet, lock = split
    preview = run(fleet, lock)
    for resource in preview.of_type("kubernetes:discovery.k8s.io/v1:EndpointSlice"):
        assert resource.inputs["endpoints"][0]["addresses"] == [UNKNOWN]
    update = run(fleet, lock, dry_run=False, check=False)
    assert "the address of cluster a's gateway is not known" in update.error


# -- what is refused ---------------------------------------------------------------------------------------------------


def test_lock_that_promises_more_devices_than_a_pool_has_is_refused_before_anything(small: Fleet) -> None:
    """The same rule as the policy pack's, so that a hand-applied lock cannot break it either."""
    placed = tuple(replace(QWEN, index=index) for index in range(5))
    recorded = run(small, lock_of(small, placed), check=False)
    assert "devices-within-pool: a/gpu: 10 devices of gpu.nvidia.com are promised; the pool has 8" in recorded.error
    assert components(recorded) == []


def test_pool_whose_edit_is_withheld_is_what_it_was(small: Fleet) -> None:
    """Program and checks see the pool that there is, and not the smaller one of the manifest."""
    lock = lock_of(small, tuple(replace(QWEN, index=index) for index in range(5)))
    device = {"name": "gpu", "driver": "d", "deviceClass": "gpu.nvidia.com", "claim": "DRA", "count": 2}
    held = HeldPool(pool="gpu", class_name="l40s-2x", nodes=5, min_nodes=5, max_nodes=5, devices=(device,))
    clusters = tuple(
        entry.model_copy(update={"held": (held,)}) if entry.name == "a" else entry for entry in lock.platform.clusters
    )
    recorded = run(small, replace(lock, platform=lock.platform.model_copy(update={"clusters": clusters})))
    pool = recorded.named("a/gpu").inputs
    assert (pool["nodes"], pool["minNodes"], pool["maxNodes"], pool["className"]) == (5, 5, 5, "l40s-2x")
    assert [each["count"] for each in pool["devices"]] == [2]


def test_cluster_in_the_lock_without_a_manifest_is_refused(small: Fleet) -> None:
    """Its replicas must move before its manifest goes."""
    files = small_files()
    del files["platform/b.yaml"]
    with pytest.raises(LockError, match="cluster b is in the lock and has no manifest") as caught:
        direct(fleet_of(files), lock_of(small, (QWEN,)))
    assert "removing: true" in caught.value.help


def test_cluster_with_another_source_is_another_cluster(small: Fleet) -> None:
    """Changing it in place would replace everything on it."""
    lock = lock_of(small, (QWEN,))
    entries = tuple(
        entry.model_copy(update={"source": "EKS"}) if entry.name == "b" else entry for entry in lock.platform.clusters
    )
    platform = lock.platform.model_copy(update={"clusters": entries})
    with pytest.raises(LockError, match="cluster b was planned as EKS and is Existing now"):
        direct(small, Lock(platform, lock.namespaces))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"namespaces": ()}, "is in namespace ml of cluster"),
        (
            {"endpoints": ({"name": replica_name(ReplicaId("ml", "qwen", "a", 0)), "url": "http://a.test"},)},
            "are named",
        ),
        ({"endpoints": ({"name": "x", "url": "ftp://a.test"},)}, "x: 'ftp://a.test' is not a URL"),
        ({"services": ({"name": "chat", "backends": ({"endpoint": "x", "weight": 1},)},)}, "leads to x"),
    ],
    ids=["replica without a namespace", "two endpoints of one name", "not a URL", "backend that does not exist"],
)
def test_lock_that_contradicts_itself_is_refused(small: Fleet, changes: Mapping[str, Any], message: str) -> None:
    """The error names what contradicts what."""
    lock = lock_of(small, (QWEN,))
    broken = NamespaceLock.model_validate({**lock.namespaces["ml"].model_dump(), **changes})
    with pytest.raises((LockError, ConfigError)) as caught:
        direct(small, Lock(lock.platform, {"ml": broken}))
    said = caught.value.summary + "".join(problem.message for problem in getattr(caught.value, "problems", ()))
    assert message in said


def test_front_door_without_a_gateway_manifest_is_refused(small: Fleet) -> None:
    """Nothing says which version to install."""
    with pytest.raises(LockError, match="no InferenceGateway `default`"):
        direct(replace(small, gateways={}), lock_of(small, (QWEN,)))


def test_missing_kubeconfig_is_a_clear_error_that_quotes_nothing(small: Fleet) -> None:
    """It names the secret, the key and the command that sets it."""
    with pytest.raises(ConfigError) as caught:
        direct(
            small,
            lock_of(small, ()),
            secrets={**EDGE_SECRETS, "modelplane-system/edge-kubeconfig": {"other": "sample-token"}},
        )
    (problem,) = caught.value.problems
    assert "secret modelplane-system/edge-kubeconfig in berth:secrets has no key kubeconfig" in problem.message
    assert "pulumi config set --stack dev --secret" in problem.help
    assert "sample-token" not in str(caught.value) + problem.message


def direct(fleet: Fleet, lock: Lock, *, secrets: Mapping[str, Any] = EDGE_SECRETS) -> None:
    """Run the program and raise what it raised."""
    caught: list[Exception] = []
    settings = ProgramConfig(berth_version="0.1.0", secrets=secrets)

    def body() -> None:
        try:
            program(fleet, lock, Shard.of(StackName(fleet.name), fleet), settings)
        except Exception as error:
            caught.append(error)
            raise

    run_program(body, check=False)
    if caught:
        raise caught[0]
