"""The pod of one member of an engine.

The user's container runs verbatim: image, command, arguments, variables, resources, probes and mounts are theirs, and
so are the containers and volumes beside it. Berth adds what the cluster needs to run it where it was placed: the pool's
node selector, the GPU toleration, the claim, shared memory, the cache, a port and, unless there is one, a readiness
probe, and in a gang the leader's address and the pod's rank.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from components.labels import GPU_TAINT_EFFECT, GPU_TAINT_KEY, Label
from components.lock import MemberShape
from components.models.claims import pod_claim

ENGINE = "engine"
"""Name of the user's container."""

SERVING_PORT = 8000
"""Where a replica answers, whatever its engines are; endpoints point at it through the gateway."""

CACHE_MOUNT = "/mnt/models"

_OWN_SETTINGS = ("securityContext", "startupProbe", "readinessProbe", "livenessProbe")
"""What the user's container has as it was written; a readiness probe takes the place of Berth's."""

_GANG_VARIABLES = (
    {"name": "MODELPLANE_LEADER_ADDRESS", "value": "$(LWS_LEADER_ADDRESS)"},
    {"name": "MODELPLANE_RANK", "value": "$(LWS_WORKER_INDEX)"},
)
"""In front of the user's variables, so that those can refer to them; the gang's controller puts its own before all."""


@dataclass(frozen=True, slots=True)
class PodPlace:
    """Where a member's pods run and what they find there.

    ``claim_templates`` and ``cache_claim`` are names of objects in the pod's namespace, empty when there is none.
    """

    replica: str
    workload: str
    pool: str
    claim_templates: tuple[str, ...] = ()
    cache_claim: str = ""


def member_pod(member: MemberShape, place: PodPlace) -> dict[str, Any]:
    """Return the pod template of a member, with metadata where it has any."""
    spec = member.template.get("spec") or {}
    volumes: list[dict[str, Any]] = [{"name": "dshm", "emptyDir": {"medium": "Memory"}}]
    if place.cache_claim:
        volumes.append({"name": "model-cache", "persistentVolumeClaim": {"claimName": place.cache_claim}})
    pod: dict[str, Any] = {
        "containers": [_container(member, place)],
        "volumes": [*volumes, *(spec.get("volumes") or ())],
        "nodeSelector": {Label.POOL.value: place.pool},
        "tolerations": [{"key": GPU_TAINT_KEY, "operator": "Exists", "effect": GPU_TAINT_EFFECT}],
    }
    if place.claim_templates:
        pod["resourceClaims"] = [
            {"name": pod_claim(number), "resourceClaimTemplateName": name}
            for number, name in enumerate(place.claim_templates)
        ]
    if spec.get("imagePullSecrets"):
        pod["imagePullSecrets"] = [dict(secret) for secret in spec["imagePullSecrets"]]
    beside = [*_helpers(spec, "initContainers"), *_helpers(spec, "sidecars", restartPolicy="Always")]
    if beside:
        pod["initContainers"] = beside
    if spec.get("securityContext"):
        pod["securityContext"] = spec["securityContext"]
    metadata = _metadata(member, place)
    return {"metadata": metadata, "spec": pod} if metadata else {"spec": pod}


def probe(port: int) -> dict[str, Any]:
    """Return the readiness probe of a server on ``port``; the timeout allows for engines that answer in a second."""
    return {
        "httpGet": {"path": "/health", "port": port},
        "initialDelaySeconds": 30,
        "periodSeconds": 10,
        "timeoutSeconds": 5,
    }


def engine_container(template: Mapping[str, Any]) -> dict[str, Any]:
    """Return the user's container of a pod template, as the shape has it."""
    containers = (template.get("spec") or {}).get("containers") or ()
    return dict(next(container for container in containers if container["name"] == ENGINE))


def _helpers(spec: Mapping[str, Any], field: str, **more: str) -> Iterator[dict[str, Any]]:
    """Yield the containers of a field without what they leave empty."""
    for helper in spec.get(field) or ():
        yield {key: value for key, value in helper.items() if value not in ([], {})} | more


def _container(member: MemberShape, place: PodPlace) -> dict[str, Any]:
    given = engine_container(member.template)
    gang = member.role != "Standalone"
    serves = member.role != "Worker"
    arguments: list[str] = list(given.get("args") or ())
    if serves:
        arguments = _with_cache(arguments, given, place)
    variables = [*(_GANG_VARIABLES if gang else ()), *(given.get("env") or ())]
    container: dict[str, Any] = {"name": ENGINE, "image": given["image"]}
    if given.get("command"):
        container["command"] = list(given["command"])
    if arguments or not gang:
        container["args"] = arguments
    if variables:
        container["env"] = [dict(variable) for variable in variables]
    if serves:
        container["ports"] = [{"containerPort": SERVING_PORT}]
        container["readinessProbe"] = probe(SERVING_PORT)
    container |= {key: given[key] for key in _OWN_SETTINGS if given.get(key)}
    container["volumeMounts"] = [{"name": "dshm", "mountPath": "/dev/shm"}]  # noqa: S108 (the pod's, not ours)
    if place.cache_claim:
        container["volumeMounts"].append({"name": "model-cache", "mountPath": CACHE_MOUNT})
    container["volumeMounts"] += given.get("volumeMounts") or ()
    resources = {key: amounts for key, amounts in (given.get("resources") or {}).items() if amounts}
    if place.claim_templates:
        resources["claims"] = [{"name": pod_claim(number)} for number in range(len(place.claim_templates))]
    if resources:
        container["resources"] = resources
    return container


def _with_cache(arguments: list[str], container: Mapping[str, Any], place: PodPlace) -> list[str]:
    """Point a vLLM entry point at the staged weights: only with a cache, no own command and no model argument."""
    chosen = any(argument == "--model" or argument.startswith("--model=") for argument in arguments)
    if not place.cache_claim or container.get("command") or chosen:
        return arguments
    return [*arguments, f"--model={CACHE_MOUNT}"]


def _metadata(member: MemberShape, place: PodPlace) -> dict[str, Any]:
    given = member.template.get("metadata") or {}
    labels = dict(given.get("labels") or {})
    match member.role:
        case "Standalone":
            labels |= {Label.SERVING.value: place.replica, Label.WORKLOAD.value: place.workload}
        case "Leader":
            labels |= {Label.SERVING.value: place.replica, Label.LWS_ROLE.value: "leader"}
    annotations = dict(given.get("annotations") or {})
    return {key: value for key, value in (("labels", labels), ("annotations", annotations)) if value}
