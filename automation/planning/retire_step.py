"""The retire step: what drains or never served and is not wanted goes, and after it what only it needed.

What still serves stays, wanted or not: a successor that failed has not taken its place. That holds for replicas and for
front doors, and for a replica that drains while a front door that could not be told still leads to it. Caches go when
no replica reads them, clusters when no replica is on them and they are no front door.
"""

from automation.planning.caches import copies_in_use
from automation.planning.doors import doors_after, led_to
from automation.planning.parts import Parts
from automation.scheduling.existing import Existing
from components.api.fleet import Fleet
from components.lock import Phase


def retire(existing: Existing, before: Parts, wanted: Parts, _: Fleet) -> Parts:
    """Return what the retire step makes of ``before``, the parts of ``existing``, on the way to ``wanted``."""
    led = led_to(existing, before.doors, wanted.services)
    replicas = {
        identity: (entry, shape)
        for identity, (entry, shape) in before.replicas.items()
        if identity in wanted.replicas or entry.phase is Phase.SERVING or (identity.namespace, entry.name) in led
    }
    read = {identity for identity, _ in copies_in_use(existing, {key: shape for key, (_, shape) in replicas.items()})}
    caches = {key: pair for key, pair in before.caches.items() if key in wanted.caches or key in read}
    doors = doors_after(existing, before, wanted)
    occupied = {identity.cluster for identity in replicas} | doors
    clusters = {name: entry for name, entry in before.clusters.items() if name in wanted.clusters or name in occupied}
    services = {key: entry for key, entry in before.services.items() if key in wanted.services and doors}
    endpoints = {key: entry for key, entry in before.endpoints.items() if key in wanted.endpoints and doors}
    used = {(identity.namespace, identity.cluster) for identity in replicas}
    used |= {(identity.namespace, identity.cluster) for identity in caches}
    # Endpoints of what still serves lie on the front doors, in namespaces that the target may no longer have there.
    routed = {identity.namespace for identity in replicas} | {key[0] for key in (*services, *endpoints)}
    used |= {(namespace, door) for namespace in routed for door in doors}
    return Parts(
        clusters=clusters,
        replicas=replicas,
        caches={key: pair for key, pair in caches.items() if key.cluster in clusters},
        services=services,
        endpoints=endpoints,
        namespaces={
            key: created
            for key, created in before.namespaces.items()
            if key[1] in clusters and (key in wanted.namespaces or key in used)
        },
        doors=doors,
    ).routed()
