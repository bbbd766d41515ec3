"""Holding: pools that stay as they are in a lock, because replicas of that lock do not outlive their edit.

A lock says so itself, so that whoever builds it (the driver, or a person with plain Pulumi) and whoever judges it
(program and policies) sees the pool that there is and not the one that the manifest asks for. On a cluster that Berth
makes, the node group keeps its size by it; of a cluster that was there the size is only a declaration, and the
declaration stays. What else an update would do to such a pool is kept out of the update by the driver.
"""

from collections.abc import Collection
from dataclasses import replace

from automation.scheduling.changes import PlatformChanges
from automation.scheduling.existing import Existing
from components.lock import Lock
from components.naming import ReplicaId

Pool = tuple[str, str]
"""A cluster and a pool of it."""


def withheld_pools(lock: Lock, changes: PlatformChanges) -> frozenset[Pool]:
    """Return the pools whose edit has to wait while the replicas of ``lock`` are there."""
    leaving = frozenset(key for key, change in changes.pools.items() if change.goes_away)
    if not leaving and not changes.shrinking:
        return frozenset()
    there = {identity for identity, _, _ in lock.replicas()}
    used = {
        (identity.cluster, member.pool)
        for identity, entry, _ in lock.replicas()
        for engine in entry.placement
        for member in engine.members
    }
    return (leaving & used) | _shrinking(there, changes)


def hold(lock: Lock, existing: Existing, changes: PlatformChanges) -> Lock:
    """Return ``lock`` with the pools whose edit has to wait as they are in the state."""
    waiting = withheld_pools(lock, changes) & existing.pools.keys()
    if not waiting:
        return lock
    clusters = []
    for entry in lock.platform.clusters:
        held = tuple(existing.pools[key] for key in sorted(waiting) if key[0] == entry.name)
        clusters.append(entry.model_copy(update={"held": held}) if held else entry)
    return replace(lock, platform=lock.platform.model_copy(update={"clusters": tuple(clusters)}))


def _shrinking(there: Collection[ReplicaId], changes: PlatformChanges) -> frozenset[Pool]:
    return frozenset(key for key, excess in changes.shrinking.items() if not excess.isdisjoint(there))
