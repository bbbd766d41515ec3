"""What the demonstration on real control planes reads from API servers."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from automation.demo_kubernetes import Pod
from components.labels import Label

CLAIMS = {
    ("chat", "small-gpu"): {
        "status": {"allocation": {"devices": {"results": [{"device": "gpu-1"}, {"device": "gpu-0"}]}}}
    },
    ("chat", "waiting"): {"status": {}},
    ("search", "small-gpu"): {"status": {"allocation": {"devices": {"results": [{"device": "gpu-3"}]}}}},
}
READY = {"type": "Ready", "status": "True"}


def pod(*claims: str | None, conditions: Sequence[Mapping[str, str]] = (), **spec: Any) -> dict[str, Any]:
    """Give a pod as an API server gives it; a claim without a name was not made yet."""
    statuses = [{"name": "gpu", **({"resourceClaimName": each} if each else {})} for each in claims]
    return {
        "metadata": {"name": "small-0", "namespace": "chat"},
        "spec": {"containers": [{"image": "registry.test:5000/engine:v1"}], **spec},
        "status": {"conditions": conditions, **({"resourceClaimStatuses": statuses} if claims else {})},
    }


def test_a_pod_has_the_devices_of_its_own_claims() -> None:
    """Also where another namespace has a claim of the same name."""
    found = Pod.read("gpu-a", pod("small-gpu", nodeName="l4-0", nodeSelector={Label.POOL.value: "l4"}), CLAIMS)
    assert (found.devices, found.node, found.pool) == (("gpu-0", "gpu-1"), "l4-0", "l4")
    assert found.place == "chat v1 on gpu-a"


@pytest.mark.parametrize("claims", [(), (None,), ("waiting",), ("unknown",)], ids=str)
def test_a_pod_that_waits_has_none(claims: tuple[str | None, ...]) -> None:
    """Without claims, with one that is not made, not allocated, or gone."""
    found = Pod.read("gpu-a", pod(*claims), CLAIMS)
    assert (found.devices, found.node) == ((), "")


@pytest.mark.parametrize(
    ("conditions", "ready"),
    [
        ([], False),
        ([READY], True),
        ([{**READY, "status": "False"}], False),
        ([{"type": "PodScheduled", "status": "True"}], False),
    ],
    ids=["none", "ready", "not-ready", "bound"],
)
def test_ready_is_what_the_condition_says(conditions: list[dict[str, str]], *, ready: bool) -> None:
    """Not that it is bound."""
    assert Pod.read("gpu-a", pod(conditions=conditions), CLAIMS).ready is ready
