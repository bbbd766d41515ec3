"""The front door: its gateway, its endpoints, and the routes of services."""

from dataclasses import replace
from typing import Any

import pulumi
import pytest

from components.frontdoor.endpoint import Address, Endpoint, EndpointArgs, address_type
from components.frontdoor.gateway import FrontDoor, FrontDoorArgs
from components.frontdoor.service import Service, ServiceArgs, ServiceBackend, route_name, route_spec, service_address
from tests.support.mini_engine import UNKNOWN, Recorded, run_program
from tests.support.samples import cluster_outputs

DOOR = FrontDoorArgs(cluster="edge", gateway="default", version="40.2.0", environment="dev")
REPLICA = EndpointArgs(
    front_door="edge",
    namespace="ml",
    endpoint="qwen-5ab63",
    environment="dev",
    address=Address("http", "198.51.100.7", 80),
    replica="ml/qwen/a/0",
    rewrite_path="/ml/qwen-5ab63/",
    labels={"app": "chat"},
)
SERVICE = ServiceArgs(front_door="edge", namespace="ml", service="chat", environment="dev")


def door(args: FrontDoorArgs = DOOR, *, dry_run: bool = True, owned: bool = False) -> Recorded:
    """Register a front door."""

    def program() -> None:
        FrontDoor(args, cluster=cluster_outputs("edge", owned=owned), depends_on=())

    return run_program(program, dry_run=dry_run)


def endpoint(args: EndpointArgs, *, dry_run: bool = True, owned: bool = False) -> Recorded:
    """Register an endpoint."""

    def program() -> None:
        Endpoint(args, cluster=cluster_outputs("edge", owned=owned), depends_on=())

    return run_program(program, dry_run=dry_run)


def test_front_door_is_traefik_and_a_gateway_of_its_own() -> None:
    """The chart makes neither gateway nor class, because the gateway's address is read."""
    recorded = door()
    release = recorded.named("edge/front-door-traefik").inputs
    assert (release["name"], release["version"], release["namespace"]) == ("mp-traefik", "40.2.0", "traefik-system")
    assert release["values"] == {
        "providers": {
            "kubernetesGateway": {
                "enabled": True,
                "statusAddress": {"service": {"namespace": "traefik-system", "name": "traefik"}},
            },
            "kubernetesIngress": {"enabled": False},
        },
        "service": {"nameOverride": "traefik"},
        "gateway": {"enabled": False},
        "gatewayClass": {"enabled": False},
    }
    gateway = recorded.named("edge/front-door-gateway").inputs
    assert (gateway["metadata"]["name"], gateway["metadata"]["namespace"]) == ("modelplane", "modelplane-system")
    assert gateway["spec"] == {
        "gatewayClassName": "traefik",
        "listeners": [
            {
                "name": "web",
                "protocol": "HTTP",
                "port": 8000,
                "allowedRoutes": {"namespaces": {"from": "All"}},
            }
        ],
    }
    spec = recorded.named("edge/front-door-class").inputs["spec"]
    assert spec == {"controllerName": "traefik.io/gateway-controller"}


def test_front_doors_address_is_read_from_the_gateway() -> None:
    """Unknown before it exists; the update ends when there is one."""
    assert door().one("berth:index:FrontDoor").outputs == {**DOOR.props(), "address": UNKNOWN}
    recorded = door(dry_run=False)
    assert (recorded.one("berth:index:FrontDoor").outputs or {})["address"] == "edge-front-door-gateway.lb.test"
    waits = recorded.named("edge/front-door-gateway").inputs["metadata"]["annotations"]["pulumi.com/waitFor"]
    assert waits == "jsonpath={.status.addresses[0].value}"


