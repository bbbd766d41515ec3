"""The standing lock: what exists, on the platform as edited.

It is never written and never applied. The engine is asked with it what the edited platform alone would do to clusters
and pools, before anything is scheduled.
"""

from dataclasses import replace

from automation.planning.parts import Parts
from automation.planning.target import cluster_entry, platform_header
from automation.scheduling.existing import Existing
from components.api.fleet import Fleet
from components.lock import Lock


def standing_lock(existing: Existing, fleet: Fleet, *, berth: str) -> Lock:
    """Return a lock of the replicas, caches and routes that exist, and of the clusters that the manifests ask for.

    A cluster on its way out is in it as long as it exists; what lies on a cluster without a manifest, on a pool without
    one, or on a lost cluster, is not.
    """
    parts = Parts.of_existing(existing, fleet)
    clusters = {
        name: cluster_entry(fleet, name)
        for name, manifest in sorted(fleet.clusters.items())
        if not manifest.spec.lost and (name in existing.clusters or not manifest.spec.removing)
    }
    pools = {(name, pool.name) for name, manifest in fleet.clusters.items() for pool in manifest.spec.node_pools}
    replicas = {
        identity: (entry, shape)
        for identity, (entry, shape) in parts.replicas.items()
        if all((identity.cluster, each.pool) in pools for engine in entry.placement for each in engine.members)
    }
    return (
        replace(parts, clusters=clusters, replicas=replicas).routed().lock(fleet, platform_header(fleet, berth=berth))
    )
