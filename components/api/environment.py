"""Environment: what holds for a whole folder of manifests and the Pulumi stacks built from it.

Berth's own kind; the predecessor has none. Exactly one per environment folder.
"""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from components.api import syntax
from components.api.base import LATER, Document, Items, LabelMetadata, Later, Model, Ruled
from components.api.codes import Code
from components.api.frozen import FrozenDict, FrozenMap
from components.api.rules import DnsLabel, Violation, checked, duplicates, shown, within

Text = Annotated[str, Field(min_length=1, max_length=253)]
SecretName = Annotated[str, checked(syntax.secret_name, Code.NAME_INVALID)]
TagValue = Annotated[str, Field(min_length=1, max_length=255), checked(syntax.tag_value, Code.VALUE_INVALID)]


class Scheduling(Ruled):
    """How replicas are placed."""

    strategy: Literal["Spread", "Compatible"] = "Spread"
    """`Spread` places the whole fleet by Berth's order of goals; `Compatible` makes the predecessor's choices."""

    accounting: Literal["Device", "Node", "BestFit"] = Field(
        default_factory=lambda data: "Node" if data.get("strategy") == "Compatible" else "Device"
    )
    """What a pod takes: its devices under any packing, a whole node, or its devices under the best packing."""

    surge: Later = None
    """Fleet-wide limits for replicas that exist beside the ones they replace."""

    repin_dwell: Later = None
    """How long a replica stays before it may be moved again."""

    def rules(self) -> Iterator[Violation]:
        """Check that the predecessor's order of choices has its way of counting."""
        if self.strategy == "Compatible" and self.accounting != "Node":
            message = f"strategy Compatible counts nodes, so accounting cannot be {shown(self.accounting)}"
            yield Violation(Code.FIELD_CONFLICT, message, ("accounting",), hint="leave accounting out, or write `Node`")


class AwsProvider(Model):
    """One identity on AWS."""

    region: Text | None = None
    """Region for calls that no cluster fixes; a cluster's own region always wins."""

    profile: Text | None = None
    """Name of a profile of the shared AWS configuration."""

    role_arn: Text | None = None
    """Role to assume."""

    external_id: Text | None = None
    """External id that the role asks for."""


class GcpProvider(Model):
    """One identity on Google Cloud."""

    project: Text
    """Project in which clusters are made."""

    impersonate_service_account: Text | None = None
    """Service account to impersonate."""


class AzureProvider(Model):
    """One identity on Azure."""

    subscription_id: Text
    """Subscription in which clusters are made."""

    tenant_id: Text | None = None
    """Tenant of the identity."""

    client_id: Text | None = None
    """Client id of a workload or managed identity."""


class NebiusProvider(Model):
    """One identity on Nebius."""

    project: Text
    """Project (parent id), which also fixes the region."""

    secret: SecretName | None = None
    """`namespace/name` of the secret that holds the service account's key."""


class VultrProvider(Model):
    """One identity on Vultr."""

    secret: SecretName
    """`namespace/name` of the secret that holds the API key."""


class Providers(Model):
    """Cloud identities by cloud and name; `default` is the ambient identity unless it is given here."""

    aws: FrozenMap[str, AwsProvider] = FrozenDict()
    """Identities on AWS."""

    gcp: FrozenMap[str, GcpProvider] = FrozenDict()
    """Identities on Google Cloud."""

    azure: FrozenMap[str, AzureProvider] = FrozenDict()
    """Identities on Azure."""

    nebius: FrozenMap[str, NebiusProvider] = FrozenDict()
    """Identities on Nebius."""

    vultr: FrozenMap[str, VultrProvider] = FrozenDict()
    """Identities on Vultr."""


class EnvironmentSpec(Ruled):
    """The settings of an environment."""

    layout: Literal["Single", "PerCluster"] = "Single"
    """`Single`: one Pulumi stack holds everything. `PerCluster`: one for the front doors and one for each cluster."""

    front_doors: Items[DnsLabel] = ()
    """Names of the clusters that carry a public gateway. They need no GPU pools."""

    release: Text = "default"
    """The release of the serving stack; a cluster may pin another."""

    scheduling: Scheduling = Scheduling()
    """How replicas are placed."""

    protect: bool = False
    """Whether what holds data or serves traffic is protected from deletion."""

    secrets: Items[SecretName] = ()
    """Secrets that the environment holds, as `namespace/name`. Where each one goes is derived from its uses."""

    providers: Providers = Providers()
    """Cloud identities by cloud and name."""

    owner: TagValue | None = None
    """Who owns the environment; becomes a tag on every cloud resource."""

    cost_centre: TagValue | None = None
    """Who pays; becomes a tag on every cloud resource."""

    keep_old: Annotated[str | None, LATER] = None
    """How long a replaced replica is kept, as a duration such as `30m`."""

    registry: Later = None
    """Rules that rewrite chart and image references to mirrors."""

    budget: Later = None
    """Highest cost of the fleet."""

    quotas: Later = None
    """Limits per namespace: devices per accelerator, nodes, USD per hour."""

    policies: Later = None
    """Settings of policies, and exceptions with a reason and an end date."""

    promotion: Later = None
    """Where this environment promotes to, and the gates in between."""

    observation: Later = None
    """How old an observation may be."""

    def rules(self) -> Iterator[Violation]:
        """Check that names in lists stand once."""
        yield from within("frontDoors", duplicates(self.front_doors, str, "", "the cluster"))
        yield from within("secrets", duplicates(self.secrets, str, "", "the secret"))


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
