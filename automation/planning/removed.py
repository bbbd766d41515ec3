"""Clusters whose manifest is gone, and pools whose entry is gone while replicas run on them.

No lock names a cluster without a manifest, so any update would delete it; only a retirement may, and the driver leaves
it out of every other.
Neither a step nor the program can keep what no manifest describes, so a pool can only go when nothing is on it. The
way out keeps the entry until its replicas have moved.
"""

from automation.render.text import listed
from automation.scheduling.existing import Existing
from components.api.fleet import Fleet
from components.api.inference_cluster import InferenceCluster
from components.api.near import near
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
    return tuple(_in_use(existing, fleet, key, replicas) for key, replicas in users.items())


def _in_use(existing: Existing, fleet: Fleet, key: tuple[str, str], replicas: list[str]) -> Problem:
    cluster, pool = key
    manifest = fleet.clusters[cluster]
    place = fleet.place(manifest.kind, cluster)
    renamed = _renamed(existing, manifest, pool)
    said = (
        f". {renamed} looks like {pool} under a new name; names are identities, so this would make a new pool and"
        " destroy the old one"
    )
    back = "bring the pool back, move its replicas (clusterSelector, or a taint on the cluster), then remove it"
    return Problem(
        "pool-in-use",
        f"pool {pool} is gone from the manifest of cluster {cluster}, and {listed(replicas)}"
        f" {'is' if len(replicas) == 1 else 'are'} still on it{said if renamed else ''}",
        place.file,
        place.line,
        place.column,
        path="spec.nodePools",
        text=place.text,
        help=f"name it {pool} again; if it is another pool, {back}" if renamed else back,
    )


def _renamed(existing: Existing, manifest: InferenceCluster, pool: str) -> str:
    """Return the pool that has probably got another name: a new one of its class, the nearest by name first."""
    known = existing.clusters[manifest.name].pools if manifest.name in existing.clusters else ()
    before = existing.pools.get((manifest.name, pool))
    come = [each for each in manifest.spec.node_pools if each.name not in known]
    alike = [each.name for each in come if before is None or each.class_name == before.class_name]
    return near(pool, alike) or (alike[0] if before is not None and len(alike) == 1 else "")
