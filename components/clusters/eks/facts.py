"""Facts about EKS and EC2, as data with their sources. PURE.

Nothing here is a setting: what a user may choose comes from manifests. Facts age; each table says when it was read.
"""

import re
from dataclasses import dataclass
from string import ascii_lowercase
from types import MappingProxyType

from components.clusters.chart import Chart
from components.serving.registry import ImageValue

STORAGE_CLASS = "modelplane-rwx-efs"
"""StorageClass of caches, on an EFS file system. The predecessor's name, so that its volumes still fit."""

DRIVER_ROOT = "/"
"""The AL2023 images carry the GPU driver in the host's own root."""

CLUSTER_NAME_LIMIT = 100
NODE_GROUP_NAME_LIMIT = 63
ROLE_NAME_LIMIT = 64
LAUNCH_TEMPLATE_NAME_LIMIT = 128
SECURITY_GROUP_NAME_LIMIT = 255
CREATION_TOKEN_LIMIT = 64

NETWORK_MIN_PREFIX, NETWORK_MAX_PREFIX = 16, 28
"""A VPC's and a subnet's prefix lengths, at most and at least as large (Amazon VPC user guide, read 2026-08)."""

SYSTEM_INSTANCE_TYPE = "m6i.xlarge"
SYSTEM_DISK_GB = 100
SYSTEM_MIN, SYSTEM_MAX = 1, 2
SYSTEM_AMI = "AL2023_x86_64_STANDARD"

ON_DEMAND, SPOT, CAPACITY_BLOCK = "ON_DEMAND", "SPOT", "CAPACITY_BLOCK"

ADDONS_BEFORE_NODES = ("vpc-cni", "kube-proxy", "eks-pod-identity-agent")
"""Add-ons that nodes need to become ready; they are daemons and become active without a node."""
ADDONS_AFTER_NODES = ("coredns", "aws-ebs-csi-driver", "aws-efs-csi-driver")
"""Add-ons with pods that wait for a node; before there is one, the cloud reports them as degraded."""


@dataclass(frozen=True, slots=True)
class PodRole:
    """An IAM role for pods of one service account."""

    role: str
    namespace: str
    service_account: str
    managed_policy: str = ""


POD_ROLES = (
    PodRole("ebs-csi", "kube-system", "ebs-csi-controller-sa", "service-role/AmazonEBSCSIDriverPolicy"),
    PodRole("efs-csi", "kube-system", "efs-csi-controller-sa", "service-role/AmazonEFSCSIDriverPolicy"),
    PodRole("autoscaler", "kube-system", "cluster-autoscaler"),
)
CLUSTER_POLICIES = ("AmazonEKSClusterPolicy",)
NODE_POLICIES = ("AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryReadOnly")

AUTOSCALER_READS = (
    "autoscaling:DescribeAutoScalingGroups",
    "autoscaling:DescribeAutoScalingInstances",
    "autoscaling:DescribeLaunchConfigurations",
    "autoscaling:DescribeScalingActivities",
    "ec2:DescribeImages",
    "ec2:DescribeInstanceTypes",
    "ec2:DescribeLaunchTemplateVersions",
    "ec2:GetInstanceTypesFromInstanceRequirements",
    "eks:DescribeNodegroup",
)
AUTOSCALER_WRITES = ("autoscaling:SetDesiredCapacity", "autoscaling:TerminateInstanceInAutoScalingGroup")

EFA_INTERFACES = MappingProxyType(
    {
        "g6e.24xlarge": 2,
        "g6e.48xlarge": 4,
        "g7.48xlarge": 2,
        "g7e.24xlarge": 2,
        "g7e.48xlarge": 4,
        "p4d.24xlarge": 4,
        "p4de.24xlarge": 4,
        "p5.48xlarge": 32,
        "p5e.48xlarge": 32,
        "p5en.48xlarge": 16,
        "p6-b200.48xlarge": 8,
        "p6-b300.48xlarge": 16,
        "p6e-gb200.36xlarge": 17,
        "trn1.32xlarge": 8,
        "trn1n.32xlarge": 16,
        "trn2.48xlarge": 16,
    }
)
"""EFA interfaces at most, by instance type, where it is more than one (EC2 API by way of karpenter, 2026-08-21)."""

EFA_PLAIN_FIRST_CARD = frozenset({"p6-b300.48xlarge"})
"""Types whose first network card has no EFA; their EFA interfaces are on the cards after it."""

