"""Preview 1 as the scheduler needs it: which clusters and pools an update would create, change, replace or delete.

Only the resource that *is* the cluster or the pool decides that something on it would be lost; whatever else changes
under the component is a change in place. Providers and objects on clusters are never read for it: before a cluster
exists, or while its kubeconfig is unknown, an engine may show them as replaced although nothing happens to them.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from automation.engine.checkpoint import STACK_TYPE, Checkpoint
from automation.engine.events import Op, ResourceStep
from automation.engine.family import COMPONENT_PREFIX, POOL_TYPE, Family, Member, is_cluster
from automation.engine.runner import Preview
from automation.scheduling.changes import Change, PlatformChanges

CLUSTER_IDENTITIES = frozenset({"aws:eks/cluster:Cluster"})
"""Types that are a cluster: their replacement means that everything on it is lost."""
POOL_IDENTITIES = frozenset({"aws:eks/nodeGroup:NodeGroup"})
"""Types that are a pool's nodes. A cluster's own nodes, for its system, are of the same type under the cluster."""

_RANK = (Change.NONE, Change.UPDATE, Change.CREATE, Change.DELETE, Change.REPLACE, Change.REPLACE_REFUSED)
"""Which of two changes of one thing tells more."""


def platform_changes(preview: Preview, *, checkpoint: Checkpoint | None = None) -> PlatformChanges:
    """Return what ``preview`` would do to clusters and pools; ``checkpoint`` helps to find the parents of what goes."""
    family = Family([*(checkpoint or ()), *preview.steps])
    refused = frozenset(preview.refused)
    clusters: dict[str, Change] = {}
    pools: dict[tuple[str, str], Change] = {}
    touched = False
    for step in preview.steps:
        if step.type == STACK_TYPE or not (step.op.changes or step.urn in refused):
            continue
        touched = True
        component = family.component(step.urn)
        if component is None:
            continue
        change = _change(step, component, refused=step.urn in refused)
        if is_cluster(component.type):
            name = family.cluster(component.urn) or component.urn.rpartition("::")[2]
            clusters[name] = _stronger(clusters.get(name, Change.NONE), change)
        elif component.type == POOL_TYPE:
            cluster, _, pool = component.urn.rpartition("::")[2].partition("/")
            pools[cluster, pool] = _stronger(pools.get((cluster, pool), Change.NONE), change)
    return PlatformChanges(
        clusters={name: clusters[name] for name in sorted(_listed(clusters))},
        pools={key: pools[key] for key in sorted(_listed(pools))},
        touched=touched,
    )


def restorations(preview: Preview, *, checkpoint: Checkpoint | None = None) -> tuple[ResourceStep, ...]:
    """Return the steps that no component explains: what it says of itself stays, and something under it changes.

    Such as an object that was deleted or edited behind Berth's back, a secret with a new value, or what another version
    of Berth makes otherwise.
    """
    family = Family([*(checkpoint or ()), *preview.steps])
    changed = {step.urn for step in preview.steps if not step.custom and (step.op.changes or step.diffs)}
    found = []
    for step in preview.changed:
        component = family.component(step.urn)
        if step.custom and (component is None or component.urn not in changed):
            found.append(step)
    return tuple(found)


def _change(step: ResourceStep, component: Member, *, refused: bool) -> Change:
    itself = step.urn == component.urn
    if not itself and not _counts(step):
        return Change.NONE
    if itself or step.type in (CLUSTER_IDENTITIES if is_cluster(component.type) else POOL_IDENTITIES):
        if refused and (step.op.replaces or step.op.removes):
            return Change.REPLACE_REFUSED
        if step.op.replaces:
            return Change.REPLACE
        if step.op is Op.DELETE:
            return Change.DELETE
        # Made anew under a component that is there: its creation was interrupted, or it was deleted behind our back.
        if step.op in {Op.CREATE, Op.IMPORT}:
            return Change.CREATE
    return Change.UPDATE


def _counts(step: ResourceStep) -> bool:
    package = step.type.partition(":")[0]
    return (
        not step.is_provider and package not in {"kubernetes", "pulumi"} and not step.type.startswith(COMPONENT_PREFIX)
    )


def _stronger(one: Change, other: Change) -> Change:
    return max(one, other, key=_RANK.index)


def _listed(changes: Mapping[Any, Change]) -> Iterable[Any]:
    return (key for key, change in changes.items() if change is not Change.NONE)
