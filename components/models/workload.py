"""The workload of an engine: a Deployment for a single pod, a LeaderWorkerSet for a gang.

Its pods hold whole devices, so an update never starts a pod before another has gone: with every device of a pool in
use the extra one could not bind and the update would stand still. Availability across an update is the fleet's matter
(a second replica), not the workload's.
"""

from collections.abc import Mapping
from typing import Any

from components.labels import Label
from components.lock import EngineShape
from components.models.manifest import Manifest, Owner
from components.naming import bounded_name, workload_name

_GANG_NAME_LIMIT = 49
"""A gang's controller makes stateful sets named after it and the group (``-63`` at most), and a stateful set's pods
cannot be made when its name is longer than 52 characters."""

_READY_WAIT = {"pulumi.com/waitFor": "condition=Available"}
"""The engine's provider knows when a Deployment is ready, but not when a custom object is."""

START_MINUTES = 30
"""How long an engine may take to serve when it fetches its own weights."""


def start_minutes(cache_gib: int) -> int:
    """Return how long to wait for an engine that reads ``cache_gib`` of weights from a shared volume.

    The slowest rate seen in public reports is 509 GiB in about 45 minutes from EFS without a streaming loader.
    """
    return max(START_MINUTES, 20 + -(-cache_gib // 10))


def workload_role(engine: str) -> str:
    """Return the role, within the replica, of an engine's workload."""
    return f"workload-{engine}"


def engine_workload_name(replica: str, engine: EngineShape) -> str:
    """Return the name of an engine's workload on its cluster."""
    name = workload_name(replica, engine.name)
    return bounded_name(name, limit=_GANG_NAME_LIMIT) if is_gang(engine) else name


def is_gang(engine: EngineShape) -> bool:
    """Whether the engine is more than one pod that start and end together."""
    return all(member.role != "Standalone" for member in engine.members)


def workload(
    owner: Owner,
    *,
    replica: str,
    engine: EngineShape,
    pods: Mapping[str, Mapping[str, Any]],
    after: tuple[str, ...],
    minutes: int,
) -> Manifest:
    """Return the workload of an engine from the pod templates of its members, by role."""
    name = engine_workload_name(replica, engine)
    if is_gang(engine):
        body = _leader_worker_set(owner, name=name, engine=engine, pods=pods)
    else:
        body = _deployment(owner, name=name, engine=engine, pods=pods, minutes=minutes)
    return Manifest(workload_role(engine.name), body, after=after, minutes=minutes)


def _deployment(
    owner: Owner, *, name: str, engine: EngineShape, pods: Mapping[str, Mapping[str, Any]], minutes: int
) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": owner.metadata(name),
        "spec": {
            "replicas": engine.copies,
            "selector": {"matchLabels": {Label.WORKLOAD.value: name}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
            "progressDeadlineSeconds": minutes * 60,
            "template": dict(pods["Standalone"]),
        },
    }


def _leader_worker_set(
    owner: Owner, *, name: str, engine: EngineShape, pods: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    followers = sum(member.pods for member in engine.members if member.role == "Worker")
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": owner.metadata(name, annotations=_READY_WAIT),
        "spec": {
            "replicas": engine.copies,
            "leaderWorkerTemplate": {
                "size": 1 + followers,
                "leaderTemplate": dict(pods["Leader"]),
                "workerTemplate": dict(pods["Worker"]),
            },
        },
    }