_ARM_FAMILIES = ("g5g.", "p6e-gb200.")
_NEURON_FAMILIES = ("inf", "trn")

AUTOSCALER_CHART = Chart(
    name="cluster-autoscaler",
    repository="https://kubernetes.github.io/autoscaler",
    version="9.59.0",
    namespace="kube-system",
)
"""Read 2026-08-22; its default image is v1.35.0."""
_AUTOSCALER_TAGS = MappingProxyType({"1.35": "v1.35.2", "1.36": "v1.36.1"})
"""The autoscaler follows the cluster's minor version (tags of 2026-07-22)."""
_AUTOSCALER_DRA_SINCE = (1, 35)
AUTOSCALER_IMAGES = (ImageValue("image.repository", "repository", "registry.k8s.io/autoscaling/cluster-autoscaler"),)

DRANET_CHART = Chart(
    name="aws-dranet",
    repository="https://aws.github.io/eks-charts",
    version="1.0.0",
    namespace="kube-system",
)
"""Publishes EFA interfaces as devices; added to eks-charts 2026-04-30."""
DRANET_IMAGES = (
    ImageValue("image.repository", "repository", "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/aws-dranet"),
)

REPLACE_BY_DELETE = frozenset(
    {
        "aws:ec2/natGateway:NatGateway",
        "aws:efs/mountTarget:MountTarget",
        "aws:eks/addon:Addon",
        "aws:eks/cluster:Cluster",
        "aws:eks/podIdentityAssociation:PodIdentityAssociation",
        "kubernetes:storage.k8s.io/v1:StorageClass",
    }
)
"""Kinds whose replacement cannot stand beside the old one, because the cloud allows one of a name, an address range or
a place: they are deleted first. Every other kind that has a physical name carries a hash of what replaces it in there.
A subnet is not listed: the control plane lets go of the old one only when it has the new one."""

PROTECTED = frozenset(
    {
        "aws:ec2/vpc:Vpc",
        "aws:efs/fileSystem:FileSystem",
        "aws:eks/cluster:Cluster",
        "aws:eks/nodeGroup:NodeGroup",
    }
)
"""Kinds that hold data or serve traffic, or whose loss takes such a kind along."""

COSTS = frozenset(
    {
        "aws:ec2/eip:Eip",
        "aws:ec2/natGateway:NatGateway",
        "aws:efs/fileSystem:FileSystem",
        "aws:eks/cluster:Cluster",
        "aws:eks/nodeGroup:NodeGroup",
    }
)
"""Kinds that are charged as long as they are there (price lists of EC2, EFS and EKS, 2026-08); the others are not."""


def efa_interfaces(instance_type: str) -> int:
    """Return how many EFA interfaces a node of this type gets; one for a type that is not listed."""
    return EFA_INTERFACES.get(instance_type, 1)


def ami_type(instance_type: str) -> str:
    """Return the EKS image for accelerated nodes of this type: by processor and by maker of the accelerator."""
    if instance_type.startswith(_NEURON_FAMILIES):
        return "AL2023_x86_64_NEURON"
    return "AL2023_ARM_64_NVIDIA" if instance_type.startswith(_ARM_FAMILIES) else "AL2023_x86_64_NVIDIA"


def default_zones(region: str, count: int) -> tuple[str, ...]:
    """Return the first ``count`` zones of a region by letter, as the API counts them too.

    Limit: a region where an account does not have the first letters (ap-northeast-1 has no b for most) is refused by
    the cloud.
    """
    return tuple(f"{region}{letter}" for letter in ascii_lowercase[:count])


def autoscaler_image(kubernetes_version: str) -> str:
    """Return the autoscaler's image tag for a cluster; empty for the chart's own choice."""
    return _AUTOSCALER_TAGS.get(".".join(kubernetes_version.split(".")[:2]), "")


def autoscaler_counts_devices(kubernetes_version: str) -> bool:
    """Whether the autoscaler of this version takes claimed devices into account."""
    match = re.match(r"(\d+)\.(\d+)", kubernetes_version)
    return match is not None and (int(match[1]), int(match[2])) >= _AUTOSCALER_DRA_SINCE


def partition(region: str) -> str:
    """Return the partition of a region, which is part of every ARN."""
    if region.startswith("cn-"):
        return "aws-cn"
    return "aws-us-gov" if region.startswith("us-gov-") else "aws"
