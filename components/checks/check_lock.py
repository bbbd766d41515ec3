"""All checks on what a lock would build, for the program and for anybody who holds a lock."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from components.checks.facts import (
    CacheFact,
    ClusterFact,
    DeviceFact,
    FleetFacts,
    PoolFact,
    ReplicaFact,
    Taint,
    Toleration,
    members_of,
)
from components.checks.footprint import check_footprint
from components.checks.ownership import check_capacity, check_owners
from components.checks.taints import check_clusters, check_gpu_pools
from components.checks.violation import Violation
from components.labels import GPU_TAINT_EFFECT, GPU_TAINT_KEY, GPU_TAINT_VALUE
from components.lock import Lock
from components.lock_model import HeldPool

if TYPE_CHECKING:
    # The policy pack starts once per preview and judges facts alone; the API's models would be half of its start.
    from components.api.fleet import Fleet
    from components.api.inference_class import InferenceClass
    from components.api.inference_cluster import InferenceCluster
    from components.api.model_cache import ModelCache


def check_facts(facts: FleetFacts) -> tuple[Violation, ...]:
    """Apply every check and return the violations, sorted."""
    checks = (check_gpu_pools, check_clusters, check_capacity, check_owners, check_footprint)
    return tuple(sorted(violation for check in checks for violation in check(facts)))


def check_lock(fleet: "Fleet", lock: Lock) -> tuple[Violation, ...]:
    """Apply every check to what ``lock`` would build from ``fleet``."""
    return check_facts(facts_of(fleet, lock))


def facts_of(fleet: "Fleet", lock: Lock) -> FleetFacts:
    """Join manifests and lock into facts; a cluster that is in the lock without a manifest has no pools."""
    clusters = [fleet.clusters[entry.name] for entry in lock.platform.clusters if entry.name in fleet.clusters]
    held = {entry.name: entry.held or () for entry in lock.platform.clusters}
    return FleetFacts(
        clusters=tuple(ClusterFact(cluster.name, cluster_taints(cluster)) for cluster in clusters),
        pools=tuple(pool for cluster in clusters for pool in pool_facts(cluster, fleet.classes, held[cluster.name])),
        replicas=tuple(_replicas(fleet, lock)),
        caches=tuple(
            CacheFact(identity.cache, identity.namespace, identity.cluster, entry.shape, shape.size_gib)
            for identity, entry, shape in lock.caches()
        ),
    )


def cluster_taints(cluster: "InferenceCluster") -> tuple[Taint, ...]:
    """Return the fleet-level taints of a cluster."""
    return tuple(Taint(taint.key, taint.value or "", taint.effect) for taint in cluster.spec.taints)


def pool_facts(
    cluster: "InferenceCluster", classes: "Mapping[str, InferenceClass]", held: Sequence[HeldPool] = ()
) -> Iterator[PoolFact]:
    """Yield the pools of a cluster as the manifests declare them, and those whose edits are withheld as they are."""
    provisioned = cluster.spec.cluster.source != "Existing"
    taint = Taint(GPU_TAINT_KEY, GPU_TAINT_VALUE, GPU_TAINT_EFFECT)
    kept = {pool.pool: pool for pool in held}
    for pool in cluster.spec.node_pools:
        still = kept.get(pool.name)
        yield PoolFact(
            cluster=cluster.name,
            pool=pool.name,
            nodes=still.nodes if still else pool.most_nodes,
            provisioned=provisioned,
            taints=(taint,) if provisioned else (),
            devices=tuple(map(DeviceFact.from_props, still.devices))
            if still
            else declared_devices(classes[pool.class_name]),
        )


def declared_devices(hardware: "InferenceClass") -> tuple[DeviceFact, ...]:
    """Return the devices of a class."""
    return tuple(
        DeviceFact(device.name, device.device_class_name or "", device.claim, device.count)
        for device in hardware.spec.devices
    )


def _replicas(fleet: "Fleet", lock: Lock) -> Iterator[ReplicaFact]:
    for identity, entry, shape in lock.replicas():
        deployment = fleet.deployments.get((identity.namespace, identity.deployment))
        cache = fleet.caches.get((identity.namespace, shape.cache.name)) if shape.cache else None
        yield ReplicaFact(
            replica=str(identity),
            namespace=identity.namespace,
            cluster=identity.cluster,
            phase=entry.phase.value,
            stays=entry.stays or "",
            tolerations=tuple(
                Toleration(each.key or "", each.operator, each.value or "", each.effect or "")
                for each in (deployment.spec.template.spec.tolerations if deployment else ())
            ),
            members=tuple(members_of(shape, entry.placement)),
            cache=(shape.cache.name, shape.cache.shape) if shape.cache else None,
            footprint=footprint(fleet, cache) if cache else None,
        )


def footprint(fleet: "Fleet", cache: "ModelCache") -> tuple[str, ...] | None:
    """Return the clusters a cache's selector covers, sorted; None when it has none and covers all."""
    selector = cache.spec.cluster_selector
    if selector is None:
        return None
    return tuple(name for name, cluster in sorted(fleet.clusters.items()) if selector.matches(cluster.metadata.labels))
