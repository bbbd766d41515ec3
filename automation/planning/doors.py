"""Front doors that come and go: which ones a step has, and whether each has the routes that it should.

All front doors have the same routes, so a lock names them once. What exists may be otherwise: a run that was cut short
leaves one door ahead of the other, and that is a difference like any other, though each route is right somewhere.
"""

from collections.abc import Iterable
from dataclasses import replace

from automation.planning.parts import Parts
from automation.scheduling.existing import Existing, ExistingFrontDoor, NamespacedName
from components.lock import ExternalEndpoint, Phase
from components.naming import ReplicaId

Leads = ReplicaId | ExternalEndpoint
"""What an endpoint leads to."""


def doors_after(existing: Existing, before: Parts, wanted: Parts) -> frozenset[str]:
    """Return the front doors that a retirement leaves: those that are wanted, and others while none of them serves.

    A door that is not wanted goes only when one that is wanted is ready, answers, and has every route that there is;
    or when no door is wanted at all. One that was never made is not made here.
    """
    if wanted.doors and not any(
        serves(door, before) for name, door in existing.front_doors.items() if name in before.doors & wanted.doors
    ):
        return before.doors
    return before.doors & wanted.doors


def serves(door: ExistingFrontDoor, parts: Parts) -> bool:
    """Whether clients can be sent to ``door`` for everything that ``parts`` route."""
    return door.ready and door.answers and not _missing(door, parts)


def led_to(existing: Existing, doors: Iterable[str], services: Iterable[NamespacedName]) -> frozenset[NamespacedName]:
    """Return the endpoints that some services lead to, on some front doors, as these really are.

    A door on a cluster that does not answer is left alone and keeps its old routes, and it may well go on serving: only
    its API is known to be silent.
    """
    return frozenset(
        (namespace, backend.endpoint)
        for name in doors
        for namespace, service in services
        if name in existing.front_doors and (namespace, service) in existing.front_doors[name].services
        for backend in existing.front_doors[name].services[namespace, service].entry.backends
    )


def _missing(door: ExistingFrontDoor, parts: Parts) -> bool:
    return bool(parts.services.keys() - door.services.keys() or _needed(parts).keys() - door.endpoints.keys())


def carry(existing: Existing, parts: Parts, doors: Iterable[str]) -> bool:
    """Whether each of some front doors exists and has the services of ``parts``, and their endpoints.

    The endpoint of a replica that drains may be gone already: nothing leads to it.
    """
    services, every, needed = parts.services, _routes(parts).items(), _needed(parts).items()
    for name in doors:
        door = existing.front_doors.get(name)
        if door is None or services != {key: each.entry for key, each in door.services.items()}:
            return False
        there = {key: each.replica or each.external for key, each in door.endpoints.items()}.items()
        if not needed <= there <= every:
            return False
    return True


def _needed(parts: Parts) -> dict[NamespacedName, Leads]:
    serving = {key: each for key, each in parts.replicas.items() if each[0].phase is Phase.SERVING}
    return _routes(replace(parts, replicas=serving))


def _routes(parts: Parts) -> dict[NamespacedName, Leads]:
    """Return every endpoint of the parts, with what it leads to."""
    return {**parts.endpoints, **dict(parts.routed_replicas())}
