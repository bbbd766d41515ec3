"""Pods and claims of raw Kubernetes resources, whatever kind of workload holds them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from components.labels import Label
from policies.resources import REPLICA, Resource, Stack

CLAIM_TEMPLATES: Final = tuple(
    f"kubernetes:resource.k8s.io/{version}:ResourceClaimTemplate" for version in ("v1", "v1beta2", "v1beta1")
)
DAEMON_SET: Final = "kubernetes:apps/v1:DaemonSet"
SYSTEM_POOL: Final = "system"

_GANG: Final = "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet"
_POD_PATHS: Final[Mapping[str, tuple[str, ...]]] = {
    "kubernetes:apps/v1:Deployment": ("spec", "template", "spec"),
    "kubernetes:apps/v1:StatefulSet": ("spec", "template", "spec"),
    "kubernetes:apps/v1:ReplicaSet": ("spec", "template", "spec"),
    DAEMON_SET: ("spec", "template", "spec"),
    "kubernetes:batch/v1:Job": ("spec", "template", "spec"),
    "kubernetes:batch/v1:CronJob": ("spec", "jobTemplate", "spec", "template", "spec"),
    "kubernetes:core/v1:Pod": ("spec",),
}
"""Where the pod's specification stands in each kind of workload."""

_PARALLEL: Final = {"kubernetes:batch/v1:Job": ("spec", "parallelism")}
"""Where the number of pods stands, if not in ``spec.replicas``."""

_POD_FIELDS: Final = ("nodeSelector", "tolerations", "resourceClaims")
_CONTAINER_FIELDS: Final = ("name", "image", "resources", "securityContext")


@dataclass(frozen=True, slots=True)
class Request:
    """One request of a claim template. ``problem`` says in words why its devices cannot be counted."""

    device_class: str
    count: int
    problem: str = ""
    shares: bool = False
    """It asks for access to devices that somebody else holds."""


@dataclass(frozen=True, slots=True)
class PodGroup:
    """``count`` pods of one template in one workload. ``spec`` holds what rules judge of the pod's specification."""

    workload: Resource
    count: int
    spec: Mapping[str, Any]
    replica: Resource | None = None
    """The Replica component that the workload belongs to."""
    requests: tuple[Request, ...] = ()
    """What one pod claims, through the templates beside its workload."""
    volume_claims: tuple[str, ...] = ()
    """Names of the volume claims that one pod mounts."""
    certain: bool = True
    """Whether all that is read of it and of its templates is known; what an uncertain one lacks it may still get."""

    @property
    def pool(self) -> str:
        """The pool that the pods are pinned to; empty when they are not."""
        return str((self.spec.get("nodeSelector") or {}).get(Label.POOL.value) or "")


def pod_groups(stack: Stack) -> Sequence[PodGroup]:
    """Return the pods of every workload in the stack."""
    return stack.once(_groups)


def _groups(stack: Stack) -> Sequence[PodGroup]:
    templates: dict[tuple[str, str, Any], tuple[Resource, tuple[Request, ...]]] = {}
    for template in stack.of_type(*CLAIM_TEMPLATES):
        name = stack.read(template, "metadata", "name")
        templates[template.provider, template.parent, name] = (template, tuple(_asked(stack, template)))
    groups = []
    for workload, count, spec in _workloads(stack):
        names = [claim.get("resourceClaimTemplateName") for claim in spec.get("resourceClaims") or ()]
        places = [(workload.provider, workload.parent, name) for name in names]
        used = [templates[place] for place in places if place in templates]
        groups.append(
            PodGroup(
                workload=workload,
                count=count,
                spec=spec,
                replica=stack.owner(workload, REPLICA),
                requests=tuple(request for _, requests in used for request in requests),
                volume_claims=tuple(spec["volumeClaims"]),
                certain=not any(map(stack.has_deferred, [workload, *(template for template, _ in used)])),
            )
        )
    return groups


def _workloads(stack: Stack) -> Iterator[tuple[Resource, int, Mapping[str, Any]]]:
    for resource in stack.of_type(*_POD_PATHS):
        count = stack.read(resource, *_PARALLEL.get(resource.type, ("spec", "replicas")))
        yield resource, 1 if count is None else int(count), _pod(stack, resource, _POD_PATHS[resource.type])
    for gang in stack.of_type(_GANG):
        groups = stack.read(gang, "spec", "replicas")
        copies = 1 if groups is None else int(groups)
        template = ("spec", "leaderWorkerTemplate")
        followers = int(stack.read(gang, *template, "size") or 1) - 1
        worker = (*template, "workerTemplate", "spec")
        leader = (*template, "leaderTemplate", "spec")
        yield gang, copies, _pod(stack, gang, leader if stack.peek(gang, *leader) else worker)
        yield gang, copies * followers, _pod(stack, gang, worker)


def _pod(stack: Stack, resource: Resource, path: tuple[str, ...]) -> dict[str, Any]:
    """Read what rules judge, and nothing else: an unknown variable of a container is nobody's business."""
    spec: dict[str, Any] = {key: stack.read(resource, *path, key) for key in _POD_FIELDS}
    for group in ("initContainers", "containers"):
        spec[group] = _picked(stack, resource, (*path, group), _CONTAINER_FIELDS)
    volumes = _picked(stack, resource, (*path, "volumes"), ("persistentVolumeClaim",))
    spec["volumeClaims"] = [
        str(volume["persistentVolumeClaim"].get("claimName"))
        for volume in volumes
        if volume.get("persistentVolumeClaim")
    ]
    return spec


def _picked(
    stack: Stack, resource: Resource, path: tuple[str, ...], keys: tuple[str, ...]
) -> Sequence[Mapping[str, Any]]:
    """Read some fields of every object in a list."""
    items = stack.peek(resource, *path)
    if not isinstance(items, list):
        return stack.known(resource, items, ".".join(path)) or ()
    some = [{key: item[key] for key in keys if key in item} if isinstance(item, dict) else item for item in items]
    return stack.known(resource, some, ".".join(path)) or ()


def _asked(stack: Stack, template: Resource) -> Iterator[Request]:
    for request in stack.read(template, "spec", "spec", "devices", "requests") or ():
        exactly = request.get("exactly") or request  # v1beta1 has the fields in the request itself
        device_class = str(exactly.get("deviceClassName") or "")
        problem = ""
        if request.get("firstAvailable"):
            problem = "takes the first of several kinds"
        elif exactly.get("allocationMode") == "All":
            problem = "takes all devices of a node"
        yield Request(
            device_class,
            int(exactly.get("count") or 1),
            problem=f"request {request.get('name')} {problem}" if problem else "",
            shares=bool(exactly.get("adminAccess")),
        )
