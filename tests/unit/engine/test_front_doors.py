"""Front doors read from states: the gateway, and the routes that each door has itself."""

from collections.abc import Mapping
from typing import Any

import pytest

from automation.engine.checkpoint import Checkpoint
from automation.engine.state import PARTS, read_existing
from automation.scheduling.existing import Existing
from components.naming import StackName
from tests.unit.engine.samples import UNKNOWN, checkpoint, entry, stack_entry, urn

DOOR, ENDPOINT, SERVICE = "berth:index:FrontDoor", "berth:index:Endpoint", "berth:index:Service"
ADDRESS = "lb.example.com"


def parts(component: str, name: str, *roles: str, **fields: Any) -> list[dict[str, Any]]:
    """Return the children that a component cannot do without, or only some."""
    return [
        entry("kubernetes:core/v1:Service", f"{name}-{role}", parent=urn(component, name), **fields)
        for role in roles or PARTS[component]
    ]


def gateway(cluster: str, *roles: str, address: str = ADDRESS, **fields: Any) -> list[dict[str, Any]]:
    """Return a front door's gateway."""
    name, inputs = f"{cluster}/front-door", {"cluster": cluster, "gateway": "default", "version": "1"}
    component = entry(DOOR, name, inputs=inputs, outputs={**inputs, "address": address})
    return [component, *parts(DOOR, name, *roles, **fields)]


def routes(cluster: str, weight: int = 1, *, made: bool = True, **fields: Any) -> list[dict[str, Any]]:
    """Return an endpoint and a service on a front door; the service's route is ``made`` or not."""
    outside = {"namespace": "ml", "endpoint": "far", "frontDoor": cluster, "url": "https://far.test", "replica": None}
    backends = [{"endpoint": "far", "weight": weight}]
    service = {"namespace": "ml", "service": "chat", "frontDoor": cluster, "backends": backends}
    far, chat = f"{cluster}/ml/far", f"{cluster}/ml/chat"
    return [
        entry(ENDPOINT, far, inputs=outside, outputs={"backendName": "far"}),
        *parts(ENDPOINT, far, **fields),
        entry(SERVICE, chat, inputs=service, outputs={"address": f"http://{ADDRESS}"}),
        *(parts(SERVICE, chat) if made else []),
    ]


def state(*resources: Mapping[str, Any], **fields: Any) -> Checkpoint:
    """Return the state of one stack."""
    return checkpoint(stack_entry(), *resources, **fields)


def weights(existing: Existing) -> dict[str, int]:
    """Return the weight of the one backend, on every front door and as it counts."""
    by_door = {name: door.services["ml", "chat"].entry for name, door in existing.front_doors.items()}
    entries = {**by_door, "all": existing.services["ml", "chat"].entry}
    return {name: entry.backends[0].weight for name, entry in entries.items()}


def test_a_front_door_has_its_address_and_its_routes() -> None:
    """What lies on it is found by the cluster's name."""
    (door,) = read_existing([state(*gateway("edge"), *routes("edge"))]).front_doors.values()
    assert (door.cluster, door.gateway, door.address) == ("edge", "default", ADDRESS)
    assert (door.ready, door.failure, door.answers) == (True, "", True)
    assert list(door.services) == [("ml", "chat")]
    assert list(door.endpoints) == [("ml", "far")]


@pytest.mark.parametrize(
    ("found", "failure"),
    [
        pytest.param(state(*gateway("edge", "traefik")), "", id="no gateway"),
        pytest.param(state(*gateway("edge", address=UNKNOWN)), "", id="an address that is not known"),
        pytest.param(
            state(*gateway("edge", initErrors=["late"])),
            "gateway: late",
            id="parts that fail",
        ),
        pytest.param(state(*gateway("edge"), *routes("edge", made=False)), "", id="a route that was never made"),
        pytest.param(
            state(*gateway("edge"), *routes("edge", initErrors=["no"])),
            "ml/far: service: no; slice: no",
            id="an endpoint that fails",
        ),
        pytest.param(
            state(*gateway("edge"), pending=[("creating", gateway("edge")[-1])]), "", id="a gateway that is pending"
        ),
        pytest.param(state(*routes("edge")), "", id="routes without their gateway"),
    ],
)
def test_a_front_door_is_ready_when_all_of_it_is(found: Checkpoint, failure: str) -> None:
    """No client is sent to one that lacks anything."""
    (door,) = read_existing([found]).front_doors.values()
    assert (door.ready, door.failure) == (False, failure)


def test_of_two_front_doors_the_one_that_is_ready_counts() -> None:
    """A run that was cut short leaves them different; each keeps its own word."""
    even = read_existing([state(*gateway("a"), *routes("a", 2), *gateway("b"), *routes("b", 3))])
    assert weights(even) == {"a": 2, "b": 3, "all": 2}
    closed = read_existing([state(*gateway("a", "traefik"), *routes("a", 2), *gateway("b"), *routes("b", 3))])
    assert weights(closed) == {"a": 2, "b": 3, "all": 3}


def test_what_only_one_front_door_has_exists() -> None:
    """Nothing is forgotten that somebody has to take away."""
    existing = read_existing([state(*gateway("a"), *gateway("b"), *routes("b"))])
    assert list(existing.services) == [("ml", "chat")]
    assert list(existing.endpoints) == [("ml", "far")]


def test_front_doors_of_several_stacks_come_in_one_order() -> None:
    """Whatever the order of the states."""
    one = state(*gateway("a"), *routes("a"))
    other = checkpoint(stack_entry(), *gateway("b"), *routes("b"), stack=StackName("dev", "b"))
    assert read_existing([one, other]) == read_existing([other, one])
    assert list(read_existing([other, one]).front_doors) == ["a", "b"]
