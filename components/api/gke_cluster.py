"""GKECluster: the predecessor's machine-made description of a cluster on GKE; read, and left alone."""

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
    Gpu,
    InfrastructureDocument,
    MadePool,
    Range,
    Region,
    Text63,
    Zone,
    pool_names,
)
from components.api.rules import Violation


class GkeNetworking(Model):
    """Address ranges."""

    pod_cidr: Range = "10.1.0.0/16"
    """Pods."""

    service_cidr: Range = "10.2.0.0/16"
    """Services."""

    node_cidr: Range = "10.0.0.0/24"
    """Nodes."""


class GkeGpu(Gpu):
    """The accelerator of a pool on GKE, where its count is asked of the cloud."""

    accelerator_count: Annotated[int, Field(ge=1, le=16)] = 1
    """Accelerators per node."""


class GkePool(MadePool):
    """A pool on GKE."""

    CONDITIONS: ClassVar = (GPU_POOL, ZONED)

    machine_type: Text63
    """GCE machine type."""

    disk_size_gb: DiskSize = 100
    """Boot disk, in GB."""

    gpu: GkeGpu | None = None
    """The accelerator; needed on a GPU pool."""

    zones: Annotated[Items[Zone], Field(min_length=1, max_length=8, exclude_if=absent)] = ()
    """Zones of the nodes."""


class GKEClusterSpec(Ruled):
    """A cluster on GKE."""

    region: Region
    """Google Cloud region."""

    kubernetes_version: ClusterVersion = "1.35"
    """Kubernetes version."""

    credentials: Credentials = Credentials()
    """Which identity builds it."""

    networking: GkeNetworking = GkeNetworking()
    """Address ranges."""

    node_pools: Items[GkePool] = Field(min_length=1, max_length=8)
    """Its pools."""

    def rules(self) -> Iterator[Violation]:
        """Check that pools have different names."""
        yield from pool_names(self.node_pools)


class GKECluster(InfrastructureDocument):
    """A cluster on GKE, as the predecessor's machinery describes it."""

    SHORT_NAME: ClassVar[str] = "gke"
    COLUMNS: ClassVar[tuple[tuple[str, str], ...]] = (("REGION", "spec.region"),)

    kind: Literal["GKECluster"]
    """Always `GKECluster`."""

    spec: GKEClusterSpec
    """The cluster."""
