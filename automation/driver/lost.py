"""Forgets clusters that are lost for good: their resources leave the state without a call to any cloud.

A cluster marked ``lost: true`` cannot be deleted, because nothing answers; what of it may still cost money is listed
for a person. Its replicas are placed elsewhere by the plan that follows.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from automation.driver.reading import Situation, cluster_components
from automation.driver.session import Session
from automation.engine.checkpoint import Resource
from automation.engine.family import COMPONENT_PREFIX, Family
from automation.engine.repair import write_back


@dataclass(frozen=True, slots=True)
class Forgotten:
    """One lost cluster: how much the state forgot, and what may still cost money."""

    cluster: str
    resources: int
    left_behind: tuple[str, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """The report in words."""
        first = f"cluster {self.cluster} is lost: {self.resources} resources left the state, nothing was deleted"
        return (first, *(f"may still cost money: {each}" for each in self.left_behind))


def forget_lost(session: Session, situation: Situation) -> tuple[Forgotten, ...]:
    """Take every lost cluster that is still in a state out of it; returns what was forgotten."""
    lost = {name for name, cluster in situation.fleet.clusters.items() if cluster.spec.lost}
    forgotten: list[Forgotten] = []
    for checkpoint in situation.checkpoints.values():
        names = sorted(lost & cluster_components(checkpoint).keys())
        if not names:
            continue
        family = Family(checkpoint)
        gone: set[str] = set()
        for name in names:
            parts = [resource for resource in checkpoint if family.cluster(resource.urn) == name]
            gone |= {resource.urn for resource in parts}
            left = tuple(f"{each.type} {each.name} ({each.id})" for each in parts if _costs(each))
            forgotten.append(Forgotten(name, len(parts), left))
        write_back(session.runner, checkpoint.without(gone), seen=checkpoint)
    return tuple(forgotten)


def _costs(resource: Resource) -> bool:
    """Whether something outside the cluster may stand behind a resource that nobody deleted."""
    package = resource.type.partition(":")[0]
    if not resource.custom or resource.is_provider or resource.type.startswith(COMPONENT_PREFIX) or package == "pulumi":
        return False
    if package != "kubernetes":
        return True
    spec = resource.inputs.get("spec")
    balanced = isinstance(spec, Mapping) and spec.get("type") == "LoadBalancer"
    return resource.type in _BACKED or (resource.type == "kubernetes:core/v1:Service" and balanced)


_BACKED = frozenset({"kubernetes:core/v1:PersistentVolumeClaim", "kubernetes:gateway.networking.k8s.io/v1:Gateway"})
"""Objects for which a cloud made something: a volume, a load balancer."""
