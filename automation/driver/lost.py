"""Forgets clusters that are lost for good: their resources leave the state without a call to any cloud.

A cluster marked ``lost: true`` cannot be deleted, because nothing answers; what of it may still cost money is listed
for a person. Its replicas are placed elsewhere by the plan that follows.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from automation.driver.layout import cluster_components
from automation.driver.reading import Situation
from automation.driver.searches import searches_for
from automation.driver.session import Session
from automation.engine.checkpoint import Checkpoint, Resource
from automation.engine.family import COMPONENT_PREFIX, Family
from automation.engine.repair import write_back
from components.clusters.eks.facts import COSTS


@dataclass(frozen=True, slots=True)
class Forgotten:
    """One lost cluster: what the state forgets of it, and what is left for a person."""

    cluster: str
    urns: frozenset[str]
    left_behind: tuple[str, ...]
    """What may still cost money."""
    others: int
    """What may exist and costs nothing by itself; it keeps its names, which a cluster built anew would want."""
    searches: tuple[str, ...] = ()
    """How to find all of it, and what the cluster made by itself."""

    @property
    def lines(self) -> tuple[str, ...]:
        """The report of a run in words."""
        first = f"cluster {self.cluster} is lost: {len(self.urns)} resources left the state, nothing was deleted"
        others = [f"may still exist, at no cost: {self.others} more of cluster {self.cluster}"] if self.others else []
        return (
            first,
            *(f"may still cost money: {each}" for each in self.left_behind),
            *others,
            *(f"to find {each}" for each in self.searches),
        )

    @property
    def announcement(self) -> str:
        """What a plan says of it: nothing was done yet, and nothing will be deleted."""
        left = len(self.left_behind)
        costs = f"; {left} of them may go on costing money, and berth up lists them" if left else ""
        return (
            f"cluster {self.cluster} is marked lost: berth up takes its {len(self.urns)} resources out of the state"
            f" and deletes none{costs}"
        )


def forget_lost(session: Session, situation: Situation) -> tuple[Forgotten, ...]:
    """Take every lost cluster that is still in a state out of it; returns what was forgotten."""
    simulated = session.workspace.simulated
    done: list[Forgotten] = []
    for checkpoint in situation.checkpoints.values():
        found = _lost(situation, checkpoint, simulated=simulated)
        if found:
            gone = frozenset().union(*(each.urns for each in found))
            write_back(session.runner, checkpoint.without(gone), seen=checkpoint)
            done += found
    return tuple(done)


def to_forget(session: Session, situation: Situation) -> tuple[Forgotten, ...]:
    """Return what ``forget_lost`` would take out of the states."""
    simulated = session.workspace.simulated
    return tuple(
        each
        for checkpoint in situation.checkpoints.values()
        for each in _lost(situation, checkpoint, simulated=simulated)
    )


def lost_clusters(situation: Situation) -> frozenset[str]:
    """Return the clusters that are marked as lost."""
    return frozenset(name for name, cluster in situation.fleet.clusters.items() if cluster.spec.lost)


def lost_parts(checkpoint: Checkpoint, lost: frozenset[str]) -> tuple[str, ...]:
    """Return the URNs in a state of everything that goes with lost clusters, sorted.

    A preview leaves them out: what the state is about to forget is not going to be deleted.
    """
    if not lost & cluster_components(checkpoint).keys():
        return ()
    family = Family(checkpoint)
    return tuple(sorted(resource.urn for resource in checkpoint if family.cluster(resource.urn) in lost))


def _lost(situation: Situation, checkpoint: Checkpoint, *, simulated: bool) -> list[Forgotten]:
    found = []
    for name in sorted(lost_clusters(situation) & cluster_components(checkpoint).keys()):
        urns = frozenset(lost_parts(checkpoint, frozenset({name})))
        outside = [each for each in checkpoint if each.urn in urns and _is_outside(each)]
        costs = [each for each in outside if _costs(each)]
        pools = situation.existing.clusters[name].pools
        found.append(
            Forgotten(
                cluster=name,
                urns=urns,
                left_behind=tuple(f"{each.type} {each.name} ({each.id})" for each in costs),
                others=len(outside) - len(costs),
                searches=tuple(
                    str(each) for each in searches_for(situation.fleet, checkpoint, name, pools, simulated=simulated)
                ),
            )
        )
    return found


def _is_outside(resource: Resource) -> bool:
    """Whether something outside the cluster may stand behind a resource that nobody deleted."""
    package = resource.type.partition(":")[0]
    if not resource.custom or resource.is_provider or resource.type.startswith(COMPONENT_PREFIX) or package == "pulumi":
        return False
    if package != "kubernetes":
        return True
    spec = resource.inputs.get("spec")
    balanced = isinstance(spec, Mapping) and spec.get("type") == "LoadBalancer"
    return resource.type in _BACKED or (resource.type == "kubernetes:core/v1:Service" and balanced)


def _costs(resource: Resource) -> bool:
    """Whether it is charged for being there; of a cloud whose kinds are not known, everything may be."""
    return not resource.type.startswith("aws:") or resource.type in COSTS


_BACKED = frozenset({"kubernetes:core/v1:PersistentVolumeClaim", "kubernetes:gateway.networking.k8s.io/v1:Gateway"})
"""Objects for which a cloud made something: a volume, a load balancer."""
