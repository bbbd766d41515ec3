"""Whether any cluster of the fleet, empty and at its most nodes, can take one replica of a deployment.

A cheap question asked at load, so that a request for hardware that nobody has is seen while it is written. The
scheduler's answer is the one that counts: it also knows order, fabrics, bad packings and what is placed already. So
what is refused here is refused there, and not the reverse. Clusters that are alike are asked once, and so are
deployments that ask for the same: fleets are large, and their kinds are few.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from components.api.codes import Code
from components.api.inference_class import Device, InferenceClass
from components.api.inference_cluster import ExistingSource, InferenceCluster
from components.api.model_cache import ModelCache
from components.api.model_deployment import DeviceRequest, ModelDeployment, ReplicaSpec, Toleration
from components.api.node_pool import NodePool
from components.api.nodes import PathPart
from components.api.reading import Reading
from components.api.selectors import SPEC, requests
from components.cel.device import DeviceView
from components.cel.environment import minor_of, written_minor
from components.cel.problem import Position, SelectorError
from components.cel.selector import Outcome, compile_selector, first_minor_that_takes
from components.cel.selector import Selector as CompiledSelector

NO_SHARED_STORAGE: Final = ("Vultr",)
"""Sources without storage that many nodes can mount."""

_MOST_STEPS: Final = 5_000
"""Steps of the search for a pool for every member; no deployment that people write comes near it."""

_ANY: Final = 2**31
"""More pods than a deployment has."""

_NODE: Final = -1
"""Stands for the node itself where a kind of device is asked for."""


@dataclass(frozen=True, slots=True)
class _Offer:
    """One kind of device on each node of a class; a ``synthetic`` one is matched and never taken."""

    count: int
    synthetic: bool
    view: DeviceView


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the pods of one member of a deployment ask of their nodes; ``pods`` counts those of all copies."""

    engine: str
    pods: int
    requests: tuple[DeviceRequest, ...]


@dataclass(frozen=True, slots=True)
class _Stop:
    """Which selector of a request a device did not pass; with a ``message`` it could not be asked of it."""

    number: int
    message: str = ""
    position: Position | None = None


