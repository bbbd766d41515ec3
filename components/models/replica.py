"""Replica: one placed copy of a deployment on one cluster.

Its properties are the whole truth about it (identity, shape, placement, phase), readable in the state even when the
update that should have created it failed. Its objects live in the deployment's own namespace and bear the name that the
lock assigned. Whether traffic reaches it is decided on the front door.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from components.base import Component
from components.clusters.contract import ClusterOutputs
from components.lock import ReplicaEntry, ReplicaShape
from components.models.manifest import Manifest, Owner
from components.models.register import register
from components.models.replica_objects import ReplicaPlan, replica_objects
from components.naming import ReplicaId


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaArgs:
    """A replica as the lock has it, and what policies need beside it."""

    identity: ReplicaId
    entry: ReplicaEntry
    shape: ReplicaShape
    environment: str
    tolerations: tuple[Mapping[str, str], ...] = ()
    """The deployment's tolerations of cluster taints; none when its manifest is gone."""
    cache_footprint: tuple[str, ...] | None = None
    """The clusters its cache may be on; None when it has no cache or the cache is not limited."""
    cache_claim: str = ""
    """The volume claim of the staged cache that it reads."""
    cache_gib: int = 0

    def props(self) -> dict[str, Any]:
        """Return the description that the component keeps in the state."""
        props: dict[str, Any] = {
            "namespace": self.identity.namespace,
            "deployment": self.identity.deployment,
            "cluster": self.identity.cluster,
            "index": self.identity.index,
            "name": self.entry.name,
            "phase": self.entry.phase.value,
            "shapeDigest": self.entry.shape,
            "shape": self.shape.to_json(),
            "labels": dict(self.entry.labels),
            "placement": [engine.to_json() for engine in self.entry.placement],
            "tolerations": [dict(toleration) for toleration in self.tolerations],
            "cacheFootprint": None if self.cache_footprint is None else list(self.cache_footprint),
        }
        if self.entry.stays:
            props["stays"] = self.entry.stays
        return props


class Replica(Component):
    """One replica; logical name ``<namespace>/<deployment>/<cluster>/<index>``."""

    TYPE = "berth:index:Replica"

    def __init__(self, args: ReplicaArgs, *, cluster: ClusterOutputs, depends_on: Sequence[pulumi.Resource]) -> None:
        name = str(args.identity)
        super().__init__(name, args.props(), environment=args.environment)
        owner = Owner(name, args.identity.namespace, args.environment)
        plan = ReplicaPlan(
            name=args.entry.name,
            shape=args.shape,
            placement=args.entry.placement,
            cache_claim=args.cache_claim,
            cache_gib=args.cache_gib,
        )
        pools = {member.pool for engine in args.entry.placement for member in engine.members}
        nodes = [cluster.nodes[pool] for pool in sorted(pools) if pool in cluster.nodes]

        def before(manifest: Manifest) -> list[pulumi.Resource]:
            return [*cluster.ready, *depends_on, *(nodes if _is_workload(manifest) else ())]

        made = register(self, replica_objects(owner, plan), cluster=cluster, depends_on=before)
        workloads = [made[role] for role in made if role.startswith("workload-")]
        self.serving: tuple[pulumi.Resource, ...] = (*workloads, made["route"])
        """What must be there before traffic may come: a ready workload per engine, and the way to them."""
        self.publish()


def _is_workload(manifest: Manifest) -> bool:
    return manifest.role.startswith("workload-")
