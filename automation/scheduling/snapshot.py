"""The snapshot: all that the scheduler may know at one moment, as frozen values.

``schedule`` looks at nothing else, so that the same snapshot gives the same answer on every machine, and a bug report
is one value. Sequences that have no meaning of their own are sorted by name; the order of a cluster's pools and of a
pool's devices is the user's and is kept. Where the facts come from is ``build``'s business.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from automation.scheduling.existing import ExistingCache, ExistingReplica, NamespacedName
from automation.scheduling.observation import PoolObservation
from automation.scheduling.resources import Resources
from components.cel.environment import minor_of
from components.checks.facts import Taint, Toleration
from components.checks.versions import API_SERVER, KUBELET, older, words_of
from components.lock import ReplicaShape

Labels = Mapping[str, str]


class ClusterState(StrEnum):
    """What may happen on a cluster."""

    READY = "ready"
    """It exists and takes replicas."""
    PLANNED = "planned"
    """This plan creates or finishes it; it takes replicas, and its gateway's address is not known yet."""
    NOT_READY = "not ready"
    """It exists and has a problem: it keeps its replicas and gets nothing new."""
    GOING_AWAY = "going away"
    """It is being removed or would be replaced: its replicas move, and it gets nothing new."""
    LOST = "lost"
    """It is gone for good: its replicas are forgotten and placed elsewhere."""

    @property
    def takes_replicas(self) -> bool:
        """Whether a new replica may be placed on it."""
        return self in {ClusterState.READY, ClusterState.PLANNED}


class Strategy(StrEnum):
    """The order of goals."""

    SPREAD = "Spread"
    """Fewest own replicas on the cluster, then in the region, then cost, scarce hardware, name."""
    COMPATIBLE = "Compatible"
    """The predecessor's: one deployment at a time, fewest own replicas on the cluster, then name; first fit only."""
    PACK = "Pack"
    """Most own replicas on the cluster first, so that few clusters are used."""
    COST = "Cost"
    """Cheapest first, then as Spread."""


class Accounting(StrEnum):
    """What a pod takes from its pool."""

    DEVICE = "Device"
    """Its devices, under whatever legal packing the in-cluster scheduler chooses."""
    NODE = "Node"
    """A whole node, as the predecessor counts."""
    BEST_FIT = "BestFit"
    """Its devices, under the best packing; for clusters whose scheduler packs."""


@dataclass(frozen=True, slots=True)
class Device:
    """One kind of device on every node of a pool, ``count`` of it. ``device_class`` is empty for a synthetic kind."""

    name: str
    driver: str
    count: int = 1
    device_class: str = ""
    claimable: bool = True
    attributes: tuple[tuple[str, str, str | int | bool], ...] = ()
    """Key, type (``string``, ``version``, ``bool`` or ``int``) and value, sorted by key."""
    capacity: tuple[tuple[str, str], ...] = ()
    """Key and quantity, sorted by key."""
    accelerator: str = ""
    """The name under which quotas count it; empty for what no quota counts, such as a network card."""


class FabricKind(StrEnum):
    """What kind of fast network the nodes of a pool share."""

    NONE = ""
    """None, or one of which only the name is known."""
    EFA = "EFA"
    INFINIBAND = "InfiniBand"


class FabricNeed(StrEnum):
    """What a deployment says about the fast network between the pods of a gang."""

    ANY = "Any"
    """Its pods need one, whatever it is."""
    EFA = "EFA"
    INFINIBAND = "InfiniBand"
    NONE = "None"
    """They need none, so they may be on any two pools."""

    def met_by(self, fabric: str, kind: FabricKind) -> bool:
        """Whether a pool has what is needed; ``fabric`` is the identity of its network, empty without one."""
        return self is FabricNeed.NONE or (bool(fabric) and self.value in {"Any", kind.value})


class Purchase(StrEnum):
    """How the nodes of a pool are bought."""

    ON_DEMAND = "OnDemand"
    RESERVED = "Reserved"
    """They are paid for whether they are used or not, so they come first."""
    SPOT = "Spot"
    """They may be taken away at any time, so only a deployment that allows it is placed on them."""


@dataclass(frozen=True, slots=True)
class PoolBefore:
    """What a pool still is when its manifest now asks for less, or for other devices."""

    nodes: int
    class_name: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """A scale-up that a cloud refused (no capacity, its own quota): until then the pool gets no more nodes."""

    until: datetime
    why: str = ""

    def __str__(self) -> str:
        """Say it in words."""
        reason = f" ({self.why})" if self.why else ""
        return f"its cloud refused to bring more nodes{reason}, which counts until {self.until:%Y-%m-%d %H:%M} UTC"


