"""InferenceGateway: the public entry of the fleet, a Traefik gateway on the front doors."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from components.api.base import Manifest, Model, Ruled
from components.api.codes import Code
from components.api.conditions import ChosenBlock
from components.api.networks import POOL_PATTERN, address_pool
from components.api.rules import checked, matching


class MetalLb(Model):
    """Addresses for load balancers where the cloud has none."""

    address_pool: Annotated[
        str, Field(min_length=1), checked(address_pool, Code.NETWORK_INVALID, said={"pattern": POOL_PATTERN})
    ]
    """Range of addresses inside the nodes' network."""


class Traefik(Ruled):
    """Settings of Traefik."""

    CONDITIONS: ClassVar = (ChosenBlock("load_balancer", {"MetalLB": "metallb"}),)

    version: Annotated[
        str,
        Field(min_length=1),
        matching(
            r"([~^=]|[<>]=?)? ?v?[0-9]+(\.([0-9]+|x|\*)){0,2}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?",
            "be the version of a chart, such as `40.2.0`",
            Code.VALUE_INVALID,
        ),
    ]
    """Version of the Helm chart."""

    load_balancer: Literal["MetalLB"] | None = None
    """Leave it out where the cloud has load balancers."""

    metallb: MetalLb | None = None
    """Addresses for MetalLB."""


class InferenceGatewaySpec(Ruled):
    """The public entry."""

    CONDITIONS: ClassVar = (ChosenBlock("backend", {"Traefik": "traefik"}),)

    backend: Literal["Traefik"]
    """The implementation."""

    traefik: Traefik | None = None
    """Settings of Traefik."""


class InferenceGateway(Manifest):
    """The public entry of the fleet; services use the one named `default`."""

    NAMESPACED: ClassVar[bool] = False
    SHORT_NAME: ClassVar[str] = "ig"
    COLUMNS: ClassVar[tuple[tuple[str, str], ...]] = (("GATEWAY", "spec.backend"),)

    kind: Literal["InferenceGateway"]
    """Always `InferenceGateway`."""

    spec: InferenceGatewaySpec
    """The settings."""