def test_gateway_needs_traefik_and_is_deleted_before_its_cluster() -> None:
    """Its load balancer lies outside the cluster; what lies inside goes with a cluster that Berth owns."""
    recorded = door(owned=True)
    gateway, release = recorded.named("edge/front-door-gateway"), recorded.named("edge/front-door-traefik")
    assert release.urn in recorded.requires(gateway)
    assert (gateway.options.deleted_with, release.options.deleted_with) == ("", "")
    assert recorded.named("edge/front-door-class").options.deleted_with == recorded.named("edge-ready").urn


def test_metallb_gives_addresses_where_it_is_asked_for() -> None:
    """And is not installed where the cloud has load balancers."""
    assert "edge/front-door-metallb" not in door().names()
    recorded = door(replace(DOOR, address_pool="172.18.255.200-172.18.255.250"))
    assert recorded.named("edge/front-door-metallb").inputs["version"] == "0.14.9"
    pool = recorded.named("edge/front-door-address-pool").inputs
    assert pool["spec"] == {"addresses": ["172.18.255.200-172.18.255.250"]}
    needed = recorded.requires(recorded.named("edge/front-door-gateway"))
    assert recorded.named("edge/front-door-address-advertisement").urn in needed


@pytest.mark.parametrize(("protect", "want"), [(True, True), (False, None)])
def test_protection_is_the_environments(protect: bool, want: bool | None) -> None:
    """Every client of the fleet comes through this gateway."""
    recorded = door(replace(DOOR, protect=protect))
    assert recorded.named("edge/front-door-gateway").options.protect is want


def test_endpoint_is_a_service_without_pods_and_a_slice_that_says_it_is_ready() -> None:
    """Ports bear one name on both, or the gateway finds none."""
    recorded = endpoint(REPLICA)
    service, found = recorded.named("edge/ml/qwen-5ab63-service"), recorded.named("edge/ml/qwen-5ab63-slice")
    assert service.inputs["metadata"]["name"] == "qwen-5ab63"
    assert service.inputs["spec"] == {"ports": [{"name": "http", "port": 80, "targetPort": 80, "protocol": "TCP"}]}
    assert found.inputs["metadata"]["labels"]["kubernetes.io/service-name"] == "qwen-5ab63"
    assert found.inputs["addressType"] == "IPv4"
    assert found.inputs["endpoints"] == [{"addresses": ["198.51.100.7"], "conditions": {"ready": True}}]
    assert found.inputs["ports"] == [{"name": "http", "port": 80, "protocol": "TCP"}]
    assert (recorded.one("berth:index:Endpoint").outputs or {})["backendName"] == "qwen-5ab63"
    assert not recorded.of_type("kubernetes:gateway.networking.k8s.io/v1:BackendTLSPolicy")


def test_endpoint_registers_whose_it_is() -> None:
    """The driver reads replicas' endpoints from the state, the policies too."""
    assert endpoint(REPLICA).one("berth:index:Endpoint").inputs == {
        "namespace": "ml",
        "endpoint": "qwen-5ab63",
        "frontDoor": "edge",
        "replica": "ml/qwen/a/0",
        "labels": {"app": "chat"},
        "rewritePath": "/ml/qwen-5ab63/",
    }


def test_endpoint_over_tls_is_verified_under_its_name() -> None:
    """Without the policy the gateway would speak plain HTTP to port 443."""
    args = replace(
        REPLICA, replica="", url="https://api.example.test/v1", address=Address.parse("https://api.example.test/v1")
    )
    recorded = endpoint(args)
    assert recorded.named("edge/ml/qwen-5ab63-tls").inputs["spec"] == {
        "targetRefs": [{"group": "", "kind": "Service", "name": "qwen-5ab63"}],
        "validation": {"hostname": "api.example.test", "wellKnownCACertificates": "System"},
    }
    found = recorded.named("edge/ml/qwen-5ab63-slice").inputs
    assert (found["addressType"], found["ports"][0]["port"]) == ("FQDN", 443)


