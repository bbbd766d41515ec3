"""What an API server refuses about workloads, and what their pods need from the cluster before they can run."""

from collections.abc import Iterator, Mapping
from typing import Any

from automation.rehearsal.wire import lookup

_TEMPLATED = {"apps/Deployment", "apps/StatefulSet", "apps/DaemonSet"}
_LOCAL_VOLUMES = {"persistentVolumeClaim": ("/PersistentVolumeClaim", "claimName"), "secret": ("/Secret", "secretName"),
                  "configMap": ("/ConfigMap", "name")}  # fmt: skip


def problems(kind: str, inputs: Mapping[str, Any], templates: list[str]) -> Iterator[str]:
    """Yield what the API server's validation would say about a workload, each with its field path."""
    if kind in _TEMPLATED:
        wanted = lookup(dict(inputs), "spec.selector.matchLabels") or {}
        labels = lookup(dict(inputs), "spec.template.metadata.labels") or {}
        if not wanted and not lookup(dict(inputs), "spec.selector.matchExpressions"):
            yield "spec.selector: Invalid value: empty selector is invalid"
        if any(labels.get(key) != value for key, value in wanted.items()):
            yield "spec.template.metadata.labels: Invalid value: `selector` does not match template `labels`"
    if kind == "batch/Job" and lookup(dict(inputs), "spec.template.spec.restartPolicy") not in {"Never", "OnFailure"}:
        yield 'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'
    for path in templates:
        spec = lookup(dict(inputs), f"{path}.spec")
        if isinstance(spec, dict):
            yield from _pod_problems(spec, f"{path}.spec")


def _pod_problems(spec: Mapping[str, Any], path: str) -> Iterator[str]:
    containers = [item for item in spec.get("containers") or () if isinstance(item, dict)]
    if not containers:
        yield f"{path}.containers: Required value"
    volumes = {item.get("name") for item in spec.get("volumes") or ()}
    claims = {item.get("name") for item in spec.get("resourceClaims") or ()}
    seen: set[Any] = set()
    for index, container in enumerate(containers):
        here = f"{path}.containers[{index}]"
        if container.get("name") in seen:
            yield f"{here}.name: Duplicate value: {container.get('name')!r}"
        seen.add(container.get("name"))
        for number, mount in enumerate(container.get("volumeMounts") or ()):
            if mount.get("name") not in volumes:
                yield f"{here}.volumeMounts[{number}].name: Not found: {mount.get('name')!r}"
        for number, claim in enumerate(lookup(container, "resources.claims") or ()):
            if claim.get("name") not in claims:
                yield f"{here}.resources.claims[{number}].name: Not found: {claim.get('name')!r}"
    names = [item.get("name") for item in spec.get("volumes") or ()]
    for index, name in enumerate(names):
        if name in names[:index]:
            yield f"{path}.volumes[{index}].name: Duplicate value: {name!r}"


def references(inputs: Mapping[str, Any], templates: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield (kind, name, words) of the objects of its namespace without which a workload's pods do not start."""
    for path in templates:
        spec = lookup(dict(inputs), f"{path}.spec")
        if not isinstance(spec, dict):
            continue
        for volume in spec.get("volumes") or ():
            for key, (kind, field) in _LOCAL_VOLUMES.items():
                source = volume.get(key)
                if isinstance(source, dict) and source.get(field) and not source.get("optional"):
                    yield kind, source[field], f"{kind[1:].lower()} {source[field]!r} not found"
        for claim in spec.get("resourceClaims") or ():
            if name := claim.get("resourceClaimTemplateName"):
                yield "resource.k8s.io/ResourceClaimTemplate", name, f"resourceclaimtemplate {name!r} not found"
        for container in [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]:
            yield from _environment(container)


def _environment(container: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    sources = [lookup(item, "valueFrom") or {} for item in container.get("env") or ()]
    found = [(source.get("secretKeyRef"), source.get("configMapKeyRef")) for source in sources]
    found += [(item.get("secretRef"), item.get("configMapRef")) for item in container.get("envFrom") or ()]
    for secret, config in found:
        for kind, reference in (("/Secret", secret), ("/ConfigMap", config)):
            if isinstance(reference, dict) and reference.get("name") and not reference.get("optional"):
                name = reference["name"]
                yield kind, name, f"[CreateContainerConfigError] {kind[1:].lower()} {name!r} not found"
