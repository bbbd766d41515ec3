"""In which stack each cluster lies, by the manifests and by the states, and what must not change about it.

With one stack per cluster the front doors lie together in the environment's own stack. A cluster cannot be moved from
one stack to another, so becoming a front door is for clusters that do not exist yet, and ceasing to be one is for
clusters that leave.
"""

from collections.abc import Mapping

from automation.engine.checkpoint import Checkpoint
from automation.engine.family import is_cluster
from components.api.fleet import Fleet
from components.errors import ConfigError, Problem
from components.naming import StackName


def refuse_other_layout(fleet: Fleet, checkpoints: Mapping[StackName, Checkpoint]) -> None:
    """Raise ConfigError when a cluster lies in another stack than the manifests say: it would be built again."""
    problems = [
        problem
        for stack, checkpoint in sorted(checkpoints.items())
        for name in sorted(cluster_components(checkpoint))
        if (problem := _stranger(fleet, stack, name)) is not None
    ]
    if problems:
        raise ConfigError(problems)


def _stranger(fleet: Fleet, stack: StackName, cluster: str) -> Problem | None:
    layout, door = fleet.environment.spec.layout, cluster in fleet.environment.spec.front_doors
    if layout == "Single" and stack.cluster:
        why = f"layout is Single, but stack {stack} holds cluster {cluster}, which was built under the other layout"
        return _problem(fleet, why, "take the change of `layout` back", path="spec.layout")
    if layout == "PerCluster" and not stack.cluster and not door and not is_leaving(fleet, cluster):
        why = f"stack {stack} holds the front doors and cluster {cluster}, which is none"
        fix = f"name {cluster} in `frontDoors` again, or mark it `removing: true` (apiVersion berth.dev/v1alpha1)"
        return _problem(fleet, why, f"{fix}; if only `layout` was changed, take that back", path="spec.frontDoors")
    if layout == "PerCluster" and stack.cluster and door:
        why = f"cluster {cluster} is named as a front door, and it lies in a stack of its own, {stack}"
        fix = f"take {cluster} out of `frontDoors`, and name a cluster there that does not exist yet"
        return _problem(fleet, why, fix, path="spec.frontDoors")
    return None


def _problem(fleet: Fleet, why: str, fix: str, *, path: str) -> Problem:
    place = fleet.place(fleet.environment.kind, fleet.name)
    return Problem(
        "layout-changed",
        f"{why}. A cluster cannot be moved from one stack to another: it would be destroyed and built anew",
        place.file,
        place.line,
        path=path,
        help=fix,
    )


def beside_front_doors(fleet: Fleet, checkpoints: Mapping[StackName, Checkpoint]) -> tuple[str, ...]:
    """Return the clusters in the environment's own stack that are front doors no more; they stay there until they go.

    Only with one stack per cluster; a single stack holds all of them anyway.
    """
    own = checkpoints.get(StackName(fleet.name))
    if fleet.environment.spec.layout == "Single" or own is None:
        return ()
    return tuple(sorted(cluster_components(own).keys() - set(fleet.environment.spec.front_doors)))


def cluster_components(checkpoint: Checkpoint) -> Mapping[str, str]:
    """Return the URN of every cluster's component, by the cluster's name."""
    return {resource.name: resource.urn for resource in checkpoint if is_cluster(resource.type)}


def is_leaving(fleet: Fleet, cluster: str) -> bool:
    """Whether nobody asks for a cluster any more: no manifest, or one that says that it goes or is lost."""
    manifest = fleet.clusters.get(cluster)
    return manifest is None or manifest.spec.removing or manifest.spec.lost
