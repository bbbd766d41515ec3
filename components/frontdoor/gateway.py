"""FrontDoor: the fleet's public gateway on one cluster.

Traefik stands here and not Envoy, because a service gives each of its backends a path of its own, which needs a rewrite
per backend. Every front door carries the same routes; one that goes is one address fewer, nothing else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.core.v1 import NamespacePatch
from pulumi_kubernetes.helm.v3 import Release, RepositoryOptsArgs

from components.base import Component
from components.clusters.contract import ClusterOutputs
from components.frontdoor.charts import GATEWAY_API, METALLB, TRAEFIK, Chart
from components.naming import SYSTEM_NAMESPACE

GATEWAY_NAME: Final = "modelplane"
"""The gateway in the system namespace that service routes attach to; also MetalLB's pool."""

GATEWAY_GROUP: Final = "gateway.networking.k8s.io"
_CLASS: Final = "traefik"
_CONTROLLER: Final = "traefik.io/gateway-controller"
_ENTRY_PORT: Final = 8000
"""Traefik's own ``web`` entry point, which a listener must name; its Service shows it as port 80."""

_HAS_ADDRESS: Final = {"pulumi.com/waitFor": "jsonpath={.status.addresses[0].value}"}
_TAKE_OVER: Final = {"pulumi.com/patchForce": "true"}

_VALUES: Final[Mapping[str, Any]] = {
    "providers": {
        "kubernetesGateway": {
            "enabled": True,
            "statusAddress": {"service": {"namespace": TRAEFIK.namespace, "name": "traefik"}},
        },
        "kubernetesIngress": {"enabled": False},
    },
    "service": {"nameOverride": "traefik"},
    "gateway": {"enabled": False},
    "gatewayClass": {"enabled": False},
}
"""The gateway and its class are Berth's own, because their address is read; the Service's name is fixed for that."""


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
    definitions: bool = True
    """Whether to install the Gateway API; a serving stack on the same cluster has done so already."""

    def props(self) -> dict[str, Any]:
        """Return the description that the component keeps in the state."""
        return {"cluster": self.cluster, "gateway": self.gateway, "version": self.version}


class FrontDoor(Component):
    """The public gateway on one cluster; logical name ``<cluster>/front-door``."""

    TYPE = "berth:index:FrontDoor"

    def __init__(self, args: FrontDoorArgs, *, cluster: ClusterOutputs, depends_on: Sequence[pulumi.Resource]) -> None:
        super().__init__(f"{args.cluster}/front-door", args.props(), environment=args.environment)
        self._cluster = cluster
        before = [*cluster.ready, *depends_on]
        before += self._definitions(args, before)
        before += self._addresses(args, before)
        traefik = self._release("traefik", TRAEFIK, before, version=args.version, values=_VALUES)
        gateway = self._gateway([*before, traefik])
        self.ready: tuple[pulumi.Resource, ...] = (gateway,)
        """What routes depend on."""
        self.address: pulumi.Output[str] = gateway.address
        """IP address or host name that clients reach."""
        self.publish(address=self.address)

    def _definitions(self, args: FrontDoorArgs, before: Sequence[pulumi.Resource]) -> list[pulumi.Resource]:
        if not args.definitions:
            return []
        values = {"standard": {"enabled": True}, "experimental": {"enabled": False}}
        return [self._release("gateway-api", GATEWAY_API, before, values=values)]

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

    def _gateway(self, before: Sequence[pulumi.Resource]) -> "Gateway":
        namespace = self._namespace(before)
        gateway_class = self._custom(
            "class",
            before,
            kind=(f"{GATEWAY_GROUP}/v1", "GatewayClass"),
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
            opts=self.options(provider=self._cluster.provider, depends_on=[*before, namespace, gateway_class]),
        )

    def _namespace(self, before: Sequence[pulumi.Resource]) -> pulumi.Resource:
        metadata: Any = self.metadata(SYSTEM_NAMESPACE, annotations=_TAKE_OVER)
        options = self.options(provider=self._cluster.provider, depends_on=before, retain_on_delete=True)
        return NamespacePatch(self.child("namespace"), metadata=metadata, opts=options)

    def _release(
        self,
        role: str,
        chart: Chart,
        before: Sequence[pulumi.Resource],
        *,
        values: Mapping[str, Any],
        version: str = "",
    ) -> Release:
        # Its Service holds a load balancer of the cloud, so it is deleted before the cluster and not with it.
        return Release(
            self.child(role),
            name=chart.release,
            chart=chart.chart,
            repository_opts=RepositoryOptsArgs(repo=chart.repository),
            version=version or chart.version,
            namespace=chart.namespace,
            create_namespace=True,
            values=dict(values),
            opts=self.options(provider=self._cluster.provider, depends_on=before),
        )

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


class Gateway(pulumi.CustomResource):
    """A Gateway whose status can be read; the SDK's class for custom objects knows inputs only."""

    status: pulumi.Output[Any]

    def __init__(
        self, name: str, *, metadata: Mapping[str, Any], spec: Mapping[str, Any], opts: pulumi.ResourceOptions
    ) -> None:
        api_version = f"{GATEWAY_GROUP}/v1"
        inputs = {"apiVersion": api_version, "kind": "Gateway", "metadata": metadata, "spec": spec, "status": None}
        super().__init__(f"kubernetes:{api_version}:Gateway", name, inputs, opts)

    @property
    def address(self) -> pulumi.Output[str]:
        """The first address that the controller reports."""
        return self.status.apply(first_address)


def first_address(status: Mapping[str, Any] | None) -> str:
    """Return the first address of a gateway's status; empty while it has none."""
    addresses = (status or {}).get("addresses") or ()
    return str(addresses[0].get("value") or "") if addresses else ""
