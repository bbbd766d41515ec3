"""The program: what Pulumi must build for one shard of an environment.

A pure function of manifests, lock, shard and configuration: no clock, no network, no reading of state or files. Which
clusters, replicas, caches, routes there are is the lock's word alone; how a cluster is made, and what policies must
know of a deployment, is the manifests'. Components are joined here (clusters, and what makes them serve, in
``platform``) and nowhere else.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

import pulumi

from components.api.fleet import Fleet
from components.checks import check_lock
from components.checks.check_lock import footprint
from components.clusters.contract import ClusterOutputs
from components.errors import ConfigError, LockError, Problem
from components.frontdoor.endpoint import Address, Endpoint, EndpointArgs
from components.frontdoor.gateway import FrontDoor, FrontDoorArgs
from components.frontdoor.service import Service, ServiceArgs, ServiceBackend
from components.labels import Label
from components.lock import CacheShape, ExternalEndpoint, Lock, Phase, ReplicaEntry, ReplicaShape, ServiceEntry
from components.models.cache import Cache, CacheArgs
from components.models.namespace import Namespace, NamespaceArgs
from components.models.replica import Replica, ReplicaArgs
from components.models.routing import replica_path
from components.models.secrets import needed_secrets
from components.naming import CacheId, ReplicaId
from stacks.config import GATEWAYS_KEY, ProgramConfig
from stacks.outputs import export
from stacks.platform import BuiltCluster, build_clusters
from stacks.rehearsal import simulated_secret
from stacks.secrets import require_secrets
from stacks.shard import Shard

_RENEW = "berth plan"


def program(fleet: Fleet, lock: Lock, shard: Shard, config: ProgramConfig) -> None:
    """Register everything of ``shard`` and export its outputs.

    Raises LockError before anything is registered when the lock breaks ownership, taints or footprint (unless the
    policy pack judges that), and later when it contradicts itself; ConfigError with every secret that is missing.
    """
    if not config.gated:
        refuse_violations(fleet, lock)
    require_secrets(fleet, lock, shard, config)
    clusters = build_clusters(fleet, lock, shard, config)
    scene = _Scene(fleet, lock, shard, config, clusters)
    _build_namespaces(scene)
    _build_caches(scene)
    _build_replicas(scene)
    doors = _build_front_doors(scene) if shard.routes else {}
    services = {name: _build_routes(scene, name, door) for name, door in doors.items()}
    export(
        berth=config.berth_version,
        environment=fleet.name,
        simulated=config.simulated,
        backed=config.backed,
        platform_digest=shard.platform_digest(fleet),
        clusters={name: cluster.summary() for name, cluster in clusters.items()},
        services=_by_service(services),
        front_doors={name: door.address for name, door in doors.items()},
    )


def refuse_violations(fleet: Fleet, lock: Lock) -> None:
    """Raise LockError naming every rule that the lock breaks; the same checks as the policy pack's."""
    violations = check_lock(fleet, lock)
    if violations:
        listed = "\n".join(f"  {violation} ({violation.remediation})" for violation in violations)
        count = f"{len(violations)} rule{'' if len(violations) == 1 else 's'}"
        raise LockError(f"the lock breaks {count}:\n{listed}", consequence="Nothing was changed.", help=_RENEW)


@dataclass(slots=True)
class _Scene:
    """What has been registered so far; lives for one run of the program."""

    fleet: Fleet
    lock: Lock
    shard: Shard
    config: ProgramConfig
    clusters: Mapping[str, BuiltCluster]
    namespaces: dict[tuple[str, str], Namespace] = field(default_factory=dict)
    caches: dict[CacheId, Cache] = field(default_factory=dict)
    replicas: dict[ReplicaId, Replica] = field(default_factory=dict)

    def cluster(self, name: str, wanted_by: str) -> ClusterOutputs:
        """Return a cluster of this shard; one that the lock does not have cannot carry anything."""
        if name not in self.clusters:
            raise LockError(f"{wanted_by} is on cluster {name}, which the lock does not have", help=_RENEW)
        return self.clusters[name].outputs

    def namespace(self, cluster: str, namespace: str, wanted_by: str) -> Namespace:
        """Return a namespace of a cluster."""
        found = self.namespaces.get((cluster, namespace))
        if found is None:
            raise LockError(
                f"{wanted_by} is in namespace {namespace} of cluster {cluster}, which the lock does not have",
                help=_RENEW,
            )
        return found


