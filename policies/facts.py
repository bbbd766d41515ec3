"""The fleet's facts, from what components registered with the engine."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from components.checks.facts import CacheFact, ClusterFact, FleetFacts, PoolFact, ReplicaFact
from policies.resources import CACHE, CLUSTER_TYPES, POOL, REPLICA, Stack

_KEYS: Final = {
    POOL: ("cluster", "pool", "nodes", "provisioned", "taints", "devices"),
    REPLICA: (
        *("namespace", "deployment", "cluster", "index", "phase", "stays", "shape", "placement"),
        *("tolerations", "cacheFootprint"),
    ),
    CACHE: ("cache", "namespace", "cluster", "shapeDigest", "shape"),
    **dict.fromkeys(CLUSTER_TYPES, ("cluster", "taints")),
}
"""What is read of each component; their other outputs may be unknown in a preview and are nobody's business here."""


def described(stack: Stack, *types: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield URN and description of the components of these types; one that misses a part that names it is left out."""
    for resource in stack.of_type(*types):
        keys = _KEYS[resource.type]
        props = {key: stack.read(resource, key) for key in keys}
        if all(props[key] is not None for key in keys[:2]):
            yield resource.urn, props


def facts_of(stack: Stack) -> FleetFacts:
    """Read clusters, pools, replicas and caches.

    Whether a component says the truth is ``component_truthful``'s business.
    """
    return FleetFacts(
        clusters=tuple(ClusterFact.from_props(props) for _, props in described(stack, *CLUSTER_TYPES)),
        pools=tuple(PoolFact.from_props(props) for _, props in described(stack, POOL)),
        replicas=tuple(ReplicaFact.from_props(props) for _, props in described(stack, REPLICA)),
        caches=tuple(CacheFact.from_props(props) for _, props in described(stack, CACHE)),
    )
