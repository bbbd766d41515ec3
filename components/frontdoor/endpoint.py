"""Endpoint: one address that serves a model, as a backend on a front door.

A Service without pods and a slice with the address: the only form that the gateway accepts for what is outside its
cluster. An endpoint of a replica leads to the gateway of the replica's cluster; its address is known when that gateway
has one. An external endpoint over TLS is verified against the system's authorities under its own name.
"""

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlsplit

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.core.v1 import Service
from pulumi_kubernetes.discovery.v1 import EndpointSlice

from components.base import Component
from components.clusters.contract import ClusterOutputs
from components.naming import bounded_name
from components.serving.gateway import GATEWAY_API

_NO_WAIT: Final = {"pulumi.com/skipAwait": "true"}
"""A Service without pods has nothing to wait for."""

_MANAGER: Final = {"endpointslice.kubernetes.io/managed-by": "berth.dev"}
"""So that the cluster's own controllers leave the slice alone."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where requests go: scheme, host and port of a URL. The host is unknown while a gateway has no address."""

    scheme: str
    host: pulumi.Output[str] | str
    port: int

    @classmethod
    def parse(cls, url: str) -> "Address":
        """Read a URL; its path is of no use here, a rewrite says what replaces the service's prefix.

        Raises ValueError when it has no host, or a port that is not one.
        """
        parts = urlsplit(url)
        if not parts.hostname or parts.scheme not in {"http", "https"}:
            raise ValueError(f"{url!r} is not a URL with http or https and a host")
        return cls(parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80))

    @property
    def name(self) -> str:
        """The host as a DNS name; empty when it is an IP address or not known yet."""
        return self.host if isinstance(self.host, str) and address_type(self.host) == "FQDN" else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointArgs:
    """An endpoint of a replica (``replica`` set, ``url`` empty) or an external one (the reverse)."""

    front_door: str
    namespace: str
    endpoint: str
    environment: str
    address: Address
    replica: str = ""
    url: str = ""
    rewrite_path: str | None = None
    labels: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def props(self) -> dict[str, Any]:
        """Return the description that the component keeps in the state."""
        return {
            "namespace": self.namespace,
            "endpoint": self.endpoint,
            "frontDoor": self.front_door,
            "replica": self.replica or None,
            "labels": dict(self.labels),
            "url": self.url or None,
            "rewritePath": self.rewrite_path,
        }


class Endpoint(Component):
    """One endpoint on a front door; logical name ``<cluster>/<namespace>/<endpoint>``."""

    TYPE = "berth:index:Endpoint"

    def __init__(self, args: EndpointArgs, *, cluster: ClusterOutputs, depends_on: Sequence[pulumi.Resource]) -> None:
        name = f"{args.front_door}/{args.namespace}/{args.endpoint}"
        super().__init__(name, args.props(), environment=args.environment)
        self._cluster = cluster
        self.backend = backend_name(args.endpoint)
        before = [*cluster.ready, *depends_on]
        service = self._service(args, before)
        made: list[pulumi.Resource] = [service, self._slice(args, [*before, service])]
        if args.address.scheme == "https" and args.address.name:
            made.append(self._trust(args, [*before, service]))
        self.ready: tuple[pulumi.Resource, ...] = tuple(made)
        """What routes to it depend on."""
        self.publish(backendName=self.backend)

    def _options(self, before: Sequence[pulumi.Resource]) -> pulumi.ResourceOptions:
        return self.options(provider=self._cluster.provider, depends_on=before, deleted_with=self._cluster.deleted_with)

    def _metadata(self, args: EndpointArgs, **more: Mapping[str, str]) -> Any:
        """Return what its objects have in common: a replica's name is Berth's own, that of a manifest is the user's."""
        return self.metadata(self.backend, namespace=args.namespace, named_by_others=not args.replica, **more)

    def _service(self, args: EndpointArgs, before: Sequence[pulumi.Resource]) -> Service:
        port = args.address.port
        labels = dict(args.labels)
        metadata = self._metadata(args, labels=labels, annotations=_NO_WAIT)
        spec: Any = {"ports": [{"name": args.address.scheme, "port": port, "targetPort": port, "protocol": "TCP"}]}
        return Service(self.child("service"), metadata=metadata, spec=spec, opts=self._options(before))

    def _slice(self, args: EndpointArgs, before: Sequence[pulumi.Resource]) -> EndpointSlice:
        host = pulumi.Output.from_input(args.address.host)
        labels = {"kubernetes.io/service-name": self.backend, **_MANAGER}
        metadata = self._metadata(args, labels=labels)
        # Ready is said aloud: the gateway passes over an endpoint that leaves it open.
        endpoints: Any = [{"addresses": [host], "conditions": {"ready": True}}]
        ports: Any = [{"name": args.address.scheme, "port": args.address.port, "protocol": "TCP"}]
        return EndpointSlice(
            self.child("slice"),
            metadata=metadata,
            address_type=host.apply(address_type),
            endpoints=endpoints,
            ports=ports,
            opts=self._options(before),
        )

    def _trust(self, args: EndpointArgs, before: Sequence[pulumi.Resource]) -> pulumi.Resource:
        spec = {
            "targetRefs": [{"group": "", "kind": "Service", "name": self.backend}],
            "validation": {"hostname": args.address.name, "wellKnownCACertificates": "System"},
        }
        return CustomResource(
            self.child("tls"),
            api_version=GATEWAY_API,
            kind="BackendTLSPolicy",
            metadata=self._metadata(args),
            spec=spec,
            opts=self._options(before),
        )


def backend_name(endpoint: str) -> str:
    """Return the name of the Service that stands for an endpoint."""
    return bounded_name(endpoint)


def address_type(host: str) -> str:
    """Return the kind of address of an endpoint slice: IPv4, IPv6, or FQDN for a host name."""
    try:
        return f"IPv{ipaddress.ip_address(host).version}"
    except ValueError:
        return "FQDN"
