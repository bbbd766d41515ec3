"""What exists, read from exported states: the only judge of it.

A replica exists if its component is in the state; its identity, shape and placement are in the component's inputs,
which the engine keeps even when the update failed. It is ready if nothing under it is pending or failed to initialise,
every workload of its shape is there, and its component came to register its outputs with nothing unknown in them: an
output that is not known after an update means that something it rests on was never made. A front door is ready if
that holds for its gateway and for every route on it. The state of a stack is only read here, never changed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from automation.engine.checkpoint import Checkpoint, Resource
from automation.engine.failures import failure_under
from automation.engine.family import (
    CACHE_TYPE,
    COMPONENT_PREFIX,
    ENDPOINT_TYPE,
    FRONT_DOOR_TYPE,
    KUBERNETES_PROVIDER,
    NAMESPACE_TYPE,
    POOL_TYPE,
    REPLICA_TYPE,
    SERVICE_TYPE,
    SERVING_TYPE,
    is_cluster,
)
from automation.engine.found_door import FoundDoor, in_key_order, in_order
from automation.engine.versions import control_plane_version, pool_versions
from automation.scheduling.existing import (
    Existing,
    ExistingCache,
    ExistingCluster,
    ExistingEndpoint,
    ExistingNamespace,
    ExistingReplica,
    ExistingService,
    NamespacedName,
)
from components.errors import DriverError, LockError, MixedState
from components.lock import (
    CacheEntry,
    CacheShape,
    ExternalEndpoint,
    Phase,
    ReplicaEntry,
    ReplicaShape,
    ServiceEntry,
)
from components.lock_model import HeldPool
from components.naming import CacheId, ReplicaId

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""What the engine stores for an output that never became known."""
SIMULATED_ID = "sim-"
"""How every id of a simulated cloud begins."""
_EKS_CLUSTER = "aws:eks/cluster:Cluster"
_LOOPBACK = "https://127.0.0.1:"
PARTS = {
    REPLICA_TYPE: ("pool", "picker", "picker-service", "route"),
    CACHE_TYPE: ("volume", "hydrate"),
    SERVING_TYPE: ("system-namespace",),
    FRONT_DOOR_TYPE: ("gateway",),
    ENDPOINT_TYPE: ("service", "slice"),
    SERVICE_TYPE: ("route",),
}
"""Roles of the children that a component cannot do without, beside a replica's workloads.

A front door's gateway is made after all that it rests on.
"""


def read_existing(checkpoints: Iterable[Checkpoint]) -> Existing:
    """Return everything of one environment that exists, from the states of all its stacks.

    Raises DriverError when a component's description cannot be read (it was written by another version), and
    MixedState when some stacks are simulated and others are not.
    """
    found = _Found()
    for checkpoint in checkpoints:
        reader = _Reader(checkpoint)
        for resource in checkpoint:
            if resource.type.startswith(COMPONENT_PREFIX):
                try:
                    reader.read(resource, found)
                except (KeyError, TypeError, ValueError, LockError) as error:
                    raise DriverError(
                        f"the state of stack {checkpoint.stack} describes {resource.name} in a way that this Berth"
                        f" cannot read: {error}",
                        consequence="Nothing was changed.",
                        help="use the version of Berth that wrote it",
                    ) from error
        found.pending += [operation.resource.urn for operation in checkpoint.pending]
        found.kinds.add(is_simulated(checkpoint))
        found.backed = found.backed or is_backed(checkpoint)
    return found.existing()


def is_simulated(checkpoint: Checkpoint) -> bool | None:
    """Return whether a state is of a simulated cloud; None when it holds nothing that could tell.

    Raises MixedState when it holds both.
    """
    said = checkpoint.outputs.get("simulated")
    ids = [resource.id for resource in checkpoint if resource.custom and resource.id and _is_cloud(resource)]
    marked = [identifier.startswith(SIMULATED_ID) for identifier in ids]
    if isinstance(said, bool) and not ids:
        return said
    # A real cloud may hold a name that begins like a simulated id; only a whole state of them is one.
    mixed = not all(marked) if said is True else all(marked) if said is False else any(marked) and not all(marked)
    if ids and mixed:
        raise MixedState(
            f"the state of stack {checkpoint.stack} holds simulated and real resources",
            consequence="Nothing was changed.",
            help=f"pulumi stack export --stack {checkpoint.stack}",
        )
    return all(marked) if ids else None


