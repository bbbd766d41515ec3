"""Every object of one replica, as manifests: workloads with their claims, and the routing surface."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from components.errors import LockError
from components.lock import EnginePlacement, EngineShape, MemberPlacement, ReplicaShape
from components.models.claims import claim_templates
from components.models.disaggregation import disaggregated
from components.models.manifest import Manifest, Owner
from components.models.picker import disaggregated_config, picker, unified_config
from components.models.pods import PodPlace, engine_container, member_pod
from components.models.routing import block_size, inference_pool, replica_route
from components.models.workload import START_MINUTES, engine_workload_name, start_minutes, workload

DISAGGREGATED = "PrefillDecode"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaPlan:
    """What the objects of a replica are made from. ``name`` is the replica's name on its cluster."""

    name: str
    shape: ReplicaShape
    placement: tuple[EnginePlacement, ...]
    cache_claim: str = ""
    """The volume claim of the staged cache; empty without one."""
    cache_gib: int = 0


def replica_objects(owner: Owner, plan: ReplicaPlan) -> tuple[Manifest, ...]:
    """Return the objects of a replica, each after what it needs.

    Raises LockError when the placement is not one of this shape.
    """
    return (*_workloads(owner, plan), *_routing(owner, plan))


def _workloads(owner: Owner, plan: ReplicaPlan) -> Iterator[Manifest]:
    placed = {placement.engine: placement.members for placement in plan.placement}
    minutes = start_minutes(plan.cache_gib) if plan.cache_claim else START_MINUTES
    for engine in plan.shape.engines:
        members = placed.get(engine.name, ())
        if len(members) != len(engine.members):
            raise LockError(
                f"{owner.component}: engine {engine.name} has {len(engine.members)} members and is placed with"
                f" {len(members)}",
                help="berth plan",
            )
        yield from _engine(owner, plan, engine, members, minutes=minutes)


def _engine(
    owner: Owner, plan: ReplicaPlan, engine: EngineShape, places: tuple[MemberPlacement, ...], *, minutes: int
) -> Iterator[Manifest]:
    name = engine_workload_name(plan.name, engine)
    pods: dict[str, dict[str, Any]] = {}
    claims: list[Manifest] = []
    for member, place in zip(engine.members, places, strict=True):
        templates = claim_templates(owner, replica=plan.name, engine=engine, member=member, placement=place)
        claims += templates
        where = PodPlace(
            replica=plan.name,
            workload=name,
            pool=place.pool,
            claim_templates=tuple(template.name for template in templates),
            cache_claim=plan.cache_claim,
        )
        pod = member_pod(member, where)
        if plan.shape.serving_mode == DISAGGREGATED:
            pod = disaggregated(pod, engine=engine, role=member.role, replica=plan.name)
        pods[member.role] = pod
    yield from claims
    after = tuple(claim.role for claim in claims)
    yield workload(owner, replica=plan.name, engine=engine, pods=pods, after=after, minutes=minutes)


def _routing(owner: Owner, plan: ReplicaPlan) -> Iterator[Manifest]:
    split = plan.shape.serving_mode == DISAGGREGATED
    leading = next((engine for engine in plan.shape.engines if engine.phase == "Decode"), plan.shape.engines[0])
    serving = next(member for member in leading.members if member.role != "Worker")
    blocks = plan.shape.block_size or block_size(engine_container(serving.template))
    yield inference_pool(owner, replica=plan.name)
    yield from picker(
        owner, replica=plan.name, config=disaggregated_config(blocks) if split else unified_config(blocks)
    )
    yield replica_route(owner, replica=plan.name)
