"""Steps: from what exists to the target, so that nothing is taken away before its successor serves.

Each step is a pure function of state and target. ``next_step`` makes the one that the driver applies now, from the
state that the step before it really left; ``steps`` shows all three as if each succeeded. A step that would change
nothing is none.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from automation.planning.arrive import arrived
from automation.planning.build_step import build
from automation.planning.doors import carry, doors_after
from automation.planning.hold import hold, withheld_pools
from automation.planning.parts import Parts
from automation.planning.removed import clusters_gone
from automation.planning.retire_step import retire
from automation.planning.shift_step import shift
from automation.planning.step import Step, StepKind, StepSummary
from automation.scheduling.changes import NO_CHANGES, PlatformChanges
from automation.scheduling.existing import Existing, NamespacedName
from components.api.fleet import Fleet
from components.lock import Lock, Phase, ReplicaEntry, ServiceEntry

_MAKE: dict[StepKind, Callable[[Existing, Parts, Parts, Fleet], Parts]] = {
    StepKind.BUILD: build,
    StepKind.SHIFT: shift,
    StepKind.RETIRE: retire,
}


def next_step(
    kind: StepKind, existing: Existing, target: Lock, fleet: Fleet, *, changes: PlatformChanges = NO_CHANGES
) -> Step | None:
    """Return the step of one kind from what exists now; None when it would change nothing.

    ``changes`` is what preview 1 said. It can make a build step necessary that no lock asks for, and it names what must
    be kept out of an update while replicas still run on it.
    """
    wanted = Parts.of_lock(target)
    before = Parts.of_existing(existing, fleet)
    after = _MAKE[kind](existing, before, wanted, fleet)
    retried = _retried(existing, wanted) if kind is StepKind.BUILD else 0
    forced = kind is StepKind.BUILD and (retried or existing.pending or changes.any)
    # What a retirement takes away may be half gone already; nothing is made again for its sake.
    even = carry(existing, after, doors_after(existing, before, wanted) & after.doors)
    going = kind is StepKind.RETIRE and clusters_gone(existing, fleet)
    if not forced and even and not going and after == Parts.of_existing(existing, fleet, marked=False):
        return None
    lock = after.lock(fleet, target.platform)
    return Step(
        kind=kind,
        lock=hold(lock, existing, changes),
        continue_on_error=kind.continue_on_error,
        summary=replace(
            _summary(existing, before, after, wanted, kind),
            retried=retried,
            gateways_moved=changes.moved if kind is StepKind.BUILD else 0,
            clusters_upgraded=changes.upgraded if kind is StepKind.BUILD else 0,
        ),
        withheld=_withheld(lock, changes),
    )


def informing_step(
    existing: Existing,
    target: Lock,
    fleet: Fleet,
    *,
    changes: PlatformChanges = NO_CHANGES,
    staged: bool = False,
    gateways: bool = False,
) -> Step:
    """Return a step of everything as it exists, for stacks that were told something new and have nothing else to do.

    A cache that is ``staged`` needs its download token no more; that is the retirement's business. The build may have
    given ``gateways`` other addresses, to which nothing was led anew where nothing was shifted.
    """
    kind = StepKind.RETIRE
    lock = Parts.of_existing(existing, fleet).lock(fleet, target.platform)
    return Step(
        kind,
        hold(lock, existing, changes),
        continue_on_error=kind.continue_on_error,
        summary=StepSummary(informed=staged, rerouted=gateways),
        withheld=_withheld(lock, changes),
    )


def steps(existing: Existing, target: Lock, fleet: Fleet, *, changes: PlatformChanges = NO_CHANGES) -> tuple[Step, ...]:
    """Return the steps from what exists to the target, each from what the one before it leaves if all goes well."""
    found: list[Step] = []
    for kind in StepKind:
        step = next_step(kind, existing, target, fleet, changes=changes)
        if step is not None:
            found.append(step)
            here = existing
            existing = arrived(here, step.lock)
            if kind is not StepKind.RETIRE:
                kept = {name: here.clusters[name] for name in clusters_gone(here, fleet)}
                existing = replace(existing, clusters={**existing.clusters, **kept})
    return tuple(found)


def _retried(existing: Existing, wanted: Parts) -> int:
    """Count what is wanted, exists, and is not in order: the update tries it again."""
    parts = [
        *(each.ready for identity, each in existing.replicas.items() if identity in wanted.replicas),
        *(each.ready for identity, each in existing.caches.items() if identity in wanted.caches),
        *(each.ready for name, each in existing.clusters.items() if name in wanted.clusters),
        *(each.ready for name, each in existing.front_doors.items() if name in wanted.doors),
        *(each.ready for key, each in existing.namespaces.items() if key in wanted.namespaces),
    ]
    return parts.count(False)


def _withheld(lock: Lock, changes: PlatformChanges) -> tuple[str, ...]:
    held = {identity.cluster for identity, _, _ in lock.replicas() if changes.cluster(identity.cluster).goes_away}
    held |= {f"{cluster}/{pool}" for cluster, pool in withheld_pools(lock, changes)}
    return tuple(sorted(held))


def _summary(existing: Existing, before: Parts, after: Parts, wanted: Parts, kind: StepKind) -> StepSummary:
    phases = {
        identity: (before.replicas[identity][0].phase, entry.phase)
        for identity, (entry, _) in after.replicas.items()
        if identity in before.replicas
    }
    changed = sum(
        _contents(before.replicas[identity][0]) != _contents(after.replicas[identity][0]) for identity in phases
    )
    kept_back = [
        identity
        for identity, (entry, _) in after.replicas.items()
        if identity not in wanted.replicas and (entry.phase is Phase.SERVING or kind is StepKind.RETIRE)
    ]
    return StepSummary(
        created=len(after.replicas.keys() - before.replicas.keys()),
        changed=changed,
        served=sum(old is not new and new is Phase.SERVING for old, new in phases.values()),
        drained=sum(old is not new and new is Phase.DRAINING for old, new in phases.values()),
        retired=len(existing.replicas.keys() - after.replicas.keys()),
        kept_back=len(kept_back) if kind is not StepKind.BUILD else 0,
        caches_staged=len(after.caches.keys() - before.caches.keys()),
        caches_dropped=len(existing.caches.keys() - after.caches.keys()),
        services=_differences(before.services, after.services),
        front_doors_added=len(after.doors - existing.front_doors.keys()),
        front_doors_removed=len(existing.front_doors.keys() - after.doors),
        front_doors_kept_back=len(after.doors - wanted.doors) if kind is StepKind.RETIRE else 0,
        clusters_built=len(after.clusters.keys() - existing.clusters.keys()),
        clusters_removed=len(existing.clusters.keys() - after.clusters.keys()) if kind is StepKind.RETIRE else 0,
    )


def _contents(entry: ReplicaEntry) -> ReplicaEntry:
    return entry.model_copy(update={"phase": Phase.SERVING, "stays": None})


def _differences(before: Mapping[NamespacedName, ServiceEntry], after: Mapping[NamespacedName, ServiceEntry]) -> int:
    return sum(before.get(key) != after.get(key) for key in {*before, *after})
