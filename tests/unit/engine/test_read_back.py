"""What was read differs from the state where something depends on it, and not where Kubernetes only takes notes."""

from pathlib import Path
from typing import Any

import pytest

import components
from automation.engine.read_back import differs

GATEWAY = "kubernetes:gateway.networking.k8s.io/v1:Gateway"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
POOL = "aws:eks/nodeGroup:NodeGroup"


def state(**parts: object) -> dict[str, Any]:
    """Return a resource's state as events have it."""
    outputs = {
        "__inputs": {"spec": {"replicas": 1}},
        "metadata": {"name": "a", "uid": "1", "generation": 1, "resourceVersion": "7", "managedFields": []},
        "spec": {"replicas": 1},
        "status": {"conditions": [], "addresses": [{"value": "203.0.113.5"}]},
    }
    return {"id": "ml/a", "inputs": {"spec": {"replicas": 1}}, "outputs": {**outputs, **parts}}


@pytest.mark.parametrize(
    ("type_", "found", "different"),
    [
        pytest.param(DEPLOYMENT, state(), False, id="same"),
        pytest.param(DEPLOYMENT, state(status={"readyReplicas": 1}), False, id="status"),
        pytest.param(DEPLOYMENT, state(status=None), False, id="no-status"),
        pytest.param(GATEWAY, state(status={"addresses": [{"value": "203.0.113.7"}]}), True, id="address-of-a-gateway"),
        pytest.param(GATEWAY, state(status={"addresses": []}), True, id="gateway-without-an-address"),
        pytest.param(GATEWAY, state(status=None), True, id="gateway-without-a-status"),
        pytest.param(
            GATEWAY,
            state(status={"listeners": [{"attachedRoutes": 7}], "addresses": [{"value": "203.0.113.5"}]}),
            False,
            id="counters-of-a-gateway",
        ),
        pytest.param(POOL, state(status={"readyReplicas": 1}), True, id="status-of-a-cloud"),
        pytest.param(DEPLOYMENT, state(__inputs={}), False, id="notes-of-the-provider"),
        pytest.param(POOL, state(__defaults=[]), True, id="notes-of-another-provider"),
        pytest.param(DEPLOYMENT, state(spec={"replicas": 2}), True, id="spec"),
        pytest.param(
            DEPLOYMENT,
            state(metadata={"name": "a", "uid": "1", "generation": 2, "resourceVersion": "9", "managedFields": [{}]}),
            False,
            id="counters",
        ),
        pytest.param(DEPLOYMENT, state(metadata={"name": "a", "uid": "2"}), True, id="made-anew"),
        pytest.param(DEPLOYMENT, state(metadata={"name": "a", "uid": "1", "labels": {"a": "b"}}), True, id="labelled"),
        pytest.param(DEPLOYMENT, {**state(), "inputs": {"spec": {}}}, True, id="inputs"),
        pytest.param(DEPLOYMENT, {**state(), "id": "ml/b"}, True, id="id"),
        pytest.param(DEPLOYMENT, {**state(), "initErrors": ["late"]}, True, id="came-up-late"),
        pytest.param(DEPLOYMENT, {**state(), "initErrors": []}, False, id="came-up"),
        pytest.param(DEPLOYMENT, {**state(), "outputs": {}}, True, id="nothing-read"),
        pytest.param(DEPLOYMENT, {}, True, id="gone"),
        pytest.param(POOL, {}, True, id="gone-from-a-cloud"),
    ],
)
def test_what_nothing_depends_on_is_no_difference(type_: str, found: dict[str, Any], *, different: bool) -> None:
    """Both ways round."""
    assert differs(type_, state(), found) is different
    assert differs(type_, found, state()) is different


def test_a_resource_without_outputs_is_as_it_was() -> None:
    """Such as a component, which has none in an event."""
    assert not differs("berth:index:Replica", {"id": ""}, {"outputs": {}})


def test_programs_read_no_other_status() -> None:
    """Whoever lets another resource depend on a status says so in ``read_back``, or an update works with an old one."""
    readers = [
        path.relative_to(folder).as_posix()
        for folder in map(Path, components.__path__)
        for path in folder.rglob("*.py")
        if ".status" in path.read_text(encoding="utf-8").replace("{.status.", "")
    ]
    assert readers == ["serving/gateway.py"]
