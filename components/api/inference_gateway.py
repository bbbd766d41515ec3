"""InferenceGateway: the public entry of the fleet, a Traefik gateway on the front doors."""

from typing import ClassVar, Literal

from components.api.base import Document, Model


class MetalLb(Model):
    """Addresses for load balancers where the cloud has none."""

    address_pool: str
    """Range of addresses inside the nodes' network."""


class Traefik(Model):
    """Settings of Traefik."""

    version: str
    """Version of the Helm chart."""

    load_balancer: Literal["MetalLB"] | None = None
    """Leave it out where the cloud has load balancers."""

    metallb: MetalLb | None = None
    """Addresses for MetalLB."""


class InferenceGatewaySpec(Model):
    """The public entry."""

    backend: Literal["Traefik"]
    """The implementation."""

    traefik: Traefik | None = None
    """Settings of Traefik."""


class InferenceGateway(Document):
    """The public entry of the fleet; services use the one named `default`."""

    NAMESPACED: ClassVar[bool] = False
    SHORT_NAME: ClassVar[str] = "ig"
    COLUMNS: ClassVar[tuple[tuple[str, str], ...]] = (("GATEWAY", "spec.backend"),)

    kind: Literal["InferenceGateway"]
    """Always `InferenceGateway`."""

    spec: InferenceGatewaySpec
    """The settings."""
