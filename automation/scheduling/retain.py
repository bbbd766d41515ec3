"""Retaining: what becomes of every live replica, before anything new is placed.

A replica stays unless a reason of the one table says otherwise, and a mistake is none of them. Identity includes the
namespace; the deployment's and the cache's selectors intersect; a replica whose cluster merely has a problem stays.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from automation.scheduling.existing import ExistingReplica
from automation.scheduling.filters import Filters
from automation.scheduling.hardware import Hardware
from automation.scheduling.hosting import Add
from automation.scheduling.matching import Match, Matcher, requests_of
from automation.scheduling.patterns import Demand
from automation.scheduling.reason import Reason
from automation.scheduling.resources import requested
from automation.scheduling.snapshot import ClusterState, Deployment
from automation.scheduling.work import serves
from components.checks.taints import untolerated
from components.lock import EngineShape, MemberPlacement, MemberShape
from components.naming import ReplicaId

WILLING = frozenset({Reason.REPINNED, Reason.SCALE_UP_REFUSED})
"""Reasons to leave a place that is worse than another, and no reason to lack one."""

MOVING = frozenset(
    {
        Reason.CLUSTER_LEAVES,
        Reason.DRAINED,
        Reason.DESELECTED,
        Reason.POOL_LEAVES,
        Reason.POOL_SHRINKS,
        *WILLING,
        Reason.UNMATCHED,
    },
)
"""Reasons to leave a place as soon as there is another."""

OUTDATED = frozenset({Reason.EDITED, Reason.RECLAIMED})
"""Reasons to be replaced where it is."""


@dataclass(frozen=True, slots=True)
class _Standing:
    """What a replica's shape and placement mean on its cluster as it is now."""

    adds: tuple[Add, ...]
    pools: tuple[int, ...]
    """The pools it is pinned to, by position; -1 for one that the cluster does not have."""
    reason: Reason
    """KEPT, UNMATCHED or RECLAIMED: whether its own selectors still lead to its claims."""
    uncounted: frozenset[int]
    """The pools that no longer have a DeviceClass that it claims, so that its pods cannot be counted there."""


