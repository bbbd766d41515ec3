"""Identity: what users' states, clusters and dashboards hold by name. Every literal here is an interface.

A failure means that a change breaks users: Pulumi would delete and create what they run, objects on their clusters
would be orphaned, or queries and routes of theirs would match nothing. Change a literal only together with an alias or
a migration, and an entry in the changelog.
"""

import random
from collections.abc import Callable, Mapping
from typing import Final

import pytest

from components.clusters.eks.cluster import EksCluster
from components.clusters.existing.cluster import ExistingCluster
from components.clusters.pool import Pool
from components.frontdoor.endpoint import Endpoint, backend_name
from components.frontdoor.gateway import GATEWAY_NAME as FRONT_DOOR_GATEWAY
from components.frontdoor.gateway import FrontDoor
from components.frontdoor.service import Service, route_name
from components.labels import GPU_TAINT_EFFECT, GPU_TAINT_KEY, GPU_TAINT_VALUE, Label, Tag
from components.models.cache import Cache, token_secret_name
from components.models.namespace import Namespace
from components.models.replica import Replica
from components.models.workload import engine_workload_name
from components.naming import (
    GATEWAYS_KEY,
    SECRETS_KEY,
    STAGED_KEY,
    SYSTEM_NAMESPACE,
    CacheId,
    ReplicaId,
    StackName,
    cache_claim_name,
    cache_job_name,
    claim_template_name,
    cluster_name,
    picker_name,
    pool_service_name,
    replica_name,
)
from components.serving.gateway import GATEWAY_NAME as CLUSTER_GATEWAY
from components.serving.stack import ServingStack
from stacks.config import ProgramConfig
from stacks.outputs import StackOutputs
from stacks.program import program
from stacks.shard import Shard
from tests.support.mini_engine import STACK_TYPE, run_program
from tests.support.samples import (
    EDGE_SECRETS,
    Placed,
    deployment,
    engine,
    existing_cluster,
    fleet_of,
    lock_of,
    member,
    small_files,
)

BREAKS: Final = (
    "This breaks users: what they run is known by this name in their state or on their clusters."
    " Keep it, or add an alias or a migration and say so in the changelog."
)
CACHE_MANIFEST: Final = b"""\
apiVersion: modelplane.ai/v1alpha1
kind: ModelCache
metadata: {name: weights, namespace: ml}
spec: {source: HuggingFace, huggingFace: {repo: o/m, sizeGiB: 10, authSecret: {name: hub}}}
"""
ENDPOINT_MANIFEST: Final = b"""\
apiVersion: modelplane.ai/v1alpha1
kind: ModelEndpoint
metadata: {name: saas, namespace: ml}
spec: {url: "https://api.example.test/"}
"""
SECRETS: Final = {**EDGE_SECRETS, "ml/hub": {"HF_TOKEN": "sample-token"}}
REPLICA: Final = ReplicaId("ml-team", "my-model", "cluster-a", 0)
CACHE: Final = CacheId("ml-team", "qwen", "cluster-a", 0)


def urns(
    files: Mapping[str, bytes], placed: tuple[Placed, ...], caches: tuple[tuple[str, str, str], ...] = ()
) -> set[str]:
    """Return the URN of everything that the program registers."""
    fleet = fleet_of(files)
    lock = lock_of(fleet, placed, caches=caches)
    config = ProgramConfig(berth_version="0.1.0", secrets=SECRETS)
    recorded = run_program(lambda: program(fleet, lock, Shard.of(StackName("dev"), fleet), config))
    return {resource.urn for resource in recorded.resources if resource.type != STACK_TYPE}


