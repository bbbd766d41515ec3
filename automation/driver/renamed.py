"""Clusters that were given another name: one whose manifest is gone beside one that comes and is like it.

A name is an identity: everything on a cluster is known by it, so no cluster can be renamed. The engine would build the
new one and take the old one away, which nobody means who only edits a name; so it is said, with the place of that edit.
A cluster that goes by `removing: true` goes on purpose and is not looked at.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from automation.engine.checkpoint import Checkpoint
from automation.engine.family import POOL_TYPE, is_cluster
from components.api.fleet import Fleet
from components.api.location import Location
from components.api.near import near

_SAME = ("source", "region", "kubernetesVersion", "taints", "pools")
"""What two clusters must have in common to be alike, beside what their pools say."""
_OWN = ("cluster", "pool")


@dataclass(frozen=True, slots=True)
class Renamed:
    """A cluster that goes, and the one that comes and looks like it; ``place`` is where the new one's manifest is."""

    old: str
    new: str
    place: Location

    @property
    def text(self) -> str:
        """What would become of the two, for a note or an error."""
        return (
            f"{self.new} looks like {self.old} under a new name; names are identities, so this builds a new cluster and"
            " destroys the old one"
        )

    @property
    def way_out(self) -> str:
        """What to do about it, whichever was meant."""
        return f"name it {self.old} again, or keep both manifests and set `removing: true` on {self.old}"


def renamed_clusters(fleet: Fleet, checkpoints: Iterable[Checkpoint]) -> Mapping[str, Renamed]:
    """Return by its old name every cluster that was probably renamed.

    Of the same source and region, one with equal pools, taints and version counts first, then one with a near name. A
    new one stands for one old one only.
    """
    states = tuple(checkpoints)
    there = {each.name: each.inputs for state in states for each in state if is_cluster(each.type)}
    gone = [name for name in sorted(there) if name not in fleet.clusters]
    come = [
        name
        for name, cluster in sorted(fleet.clusters.items())
        if name not in there and not cluster.spec.removing and not cluster.spec.lost
    ]
    if not gone or not come:
        return {}
    before = {name: (there[name], _pools_of(states, name)) for name in gone}
    after = {name: _described(fleet, name) for name in come}
    found: dict[str, Renamed] = {}
    for equal in (True, False):
        for old in gone:
            free = [new for new in after if new not in {each.new for each in found.values()}]
            alike = [new for new in free if _alike(before[old], after[new], whole=equal)] if old not in found else []
            new = near(old, alike) or (alike[0] if equal and alike else "")
            if new:
                place = fleet.place(fleet.clusters[new].kind, new)
                found[old] = Renamed(old, new, place)
    return found


_Described = tuple[Mapping[str, Any], tuple[Mapping[str, Any], ...]]
"""What the component of a cluster says of itself, and what those of its pools say."""


def _pools_of(states: Iterable[Checkpoint], cluster: str) -> tuple[Mapping[str, Any], ...]:
    pools = (each.inputs for state in states for each in state.of_type(POOL_TYPE))
    return tuple(pool for pool in pools if pool.get("cluster") == cluster)


def _described(fleet: Fleet, name: str) -> _Described:
    """Return what the components of a cluster would say; the release is left open, since it is no part of a name."""
    from components.clusters.contract import ClusterArgs  # noqa: PLC0415 (a slow import, for a rare question)

    args = ClusterArgs.from_spec(fleet, name, release="", stack="")
    return args.props(), tuple(pool.props() for pool in args.pools)


def _alike(one: _Described, other: _Described, *, whole: bool) -> bool:
    """Whether two clusters are of one source and region, and with ``whole`` also have the same to offer."""
    same = _SAME if whole else _SAME[:2]
    if any((one[0].get(key) or None) != (other[0].get(key) or None) for key in same):
        return False
    return not whole or _by_pool(one[1]) == _by_pool(other[1])


def _by_pool(pools: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {str(each["pool"]): {key: value for key, value in each.items() if key not in _OWN} for each in pools}
