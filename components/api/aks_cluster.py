"""AKSCluster: the predecessor's machine-made description of a cluster on AKS; read, and left alone."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from components.api.base import Items, Model, Ruled, absent
from components.api.cluster_source import Credentials
from components.api.infrastructure import (
    ClusterVersion,
    DiskSize,
    InfrastructureDocument,
    MadePool,
    Range,
    Region,
    Text63,
    pool_names,
)
from components.api.rules import Violation

AksZone = Annotated[str, Field(min_length=1, max_length=8)]


class AksNetworking(Model):
    """Address ranges."""

    vnet_cidr: Range = "10.0.0.0/16"
    """The virtual network."""

    subnet_cidr: Range = "10.0.0.0/20"
    """The subnet of all pools."""


class AksPool(MadePool):
    """A pool on AKS."""

    name: Annotated[str, Field(min_length=1, max_length=12, pattern=r"^[a-z][a-z0-9]{0,11}$")]
    """Name of the pool."""

    vm_size: Text63
    """Azure VM size."""

    disk_size_gb: DiskSize = 100
    """OS disk, in GB."""

    zones: Annotated[Items[AksZone], Field(min_length=1, max_length=3, exclude_if=absent)] = ()
    """Numbers of the zones."""

    fabric: Literal["None", "InfiniBand"] = "None"
    """The fast network between its nodes."""


class AKSClusterSpec(Ruled):
    """A cluster on AKS."""

    location: Region
    """Azure region."""

    kubernetes_version: ClusterVersion = "1.34"
    """Kubernetes version."""

    credentials: Credentials = Credentials()
    """Which identity builds it."""

    networking: AksNetworking = AksNetworking()
    """Address ranges."""

    node_pools: Items[AksPool] = Field(min_length=1, max_length=8)
    """Its pools."""

    def rules(self) -> Iterator[Violation]:
        """Check that pools have different names."""
        yield from pool_names(self.node_pools)


class AKSCluster(InfrastructureDocument):
    """A cluster on AKS, as the predecessor's machinery describes it."""

    SHORT_NAME: ClassVar[str] = "aks"
    COLUMNS: ClassVar[tuple[tuple[str, str], ...]] = (("LOCATION", "spec.location"),)

    kind: Literal["AKSCluster"]
    """Always `AKSCluster`."""

    spec: AKSClusterSpec
    """The cluster."""
