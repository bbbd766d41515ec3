"""Which secrets the workloads of a namespace name, so that they are copied there and nowhere else. PURE."""

from collections.abc import Iterator

from components.lock import Lock, MemberShape, ReplicaShape

_CONTAINERS = ("containers", "initContainers", "sidecars")


def needed_secrets(lock: Lock) -> dict[tuple[str, str], set[str]]:
    """Return, by namespace and cluster, the names of the secrets that replicas there read.

    A cache's token is not among them: it has a copy of its own, which lives as long as the download.
    """
    needed: dict[tuple[str, str], set[str]] = {}
    for identity, _, shape in lock.replicas():
        needed.setdefault((identity.namespace, identity.cluster), set()).update(secrets_of(shape))
    return needed


def secrets_of(shape: ReplicaShape) -> set[str]:
    """Return the names of the secrets that the pods of a replica read: variables, volumes and pull secrets."""
    return {name for engine in shape.engines for member in engine.members for name in _of_member(member)}


def _of_member(member: MemberShape) -> Iterator[str]:
    spec = member.template.get("spec") or {}
    for secret in spec.get("imagePullSecrets") or ():
        yield secret["name"]
    for volume in spec.get("volumes") or ():
        if volume.get("secret"):
            yield volume["secret"]["secretName"]
    for container in (each for group in _CONTAINERS for each in spec.get(group) or ()):
        for variable in container.get("env") or ():
            reference = (variable.get("valueFrom") or {}).get("secretKeyRef")
            if reference:
                yield reference["name"]