def _build_namespaces(scene: _Scene) -> None:
    needed = needed_secrets(scene.lock)
    for namespace, part in scene.lock.namespaces.items():
        for entry in part.namespaces:
            if not scene.shard.holds(entry.cluster):
                continue
            names = needed.get((namespace, entry.cluster), set())
            held = {name: data for name in names if (data := scene.config.secret(namespace, name)) is not None}
            args = NamespaceArgs(
                cluster=entry.cluster,
                namespace=namespace,
                environment=scene.fleet.name,
                created=entry.created,
                secrets=held,
            )
            cluster = scene.cluster(entry.cluster, f"namespace {namespace}")
            scene.namespaces[entry.cluster, namespace] = Namespace(args, cluster=cluster, depends_on=())


def _build_caches(scene: _Scene) -> None:
    for identity, entry, shape in scene.lock.caches():
        if not scene.shard.holds(identity.cluster):
            continue
        wanted = f"cache {identity}"
        cluster = scene.cluster(identity.cluster, wanted)
        if cluster.storage_class is None:
            raise LockError(f"{wanted} has no shared storage: cluster {identity.cluster} offers none", help=_RENEW)
        args = CacheArgs(
            identity=identity,
            digest=entry.shape,
            shape=shape,
            environment=scene.fleet.name,
            storage_class=cluster.storage_class,
            token=_token(scene, identity, shape),
        )
        space = scene.namespace(identity.cluster, identity.namespace, wanted)
        scene.caches[identity] = Cache(args, cluster=cluster, depends_on=space.ready)


def _token(scene: _Scene, identity: CacheId, shape: CacheShape) -> pulumi.Input[str] | None:
    if shape.secret is None or str(identity) in scene.config.staged:
        return None
    token = (scene.config.secret(identity.namespace, shape.secret.name) or {}).get(shape.secret.key)
    if token is None and scene.config.simulated:
        return simulated_secret()
    assert token is not None, "secrets that are needed and missing are refused before"
    return token


def _build_replicas(scene: _Scene) -> None:
    staged = {
        (identity.namespace, identity.cache, identity.cluster, entry.shape): identity
        for identity, entry, _ in scene.lock.caches()
    }
    for identity, entry, shape in scene.lock.replicas():
        if not scene.shard.holds(identity.cluster):
            continue
        wanted = f"replica {identity}"
        cluster = scene.cluster(identity.cluster, wanted)
        space = scene.namespace(identity.cluster, identity.namespace, wanted)
        cache = _cache_of(scene, identity, shape, staged)
        args = ReplicaArgs(
            identity=identity,
            entry=entry,
            shape=shape,
            environment=scene.fleet.name,
            tolerations=_tolerations(scene.fleet, identity),
            cache_footprint=_footprint(scene.fleet, identity, shape),
            cache_claim=cache.claim_name if cache else "",
            cache_gib=cache.size_gib if cache else 0,
        )
        before = [*scene.clusters[identity.cluster].serving, *space.ready, *(cache.staged if cache else ())]
        scene.replicas[identity] = Replica(args, cluster=cluster, depends_on=before)


def _cache_of(
    scene: _Scene, identity: ReplicaId, shape: ReplicaShape, staged: Mapping[tuple[str, str, str, str], CacheId]
) -> Cache | None:
    """Find the staged copy, in the very revision, that a replica reads."""
    if shape.cache is None:
        return None
    found = staged.get((identity.namespace, shape.cache.name, identity.cluster, shape.cache.shape))
    if found is None:
        raise LockError(
            f"replica {identity} reads a revision of cache {shape.cache.name} that is not staged", help=_RENEW
        )
    return scene.caches[found]


