"""Conditions of deployments, under the predecessor's types and reasons, and true.

The predecessor calls a deployment scheduled when one replica of many is placed, and ready when those that are placed
are. Here both are measured by what is wanted; and wanting none is healthy, with a reason of its own.
"""

from dataclasses import dataclass
from enum import StrEnum

from automation.render.views import StatusConditionView
from automation.scheduling.existing import NamespacedName
from automation.scheduling.result import Schedule
from automation.scheduling.verdict import Code


class Type(StrEnum):
    """What a condition is about."""

    CACHE = "ModelCacheResolved"
    SCHEDULED = "ReplicasScheduled"
    READY = "ReplicasReady"


class Reason(StrEnum):
    """Why a condition is as it is."""

    CACHE_RESOLVED = "ModelCacheResolved"
    CACHE_NOT_FOUND = "ModelCacheNotFound"
    NO_CLUSTERS = "NoClusters"
    """No cluster matches its selector, or there is none."""
    INVALID_SELECTOR = "InvalidNodeSelector"
    """A selector cannot be evaluated on any device that it is about."""
    INSUFFICIENT_CAPACITY = "InsufficientCapacity"
    """Not all replicas have a place."""
    SCHEDULING = "Scheduling"
    """All have one, and a run has to bring what there is to it."""
    CREATED = "ReplicasCreated"
    """As many are there as are wanted."""
    NONE_SCHEDULED = "NoReplicasScheduled"
    STARTING = "ModelStarting"
    ALL_READY = "AllReplicasReady"
    SCALED_TO_ZERO = "ScaledToZero"
    """None is wanted and none is there."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One deployment as it stands: counts, the name of its cache, whether that is there, and why not all serve."""

    key: NamespacedName
    wanted: int
    placed: int
    serving: int
    cache: str = ""
    cache_found: bool = True
    complaint: str = ""


def conditions(each: Standing, schedule: Schedule | None) -> tuple[StatusConditionView, ...]:
    """Return the conditions of a deployment; ``schedule`` is what the scheduler says now, None where nobody asked."""
    found = [_scheduled(each, schedule), _ready(each)]
    if each.cache and each.cache_found:
        found.insert(0, _condition(Type.CACHE, Reason.CACHE_RESOLVED))
    elif each.cache:
        message = f"ModelCache {each.cache} not found; its replicas stay as they are"
        found.insert(0, _condition(Type.CACHE, Reason.CACHE_NOT_FOUND, message))
    return tuple(found)


def _scheduled(each: Standing, schedule: Schedule | None) -> StatusConditionView:
    counts = f"{each.placed} of {each.wanted} replicas scheduled"
    if each.placed == each.wanted:
        reason = Reason.CREATED if each.wanted else Reason.SCALED_TO_ZERO
        return _condition(Type.SCHEDULED, reason, counts if each.wanted else "")
    trace = schedule.trace.get(each.key) if schedule is not None else None
    if schedule is None or trace is None or each.placed > each.wanted or trace.placed >= each.wanted:
        return _condition(Type.SCHEDULED, Reason.SCHEDULING, each.complaint or counts)
    if any((wrong.namespace, wrong.deployment) == each.key for wrong in schedule.wrong_selectors):
        reason = Reason.INVALID_SELECTOR
    elif all(verdict.code is Code.DESELECTED for verdict in trace.verdicts):
        reason = Reason.NO_CLUSTERS
    else:
        reason = Reason.INSUFFICIENT_CAPACITY
    return _condition(Type.SCHEDULED, reason, each.complaint or counts)


def _ready(each: Standing) -> StatusConditionView:
    counts = f"{each.serving} of {each.wanted} ready"
    if each.wanted and each.serving >= each.wanted:
        return _condition(Type.READY, Reason.ALL_READY, counts)
    if not each.wanted and not each.placed:
        return _condition(Type.READY, Reason.SCALED_TO_ZERO)
    if not each.placed:
        return _condition(Type.READY, Reason.NONE_SCHEDULED)
    if not each.wanted:
        return _condition(Type.READY, Reason.SCALED_TO_ZERO, f"{each.placed} on their way out")
    return _condition(Type.READY, Reason.STARTING, counts)


def _condition(kind: Type, reason: Reason, message: str = "") -> StatusConditionView:
    return StatusConditionView(
        type=kind, status="True" if reason in _HEALTHY else "False", reason=reason, message=message
    )


_HEALTHY = frozenset({Reason.CACHE_RESOLVED, Reason.CREATED, Reason.ALL_READY, Reason.SCALED_TO_ZERO})
"""The reasons for which a condition holds."""
