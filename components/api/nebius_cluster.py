"""NebiusCluster: the predecessor's machine-made description of a cluster on Nebius; read, and left alone."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from components.api.base import Items, Ruled
from components.api.cluster_source import Credentials
from components.api.conditions import Belongs, ChosenBlock
from components.api.infrastructure import (
    GPU_POOL,
    MINIMUM,
    ClusterVersion,
    Count,
    DiskSize,
    Gpu,
    InfrastructureDocument,
    MadePool,
    Text63,
    pool_names,
)
from components.api.node_pool import InfiniBand
from components.api.rules import Violation


class NebiusGpu(Gpu):
    """The accelerator of a pool on Nebius."""

    drivers_preset: Text63 = "cuda13.0"
    """NVIDIA driver stack that is preinstalled."""


class NebiusFabric(Ruled):
    """The fast network between the nodes of a pool."""

    CONDITIONS: ClassVar = (
        ChosenBlock("type", {"InfiniBand": "infiniband"}),
        Belongs("infiniband", "type", ("InfiniBand",)),
    )

    type: Literal["None", "InfiniBand"] = "None"
    """Whether there is one."""

    infiniband: InfiniBand | None = None
    """Which fabric."""


class NebiusPool(MadePool):
    """A pool on Nebius."""

    CONDITIONS: ClassVar = (GPU_POOL, MINIMUM)

    platform: Text63
    """Platform."""

    preset: Text63
    """Preset of the platform."""

    disk_size_gb: DiskSize = 100
    """Boot disk, in GiB."""

    min_node_count: Count | None = None
    """Fewest nodes; `nodeCount` where there is only a maximum."""

    max_node_count: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Most nodes; its presence makes the pool autoscale."""

    gpu: NebiusGpu | None = None
    """The accelerator; needed on a GPU pool."""

    fabric: NebiusFabric = NebiusFabric()
    """The fast network between its nodes."""


class NebiusClusterSpec(Ruled):
    """A cluster on Nebius."""

    kubernetes_version: ClusterVersion = "1.34"
    """Kubernetes version."""

    credentials: Credentials = Credentials()
    """Which identity builds it."""

    node_pools: Items[NebiusPool] = Field(min_length=1, max_length=8)
    """Its pools."""

    def rules(self) -> Iterator[Violation]:
        """Check that pools have different names."""
        yield from pool_names(self.node_pools)


class NebiusCluster(InfrastructureDocument):
    """A cluster on Nebius, as the predecessor's machinery describes it."""

    SHORT_NAME: ClassVar[str] = "mk8s"

    kind: Literal["NebiusCluster"]
    """Always `NebiusCluster`."""

    spec: NebiusClusterSpec
    """The cluster."""
