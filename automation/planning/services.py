"""Services: which endpoints each one leads to, and with what weights.

A service chooses endpoints by labels, in its own namespace: those of replicas by the user's labels and the ones that
Berth writes, external ones by the labels of their manifest. An endpoint that several groups choose is the first's.
"""

from collections.abc import Iterator, Mapping

from components.api.fleet import Fleet
from components.api.model_service import ModelService
from components.frontdoor.weights import weights
from components.labels import Label
from components.lock import Backend, ReplicaEntry, ServiceEntry
from components.naming import ReplicaId

Routable = Mapping[ReplicaId, ReplicaEntry]
"""Replicas that may get requests."""


def service_entries(
    fleet: Fleet, routable: Routable, fallback: Routable | None = None
) -> Iterator[tuple[tuple[str, str], ServiceEntry]]:
    """Yield every service of the manifests with its backends, by namespace and name.

    ``fallback`` replicas are used only for a group that would be empty without them.
    """
    for key, manifest in sorted(fleet.services.items()):
        yield key, ServiceEntry(name=manifest.name, backends=_backends(fleet, manifest, routable, fallback or {}))


def _backends(fleet: Fleet, service: ModelService, routable: Routable, fallback: Routable) -> tuple[Backend, ...]:
    groups: list[tuple[int, list[str]]] = []
    for group in service.spec.endpoints:
        wanted = group.selector.match_labels
        external = [
            name
            for (namespace, name), endpoint in sorted(fleet.endpoints.items())
            if namespace == service.namespace and _carries(endpoint.metadata.labels, wanted)
        ]
        own = _chosen(routable, service.namespace, wanted)
        if not own and not external:
            own = _chosen(fallback, service.namespace, wanted)
        groups.append((group.weight, [*own, *external]))
    return tuple(Backend(endpoint=endpoint, weight=weight) for endpoint, weight in weights(groups))


def _chosen(replicas: Routable, namespace: str, wanted: Mapping[str, str]) -> list[str]:
    return [
        entry.name
        for identity, entry in sorted(replicas.items())
        if identity.namespace == namespace and _carries(endpoint_labels(identity, entry), wanted)
    ]


def endpoint_labels(replica: ReplicaId, entry: ReplicaEntry) -> dict[str, str]:
    """Return the labels of a replica's endpoint: the user's, and those that Berth writes and that win."""
    return {
        **entry.labels,
        Label.DEPLOYMENT.value: replica.deployment,
        Label.CLUSTER.value: replica.cluster,
        Label.REPLICA_INDEX.value: str(replica.index),
    }


def _carries(labels: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    return all(labels.get(key) == value for key, value in wanted.items())
