"""InferenceGateway: the public entry of the fleet, a Traefik gateway on the front doors."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from components.api.base import Manifest, Model, Ruled
from components.api.codes import Code
from components.api.rules import Violation


class MetalLb(Model):
    """Addresses for load balancers where the cloud has none."""

    address_pool: Annotated[str, Field(min_length=1)]
    """Range of addresses inside the nodes' network."""


class Traefik(Ruled):
    """Settings of Traefik."""

    version: Annotated[str, Field(min_length=1)]
    """Version of the Helm chart."""

    load_balancer: Literal["MetalLB"] | None = None
    """Leave it out where the cloud has load balancers."""

    metallb: MetalLb | None = None
    """Addresses for MetalLB."""

    def rules(self) -> Iterator[Violation]:
        """Check that MetalLB has addresses."""
        if self.load_balancer == "MetalLB" and self.metallb is None:
            message = "loadBalancer MetalLB needs the block `metallb` beside it"
            yield Violation(Code.BLOCK_MISSING, message, ("loadBalancer",))


class InferenceGatewaySpec(Ruled):
    """The public entry."""

    backend: Literal["Traefik"]
    """The implementation."""

    traefik: Traefik | None = None
    """Settings of Traefik."""

    def rules(self) -> Iterator[Violation]:
        """Check that the backend's own block is there."""
        if self.traefik is None:
            yield Violation(Code.BLOCK_MISSING, "backend Traefik needs the block `traefik` beside it", ("backend",))


class InferenceGateway(Manifest):
    """The public entry of the fleet; services use the one named `default`."""

    NAMESPACED: ClassVar[bool] = False
    SHORT_NAME: ClassVar[str] = "ig"
    COLUMNS: ClassVar[tuple[tuple[str, str], ...]] = (("GATEWAY", "spec.backend"),)

    kind: Literal["InferenceGateway"]
    """Always `InferenceGateway`."""

    spec: InferenceGatewaySpec
    """The settings."""
