"""Facts about EKS and EC2 that the rest is built on."""

import pytest

from components.clusters.eks import facts


@pytest.mark.parametrize(
    ("instance_type", "cards"),
    [("p5.48xlarge", 32), ("p5e.48xlarge", 32), ("p5en.48xlarge", 16), ("p4d.24xlarge", 4), ("g5.8xlarge", 1)],
)
def test_efa_interfaces_are_known_by_type(instance_type: str, cards: int) -> None:
    """The table the predecessor has, and one interface for everything that is not listed."""
    assert facts.efa_interfaces(instance_type) == cards


@pytest.mark.parametrize(
    ("instance_type", "image"),
    [
        ("p5.48xlarge", "AL2023_x86_64_NVIDIA"),
        ("g5g.xlarge", "AL2023_ARM_64_NVIDIA"),
        ("g5.xlarge", "AL2023_x86_64_NVIDIA"),
        ("trn2.48xlarge", "AL2023_x86_64_NEURON"),
        ("inf2.xlarge", "AL2023_x86_64_NEURON"),
    ],
)
def test_the_image_follows_processor_and_accelerator(instance_type: str, image: str) -> None:
    """A GPU image on an ARM or Neuron machine would never start."""
    assert facts.ami_type(instance_type) == image


@pytest.mark.parametrize(
    ("version", "tag", "counts"),
    [("1.36", "v1.36.1", True), ("1.35.2", "v1.35.2", True), ("1.34", "", False), ("", "", False)],
)
def test_the_autoscaler_follows_the_clusters_version(version: str, tag: str, counts: bool) -> None:
    """Claimed devices count from 1.35 on; an unknown version keeps the chart's image."""
    assert facts.autoscaler_image(version) == tag
    assert facts.autoscaler_counts_devices(version) is counts


@pytest.mark.parametrize(
    ("region", "partition"),
    [("us-east-1", "aws"), ("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov")],
)
def test_the_partition_follows_the_region(region: str, partition: str) -> None:
    """Every ARN of a managed policy has it."""
    assert facts.partition(region) == partition


def test_every_kind_that_is_deleted_first_is_one_that_the_cloud_makes_us_delete_first() -> None:
    """A kind listed without need would take something down before its successor stands."""
    assert {
        "aws:ec2/natGateway:NatGateway",
        "aws:efs/mountTarget:MountTarget",
        "aws:eks/addon:Addon",
        "aws:eks/cluster:Cluster",
        "aws:eks/podIdentityAssociation:PodIdentityAssociation",
        "kubernetes:storage.k8s.io/v1:StorageClass",
    } == facts.REPLACE_BY_DELETE
