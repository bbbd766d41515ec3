"""What a step leaves alone: only a build makes what runs, and no route waits for a gateway that is not there."""

from typing import Any

import pytest

from automation.driver.applier import beyond_scope
from automation.engine.checkpoint import Checkpoint
from automation.engine.events import Op, ResourceStep
from automation.planning.step import StepKind
from tests.unit.engine.samples import checkpoint, entry, preview, stack_entry, step, urn

DOOR, ENDPOINT, SERVICE = "berth:index:FrontDoor", "berth:index:Endpoint", "berth:index:Service"
REPLICA, WORKLOAD = "berth:index:Replica", "kubernetes:apps/v1:Deployment"
GATEWAY = "kubernetes:gateway.networking.k8s.io/v1:Gateway"
ROUTE, BACKEND = "kubernetes:gateway.networking.k8s.io/v1:HTTPRoute", "kubernetes:core/v1:Service"


def under(component: str, name: str, child: tuple[str, str], inputs: dict[str, Any], op: Op) -> list[ResourceStep]:
    """Return the steps of a component that is there, and of one child by type and role."""
    own = step(Op.SAME, component, name, inputs=inputs)
    return [own, step(op, child[0], f"{name}-{child[1]}", parent=urn(component, name))]


def steps(op: Op) -> list[ResourceStep]:
    """Return steps on a replica, and on the front doors ``a`` and ``b``."""
    found = under(REPLICA, "ml/d/c/0", (WORKLOAD, "workload-main"), {"cluster": "c"}, op)
    for door in ("a", "b"):
        found += under(DOOR, f"{door}/front-door", (GATEWAY, "gateway"), {"cluster": door}, op)
        found += under(ENDPOINT, f"{door}/ml/d-0", (BACKEND, "service"), {"frontDoor": door}, op)
        found += under(SERVICE, f"{door}/ml/chat", (ROUTE, "route"), {"frontDoor": door}, op)
    return found


def state() -> Checkpoint:
    """Return a state in which only the front door on ``a`` has its gateway."""
    name = "a/front-door"
    return checkpoint(
        stack_entry(),
        entry(DOOR, name, inputs={"cluster": "a"}),
        entry(GATEWAY, f"{name}-gateway", parent=urn(DOOR, name)),
    )


@pytest.mark.parametrize("kind", [StepKind.SHIFT, StepKind.RETIRE])
@pytest.mark.parametrize("op", [Op.CREATE, Op.UPDATE])
def test_after_the_build_only_routes_are_made(kind: StepKind, op: Op) -> None:
    """A gateway that failed is the next build's; its routes wait for it, and those of the other door do not."""
    left = beyond_scope(preview(*steps(op)), state(), kind)
    assert {each.rpartition("::")[2] for each in left} == {
        "ml/d/c/0-workload-main",
        "a/front-door-gateway",
        "b/front-door-gateway",
        "b/ml/chat-route",
    }


def test_a_build_makes_everything() -> None:
    """Front doors too."""
    assert beyond_scope(preview(*steps(Op.CREATE)), state(), StepKind.BUILD) == frozenset()


def test_what_goes_is_never_held_back() -> None:
    """A retirement takes a front door away with its routes."""
    assert beyond_scope(preview(*steps(Op.DELETE)), state(), StepKind.RETIRE) == frozenset()
