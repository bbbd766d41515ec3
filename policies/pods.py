"""Pods and claims of raw Kubernetes resources, whatever kind of workload holds them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from components.labels import Label
from policies.resources import Resource, Stack

CLAIM_TEMPLATE: Final = "kubernetes:resource.k8s.io/v1:ResourceClaimTemplate"
_GANG: Final = "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet"
_TEMPLATED: Final = (
    "kubernetes:apps/v1:Deployment",
    "kubernetes:apps/v1:StatefulSet",
    "kubernetes:apps/v1:ReplicaSet",
    "kubernetes:apps/v1:DaemonSet",
    "kubernetes:batch/v1:Job",
)
_POD: Final = "kubernetes:core/v1:Pod"

SYSTEM_POOL: Final = "system"


@dataclass(frozen=True, slots=True)
class PodGroup:
    """``count`` pods of one template in one workload."""

    workload: Resource
    role: str
    count: int
    spec: Mapping[str, Any]

    @property
    def pool(self) -> str:
        """The pool that the pods are pinned to; empty when they are not."""
        return str((self.spec.get("nodeSelector") or {}).get(Label.POOL.value) or "")


def pod_groups(stack: Stack) -> Iterator[PodGroup]:
    """Yield the pods of every workload in the stack."""
    for resource in stack.resources:
        if resource.type in _TEMPLATED:
            count = stack.read(resource, "spec", "replicas")
            spec = stack.read(resource, "spec", "template", "spec")
            if spec:
                yield PodGroup(resource, "", 1 if count is None else int(count), spec)
        elif resource.type == _GANG:
            yield from _gang(stack, resource)
        elif resource.type == _POD:
            spec = stack.read(resource, "spec")
            if spec:
                yield PodGroup(resource, "", 1, spec)


def _gang(stack: Stack, resource: Resource) -> Iterator[PodGroup]:
    groups = stack.read(resource, "spec", "replicas")
    copies = 1 if groups is None else int(groups)
    size = int(stack.read(resource, "spec", "leaderWorkerTemplate", "size") or 1)
    worker = stack.read(resource, "spec", "leaderWorkerTemplate", "workerTemplate", "spec")
    leader = stack.read(resource, "spec", "leaderWorkerTemplate", "leaderTemplate", "spec") or worker
    if leader:
        yield PodGroup(resource, "leader", copies, leader)
    if worker:
        yield PodGroup(resource, "worker", copies * (size - 1), worker)


def claimed_devices(stack: Stack, group: PodGroup) -> Iterator[tuple[str, int]]:
    """Yield DeviceClass and count of every request that one pod of the group claims through a template."""
    templates = {
        (template.provider, template.parent, stack.read(template, "metadata", "name")): template
        for template in stack.of_type(CLAIM_TEMPLATE)
    }
    for claim in group.spec.get("resourceClaims") or ():
        name = claim.get("resourceClaimTemplateName")
        template = templates.get((group.workload.provider, group.workload.parent, name)) if name else None
        if template is None:
            continue
        for request in stack.read(template, "spec", "spec", "devices", "requests") or ():
            exactly = request.get("exactly") or {}
            yield str(exactly.get("deviceClassName") or ""), int(exactly.get("count") or 1)