@pytest.mark.parametrize(
    ("url", "want"),
    [
        ("http://10.0.0.1/ml/x", ("http", "10.0.0.1", 80)),
        ("http://a.test:8080", ("http", "a.test", 8080)),
        ("https://a.test/", ("https", "a.test", 443)),
        ("https://[2001:db8::1]:8443/v1", ("https", "2001:db8::1", 8443)),
        ("https://user:pass@a.test", ("https", "a.test", 443)),
    ],
)
def test_urls_are_read_to_scheme_host_and_port(url: str, want: tuple[str, str, int]) -> None:
    """The path is of no use: what replaces the service's prefix is said elsewhere."""
    address = Address.parse(url)
    assert (address.scheme, address.host, address.port) == want


@pytest.mark.parametrize("url", ["a.test", "ftp://a.test", "http://", "", "http://a.test:port"])
def test_what_is_no_url_is_refused(url: str) -> None:
    """Before anything is made of it."""
    with pytest.raises(ValueError, match=r"is not a URL|Port could not be cast"):
        Address.parse(url)


@pytest.mark.parametrize(
    ("host", "want"), [("192.0.2.1", "IPv4"), ("2001:db8::1", "IPv6"), ("a.test", "FQDN"), ("1.2.3", "FQDN")]
)
def test_address_type_follows_the_host(host: str, want: str) -> None:
    """A slice of the wrong kind is refused by the API server."""
    assert address_type(host) == want


def backend(**changes: Any) -> ServiceBackend:
    """Return a backend of a replica."""
    base = ServiceBackend(
        endpoint="qwen-5ab63", weight=3, backend="qwen-5ab63", port=80, rewrite_path="/ml/qwen-5ab63/"
    )
    return replace(base, **changes)


def test_service_divides_one_prefix_over_weighted_backends() -> None:
    """Each backend has its own rewrite; one without keeps the path as it came."""
    spec = route_spec(
        replace(SERVICE, backends=(backend(), backend(endpoint="x", backend="x", weight=1, rewrite_path=None)))
    )
    assert spec == {
        "parentRefs": [{"name": "modelplane", "namespace": "modelplane-system"}],
        "rules": [
            {
                "matches": [{"path": {"type": "PathPrefix", "value": "/ml/chat/"}}],
                "backendRefs": [
                    {
                        "name": "qwen-5ab63",
                        "port": 80,
                        "weight": 3,
                        "filters": [
                            {
                                "type": "URLRewrite",
                                "urlRewrite": {
                                    "path": {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/ml/qwen-5ab63/"}
                                },
                            }
                        ],
                    },
                    {"name": "x", "port": 80, "weight": 1},
                ],
            }
        ],
    }


@pytest.mark.parametrize(
    ("host", "want"),
    [
        ("203.0.113.9", "http://203.0.113.9/ml/chat"),
        ("lb.test", "http://lb.test/ml/chat"),
        ("2001:db8::9", "http://[2001:db8::9]/ml/chat"),
        ("", ""),
    ],
)
def test_services_address_is_a_url_once_the_front_door_has_one(host: str, want: str) -> None:
    """An IPv6 address stands in brackets."""
    assert service_address(host, SERVICE) == want


def test_service_registers_its_backends_and_its_address() -> None:
    """Weights are what the driver compares; the route's name cannot meet a replica's on the same cluster."""

    def program() -> None:
        args = replace(SERVICE, backends=(backend(),))
        address = pulumi.Output.from_input("lb.test")
        Service(args, cluster=cluster_outputs("edge"), address=address, depends_on=())

    recorded = run_program(program)
    component = recorded.one("berth:index:Service", "edge/ml/chat")
    assert component.inputs["backends"] == [{"endpoint": "qwen-5ab63", "weight": 3}]
    assert (component.outputs or {})["address"] == "http://lb.test/ml/chat"
    route = recorded.named("edge/ml/chat-route")
    assert route.inputs["metadata"]["name"] == route_name("chat")
    assert route_name("qwen-5ab63") != "qwen-5ab63"
