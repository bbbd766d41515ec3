"""Footprint: a replica runs only where its cache is, and a cache fits its volume."""

from collections.abc import Iterator

from components.checks.facts import FleetFacts
from components.checks.violation import Violation

RULE = "replica-in-cache-footprint"
SIZE_RULE = "cache-fits-volume"

STAYS_OUTSIDE = "cache-footprint"
"""The ``stays`` mark of a replica that is outside a narrowed footprint until its successor serves."""


def check_footprint(facts: FleetFacts) -> Iterator[Violation]:
    """Every replica with a cache is inside the cache's footprint, and the very revision it reads is on its cluster."""
    staged = {(cache.namespace, cache.cache, cache.cluster, cache.shape) for cache in facts.caches}
    for replica in facts.replicas:
        if replica.cache is None:
            continue
        name, shape = replica.cache
        outside = replica.footprint is not None and replica.cluster not in replica.footprint
        if outside and replica.stays != STAYS_OUTSIDE:
            yield Violation(
                RULE,
                replica.replica,
                f"cache {name} does not cover cluster {replica.cluster}"
                f" (it covers {', '.join(replica.footprint or ()) or 'none'})",
                "widen the cache's clusterSelector, or plan again",
            )
        elif (replica.namespace, name, replica.cluster, shape) not in staged:
            yield Violation(
                RULE,
                replica.replica,
                f"cache {name} is not staged on cluster {replica.cluster} in the revision that the replica reads",
                "plan again",
            )


def volume_problem(size_gib: int, requested_gib: float) -> str:
    """Say in words when a volume claim is smaller than its cache; empty when it fits."""
    if requested_gib >= size_gib:
        return ""
    return f"the cache needs {size_gib} GiB, its volume claim asks for {requested_gib:g} GiB"
