"""EKSCluster: the predecessor's machine-made description of a cluster on EKS; read, and left alone."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from components.api.base import Items, Model, Ruled, absent
from components.api.cluster_source import Credentials
from components.api.infrastructure import (
    GPU_POOL,
    ZONED,
    ClusterVersion,
    DiskSize,
    InfrastructureDocument,
    MadePool,
    Range,
    Region,
    Text63,
    Zone,
    pool_names,
)
from components.api.node_pool import CapacityBlock
from components.api.rules import Violation


class EksNetworking(Model):
    """Address ranges."""

    vpc_cidr: Range = "10.0.0.0/16"
    """The VPC."""

    subnet_cidrs: Items[Range] = Field(
        default=("10.0.0.0/20", "10.0.16.0/20", "10.0.32.0/20"), min_length=2, max_length=6
    )
    """Public subnets, one per zone; private ones are derived."""


class EksPool(MadePool):
    """A pool on EKS."""

    CONDITIONS: ClassVar = (GPU_POOL, ZONED)

    instance_type: Text63
    """EC2 instance type."""

    disk_size_gb: DiskSize = 100
    """Root volume, in GB."""

    capacity_block: CapacityBlock | None = None
    """A reserved Capacity Block."""

    zones: Annotated[Items[Zone], Field(min_length=1, max_length=8, exclude_if=absent)] = ()
    """Full names of the zones."""

    fabric: Literal["None", "EFA"] = "None"
    """The fast network between its nodes."""


class EKSClusterSpec(Ruled):
    """A cluster on EKS."""

    region: Region
    """AWS region."""

    kubernetes_version: ClusterVersion = "1.36"
    """Kubernetes version."""

    credentials: Credentials = Credentials()
    """Which identity builds it."""

    networking: EksNetworking = EksNetworking()
    """Address ranges."""

    node_pools: Items[EksPool] = Field(min_length=1, max_length=8)
    """Its pools."""

    def rules(self) -> Iterator[Violation]:
        """Check that pools have different names."""
        yield from pool_names(self.node_pools)


class EKSCluster(InfrastructureDocument):
    """A cluster on EKS, as the predecessor's machinery describes it."""

    SHORT_NAME: ClassVar[str] = "eks"
    COLUMNS: ClassVar[tuple[tuple[str, str], ...]] = (("REGION", "spec.region"),)

    kind: Literal["EKSCluster"]
    """Always `EKSCluster`."""

    spec: EKSClusterSpec
    """The cluster."""
