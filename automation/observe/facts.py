"""What an API server says of its cluster, as far as a fleet cares: nodes, devices, claims, pods, each with its time.

Objects are read here once into values that hold what is used and nothing else; a field that is missing or of another
form than Kubernetes gives it is taken as absent. What follows from them for a pool is ``pool``'s and ``lowering``'s.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Generic, Self, TypeVar

from automation.observe.api import NoAnswer, Object
from components.labels import Label

_T_co = TypeVar("_T_co", covariant=True)

PLUGIN_RESOURCE: Final = "nvidia.com/gpu"
"""What NVIDIA's device plugin adds to a node's resources."""

_BARRING: Final = frozenset({"NoSchedule", "NoExecute"})


@dataclass(frozen=True, slots=True)
class Fact(Generic[_T_co]):
    """What was read at ``at``; ``trouble`` says why nothing was, and ``value`` is None then."""

    at: datetime
    value: _T_co | None = None
    trouble: NoAnswer | None = None

    @property
    def known(self) -> bool:
        """Whether it was read."""
        return self.trouble is None


@dataclass(frozen=True, slots=True)
class NodeTaint:
    """One taint of a node that keeps pods off."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        """Return it as kubectl takes it."""
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


@dataclass(frozen=True, slots=True)
class Node:
    """One node."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    ready: bool = False
    why_not: str = ""
    """What the kubelet says when it is not ready."""
    cordoned: bool = False
    taints: tuple[NodeTaint, ...] = ()
    kubelet: str = ""
    plugin_devices: int = 0
    """Devices that a device plugin hands out, beside DRA."""

    @classmethod
    def read(cls, raw: Object) -> Self:
        """Read a ``v1`` Node."""
        spec, status = _part(raw, "spec"), _part(raw, "status")
        ready = next((each for each in _list(status, "conditions") if each.get("type") == "Ready"), {})
        count = str(_part(status, "allocatable").get(PLUGIN_RESOURCE, "0"))
        return cls(
            name=_name(raw),
            labels=_part(_part(raw, "metadata"), "labels"),
            ready=ready.get("status") == "True",
            why_not=str(ready.get("reason") or "it says nothing"),
            cordoned=bool(spec.get("unschedulable")),
            taints=tuple(
                NodeTaint(str(each.get("key")), str(each.get("value") or ""), str(each["effect"]))
                for each in _list(spec, "taints")
                if each.get("effect") in _BARRING
            ),
            kubelet=str(_part(status, "nodeInfo").get("kubeletVersion") or ""),
            plugin_devices=int(count) if count.isdecimal() else 0,
        )


DeviceKey = tuple[str, str, str]
"""Driver, pool and name: what tells one device of a cluster from all others."""


@dataclass(frozen=True, slots=True)
class Published:
    """One device of a ResourceSlice; ``body`` is as it was published."""

    key: DeviceKey
    node: str
    """Empty where the slice is not that of one node."""
    body: Mapping[str, Any] = field(repr=False)

    @property
    def driver(self) -> str:
        """The driver that publishes it."""
        return self.key[0]

    @property
    def barred(self) -> bool:
        """Whether a taint keeps claims that tolerate nothing off it."""
        return any(each.get("effect") in _BARRING for each in _list(self.body, "taints"))


