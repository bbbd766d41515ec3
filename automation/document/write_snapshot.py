"""From the scheduler's snapshot to its document."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from automation.document.snapshot_document import SnapshotDocument
from automation.scheduling.existing import ExistingCache, ExistingReplica
from automation.scheduling.observation import PoolObservation
from automation.scheduling.resources import Resources, quantity
from automation.scheduling.snapshot import Budget, Cluster, Deployment, Device, Pool, Quota, Snapshot
from components.api.environment import usual_accounting


def snapshot_document(snapshot: Snapshot) -> SnapshotDocument:
    """Return the document of a snapshot; reading it gives an equal snapshot."""
    hardware = _Hardware(snapshot.clusters)
    shapes = {
        **{each.digest: each.shape for each in snapshot.deployments},
        **{each.entry.shape: each.shape for each in snapshot.replicas},
        **{each.entry.shape: each.shape for each in snapshot.caches},
    }
    strategy, accounting = snapshot.options.strategy.value, snapshot.options.accounting.value
    return SnapshotDocument.model_validate(
        {
            "now": snapshot.now,
            "options": {
                "strategy": strategy,
                "accounting": None if accounting == usual_accounting(strategy) else accounting,
                "repin_dwell": snapshot.options.repin_dwell,
                "preemption": snapshot.options.preemption,
                "observation_age": snapshot.options.observation_age,
                "max_surge": snapshot.options.max_surge,
                "max_surge_per_cluster": snapshot.options.max_surge_per_cluster,
                "fabric": snapshot.options.fabric.value if snapshot.options.fabric else None,
            },
            "hardware": hardware.listed(),
            "shapes": {digest: shapes[digest] for digest in sorted(shapes)},
            "clusters": [_cluster(each, hardware) for each in snapshot.clusters],
            "deployments": [_deployment(each) for each in snapshot.deployments],
            "replicas": [_replica(each) for each in snapshot.replicas],
            "caches": [_cache(each) for each in snapshot.caches],
            "held": [{"namespace": namespace, "name": name} for namespace, name in sorted(snapshot.held)],
            "names": [
                {"namespace": namespace, "name": name}
                for namespace, names in sorted(snapshot.names.items())
                for name in sorted(names)
            ],
            "quotas": {namespace: _quota(snapshot.quotas[namespace]) for namespace in sorted(snapshot.quotas)},
            "budget": _budget(snapshot.budget) if snapshot.budget else None,
        }
    )


class _Hardware:
    """Names for every distinct hardware: that of its first class, numbered where one class has several."""

    def __init__(self, clusters: Iterable[Cluster]) -> None:
        self._names: dict[tuple[Device, ...], str] = {}
        used: dict[str, int] = {}
        for cluster in clusters:
            for pool in cluster.pools:
                if pool.devices not in self._names:
                    name = pool.class_name or "hardware"
                    used[name] = used.get(name, 0) + 1
                    self._names[pool.devices] = name if used[name] == 1 else f"{name}#{used[name]}"

    def name(self, devices: tuple[Device, ...]) -> str:
        """Return the name of a node's devices."""
        return self._names[devices]

    def listed(self) -> dict[str, list[dict[str, Any]]]:
        """Return the devices by name."""
        return {name: [_device(each) for each in devices] for devices, name in self._names.items()}


def _device(device: Device) -> dict[str, Any]:
    return {
        "name": device.name,
        "driver": device.driver,
        "count": device.count,
        "device_class": device.device_class,
        "claimable": device.claimable,
        "attributes": {key: {kind: value} for key, kind, value in device.attributes},
        "capacity": dict(device.capacity),
        "accelerator": device.accelerator,
    }


