"""The shift step: endpoints and weights, only to replicas that are ready in the state; what is replaced drains.

An old replica drains only as far as enough of the wanted ones serve: behind a successor that failed, its predecessor
keeps serving. The last replica of a deployment is never taken out of the routes for not being ready.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace

from automation.planning.parts import Parts, restarts
from automation.planning.services import service_entries
from automation.planning.target import external_endpoints
from automation.scheduling.existing import Existing, ExistingReplica, NamespacedName
from components.api.fleet import Fleet
from components.lock import Phase, ReplicaEntry, ServiceEntry
from components.naming import ReplicaId


def shift(existing: Existing, before: Parts, wanted: Parts, fleet: Fleet) -> Parts:
    """Return what the shift step makes of ``before``, the parts of ``existing``, on the way to ``wanted``."""
    closed = _closed(existing, before.doors)
    existing = _waiting(existing, closed)
    phases = _phases(existing, before, wanted)
    replicas = {
        identity: (_entry(before, wanted, identity).model_copy(update={"phase": phases[identity]}), shape)
        for identity, (_, shape) in before.replicas.items()
    }
    # Those that go and those that came have the same routes, so that clients may use either until the retirement.
    doors = before.doors
    if not doors:
        return replace(before, replicas=replicas, services={}, endpoints={})
    namespaces = {key: created for key, created in wanted.namespaces.items() if key[1] in doors} | dict(
        before.namespaces
    )
    external = {key: entry for key, entry in external_endpoints(fleet).items() if key[0] not in closed}
    after = replace(before, replicas=replicas, endpoints={**before.endpoints, **external}, namespaces=namespaces)
    services = {
        key: entry
        for key, entry in _services(existing, after, fleet).items()
        if key[0] not in closed or key in before.services
    }
    return replace(after, services=services).routed()


def _closed(existing: Existing, doors: Collection[str]) -> frozenset[str]:
    """Return the namespaces that a front door which answers should have, and could not make.

    No route in them can be made, and one that is tried would hold up everybody else's.
    """
    answering = {name for name in doors if name not in existing.front_doors or existing.front_doors[name].answers}
    return frozenset(
        each.namespace for each in existing.namespaces.values() if each.cluster in answering and not each.ready
    )


def _waiting(existing: Existing, closed: Collection[str]) -> Existing:
    """Return what exists, with replicas that cannot be reached yet taken as not ready."""
    replicas = {
        identity: replace(each, ready=False) if identity.namespace in closed and not each.routed else each
        for identity, each in existing.replicas.items()
    }
    return replace(existing, replicas=replicas)


def _entry(before: Parts, wanted: Parts, identity: ReplicaId) -> ReplicaEntry:
    """Return the wanted entry of a replica if its shape has arrived, else the one it has."""
    entry = before.replicas[identity][0]
    target = wanted.replicas.get(identity)
    return target[0] if target and not restarts(entry, target[0]) else entry


def _services(existing: Existing, after: Parts, fleet: Fleet) -> dict[NamespacedName, ServiceEntry]:
    """Lead services to what serves and is ready; one that is not wanted any more stays as it is until it is retired."""
    serving = {identity: entry for identity, (entry, _) in after.replicas.items() if entry.phase is Phase.SERVING}
    ready = {identity: entry for identity, entry in serving.items() if existing.replicas[identity].ready}
    return {**after.services, **dict(service_entries(fleet, ready, serving))}


def _phases(existing: Existing, before: Parts, wanted: Parts) -> dict[ReplicaId, Phase]:
    deployments: dict[NamespacedName, list[ExistingReplica]] = {}
    for identity in before.replicas:
        key = (identity.namespace, identity.deployment)
        deployments.setdefault(key, []).append(existing.replicas[identity])
    targets: dict[NamespacedName, list[ReplicaId]] = {}
    for identity in wanted.replicas:
        targets.setdefault((identity.namespace, identity.deployment), []).append(identity)
    phases: dict[ReplicaId, Phase] = {}
    for key, replicas in deployments.items():
        phases.update(_of_deployment(replicas, wanted, targets.get(key, [])))
    return phases


def _of_deployment(
    replicas: list[ExistingReplica], wanted: Parts, target: list[ReplicaId]
) -> Iterator[tuple[ReplicaId, Phase]]:
    """Yield the phases of one deployment's replicas; ``target`` are those that are wanted of it."""
    current = [each for each in replicas if _arrived(each, wanted)]
    olds = [each for each in replicas if not _arrived(each, wanted)]
    ready = {each.id for each in current if each.ready}
    lacking = {identity.cluster for identity in target if identity not in ready}
    needed = max(0, len(target) - len(ready))
    # Keep those that serve best: ready ones, beside a successor that is not there yet, then by identity.
    candidates = sorted(
        (each for each in olds if each.routed),
        key=lambda each: (not each.ready, each.entry.phase is Phase.DRAINING, each.id.cluster not in lacking, each.id),
    )
    kept = {each.id for each in candidates[:needed]}
    serving = ready | {each.id for each in olds if each.id in kept and each.ready}
    for each in current:
        last = not serving and each.entry.phase is Phase.SERVING and not each.ready
        yield each.id, Phase.SERVING if each.ready or last else Phase.STARTING
    for each in olds:
        if not each.routed:
            yield each.id, Phase.STARTING
        else:
            yield each.id, Phase.SERVING if each.id in kept else Phase.DRAINING


def _arrived(replica: ExistingReplica, wanted: Parts) -> bool:
    """Whether a live replica is the wanted one, in the wanted shape."""
    target = wanted.replicas.get(replica.id)
    return target is not None and not restarts(replica.entry, target[0])
