"""The target lock: what is wanted in the end, as it is committed and reviewed.

It follows from manifests, schedule and state alone; planning twice gives the same bytes. It knows one phase, Serving:
how far a replica is belongs to the steps.
"""

from collections.abc import Iterable, Iterator

from automation.planning.caches import wanted_caches
from automation.planning.hold import hold
from automation.planning.parts import GIVEN_NAMESPACES, Parts
from automation.planning.services import service_entries
from automation.planning.stays import stays
from automation.scheduling.changes import NO_CHANGES, PlatformChanges
from automation.scheduling.existing import Existing, NamespacedName
from automation.scheduling.result import Placed, Schedule
from components.api.fleet import Fleet
from components.lock import (
    ClusterEntry,
    ExternalEndpoint,
    Lock,
    Phase,
    PlatformLock,
    ReplicaEntry,
    ReplicaShape,
)
from components.naming import CacheId, ReplicaId


def target_lock(
    fleet: Fleet,
    schedule: Schedule,
    existing: Existing,
    *,
    berth: str,
    simulated: bool = False,
    backed: bool = False,
    changes: PlatformChanges = NO_CHANGES,
) -> Lock:
    """Return the lock of what is wanted; ``berth`` is the version that plans, ``simulated`` marks simulated clouds.

    ``backed`` says that these have real clusters on this machine.
    A pool from which something must leave and cannot (``changes`` says which) stays in it as it is.
    """
    replicas = dict(_replicas(fleet, schedule.placements))
    caches = wanted_caches(fleet, existing, schedule.placements)
    kept = {identity.cluster for identity in replicas}
    endpoints = external_endpoints(fleet)
    doors = tuple(sorted(fleet.environment.spec.front_doors))
    parts = Parts(
        clusters=dict(_clusters(fleet, kept)),
        replicas=replicas,
        caches=caches,
        services=dict(service_entries(fleet, {identity: entry for identity, (entry, _) in replicas.items()})),
        endpoints=endpoints,
        namespaces=_namespaces(fleet, existing, replicas, caches, doors),
        doors=frozenset(doors),
    )
    return hold(
        parts.lock(fleet, platform_header(fleet, berth=berth, simulated=simulated, backed=backed)), existing, changes
    )


def platform_header(fleet: Fleet, *, berth: str, simulated: bool = False, backed: bool = False) -> PlatformLock:
    """Return the platform's part of a lock without its clusters."""
    return PlatformLock(
        berth=berth,
        environment=fleet.name,
        simulated=True if simulated else None,
        backed=True if backed else None,
        digest=fleet.platform_digest(),
        front_doors=tuple(sorted(fleet.environment.spec.front_doors)),
    )


def external_endpoints(fleet: Fleet) -> dict[NamespacedName, ExternalEndpoint]:
    """Return the endpoints outside the fleet that the manifests name."""
    return {
        key: ExternalEndpoint(name=each.name, url=each.spec.url, rewrite_path=each.spec.rewrite_path)
        for key, each in sorted(fleet.endpoints.items())
    }


def cluster_entry(fleet: Fleet, name: str) -> ClusterEntry:
    """Return a cluster with the release that its manifest or the environment asks for."""
    manifest = fleet.clusters[name]
    return ClusterEntry(
        name=name, source=manifest.source, release=manifest.spec.release or fleet.environment.spec.release
    )


def _clusters(fleet: Fleet, kept: set[str]) -> Iterator[tuple[str, ClusterEntry]]:
    """Yield the clusters that are wanted; one on its way out stays while a replica has nowhere else to go."""
    for name, manifest in sorted(fleet.clusters.items()):
        if not manifest.spec.lost and (not manifest.spec.removing or name in kept):
            yield name, cluster_entry(fleet, name)


def _replicas(
    fleet: Fleet, placements: Iterable[Placed]
) -> Iterator[tuple[ReplicaId, tuple[ReplicaEntry, ReplicaShape]]]:
    for placed in placements:
        entry = ReplicaEntry(
            deployment=placed.id.deployment,
            cluster=placed.id.cluster,
            index=placed.id.index,
            name=placed.name,
            phase=Phase.SERVING,
            shape=placed.digest,
            labels=placed.labels,
            placement=placed.placement,
            stays=stays(fleet, placed.id, placed.shape) if placed.kept else None,
        )
        yield placed.id, (entry, placed.shape)


def _namespaces(
    fleet: Fleet,
    existing: Existing,
    replicas: Iterable[ReplicaId],
    caches: Iterable[CacheId],
    doors: tuple[str, ...],
) -> dict[NamespacedName, bool]:
    """Return every namespace that something is in: on the clusters of replicas and caches, and on the front doors."""
    used = {(identity.namespace, identity.cluster) for identity in replicas}
    routed = {namespace for namespace, _ in used} | {key[0] for key in (*fleet.services, *fleet.endpoints)}
    used |= {(identity.namespace, identity.cluster) for identity in caches}
    used |= {(namespace, door) for namespace in routed for door in doors if door in fleet.clusters}
    created = {}
    for key in sorted(used):
        known = existing.namespaces.get(key)
        created[key] = known.created if known else key[0] not in GIVEN_NAMESPACES
    return created
