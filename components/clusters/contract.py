"""The contract of a cluster: what the program gives to any provider's component, and what it gets back.

Everything above a cluster (serving stack, models, front door) sees ``ClusterOutputs`` only, so a provider can be added
or replaced without touching them. One battery of contract tests runs against every provider.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import pulumi

from components.api.fleet import Fleet
from components.clusters.pool_facts import PoolFacts
from components.lock_model import HeldPool

if TYPE_CHECKING:
    import pulumi_kubernetes as kubernetes


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterArgs:
    """What every provider needs to know about a cluster; plain, and known in every preview."""

    name: str
    source: str
    region: str
    kubernetes_version: str
    environment: str
    stack: str
    """Name of the Pulumi stack that owns the cluster."""
    release: str
    """Release of the serving stack on it."""
    taints: tuple[tuple[str, str, str], ...] = ()
    """Key, value and effect of the taints against deployments; they are not taints of its nodes."""
    labels: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    pools: tuple[PoolFacts, ...] = ()
    """GPU pools, in the order of the manifest, which has a meaning."""
    protect: bool = False
    """Whether what holds data or serves traffic refuses to be deleted or replaced."""
    lost: bool = False
    """The cluster is gone: what was on it is forgotten instead of deleted."""
    owner: str = ""
    cost_centre: str = ""

    @property
    def identifier(self) -> str:
        """What tells the Kubernetes provider that this is the same cluster, whatever its kubeconfig says."""
        return f"{self.environment}/{self.name}"

    def props(self) -> dict[str, Any]:
        """Return the description that the cluster's component keeps in the state."""
        return {
            "cluster": self.name,
            "source": self.source,
            "region": self.region,
            "kubernetesVersion": self.kubernetes_version,
            "environment": self.environment,
            "taints": [{"key": key, "value": value, "effect": effect} for key, value, effect in self.taints],
            "labels": dict(self.labels),
            "release": self.release,
            "pools": [pool.pool for pool in self.pools],
        }

    @classmethod
    def from_spec(
        cls, fleet: Fleet, name: str, *, release: str, stack: str, held: Sequence[HeldPool] | None = None
    ) -> Self:
        """Read a cluster's description from the fleet. A cluster that is being removed loses its protection.

        ``held`` are the pools that stay as they are although their manifest says otherwise.
        """
        cluster = fleet.clusters[name]
        environment = fleet.environment.spec
        return cls(
            name=name,
            source=cluster.source,
            region=cluster.region,
            kubernetes_version=cluster.kubernetes_version,
            environment=fleet.name,
            stack=stack,
            release=release,
            taints=tuple((taint.key, taint.value or "", taint.effect) for taint in cluster.spec.taints),
            labels=MappingProxyType(dict(sorted(cluster.metadata.labels.items()))),
            pools=PoolFacts.of_cluster(fleet, name, held=held or ()),
            protect=environment.protect and not cluster.spec.removing,
            lost=cluster.spec.lost,
            owner=environment.owner or "",
            cost_centre=environment.cost_centre or "",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOutputs:
    """What every provider gives: how to reach the cluster, what is on it, and what must come before what."""

    name: str
    source: str
    cluster: pulumi.Resource
    """The cluster's component."""
    provider: "kubernetes.Provider"
    """Puts objects on the cluster; the only way to do so, default providers are off."""
    identifier: str
    endpoint: pulumi.Output[str]
    """URL of the API server."""
    storage_class: str | None
    """A StorageClass that many nodes can mount, known before the cluster exists; None means no caches here."""
    driver_root: str
    """Where the GPU driver lies on the nodes."""
    kubernetes_version: str = ""
    """As the manifest says; empty where it does not."""
    pools: tuple[PoolFacts, ...]
    ready: tuple[pulumi.Resource, ...]
    """What must exist before anything is put on the cluster, and go after it: access, system nodes, add-ons."""
    nodes: Mapping[str, pulumi.Resource] = field(default_factory=lambda: MappingProxyType({}))
    """By GPU pool, what makes its nodes; a replica depends on those of its placement. Empty for pools that exist."""
    storage: tuple[pulumi.Resource, ...] = ()
    """What must exist before a volume of ``storage_class`` is asked for, and go after it."""
    deleted_with: pulumi.Resource | None = None
    """Whose deletion takes along what lies on the cluster and owns nothing outside; None on a cluster that stays."""
