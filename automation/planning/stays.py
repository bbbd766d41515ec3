"""Why a replica may stay on a cluster where no new one could go.

The checks of program and policies refuse a replica under a taint that it does not tolerate, or outside its cache's
clusters, unless its entry says that it was there first and why. Only a replica that exists may be marked so.
"""

from components.api.fleet import Fleet
from components.checks.facts import Taint, Toleration
from components.checks.footprint import STAYS_OUTSIDE
from components.checks.taints import untolerated
from components.lock import ReplicaShape
from components.naming import ReplicaId


def stays(fleet: Fleet, replica: ReplicaId, shape: ReplicaShape) -> str | None:
    """Return the mark for a live replica: the first taint it does not tolerate, or that it is outside its cache's.

    None when nothing keeps it off. Without a manifest of its deployment nothing is tolerated.
    """
    cluster = fleet.clusters.get(replica.cluster)
    if cluster is None:
        return None
    deployment = fleet.deployments.get((replica.namespace, replica.deployment))
    taints = [Taint(each.key, each.value or "", each.effect) for each in cluster.spec.taints]
    tolerations = [
        Toleration(each.key or "", each.operator, each.value or "", each.effect or "")
        for each in (deployment.spec.template.spec.tolerations if deployment else ())
    ]
    repelled = untolerated(taints, tolerations)
    if repelled:
        return str(repelled[0])
    cache = fleet.caches.get((replica.namespace, shape.cache.name)) if shape.cache else None
    selector = cache.spec.cluster_selector if cache else None
    if selector is not None and not selector.matches(cluster.metadata.labels):
        return STAYS_OUTSIDE
    return None
