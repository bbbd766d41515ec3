"""What exists now, read from the engine's state: clusters, replicas, caches, routes and namespaces.

The state is the truth, the lock is only the intention. The reader of the state builds these values once per plan; the
scheduler and the planner look at nothing else when they ask what is there. Everything is keyed by identity, so that a
value cannot be there twice. What a thing should become is not here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from components.lock import (
    CacheEntry,
    CacheShape,
    ExternalEndpoint,
    Phase,
    ReplicaEntry,
    ReplicaShape,
    ServiceEntry,
)
from components.lock_model import HeldPool
from components.naming import CacheId, ReplicaId

NamespacedName = tuple[str, str]
"""A namespace and a name in it."""


def _empty() -> Mapping[Any, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ExistingReplica:
    """A replica whose component is in the state.

    ``entry`` and ``shape`` are those of the last update, also when it failed. ``ready`` says that nothing under it is
    pending or has initialisation errors; ``failure`` is the reason in words when there is one.
    """

    id: ReplicaId
    entry: ReplicaEntry
    shape: ReplicaShape
    ready: bool = True
    failure: str = ""

    @property
    def routed(self) -> bool:
        """Whether it has an endpoint: it serves, or it drains."""
        return self.entry.phase is not Phase.STARTING


@dataclass(frozen=True, slots=True)
class ExistingCache:
    """A staged copy of a cache whose component is in the state."""

    id: CacheId
    entry: CacheEntry
    shape: CacheShape
    ready: bool = True
    failure: str = ""


@dataclass(frozen=True, slots=True)
class ExistingCluster:
    """A cluster whose component is in the state.

    Not ready without a ``failure`` means that its creation was interrupted; the next update finishes it.
    """

    name: str
    source: str = ""
    release: str = ""
    gateway_address: str | None = None
    storage_class: str | None = None
    endpoint: str | None = None
    ready: bool = True
    failure: str = ""
    pools: tuple[str, ...] = ()
    kubernetes_version: str = ""
    """What its control plane has, as the state says; empty where Berth made none, or none was made yet."""
    pool_versions: Mapping[str, str] = field(default_factory=_empty)
    """By pool, what the nodes have that Berth made, as far as the state says."""


@dataclass(frozen=True, slots=True)
class ExistingService:
    """A service and where it sends requests now."""

    namespace: str
    entry: ServiceEntry


@dataclass(frozen=True, slots=True)
class ExistingEndpoint:
    """An endpoint on the front doors: of a replica, or one outside the fleet."""

    namespace: str
    name: str
    replica: ReplicaId | None = None
    external: ExternalEndpoint | None = None


@dataclass(frozen=True, slots=True)
class ExistingFrontDoor:
    """A front door, with the routes that it has itself; a run that was cut short may leave two doors with other ones.

    ``gateway`` is empty when only routes are left of it, and ``address`` None while the gateway has none. ``ready``
    says that the gateway and every route on it are made; ``answers`` is False when nobody reaches its cluster now.
    """

    cluster: str
    gateway: str = ""
    address: str | None = None
    ready: bool = True
    failure: str = ""
    answers: bool = True
    services: Mapping[NamespacedName, ExistingService] = field(default_factory=_empty)
    endpoints: Mapping[NamespacedName, ExistingEndpoint] = field(default_factory=_empty)


@dataclass(frozen=True, slots=True)
class ExistingNamespace:
    """A namespace on a cluster; ``created`` says that Berth made it."""

    namespace: str
    cluster: str
    created: bool = True
    ready: bool = True
    """Whether it is there; one that could not be made is in the state all the same."""


@dataclass(frozen=True, slots=True)
class Existing:
    """Everything of one environment that exists.

    ``pending`` holds the URNs that an interrupted run left in doubt. ``simulated`` is None when nothing exists.
    ``backed`` says that the clusters of the simulated clouds are real control planes.
    """

    clusters: Mapping[str, ExistingCluster] = field(default_factory=_empty)
    replicas: Mapping[ReplicaId, ExistingReplica] = field(default_factory=_empty)
    caches: Mapping[CacheId, ExistingCache] = field(default_factory=_empty)
    services: Mapping[NamespacedName, ExistingService] = field(default_factory=_empty)
    """Of all front doors together; where they differ, the first that is ready counts."""
    endpoints: Mapping[NamespacedName, ExistingEndpoint] = field(default_factory=_empty)
    front_doors: Mapping[str, ExistingFrontDoor] = field(default_factory=_empty)
    """By the cluster that carries it."""
    namespaces: Mapping[NamespacedName, ExistingNamespace] = field(default_factory=_empty)
    """By namespace and cluster."""
    pools: Mapping[tuple[str, str], HeldPool] = field(default_factory=_empty)
    """Pools as they were last applied, by cluster and pool."""
    pending: tuple[str, ...] = ()
    simulated: bool | None = None
    backed: bool = False
