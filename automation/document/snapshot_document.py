"""SnapshotDocument: everything that the scheduler may know at one moment, as a file.

A bug report is this one file: the same document gives the same schedule on every machine. People write it too, for
tests of their own and for experiments, so everything that has a usual value may be left out. Hardware and shapes stand
once, under a name, because thousands of pools and replicas share a few. How a document becomes the scheduler's values
and back is in ``read_snapshot`` and ``write_snapshot``.
"""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field

from automation.document.moments import Moment, Span
from components.api.base import Model
from components.api.values import Amount
from components.lock import CacheShape, EnginePlacement, ReplicaShape

API_VERSION: Final = "berth.dev/snapshot/v1"
KIND: Final = "Snapshot"

Count = Annotated[int, Field(ge=0)]
Surge = Annotated[int, Field(ge=1)]
Price = Annotated[Decimal, Field(ge=0)]
Fabric = Literal["Any", "EFA", "InfiniBand", "None"]


class Part(Model):
    """The base of every part: unknown fields are refused, texts become dates and prices."""

    model_config = ConfigDict(strict=False)


class TaintPart(Part):
    """A fleet-level taint of a cluster."""

    key: str
    value: str = ""
    effect: Literal["NoSchedule", "NoExecute"]


class TolerationPart(Part):
    """A toleration of a deployment."""

    key: str = ""
    operator: Literal["Exists", "Equal"] = "Equal"
    value: str = ""
    effect: Literal["", "NoSchedule", "NoExecute"] = ""


class DevicePart(Part):
    """One kind of device on every node."""

    name: str
    driver: str
    count: Annotated[int, Field(ge=1)] = 1
    device_class: str = ""
    """DeviceClass that claims name; empty for a kind that is only described."""

    claimable: bool = True
    """Whether pods claim it; otherwise it is only matched."""

    attributes: dict[str, dict[Literal["string", "version", "bool", "int"], str | int | bool]] = Field(
        default_factory=dict
    )
    """By key, one value under its type: `{cores: {int: 132}}`."""

    capacity: dict[str, str] = Field(default_factory=dict)
    """Quantity by key."""

    accelerator: str = ""
    """The name under which quotas count it; empty for what no quota counts, such as a network card."""


class ResourcesPart(Part):
    """CPU and memory, as Kubernetes writes them."""

    cpu: Amount | None = None
    """Cores: `64`, `1500m`."""

    memory: Amount | None = None
    """Bytes: `512Gi`."""


class ForeignPodPart(Part):
    """A pod outside the fleet, how many devices it holds, by their name, and what it requests.

    Devices of a name that the hardware does not have count against each kind that pods claim.
    """

    devices: dict[str, Count] = Field(default_factory=dict)
    requests: ResourcesPart = ResourcesPart()


class ObservedPart(Part):
    """The nodes of a pool as they were seen."""

    usable: Count
    unusable: Count = 0
    """There, and cordoned, dead or tainted."""

    foreign: tuple[ForeignPodPart, ...] = ()


class BeforePart(Part):
    """What a pool is until an edit of it is applied."""

    nodes: Count
    class_name: str = ""


class RefusalPart(Part):
    """A scale-up that a cloud refused."""

    until: Moment
    """Until then the pool gets no more nodes."""

    why: str = ""


class PoolPart(Part):
    """A node pool. The order of a cluster's pools has a meaning."""

    name: str
    class_name: str = ""
    hardware: str
    """What is on each node: a name in `hardware`."""

    realised: Count = 1
    """Nodes that are there without scaling."""

    maximum: Count | None = None
    """The declared ceiling; `realised` without it."""

    scales: bool = False
    """Whether something on the cluster can reach the ceiling."""

    fabric: str = ""
    """Identity of the fast network its nodes share."""

    fabric_kind: Literal["", "EFA", "InfiniBand"] = ""
    """What kind of network that is; empty when only its name is known, or there is none."""

    leaving: str = ""
    """Why the pool goes away; empty when it stays."""

    price: Price | None = None
    """US dollars per node and hour; nobody knows without it."""

    observed: ObservedPart | None = None
    purchase: Literal["OnDemand", "Reserved", "Spot"] = "OnDemand"
    """How its nodes are bought. Reserved ones come first, spot ones only where a deployment allows it."""

    before: BeforePart | None = None
    """Set when an edit makes it smaller or gives it other devices, and is not applied yet."""

    allocatable: ResourcesPart = ResourcesPart()
    """What a node offers to pods of replicas; what is not stated is not counted, and pods that request none of it take
    nothing. Leave out what the pods that run on every node take."""

    refused: RefusalPart | None = None
    """The last refusal to bring more nodes."""


class VersionPart(Part):
    """A version that something on a cluster has."""

    text: str
    seen: Moment | None = None
    """When it was seen; only the manifest says so without it."""


class VersionsPart(Part):
    """The versions of a cluster, as far as anybody says."""

    api_server: VersionPart | None = None
    kubelet: VersionPart | None = None
    """The oldest of its nodes."""

    driver: VersionPart | None = None
    """The oldest GPU driver of its nodes."""


class ClusterPart(Part):
    """A cluster as a candidate."""

    name: str
    state: Literal["ready", "planned", "not ready", "going away", "lost"] = "ready"
    why: str = ""
    """What is behind a state that takes no replicas, in words."""

    source: str = ""
    region: str = ""
    labels: dict[str, str] = Field(default_factory=dict)
    taints: tuple[TaintPart, ...] = ()
    pools: tuple[PoolPart, ...] = ()
    storage_class: str | None = None
    """A StorageClass that many nodes can mount; without it no cache can be staged."""

    seen: Moment | None = None
    """When its nodes were last observed."""

    not_ready_since: Moment | None = None
    """Since when it has not been ready without a break."""

    zone: str = ""
    versions: VersionsPart = VersionsPart()