@dataclass(frozen=True, slots=True)
class Pool:
    """A node pool: its devices, and the three numbers of its capacity.

    ``realised`` is what the manifest says is there without scaling, ``maximum`` the declared ceiling, ``scales``
    whether something on the cluster can reach the ceiling. ``leaving`` says why the pool goes away, else it is empty.
    """

    name: str
    class_name: str
    devices: tuple[Device, ...]
    realised: int = 1
    maximum: int = 1
    scales: bool = False
    fabric: str = ""
    """Identity of the fast network its nodes share; empty when there is none."""
    fabric_kind: FabricKind = FabricKind.NONE
    leaving: str = ""
    price: Decimal | None = None
    """USD per node and hour; None when nobody knows."""
    observed: PoolObservation | None = None
    purchase: Purchase = Purchase.ON_DEMAND
    before: PoolBefore | None = None
    """What it is until an edit is applied under which what runs on it may not fit; None without such an edit."""
    allocatable: Resources = ()
    """What a node offers of CPU and memory; what it does not name is not counted."""
    refused: Refusal | None = None
    """The last refusal to bring more nodes, as the journal remembers it; one that has expired does not count."""

    @property
    def nodes(self) -> int:
        """The nodes that may be promised; an observation only lowers them, and so does a refusal to bring more."""
        if not self.scales:
            return self.present
        most = max(0, self.maximum - (self.observed.unusable if self.observed else 0))
        if self.refused is None:
            return most
        return min(most, max(self.present, self.observed.usable if self.observed else 0))

    @property
    def present(self) -> int:
        """The nodes that are there now, without any scaling."""
        return min(self.realised, self.observed.usable) if self.observed else self.realised


@dataclass(frozen=True, slots=True)
class Version:
    """A version that something on a cluster has; ``seen`` is None when only the manifest says so."""

    text: str
    seen: datetime | None = None

    def __str__(self) -> str:
        return self.text + (f", as seen at {self.seen:%Y-%m-%d %H:%M} UTC" if self.seen else "")


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions of a cluster, as far as anybody says."""

    api_server: Version | None = None
    kubelet: Version | None = None
    """The oldest of its nodes."""
    driver: Version | None = None
    """The oldest GPU driver of its nodes."""

    @property
    def all(self) -> tuple[Version, ...]:
        """Those that somebody says."""
        return tuple(each for each in (self.api_server, self.kubelet, self.driver) if each is not None)

    def without(self, some: Collection[Version]) -> "Versions":
        """Return what is left when some do not count."""
        return Versions(*(None if each in some else each for each in (self.api_server, self.kubelet, self.driver)))


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster as a candidate. ``why`` says in words what is behind a state that takes no replicas."""

    name: str
    state: ClusterState = ClusterState.READY
    why: str = ""
    source: str = ""
    region: str = ""
    labels: Labels = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    pools: tuple[Pool, ...] = ()
    storage_class: str | None = None
    """A StorageClass that many nodes can mount; None when no cache can be staged here."""
    seen: datetime | None = None
    """When its nodes were last observed; None when only the manifests speak."""
    not_ready_since: datetime | None = None
    """Since when it has not been ready without a break; None when it is, or when nobody knows."""
    zone: str = ""
    """Where it lies in one zone and says so; a fact for readers, replicas are spread by cluster and region."""
    versions: Versions = Versions()

    @property
    def to_be_made(self) -> bool:
        """Whether Berth is still to make it, so that all of it is only what its manifest says."""
        return self.state is ClusterState.PLANNED and self.source != "Existing"

    @property
    def minor(self) -> str:
        """The Kubernetes minor whose selector language it speaks; where nobody says, the oldest."""
        return minor_of(self.versions.api_server.text if self.versions.api_server else "")

    @property
    def outdated(self) -> str:
        """What is known to be too old for device claims, in words; empty when nothing is."""
        who = (("API server", self.versions.api_server, API_SERVER), ("oldest kubelet", self.versions.kubelet, KUBELET))
        for name, version, floor in who:
            if version is not None and older(version.text, floor):
                verb = "is" if version.seen or not self.to_be_made else "is to be"
                return f"its {name} {verb} {version}, and device claims need {words_of(floor)} or newer"
        return ""

    def is_stuck(self, now: datetime, dwell: timedelta | None) -> bool:
        """Whether it has not been ready for so long that its replicas should move; with no time to wait, at once."""
        if self.state is not ClusterState.NOT_READY or dwell is None:
            return False
        return not dwell if self.not_ready_since is None else now - self.not_ready_since >= dwell


@dataclass(frozen=True, slots=True)
class CacheNeed:
    """The cache that a deployment's replicas read: name, digest of its shape, and where it may be staged."""

    name: str
    shape: str
    selector: Labels | None = None


