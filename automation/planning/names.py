"""Names of endpoints outside the fleet that replicas bear already.

A replica is reached under its own name, among the endpoints of its namespace. One that is new takes another name than
those of the manifests; one that exists keeps its own, so an endpoint that comes later must yield.
"""

from automation.scheduling.existing import Existing
from components.api.fleet import Fleet
from components.errors import Problem


def names_in_use(existing: Existing, fleet: Fleet) -> tuple[Problem, ...]:
    """Return one problem for every ModelEndpoint that is named like a replica of its namespace."""
    problems = []
    for identity, replica in sorted(existing.replicas.items()):
        endpoint = fleet.endpoints.get((identity.namespace, replica.entry.name))
        cluster = fleet.clusters.get(identity.cluster)
        if endpoint is None or (cluster is not None and cluster.spec.lost):
            continue
        place = fleet.place(endpoint.kind, endpoint.name, namespace=identity.namespace)
        problems.append(
            Problem(
                "name-in-use",
                f"ModelEndpoint {identity.namespace}/{endpoint.name} bears the name of replica {identity}, which"
                " exists: services could not tell them apart",
                place.file,
                place.line,
                path="metadata.name",
                help="give the endpoint another name",
            )
        )
    return tuple(problems)