def _tolerations(fleet: Fleet, identity: ReplicaId) -> tuple[Mapping[str, str], ...]:
    deployment = fleet.deployments.get((identity.namespace, identity.deployment))
    if deployment is None:
        return ()
    return tuple(
        toleration.model_dump(mode="json", by_alias=True, exclude_none=True)
        for toleration in deployment.spec.template.spec.tolerations
    )


def _footprint(fleet: Fleet, identity: ReplicaId, shape: ReplicaShape) -> tuple[str, ...] | None:
    cache = fleet.caches.get((identity.namespace, shape.cache.name)) if shape.cache else None
    return footprint(fleet, cache) if cache else None


def _build_front_doors(scene: _Scene) -> dict[str, FrontDoor]:
    names = [name for name in scene.lock.platform.front_doors if scene.shard.holds(name)]
    if not names:
        return {}
    gateway = scene.fleet.gateways.get("default")
    if gateway is None or gateway.spec.traefik is None:
        raise LockError("the lock has front doors, and the manifests have no InferenceGateway `default`", help=_RENEW)
    traefik = gateway.spec.traefik
    doors = {}
    for name in names:
        cluster = scene.cluster(name, "the front door")
        args = FrontDoorArgs(
            cluster=name,
            gateway=gateway.name,
            version=traefik.version,
            environment=scene.fleet.name,
            address_pool=traefik.metallb.address_pool if traefik.load_balancer and traefik.metallb else "",
            protect=scene.fleet.environment.spec.protect and not _is_removing(scene.fleet, name),
        )
        doors[name] = FrontDoor(args, cluster=cluster, depends_on=scene.clusters[name].serving)
    return doors


def _is_removing(fleet: Fleet, cluster: str) -> bool:
    return cluster in fleet.clusters and fleet.clusters[cluster].spec.removing


@dataclass(frozen=True, slots=True)
class _Route:
    """An endpoint on one front door, as services need it. ``external`` ones are called by their own name."""

    endpoint: Endpoint
    address: Address
    rewrite_path: str | None
    external: bool


def _build_routes(scene: _Scene, door_name: str, door: FrontDoor) -> dict[str, pulumi.Output[str]]:
    """Register the endpoints and services of one front door; return the services' addresses."""
    addresses: dict[str, pulumi.Output[str]] = {}
    for namespace, part in scene.lock.namespaces.items():
        routes: dict[str, _Route] = {}
        for entry in sorted(part.replicas, key=lambda entry: (entry.deployment, entry.cluster, entry.index)):
            if entry.phase in {Phase.SERVING, Phase.DRAINING}:
                routes[entry.name] = _replica_route(scene, door_name, entry.id_in(namespace), entry)
        for external in part.endpoints:
            if external.name in routes:
                raise LockError(f"two endpoints of namespace {namespace} are named {external.name}", help=_RENEW)
            routes[external.name] = _external_route(scene, door_name, namespace, external)
        for service in part.services:
            built = _service(scene, door_name, namespace, service, routes=routes, door=door)
            addresses[f"{namespace}/{service.name}"] = built.address
    return addresses


def _replica_route(scene: _Scene, door: str, identity: ReplicaId, entry: ReplicaEntry) -> _Route:
    address = Address("http", _gateway_address(scene, identity.cluster), 80)
    rewrite = replica_path(identity.namespace, entry.name)
    args = EndpointArgs(
        front_door=door,
        namespace=identity.namespace,
        endpoint=entry.name,
        environment=scene.fleet.name,
        address=address,
        replica=str(identity),
        rewrite_path=rewrite,
        labels={
            **entry.labels,
            Label.DEPLOYMENT.value: identity.deployment,
            Label.CLUSTER.value: identity.cluster,
            Label.REPLICA_INDEX.value: str(identity.index),
        },
    )
    wanted = f"endpoint {entry.name}"
    space = scene.namespace(door, identity.namespace, wanted)
    # With everything in one stack a replica must serve before anything leads to it; else the driver sees to that.
    behind = scene.replicas[identity].serving if identity in scene.replicas else ()
    endpoint = Endpoint(args, cluster=scene.cluster(door, wanted), depends_on=[*space.ready, *behind])
    return _Route(endpoint, address, rewrite, external=False)


