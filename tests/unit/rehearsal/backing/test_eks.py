"""Node groups of a simulated EKS, read as nodes."""

from typing import Any

import pytest

from automation.rehearsal.backing.eks import LAUNCH_TEMPLATE, NODE_GROUP, group
from automation.rehearsal.store import Row
from components.clusters.eks import facts
from components.errors import UsageError


def row(type_: str, id_: str, **outputs: Any) -> Row:
    """Make a resource of the simulated cloud."""
    return Row("aws", type_, "aws/1/us-east-1", id_, None, id_.rpartition(":")[2], "urn", "", {}, outputs)


def node_group(**outputs: Any) -> Row:
    """Make a node group of two nodes."""
    return row(NODE_GROUP, "sim-east:gpu", clusterName="east", scalingConfig={"desiredSize": 2}, **outputs)


def test_a_group_is_read_with_its_machine_labels_and_taints() -> None:
    """As EKS writes effects, and as Kubernetes does."""
    taint = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}
    found = group(node_group(instanceTypes=["g6e.12xlarge"], labels={"pool": "gpu"}, taints=[taint]), [])
    nodes = found.nodes()
    assert (found.cluster, found.machine.gpus, list(nodes)) == ("east", 4, ["gpu-0", "gpu-1"])
    made = nodes["gpu-1"]
    assert made["spec"]["taints"] == [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]
    assert made["metadata"]["labels"]["pool"] == "gpu"
    assert made["metadata"]["labels"]["node.kubernetes.io/instance-type"] == "g6e.12xlarge"


def test_the_machine_of_a_launch_template_counts() -> None:
    """A pool with a fabric names its machine there."""
    templates = [row(LAUNCH_TEMPLATE, "sim-lt-1", instanceType="p5.48xlarge")]
    found = group(node_group(launchTemplate={"id": "sim-lt-1"}), templates)
    assert (found.machine.name, found.machine.efa) == ("p5.48xlarge", 32)


def test_the_systems_machine_has_no_devices() -> None:
    """And no label that says otherwise."""
    found = group(node_group(instanceTypes=[facts.SYSTEM_INSTANCE_TYPE]), [])
    assert found.machine.gpus == 0
    assert "nvidia.com/gpu.present" not in found.nodes()["gpu-0"]["metadata"]["labels"]


def test_a_machine_whose_devices_are_not_known_is_refused() -> None:
    """Made-up devices would prove nothing."""
    with pytest.raises(UsageError, match=r"no machine type p9\.huge of aws"):
        group(node_group(instanceTypes=["p9.huge"]), [])
