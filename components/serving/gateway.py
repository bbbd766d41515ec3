"""The gateway of a cluster: where requests for its replicas come in.

Envoy's controller makes a load balancer for it in the cloud. So it is taken down first and awaited: its class keeps a
finalizer while a gateway uses it, and the namespace of the proxies goes only when their load balancer is gone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pulumi

from components.base import Component
from components.naming import SYSTEM_NAMESPACE
from components.serving.release import GatewayPlan

if TYPE_CHECKING:
    import pulumi_kubernetes as kubernetes

GATEWAY_NAME = "inference-gateway"
"""The gateway that the routes of replicas attach to, and its EnvoyProxy; in the system namespace."""

GATEWAY_API = "gateway.networking.k8s.io/v1"
_PROXY_API = "gateway.envoyproxy.io/v1alpha1"

_WAIT = {"pulumi.com/waitFor": "condition=Programmed"}
"""Envoy says so once its load balancer has an address; without it an update would end before there is one."""


class Gateway(pulumi.CustomResource):
    """A Gateway with its status; the SDK's class for custom objects does not give it out."""

    status: pulumi.Output[Any]

    def __init__(
        self, name: str, *, metadata: Mapping[str, Any], spec: Mapping[str, Any], opts: pulumi.ResourceOptions
    ) -> None:
        props = {"apiVersion": GATEWAY_API, "kind": "Gateway", "metadata": metadata, "spec": spec, "status": None}
        super().__init__(f"kubernetes:{GATEWAY_API}:Gateway", name, props, opts)

    @property
    def address(self) -> pulumi.Output[str]:
        """The first address of its load balancer, a host name or an IP; empty while it has none."""
        return self.status.apply(first_address)


@dataclass(frozen=True, slots=True)
class GatewayParts:
    """What the gateway is made of."""

    gateway: Gateway
    gateway_class: pulumi.Resource


def first_address(status: Mapping[str, Any] | None) -> str:
    """Return the first address of a Gateway's status."""
    addresses = (status or {}).get("addresses") or [{}]
    return str(addresses[0].get("value") or "")


def build_gateway(
    component: Component,
    plan: GatewayPlan,
    *,
    provider: "kubernetes.Provider",
    depends_on: Sequence[pulumi.Resource],
    deleted_with: pulumi.Resource | None,
) -> GatewayParts:
    """Register the proxy's settings, the class and the gateway, which takes routes from every namespace."""
    from pulumi_kubernetes.apiextensions import CustomResource  # noqa: PLC0415 (a slow SDK, for those who need it)

    proxy = CustomResource(
        component.child("proxy"),
        api_version=_PROXY_API,
        kind="EnvoyProxy",
        metadata=component.metadata(GATEWAY_NAME, namespace=SYSTEM_NAMESPACE),
        spec={
            "provider": {
                "type": "Kubernetes",
                # Local would keep the client's address, but some clouds' load balancers then reach no proxy at all.
                "kubernetes": {"envoyService": {"type": "LoadBalancer", "externalTrafficPolicy": "Cluster"}},
            }
        },
        opts=component.options(provider=provider, depends_on=depends_on, deleted_with=deleted_with),
    )
    gateway_class = CustomResource(
        component.child("gateway-class"),
        api_version=GATEWAY_API,
        kind="GatewayClass",
        metadata=component.metadata(plan.class_name),
        spec={
            "controllerName": plan.controller,
            "parametersRef": {
                "group": _PROXY_API.partition("/")[0],
                "kind": "EnvoyProxy",
                "name": GATEWAY_NAME,
                "namespace": SYSTEM_NAMESPACE,
            },
        },
        opts=component.options(provider=provider, depends_on=[*depends_on, proxy]),
    )
    options = component.options(provider=provider, depends_on=[*depends_on, gateway_class])
    return GatewayParts(_gateway(component, plan, options), gateway_class)


def _gateway(component: Component, plan: GatewayPlan, options: pulumi.ResourceOptions) -> Gateway:
    listeners = [
        {
            "name": listener.name,
            "protocol": listener.protocol,
            "port": listener.port,
            "allowedRoutes": {"namespaces": {"from": "All"}},
        }
        for listener in plan.listeners
    ]
    return Gateway(
        component.child("gateway"),
        metadata=component.metadata(GATEWAY_NAME, namespace=SYSTEM_NAMESPACE, annotations=_WAIT),
        spec={"gatewayClassName": plan.class_name, "listeners": listeners},
        opts=options,
    )
