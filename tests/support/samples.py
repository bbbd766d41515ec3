"""Small, complete values that many tests start from: shapes, entries, a cluster's outputs, an environment's files."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from components.lock import (
    CacheUse,
    Claim,
    EnginePlacement,
    EngineShape,
    MemberPlacement,
    MemberShape,
    Phase,
    ReplicaEntry,
    ReplicaShape,
    RequestShape,
    shape_digest,
)

GPU_CLASS = "gpu.nvidia.com"
BIG_ENOUGH = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('20Gi')) >= 0"


def template(**container: Any) -> dict[str, Any]:
    """Return a pod template as manifests give it; ``pod`` and ``metadata`` add to it, the rest to the container."""
    pod = container.pop("pod", {})
    metadata = container.pop("metadata", None)
    body: dict[str, Any] = {"spec": {"containers": [{"name": "engine", "image": "vllm:1", **container}], **pod}}
    return {"metadata": metadata, **body} if metadata else body


def member(role: str = "Standalone", *, gpus: int = 1, pods: int = 1, **container: Any) -> MemberShape:
    """Return a member that asks for ``gpus`` devices; 0 asks for none."""
    requests = (RequestShape(name="gpu", count=gpus, selectors=(BIG_ENOUGH,)),) if gpus else ()
    return MemberShape(role=role, pods=pods, requests=requests, template=template(**container))


def engine(name: str = "main", *members: MemberShape, copies: int = 1, phase: str | None = None) -> EngineShape:
    """Return an engine; without members it is one standalone pod with one GPU."""
    return EngineShape(name=name, copies=copies, phase=phase, members=members or (member(),))


def shape(*engines: EngineShape, cache: str = "", digest: str = "", mode: str = "Unified") -> ReplicaShape:
    """Return a replica's shape; ``cache`` names the cache it reads in the revision ``digest``."""
    use = CacheUse(name=cache, shape=digest) if cache else None
    return ReplicaShape(serving_mode=mode, cache=use, engines=engines or (engine(),))


def placement(*engines: EngineShape, pool: str = "l4") -> tuple[EnginePlacement, ...]:
    """Place every member of every engine on one pool, with all its requests claimed."""
    return tuple(
        EnginePlacement(
            engine=each.name,
            members=tuple(
                MemberPlacement(
                    pool=pool,
                    claims=tuple(Claim(request=request.name, device_class=GPU_CLASS) for request in one.requests),
                )
                for one in each.members
            ),
        )
        for each in engines
    )


def entry(
    what: ReplicaShape,
    *,
    deployment: str = "qwen",
    cluster: str = "eks-a",
    index: int = 0,
    name: str = "qwen-5ab63",
    phase: Phase = Phase.SERVING,
    labels: Mapping[str, str] = MappingProxyType({}),
    pool: str = "l4",
) -> ReplicaEntry:
    """Return a lock's entry of a replica, with its engines all on one pool."""
    return ReplicaEntry(
        deployment=deployment,
        cluster=cluster,
        index=index,
        name=name,
        phase=phase,
        shape=shape_digest(what),
        labels=dict(labels),
        placement=placement(*what.engines, pool=pool),
    )


def container_of(pod: Mapping[str, Any], name: str = "engine") -> Mapping[str, Any]:
    """Return a container of a pod."""
    containers: Sequence[Mapping[str, Any]] = pod["spec"]["containers"]
    return next(container for container in containers if container["name"] == name)
