"""Building the snapshot: everything the scheduler may know, from manifests, state, preview and observation.

What holds for one cloud and not for another (which storage class can be shared, whether a pool's maximum can be
reached, which nodes share a fabric) is decided here, so that the scheduler itself knows no cloud.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from automation.planning.shapes import cache_shape, replica_shape
from automation.scheduling.changes import Change, PlatformChanges
from automation.scheduling.existing import Existing, ExistingCluster, NamespacedName
from automation.scheduling.journal import NO_JOURNAL, Journal
from automation.scheduling.observation import ClusterObservation, Observation
from automation.scheduling.snapshot import (
    Accounting,
    Budget,
    CacheNeed,
    Cluster,
    ClusterState,
    Deployment,
    Device,
    FabricKind,
    FabricNeed,
    Options,
    Pool,
    PoolBefore,
    Purchase,
    Quota,
    Snapshot,
    Strategy,
    Version,
    Versions,
)
from automation.scheduling.storage import storage_class
from components.api.fleet import Fleet
from components.api.inference_class import InferenceClass
from components.api.inference_cluster import InferenceCluster, NodePool
from components.api.model_deployment import ModelDeployment
from components.api.syntax import duration_seconds
from components.checks.check_lock import declared_devices
from components.checks.facts import DeviceFact, Taint, Toleration
from components.errors import SchedulingError
from components.lock import shape_digest
from components.lock_model import HeldPool

_GOING = {
    Change.REPLACE: "this change would replace it",
    Change.DELETE: "this change would delete it",
    Change.REPLACE_REFUSED: "this change would replace it, and its protection forbids that",
}


def build_snapshot(
    fleet: Fleet,
    existing: Existing,
    *,
    changes: PlatformChanges,
    observation: Observation | None,
    now: datetime,
    journal: Journal = NO_JOURNAL,
    held: frozenset[NamespacedName] = frozenset(),
) -> Snapshot:
    """Return what the scheduler may know now.

    ``held`` names deployments whose manifest cannot be used; one whose cache has no manifest is held as well.
    """
    deployments, broken = _deployments(fleet, held)
    options = options_of(fleet)
    clusters = _Clusters(fleet, existing, changes, observation or Observation(), journal, options, now)
    return Snapshot(
        clusters=tuple(map(clusters.of, sorted({*fleet.clusters, *existing.clusters, *_places(existing)}))),
        deployments=tuple(deployments),
        replicas=tuple(existing.replicas[identity] for identity in sorted(existing.replicas)),
        caches=tuple(existing.caches[identity] for identity in sorted(existing.caches)),
        held=held | broken,
        names=_names(fleet),
        options=options,
        now=now,
        quotas=_quotas(fleet),
        budget=_budget(fleet),
    )


class _Hardware:
    """The devices of a class's nodes on a source, made once: the name of their accelerator may differ by source."""

    def __init__(self, fleet: Fleet) -> None:
        self._classes = fleet.classes
        self._known: dict[tuple[str, str], tuple[Device, ...]] = {}

    def of(self, class_name: str, manifest: InferenceCluster) -> tuple[Device, ...]:
        """Return the devices of a class on a cluster's source."""
        hardware = self._classes[class_name]
        accelerator = hardware.accelerator_on(manifest.source) or class_name
        key = (class_name, accelerator)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = tuple(_devices(hardware, accelerator))
        return known


def _places(existing: Existing) -> set[str]:
    """Return the clusters on which something runs or is staged, as the state says."""
    return {each.cluster for each in existing.replicas} | {each.cluster for each in existing.caches}


def _names(fleet: Fleet) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for namespace, name in fleet.endpoints:
        found.setdefault(namespace, set()).add(name)
    return {namespace: frozenset(names) for namespace, names in found.items()}


def options_of(fleet: Fleet) -> Options:
    """Return what the environment says about scheduling."""
    scheduling = fleet.environment.spec.scheduling
    observation = fleet.environment.spec.observation
    return Options(
        strategy=Strategy(scheduling.strategy),
        accounting=Accounting(scheduling.accounting),
        repin_dwell=_duration(scheduling.repin_dwell),
        preemption=scheduling.preemption,
        max_surge=scheduling.surge.max_surge if scheduling.surge else None,
        max_surge_per_cluster=scheduling.surge.max_surge_per_cluster if scheduling.surge else None,
        fabric=FabricNeed(scheduling.fabric) if scheduling.fabric is not None else None,
        observation_age=_duration(observation.max_age if observation else None),
    )