def test_type_tokens_are_pinned() -> None:
    """They are part of every URN."""
    classes = (
        Cache,
        EksCluster,
        Endpoint,
        ExistingCluster,
        FrontDoor,
        Namespace,
        Pool,
        Replica,
        Service,
        ServingStack,
    )
    assert {kind.__name__: kind.TYPE for kind in classes} == {
        "Cache": "berth:index:Cache",
        "EksCluster": "berth:index:EksCluster",
        "Endpoint": "berth:index:Endpoint",
        "ExistingCluster": "berth:index:ExistingCluster",
        "FrontDoor": "berth:index:FrontDoor",
        "Namespace": "berth:index:Namespace",
        "Pool": "berth:index:Pool",
        "Replica": "berth:index:Replica",
        "Service": "berth:index:Service",
        "ServingStack": "berth:index:ServingStack",
    }, BREAKS


def test_logical_names_of_everything_above_the_clusters_are_pinned() -> None:
    """One of each kind, with all its children."""
    files = {**small_files(), "models/ml/weights.yaml": CACHE_MANIFEST, "models/ml/saas.yaml": ENDPOINT_MANIFEST}
    found = urns(files, (Placed("ml", "qwen", "a", "gpu"),), (("ml", "weights", "a"),))
    kinds = ("Cache", "Endpoint", "FrontDoor", "Namespace", "Replica", "Service")
    children = tuple(f"berth:index:{kind}$" for kind in kinds)
    names = {urn.partition("::berth::")[2] for urn in found}
    assert sorted(name for name in names if name.startswith(children)) == [
        "berth:index:Cache$kubernetes:batch/v1:Job::ml/weights/a/0-hydrate",
        "berth:index:Cache$kubernetes:core/v1:PersistentVolumeClaim::ml/weights/a/0-volume",
        "berth:index:Cache$kubernetes:core/v1:Secret::ml/weights/a/0-token",
        "berth:index:Endpoint$kubernetes:core/v1:Service::edge/ml/qwen-107f2-service",
        "berth:index:Endpoint$kubernetes:core/v1:Service::edge/ml/saas-service",
        "berth:index:Endpoint$kubernetes:discovery.k8s.io/v1:EndpointSlice::edge/ml/qwen-107f2-slice",
        "berth:index:Endpoint$kubernetes:discovery.k8s.io/v1:EndpointSlice::edge/ml/saas-slice",
        "berth:index:Endpoint$kubernetes:gateway.networking.k8s.io/v1:BackendTLSPolicy::edge/ml/saas-tls",
        "berth:index:FrontDoor$kubernetes:gateway.networking.k8s.io/v1:Gateway::edge/front-door-gateway",
        "berth:index:FrontDoor$kubernetes:gateway.networking.k8s.io/v1:GatewayClass::edge/front-door-class",
        "berth:index:FrontDoor$kubernetes:helm.sh/v3:Release::edge/front-door-traefik",
        "berth:index:Namespace$kubernetes:core/v1:NamespacePatch::a/ml-namespace",
        "berth:index:Namespace$kubernetes:core/v1:NamespacePatch::edge/ml-namespace",
        "berth:index:Replica$kubernetes:apps/v1:Deployment::ml/qwen/a/0-picker",
        "berth:index:Replica$kubernetes:apps/v1:Deployment::ml/qwen/a/0-workload-main",
        "berth:index:Replica$kubernetes:core/v1:ConfigMap::ml/qwen/a/0-picker-config",
        "berth:index:Replica$kubernetes:core/v1:Service::ml/qwen/a/0-picker-service",
        "berth:index:Replica$kubernetes:core/v1:ServiceAccount::ml/qwen/a/0-picker-account",
        "berth:index:Replica$kubernetes:gateway.networking.k8s.io/v1:HTTPRoute::ml/qwen/a/0-route",
        "berth:index:Replica$kubernetes:inference.networking.k8s.io/v1:InferencePool::ml/qwen/a/0-pool",
        "berth:index:Replica$kubernetes:rbac.authorization.k8s.io/v1:Role::ml/qwen/a/0-picker-role",
        "berth:index:Replica$kubernetes:rbac.authorization.k8s.io/v1:RoleBinding::ml/qwen/a/0-picker-binding",
        "berth:index:Replica$kubernetes:resource.k8s.io/v1:ResourceClaimTemplate::ml/qwen/a/0-claim-main-standalone",
        "berth:index:Service$kubernetes:gateway.networking.k8s.io/v1:HTTPRoute::edge/ml/chat-route",
    ], BREAKS


