"""What the demonstration on real control planes reads from API servers."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from automation.demonstration.pods import Device, Pod
from components.labels import Label


def allocated(*devices: str) -> dict[str, Any]:
    """Give a claim that was given devices of the node ``l4-0``."""
    results = [{"request": "gpu", "pool": "l4-0", "device": each} for each in devices]
    return {"status": {"allocation": {"devices": {"results": results}}}}


CLAIMS = {
    ("chat", "small-gpu"): allocated("gpu-1", "gpu-0"),
    ("chat", "waiting"): {"status": {}},
    ("search", "small-gpu"): allocated("gpu-3"),
}
POOLS = {"l4-0": "l4", "other": "l40s"}
READY = {"type": "Ready", "status": "True"}


def pod(*claims: str | None, conditions: Sequence[Mapping[str, str]] = (), **spec: Any) -> dict[str, Any]:
    """Give a pod as an API server gives it; a claim without a name was not made yet."""
    statuses = [{"name": "gpu", **({"resourceClaimName": each} if each else {})} for each in claims]
    return {
        "metadata": {"name": "small-0", "namespace": "chat", "labels": {Label.SERVING.value: "small-x"}},
        "spec": {"containers": [{"image": "registry.test:5000/engine:v1"}], **spec},
        "status": {"conditions": conditions, **({"resourceClaimStatuses": statuses} if claims else {})},
    }


def read(found: dict[str, Any]) -> Pod:
    """Read a pod of the cluster ``gpu-a``."""
    return Pod.read("gpu-a", found, CLAIMS, POOLS)


def test_a_pod_has_the_devices_of_its_own_claims() -> None:
    """Also where another namespace has a claim of the same name."""
    found = read(pod("small-gpu", nodeName="l4-0"))
    assert found.devices == (Device("gpu", "l4-0", "gpu-0"), Device("gpu", "l4-0", "gpu-1"))
    assert (found.replica, found.node, dict(found.counts)) == ("small-x", "l4-0", {"gpu": 2})
    assert found.place == "chat v1 on gpu-a"


def test_the_pool_is_that_of_the_node_and_not_what_the_pod_asks_for() -> None:
    """A promise that is compared with itself is always kept."""
    asked = {Label.POOL.value: "l4"}
    assert read(pod(nodeName="other", nodeSelector=asked)).pool == "l40s"
    assert read(pod(nodeName="unknown", nodeSelector=asked)).pool == ""


@pytest.mark.parametrize("claims", [(), (None,), ("waiting",), ("unknown",)], ids=str)
def test_a_pod_that_waits_has_none(claims: tuple[str | None, ...]) -> None:
    """Without claims, with one that is not made, not allocated, or gone."""
    found = read(pod(*claims))
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
    assert read(pod(conditions=conditions)).ready is ready
