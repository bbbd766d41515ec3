"""Refuses versions of Kubernetes that no cloud would give to the clusters that exist.

By the state and by what was observed before the engine is asked, so that whoever only schedules is told the same; and
again by what the engine found when it looked at the real clusters, which may have been upgraded elsewhere meanwhile.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from automation.engine.versions import VersionChange
from automation.planning.upgrades import version_problems, version_problems_of
from automation.scheduling.build import options_of
from automation.scheduling.existing import Existing
from automation.scheduling.observation import Observation
from automation.scheduling.snapshot import Version
from components.api.fleet import Fleet
from components.errors import ConfigError


def refuse_versions(fleet: Fleet, existing: Existing, observation: Observation, *, now: datetime) -> None:
    """Raise ConfigError when a manifest asks a version of a cluster that it cannot get from the one it has."""
    problems = tuple(version_problems(fleet, existing, _seen(fleet, observation, now)))
    if problems:
        raise ConfigError(problems)


def refuse_found_versions(fleet: Fleet, existing: Existing, changes: Iterable[VersionChange]) -> None:
    """Raise ConfigError when the engine would give a control plane a version that it cannot get."""
    problems = [
        problem
        for change in changes
        if change.cluster in fleet.clusters
        for known in [existing.clusters.get(change.cluster)]
        for problem in version_problems_of(
            fleet, change.cluster, Version(change.before), known.pool_versions if known else {}
        )
    ]
    if problems:
        raise ConfigError(problems)


def _seen(fleet: Fleet, observation: Observation, now: datetime) -> Mapping[str, Version]:
    """Return the versions that were observed, while they count."""
    options = options_of(fleet)
    return {
        name: Version(cluster.api_server, cluster.at)
        for name, cluster in observation.clusters.items()
        if cluster.api_server and options.counts(cluster.at, now)
    }
