"""Clusters as they are named on the command line."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from components.api.fleet import Fleet


def require_clusters(fleet: "Fleet", names: Iterable[str]) -> None:
    """Raise UsageError for a name that is no InferenceCluster of the environment."""
    from components.api.near import did_you_mean
    from components.errors import UsageError

    for name in names:
        if name not in fleet.clusters:
            known = sorted(fleet.clusters)
            meant = did_you_mean(name, known) or f"it has: {', '.join(known) or 'none'}"
            raise UsageError(f"there is no InferenceCluster {name!r} in {fleet.name}", help=meant)
