"""Small, complete values that many tests start from: shapes, entries, a cluster's outputs, an environment's files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from automation.planning.shapes import cache_shape, replica_shape
from components.api.fleet import Fleet
from components.api.load import load_fleet
from components.api.model_service import EndpointSelector
from components.frontdoor.weights import weights
from components.lock import (
    Backend,
    CacheEntry,
    CacheUse,
    Claim,
    ClusterEntry,
    EnginePlacement,
    EngineShape,
    ExternalEndpoint,
    Lock,
    MemberPlacement,
    MemberShape,
    NamespaceEntry,
    NamespaceLock,
    Phase,
    PlatformLock,
    ReplicaEntry,
    ReplicaShape,
    RequestShape,
    ServiceEntry,
    shape_digest,
)
from components.naming import ReplicaId, replica_name

if TYPE_CHECKING:
    from components.clusters.contract import ClusterOutputs

ENVIRONMENTS: Final = Path(__file__).parents[2] / "stacks" / "environments"
GPU_CLASS = "gpu.nvidia.com"
BIG_ENOUGH = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('20Gi')) >= 0"


def template(**container: Any) -> dict[str, Any]:
    """Return a pod template as manifests give it; ``pod`` and ``metadata`` add to it, the rest to the container."""
    pod = container.pop("pod", {})
    metadata = container.pop("metadata", None)
    body: dict[str, Any] = {"spec": {"containers": [{"name": "engine", "image": "vllm:1", **container}], **pod}}
    return {"metadata": metadata, **body} if metadata else body


def member(role: str = "Standalone", *, gpus: int = 1, pods: int = 1, **container: Any) -> MemberShape:
    """Return a member that asks for ``gpus`` devices; 0 asks for none."""
    requests = (RequestShape(name="gpu", count=gpus, selectors=(BIG_ENOUGH,)),) if gpus else ()
    return MemberShape(role=role, pods=pods, requests=requests, template=template(**container))


def engine(name: str = "main", *members: MemberShape, copies: int = 1, phase: str | None = None) -> EngineShape:
    """Return an engine; without members it is one standalone pod with one GPU."""
    return EngineShape(name=name, copies=copies, phase=phase, members=members or (member(),))


def shape(*engines: EngineShape, cache: str = "", digest: str = "", mode: str = "Unified") -> ReplicaShape:
    """Return a replica's shape; ``cache`` names the cache it reads in the revision ``digest``."""
    use = CacheUse(name=cache, shape=digest) if cache else None
    return ReplicaShape(serving_mode=mode, cache=use, engines=engines or (engine(),))


def placement(*engines: EngineShape, pool: str = "l4") -> tuple[EnginePlacement, ...]:
    """Place every member of every engine on one pool, with all its requests claimed."""
    return tuple(
        EnginePlacement(
            engine=each.name,
            members=tuple(
                MemberPlacement(
                    pool=pool,
                    claims=tuple(Claim(request=request.name, device_class=GPU_CLASS) for request in one.requests),
                )
                for one in each.members
            ),
        )
        for each in engines
    )


def entry(
    what: ReplicaShape,
    *,
    deployment: str = "qwen",
    cluster: str = "eks-a",
    index: int = 0,
    name: str = "qwen-5ab63",
    phase: Phase = Phase.SERVING,
    labels: Mapping[str, str] = MappingProxyType({}),
    pool: str = "l4",
) -> ReplicaEntry:
    """Return a lock's entry of a replica, with its engines all on one pool."""
    return ReplicaEntry(
        deployment=deployment,
        cluster=cluster,
        index=index,
        name=name,
        phase=phase,
        shape=shape_digest(what),
        labels=dict(labels),
        placement=placement(*what.engines, pool=pool),
    )


