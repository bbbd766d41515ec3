"""What the state says of manifests, as the cells of a table: the columns that nobody can fill from a file."""

from collections.abc import Callable, Mapping

from automation.driver.deployments import deployment_views
from automation.driver.reading import Situation
from automation.render.listing import Cells


def state_cells(situation: Situation) -> Mapping[str, Cells]:
    """Return, by kind, the cells of every document; what does not exist yet has none."""
    kinds: Mapping[str, Callable[[Situation], Cells]] = {
        "InferenceCluster": _clusters,
        "InferenceGateway": _gateways,
        "ModelCache": _caches,
        "ModelDeployment": _deployments,
        "ModelService": _services,
    }
    return {kind: cells(situation) for kind, cells in kinds.items()}


def _clusters(situation: Situation) -> Cells:
    """Return whether each cluster is ready (unknown where it does not answer), and the address of its gateway."""
    return {
        ("", name): (
            "Unknown" if name in situation.unreachable else str(cluster.ready and not cluster.failure),
            cluster.gateway_address or "",
        )
        for name, cluster in situation.existing.clusters.items()
    }


def _gateways(situation: Situation) -> Cells:
    doors = {address for state in situation.checkpoints.values() for address in _texts(state.outputs.get("frontDoors"))}
    return {("", "default"): (", ".join(sorted(doors)),)} if doors else {}


def _caches(situation: Situation) -> Cells:
    """Return on how many of the clusters that have it each cache is staged."""
    counted: dict[tuple[str, str], list[bool]] = {}
    for identity, cache in situation.existing.caches.items():
        counted.setdefault((identity.namespace, identity.cache), []).append(cache.ready and not cache.failure)
    return {key: (f"{sum(staged)}/{len(staged)}",) for key, staged in counted.items()}


def _deployments(situation: Situation) -> Cells:
    """Return how many of the replicas that each deployment wants are serving."""
    views = deployment_views(situation.fleet, situation.existing, schedule=None, unreachable=situation.unreachable)
    cells: dict[tuple[str, str], tuple[str, ...]] = {}
    for view in views:
        namespace, _, name = view.deployment.partition("/")
        cells[namespace, name] = (f"{view.serving}/{view.wanted}",)
    return cells


def _services(situation: Situation) -> Cells:
    cells: dict[tuple[str, str], tuple[str, ...]] = {}
    for state in situation.checkpoints.values():
        for key, urls in (state.outputs.get("services") or {}).items():
            namespace, _, name = key.partition("/")
            cells[namespace, name] = (", ".join(_texts(urls)),)
    return cells


def _texts(values: object) -> list[str]:
    """Return the texts of an output; an address that is not known yet is none."""
    found = values.values() if isinstance(values, Mapping) else ()
    return sorted(value for value in found if isinstance(value, str) and value)