class CacheNeedPart(Part):
    """The cache that a deployment's replicas read."""

    name: str
    shape: str
    """Digest of the cache's shape, or its name in `shapes`."""

    cluster_selector: dict[str, str] | None = None


class DeploymentPart(Part):
    """What is wanted."""

    namespace: str
    name: str
    replicas: Count = 1
    shape: str
    """What a replica runs: a name in `shapes`."""

    labels: dict[str, str] = Field(default_factory=dict)
    cluster_selector: dict[str, str] | None = None
    tolerations: tuple[TolerationPart, ...] = ()
    cache: CacheNeedPart | None = None
    priority: int = 0
    allow_gap: bool = False
    """Whether the last replica may go before its successor serves."""

    spot: bool = False
    """Whether its replicas may run on nodes that can be taken away."""

    strategy: Literal["Spread", "Pack", "Cost"] | None = None
    """Which cluster comes first, instead of the environment's; `Compatible` holds for whole environments."""

    max_cost_per_hour: Price | None = None
    """Most US dollars per hour that all its replicas may cost."""

    max_surge: Surge | None = None
    """How many of its replicas may exist beside the ones they replace; as many as fit without it."""

    fabric: Fabric | None = None
    """What its gangs need; without it what `options` say."""


class ReplicaPart(Part):
    """A live replica, as it was last applied."""

    namespace: str
    deployment: str
    cluster: str
    index: Count = 0
    name: str
    phase: Literal["Starting", "Serving", "Draining"] = "Serving"
    shape: str
    """The shape that it was stamped with: a name in `shapes`."""

    labels: dict[str, str] = Field(default_factory=dict)
    placement: tuple[EnginePlacement, ...]
    """By engine, in order, the pool and the claims of each member: what it holds."""

    stays: str | None = None
    ready: bool = True
    failure: str = ""


class CachePart(Part):
    """A staged copy of a cache."""

    namespace: str
    cache: str
    cluster: str
    index: Count = 0
    shape: str
    ready: bool = True
    failure: str = ""


class HeldPart(Part):
    """A deployment whose manifest cannot be used: its replicas stay exactly as they are."""

    namespace: str
    name: str


class NamePart(Part):
    """A name that no new replica of a namespace may bear, because an endpoint outside the fleet does."""

    namespace: str
    name: str


class OptionsPart(Part):
    """How the environment wants its replicas placed."""

    strategy: Literal["Spread", "Pack", "Cost", "Compatible"] = "Spread"
    accounting: Literal["Device", "Node", "BestFit"] | None = None
    """How room is counted: `Device` without it, and `Node` under `Compatible`."""

    repin_dwell: Span | None = None
    """How long a cluster may be not ready before its replicas move; they stay without it. As `PT30M`, or seconds."""

    observation_age: Span | None = None
    """How old an observation may be; an older one does not count. Every one counts without it."""

    preemption: bool = False
    """Whether replicas of a lower priority may go where one of a higher priority finds no room otherwise."""

    max_surge: Surge | None = None
    """How many replicas of the fleet may exist beside the ones they replace; as many as fit without it."""

    max_surge_per_cluster: Surge | None = None
    """How many of them on one cluster."""

    fabric: Fabric | None = None
    """What gangs need of the network between their pods, where a deployment does not say. `Any` without it, and `None`
    under `Compatible`."""


class QuotaPart(Part):
    """What the replicas of one namespace may take together; what is left out has no limit."""

    devices: dict[str, Count] = Field(default_factory=dict)
    """Devices by accelerator."""

    nodes: Count | None = None
    """Nodes; a pod counts the part of one that it takes."""

    max_cost_per_hour: Price | None = None
    """US dollars per hour."""


class BudgetPart(Part):
    """What the nodes of the fleet may cost."""

    max_cost_per_hour: Price
    """US dollars per hour."""

    enforcement: Literal["Advisory", "Mandatory"] = "Mandatory"
    """`Mandatory` places nothing that could cost more, `Advisory` only says so."""


class SnapshotDocument(Part):
    """All that the scheduler looks at."""

    api_version: Literal["berth.dev/snapshot/v1"] = API_VERSION
    kind: Literal["Snapshot"] = KIND
    now: Moment = datetime(1970, 1, 1, tzinfo=UTC)
    options: OptionsPart = OptionsPart()
    hardware: dict[str, tuple[DevicePart, ...]] = Field(default_factory=dict)
    """By name, the kinds of devices on a node, in the order in which requests try them."""

    shapes: dict[str, Annotated[ReplicaShape | CacheShape, Field(discriminator="kind")]] = Field(default_factory=dict)
    """By name, what replicas run and what caches hold; Berth names them by their digest."""

    clusters: tuple[ClusterPart, ...] = ()
    deployments: tuple[DeploymentPart, ...] = ()
    replicas: tuple[ReplicaPart, ...] = ()
    caches: tuple[CachePart, ...] = ()
    held: tuple[HeldPart, ...] = ()
    names: tuple[NamePart, ...] = ()
    quotas: dict[str, QuotaPart] = Field(default_factory=dict)
    """By namespace."""

    budget: BudgetPart | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the document without what has its usual value."""
        data = self.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        shapes = {name: shape.to_json() for name, shape in self.shapes.items()}
        head = {"apiVersion": self.api_version, "kind": self.kind, "now": self.now.isoformat()}
        return head | data | ({"shapes": shapes} if shapes else {})
