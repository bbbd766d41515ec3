"""ServingStack: the predecessor's machine-made description of the software on a cluster; read, and left alone.

Berth's own serving stack comes from a release, which is data; this kind only says what the predecessor installed.
"""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from components.api.base import Items, Model, Ruled
from components.api.codes import Code
from components.api.conditions import Together, equal
from components.api.infrastructure import InfrastructureDocument
from components.api.rules import Violation, duplicates, within

Text253 = Annotated[str, Field(max_length=253)]
ChartVersion = Annotated[str, Field(min_length=1, max_length=32)]


class StackSecret(Model):
    """One way to reach the cluster."""

    type: Literal[
        "Kubeconfig", "GoogleApplicationCredentials", "AWSWebIdentityCredentials", "NebiusServiceAccountCredentials"
    ]
    """What the secret holds."""

    name: Text253
    """Name of the secret."""

    key: Text253
    """Key in the secret."""

    namespace: Text253 | None = None
    """Namespace of the secret; the stack's own without it."""


class StackVersions(Model):
    """Versions of the charts."""

    gateway_api: ChartVersion = "v1.5.1"
    """Gateway API; nothing reads it."""

    cert_manager: ChartVersion = "v1.17.1"
    """cert-manager."""

    envoy_gateway: ChartVersion = "v1.8.1"
    """Envoy Gateway."""

    prometheus: ChartVersion = "72.6.2"
    """The Prometheus stack."""

    leader_worker_set: ChartVersion = "v0.8.0"
    """LeaderWorkerSet."""

    node_feature_discovery: ChartVersion = "0.18.3"
    """Node Feature Discovery."""

    nvidia_dra_driver: ChartVersion = "0.4.0"
    """The NVIDIA DRA driver."""


class Listener(Model):
    """A listener of the cluster's gateway."""

    name: Annotated[str, Field(min_length=1, max_length=63)]
    """Name of the listener."""

    port: Annotated[int, Field(ge=1, le=65535)]
    """Port."""

    protocol: Literal["HTTP", "TCP"]
    """Protocol."""


class StackGateway(Ruled):
    """The cluster's gateway."""

    class_name: Annotated[str, Field(min_length=1, max_length=63)] = "envoy"
    """GatewayClass."""

    listeners: Items[Listener] = Field(default=(), max_length=8)
    """Listeners; one for HTTP on port 80 without any."""

    def rules(self) -> Iterator[Violation]:
        """Check that listeners have different names."""
        names = duplicates(self.listeners, lambda listener: listener.name, "name", "the listener")
        yield from within("listeners", names)


def _reached(spec: "ServingStackSpec") -> Iterator[Violation]:
    if all(secret.type != "Kubeconfig" for secret in spec.secrets):
        message = "secrets must hold one of type Kubeconfig"
        yield Violation(Code.FIELD_MISSING, message, ("secrets",), at_key=True)


class ServingStackSpec(Ruled):
    """The software on a cluster."""

    CONDITIONS: ClassVar = (
        Together(_reached, ({"properties": {"secrets": {"contains": equal("type", "Kubeconfig")}}},)),
    )

    secrets: Items[StackSecret] = Field(min_length=1, max_length=8)
    """How the stack reaches the cluster."""

    nvidia_driver_root: Annotated[str, Field(max_length=512)] = "/"
    """Where the GPU driver lies on a node."""

    versions: StackVersions = StackVersions()
    """Versions of the charts."""

    gateway: StackGateway = StackGateway()
    """The cluster's gateway."""


class ServingStack(InfrastructureDocument):
    """The software on a cluster, as the predecessor's machinery describes it."""

    SHORT_NAME: ClassVar[str] = "ss"
    COLUMNS: ClassVar[tuple[tuple[str, str], ...]] = (("GATEWAY", "status.gateway.address"),)

    kind: Literal["ServingStack"]
    """Always `ServingStack`."""

    spec: ServingStackSpec
    """The stack."""
