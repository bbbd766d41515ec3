"""What the program refuses of the manifests alone: releases that do not fit, clouds that it cannot build on, and more.

It would say so one cluster after another, once the engine runs. Here all of it is found at once and needs no engine, so
that checking manifests and planning them say the same.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from components.api.advice import source_unsupported
from components.api.codes import Code
from components.api.fleet import Fleet
from components.api.inference_cluster import InferenceCluster
from components.clusters.eks.identity import AwsIdentity
from components.clusters.eks.subnets import subnets_of
from components.clusters.existing.identity import refuse_identity
from components.clusters.sources import SOURCES
from components.errors import ConfigError, Problem
from components.serving.catalogue import load_release
from stacks.pinpoint import pinpointed

_SOURCE = "spec.cluster.source"


def refusals(fleet: Fleet) -> tuple[Problem, ...]:
    """Return all that the program would refuse of a fleet's clusters, sorted, each at its place.

    A cluster that is lost is not built; one that is being removed is only while something has nowhere else to go.
    """
    found = [
        at_cluster(fleet, name, problem)
        for name, cluster in fleet.clusters.items()
        if not (cluster.spec.lost or cluster.spec.removing)
        for problem in _of_cluster(fleet, name)
    ]
    return tuple(sorted(dict.fromkeys(pinpointed(found)), key=lambda problem: problem.order))


def refuse_manifests(fleet: Fleet) -> None:
    """Raise ConfigError with all that the program would refuse of the manifests alone."""
    found = refusals(fleet)
    if found:
        raise ConfigError(found)


def at_cluster(fleet: Fleet, name: str, problem: Problem) -> Problem:
    """Return a problem with the place of a cluster's manifest, unless it has one."""
    return problem if problem.file else at_document(fleet, InferenceCluster.__name__, name, problem)


def at_document(fleet: Fleet, kind: str, name: str, problem: Problem) -> Problem:
    """Return a problem with the place of a document."""
    place = fleet.place(kind, name)
    return replace(problem, file=place.file, line=place.line)


def _of_cluster(fleet: Fleet, name: str) -> Iterator[Problem]:
    cluster = fleet.clusters[name]
    if cluster.source not in SOURCES:
        yield unsupported(name, cluster.source)
        return
    yield from _release(fleet, cluster)
    eks = cluster.spec.cluster.eks if cluster.source == "EKS" else None
    try:
        if eks is None:
            refuse_identity(fleet, name)
        else:
            AwsIdentity.of_cluster(fleet, name)
            network = subnets_of(eks)
            for index, pool in enumerate(cluster.spec.node_pools):
                network.in_zones(pool.zones, where=f"spec.nodePools[{index}].zones")
    except ConfigError as error:
        yield from error.problems


def _release(fleet: Fleet, cluster: InferenceCluster) -> Iterator[Problem]:
    asked = cluster.spec.release
    try:
        release = load_release(asked or fleet.environment.spec.release)
    except ConfigError as error:
        yield from _where_asked(fleet, cluster, error.problems)
        return
    unfit = release.unfit(cluster.name, cluster.kubernetes_version, block=cluster.source.lower())
    if unfit is not None:
        yield unfit


def _where_asked(fleet: Fleet, cluster: InferenceCluster, problems: Iterable[Problem]) -> Iterator[Problem]:
    """Yield problems of a release at the field that names it: the cluster's own, or the Environment's."""
    for problem in problems:
        kind, name = (
            (cluster.kind, cluster.name) if cluster.spec.release else (fleet.environment.kind, fleet.environment.name)
        )
        yield at_document(fleet, kind, name, problem)


def unsupported(cluster: str, source: str) -> Problem:
    """Return what is wrong with a cluster on a cloud that cannot be built on."""
    return Problem(
        Code.SOURCE_UNSUPPORTED,
        source_unsupported(cluster, source),
        path=_SOURCE,
        help=f"sources that can be built: {', '.join(sorted(SOURCES))}",
    )