def _quotas(fleet: Fleet) -> dict[str, Quota]:
    """Return what each namespace may take."""
    return {
        namespace: Quota(dict(each.devices or {}), each.nodes, _usd(each.max_cost_per_hour))
        for namespace, each in sorted((fleet.environment.spec.quotas or {}).items())
    }


def _budget(fleet: Fleet) -> Budget | None:
    budget = fleet.environment.spec.budget
    if budget is None:
        return None
    return Budget(Decimal(str(budget.max_cost_per_hour)), advisory=budget.enforcement == "Advisory")


def _usd(amount: float | None) -> Decimal | None:
    """Return US dollars as they were written."""
    return None if amount is None else Decimal(str(amount))


def _duration(text: str | None) -> timedelta | None:
    return None if text is None else timedelta(seconds=duration_seconds(text))


@dataclass(slots=True)
class _Clusters:
    """The clusters of a snapshot, each from all that is known of it."""

    fleet: Fleet
    existing: Existing
    changes: PlatformChanges
    observation: Observation
    journal: Journal
    options: Options
    now: datetime
    hardware: _Hardware = field(init=False)

    def __post_init__(self) -> None:
        self.hardware = _Hardware(self.fleet)

    def of(self, name: str) -> Cluster:
        """Return one cluster; without a manifest it has no pools to place on."""
        manifest = self.fleet.clusters.get(name)
        if manifest is None and name not in self.existing.clusters:
            return Cluster(name, ClusterState.LOST, "neither a manifest nor the state knows it")
        if manifest is None:
            source = self.existing.clusters[name].source
            return Cluster(name, ClusterState.GOING_AWAY, "its manifest was removed", source)
        seen = self.observation.clusters.get(name)
        counts = seen is not None and self.options.counts(seen.at, self.now)
        state, why = _state(
            manifest, self.existing.clusters.get(name), self.changes.cluster(name), seen if counts else None
        )
        location = manifest.spec.cluster.existing
        return Cluster(
            name=name,
            state=state,
            why=why,
            source=manifest.source,
            region=manifest.region,
            labels=manifest.metadata.labels,
            taints=tuple(Taint(each.key, each.value or "", each.effect) for each in manifest.spec.taints),
            pools=tuple(self._pool(manifest, pool, seen) for pool in manifest.spec.node_pools),
            storage_class=storage_class(manifest),
            seen=seen.at if seen else None,
            # Where nothing says since when, it is sure that it is not ready now.
            not_ready_since=self.journal.not_ready_since.get(name, self.now)
            if state is ClusterState.NOT_READY
            else None,
            zone=(location.zone if location else None) or "",
            versions=_versions(manifest, seen if counts else None),
        )

    def _pool(self, manifest: InferenceCluster, pool: NodePool, seen: ClusterObservation | None) -> Pool:
        key = (manifest.name, pool.name)
        change = self.changes.pool(*key)
        return Pool(
            name=pool.name,
            class_name=pool.class_name,
            devices=self.hardware.of(pool.class_name, manifest),
            realised=min(pool.node_count, pool.most_nodes),
            maximum=pool.most_nodes,
            # Berth installs the autoscaler on the clusters that it makes; on others nobody says that there is one.
            scales=pool.autoscaled and manifest.source != "Existing",
            fabric=_fabric(pool),
            fabric_kind=FabricKind.NONE if pool.fabric.type == "None" else FabricKind(pool.fabric.type),
            price=_usd(pool.price_per_hour),
            leaving=_GOING[change] if change.goes_away else "",
            observed=seen.pools.get(pool.name) if seen else None,
            purchase=Purchase(pool.purchase),
            before=_before(pool, self.fleet.classes[pool.class_name], self.existing.pools.get(key)),
            refused=self.journal.refused.get(key),
        )


def _versions(manifest: InferenceCluster, seen: ClusterObservation | None) -> Versions:
    """Return the versions of a cluster: what was seen counts more than what the manifest says."""
    written = manifest.kubernetes_version
    declared = Version(written) if written else None
    return Versions(
        api_server=Version(seen.api_server, seen.at) if seen and seen.api_server else declared,
        kubelet=Version(seen.kubelet, seen.at) if seen and seen.kubelet else declared,
        driver=Version(seen.driver, seen.at) if seen and seen.driver else None,
    )