@dataclass(frozen=True, slots=True)
class _Answers:
    """Which devices of a class a request selects, by position; ``stop`` is where the one that came furthest ended."""

    kinds: tuple[int, ...]
    stop: _Stop | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why no cluster can take a deployment, and what of it is at fault.

    At fault is ``part`` of ``request``, ``part`` of the replica's spec, or without both the deployment as a whole.
    ``position`` is a place inside the text of that part.
    """

    message: str
    part: tuple[PathPart, ...] = ()
    request: DeviceRequest | None = None
    position: Position | None = None

    def path(self, deployment: ModelDeployment) -> tuple[PathPart, ...]:
        """Return the path of what is at fault in a deployment that was refused so."""
        if self.request is not None:
            found = (path for path, request in requests(deployment) if request == self.request)
            return (*next(found), *self.part)
        return (*SPEC, *self.part) if self.part else ("metadata", "name")


class Placeability:
    """What the clusters of a fleet could take if they were empty, at the most nodes that they may have."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.devices = dict(_devices(reading))
        kinds = {_kind(cluster): cluster for _, cluster in reading.documents(InferenceCluster)}
        self.clusters = list(kinds.values())
        self.lasting = list(map(_without_spot, self.clusters))
        """The same clusters, with the pools whose nodes the cloud does not take back."""
        environment = reading.environment
        self.whole_nodes = environment is not None and environment.spec.scheduling.accounting == "Node"
        self.answers: dict[Hashable, Refusal | None] = {}
        self._selected: dict[Hashable, _Answers] = {}

    def refusal(self, deployment: ModelDeployment) -> Refusal | None:
        """Return why no cluster can take one replica of a deployment; None when one can."""
        spec = deployment.spec.template.spec
        reference = spec.model_cache_ref
        cache = self.reading.get(ModelCache, reference.name, deployment.namespace) if reference else None
        asked = tuple(_asked(deployment))
        footprint = cache and cache.spec.cluster_selector
        key = (spec.cluster_selector, spec.tolerations, footprint, bool(cache), asked, deployment.spec.spot)
        if key not in self.answers:
            refusal = self._refusal(spec, cache, asked, self.clusters)
            if not (refusal or deployment.spec.spot) and self._refusal(spec, cache, asked, self.lasting):
                refusal = Refusal("only spot nodes could carry it, and it does not say `spot: true`")
            self.answers[key] = refusal
        return self.answers[key]

    def _refusal(
        self,
        spec: ReplicaSpec,
        cache: ModelCache | None,
        asked: tuple[_Asked, ...],
        clusters: Sequence[InferenceCluster],
    ) -> Refusal | None:
        selector = spec.cluster_selector
        steps: tuple[tuple[Refusal, Callable[[InferenceCluster], bool]], ...] = (
            (Refusal("there is no cluster with GPU pools"), lambda cluster: bool(cluster.spec.node_pools)),
            (
                Refusal("every cluster is being removed"),
                lambda cluster: not (cluster.spec.removing or cluster.spec.lost),
            ),
            (
                Refusal("no cluster has the labels of its clusterSelector", ("clusterSelector",)),
                lambda cluster: selector is None or selector.matches(cluster.metadata.labels),
            ),
            (
                Refusal(
                    "every cluster that it selects has a taint it does not tolerate",
                    ("tolerations",) if spec.tolerations else (),
                ),
                lambda cluster: _tolerated(spec.tolerations, cluster),
            ),
            (
                Refusal("its cache cannot be staged on any cluster that it selects", ("modelCacheRef",)),
                lambda cluster: cache is None or _staged(cache, cluster),
            ),
        )
        standing = clusters
        for refusal, keeps in steps:
            standing = [cluster for cluster in standing if keeps(cluster)]
            if not standing:
                return refusal
        if any(self._takes(asked, cluster) for cluster in standing):
            return None
        return (
            self._device_refusal(asked, standing)
            or self._room_refusal(asked, standing)
            or Refusal("no cluster has nodes for all of its requests together", ("engines",))
        )

    def _device_refusal(self, asked: tuple[_Asked, ...], clusters: Iterable[InferenceCluster]) -> Refusal | None:
        """Return which request no pool of any of ``clusters`` can serve, and why; None when each can be served."""
        pools = [(cluster, pool) for cluster in clusters for pool in cluster.spec.node_pools]
        for request in (request for each in asked for request in each.requests):
            offers = (offer for _, pool in pools for offer in self.devices.get(pool.class_name, ()))
            if not any(offer.count >= request.count for offer in offers):
                message = f"the request `{request.name}` wants {request.count} of one kind, and no node has so many"
                return Refusal(message, ("count",), request)
            if not any(self._per_node(request, cluster, pool) for cluster, pool in pools):
                wants = f"no node has {request.count} of the devices that the request `{request.name}` selects"
                answers = [self._answers(request, cluster, pool) for cluster, pool in pools]
                stop = _furthest(each.stop for each in answers if each.stop)
                if stop is None or any(each.kinds for each in answers):
                    return Refusal(wants, ("count",), request)
                failed = f"; its selector cannot be evaluated: {stop.message}" if stop.message else ""
                return Refusal(wants + failed, ("selectors", stop.number, "cel"), request, stop.position)
        return None

    def _room_refusal(self, asked: tuple[_Asked, ...], clusters: Iterable[InferenceCluster]) -> Refusal | None:
        """Return which member has more pods than any pool of ``clusters`` can hold; None when each alone has room."""
        pools = [(cluster, pool) for cluster in clusters for pool in cluster.spec.node_pools]
        for each in asked:
            rooms = [(self._room(each, cluster, pool), f"{cluster.name}/{pool.name}") for cluster, pool in pools]
            room, place = max(rooms)
            if room < each.pods:
                message = f"no pool has nodes for all that a pod of the engine `{each.engine}` requests together"
                if room:
                    pods = f"the {each.pods} pods of one role of the engine `{each.engine}` go into one pool"
                    message = f"{pods}, and the largest, `{place}`, takes {room} at its most nodes"
                return Refusal(message, ("engines",))
        return None

    def _takes(self, asked: tuple[_Asked, ...], cluster: InferenceCluster) -> bool:
        """Whether every member finds a pool, each with nodes and devices for all that are in it.

        Never false for what can be placed: only what is certain to be taken is counted, and a search that grows too
        long is taken for a success.
        """
        pools = cluster.spec.node_pools
        if not all(any(self._room(each, cluster, pool) >= each.pods for pool in pools) for each in asked):
            return False
        return self._fit(asked, cluster, {}, iter(range(_MOST_STEPS)))

    def _fit(
        self,
        asked: tuple[_Asked, ...],
        cluster: InferenceCluster,
        taken: Mapping[tuple[int, int], int],
        steps: Iterator[int],
    ) -> bool:
        """Whether members find pools beside what is ``taken`` of each pool and kind; true when no ``steps`` are left.

        A method, because a function inside that calls itself would hold the whole reading until garbage is collected.
        """
        if not asked or next(steps, None) is None:
            return True
        each, *others = asked
        for index, pool in enumerate(cluster.spec.node_pools):
            if self._room(each, cluster, pool) < each.pods:
                continue
            now = dict(taken)
            for kind, amount in self._per_pod(each, cluster, pool).items():
                now[index, kind] = now.get((index, kind), 0) + amount * each.pods
            here = ((kind, amount) for (place, kind), amount in now.items() if place == index)
            fits = all(amount <= pool.most_nodes * self._each(pool, kind) for kind, amount in here)
            if fits and self._fit(tuple(others), cluster, now, steps):
                return True
        return False

    def _per_pod(self, asked: _Asked, cluster: InferenceCluster, pool: NodePool) -> dict[int, int]:
        """Return what one pod of a member takes of a pool wherever it is: devices by kind, and whole nodes."""
        taken: dict[int, int] = {}
        for request in asked.requests:
            kinds = self._answers(request, cluster, pool).kinds
            if len(kinds) == 1 and not self.devices[pool.class_name][kinds[0]].synthetic:
                taken[kinds[0]] = taken.get(kinds[0], 0) + request.count
        if self.whole_nodes and taken:
            taken[_NODE] = 1
        return taken

    def _each(self, pool: NodePool, kind: int) -> int:
        """Return how many devices of a kind are on a node of a pool; of nodes there is one."""
        return 1 if kind == _NODE else self.devices[pool.class_name][kind].count

    def _room(self, asked: _Asked, cluster: InferenceCluster, pool: NodePool) -> int:
        """Return how many pods of a member a pool could hold if it were empty."""
        bounds = [self._per_node(request, cluster, pool) for request in asked.requests]
        bounds += [self._each(pool, kind) // amount for kind, amount in self._per_pod(asked, cluster, pool).items()]
        return pool.most_nodes * min(bounds)

    def _per_node(self, request: DeviceRequest, cluster: InferenceCluster, pool: NodePool) -> int:
        """Return how often a request could be served on one node of a pool."""
        offers = self.devices.get(pool.class_name, [])
        found = [offers[kind] for kind in self._answers(request, cluster, pool).kinds]
        if any(offer.synthetic and offer.count >= request.count for offer in found):
            return _ANY
        return sum(offer.count // request.count for offer in found if not offer.synthetic)

    def _answers(self, request: DeviceRequest, cluster: InferenceCluster, pool: NodePool) -> _Answers:
        minor = minor_of(cluster.kubernetes_version)
        known = bool(written_minor(cluster.kubernetes_version))
        key = (request.selectors, pool.class_name, minor, known)
        if key not in self._selected:
            self._selected[key] = _selected(request, self.devices.get(pool.class_name, ()), minor, known=known)
        return self._selected[key]


def device_view(device: Device) -> DeviceView:
    """Return a device of a class as selectors see it."""
    return DeviceView.from_class_device(
        driver=device.driver,
        attributes={name: {each.kind: each.value} for name, each in device.attributes.items()},
        capacity={name: each.value for name, each in device.capacity.items()},
    )


def _devices(reading: Reading) -> Iterator[tuple[str, list[_Offer]]]:
    """Yield the devices of every class, and warn of those that no API server would take."""
    for source, found in reading.documents(InferenceClass):
        devices = found.spec.devices
        offers = [_Offer(device.count, device.claim == "Synthetic", device_view(device)) for device in devices]
        yield found.name, offers
        for index, offer in enumerate(offers):
            if offer.view.problem and not offer.synthetic:
                message = f"no selector can ever match this device: {offer.view.problem}"
                source.warn(Code.DEVICE_UNUSABLE, message, ("spec", "devices", index))


def _kind(cluster: InferenceCluster) -> tuple[Any, ...]:
    """Return everything about a cluster that decides what it can take."""
    block = cluster.spec.cluster.block
    return (
        cluster.metadata.labels,
        cluster.spec.taints,
        tuple((pool.class_name, pool.most_nodes, pool.purchase == "Spot") for pool in cluster.spec.node_pools),
        cluster.spec.removing or cluster.spec.lost,
        minor_of(cluster.kubernetes_version),
        bool(written_minor(cluster.kubernetes_version)),
        cluster.source,
        block.cache if isinstance(block, ExistingSource) else None,
    )


def _without_spot(cluster: InferenceCluster) -> InferenceCluster:
    pools = tuple(pool for pool in cluster.spec.node_pools if pool.purchase != "Spot")
    return cluster.model_copy(update={"spec": cluster.spec.model_copy(update={"node_pools": pools})})


def _asked(deployment: ModelDeployment) -> Iterator[_Asked]:
    """Yield what each member asks; one that asks for nothing runs anywhere."""
    for engine in deployment.spec.template.spec.engines:
        for member in engine.members:
            if member.node_selector is not None:
                yield _Asked(engine.name, engine.copies * member.pods, member.node_selector.devices)


def _selected(request: DeviceRequest, offers: Sequence[_Offer], minor: str, *, known: bool) -> _Answers:
    """Ask every selector of a request of every device; one that an older cluster refuses selects nothing there.

    With ``known`` the cluster names its minor; else it only counts as one of ``minor``.
    """
    selectors: list[CompiledSelector] = []
    for number, selector in enumerate(request.selectors):
        try:
            selectors.append(compile_selector(selector.cel or "", minor=minor))
        except SelectorError as error:
            needs = first_minor_that_takes(selector.cel or "", after=minor)
            newer = f", and {needs} would take it" if needs else ""
            whose = "" if known else " (what a cluster counts as that names no minor)"
            message = f"Kubernetes {minor}{whose} refuses it{newer}: {error.message}"
            return _Answers((), _Stop(number, message, error.position))
    kinds: list[int] = []
    stops: list[_Stop] = []
    for kind, offer in enumerate(offers):
        stop = _stop(selectors, offer.view)
        if stop is None:
            kinds.append(kind)
        else:
            stops.append(stop)
    return _Answers(tuple(kinds), _furthest(stops))


def _stop(selectors: Sequence[CompiledSelector], view: DeviceView) -> _Stop | None:
    """Ask in order, as the allocator does: the first that is not true ends it. None when all are true."""
    for number, selector in enumerate(selectors):
        answer = selector.evaluate(view)
        if answer.outcome is not Outcome.MATCH:
            return _Stop(number, answer.message, answer.position)
    return None


def _furthest(stops: Iterable[_Stop]) -> _Stop | None:
    """Return the first of those after most selectors; one that says why tells more than one that does not."""
    return max(stops, key=lambda stop: (stop.number, bool(stop.message)), default=None)


def _tolerated(tolerations: tuple[Toleration, ...], cluster: InferenceCluster) -> bool:
    return all(
        any(
            toleration.effect in (None, taint.effect)
            and (
                toleration.key in (None, "", taint.key)
                if toleration.operator == "Exists"
                else toleration.key == taint.key and (toleration.value or "") == (taint.value or "")
            )
            for toleration in tolerations
        )
        for taint in cluster.spec.taints
    )


def _staged(cache: ModelCache, cluster: InferenceCluster) -> bool:
    block = cluster.spec.cluster.block
    if isinstance(block, ExistingSource):
        if block.cache is None or block.cache.storage_class_name is None:
            return False
    elif cluster.source in NO_SHARED_STORAGE:
        return False
    selector = cache.spec.cluster_selector
    return selector is None or selector.matches(cluster.metadata.labels)
