"""Which searches in a real cloud find what no state knows, for the clusters of an environment.

A simulated cloud is searched by Berth itself. In a real one Berth only says what to look for: the tags are there, and
the command is exact.
"""

from collections.abc import Iterable, Mapping

from automation.engine.checkpoint import Checkpoint
from automation.engine.family import is_cluster
from components.api.environment import AwsProvider
from components.api.fleet import Fleet
from components.clusters.eks.identity import AMBIENT
from components.clusters.eks.search import Search, cluster_searches, environment_search


def searches(fleet: Fleet, checkpoints: Iterable[Checkpoint], *, simulated: bool) -> tuple[Search, ...]:
    """Return one search for every region and profile in which the environment has, or had, clusters; sorted."""
    if simulated:
        return ()
    places = {(region, _profile(fleet, name)) for name, region in _regions(fleet, checkpoints).items()}
    return tuple(environment_search(region, environment=fleet.name, profile=who) for region, who in sorted(places))


def searches_for(
    fleet: Fleet, checkpoint: Checkpoint, cluster: str, pools: Iterable[str], *, simulated: bool
) -> tuple[Search, ...]:
    """Return the searches for what is left of one cluster; none unless Berth made it, in a real cloud."""
    region = _regions(fleet, [checkpoint]).get(cluster)
    if simulated or not region:
        return ()
    return cluster_searches(
        region, environment=fleet.name, cluster=cluster, pools=pools, profile=_profile(fleet, cluster)
    )


def _regions(fleet: Fleet, checkpoints: Iterable[Checkpoint]) -> Mapping[str, str]:
    """Return the region of every cluster on EKS that the manifests have or a state knows."""
    regions = {
        resource.name: str(resource.inputs.get("region") or "")
        for checkpoint in checkpoints
        for resource in checkpoint
        if is_cluster(resource.type) and resource.inputs.get("source") == "EKS"
    }
    for name, cluster in fleet.clusters.items():
        if cluster.spec.cluster.eks is not None:
            regions[name] = cluster.spec.cluster.eks.region
    return {name: region for name, region in sorted(regions.items()) if region}


def _profile(fleet: Fleet, cluster: str) -> str:
    """Return the profile of the identity that builds a cluster; empty for the ambient one."""
    manifest = fleet.clusters.get(cluster)
    source = manifest.spec.cluster.eks if manifest else None
    credential = source.credentials.name if source else AMBIENT
    return fleet.environment.spec.providers.aws.get(credential, AwsProvider()).profile or ""