def test_names_of_objects_on_clusters_are_pinned() -> None:
    """Existing clusters carry them, and people search for them."""
    name = replica_name(REPLICA)
    gang = engine("prefill", member("Leader"), member("Worker"))
    assert {
        "replica": name,
        "workload": engine_workload_name(name, engine("main")),
        "gang": engine_workload_name(name, gang),
        "claims": claim_template_name(name, "main", "Standalone", "content"),
        "pool": pool_service_name(name),
        "picker": picker_name(name),
        "volume": cache_claim_name(CACHE),
        "volume of a second revision": cache_claim_name(CacheId("ml-team", "qwen", "cluster-a", 1)),
        "job": cache_job_name(CACHE, "content"),
        "token": token_secret_name(CACHE),
        "token of a second revision": token_secret_name(CacheId("ml-team", "qwen", "cluster-a", 1)),
        "backend": backend_name(name),
        "service route": route_name("chat"),
        "cluster": cluster_name("eks-use1", "prod"),
        "system namespace": SYSTEM_NAMESPACE,
        "cluster gateway": CLUSTER_GATEWAY,
        "front door gateway": FRONT_DOOR_GATEWAY,
    } == {
        "replica": "my-model-5ab63",
        "workload": "my-model-5ab63-main-216f1",
        "gang": "my-model-5ab63-prefill-8ca17",
        "claims": "my-model-5ab63-main-standalone-devices-ed700-85ff3",
        "pool": "my-model-5ab63-pool",
        "picker": "my-model-5ab63-epp",
        "volume": "modelcache-ml-team-qwen-17db2",
        "volume of a second revision": "modelcache-ml-team-qwen-1-73863",
        "job": "modelcache-ml-team-qwen-hydrate-ed700-7185e",
        "token": "modelcache-ml-team-qwen-auth-ae01b",
        "token of a second revision": "modelcache-ml-team-qwen-1-auth-8c267",
        "backend": "my-model-5ab63",
        "service route": "modelservice-chat-350e4",
        "cluster": "prod-eks-use1-f54cb",
        "system namespace": "modelplane-system",
        "cluster gateway": "inference-gateway",
        "front door gateway": "modelplane",
    }, BREAKS


def test_label_annotation_and_tag_keys_are_pinned() -> None:
    """Selectors of running workloads, dashboards and cost reports rest on them."""
    assert {key.name: key.value for key in Label} == {
        "DEPLOYMENT": "modelplane.ai/deployment",
        "CLUSTER": "modelplane.ai/cluster",
        "REPLICA_INDEX": "modelplane.ai/replica-index",
        "POOL": "modelplane.ai/pool",
        "GPU": "modelplane.ai/gpu",
        "SERVING": "modelplane.ai/serving",
        "WORKLOAD": "modelplane.ai/workload",
        "LWS_ROLE": "modelplane.ai/lws-role",
        "PICKER_CHECKSUM": "modelplane.ai/epp-config-checksum",
        "CACHE": "modelplane.ai/modelcache",
        "ENVIRONMENT": "berth.dev/environment",
        "OWNER": "berth.dev/owner",
        "SIMULATED": "berth.dev/simulated",
    }, BREAKS
    assert {key.name: key.value for key in Tag} == {
        "ENVIRONMENT": "berth:environment",
        "STACK": "berth:stack",
        "COMPONENT": "berth:component",
        "OWNER": "berth:owner",
        "COST_CENTRE": "berth:cost-centre",
    }, BREAKS
    assert (GPU_TAINT_KEY, GPU_TAINT_VALUE, GPU_TAINT_EFFECT) == ("nvidia.com/gpu", "true", "NoSchedule"), BREAKS