def _gateway_address(scene: _Scene, cluster: str) -> pulumi.Output[str]:
    built = scene.clusters.get(cluster)
    if built is not None and built.gateway_address is not None:
        return built.gateway_address
    address = scene.config.gateway_addresses.get(cluster)
    if address:
        return pulumi.Output.from_input(address)
    if pulumi.runtime.is_dry_run():
        return cast("pulumi.Output[str]", pulumi.Output.from_input(pulumi.UNKNOWN))
    raise LockError(
        f"the address of cluster {cluster}'s gateway is not known: its stack has not been applied, or {GATEWAYS_KEY}"
        " was not set",
        help=f"berth up -e {scene.fleet.name}",
    )


def _external_route(scene: _Scene, door: str, namespace: str, external: ExternalEndpoint) -> _Route:
    manifest = scene.fleet.endpoints.get((namespace, external.name))
    wanted = f"endpoint {namespace}/{external.name}"
    try:
        address = Address.parse(external.url)
    except ValueError as error:
        place = scene.fleet.place("ModelEndpoint", external.name, namespace=namespace)
        problem = Problem("endpoint-url", f"{wanted}: {error}", place.file, place.line, path="spec.url")
        raise ConfigError([problem]) from error
    args = EndpointArgs(
        front_door=door,
        namespace=namespace,
        endpoint=external.name,
        environment=scene.fleet.name,
        address=address,
        url=external.url,
        rewrite_path=external.rewrite_path,
        labels=dict(manifest.metadata.labels) if manifest else {},
    )
    space = scene.namespace(door, namespace, wanted)
    endpoint = Endpoint(args, cluster=scene.cluster(door, wanted), depends_on=space.ready)
    return _Route(endpoint, address, external.rewrite_path, external=True)


def _service(
    scene: _Scene, door_name: str, namespace: str, entry: ServiceEntry, *, routes: Mapping[str, _Route], door: FrontDoor
) -> Service:
    wanted = f"service {namespace}/{entry.name}"
    unknown = sorted({backend.endpoint for backend in entry.backends} - routes.keys())
    if unknown:
        raise LockError(f"{wanted} leads to {', '.join(unknown)}, which the lock does not have", help=_RENEW)
    used = [(backend, routes[backend.endpoint]) for backend in entry.backends]
    args = ServiceArgs(
        front_door=door_name,
        namespace=namespace,
        service=entry.name,
        environment=scene.fleet.name,
        backends=tuple(
            ServiceBackend(
                endpoint=backend.endpoint,
                weight=backend.weight,
                backend=route.endpoint.backend,
                port=route.address.port,
                rewrite_path=route.rewrite_path,
                host=route.address.name if route.external else "",
            )
            for backend, route in used
        ),
    )
    space = scene.namespace(door_name, namespace, wanted)
    before = [*door.ready, *space.ready, *(resource for _, route in used for resource in route.endpoint.ready)]
    return Service(args, cluster=scene.cluster(door_name, wanted), address=door.address, depends_on=before)


def _by_service(
    services: Mapping[str, Mapping[str, pulumi.Output[str]]],
) -> dict[str, dict[str, pulumi.Input[str]]]:
    turned: dict[str, dict[str, pulumi.Input[str]]] = {}
    for door, addresses in services.items():
        for service, address in addresses.items():
            turned.setdefault(service, {})[door] = address
    return turned
