"""The predecessor's scheduler, written down a second time from its rules: what ``strategy: Compatible`` is held to.

It shares no code with the scheduler: node counting, matching and the order of choices are spelled out in the plainest
way. What Berth does otherwise under every strategy is in it: namespaces are kept apart, a claimable device goes before
a synthetic one, spot nodes ask for consent, a replica that must leave and has nowhere to go stays, and what leaves
holds its nodes until it has left.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from automation.scheduling.existing import ExistingReplica
from automation.scheduling.snapshot import Cluster, ClusterState, Deployment, Pool, Purchase, Snapshot
from components.cel.selector import Outcome
from components.checks.facts import Taint, Toleration
from components.lock import EngineShape, MemberShape
from components.naming import ReplicaId
from tests.unit.scheduling.builder import evaluate

Nodes = Counter[tuple[str, str]]
"""Nodes that are taken, by cluster and pool."""
Claims = tuple[str, ...]
"""The DeviceClass of every request that claims, in order."""
Place = tuple[tuple[str, tuple[Claims, ...]], ...]
"""For every engine its pool and what its members claim."""


@dataclass(frozen=True)
class Answer:
    """Who stays, who is new and where, who is too many, and how many must leave and cannot."""

    stay: frozenset[ReplicaId]
    new: dict[ReplicaId, Place]
    too_many: frozenset[ReplicaId]
    stranded: int


def predecessor(snapshot: Snapshot) -> Answer:
    """Schedule one deployment after the other, by namespace and name."""
    taken: Nodes = Counter()
    for replica in snapshot.replicas:
        _charge_live(taken, replica)
    stay, too_many = set[ReplicaId](), set[ReplicaId]()
    new: dict[ReplicaId, Place] = {}
    stranded = 0
    for wanted in sorted(snapshot.deployments, key=lambda each: (each.namespace, each.name)):
        mine = {one.id for one in snapshot.replicas if (one.id.namespace, one.id.deployment) == wanted.key}
        kept = {one for one in mine if _may_stay(one, wanted, snapshot)}
        unwelcome = len(mine) - len(kept)
        while len(kept) > wanted.replicas:
            crowd = Counter(one.cluster for one in kept)
            last = max(kept, key=lambda one: (crowd[one.cluster], one.cluster, one.index))
            kept.remove(last)
            too_many.add(last)
        lacking = wanted.replicas - len(kept)
        found = _fill(wanted, kept, mine, snapshot.clusters, taken)
        stay |= kept
        new |= found
        stranded += min(unwelcome, lacking - len(found))
    return Answer(frozenset(stay), new, frozenset(too_many), stranded)


def _may_stay(one: ReplicaId, wanted: Deployment, snapshot: Snapshot) -> bool:
    """Say whether a replica's cluster is still a candidate that does not drain it; nothing else makes it leave."""
    here = next((each for each in snapshot.clusters if each.name == one.cluster), None)
    if here is None or here.state in {ClusterState.GOING_AWAY, ClusterState.LOST} or not _selected(here, wanted):
        return False
    return not any(taint.effect == "NoExecute" and not _tolerated(taint, wanted) for taint in here.taints)


def _fill(
    wanted: Deployment,
    kept: Collection[ReplicaId],
    live: Collection[ReplicaId],
    clusters: Collection[Cluster],
    taken: Nodes,
) -> dict[ReplicaId, Place]:
    """Place one after the other on the cluster with fewest own replicas, then by name; charge what it takes."""
    own = Counter(one.cluster for one in kept)
    used = {(one.cluster, one.index) for one in live}
    new: dict[ReplicaId, Place] = {}
    for _ in range(wanted.replicas - len(kept)):
        ways = {}
        for cluster in clusters:
            takes = cluster.state in {ClusterState.READY, ClusterState.PLANNED}
            if takes and _selected(cluster, wanted) and all(_tolerated(taint, wanted) for taint in cluster.taints):
                ways[cluster.name] = _engines(wanted, cluster, taken)
        fitting = [name for name, way in ways.items() if way is not None]
        if not fitting:
            break
        chosen = min(fitting, key=lambda name: (own[name], name))
        index = next(index for index in range(len(used) + 1) if (chosen, index) not in used)
        way = ways[chosen]
        assert way is not None
        new[ReplicaId(wanted.namespace, wanted.name, chosen, index)] = way
        own[chosen] += 1
        used.add((chosen, index))
        for engine, (pool, claims) in zip(wanted.shape.engines, way, strict=True):
            taken[chosen, pool] += _cost(engine, claims)
    return new


def _engines(wanted: Deployment, cluster: Cluster, taken: Nodes) -> Place | None:
    """Put every engine on the first pool that can host the whole of it; None when one finds none."""
    trial = taken.copy()
    way = []
    for engine in wanted.shape.engines:
        for pool in cluster.pools:
            claims = _hosted(engine, pool, cluster) if _open(pool, wanted) else None
            if claims is None or trial[cluster.name, pool.name] + _cost(engine, claims) > pool.maximum:
                continue
            trial[cluster.name, pool.name] += _cost(engine, claims)
            way.append((pool.name, claims))
            break
        else:
            return None
    return tuple(way)


def _open(pool: Pool, wanted: Deployment) -> bool:
    return not pool.leaving and (wanted.spot or pool.purchase is not Purchase.SPOT)


def _hosted(engine: EngineShape, pool: Pool, cluster: Cluster) -> tuple[Claims, ...] | None:
    """Say what the members claim on a pool; None when one does not match, is stranded, or nobody claims."""
    claims = []
    for member in engine.members:
        here = _claims(member, pool)
        if here is None:
            return None
        elsewhere = any(_claims(member, other) for other in cluster.pools)
        if member.requests and not here and elsewhere:
            return None
        claims.append(here)
    return tuple(claims) if any(claims) else None


def _claims(member: MemberShape, pool: Pool) -> Claims | None:
    """Take devices request by request, each from the first kind that matches and has enough left."""
    left = [device.count for device in pool.devices]
    claims = []
    for request in member.requests:
        matching = [
            position
            for position, device in enumerate(pool.devices)
            if left[position] >= request.count
            and all(evaluate(selector, device)[0] is Outcome.MATCH for selector in request.selectors)
        ]
        matching.sort(key=lambda position: not pool.devices[position].claimable)
        if not matching:
            return None
        left[matching[0]] -= request.count
        if pool.devices[matching[0]].claimable:
            claims.append(pool.devices[matching[0]].device_class)
    return tuple(claims)


def _cost(engine: EngineShape, claims: tuple[Claims, ...]) -> int:
    """Count nodes: one for every pod that claims, whatever it claims."""
    return sum(member.pods * engine.copies for member, claimed in zip(engine.members, claims, strict=True) if claimed)


def _charge_live(taken: Nodes, replica: ExistingReplica) -> None:
    """Charge a live replica as it was stamped."""
    for engine, placed in zip(replica.shape.engines, replica.entry.placement, strict=True):
        for member, place in zip(engine.members, placed.members, strict=True):
            if place.claims:
                taken[replica.id.cluster, place.pool] += member.pods * engine.copies


def _selected(cluster: Cluster, wanted: Deployment) -> bool:
    return (wanted.selector or {}).items() <= dict(cluster.labels).items()


def _tolerated(taint: Taint, wanted: Deployment) -> bool:
    return any(_covers(each, taint) for each in wanted.tolerations)


def _covers(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect not in {"", taint.effect}:
        return False
    if toleration.operator == "Exists":
        return toleration.key in {"", taint.key}
    return (toleration.key, toleration.value) == (taint.key, taint.value)