def test_configuration_keys_and_output_names_are_pinned() -> None:
    """Stack files of users hold the keys, and other stacks read the outputs."""
    assert (SECRETS_KEY, GATEWAYS_KEY, STAGED_KEY) == ("berth:secrets", "berth:gateways", "berth:staged"), BREAKS
    schema = StackOutputs.model_json_schema(by_alias=True)
    assert sorted(schema["properties"]) == [
        "backed",
        "berth",
        "clusters",
        "environment",
        "frontDoors",
        "platformDigest",
        "schema",
        "services",
        "simulated",
    ], BREAKS
    assert sorted(schema["$defs"]["ClusterSummary"]["properties"]) == [
        "endpoint",
        "gatewayAddress",
        "pools",
        "source",
        "storageClass",
    ], BREAKS


def _renamed(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Give every file another name in its folder, so that they are read in another order."""
    renamed = {"environment.yaml": files["environment.yaml"]}
    for number, (path, text) in enumerate(sorted(files.items(), reverse=True)):
        folder, _, name = path.rpartition("/")
        if folder:
            renamed[f"{folder}/{number:02}-{name}"] = text
    return renamed


def _joined(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Put all documents of a folder into one file, the last one first."""
    folders: dict[str, list[bytes]] = {}
    for path, text in files.items():
        folders.setdefault(path.rpartition("/")[0], []).extend(text.split(b"---\n"))
    return {f"{folder}/all.yaml".lstrip("/"): b"---\n".join(reversed(parts)) for folder, parts in folders.items()}


def _shuffled(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Read the files in another order."""
    names = list(files)
    random.Random(7).shuffle(names)  # noqa: S311 (an order, not a secret)
    return {name: files[name] for name in names}


def _commented(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Put a comment before every line."""
    return {
        path: b"".join(b"# note\n" + line for line in text.splitlines(keepends=True)) for path, text in files.items()
    }


@pytest.mark.parametrize("change", [_renamed, _joined, _shuffled, _commented], ids=lambda change: change.__name__[1:])
def test_no_urn_depends_on_how_manifests_are_written(change: Callable[[Mapping[str, bytes]], dict[str, bytes]]) -> None:
    """Renaming files, moving and reordering documents, and comments build the very same resources."""
    files = {**small_files(), "models/ml/weights.yaml": CACHE_MANIFEST, "models/ml/other.yaml": deployment("other")}
    placed = (Placed("ml", "qwen", "a", "gpu"), Placed("ml", "other", "b", "gpu"))
    caches = (("ml", "weights", "a"),)
    assert urns(change(files), placed, caches) == urns(files, placed, caches), BREAKS


def test_no_urn_of_a_replica_depends_on_its_shape_class_or_pool() -> None:
    """An edited image, class or pool is a change of the replica, never another replica."""
    files = small_files()
    before = urns(files, (Placed("ml", "qwen", "a", "gpu"),))
    files["models/ml/qwen.yaml"] = (
        files["models/ml/qwen.yaml"].replace(b"vllm:1", b"vllm:2").replace(b"count: 2", b"count: 1")
    )
    files["platform/a.yaml"] = existing_cluster("a", pool="renamed", storage="nfs").replace(b"l40s-4x", b"other")
    files["platform/other.yaml"] = files["platform/class.yaml"].replace(b"l40s-4x", b"other")
    after = urns(files, (Placed("ml", "qwen", "a", "renamed"),))
    pools = {urn for urn in before ^ after if "berth:index:Pool" in urn}
    assert before ^ after == pools, BREAKS


def test_moving_a_replica_is_another_identity_and_leaves_everything_else_alone() -> None:
    """Its successor is built beside it; no other component sees the move."""
    stay = Placed("ml", "other", "a", "gpu")
    files = {**small_files(), "models/ml/other.yaml": deployment("other")}
    before = urns(files, (Placed("ml", "qwen", "a", "gpu"), stay))
    after = urns(files, (Placed("ml", "qwen", "b", "gpu"), stay))
    names = {urn.rpartition("::")[2] for urn in before ^ after}
    assert all(name.startswith(("ml/qwen/", "edge/ml/qwen-", "b/ml")) for name in names), BREAKS
    assert names, "nothing moved"