def _state(
    manifest: InferenceCluster, existing: ExistingCluster | None, change: Change, seen: ClusterObservation | None
) -> tuple[ClusterState, str]:
    if manifest.spec.lost:
        state, why = ClusterState.LOST, "it is marked as lost"
    elif manifest.spec.removing:
        state, why = ClusterState.GOING_AWAY, "it is being removed"
    elif change.goes_away:
        state, why = ClusterState.GOING_AWAY, _GOING[change]
    elif existing is None:
        state, why = ClusterState.PLANNED, "this plan creates it"
    elif existing.failure:
        state, why = ClusterState.NOT_READY, existing.failure
    elif seen is not None and not seen.reachable:
        state, why = ClusterState.NOT_READY, f"it did not answer at {seen.at:%Y-%m-%d %H:%M} UTC"
    elif not existing.ready or (manifest.spec.node_pools and not existing.gateway_address):
        state, why = ClusterState.PLANNED, "its creation was interrupted; this plan finishes it"
    else:
        state, why = ClusterState.READY, ""
    return state, why


def _before(pool: NodePool, hardware: InferenceClass, existing: HeldPool | None) -> PoolBefore | None:
    """Return what a pool is until its edit is applied, if it gets fewer nodes or other devices by it."""
    if existing is None:
        return None
    devices = tuple(map(DeviceFact.from_props, existing.devices))
    if existing.nodes <= pool.most_nodes and devices == declared_devices(hardware):
        return None
    return PoolBefore(existing.nodes, existing.class_name)


def _fabric(pool: NodePool) -> str:
    """Return the identity of the fabric within the cluster: pools with equal ones can carry one gang.

    The manifest's own name of it wins: whoever wrote it knows the wires. EFA reaches within one zone, so a pool that
    spans zones shares it with nobody; InfiniBand without a named fabric is a pool's own.
    """
    if pool.fabric_id is not None:
        return f"fabric {pool.fabric_id}"
    match pool.fabric.type:
        case "None":
            return ""
        case "EFA":
            return f"EFA {pool.zones[0]}" if len(pool.zones) == 1 else f"EFA of {pool.name}"
        case "InfiniBand":
            named = pool.fabric.infiniband
            return f"InfiniBand {named.fabric}" if named else f"InfiniBand of {pool.name}"


def _devices(hardware: InferenceClass, accelerator: str) -> Iterator[Device]:
    """Yield the kinds of a class; the driver of the first that is claimed is that of its accelerators."""
    driver = next((each.driver for each in hardware.spec.devices if each.claim == "DRA"), None)
    for device in hardware.spec.devices:
        yield Device(
            name=device.name,
            driver=device.driver,
            count=device.count,
            device_class=device.device_class_name or "",
            claimable=device.claim == "DRA",
            attributes=tuple(
                (key, each.kind, each.value)
                for key, each in sorted(device.attributes.items())
                if each.value is not None
            ),
            capacity=tuple((key, each.value) for key, each in sorted(device.capacity.items())),
            accelerator=accelerator if device.claim == "DRA" and device.driver == driver else "",
        )


def _deployments(fleet: Fleet, held: frozenset[NamespacedName]) -> tuple[list[Deployment], frozenset[NamespacedName]]:
    deployments: list[Deployment] = []
    broken: set[NamespacedName] = set()
    for key, manifest in sorted(fleet.deployments.items()):
        if key in held:
            continue
        try:
            deployments.append(_deployment(fleet, manifest))
        except SchedulingError:
            broken.add(key)
    return deployments, frozenset(broken)


def _deployment(fleet: Fleet, manifest: ModelDeployment) -> Deployment:
    spec = manifest.spec.template.spec
    shape = replica_shape(fleet, manifest)
    cache: CacheNeed | None = None
    if spec.model_cache_ref is not None:
        found = fleet.caches[manifest.namespace, spec.model_cache_ref.name]
        selector = found.spec.cluster_selector
        cache = CacheNeed(
            found.name, shape_digest(cache_shape(found)), selector.match_labels if selector is not None else None
        )
    return Deployment(
        namespace=manifest.namespace,
        name=manifest.name,
        replicas=manifest.spec.replicas,
        shape=shape,
        digest=shape_digest(shape),
        labels=manifest.spec.template.metadata.labels,
        selector=spec.cluster_selector.match_labels if spec.cluster_selector is not None else None,
        tolerations=tuple(
            Toleration(each.key or "", each.operator, each.value or "", each.effect or "") for each in spec.tolerations
        ),
        cache=cache,
        priority=manifest.spec.priority or 0,
        allow_gap=manifest.spec.surge.allow_gap,
        max_surge=manifest.spec.surge.max_surge,
        spot=manifest.spec.spot,
        fabric=FabricNeed(spec.fabric) if spec.fabric is not None else None,
        strategy=Strategy(manifest.spec.strategy) if manifest.spec.strategy is not None else None,
        max_cost_per_hour=_usd(manifest.spec.max_cost_per_hour),
    )
