"""Service: one path on a front door, its traffic divided over endpoints by weight.

The route is there as long as the service is: with nothing behind it the gateway answers that the service is
unavailable, which a client can retry, and not that there is no such service.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource

from components.base import Component
from components.clusters.contract import ClusterOutputs
from components.frontdoor.gateway import GATEWAY_NAME
from components.naming import SYSTEM_NAMESPACE, child_name
from components.serving.gateway import GATEWAY_API

_PREFIX: Final = "modelservice"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceBackend:
    """One weighted backend of a service."""

    endpoint: str
    weight: int
    backend: str
    """Name of the endpoint's Service."""
    port: int
    rewrite_path: str | None = None
    """What takes the place of the service's prefix; without it the path stays as it came."""
    host: str = ""
    """The name that an external server wants to be called by; empty to pass on the client's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceArgs:
    """A service as the lock has it, on one front door."""

    front_door: str
    namespace: str
    service: str
    environment: str
    backends: tuple[ServiceBackend, ...] = ()

    @property
    def path(self) -> str:
        """The service's prefix."""
        return f"/{self.namespace}/{self.service}/"

    def props(self) -> dict[str, Any]:
        """Return the description that the component keeps in the state."""
        return {
            "namespace": self.namespace,
            "service": self.service,
            "frontDoor": self.front_door,
            "backends": [{"endpoint": backend.endpoint, "weight": backend.weight} for backend in self.backends],
        }


class Service(Component):
    """One service on a front door; logical name ``<cluster>/<namespace>/<service>``."""

    TYPE = "berth:index:Service"

    def __init__(
        self,
        args: ServiceArgs,
        *,
        cluster: ClusterOutputs,
        address: pulumi.Output[str],
        depends_on: Sequence[pulumi.Resource],
    ) -> None:
        name = f"{args.front_door}/{args.namespace}/{args.service}"
        super().__init__(name, args.props(), environment=args.environment)
        CustomResource(
            self.child("route"),
            api_version=GATEWAY_API,
            kind="HTTPRoute",
            metadata=self.metadata(route_name(args.service), namespace=args.namespace),
            spec=route_spec(args),
            opts=self.options(
                provider=cluster.provider,
                depends_on=[*cluster.ready, *depends_on],
                deleted_with=cluster.deleted_with,
            ),
        )
        self.address: pulumi.Output[str] = address.apply(lambda host: service_address(host, args))
        """Where clients send requests; empty while the front door has no address."""
        self.publish(address=self.address)


def route_name(service: str) -> str:
    """Return the name of a service's route; a prefix keeps it apart from the route of a replica on the same cluster."""
    return child_name(_PREFIX, service)


def service_address(host: str, args: ServiceArgs) -> str:
    """Return the URL of a service on the front door with this address."""
    if not host:
        return ""
    return f"http://{f'[{host}]' if ':' in host else host}{args.path.rstrip('/')}"


def route_spec(args: ServiceArgs) -> dict[str, Any]:
    """Return the route: one prefix, and the backends with their weights and rewrites."""
    rule: dict[str, Any] = {"matches": [{"path": {"type": "PathPrefix", "value": args.path}}]}
    if args.backends:
        rule["backendRefs"] = [_backend(backend) for backend in args.backends]
    return {"parentRefs": [{"name": GATEWAY_NAME, "namespace": SYSTEM_NAMESPACE}], "rules": [rule]}


def _backend(backend: ServiceBackend) -> dict[str, Any]:
    reference: dict[str, Any] = {"name": backend.backend, "port": backend.port, "weight": backend.weight}
    rewrite: dict[str, Any] = {}
    if backend.host:
        rewrite["hostname"] = backend.host
    if backend.rewrite_path is not None:
        rewrite["path"] = {"type": "ReplacePrefixMatch", "replacePrefixMatch": backend.rewrite_path}
    if rewrite:
        reference["filters"] = [{"type": "URLRewrite", "urlRewrite": rewrite}]
    return reference
