"""The fleet's facts, from what components registered with the engine."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from components.checks.facts import CacheFact, ClusterFact, FleetFacts, PoolFact, ReplicaFact
from components.errors import LockError
from policies.resources import CACHE, CLUSTER_TYPES, POOL, REPLICA, Resource, Stack

KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    POOL: ("cluster", "pool", "nodes", "provisioned", "taints", "devices"),
    REPLICA: (
        *("namespace", "deployment", "cluster", "index", "phase", "shape", "placement"),
        *("tolerations", "stays", "cacheFootprint"),
    ),
    CACHE: ("cache", "namespace", "cluster", "shapeDigest", "shape"),
    **dict.fromkeys(CLUSTER_TYPES, ("cluster", "taints")),
}
"""What is read of each component; its other outputs may be unknown in a preview and are nobody's business here."""

_OPTIONAL: Final = frozenset({"stays", "cacheFootprint", "phase"})
"""A component may leave these out, or have null in their place."""


@dataclass(frozen=True, slots=True)
class Fleet:
    """What the components of a stack say, by URN, and those whose description cannot be read, with the reason.

    A description is plain data: one that is not known in a preview cannot be read either. Whether it is true is
    ``component_truthful``'s business.
    """

    clusters: Mapping[str, ClusterFact] = field(default_factory=dict)
    pools: Mapping[str, PoolFact] = field(default_factory=dict)
    replicas: Mapping[str, ReplicaFact] = field(default_factory=dict)
    caches: Mapping[str, CacheFact] = field(default_factory=dict)
    unreadable: tuple[tuple[Resource, str], ...] = ()

    @property
    def facts(self) -> FleetFacts:
        """The same without URNs, for the checks that the program applies too."""
        return FleetFacts(
            tuple(self.clusters.values()),
            tuple(self.pools.values()),
            tuple(self.replicas.values()),
            tuple(self.caches.values()),
        )


def fleet_of(stack: Stack) -> Fleet:
    """Read clusters, pools, replicas and caches."""
    return stack.once(_read)


def _read(stack: Stack) -> Fleet:
    unreadable: list[tuple[Resource, str]] = []

    def read(make: Callable[[Mapping[str, Any]], Any], *types: str) -> dict[str, Any]:
        found = {}
        for resource in stack.of_type(*types):
            own = stack.fresh()
            props = {key: own.read(resource, key) for key in KEYS[resource.type]}
            missing = [key for key, value in props.items() if value is None and key not in _OPTIONAL]
            try:
                if own.deferred:
                    unreadable.append((resource, f"{next(iter(own.deferred.values()))} is not known yet"))
                elif missing:
                    unreadable.append((resource, f"{', '.join(missing)} is missing"))
                else:
                    found[resource.urn] = make(props)
            except (AttributeError, KeyError, LockError, TypeError, ValueError) as error:
                unreadable.append((resource, str(error)))
        return found

    return Fleet(
        clusters=read(ClusterFact.from_props, *CLUSTER_TYPES),
        pools=read(PoolFact.from_props, POOL),
        replicas=read(ReplicaFact.from_props, REPLICA),
        caches=read(CacheFact.from_props, CACHE),
        unreadable=tuple(unreadable),
    )


def cluster_name(stack: Stack, resource: Resource) -> str:
    """Return the name of the cluster that a resource is on, by its provider; empty when it is on none of Berth's."""
    component = stack.cluster_of(resource)
    name = stack.peek(component, "cluster") if component else None
    return name if isinstance(name, str) else ""