@dataclass(frozen=True, slots=True)
class Deployment:
    """What is wanted: ``replicas`` copies of ``shape``, and where they may be."""

    namespace: str
    name: str
    replicas: int
    shape: ReplicaShape
    digest: str
    labels: Labels = field(default_factory=dict)
    selector: Labels | None = None
    tolerations: tuple[Toleration, ...] = ()
    cache: CacheNeed | None = None
    priority: int = 0
    allow_gap: bool = False
    """Whether the last replica may go before its successor serves, when there is no room for both."""
    spot: bool = False
    """Whether its replicas may run on nodes that can be taken away."""
    strategy: Strategy | None = None
    """The order of goals for its replicas instead of the environment's; never ``Compatible``, which is a fleet's."""
    max_cost_per_hour: Decimal | None = None
    """Most USD per hour that all its replicas may cost."""
    fabric: FabricNeed | None = None
    """What its gangs need; None for what the options say of gangs."""
    max_surge: int | None = None
    """How many of its replicas may exist beside the ones they replace; None for as many as fit."""

    @property
    def key(self) -> NamespacedName:
        """Namespace and name."""
        return (self.namespace, self.name)


@dataclass(frozen=True, slots=True)
class Options:
    """How the environment wants its replicas placed."""

    strategy: Strategy = Strategy.SPREAD
    accounting: Accounting = Accounting.DEVICE
    repin_dwell: timedelta | None = None
    """How long a cluster may be not ready before its replicas move to where there is room; None lets them stay."""
    preemption: bool = False
    """Whether replicas of a lower priority may go where one of a higher priority finds no room otherwise."""
    observation_age: timedelta | None = None
    """How old an observation may be; an older one does not count. None lets every one count."""
    max_surge: int | None = None
    """How many replicas of the fleet may exist beside the ones they replace; None for as many as fit."""
    max_surge_per_cluster: int | None = None
    """How many of them on one cluster."""
    fabric: FabricNeed | None = None
    """What gangs need whose deployment says nothing; None for any one, under ``Compatible`` for none."""

    def fabric_for(self, deployment: Deployment) -> FabricNeed:
        """Return what the gangs of a deployment need of the network between their pods."""
        usual = FabricNeed.NONE if self.strategy is Strategy.COMPATIBLE else FabricNeed.ANY
        return deployment.fabric or self.fabric or usual

    def counts(self, seen: datetime, now: datetime) -> bool:
        """Whether an observation made at ``seen`` is young enough to count."""
        return self.observation_age is None or now - seen <= self.observation_age


@dataclass(frozen=True, slots=True)
class Quota:
    """What the replicas of one namespace may take together; what is None or not listed has no limit."""

    devices: Mapping[str, int] = field(default_factory=dict)
    """Devices by accelerator."""
    nodes: int | None = None
    max_cost_per_hour: Decimal | None = None
    """USD per hour."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What the nodes of the fleet may cost in USD per hour; an advisory one refuses nothing."""

    max_cost_per_hour: Decimal
    advisory: bool = False


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything at one moment; see the module's text for the order of its parts."""

    clusters: tuple[Cluster, ...] = ()
    deployments: tuple[Deployment, ...] = ()
    replicas: tuple[ExistingReplica, ...] = ()
    caches: tuple[ExistingCache, ...] = ()
    held: frozenset[NamespacedName] = frozenset()
    """Deployments whose manifest cannot be used: their replicas stay exactly as they are."""
    options: Options = Options()
    now: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    names: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By namespace, the names that no new replica may bear, because something outside the fleet does."""
    quotas: Mapping[str, Quota] = field(default_factory=dict)
    """By namespace."""
    budget: Budget | None = None

    @property
    def counted(self) -> tuple[Cluster, ...]:
        """The clusters as they count: without what was seen too long ago, and without refusals that have expired."""
        return tuple(map(self._counted, self.clusters))

    def sight(self, cluster: Cluster) -> str:
        """Say what the nodes of one of its clusters are counted by, where that is more than the manifest."""
        if cluster.seen is None or all(pool.observed is None for pool in cluster.pools):
            return ""
        seen = f"{cluster.seen:%Y-%m-%d %H:%M} UTC"
        if not self.options.counts(cluster.seen, self.now):
            return f"nodes as declared: what was seen at {seen} is too old to count"
        return f"nodes as seen at {seen}"

    def _counted(self, cluster: Cluster) -> Cluster:
        stale = cluster.seen is not None and not self.options.counts(cluster.seen, self.now)
        forgets = self.options.strategy is Strategy.COMPATIBLE  # the predecessor remembers no refusal
        late = [each for each in cluster.versions.all if each.seen and not self.options.counts(each.seen, self.now)]
        if not stale and not late and not any(pool.refused for pool in cluster.pools):
            return cluster
        pools = []
        for pool in cluster.pools:
            counts = pool.refused is not None and pool.refused.until > self.now and not forgets
            refused = pool.refused if counts else None
            pools.append(replace(pool, observed=None if stale else pool.observed, refused=refused))
        return replace(cluster, pools=tuple(pools), versions=cluster.versions.without(late))