def container_of(pod: Mapping[str, Any], name: str = "engine") -> Mapping[str, Any]:
    """Return a container of a pod."""
    containers: Sequence[Mapping[str, Any]] = pod["spec"]["containers"]
    return next(container for container in containers if container["name"] == name)


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a test puts a replica of a deployment: every engine on one pool."""

    namespace: str
    deployment: str
    cluster: str
    pool: str
    index: int = 0
    phase: Phase = Phase.SERVING


def lock_of(fleet: Fleet, placed: Sequence[Placed], *, caches: Sequence[tuple[str, str, str]] = ()) -> Lock:
    """Return a lock of ``fleet`` with these replicas and caches (namespace, cache, cluster); services lead to all.

    It fits the manifests, and holds every cluster of theirs.
    """
    doors = tuple(sorted(fleet.environment.spec.front_doors))
    parts: dict[str, NamespaceLock] = {}
    for namespace in fleet.namespaces:
        replicas, shapes, endpoints = [], {}, {}
        for where in (each for each in placed if each.namespace == namespace):
            deployment = fleet.deployments[namespace, where.deployment]
            what = replica_shape(fleet, deployment)
            identity = ReplicaId(namespace, where.deployment, where.cluster, where.index)
            labels = dict(deployment.spec.template.metadata.labels)
            one = entry(
                what,
                deployment=where.deployment,
                cluster=where.cluster,
                index=where.index,
                name=replica_name(identity),
                phase=where.phase,
                labels=labels,
                pool=where.pool,
            )
            replicas.append(one)
            shapes[one.shape] = what
            if where.phase is Phase.SERVING:
                endpoints[one.name] = labels
        staged = []
        for _, cache, cluster in (each for each in caches if each[0] == namespace):
            content = cache_shape(fleet.caches[namespace, cache])
            staged.append(CacheEntry(cache=cache, cluster=cluster, shape=shape_digest(content)))
            shapes[shape_digest(content)] = content
        external = [(name, each) for (space, name), each in fleet.endpoints.items() if space == namespace]
        endpoints |= {name: dict(each.metadata.labels) for name, each in external}
        services = [
            ServiceEntry(
                name=name,
                backends=tuple(
                    Backend(endpoint=endpoint, weight=weight)
                    for endpoint, weight in weights(
                        [
                            (group.weight, [n for n in sorted(endpoints) if _selects(group.selector, endpoints[n])])
                            for group in service.spec.endpoints
                        ]
                    )
                ),
            )
            for (space, name), service in fleet.services.items()
            if space == namespace
        ]
        used = {each.cluster for each in (*replicas, *staged)} | (
            set(doors) if services or replicas or external else set()
        )
        parts[namespace] = NamespaceLock(
            berth="0.1.0",
            namespace=namespace,
            digest=fleet.namespace_digest(namespace),
            namespaces=tuple(NamespaceEntry(cluster=name) for name in sorted(used)),
            replicas=tuple(replicas),
            caches=tuple(staged),
            endpoints=tuple(
                ExternalEndpoint(name=name, url=each.spec.url, rewrite_path=each.spec.rewrite_path)
                for name, each in external
            ),
            services=tuple(services),
            shapes=shapes,
        )
    platform = PlatformLock(
        berth="0.1.0",
        environment=fleet.name,
        digest=fleet.platform_digest(),
        clusters=tuple(
            ClusterEntry(name=name, source=cluster.source, release="default")
            for name, cluster in sorted(fleet.clusters.items())
        ),
        front_doors=doors,
    )
    return Lock(platform).with_namespaces(parts)


def _selects(selector: EndpointSelector, labels: Mapping[str, str]) -> bool:
    return all(labels.get(key) == value for key, value in selector.match_labels.items())


def environment_files(name: str = "dev", root: Path = ENVIRONMENTS) -> dict[str, bytes]:
    """Return the manifests of a sample environment of this repo, by path."""
    folder = root / name
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*.yaml"))
        if "lock" not in path.relative_to(folder).parts
    }


def fleet_of(files: Mapping[str, bytes], *, name: str = "dev") -> Fleet:
    """Load files that must be right."""
    return load_fleet(files.items(), name=name).raise_if_errors()


KUBECONFIG: Final = """\
apiVersion: v1
kind: Config
current-context: edge
clusters: [{name: edge, cluster: {server: "https://edge.example.test:6443"}}]
contexts: [{name: edge, context: {cluster: edge, user: edge}}]
users: [{name: edge, user: {token: sample-kubeconfig-token}}]
"""

EDGE_SECRETS: Final = MappingProxyType(
    {
        f"modelplane-system/{name}-kubeconfig": {"kubeconfig": KUBECONFIG.replace("edge", name)}
        for name in ("a", "b", "edge")
    }
)
"""What the existing clusters of the sample environments need."""

DEV_PLACED: Final = (
    Placed("ml-team", "qwen3-8b", "eks-euw1", "l4"),
    Placed("ml-team", "qwen2-5-72b", "eks-use1", "h100"),
    Placed("search", "embedder", "eks-euw1", "l40s"),
    Placed("search", "reranker", "eks-euw1", "l40s"),
)
"""Where the sample environment ``dev`` can have its replicas."""
DEV_CACHES: Final = (("ml-team", "qwen2-5-72b", "eks-use1"),)


_CLASS = b"""\
apiVersion: modelplane.ai/v1alpha1
kind: InferenceClass
metadata: {name: l40s-4x}
spec:
  devices:
    - name: gpu
      driver: gpu.nvidia.com
      deviceClassName: gpu.nvidia.com
      count: 4
      capacity: {memory: {value: 46068Mi}}
