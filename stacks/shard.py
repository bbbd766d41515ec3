"""Shard: what one Pulumi stack of an environment holds. PURE.

With the ``Single`` layout one stack holds everything. With ``PerCluster`` the environment's own stack holds the front
doors (the clusters that carry a public gateway, with what runs on them, and the routes), and every other cluster has a
stack of its own, so that teams, leases and failures do not meet.

A cluster cannot change stacks: it would be destroyed in one and built anew in the other. So one that is no front door
any more stays in the environment's own stack until it is gone; whoever reads the states says so (``beside``).
Limit: plain ``pulumi`` reads no state, so it takes such a cluster for gone already.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from components.api.fleet import Fleet
from components.errors import StackNotFound
from components.naming import StackName


class Share(StrEnum):
    """Which part of an environment a shard is."""

    EVERYTHING = "everything"
    FRONT_DOORS = "front doors"
    CLUSTER = "cluster"


@dataclass(frozen=True, slots=True)
class Shard:
    """One stack's part of an environment.

    ``front_doors`` are the clusters that carry a public gateway, ``beside`` others in the environment's own stack.
    """

    environment: str
    share: Share
    cluster: str = ""
    front_doors: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()

    @property
    def stack(self) -> StackName:
        """The name of the stack that holds it."""
        return StackName(self.environment, self.cluster)

    @property
    def routes(self) -> bool:
        """Whether endpoints and services are here."""
        return self.share is not Share.CLUSTER

    def holds(self, cluster: str) -> bool:
        """Whether a cluster, and everything on it, is here."""
        match self.share:
            case Share.EVERYTHING:
                return True
            case Share.FRONT_DOORS:
                return cluster in self.front_doors or cluster in self.beside
            case Share.CLUSTER:
                return cluster == self.cluster

    def platform_digest(self, fleet: Fleet) -> str:
        """Return the digest of the part of the platform's manifests that this stack is built from."""
        if self.share is Share.EVERYTHING:
            return fleet.platform_digest()
        return fleet.platform_digest(clusters=[name for name in fleet.clusters if self.holds(name)])

    @classmethod
    def of(cls, stack: StackName, fleet: Fleet, *, clusters: Iterable[str] = (), beside: Iterable[str] = ()) -> Self:
        """Return what ``stack`` holds; ``clusters`` names more clusters than the manifests do (those of a lock).

        ``beside`` are those that lie in the environment's own stack and are no front doors. Raises StackNotFound when
        the environment has no such stack.
        """
        doors = tuple(sorted(fleet.environment.spec.front_doors))
        others = tuple(sorted(set(beside) - set(doors)))
        single = fleet.environment.spec.layout == "Single"
        known = {*fleet.clusters, *clusters} - {*doors, *others}
        if stack.environment != fleet.name or (stack.cluster and (single or stack.cluster not in known)):
            raise StackNotFound(
                f"environment {fleet.name} has no stack {stack}; it has {_listed(fleet, known)}",
                help=f"pulumi stack select {fleet.name}",
            )
        if single:
            return cls(fleet.name, Share.EVERYTHING, front_doors=doors)
        share = Share.CLUSTER if stack.cluster else Share.FRONT_DOORS
        return cls(fleet.name, share, stack.cluster, doors, others)


def shards(fleet: Fleet, *, clusters: Iterable[str] = (), beside: Iterable[str] = ()) -> tuple[Shard, ...]:
    """Return an environment's shards in the order in which they are built: clusters first, routes to them last.

    ``clusters`` names more clusters than the manifests do (those of a lock, or of the state), and ``beside`` those that
    lie in the environment's own stack and are no front doors.
    """
    names: list[str] = []
    clusters, beside = tuple(clusters), tuple(beside)
    if fleet.environment.spec.layout == "PerCluster":
        names = sorted({*fleet.clusters, *clusters} - {*fleet.environment.spec.front_doors, *beside})
    stacks = [*(StackName(fleet.name, name) for name in names), StackName(fleet.name)]
    return tuple(Shard.of(stack, fleet, clusters=clusters, beside=beside) for stack in stacks)


def _listed(fleet: Fleet, clusters: Iterable[str]) -> str:
    if fleet.environment.spec.layout == "Single":
        return fleet.name
    return ", ".join([fleet.name, *(str(StackName(fleet.name, name)) for name in sorted(clusters))])