def is_backed(checkpoint: Checkpoint) -> bool:
    """Return whether the clusters of a simulated state are control planes on the machine that made it.

    Its outputs say so; before there are any, the address that a simulated cloud gave out for a cluster does.
    """
    endpoints = (str(each.outputs.get("endpoint", "")) for each in checkpoint if each.type == _EKS_CLUSTER)
    return checkpoint.outputs.get("backed") is True or any(each.startswith(_LOOPBACK) for each in endpoints)


def _is_cloud(resource: Resource) -> bool:
    """Objects on clusters have the ids that they have everywhere (``namespace/name``); providers have their own."""
    return not resource.is_provider and resource.type.partition(":")[0] not in {"kubernetes", "pulumi"}


def kubernetes_providers(checkpoint: Checkpoint) -> Mapping[str, tuple[str, ...]]:
    """Return the URNs of the providers that put objects on a cluster, by the cluster's name."""
    providers: dict[str, tuple[str, ...]] = {}
    for resource in checkpoint:
        if is_cluster(resource.type):
            below = (part.urn for part in checkpoint.subtree(resource.urn) if part.type == KUBERNETES_PROVIDER)
            providers[str(resource.inputs.get("cluster") or resource.name)] = tuple(below)
    return providers


@dataclass(slots=True)
class _Found:
    clusters: dict[str, ExistingCluster] = field(default_factory=dict)
    replicas: dict[ReplicaId, ExistingReplica] = field(default_factory=dict)
    caches: dict[CacheId, ExistingCache] = field(default_factory=dict)
    doors: dict[str, FoundDoor] = field(default_factory=dict)
    namespaces: dict[NamespacedName, ExistingNamespace] = field(default_factory=dict)
    pools: dict[tuple[str, str], HeldPool] = field(default_factory=dict)
    pending: list[str] = field(default_factory=list)
    kinds: set[bool | None] = field(default_factory=set)
    backed: bool = False

    def existing(self) -> Existing:
        kinds = self.kinds - {None}
        if len(kinds) > 1:
            raise MixedState(
                "some stacks of the environment are simulated and others are not", consequence="Nothing was changed."
            )
        doors = {name: door.existing() for name, door in sorted(self.doors.items())}
        order = in_order(doors.values())
        return Existing(
            clusters=in_key_order(self.clusters),
            replicas=in_key_order(self.replicas),
            caches=in_key_order(self.caches),
            services=in_key_order({key: each for door in order for key, each in door.services.items()}),
            endpoints=in_key_order({key: each for door in order for key, each in door.endpoints.items()}),
            front_doors=doors,
            namespaces=in_key_order(self.namespaces),
            pools=in_key_order(self.pools),
            pending=tuple(sorted(self.pending)),
            simulated=next(iter(kinds), None),
            backed=self.backed,
        )


