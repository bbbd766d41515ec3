"""What preview 1 says about the platform: which clusters and pools an update would create, change, replace or delete.

Only the engine knows it (an innocent edit of a subnet can replace a GPU pool), so it is asked before anything is
scheduled. How the events are read is the engine's business; what follows from a change is the snapshot's.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from components.naming import ReplicaId


class Change(StrEnum):
    """What an update would do to a cluster or a pool."""

    NONE = "none"
    """Nothing."""
    CREATE = "create"
    """It does not exist yet."""
    UPDATE = "update"
    """It is changed in place."""
    REPLACE = "replace"
    """A new one takes its place; what runs on the old one is lost."""
    DELETE = "delete"
    """It goes."""
    REPLACE_REFUSED = "replace-refused"
    """It would be replaced or deleted, and a protection forbids it."""

    @property
    def goes_away(self) -> bool:
        """Whether what runs on it now would not survive."""
        return self in {Change.REPLACE, Change.DELETE, Change.REPLACE_REFUSED}


def _empty() -> Mapping[Any, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class PlatformChanges:
    """The changes by cluster, and by cluster and pool; what is not listed does not change.

    ``shrinking`` says which live replicas have to leave a pool before its edit may be applied; that comes from the
    schedule, and is here because it withholds like the rest.

    ``touched`` says that the update would change something else that no lock mentions (a chart, a node count), so that
    a build step is needed even when no replica moves. ``moved`` counts gateways that have another address than the
    state says, which a build step stores, and ``upgraded`` control planes that get another version.
    """

    clusters: Mapping[str, Change] = field(default_factory=_empty)
    pools: Mapping[tuple[str, str], Change] = field(default_factory=_empty)
    touched: bool = False
    moved: int = 0
    upgraded: int = 0
    shrinking: Mapping[tuple[str, str], frozenset[ReplicaId]] = field(default_factory=_empty)

    def cluster(self, name: str) -> Change:
        """Return what happens to a cluster."""
        return self.clusters.get(name, Change.NONE)

    def pool(self, cluster: str, pool: str) -> Change:
        """Return what happens to a pool by itself."""
        return self.pools.get((cluster, pool), Change.NONE)

    @property
    def any(self) -> bool:
        """Whether an update would change anything of the platform."""
        changes = (*self.clusters.values(), *self.pools.values())
        return self.touched or bool(self.moved) or any(change is not Change.NONE for change in changes)


NO_CHANGES = PlatformChanges()
"""The platform stays as it is."""
