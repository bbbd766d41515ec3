"""Shapes: what a manifest's replica or cache is, fully resolved and addressed by its content.

A shape says what runs and not where: an edit that changes it makes a new replica beside the old one, an edit that does
not (labels, selectors of clusters, tolerations, the number of replicas) leaves what runs alone. So whatever goes in
here decides what a surge is; the table of edits is in ``docs/concepts/scheduling.md``.
"""

from components.api.fleet import Fleet
from components.api.model_cache import ModelCache
from components.api.model_deployment import Engine, Member, ModelDeployment
from components.errors import SchedulingError
from components.lock import (
    CacheShape,
    CacheUse,
    EngineShape,
    MemberShape,
    ReplicaShape,
    RequestShape,
    SecretUse,
    shape_digest,
)


def replica_shape(fleet: Fleet, deployment: ModelDeployment) -> ReplicaShape:
    """Return what one replica of ``deployment`` is.

    Raises SchedulingError when its cache has no manifest: without the cache's revision the shape is not known.
    """
    spec = deployment.spec.template.spec
    return ReplicaShape(
        serving_mode=spec.serving.mode,
        cache=_cache_use(fleet, deployment),
        engines=tuple(_engine(engine) for engine in spec.engines),
        block_size=spec.block_size,
    )


def cache_shape(cache: ModelCache) -> CacheShape:
    """Return what one staged copy of ``cache`` holds."""
    source = cache.spec.hugging_face
    if source is None:
        raise SchedulingError(f"cache {cache.namespace}/{cache.name} names no source that this Berth can stage")
    secret = source.auth_secret
    return CacheShape(
        source=cache.spec.source,
        repo=source.repo,
        revision=source.revision,
        size_gib=source.size_gib,
        secret=SecretUse(name=secret.name, key=secret.key) if secret else None,
        include=cache.spec.include,
        exclude=cache.spec.exclude,
        image=cache.spec.image,
    )


def _cache_use(fleet: Fleet, deployment: ModelDeployment) -> CacheUse | None:
    reference = deployment.spec.template.spec.model_cache_ref
    if reference is None:
        return None
    cache = fleet.caches.get((deployment.namespace, reference.name))
    if cache is None:
        raise SchedulingError(
            f"deployment {deployment.namespace}/{deployment.name} reads cache {reference.name}, which has no manifest",
            consequence="Its replicas stay as they are.",
        )
    return CacheUse(name=reference.name, shape=shape_digest(cache_shape(cache)))


def _engine(engine: Engine) -> EngineShape:
    members = tuple(_member(member) for member in engine.members)
    return EngineShape(name=engine.name, copies=engine.copies, phase=engine.phase, members=members)


def _member(member: Member) -> MemberShape:
    requests = member.node_selector.devices if member.node_selector else ()
    return MemberShape(
        role=member.role,
        pods=member.worker.nodes if member.role == "Worker" and member.worker else 1,
        requests=tuple(
            RequestShape(
                name=request.name,
                count=request.count,
                selectors=tuple(selector.cel for selector in request.selectors if selector.cel is not None),
            )
            for request in requests
        ),
        template=member.template.model_dump(mode="json", by_alias=True, exclude_none=True),
    )