class Judge:
    """Judges the live replicas of one snapshot."""

    def __init__(self, filters: Filters, matcher: Matcher) -> None:
        self._filters = filters
        self._matcher = matcher
        self.excess: frozenset[ReplicaId] = frozenset()
        """Replicas that do not fit what their pool is to become; ``shrink`` finds them."""
        self.starved: frozenset[ReplicaId] = frozenset()
        """Replicas that never served and wait for nodes that were refused; ``starved`` finds them."""
        self.stuck: frozenset[int] = frozenset()
        """Clusters (positions) that have not been ready for too long."""
        self._standings: dict[ReplicaId, _Standing] = {}

    def judge(self, replica: ExistingReplica, deployment: Deployment) -> Reason:
        """Return KEPT, or the first reason why ``replica`` is to be forgotten, to move, or to be replaced."""
        return next(self._reasons(replica, deployment), Reason.KEPT)

    def adds(self, replica: ExistingReplica, position: int) -> tuple[Add, ...]:
        """Return the pods of a live replica, at its own shape, on the pools it is pinned to.

        A pool that the cluster no longer has is charged nothing: pods for it cannot be scheduled.
        """
        return self._standing(replica, position).adds

    def uncounted(self, replica: ExistingReplica, position: int) -> frozenset[int]:
        """Return the pools on which pods of a live replica claim from a DeviceClass that is not there any more."""
        return self._standing(replica, position).uncounted

    def _reasons(self, replica: ExistingReplica, deployment: Deployment) -> Iterator[Reason]:
        position = self._filters.position.get(replica.id.cluster)
        if position is None or self._filters.clusters[position].state is ClusterState.LOST:
            yield Reason.CLUSTER_LOST
            return
        cluster = self._filters.clusters[position]
        if cluster.state is ClusterState.GOING_AWAY:
            yield Reason.CLUSTER_LEAVES
        if cluster.taints:
            repelled = untolerated(cluster.taints, deployment.tolerations)
            if any(taint.effect == "NoExecute" for taint in repelled):
                yield Reason.DRAINED
        selected = self._filters.selected(deployment.selector)
        if deployment.cache is not None:
            selected &= self._filters.selected(deployment.cache.selector)
        if not selected >> position & 1:
            yield Reason.DESELECTED
        standing = self._standing(replica, position)
        yield from self._of_place(replica, position, standing)
        if replica.entry.shape != deployment.digest:
            yield Reason.EDITED
        yield standing.reason

    def _of_place(self, replica: ExistingReplica, position: int, standing: _Standing) -> Iterator[Reason]:
        pools = self._filters.clusters[position].pools
        if any(pool < 0 or pools[pool].leaving for pool in standing.pools):
            yield Reason.POOL_LEAVES
        if replica.id in self.excess:
            yield Reason.POOL_SHRINKS
        if position in self.stuck:
            yield Reason.REPINNED
        if replica.id in self.starved:
            yield Reason.SCALE_UP_REFUSED

    def _standing(self, replica: ExistingReplica, position: int) -> _Standing:
        known = self._standings.get(replica.id)
        if known is None:
            known = self._standings[replica.id] = self._look(replica, position)
        return known

    def _look(self, replica: ExistingReplica, position: int) -> _Standing:
        numbers = {pool.name: number for number, pool in enumerate(self._filters.clusters[position].pools)}
        adds: list[Add] = []
        pools: list[int] = []
        reasons = {Reason.KEPT}
        uncounted: set[int] = set()
        for engine, member, place in _members(replica):
            pool = numbers.get(place.pool, -1)
            pools.append(pool)
            if pool < 0:
                continue
            hardware = self._filters.hardware[position][pool]
            # Its cluster has taken its selectors, whatever is known of the cluster's version.
            match = self._matcher.match(requests_of(member), hardware, any_minor=True)
            if isinstance(match, Match) and match.claims == place.claims:
                demand = match.demand
            else:
                demand = _claimed(member, place, hardware)
                if {claim.device_class for claim in place.claims} - {name for name, _ in hardware.classes}:
                    uncounted.add(pool)
                reasons.add(Reason.RECLAIMED if isinstance(match, Match) else Reason.UNMATCHED)
            if hardware.resources:  # a pod that requests more than a node is said to have runs nevertheless
                demand = hardware.beside(demand, requested(member))
            if demand is not None:
                adds.append((pool, demand, member.pods * engine.copies))
        reason = next(each for each in (Reason.UNMATCHED, Reason.RECLAIMED, Reason.KEPT) if each in reasons)
        return _Standing(tuple(adds), tuple(pools), reason, frozenset(uncounted))


def _claimed(member: MemberShape, place: MemberPlacement, hardware: Hardware) -> Demand | None:
    """Count a pod's claims in full against all kinds of their DeviceClasses: its pool's devices were edited since."""
    kinds = dict(hardware.classes)
    counts = {request.name: request.count for request in member.requests}
    takings = [
        (counts.get(claim.request, 1), frozenset(kinds[claim.device_class]))
        for claim in place.claims
        if claim.device_class in kinds
    ]
    return hardware.demand(takings) if takings else None


def scale_down_order(replicas: Iterable[ExistingReplica], *, by_readiness: bool = True) -> list[ReplicaId]:
    """Return replicas in the order in which scaling down takes them.

    Those that serve nobody come first, unless ``by_readiness`` is off as the predecessor has it. Among equals, each
    time the one on the cluster with most of them, then the last cluster by name, then the highest index.
    """
    left = {replica.id: by_readiness and serves(replica) for replica in replicas}
    order: list[ReplicaId] = []
    while left:
        crowd = Counter(replica.cluster for replica in left)
        taken = max(left, key=lambda each: (not left[each], crowd[each.cluster], each.cluster, each.index))
        del left[taken]
        order.append(taken)
    return order


def _members(replica: ExistingReplica) -> Iterator[tuple[EngineShape, MemberShape, MemberPlacement]]:
    """Join the engines and members of a live replica's shape with their places."""
    placed = {engine.engine: engine.members for engine in replica.entry.placement}
    for engine in replica.shape.engines:
        for member, place in zip(engine.members, placed.get(engine.name, ()), strict=False):
            yield engine, member, place
