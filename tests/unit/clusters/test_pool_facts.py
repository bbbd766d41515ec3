"""What is known about a pool before it exists."""

from typing import Any

import pytest

from components.checks.facts import PoolFact
from components.clusters.contract import ClusterArgs
from components.clusters.pool_facts import PoolFacts
from tests.support.platforms import GPU, NIC, eks, existing, fleet, hardware, pool


def _facts(*, devices: tuple[dict[str, Any], ...] = (GPU,), **changes: Any) -> PoolFacts:
    known = fleet(eks(pools=[pool(**changes)]), classes=[hardware(devices=devices)])
    return ClusterArgs.from_spec(known, "east", release="default", stack="dev").pools[0]


@pytest.mark.parametrize(
    ("changes", "want"),
    [
        pytest.param({"nodeCount": 3}, (3, 3, 3), id="fixed"),
        pytest.param({"nodeCount": 3, "minNodeCount": 1}, (3, 3, 3), id="a-minimum-without-a-maximum-is-fixed"),
        pytest.param({"nodeCount": 0}, (0, 0, 0), id="fixed-at-zero"),
        pytest.param({"nodeCount": 1, "maxNodeCount": 4}, (4, 1, 4), id="claimed-devices-keep-one-node"),
        pytest.param({"nodeCount": 1, "maxNodeCount": 4, "minNodeCount": 2}, (4, 2, 4), id="minimum-as-written"),
        pytest.param({"nodeCount": 1, "maxNodeCount": 4, "minNodeCount": 0}, (4, 0, 4), id="zero-as-written"),
        pytest.param({"maxNodeCount": 4, "devices": (NIC,)}, (4, 0, 4), id="nothing-claimed-may-go-to-zero"),
    ],
)
def test_counts_of_a_pool(changes: dict, want: tuple[int, int, int]) -> None:  # type: ignore[type-arg]
    """What the scheduler counts is what the cloud may have: unset maximum means fixed, not the cloud's own eight."""
    facts = _facts(**changes)
    assert (facts.nodes, facts.min_nodes, facts.max_nodes) == want
    assert facts.claims_devices is ("devices" not in changes)
    assert facts.autoscaled is (want[1] != want[2])


def test_a_provisioned_pool_is_tainted_and_labelled() -> None:
    """Serving pods select on the label, and nothing else gets past the taint."""
    facts = _facts()
    assert facts.taints == ({"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"},)
    assert facts.labels == {"modelplane.ai/pool": "gpu", "modelplane.ai/gpu": "H100"}


def test_a_pool_that_exists_is_not_tainted_by_berth() -> None:
    """Its operator did that or not; claiming it would be a lie that policies believe."""
    known = fleet(existing(pools=[pool(zones=None)]))
    facts = ClusterArgs.from_spec(known, "edge", release="default", stack="dev").pools[0]
    assert (facts.provisioned, facts.taints, facts.labels) == (False, (), {"modelplane.ai/pool": "gpu"})


def test_the_description_is_what_the_checks_read() -> None:
    """Policies read the state's description of a pool by these very names."""
    props = _facts(devices=(GPU, NIC)).props()
    fact = PoolFact.from_props(props)
    assert (fact.cluster, fact.pool, fact.nodes, fact.provisioned, fact.has_gpus) == ("east", "gpu", 2, True, True)
    assert [(device.name, device.device_class, device.claim, device.count) for device in fact.devices] == [
        ("gpu", "gpu.nvidia.com", "DRA", 8),
        ("nic", "", "Synthetic", 1),
    ]
    assert props["devices"][1]["attributes"] == {"fast": {"bool": True}}


def test_integers_that_the_state_would_round_are_kept_as_text() -> None:
    """The state holds numbers as doubles, and a serial number must not change on the way."""
    attributes = _facts().props()["devices"][0]["attributes"]
    assert attributes["serial"] == {"int": str(2**60)}


def test_the_accelerator_is_the_one_of_the_clusters_source() -> None:
    """A class may name several clouds; for one it does not name, the cloud it was written for answers."""
    known = hardware()
    assert known.accelerator_on("EKS") == "H100"
    assert known.accelerator_on("Existing") == "H100"
    bare = known.model_copy(update={"spec": known.spec.model_copy(update={"provisioning": None})})
    assert bare.accelerator_on("EKS") == ""