def _cluster(cluster: Cluster, hardware: _Hardware) -> dict[str, Any]:
    return {
        "name": cluster.name,
        "state": cluster.state.value,
        "why": cluster.why,
        "source": cluster.source,
        "region": cluster.region,
        "labels": dict(cluster.labels),
        "taints": [{"key": each.key, "value": each.value, "effect": each.effect} for each in cluster.taints],
        "pools": [_pool(each, hardware) for each in cluster.pools],
        "storage_class": cluster.storage_class,
        "seen": cluster.seen,
        "not_ready_since": cluster.not_ready_since,
        "zone": cluster.zone,
        "versions": asdict(cluster.versions),
    }


def _pool(pool: Pool, hardware: _Hardware) -> dict[str, Any]:
    before = pool.before
    return {
        "name": pool.name,
        "class_name": pool.class_name,
        "hardware": hardware.name(pool.devices),
        "realised": pool.realised,
        "maximum": pool.maximum,
        "scales": pool.scales,
        "fabric": pool.fabric,
        "fabric_kind": pool.fabric_kind.value,
        "leaving": pool.leaving,
        "price": pool.price,
        "observed": _observed(pool.observed) if pool.observed else None,
        "purchase": pool.purchase.value,
        "before": {"nodes": before.nodes, "class_name": before.class_name} if before else None,
        "allocatable": _resources(pool.allocatable),
        "refused": {"until": pool.refused.until, "why": pool.refused.why} if pool.refused else None,
    }


def _observed(seen: PoolObservation) -> dict[str, Any]:
    foreign = [{"devices": dict(each.devices), "requests": _resources(each.resources)} for each in seen.foreign]
    return {"usable": seen.usable, "unusable": seen.unusable, "foreign": foreign}


def _resources(resources: Resources) -> dict[str, str]:
    return {name: quantity(name, amount) for name, amount in resources}


def _deployment(wanted: Deployment) -> dict[str, Any]:
    cache = wanted.cache
    return {
        "namespace": wanted.namespace,
        "name": wanted.name,
        "replicas": wanted.replicas,
        "shape": wanted.digest,
        "labels": dict(wanted.labels),
        "cluster_selector": _selector(wanted.selector),
        "tolerations": [
            {"key": each.key, "operator": each.operator, "value": each.value, "effect": each.effect}
            for each in wanted.tolerations
        ],
        "cache": {"name": cache.name, "shape": cache.shape, "cluster_selector": _selector(cache.selector)}
        if cache
        else None,
        "priority": wanted.priority,
        "allow_gap": wanted.allow_gap,
        "spot": wanted.spot,
        "strategy": wanted.strategy.value if wanted.strategy else None,
        "max_cost_per_hour": wanted.max_cost_per_hour,
        "max_surge": wanted.max_surge,
        "fabric": wanted.fabric.value if wanted.fabric else None,
    }


def _quota(quota: Quota) -> dict[str, Any]:
    return {
        "devices": {name: quota.devices[name] for name in sorted(quota.devices)},
        "nodes": quota.nodes,
        "max_cost_per_hour": quota.max_cost_per_hour,
    }


def _budget(budget: Budget) -> dict[str, Any]:
    enforcement = "Advisory" if budget.advisory else "Mandatory"
    return {"max_cost_per_hour": budget.max_cost_per_hour, "enforcement": enforcement}


def _selector(selector: Mapping[str, str] | None) -> dict[str, str] | None:
    return None if selector is None else dict(selector)


def _replica(replica: ExistingReplica) -> dict[str, Any]:
    entry = replica.entry
    return {
        "namespace": replica.id.namespace,
        "deployment": entry.deployment,
        "cluster": entry.cluster,
        "index": entry.index,
        "name": entry.name,
        "phase": entry.phase.value,
        "shape": entry.shape,
        "labels": dict(entry.labels),
        "placement": entry.placement,
        "stays": entry.stays,
        "ready": replica.ready,
        "failure": replica.failure,
    }


def _cache(cache: ExistingCache) -> dict[str, Any]:
    return {
        "namespace": cache.id.namespace,
        "cache": cache.entry.cache,
        "cluster": cache.entry.cluster,
        "index": cache.entry.index,
        "shape": cache.entry.shape,
        "ready": cache.ready,
        "failure": cache.failure,
    }
