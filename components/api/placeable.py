"""Whether any cluster of the fleet can ever take a deployment, capacity aside.

A cheap question asked at load, so that a request for hardware that nobody has is seen while it is written. The
scheduler's answer is the one that counts: it also knows order, counts that are shared, fabrics and free room. Clusters
that are alike are asked once, and so are deployments that ask for the same: fleets are large, and their kinds are few.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Final

from components.api.codes import Code
from components.api.inference_class import Device, InferenceClass
from components.api.inference_cluster import ExistingSource, InferenceCluster
from components.api.model_cache import ModelCache
from components.api.model_deployment import DeviceRequest, ModelDeployment, Toleration
from components.api.reading import Reading
from components.api.selectors import known_minor
from components.cel.device import DeviceView
from components.cel.problem import SelectorError
from components.cel.selector import Outcome, compile_selector

NO_SHARED_STORAGE: Final = ("Vultr",)
"""Sources without storage that many nodes can mount."""


class Placeability:
    """What the clusters of a fleet could take if they were empty."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.devices = dict(_devices(reading))
        kinds = {_kind(cluster): cluster for _, cluster in reading.documents(InferenceCluster)}
        self.clusters = list(kinds.values())
        self.answers: dict[Hashable, str] = {}

    def refusal(self, deployment: ModelDeployment) -> str:
        """Return why no cluster can take a deployment; empty when one can."""
        spec = deployment.spec.template.spec
        reference = spec.model_cache_ref
        cache = self.reading.get(ModelCache, reference.name, deployment.namespace) if reference else None
        requests = tuple((request.count, request.selectors) for request in _requests(deployment))
        key = (spec.cluster_selector, spec.tolerations, cache and cache.spec.cluster_selector, bool(cache), requests)
        if key not in self.answers:
            self.answers[key] = self._refusal(deployment, cache)
        return self.answers[key]

    def _refusal(self, deployment: ModelDeployment, cache: ModelCache | None) -> str:
        spec = deployment.spec.template.spec
        selector = spec.cluster_selector
        steps: tuple[tuple[str, Callable[[InferenceCluster], bool]], ...] = (
            ("there is no cluster with GPU pools", lambda cluster: bool(cluster.spec.node_pools)),
            ("every cluster is being removed", lambda cluster: not (cluster.spec.removing or cluster.spec.lost)),
            (
                "no cluster has the labels of its clusterSelector",
                lambda cluster: selector is None or selector.matches(cluster.metadata.labels),
            ),
            (
                "every cluster that it selects has a taint it does not tolerate",
                lambda cluster: _tolerated(spec.tolerations, cluster),
            ),
            (
                "its cache cannot be staged on any cluster that it selects",
                lambda cluster: cache is None or _staged(cache, cluster),
            ),
            ("", lambda cluster: not self._device_refusal(deployment, [cluster])),
        )
        clusters = self.clusters
        if any(all(keeps(cluster) for _, keeps in steps) for cluster in clusters):
            return ""
        for reason, keeps in steps[:-1]:
            clusters = [cluster for cluster in clusters if keeps(cluster)]
            if not clusters:
                return reason
        return self._device_refusal(deployment, clusters) or "no cluster has nodes for all of its requests together"

    def _device_refusal(self, deployment: ModelDeployment, clusters: Iterable[InferenceCluster]) -> str:
        """Return which request no pool of any of ``clusters`` can serve, and why; empty when each can be served."""
        found = [
            (count, view, known_minor(cluster.kubernetes_minor))
            for cluster in clusters
            for pool in cluster.spec.node_pools
            for count, view in self.devices.get(pool.class_name, ())
        ]
        for request in _requests(deployment):
            if not any(count >= request.count for count, *_ in found):
                return f"the request `{request.name}` wants {request.count} of one kind, and no node has so many"
            if not any(count >= request.count and _selects(request, view, minor) for count, view, minor in found):
                return f"no node has {request.count} of the devices that the request `{request.name}` selects"
        return ""


def device_view(device: Device) -> DeviceView:
    """Return a device of a class as selectors see it."""
    return DeviceView.from_class_device(
        driver=device.driver,
        attributes={name: {each.kind: each.value} for name, each in device.attributes.items()},
        capacity={name: each.value for name, each in device.capacity.items()},
    )


def _devices(reading: Reading) -> Iterator[tuple[str, list[tuple[int, DeviceView]]]]:
    """Yield the devices of every class, and warn of those that no API server would take."""
    for source, found in reading.documents(InferenceClass):
        views = [(device.count, device_view(device)) for device in found.spec.devices]
        yield found.name, views
        for index, (_, view) in enumerate(views):
            if view.problem and found.spec.devices[index].claim == "DRA":
                message = f"no selector can ever match this device: {view.problem}"
                source.warn(Code.DEVICE_UNUSABLE, message, ("spec", "devices", index))


def _kind(cluster: InferenceCluster) -> tuple[Any, ...]:
    """Return everything about a cluster that decides what it can take."""
    block = cluster.spec.cluster.block
    return (
        cluster.metadata.labels,
        cluster.spec.taints,
        tuple(pool.class_name for pool in cluster.spec.node_pools),
        cluster.spec.removing or cluster.spec.lost,
        cluster.kubernetes_minor,
        cluster.source,
        block.cache if isinstance(block, ExistingSource) else None,
    )


def _requests(deployment: ModelDeployment) -> Iterator[DeviceRequest]:
    for engine in deployment.spec.template.spec.engines:
        for member in engine.members:
            yield from member.node_selector.devices if member.node_selector else ()


def _selects(request: DeviceRequest, view: DeviceView, minor: str) -> bool:
    try:
        return all(
            compile_selector(selector.cel or "", minor=minor).evaluate(view).outcome is Outcome.MATCH
            for selector in request.selectors
        )
    except SelectorError:
        return False  # an older cluster may refuse what a newer one takes


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
