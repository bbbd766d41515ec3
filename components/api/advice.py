"""Warnings: what is written rightly and yet does nothing, or can never work.

Advice is given only where absence means something: every file was read, and every document is right.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from components.api.base import LabelSelector
from components.api.codes import Code
from components.api.device_names import DeviceNames
from components.api.environment import Environment
from components.api.inference_class import InferenceClass
from components.api.inference_cluster import InferenceCluster, NodePool
from components.api.inference_gateway import InferenceGateway
from components.api.model_cache import ModelCache
from components.api.model_deployment import ModelDeployment
from components.api.model_endpoint import ModelEndpoint
from components.api.model_service import EndpointSelector, ModelService
from components.api.near import did_you_mean
from components.api.nodes import PathPart
from components.api.placeable import Placeability, Refusal
from components.api.reading import Reading
from components.api.selectors import Failing, expressions, inner
from components.api.source import Source
from components.api.syntax import duration_seconds
from components.cel.messages import without_guard

_STAMPED: Final = ("modelplane.ai/cluster", "modelplane.ai/replica-index")
"""Labels of endpoints whose values come with the placement."""

_SELECTOR: Final = ("spec", "template", "spec", "clusterSelector")

_FABRICS: Final = {"EFA": ("EKS",), "InfiniBand": ("Nebius", "AKS"), "None": ()}

_ZONELESS: Final = ("Nebius", "Vultr")
"""Sources whose clouds take no zones for a pool."""


def advise(reading: Reading, failing: Failing) -> None:
    """Record every warning; ``failing`` is what was warned of in selectors."""
    for source, environment in reading.documents(Environment):
        _dwell(source, environment)
    for source, cluster in reading.documents(InferenceCluster):
        _buildable(reading, source, cluster)
        for index, pool in enumerate(cluster.spec.node_pools):
            _pool(source, cluster, pool, index)
    for source, gateway in reading.documents(InferenceGateway):
        if gateway.name != "default":
            message = f"services use the gateway named `default`; nothing uses `{gateway.name}`"
            source.warn(Code.GATEWAY_UNUSED, message, ("metadata", "name"))
    _selectors(reading)
    if not reading.whole:
        return
    _quotas(reading)
    fleet = Placeability(reading)
    for service_source, service in reading.documents(ModelService):
        _service(reading, service_source, service)
    for deployment_source, deployment in reading.documents(ModelDeployment):
        refusal = fleet.refusal(deployment)
        if refusal is not None:
            _refused(reading, deployment_source, deployment, refusal, failing)


def _refused(reading: Reading, source: Source, deployment: ModelDeployment, refusal: Refusal, failing: Failing) -> None:
    path = refusal.path(deployment)
    if _told(deployment, path, refusal.message, failing):
        return
    message = f"no cluster can ever take this deployment: {refusal.message}"
    within = inner(refusal.position) if refusal.position else None
    expression = dict(expressions(deployment)).get(path, "")
    meant = _device_names(reading).meant(expression, refusal.position) if expression else ""
    hint = meant or _label_hint(reading, deployment)
    message = without_guard(message) if meant else message
    source.warn(Code.DEPLOYMENT_UNPLACEABLE, message, path, hint=hint, inner=within)


def _device_names(reading: Reading) -> DeviceNames:
    return DeviceNames.of(device for _, each in reading.documents(InferenceClass) for device in each.spec.devices)


def _told(deployment: ModelDeployment, path: tuple[PathPart, ...], refusal: str, failing: Failing) -> bool:
    """Whether a deployment is refused for a call in its selector that was warned of already."""
    expression = dict(expressions(deployment)).get(path, "")
    return any(call.message in refusal for call in failing.get(expression, ()))


def _selectors(reading: Reading) -> None:
    for source, deployment in reading.documents(ModelDeployment):
        _matches_all(source, deployment.spec.template.spec.cluster_selector, _SELECTOR, "cluster")
    for source, cache in reading.documents(ModelCache):
        _matches_all(source, cache.spec.cluster_selector, ("spec", "clusterSelector"), "cluster")
    for source, service in reading.documents(ModelService):
        for index, group in enumerate(service.spec.endpoints):
            _matches_all(source, group.selector, ("spec", "endpoints", index, "selector"), "endpoint")


def _matches_all(
    source: Source, selector: LabelSelector | EndpointSelector | None, path: tuple[PathPart, ...], what: str
) -> None:
    """Warn of a selector that is written and has no condition: it chooses everything."""
    if selector is not None and "match_labels" in selector.model_fields_set and not selector.match_labels:
        everything = "every cluster" if what == "cluster" else "every endpoint of all namespaces"
        hint = (
            "leave the selector out if that is meant" if what == "cluster" else "name a label of those that are meant"
        )
        message = f"an empty matchLabels chooses {everything}"
        source.warn(Code.SELECTOR_EMPTY, message, (*path, "matchLabels"), hint=hint, at_key=True)


def _label_hint(reading: Reading, deployment: ModelDeployment) -> str:
    """Say which label of a cluster was probably meant by a selector that chooses none."""
    selector = deployment.spec.template.spec.cluster_selector
    known = [cluster.metadata.labels for _, cluster in reading.documents(InferenceCluster)]
    if selector is None or any(selector.matches(labels) for labels in known):
        return ""
    return _near_label(selector.match_labels, known)


def _near_label(wanted: Mapping[str, str], known: Sequence[Mapping[str, str]]) -> str:
    """Return the hint for the first label that nothing has: a key like it, or a value like it under its key."""
    keys = sorted({key for labels in known for key in labels})
    for key, value in wanted.items():
        values = sorted({labels[key] for labels in known if key in labels} - {"*"})
        if key not in keys:
            return did_you_mean(key, keys)
        if values and value not in values:
            meant = did_you_mean(value, values)
            return meant or f"`{key}` is one of {', '.join(values[:_MOST_VALUES])} here"
    return ""


_MOST_VALUES = 10  # values that a hint lists


def _dwell(source: Source, environment: Environment) -> None:
    """Say that no time passes between runs: since when a cluster has not been ready is not remembered yet."""
    dwell = environment.spec.scheduling.repin_dwell
    if dwell is not None and duration_seconds(dwell):
        message = f"repinDwell {dwell} has no effect yet: nothing remembers since when a cluster has not been ready"
        hint = "`0s` moves its replicas at once; without it they stay"
        source.warn(Code.FIELD_IGNORED, message, ("spec", "scheduling", "repinDwell"), hint=hint)


def _quotas(reading: Reading) -> None:
    """Warn of a quota that limits nothing: nobody is in its namespace, or no pool has its accelerator."""
    namespaces = {deployment.namespace for _, deployment in reading.documents(ModelDeployment)}
    accelerators = {
        found.accelerator_on(cluster.source) or found.name
        for _, cluster in reading.documents(InferenceCluster)
        for pool in cluster.spec.node_pools
        if (found := reading.get(InferenceClass, pool.class_name)) is not None
    }
    for source, environment in reading.documents(Environment):
        for namespace, quota in (environment.spec.quotas or {}).items():
            path = ("spec", "quotas", namespace)
            if namespace not in namespaces:
                _idle(source, f"no deployment is in namespace `{namespace}`", path, namespaces)
            for accelerator in sorted(set(quota.devices or ()) - accelerators):
                where = (*path, "devices", accelerator)
                _idle(source, f"no pool has the accelerator `{accelerator}`", where, accelerators)


def _idle(source: Source, reason: str, path: tuple[str, ...], known: Collection[str]) -> None:
    hint = did_you_mean(path[-1], known)
    source.warn(Code.FIELD_IGNORED, f"{reason}, so its quota limits nothing", path, hint=hint, at_key=True)


def _buildable(reading: Reading, source: Source, cluster: InferenceCluster) -> None:
    """Say what planning will refuse: a cluster on a cloud that this version has no component for."""
    if reading.buildable is None or cluster.source in reading.buildable or cluster.spec.lost:
        return
    message = source_unsupported(cluster.name, cluster.source)
    hint = f"`berth plan` refuses it; sources that can be built: {', '.join(sorted(reading.buildable))}"
    source.warn(Code.SOURCE_UNSUPPORTED, message, ("spec", "cluster", "source"), hint=hint)


def source_unsupported(cluster: str, source: str) -> str:
    """Say that a cluster cannot be built: in a warning where it is written, in an error where it is asked for."""
    return f"cluster {cluster}: this Berth cannot build clusters on {source} yet"


def _pool(source: Source, cluster: InferenceCluster, pool: NodePool, index: int) -> None:
    path = ("spec", "nodePools", index)
    if pool.capacity_block is not None and cluster.source != "EKS":
        message = f"capacityBlock has no effect on {cluster.source}; only EKS has Capacity Blocks"
        source.warn(Code.FIELD_IGNORED, message, (*path, "capacityBlock"), at_key=True)
    fabric = pool.fabric.type
    if fabric != "None" and cluster.source not in (*_FABRICS[fabric], "Existing"):
        message = f"fabric {fabric} has no effect on {cluster.source}; it exists on {' and '.join(_FABRICS[fabric])}"
        source.warn(Code.FIELD_IGNORED, message, (*path, "fabric", "type"))
    if pool.zones and cluster.source in _ZONELESS:
        message = f"zones have no effect on {cluster.source}, which places nodes itself"
        source.warn(Code.FIELD_IGNORED, message, (*path, "zones"), at_key=True)
    if pool.min_node_count is not None and pool.max_node_count is None:
        message = "minNodeCount has no effect without maxNodeCount; the pool keeps nodeCount nodes"
        source.warn(Code.FIELD_IGNORED, message, (*path, "minNodeCount"), at_key=True)
    least, most = pool.min_node_count or 0, pool.max_node_count
    if most is not None and not least <= pool.node_count <= most:
        message = f"nodeCount {pool.node_count} lies outside {least} to {most}; the pool begins at the nearest"
        source.warn(Code.FIELD_IGNORED, message, (*path, "nodeCount"))


def _service(reading: Reading, source: Source, service: ModelService) -> None:
    environment = reading.environment
    if environment is not None and not environment.spec.front_doors:
        message = "the environment has no front door, so the service has no address"
        hint = "name a cluster in `frontDoors` of the Environment"
        source.warn(Code.FRONT_DOOR_MISSING, message, ("metadata", "name"), hint=hint)
    known = list(_endpoint_labels(reading))
    for index, group in enumerate(service.spec.endpoints):
        if not any(_matches(group.selector, labels) for labels in known):
            message = "this group matches no deployment and no endpoint"
            path = ("spec", "endpoints", index, "selector", "matchLabels")
            hint = _near_label(group.selector.match_labels, known)
            source.warn(Code.SERVICE_EMPTY, message, path, hint=hint, at_key=True)


def _endpoint_labels(reading: Reading) -> Iterator[Mapping[str, str]]:
    for _, endpoint in reading.documents(ModelEndpoint):
        yield endpoint.metadata.labels
    for _, deployment in reading.documents(ModelDeployment):
        labels = deployment.spec.template.metadata.labels
        yield {**labels, "modelplane.ai/deployment": deployment.name, **dict.fromkeys(_STAMPED, "*")}


def _matches(selector: EndpointSelector, labels: Mapping[str, str]) -> bool:
    wanted = selector.match_labels.items()
    return all(labels.get(key) in (value, "*") for key, value in wanted)
