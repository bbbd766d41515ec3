"""Clusters whose manifest is gone, and pools whose entry is gone while replicas run on them.

No lock names a cluster without a manifest, so any update would delete it; only a retirement may, and the driver leaves
it out of every other.
Neither a step nor the program can keep what no manifest describes, so a pool can only go when nothing is on it. The
way out keeps the entry until its replicas have moved.
"""

from automation.render.text import listed
from automation.scheduling.existing import Existing
from components.api.fleet import Fleet
from components.errors import Problem


def clusters_gone(existing: Existing, fleet: Fleet) -> tuple[str, ...]:
    """Return the clusters that exist and have no manifest any more, sorted; nothing is on them."""
    return tuple(sorted(existing.clusters.keys() - fleet.clusters.keys()))


def pools_in_use(existing: Existing, fleet: Fleet) -> tuple[Problem, ...]:
    """Return one problem for every pool that was removed from a cluster's manifest and still carries replicas."""
    users: dict[tuple[str, str], list[str]] = {}
    for identity, replica in sorted(existing.replicas.items()):
        manifest = fleet.clusters.get(identity.cluster)
        if manifest is None or manifest.spec.lost:
            continue
        known = {pool.name for pool in manifest.spec.node_pools}
        for pool in dict.fromkeys(member.pool for engine in replica.entry.placement for member in engine.members):
            if pool not in known:
                users.setdefault((identity.cluster, pool), []).append(str(identity))
    return tuple(
        Problem(
            "pool-in-use",
            f"pool {pool} is gone from the manifest of cluster {cluster}, and {listed(replicas)}"
            f" {'is' if len(replicas) == 1 else 'are'} still on it",
            help="bring the pool back, move its replicas (clusterSelector, or a taint on the cluster), then remove it",
        )
        for (cluster, pool), replicas in users.items()
    )
