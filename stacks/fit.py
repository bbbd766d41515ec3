"""Fit: whether a target lock was planned from these very manifests. PURE.

The program builds what the lock says. A lock of other manifests would build the past without saying so, so a target is
refused until it is planned again. Step locks are made in between and are not asked.
"""

from components.api.fleet import Fleet
from components.errors import LockError
from components.lock import Lock
from components.run_kind import RunKind


def misfits(fleet: Fleet, lock: Lock) -> tuple[str, ...]:
    """Return the parts of the lock that do not fit the manifests, as ``platform`` or a namespace's name."""
    parts = [] if lock.platform.digest == fleet.platform_digest() else ["platform"]
    for namespace in sorted({*fleet.namespaces, *lock.namespaces}):
        part = lock.namespaces.get(namespace)
        if part is None or part.digest != fleet.namespace_digest(namespace):
            parts.append(namespace)
    return tuple(parts)


def check_fit(fleet: Fleet, lock: Lock, *, simulated: bool, backed: bool = False) -> None:
    """Raise LockError, with the command that renews the lock, when it was not planned from these manifests.

    Nor may real clouds become what was planned for ``simulated`` ones, nor one kind of simulation what was planned for
    the other: that was planned around other live replicas. What was planned for real clouds may be rehearsed.
    """
    renew = f"berth plan -e {fleet.name}"
    planned, run = lock.platform.planned_for, RunKind.of(simulated=simulated, backed=backed)
    if planned not in {RunKind.REAL, run}:
        raise LockError(
            f"the lock was planned for {planned} clouds, and this run is a {run} one",
            consequence="Nothing was changed.",
            help=renew,
        )
    if lock.platform.environment != fleet.name:
        raise LockError(
            f"the lock is of environment {lock.platform.environment}, the manifests are of {fleet.name}",
            consequence="Nothing was changed.",
            help=renew,
        )
    parts = misfits(fleet, lock)
    if parts:
        files = ", ".join(f"lock/{part}.yaml" for part in parts)
        raise LockError(
            f"the manifests changed since the lock was planned: {files} no longer fit{'s' if len(parts) == 1 else ''}",
            consequence="Nothing was changed.",
            help=renew,
        )
