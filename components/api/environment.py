"""Environment: what holds for a whole folder of manifests and the Pulumi stacks built from it.

Berth's own kind; the predecessor has none. Exactly one per environment folder.
"""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from components.api import syntax
from components.api.base import LATER, Document, Items, LabelMetadata, LabelSelector, Model, Ruled
from components.api.budget import Budget, Quotas
from components.api.codes import Code
from components.api.conditions import Together, equal
from components.api.policy_settings import Policies
from components.api.promotion import Promotion
from components.api.providers import AwsProvider, Providers
from components.api.registry import Registry
from components.api.rules import DnsLabel, Violation, checked, distinct, duplicates, shown, within
from components.api.values import MAX_INT32, Duration, SecretName

__all__ = ["AwsProvider", "Environment", "EnvironmentSpec", "Providers", "Scheduling"]

Text = Annotated[str, Field(min_length=1, max_length=253)]
TagValue = Annotated[str, Field(min_length=1, max_length=255), checked(syntax.tag_value, Code.VALUE_INVALID)]


class FleetSurge(Model):
    """How many replicas may exist beside the ones they replace; no limit without it."""

    max_surge: Annotated[int, Field(ge=1, le=MAX_INT32)] | None = None
    """In the whole fleet, at one time."""

    max_surge_per_cluster: Annotated[int, Field(ge=1, le=MAX_INT32)] | None = None
    """On one cluster, at one time."""


def usual_accounting(strategy: str | None) -> Literal["Device", "Node"]:
    """Return how room is counted where nobody says: the predecessor's order of choices has its way of counting."""
    return "Node" if strategy == "Compatible" else "Device"


def _counts_nodes(scheduling: "Scheduling") -> Iterator[Violation]:
    """Yield a violation when the predecessor's order of choices has not its way of counting."""
    if scheduling.strategy == "Compatible" and scheduling.accounting != "Node":
        message = f"strategy Compatible counts nodes, so accounting cannot be {shown(scheduling.accounting)}"
        yield Violation(Code.FIELD_CONFLICT, message, ("accounting",), hint="leave accounting out, or write `Node`")


_BY_NODES: Final = {
    "if": equal("strategy", "Compatible"),
    "then": {"properties": {"accounting": {"enum": ["Node", None]}}},
}


class Scheduling(Ruled):
    """How replicas are placed."""

    CONDITIONS: ClassVar = (Together(_counts_nodes, (_BY_NODES,)),)

    strategy: Literal["Spread", "Pack", "Cost", "Compatible"] = "Spread"
    """What decides between clusters that have room: `Spread` prefers those with fewest own replicas, `Pack` those with
    most, `Cost` the cheapest; `Compatible` makes the predecessor's choices."""

    accounting: Literal["Device", "Node", "BestFit"] = Field(
        default_factory=lambda data: usual_accounting(data.get("strategy"))
    )
    """What a pod takes: its devices under any packing, a whole node, or its devices under the best packing."""

    fabric: Literal["Any", "EFA", "InfiniBand", "None"] | None = None
    """Fast network that the nodes of a gang share, where its deployment says nothing: one of a kind, `Any`, or `None`
    where plain Ethernet will do. `Any` without it, and `None` under `Compatible`."""

    preemption: bool = False
    """Whether replicas of deployments with a lower `priority` go where one with a higher finds no room otherwise."""

    surge: FleetSurge | None = None
    """Limits for replicas that exist beside the ones they replace; what has to wait moves with a later `berth up`."""

    repin_dwell: Duration | None = None
    """How long a cluster may be not ready before its replicas move to where there is room; they stay without it. `0s`
    moves them at once; no run knows yet since when a cluster has not been ready, so a longer time never passes."""


class SecretCopy(Model):
    """A secret that also goes where nothing in the manifests asks for it."""

    secret: SecretName
    """`namespace/name` of the secret."""

    namespaces: Annotated[Items[DnsLabel], distinct("the namespace")] = Field(min_length=1, max_length=64)
    """Namespaces that get a copy."""

    cluster_selector: LabelSelector | None = None
    """Clusters that get a copy; all without it."""


class ObservationSettings(Model):
    """How much what was seen of the clusters counts."""

    max_age: Duration
    """How old an observation may be, as a duration such as `10m`; an older one does not count, and verdicts say so."""


class EnvironmentSpec(Ruled):
    """The settings of an environment."""

    layout: Literal["Single", "PerCluster"] = "Single"
    """`Single`: one Pulumi stack holds everything. `PerCluster`: one holds the clusters of `frontDoors` and all routes,
    and every other cluster has one of its own."""

    front_doors: Annotated[Items[DnsLabel], distinct("the cluster")] = ()
    """Names of the clusters that carry a public gateway. They need no GPU pools."""

    release: Text = "default"
    """The release of the serving stack; a cluster may pin another."""

    scheduling: Scheduling = Scheduling()
    """How replicas are placed."""

    protect: bool = False
    """Whether what holds data or serves traffic is protected from deletion."""

    secrets: Annotated[Items[SecretName], distinct("the secret")] = ()
    """Secrets that the environment holds, as `namespace/name`. Where each one goes is derived from its uses."""

    providers: Providers = Providers()
    """Cloud identities by cloud and name."""

    owner: TagValue | None = None
    """Who owns the environment; becomes a tag on every cloud resource."""

    cost_centre: TagValue | None = None
    """Who pays; becomes a tag on every cloud resource."""

    keep_old: Annotated[Duration | None, LATER] = None
    """How long a replaced replica is kept, as a duration such as `30m`."""

    secret_copies: Annotated[Items[SecretCopy] | None, Field(min_length=1, max_length=64), LATER] = None
    """Secrets that go to more places than their uses call for."""

    registry: Annotated[Registry | None, LATER] = None
    """Mirrors of the registries that charts and images come from."""

    budget: Budget | None = None
    """Highest cost of the fleet."""

    quotas: Quotas | None = None
    """Limits by namespace: devices per accelerator, nodes, US dollars per hour."""

    policies: Annotated[Policies | None, LATER] = None
    """Settings of policies, and exceptions with a reason and an end date."""

    promotion: Annotated[Promotion | None, LATER] = None
    """Where this environment promotes to, and the gates in between."""

    observation: ObservationSettings | None = None
    """How old an observation may be."""

    def rules(self) -> Iterator[Violation]:
        """Check that names in lists stand once."""
        copies = duplicates(self.secret_copies or (), lambda each: each.secret, "secret", "the secret")
        yield from within("secretCopies", copies)


class Environment(Document):
    """One fleet: its front doors, its layout, and how it is scheduled."""

    NAMESPACED: ClassVar[bool] = False
    SHORT_NAME: ClassVar[str] = "env"
    COLUMNS: ClassVar[tuple[tuple[str, str], ...]] = (("LAYOUT", "spec.layout"), ("RELEASE", "spec.release"))

    api_version: Literal["berth.dev/v1alpha1"]
    """Always `berth.dev/v1alpha1`."""

    kind: Literal["Environment"]
    """Always `Environment`."""

    metadata: LabelMetadata
    """Name, labels and annotations. The name is that of the folder and of the Pulumi stack."""

    spec: EnvironmentSpec = EnvironmentSpec()
    """The settings."""
