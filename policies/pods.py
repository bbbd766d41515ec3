"""Pods and claims of raw Kubernetes resources, whatever kind of workload holds them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from components.checks.ownership import VISIBLE_DEVICES
from components.labels import Label
from policies.claims import Request, claims_of
from policies.resources import REPLICA, Resource, Stack

DAEMON_SET: Final = "kubernetes:apps/v1:DaemonSet"

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

_NODE_TERMS: Final = (
    *("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"),
    "nodeSelectorTerms",
)
_POD_FIELDS: Final = ("nodeSelector", "tolerations", "resourceClaims")
_CONTAINER_FIELDS: Final = ("name", "image", "resources", "securityContext")


@dataclass(frozen=True, slots=True)
class PodGroup:
    """``count`` pods of one template in one workload. ``spec`` holds what rules judge of the pod's specification."""

    workload: Resource
    count: int
    spec: Mapping[str, Any]
    replica: Resource | None = None
    """The Replica component that the workload belongs to."""
    requests: tuple[Request, ...] = ()
    """What one pod claims, through templates."""
    templates: tuple[Resource, ...] = ()
    """The claim templates that it names."""
    volume_claims: tuple[str, ...] = ()
    """Names of the volume claims that one pod mounts."""
    certain: bool = True
    """Whether all that is read of it and of its templates is known; what an uncertain one lacks it may still get."""

    @property
    def pools(self) -> tuple[str, ...]:
        """The pools that the pods may run on; empty when they are pinned to none."""
        selected = (self.spec.get("nodeSelector") or {}).get(Label.POOL.value)
        return (str(selected),) if selected else _required_pools(self.spec.get("nodeTerms") or ())

    @property
    def pool(self) -> str:
        """The pool that the pods are pinned to; empty when there is none, or more than one."""
        return self.pools[0] if len(self.pools) == 1 else ""


def pod_groups(stack: Stack) -> Sequence[PodGroup]:
    """Return the pods of every workload in the stack."""
    return stack.once(_groups)


def _groups(stack: Stack) -> Sequence[PodGroup]:
    groups = []
    for workload, count, spec in _workloads(stack):
        names = [claim.get("resourceClaimTemplateName") for claim in spec.get("resourceClaims") or ()]
        claims = claims_of(stack, workload, [str(name) for name in names if name])
        groups.append(
            PodGroup(
                workload=workload,
                count=count,
                spec=spec,
                replica=stack.owner(workload, REPLICA),
                requests=claims.requests,
                templates=claims.templates,
                volume_claims=tuple(spec["volumeClaims"]),
                certain=claims.certain and not stack.has_deferred(workload),
            )
        )
    return groups


def _required_pools(terms: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the pools that required node affinity leaves: any one term is enough, and all of its expressions count."""
    found: set[str] = set()
    for term in terms:
        expressions = term.get("matchExpressions") or ()
        if not expressions and not term.get("matchFields"):
            continue  # an empty term selects no node
        allowed = [
            frozenset(map(str, each.get("values") or ()))
            for each in expressions
            if each.get("key") == Label.POOL.value and each.get("operator") == "In"
        ]
        if not allowed:
            return ()
        found |= frozenset.intersection(*allowed)
    return tuple(sorted(found))


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
    spec["nodeTerms"] = stack.read(resource, *path, *_NODE_TERMS)
    for group in ("initContainers", "containers"):
        spec[group] = _picked(stack, resource, (*path, group), _container)
    volumes = _picked(stack, resource, (*path, "volumes"), lambda item: _some(item, ("persistentVolumeClaim",)))
    spec["volumeClaims"] = [
        str(volume["persistentVolumeClaim"].get("claimName"))
        for volume in volumes
        if volume.get("persistentVolumeClaim")
    ]
    return spec


def _picked(
    stack: Stack, resource: Resource, path: tuple[str, ...], pick: Callable[[Mapping[str, Any]], Mapping[str, Any]]
) -> Sequence[Mapping[str, Any]]:
    """Read a part of every object in a list."""
    items = stack.peek(resource, *path)
    if not isinstance(items, list):
        return stack.known(resource, items, ".".join(path)) or ()
    some = [pick(item) if isinstance(item, dict) else item for item in items]
    return stack.known(resource, some, ".".join(path)) or ()


def _container(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what rules judge of a container: of its variables the one that takes devices, and no other."""
    variables = item.get("env")
    if not isinstance(variables, list):
        return _some(item, _CONTAINER_FIELDS)
    taking = [each for each in variables if isinstance(each, dict) and each.get("name") == VISIBLE_DEVICES]
    return {**_some(item, _CONTAINER_FIELDS), "env": taking}


def _some(item: Mapping[str, Any], keys: tuple[str, ...]) -> Mapping[str, Any]:
    return {key: item[key] for key in keys if key in item}
