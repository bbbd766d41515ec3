"""InferenceCluster: one cluster of the fleet, from one of six sources, and its GPU pools."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from components.api.base import BERTH, LATER, Items, LabelMetadata, Manifest, Model, Ruled, absent
from components.api.cluster_source import (
    AksSource,
    ClusterSource,
    Credentials,
    EksNetwork,
    EksSource,
    ExistingSource,
    GkeSource,
    NebiusSource,
    Source,
    VultrSource,
)
from components.api.codes import Code
from components.api.conditions import Schema, Together, equal
from components.api.node_pool import CapacityBlock, Fabric, NodePool, pool_schema, pool_violations, region_meant
from components.api.rules import DnsLabel, Violation, distinct, duplicates, within
from components.api.stack_override import Overrides

__all__ = [
    "AksSource",
    "CapacityBlock",
    "ClusterSource",
    "Credentials",
    "EksNetwork",
    "EksSource",
    "ExistingSource",
    "Fabric",
    "GkeSource",
    "InferenceCluster",
    "InferenceClusterSpec",
    "NebiusSource",
    "NodePool",
    "Source",
    "Taint",
    "VultrSource",
]


class Taint(Model):
    """Keeps deployments off a cluster unless they tolerate it."""

    key: Annotated[str, Field(min_length=1)]
    """Key."""

    value: str | None = None
    """Value."""

    effect: Literal["NoSchedule", "NoExecute"]
    """`NoSchedule` keeps new replicas off, `NoExecute` also moves those that are there."""


def _pools(spec: "InferenceClusterSpec") -> Iterator[Violation]:
    source = spec.cluster.source
    meant = region_meant(source, spec.cluster.region, spec.node_pools)
    if meant:
        message = f"`{spec.cluster.region}` is no region of {source}, and the zones of the pools are in `{meant}`"
        path = ("cluster", source.lower(), "region")
        yield Violation(Code.ZONE_INVALID, message, path, hint=f"did you mean `{meant}`?")
        return
    for index, pool in enumerate(spec.node_pools):
        found = pool_violations(pool, spec.cluster.source, spec.cluster.block)
        yield from within("nodePools", within(index, found))


def _pools_of(source: str) -> Schema:
    """Say what a source asks of every pool."""
    return {
        "if": {"properties": {"cluster": equal("source", source)}},
        "then": {"properties": {"nodePools": {"items": pool_schema(source)}}},
    }


class InferenceClusterSpec(Ruled):
    """One cluster."""

    CONDITIONS: ClassVar = (
        Together(_pools, tuple(_pools_of(source) for source in ("EKS", "GKE", "AKS", "Nebius", "Vultr"))),
    )

    cluster: ClusterSource
    """Where it comes from."""

    taints: Items[Taint] = ()
    """Keeps deployments off."""

    node_pools: Items[NodePool] = Field(default=(), min_length=1, max_length=8, exclude_if=absent)
    """GPU pools. Only a front door may have none. Their order has a meaning: the first that fits is taken."""

    release: Annotated[Annotated[str, Field(min_length=1, max_length=253)] | None, BERTH] = None
    """Release of the serving stack on this cluster, instead of the environment's."""

    removing: Annotated[bool, BERTH] = False
    """The cluster is on its way out: its replicas move first, then its manifest may go."""

    lost: Annotated[bool, BERTH] = False
    """The cluster is gone for good: Berth forgets it and lists what may still cost money."""

    overrides: Annotated[Overrides | None, LATER] = None
    """Versions and values that take the place of the release's, by component."""

    disabled_components: Annotated[
        Annotated[Items[DnsLabel], Field(max_length=64), distinct("the component")] | None, LATER
    ] = None
    """Components of the release that are not installed, because the cluster brings them itself."""

    driver_management: Annotated[Literal["Image", "Operator", "Manual"] | None, LATER] = None
    """Who installs the GPU driver: the nodes' `Image`, the GPU `Operator` of the release, or somebody by hand."""

    def rules(self) -> Iterator[Violation]:
        """Check that taints and pools are listed once."""
        taints = duplicates(self.taints, lambda taint: (taint.key, taint.effect), "key", "the taint")
        yield from within("taints", taints)
        yield from within("nodePools", duplicates(self.node_pools, lambda pool: pool.name, "name", "the pool"))


SOURCE_PATH: Final = ("spec", "cluster", "source")
"""The path of a cluster's source in its manifest."""


class InferenceCluster(Manifest):
    """One cluster of the fleet."""

    NAMESPACED: ClassVar[bool] = False
    SHORT_NAME: ClassVar[str] = "ic"
    COLUMNS: ClassVar[tuple[tuple[str, str], ...]] = (("SOURCE", "spec.cluster.source"),)

    kind: Literal["InferenceCluster"]
    """Always `InferenceCluster`."""

    metadata: LabelMetadata
    """Name, labels and annotations; `clusterSelector` matches its labels."""

    spec: InferenceClusterSpec
    """The cluster."""

    @property
    def source(self) -> Source:
        """The cluster's source."""
        return self.spec.cluster.source

    @property
    def provisioned(self) -> bool:
        """Whether Berth makes the cluster."""
        return self.source != "Existing"

    @property
    def region(self) -> str:
        """The region; empty when the manifest does not say (Nebius, some existing clusters)."""
        return self.spec.cluster.region

    @property
    def kubernetes_version(self) -> str:
        """The version as written or defaulted; empty for an existing cluster that does not say."""
        return self.spec.cluster.block.kubernetes_version or ""

    @property
    def version_verb(self) -> str:
        """How a sentence leads from the manifest to its version, which may be the default."""
        is_written = "kubernetes_version" in self.spec.cluster.block.model_fields_set
        return "says" if is_written else "says nothing, which means"

    @property
    def version_path(self) -> tuple[str, ...]:
        """The path of the version in the manifest."""
        return ("spec", "cluster", self.source.lower(), "kubernetesVersion")
