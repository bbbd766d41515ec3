"""Freed: which deployments are short of room that comes free only at the end of the run, when others retire.

A run builds before it retires, so what goes in it holds its room until everything else is done. Planning again finds
that room; nothing here says how much it is.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from automation.scheduling.existing import NamespacedName
from automation.scheduling.reason import Reason
from automation.scheduling.result import Schedule
from automation.scheduling.snapshot import Snapshot
from automation.scheduling.verdict import Code, Verdict
from components.naming import ReplicaId


@dataclass(frozen=True, slots=True)
class Freed:
    """A deployment that finds no room on ``clusters``, on each of which ``leaving`` give some back at the end."""

    deployment: NamespacedName
    clusters: tuple[str, ...]
    leaving: tuple[ReplicaId, ...]


def freed(schedule: Schedule, *, left: Collection[ReplicaId] | None = None) -> Iterator[Freed]:
    """Yield every deployment that another run may help; with ``left``, only by the room of replicas that are gone."""
    going: dict[str, list[ReplicaId]] = {}
    for each in schedule.leaving:
        if each.reason is not Reason.CLUSTER_LOST and (left is None or each.id in left):
            going.setdefault(each.id.cluster, []).append(each.id)
    for short in schedule.shortfalls if going else ():
        key = (short.namespace, short.deployment)
        trace = schedule.trace.get(key)
        full = tuple(name for name in sorted(going) if trace and _is_full(trace.verdicts.get(name)))
        if full:
            yield Freed(key, full, tuple(replica for cluster in full for replica in going[cluster]))


def renamed(snapshot: Snapshot, schedule: Schedule) -> Iterator[tuple[NamespacedName, NamespacedName]]:
    """Yield pairs of a removed deployment and a new one of its namespace and shape that gets no place beside it."""
    live = {(each.id.namespace, each.id.deployment) for each in snapshot.replicas}
    unplaced = {(each.namespace, each.deployment) for each in schedule.shortfalls if not each.placed} - live
    removed = {each.id for each in schedule.leaving if each.reason is Reason.REMOVED}
    shapes = {
        (each.id.namespace, each.entry.shape): each.id.deployment for each in snapshot.replicas if each.id in removed
    }
    for each in sorted(snapshot.deployments, key=lambda deployment: deployment.key):
        old = shapes.get((each.namespace, each.digest))
        if old is not None and each.key in unplaced:
            yield (each.namespace, old), each.key


def _is_full(verdict: Verdict | None) -> bool:
    """Whether room is all that is missing, on the cluster or on a pool of it."""
    if verdict is None:  # the cluster is gone with what runs on it
        return False
    if verdict.code is Code.TAKEN:
        return any(pool.code is Code.NO_ROOM for pool in verdict.pools)
    return verdict.code is Code.NO_ROOM
