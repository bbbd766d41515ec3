"""What exists after a step if all of it succeeds: only for showing a whole plan before its first step is applied."""

from dataclasses import replace

from automation.planning.parts import Parts
from automation.scheduling.existing import (
    Existing,
    ExistingCache,
    ExistingCluster,
    ExistingEndpoint,
    ExistingFrontDoor,
    ExistingNamespace,
    ExistingReplica,
    ExistingService,
)
from components.lock import Lock


def arrived(existing: Existing, lock: Lock) -> Existing:
    """Return what exists once ``lock`` has been applied in full: all of it, nothing else, everything ready."""
    parts = Parts.of_lock(lock)
    services = {key: ExistingService(key[0], entry) for key, entry in parts.services.items()}
    endpoints = {key: ExistingEndpoint(*key, external=entry) for key, entry in parts.endpoints.items()}
    endpoints |= {key: ExistingEndpoint(*key, replica=identity) for key, identity in parts.routed_replicas()}
    if not parts.doors:
        services, endpoints = {}, {}  # routes lie on front doors
    return Existing(
        clusters={
            name: replace(
                existing.clusters.get(name, ExistingCluster(name)),
                source=entry.source,
                release=entry.release,
                ready=True,
                failure="",
            )
            for name, entry in parts.clusters.items()
        },
        replicas={key: ExistingReplica(key, entry, shape) for key, (entry, shape) in parts.replicas.items()},
        caches={key: ExistingCache(key, entry, shape) for key, (entry, shape) in parts.caches.items()},
        services=services,
        endpoints=endpoints,
        front_doors={
            name: replace(
                existing.front_doors.get(name, ExistingFrontDoor(name)),
                gateway="default",
                ready=True,
                failure="",
                services=services,
                endpoints=endpoints,
            )
            for name in sorted(parts.doors)
        },
        namespaces={key: ExistingNamespace(*key, created=created) for key, created in parts.namespaces.items()},
        pools=existing.pools,
        simulated=existing.simulated,
        backed=existing.backed,
    )
