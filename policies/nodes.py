"""The clouds' own node pools, read into one form. A provider that Berth learns is a few lines here."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from components.checks.facts import Taint
from policies.resources import CLUSTER_TYPES, POOL, Resource, Stack

NODE_GROUP: Final = "aws:eks/nodeGroup:NodeGroup"
_EKS_CLUSTER: Final = "aws:eks/cluster:Cluster"
_EFFECTS: Final = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}
_GPU_FAMILY: Final = re.compile(r"(?:g|gr|p)[0-9]")
"""How the instance types with GPUs begin: the series G and P (Amazon EC2 instance types guide, naming conventions,
2025)."""


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """A cloud's node pool. ``taints`` have Kubernetes' own effects."""

    resource: Resource
    pool: Resource | None
    """The Pool component that it belongs to."""
    taints: tuple[Taint, ...]
    labels: Mapping[str, str]
    most: int | None
    """How many nodes it may have; None when that is not known."""
    cluster: Resource | None
    """The cluster component whose nodes these are; None when that is not known."""
    certain: bool
    """Whether all that is read of it is known; what an uncertain one lacks it may still get."""


def node_groups(stack: Stack) -> Sequence[NodeGroup]:
    """Return the node pools of every cloud."""
    return stack.once(_groups)


def has_gpu_type(stack: Stack, group: NodeGroup) -> bool:
    """Say whether nodes of the group may be of a machine type with GPUs; one in a launch template is not seen.

    Apart from the rest, so that only who asks waits for types that are not known yet.
    """
    return any(_GPU_FAMILY.match(str(each)) for each in stack.read(group.resource, "instanceTypes") or ())


def _groups(stack: Stack) -> Sequence[NodeGroup]:
    return tuple(_eks(stack))


def _eks(stack: Stack) -> Iterator[NodeGroup]:
    clusters = {
        stack.peek(cluster, "name"): stack.owner(cluster, *CLUSTER_TYPES) for cluster in stack.of_type(_EKS_CLUSTER)
    }
    for group in stack.of_type(NODE_GROUP):
        most = stack.read(group, "scalingConfig", "maxSize")
        name = stack.peek(group, "clusterName")
        taints = tuple(
            Taint(
                str(taint.get("key") or ""),
                str(taint.get("value") or ""),
                _EFFECTS.get(str(taint.get("effect")), str(taint.get("effect"))),
            )
            for taint in stack.read(group, "taints") or ()
        )
        yield NodeGroup(
            resource=group,
            pool=stack.owner(group, POOL),
            taints=taints,
            labels=stack.read(group, "labels") or {},
            most=None if most is None else int(most),
            cluster=clusters.get(name) if isinstance(name, str) else None,
            certain=not stack.has_deferred(group),
        )