@dataclass(frozen=True, slots=True)
class Claim:
    """One ResourceClaim: the devices that it holds, and the pods that use it, by UID and ``namespace/name``."""

    namespace: str
    name: str
    devices: tuple[DeviceKey, ...] = ()
    users: tuple[tuple[str, str], ...] = ()

    @classmethod
    def read(cls, raw: Object) -> Self:
        """Read a ``resource.k8s.io/v1`` ResourceClaim. Devices for administrators are shared with everybody."""
        status = _part(raw, "status")
        results = _list(_part(_part(status, "allocation"), "devices"), "results")
        namespace = str(_part(raw, "metadata").get("namespace") or "")
        return cls(
            namespace=namespace,
            name=_name(raw),
            devices=tuple(
                (str(each.get("driver")), str(each.get("pool")), str(each.get("device")))
                for each in results
                if not each.get("adminAccess")
            ),
            users=tuple(
                (str(each.get("uid")), f"{namespace}/{each.get('name')}")
                for each in _list(status, "reservedFor")
                if each.get("resource") == "pods"
            ),
        )


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod that claims devices by templates."""

    uid: str
    namespace: str
    name: str
    ready: bool = False
    templates: tuple[str, ...] = ()
    """The claim templates that it names, which are of its namespace."""
    pool: str = ""
    """The pool that it may run in by its node selector, as every pod of a replica has one."""

    @classmethod
    def read(cls, raw: Object) -> Self:
        """Read a ``v1`` Pod."""
        metadata, spec = _part(raw, "metadata"), _part(raw, "spec")
        claims = _list(spec, "resourceClaims")
        conditions = _list(_part(raw, "status"), "conditions")
        return cls(
            uid=str(metadata.get("uid") or ""),
            namespace=str(metadata.get("namespace") or ""),
            name=_name(raw),
            ready=any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions),
            templates=tuple(
                str(each["resourceClaimTemplateName"]) for each in claims if each.get("resourceClaimTemplateName")
            ),
            pool=str(_part(spec, "nodeSelector").get(Label.POOL.value) or ""),
        )


def slice_devices(raw: Object) -> tuple[Published, ...]:
    """Read the devices of a ``resource.k8s.io/v1`` ResourceSlice."""
    spec = _part(raw, "spec")
    driver, pool = str(spec.get("driver") or ""), str(_part(spec, "pool").get("name") or "")
    return tuple(
        Published((driver, pool, str(each.get("name"))), str(spec.get("nodeName") or each.get("nodeName") or ""), each)
        for each in _list(spec, "devices")
    )


def newest_slices(raw: list[Object]) -> list[Object]:
    """Leave out slices of older generations: a driver that renews its pool has both for a moment."""
    dated: list[tuple[Object, tuple[Any, Any], int]] = []
    newest: dict[tuple[Any, Any], int] = {}
    for each in raw:
        spec = _part(each, "spec")
        pool = _part(spec, "pool")
        key, generation = (spec.get("driver"), pool.get("name")), int(pool.get("generation") or 0)
        dated.append((each, key, generation))
        newest[key] = max(newest.get(key, 0), generation)
    return [each for each, key, generation in dated if generation == newest[key]]


@dataclass(frozen=True, slots=True)
class Templates:
    """The claim templates that an environment made on a cluster: the replica of each, by namespace and name."""

    replicas: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def replica(self, pod: Pod) -> str:
        """Return the replica that a pod belongs to (``namespace/deployment/cluster/index``); empty for another's."""
        found = (self.replicas.get((pod.namespace, name)) for name in pod.templates)
        return next((each for each in found if each is not None), "")


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """Everything that was read of one cluster."""

    version: Fact[str]
    """The API server's, such as ``v1.34.4``."""
    ready: Fact[bool]
    """Whether the API server says of itself that it is."""
    nodes: Fact[tuple[Node, ...]]
    devices: Fact[tuple[Published, ...]]
    templates: Fact[Templates]
    claims: Fact[tuple[Claim, ...]]
    pods: Fact[tuple[Pod, ...]]

    @property
    def named(self) -> dict[str, Fact[object]]:
        """Every fact, by what people call it."""
        return {
            "version": self.version,
            "readiness": self.ready,
            "nodes": self.nodes,
            "devices": self.devices,
            "claims": self.claims,
            "claim templates": self.templates,
            "pods": self.pods,
        }

    @property
    def oldest(self) -> datetime:
        """When the first of them was read: how old the whole is at most."""
        return min(self.version.at, self.nodes.at, self.devices.at, self.claims.at, self.pods.at)


def _part(raw: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = raw.get(key)
    return found if isinstance(found, Mapping) else {}


def _list(raw: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    found = raw.get(key)
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []


def _name(raw: Object) -> str:
    return str(_part(raw, "metadata").get("name") or "")
