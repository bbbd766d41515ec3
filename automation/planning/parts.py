"""The parts of a lock, keyed by identity: what steps are made of before they become files.

Three things have the same parts and can be compared: what exists, the target, and every step in between. A lock adds
what only a file needs: digests of the manifests, versions, order.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Self

from automation.planning.stays import stays
from automation.scheduling.existing import Existing, ExistingReplica, NamespacedName
from components.api.fleet import Fleet
from components.lock import (
    CacheEntry,
    CacheShape,
    ClusterEntry,
    ExternalEndpoint,
    Lock,
    NamespaceEntry,
    NamespaceLock,
    Phase,
    PlatformLock,
    ReplicaEntry,
    ReplicaShape,
    ServiceEntry,
    normalised,
)
from components.naming import CacheId, ReplicaId

GIVEN_NAMESPACES = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})
"""Namespaces that every cluster has; Berth never creates them."""


def restarts(before: ReplicaEntry, after: ReplicaEntry) -> bool:
    """Whether the pods of a replica are made anew between two entries of it: another shape, or other claims."""
    return (before.shape, before.placement) != (after.shape, after.placement)


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything of an environment that a lock names."""

    clusters: Mapping[str, ClusterEntry] = field(default_factory=dict)
    replicas: Mapping[ReplicaId, tuple[ReplicaEntry, ReplicaShape]] = field(default_factory=dict)
    caches: Mapping[CacheId, tuple[CacheEntry, CacheShape]] = field(default_factory=dict)
    services: Mapping[NamespacedName, ServiceEntry] = field(default_factory=dict)
    endpoints: Mapping[NamespacedName, ExternalEndpoint] = field(default_factory=dict)
    namespaces: Mapping[NamespacedName, bool] = field(default_factory=dict)
    """By namespace and cluster: whether Berth made it."""
    doors: frozenset[str] = frozenset()
    """The clusters that are front doors."""

    @classmethod
    def of_lock(cls, lock: Lock) -> Self:
        """Take a lock apart. Held pools are no part: they follow from the replicas, and ``hold`` adds them."""
        parts = lock.namespaces.items()
        return cls(
            clusters={entry.name: entry.model_copy(update={"held": None}) for entry in lock.platform.clusters},
            replicas={identity: (entry, shape) for identity, entry, shape in lock.replicas()},
            caches={identity: (entry, shape) for identity, entry, shape in lock.caches()},
            services={(name, entry.name): entry for name, part in parts for entry in part.services},
            endpoints={(name, entry.name): entry for name, part in parts for entry in part.endpoints},
            namespaces={(name, entry.cluster): entry.created for name, part in parts for entry in part.namespaces},
            doors=frozenset(lock.platform.front_doors),
        )

    @classmethod
    def of_existing(cls, existing: Existing, fleet: Fleet, *, marked: bool = True) -> Self:
        """Return what exists on clusters that can still be built: those that have a manifest and are not lost.

        A replica that the rules would keep off its cluster by now is ``marked`` as one that was there first; otherwise
        its entry is as it stands in the state.
        """
        manifests = fleet.clusters

        def there(cluster: str) -> bool:
            return cluster in manifests and not manifests[cluster].spec.lost

        def entry(each: ExistingReplica) -> ReplicaEntry:
            mark = stays(fleet, each.id, each.shape) if marked else each.entry.stays
            return each.entry if mark == each.entry.stays else each.entry.model_copy(update={"stays": mark})

        return cls(
            clusters={
                name: ClusterEntry(name=name, source=each.source, release=each.release)
                for name, each in sorted(existing.clusters.items())
                if there(name)
            },
            replicas={
                identity: (entry(each), each.shape)
                for identity, each in sorted(existing.replicas.items())
                if there(identity.cluster)
            },
            caches={
                identity: (each.entry, each.shape)
                for identity, each in sorted(existing.caches.items())
                if there(identity.cluster)
            },
            services={key: each.entry for key, each in sorted(existing.services.items())},
            endpoints={
                key: each.external for key, each in sorted(existing.endpoints.items()) if each.external is not None
            },
            namespaces={key: each.created for key, each in sorted(existing.namespaces.items()) if there(each.cluster)},
            doors=frozenset(name for name in existing.front_doors if there(name)),
        )

    def routed(self) -> "Parts":
        """Return these parts with services that lead only to endpoints that they have."""
        known = {*self.endpoints, *(key for key, _ in self.routed_replicas())}
        services = {
            (namespace, name): entry.model_copy(
                update={"backends": tuple(each for each in entry.backends if (namespace, each.endpoint) in known)}
            )
            for (namespace, name), entry in self.services.items()
        }
        return replace(self, services=services)

    def routed_replicas(self) -> Iterator[tuple[NamespacedName, ReplicaId]]:
        """Yield the endpoints of replicas: every one that serves or drains has one, by namespace and name."""
        for identity, (entry, _) in self.replicas.items():
            if entry.phase is not Phase.STARTING:
                yield (identity.namespace, entry.name), identity

    def lock(self, fleet: Fleet, platform: PlatformLock) -> Lock:
        """Return these parts as a lock for ``fleet``; ``platform`` gives all that is not a part.

        Every namespace of the manifests has its file, also when nothing of it is placed.
        """
        names = {*fleet.namespaces, *(replica.namespace for replica in self.replicas)}
        names |= {cache.namespace for cache in self.caches}
        names |= {namespace for group in (self.services, self.endpoints, self.namespaces) for namespace, _ in group}
        files = {name: _File() for name in sorted(names)}
        for replica, pair in self.replicas.items():
            files[replica.namespace].replicas.append(pair)
        for cache, copy in self.caches.items():
            files[cache.namespace].caches.append(copy)
        for (namespace, _), service in self.services.items():
            files[namespace].services.append(service)
        for (namespace, _), endpoint in self.endpoints.items():
            files[namespace].endpoints.append(endpoint)
        for (namespace, cluster), created in self.namespaces.items():
            files[namespace].namespaces.append(NamespaceEntry(cluster=cluster, created=created))
        doors = tuple(sorted(self.doors & self.clusters.keys()))
        for name, door in product(self._routed_namespaces(), doors):
            # A cluster that becomes a front door gets every route there is, also ones that nobody wants any more.
            if (name, door) not in self.namespaces:
                created = name not in GIVEN_NAMESPACES
                files[name].namespaces.append(NamespaceEntry(cluster=door, created=created))
        return normalised(
            Lock(
                platform.model_copy(update={"clusters": tuple(self.clusters.values()), "front_doors": doors}),
                {name: file.lock(name, fleet.namespace_digest(name), platform.berth) for name, file in files.items()},
            )
        )

    def _routed_namespaces(self) -> list[str]:
        """Return the namespaces that have something on every front door."""
        names = {namespace for (namespace, _), _ in self.routed_replicas()}
        return sorted(names | {namespace for group in (self.services, self.endpoints) for namespace, _ in group})


@dataclass(slots=True)
class _File:
    """The parts of one namespace on their way into a file."""

    replicas: list[tuple[ReplicaEntry, ReplicaShape]] = field(default_factory=list)
    caches: list[tuple[CacheEntry, CacheShape]] = field(default_factory=list)
    services: list[ServiceEntry] = field(default_factory=list)
    endpoints: list[ExternalEndpoint] = field(default_factory=list)
    namespaces: list[NamespaceEntry] = field(default_factory=list)

    def lock(self, name: str, digest: str, berth: str) -> NamespaceLock:
        """Return the file's lock."""
        shapes: dict[str, ReplicaShape | CacheShape] = {entry.shape: shape for entry, shape in self.replicas}
        shapes |= {entry.shape: shape for entry, shape in self.caches}
        return NamespaceLock(
            berth=berth,
            namespace=name,
            digest=digest,
            namespaces=tuple(self.namespaces),
            caches=tuple(entry for entry, _ in self.caches),
            replicas=tuple(entry for entry, _ in self.replicas),
            endpoints=tuple(self.endpoints),
            services=tuple(self.services),
            shapes=shapes,
        )