"""

_GATEWAY = b"""\
apiVersion: modelplane.ai/v1alpha1
kind: InferenceGateway
metadata: {name: default}
spec: {backend: Traefik, traefik: {version: 40.2.0}}
"""


def existing_cluster(name: str, *, pool: str = "", storage: str = "") -> bytes:
    """Return the manifest of a cluster that exists; its kubeconfig is in ``EDGE_SECRETS``."""
    pools = f"\n  nodePools: [{{name: {pool}, className: l40s-4x, nodeCount: 2}}]" if pool else ""
    cache = f"\n      cache: {{storageClassName: {storage}}}" if storage else ""
    return f"""\
apiVersion: modelplane.ai/v1alpha1
kind: InferenceCluster
metadata: {{name: {name}, labels: {{cluster: {name}}}}}
spec:
  cluster:
    source: Existing
    existing:
      secretRef: {{name: {name}-kubeconfig}}{cache}{pools}
""".encode()


def deployment(name: str, *, namespace: str = "ml", cache: str = "", env: str = "", taint: str = "") -> bytes:
    """Return the manifest of a deployment of one pod with two GPUs."""
    reads = f"\n      modelCacheRef: {{name: {cache}}}" if cache else ""
    tolerates = f"\n      tolerations: [{{key: {taint}, operator: Exists}}]" if taint else ""
    return f"""\
apiVersion: modelplane.ai/v1alpha1
kind: ModelDeployment
metadata: {{name: {name}, namespace: {namespace}}}
spec:
  replicas: 1
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:{reads}{tolerates}
      engines:
        - name: main
          members:
            - nodeSelector:
                devices:
                  - {{name: gpu, count: 2, selectors: [{{cel: "true"}}]}}
              template:
                spec:
                  containers: [{{name: engine, image: "vllm:1", env: [{env}]}}]
""".encode()


def small_files(*, layout: str = "Single", secrets: str = "") -> dict[str, bytes]:
    """Return a fleet of clusters that exist, which registers in a moment: two that serve, and a front door."""
    return {
        "environment.yaml": f"""\
apiVersion: berth.dev/v1alpha1
kind: Environment
metadata: {{name: dev}}
spec: {{layout: {layout}, frontDoors: [edge], secrets: [{secrets}]}}
""".encode(),
        "platform/class.yaml": _CLASS,
        "platform/gateway.yaml": _GATEWAY,
        "platform/a.yaml": existing_cluster("a", pool="gpu", storage="nfs"),
        "platform/b.yaml": existing_cluster("b", pool="gpu"),
        "platform/edge.yaml": existing_cluster("edge"),
        "models/ml/qwen.yaml": deployment("qwen"),
        "models/ml/service.yaml": b"""\
apiVersion: modelplane.ai/v1alpha1
kind: ModelService
metadata: {name: chat, namespace: ml}
spec: {endpoints: [{selector: {matchLabels: {app: qwen}}}]}
""",
    }


def cluster_outputs(name: str = "a", *, owned: bool = False, storage: str | None = "nfs") -> "ClusterOutputs":
    """Return what a cluster gives, inside a program; ``owned`` ones take along what lies on them."""
    import pulumi  # noqa: PLC0415 (only component tests need the SDK)
    import pulumi_kubernetes as kubernetes  # noqa: PLC0415 (a slow SDK, for those who need it)

    from components.clusters.contract import ClusterOutputs  # noqa: PLC0415 (only this test needs it)

    provider = kubernetes.Provider(f"{name}-kubernetes", kubeconfig=pulumi.Output.secret("{}"))
    ready = kubernetes.core.v1.ConfigMap(f"{name}-ready", opts=pulumi.ResourceOptions(provider=provider))
    nodes = kubernetes.core.v1.ConfigMap(f"{name}-nodes", opts=pulumi.ResourceOptions(provider=provider))
    return ClusterOutputs(
        name=name,
        source="EKS" if owned else "Existing",
        cluster=ready,
        provider=provider,
        identifier=f"dev/{name}",
        endpoint=pulumi.Output.from_input("https://a.test"),
        storage_class=storage,
        driver_root="/",
        pools=(),
        ready=(ready,),
        nodes=MappingProxyType({"l4": nodes}),
        storage=(ready,),
        deleted_with=ready if owned else None,
    )
