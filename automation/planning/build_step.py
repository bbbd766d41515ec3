"""The build step: the union of what exists and what is wanted. Nothing is deleted, and traffic stays as it is.

A new front door gets the routes that there are, and one that is not wanted any more keeps them. One exception to
traffic that stays: a replica that takes a new shape in place restarts its pods, so its services lead to the
others meanwhile, as far as there are others.
"""

from automation.planning.parts import Parts, restarts
from automation.scheduling.existing import Existing
from components.api.fleet import Fleet
from components.lock import Phase, ReplicaEntry, ServiceEntry
from components.naming import ReplicaId


def build(existing: Existing, before: Parts, wanted: Parts, _: Fleet) -> Parts:
    """Return what the build step makes of ``before``, the parts of ``existing``, on the way to ``wanted``."""
    replicas = dict(before.replicas)
    changed: set[tuple[str, str]] = set()
    for identity, (entry, shape) in wanted.replicas.items():
        replicas[identity] = (entry.model_copy(update={"phase": _phase(existing, identity, entry)}), shape)
        if identity in before.replicas and restarts(before.replicas[identity][0], entry):
            changed.add((identity.namespace, entry.name))
    services = {
        (namespace, name): _without(service, {name for space, name in changed if space == namespace})
        for (namespace, name), service in before.services.items()
    }
    return Parts(
        clusters={**before.clusters, **wanted.clusters},
        replicas=replicas,
        caches={**before.caches, **wanted.caches},
        services=services,
        endpoints=before.endpoints,
        namespaces={**before.namespaces, **wanted.namespaces},
        doors=before.doors | wanted.doors,
    ).routed()


def _phase(existing: Existing, identity: ReplicaId, entry: ReplicaEntry) -> Phase:
    known = existing.replicas.get(identity)
    if known is None:
        return Phase.STARTING
    if known.entry.phase is Phase.SERVING and restarts(known.entry, entry):
        return Phase.DRAINING
    return known.entry.phase


def _without(service: ServiceEntry, names: set[str]) -> ServiceEntry:
    left = tuple(backend for backend in service.backends if backend.endpoint not in names)
    return service.model_copy(update={"backends": left}) if left else service
