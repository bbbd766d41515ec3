"""FrontDoor: the fleet's public gateway on one cluster.

Traefik stands here and not Envoy, because a service gives each of its backends a path of its own, which needs a rewrite
per backend. Every front door carries the same routes; one that goes is one address fewer, nothing else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource

from components.base import Component
from components.clusters.chart import Chart
from components.clusters.contract import ClusterOutputs
from components.clusters.helm import install
from components.frontdoor.charts import METALLB, traefik
from components.naming import SYSTEM_NAMESPACE
from components.serving.gateway import GATEWAY_API, Gateway

GATEWAY_NAME: Final = "modelplane"
"""The gateway in the system namespace that service routes attach to; also MetalLB's pool."""

_CLASS: Final = "traefik"
_CONTROLLER: Final = "traefik.io/gateway-controller"
_ENTRY_PORT: Final = 8000
"""Traefik's own ``web`` entry point, which a listener must name; its Service shows it as port 80."""

_HAS_ADDRESS: Final = {"pulumi.com/waitFor": "jsonpath={.status.addresses[0].value}"}


def traefik_values(chart: Chart) -> dict[str, Any]:
    """Return the chart's values: the gateway and its class are Berth's own, because the gateway's address is read.

    The Service's name is fixed, so that the gateway can take its address from there.
    """
    service = {"namespace": chart.namespace, "name": "traefik"}
    return {
        "providers": {
            "kubernetesGateway": {"enabled": True, "statusAddress": {"service": service}},
            "kubernetesIngress": {"enabled": False},
        },
        "service": {"nameOverride": "traefik"},
        "gateway": {"enabled": False},
        "gatewayClass": {"enabled": False},
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontDoorArgs:
    """A gateway manifest on one cluster."""

    cluster: str
    gateway: str
    """Name of the InferenceGateway."""
    version: str
    """Version of Traefik's chart."""
    environment: str
    address_pool: str = ""
    """Addresses for MetalLB; empty where the cloud has load balancers."""
    protect: bool = False
    """Whether the gateway refuses to be deleted: every client of the fleet comes through it."""

    def props(self) -> dict[str, Any]:
        """Return the description that the component keeps in the state."""
        return {"cluster": self.cluster, "gateway": self.gateway, "version": self.version}


class FrontDoor(Component):
    """The public gateway on one cluster; logical name ``<cluster>/front-door``.

    It depends on what gives the cluster the Gateway API and the system namespace, which is its serving stack.
    """

    TYPE = "berth:index:FrontDoor"

    def __init__(self, args: FrontDoorArgs, *, cluster: ClusterOutputs, depends_on: Sequence[pulumi.Resource]) -> None:
        super().__init__(f"{args.cluster}/front-door", args.props(), environment=args.environment)
        self._cluster, self._protect = cluster, args.protect or None
        before = [*cluster.ready, *depends_on]
        before += self._addresses(args, before)
        chart = traefik(args.version)
        release = self._release("traefik", chart, before, values=traefik_values(chart))
        gateway = self._gateway([*before, release])
        self.ready: tuple[pulumi.Resource, ...] = (gateway,)
        """What routes depend on."""
        self.address: pulumi.Output[str] = gateway.address
        """IP address or host name that clients reach."""
        self.publish(address=self.address)

    def _addresses(self, args: FrontDoorArgs, before: Sequence[pulumi.Resource]) -> list[pulumi.Resource]:
        if not args.address_pool:
            return []
        metallb = self._release("metallb", METALLB, before, values={})
        pool = self._custom(
            "address-pool",
            [metallb],
            kind=("metallb.io/v1beta1", "IPAddressPool"),
            metadata=self.metadata(GATEWAY_NAME, namespace=METALLB.namespace),
            spec={"addresses": [args.address_pool]},
        )
        advertisement = self._custom(
            "address-advertisement",
            [metallb, pool],
            kind=("metallb.io/v1beta1", "L2Advertisement"),
            metadata=self.metadata(GATEWAY_NAME, namespace=METALLB.namespace),
            spec={"ipAddressPools": [GATEWAY_NAME]},
        )
        return [metallb, pool, advertisement]

    def _gateway(self, before: Sequence[pulumi.Resource]) -> Gateway:
        gateway_class = self._custom(
            "class",
            before,
            kind=(GATEWAY_API, "GatewayClass"),
            metadata=self.metadata(_CLASS),
            spec={"controllerName": _CONTROLLER},
        )
        listener = {
            "name": "web",
            "protocol": "HTTP",
            "port": _ENTRY_PORT,
            "allowedRoutes": {"namespaces": {"from": "All"}},
        }
        return Gateway(
            self.child("gateway"),
            metadata=self.metadata(GATEWAY_NAME, namespace=SYSTEM_NAMESPACE, annotations=_HAS_ADDRESS),
            spec={"gatewayClassName": _CLASS, "listeners": [listener]},
            opts=self.options(
                provider=self._cluster.provider, depends_on=[*before, gateway_class], protect=self._protect
            ),
        )

    def _release(
        self, role: str, chart: Chart, before: Sequence[pulumi.Resource], *, values: Mapping[str, Any]
    ) -> pulumi.Resource:
        # Traefik's Service holds a load balancer of the cloud, so releases go before the cluster and not with it.
        return install(self, role, chart, provider=self._cluster.provider, values=values, depends_on=before)

    def _custom(
        self,
        role: str,
        before: Sequence[pulumi.Resource],
        *,
        kind: tuple[str, str],
        metadata: dict[str, Any],
        spec: Mapping[str, Any],
    ) -> pulumi.Resource:
        options = self.options(
            provider=self._cluster.provider, depends_on=before, deleted_with=self._cluster.deleted_with
        )
        return CustomResource(
            self.child(role), api_version=kind[0], kind=kind[1], metadata=metadata, spec=dict(spec), opts=options
        )