class _Reader:
    """Reads the components of one state."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint
        self._doubtful = _above(checkpoint)
        self._serving = {str(stack.inputs.get("cluster")): stack for stack in checkpoint.of_type(SERVING_TYPE)}
        self._pools: dict[str, list[str]] = {}
        for pool in checkpoint.of_type(POOL_TYPE):
            self._pools.setdefault(str(pool.inputs.get("cluster")), []).append(str(pool.inputs["pool"]))

    def read(self, component: Resource, found: _Found) -> None:
        """Add what ``component`` describes."""
        inputs = component.inputs
        if is_cluster(component.type):
            found.clusters[component.name] = self._cluster(component)
        elif component.type == REPLICA_TYPE:
            replica = self._replica(component)
            found.replicas[replica.id] = replica
        elif component.type == POOL_TYPE:
            pool = _pool(inputs)
            if pool is not None:
                found.pools[str(inputs["cluster"]), pool.pool] = pool
        elif component.type == CACHE_TYPE:
            cache = self._cache(component)
            found.caches[cache.id] = cache
        elif component.type == NAMESPACE_TYPE:
            key = (str(inputs["namespace"]), str(inputs["cluster"]))
            created = bool(inputs.get("created"))
            there = not created or self._has(component, "namespace")
            ready = there and self._whole(component) and not failure_under(self._checkpoint, component.urn)
            found.namespaces[key] = ExistingNamespace(*key, created=created, ready=ready)
        elif component.type in {FRONT_DOOR_TYPE, ENDPOINT_TYPE, SERVICE_TYPE}:
            self._front_door(component, found)

    def _front_door(self, component: Resource, found: _Found) -> None:
        """Add the gateway of a front door, or a route on it, to what is known of the door."""
        inputs, gateway = component.inputs, component.type == FRONT_DOOR_TYPE
        endpoint = _endpoint(inputs) if component.type == ENDPOINT_TYPE else None
        service = _service(inputs) if component.type == SERVICE_TYPE else None
        name = str(inputs["cluster" if gateway else "frontDoor"])
        door = found.doors.setdefault(name, FoundDoor(name))
        if gateway:
            door.gateway = str(inputs["gateway"])
            door.address = known(component.outputs.get("address"))
        if endpoint:
            door.endpoints[endpoint.namespace, endpoint.name] = endpoint
        if service:
            door.services[service.namespace, service.entry.name] = service
        door.judge(
            whole=self._whole(component),
            failure=failure_under(self._checkpoint, component.urn),
            route="" if gateway else component.name.removeprefix(f"{name}/"),
        )

    def _cluster(self, component: Resource) -> ExistingCluster:
        name = component.name
        serving = self._serving.get(name)
        parts = [component] if serving is None else [component, serving]
        order = {pool: index for index, pool in enumerate(component.inputs.get("pools") or ())}
        names = sorted(self._pools.get(name, ()), key=lambda pool: (order.get(pool, len(order)), pool))
        failure = "; ".join(text for part in parts if (text := failure_under(self._checkpoint, part.urn)))
        return ExistingCluster(
            name=name,
            source=str(component.inputs.get("source") or ""),
            release=str((serving or component).inputs.get("release") or ""),
            gateway_address=known(serving.outputs.get("gatewayAddress")) if serving else None,
            storage_class=known(component.outputs.get("storageClass")),
            endpoint=known(component.outputs.get("endpoint")),
            ready=serving is not None and not failure and all(self._whole(part) for part in parts),
            failure=failure,
            pools=tuple(names),
            kubernetes_version=control_plane_version(self._checkpoint, component),
            pool_versions=pool_versions(self._checkpoint, name),
        )

    def _replica(self, component: Resource) -> ExistingReplica:
        inputs = component.inputs
        shape = ReplicaShape.from_json(inputs["shape"])
        entry = ReplicaEntry.from_json(
            {
                "deployment": inputs["deployment"],
                "cluster": inputs["cluster"],
                "index": int(inputs["index"]),
                "name": inputs["name"],
                "phase": inputs.get("phase") or Phase.SERVING.value,
                "shape": inputs["shapeDigest"],
                "labels": dict(inputs.get("labels") or {}),
                "placement": list(inputs.get("placement") or ()),
                **{key: inputs[key] for key in _OPTIONAL_ENTRY if inputs.get(key)},
            }
        )
        failure = failure_under(self._checkpoint, component.urn)
        return ExistingReplica(
            id=entry.id_in(str(inputs["namespace"])),
            entry=entry,
            shape=shape,
            ready=not failure and self._whole(component) and self._has_workloads(component, len(shape.engines)),
            failure=failure,
        )

    def _cache(self, component: Resource) -> ExistingCache:
        inputs = component.inputs
        entry = CacheEntry.from_json(
            {
                "cache": inputs["cache"],
                "cluster": inputs["cluster"],
                "index": int(inputs.get("index") or 0),
                "shape": inputs["shapeDigest"],
            }
        )
        failure = failure_under(self._checkpoint, component.urn)
        return ExistingCache(
            id=entry.id_in(str(inputs["namespace"])),
            entry=entry,
            shape=CacheShape.from_json(inputs["shape"]),
            ready=not failure and self._whole(component),
            failure=failure,
        )

    def _whole(self, component: Resource) -> bool:
        """Return whether everything under ``component`` was made: nothing pending, missing or unknown.

        A part that failed while the others went on leaves no trace of itself, so the parts are counted.
        """
        if component.urn in self._doubtful or not component.outputs:
            return False
        if not self._has(component, *PARTS.get(component.type, ())):
            return False
        return not any(_has_unknown(value) for value in component.outputs.values())

    def _has(self, component: Resource, *roles: str) -> bool:
        """Return whether the children of these roles are in the state."""
        names = {part.name for part in self._checkpoint.subtree(component.urn)} if roles else set()
        return all(f"{component.name}-{role}" in names for role in roles)

    def _has_workloads(self, component: Resource, engines: int) -> bool:
        """Return whether there is a workload for every engine of a replica."""
        parts = self._checkpoint.subtree(component.urn)
        return sum(part.name.startswith(f"{component.name}-workload-") for part in parts) >= engines


_OPTIONAL_ENTRY = tuple(
    field.alias or name for name, field in ReplicaEntry.model_fields.items() if not field.is_required()
)
"""Fields of an entry beside those every replica has; present in the description only when they say something."""


def _above(checkpoint: Checkpoint) -> frozenset[str]:
    """Return every URN that has a pending operation at or under it, or half of a replacement under it."""
    doubtful: set[str] = set()
    starts = [(operation.resource.urn, operation.resource.parent) for operation in checkpoint.pending]
    starts += [(r.urn, r.parent) for r in checkpoint.resources if r.pending_replacement]
    for urn, parent in starts:
        doubtful.update((urn, parent))
        doubtful.update(above.urn for above in checkpoint.ancestors(parent))
    return frozenset(doubtful)


def _pool(inputs: Mapping[str, Any]) -> HeldPool | None:
    """Return a pool as it was last applied; None when its description does not say how large it is."""
    if "nodes" not in inputs:
        return None
    nodes = int(inputs["nodes"])
    return HeldPool(
        pool=str(inputs["pool"]),
        class_name=str(inputs.get("className") or ""),
        accelerator=str(inputs.get("accelerator") or ""),
        nodes=nodes,
        min_nodes=int(inputs.get("minNodes", nodes)),
        max_nodes=int(inputs.get("maxNodes", nodes)),
        devices=tuple(dict(device) for device in inputs.get("devices") or ()),
    )


def _endpoint(inputs: Mapping[str, Any]) -> ExistingEndpoint:
    replica, url = inputs.get("replica"), inputs.get("url")
    name = str(inputs["endpoint"])
    external = None
    if not replica and url:
        external = ExternalEndpoint(name=name, url=str(url), rewrite_path=inputs.get("rewritePath"))
    return ExistingEndpoint(
        namespace=str(inputs["namespace"]),
        name=name,
        replica=ReplicaId.parse(str(replica)) if replica else None,
        external=external,
    )


def _service(inputs: Mapping[str, Any]) -> ExistingService:
    backends = [{"endpoint": b["endpoint"], "weight": int(b["weight"])} for b in inputs.get("backends") or ()]
    entry = ServiceEntry.from_json({"name": inputs["service"], "backends": backends})
    return ExistingService(str(inputs["namespace"]), entry)


def known(value: Any) -> str | None:
    """Return a text that was put out; None for one that is empty, or not known yet."""
    return value if isinstance(value, str) and value not in {"", UNKNOWN} else None


def _has_unknown(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_has_unknown(item) for item in value.values())
    if isinstance(value, list):
        return any(_has_unknown(item) for item in value)
    return bool(value == UNKNOWN)
