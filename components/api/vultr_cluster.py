"""VultrCluster: the predecessor's machine-made description of a cluster on Vultr; read, and left alone."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from components.api.base import Items, Ruled
from components.api.cluster_source import Credentials
from components.api.infrastructure import (
    GPU_POOL,
    MINIMUM,
    ClusterVersion,
    InfrastructureDocument,
    MadePool,
    Region,
    Text63,
    pool_names,
)
from components.api.rules import Violation

AtLeastOne = Annotated[int, Field(ge=1, le=1000)]


class VultrPool(MadePool):
    """A pool on Vultr."""

    CONDITIONS: ClassVar = (GPU_POOL, MINIMUM)

    plan: Text63
    """Vultr plan id."""

    node_count: AtLeastOne = 1
    """Nodes at the start."""

    min_node_count: AtLeastOne | None = None
    """Fewest nodes."""

    max_node_count: AtLeastOne | None = None
    """Most nodes; its presence makes the pool autoscale."""


class VultrClusterSpec(Ruled):
    """A cluster on Vultr."""

    region: Region
    """Vultr region."""

    kubernetes_version: ClusterVersion = "v1.36.1+3"
    """Kubernetes version, with its build suffix."""

    credentials: Credentials = Credentials()
    """Which identity builds it."""

    node_pools: Items[VultrPool] = Field(min_length=1, max_length=8)
    """Its pools."""

    def rules(self) -> Iterator[Violation]:
        """Check that pools have different names."""
        yield from pool_names(self.node_pools)


class VultrCluster(InfrastructureDocument):
    """A cluster on Vultr, as the predecessor's machinery describes it."""

    SHORT_NAME: ClassVar[str] = "vke"
    COLUMNS: ClassVar[tuple[tuple[str, str], ...]] = (("REGION", "spec.region"),)

    kind: Literal["VultrCluster"]
    """Always `VultrCluster`."""

    spec: VultrClusterSpec
    """The cluster."""
