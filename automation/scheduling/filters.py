"""Filters: which clusters may take new replicas of a deployment, room aside, and which filter refuses which.

A set of clusters is a number with one bit per cluster, in order of names, so that a filter costs the same few
operations for ten clusters and for ten thousand, and everything that depends on labels, taints or needs alone is
computed once. Each filter is one code; a cluster's verdict is its first failing one in order of severity.
"""

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from math import prod
from operator import or_
from typing import TypeVar

from automation.scheduling.existing import ExistingCache, ExistingReplica
from automation.scheduling.hardware import Catalogue, Hardware
from automation.scheduling.hosting import Add, Hosting, Hostings, Rank, Way, together
from automation.scheduling.needs import EngineNeed, Lenience, Need, PoolKind, Profile, Profiles
from automation.scheduling.snapshot import Cluster, ClusterState, Deployment, Labels, Pool
from automation.scheduling.verdict import Code
from components.checks.facts import Toleration
from components.checks.taints import untolerated

Clusters = int
"""A set of clusters: bit i stands for the cluster at position i."""

Ranked = tuple[tuple[Rank, Clusters], ...]
"""The clusters that can host something, by the best rank at which they do, best first; each is in one set."""

_Key = TypeVar("_Key", bound=Hashable)

_STATES = (
    (ClusterState.LOST, Code.LOST),
    (ClusterState.GOING_AWAY, Code.GOING_AWAY),
    (ClusterState.NOT_READY, Code.NOT_READY),
)


class Filters:
    """The filters over the clusters of one snapshot."""

    def __init__(
        self,
        clusters: Sequence[Cluster],
        caches: Sequence[ExistingCache],
        catalogue: Catalogue,
        hostings: Hostings,
        *,
        any_version: bool,
    ) -> None:
        self.clusters = tuple(sorted(clusters, key=lambda cluster: cluster.name))
        self.position = {cluster.name: position for position, cluster in enumerate(self.clusters)}
        self.everywhere: Clusters = (1 << len(self.clusters)) - 1
        self.hardware: list[tuple[Hardware, ...]] = [
            tuple(catalogue.of(pool, cluster.minor) for pool in cluster.pools) for cluster in self.clusters
        ]
        self._hostings = hostings
        self.profiles: list[Profile] = []
        """By cluster."""
        self._profile_sets: dict[Profile, Clusters] = {}
        self._kind_sets: dict[PoolKind, Clusters] = {}
        """The clusters with a pool of a kind."""
        self._index_profiles()
        self.regions = dict(sorted(_grouped(cluster.region for cluster in self.clusters).items()))
        self._in_state = _grouped(cluster.state for cluster in self.clusters)
        self.outdated = 0 if any_version else _grouped(bool(each.outdated) for each in self.clusters).get(True, 0)
        self._poolless = _grouped(not cluster.pools for cluster in self.clusters).get(True, 0)
        self._storageless = _grouped(not cluster.storage_class for cluster in self.clusters).get(True, 0)
        self._failed = self._failed_stagings(caches)
        """By namespace, cache and shape, why staging failed, by cluster (position)."""
        self._labelled = self._index_labels()
        self._labels: dict[tuple[str, str], Clusters] = {}
        self._selected: dict[tuple[tuple[str, str], ...], Clusters] = {}
        self._tolerated: dict[tuple[Toleration, ...], Clusters] = {}
        self._engines: dict[int, Ranked] = {}
        self._ranked: dict[int, Ranked] = {}
        self._ranks: dict[tuple[int, int], Rank] = {}
        self._taints = tuple(_grouped(cluster.taints for cluster in self.clusters).items())

    def refused(self, deployment: Deployment, need: Need) -> Iterator[tuple[Code, Clusters]]:
        """Yield every filter with the clusters that it refuses, worst first; a cluster may fall to several."""
        for state, code in _STATES:
            yield code, self._in_state.get(state, 0)
        yield Code.TOO_OLD, self.outdated
        yield Code.TAINTED, self.everywhere & ~self.tolerated(deployment.tolerations)
        yield Code.DESELECTED, self.everywhere & ~self.selected(deployment.selector)
        cache = deployment.cache
        if cache is not None:
            yield Code.OUTSIDE_CACHE, self.everywhere & ~self.selected(cache.selector)
            yield Code.NO_STORAGE, self._storageless
            yield Code.CACHE_FAILED, _bits(sorted(self._stagings(deployment)))
        yield Code.NO_POOLS, self._poolless
        yield Code.NO_MATCH, self.everywhere & ~self.hosting_clusters(need)

    def staging_failure(self, deployment: Deployment, position: int) -> str:
        """Return why staging a deployment's cache failed on a cluster; empty where it did not."""
        return self._stagings(deployment).get(position, "")

    def allowed(self, deployment: Deployment, need: Need) -> Clusters:
        """Return the clusters that no filter refuses."""
        allowed = self.everywhere
        for _, clusters in self.refused(deployment, need):
            allowed &= ~clusters
        return allowed

    def hosting(self, need: Need, position: int) -> Hosting | None:
        """Return how the cluster at ``position`` hosts ``need``."""
        return self._hostings.of(need, self.profiles[position])

    def whatever_fabric(self, need: Need, position: int) -> Hosting | None:
        """Return how it would host ``need`` if its pools shared what gangs need: only to explain a refusal."""
        return self._hostings.whatever_fabric(need, self.profiles[position])

    def leniently(self, need: Need, position: int, lenience: Lenience) -> Hosting | None:
        """Return how it would host ``need`` if less were asked of its pools: only to say what a change would do."""
        return self._hostings.leniently(need, self.profiles[position], lenience)

    def size(self, position: int, adds: Iterable[Add]) -> int:
        """Return how many devices pods take on a cluster."""
        hardware = self.hardware[position]
        return sum(hardware[pool].size(demand) * pods for pool, demand, pods in adds)

    def alike(self, position: int) -> Clusters:
        """Return the clusters whose pools are of the same kinds, in the same order."""
        return self._profile_sets[self.profiles[position]]

    def rank(self, need: Need, position: int) -> Rank:
        """Return how the cluster at ``position``, which hosts ``need``, compares before its room is known."""
        profile = self.profiles[position]
        key = (need.number, profile.number)
        known = self._ranks.get(key)
        if known is None:
            known = self._hostings.rank(need.engines, profile)
            assert known is not None
            self._ranks[key] = known
        return known

    def pool_name(self, position: int, pool: Pool) -> str:
        """Return what people call a pool of the cluster at ``position``."""
        return f"{self.clusters[position].name}/{pool.name}"

    def is_there(self, cluster: str) -> bool:
        """Whether the snapshot has a cluster that is not lost."""
        position = self.position.get(cluster)
        return position is not None and self.clusters[position].state is not ClusterState.LOST

    def holding(self, replicas: Iterable[ExistingReplica]) -> dict[int, list[ExistingReplica]]:
        """Return live replicas by the cluster that they are on, in order; without those on clusters that are gone."""
        found: dict[str, list[ExistingReplica]] = {}
        for replica in replicas:
            found.setdefault(replica.id.cluster, []).append(replica)
        there = sorted((self.position[name], name) for name in found if self.is_there(name))
        return {position: found[name] for position, name in there}

    def ranked(self, need: Need) -> Ranked:
        """Return the clusters whose pools can host ``need`` when they are empty and large enough."""
        known = self._ranked.get(need.number)
        if known is None:
            parts = [self._engine_ranked(engine) for engine in need.engines]
            if prod(map(len, parts)) <= len(self._profile_sets):
                joined: Ranked = ((together(()), self.everywhere),)
                for part in parts:
                    joined = _beside(joined, part)
                known = _best(joined)
            else:  # so many prices that few pairs of ranks are on any cluster
                known = _best(self._by_profile(need.engines))
            self._ranked[need.number] = known
        return known

    def ways(self, engine: EngineNeed) -> Mapping[Way, Clusters]:
        """Return all that an engine could take, room aside, and where."""
        found: dict[Way, Clusters] = {}
        alone = self._hostings.alone(engine, self._kind_sets)
        if alone is not None:
            for kind, _, way in alone:
                found[way] = found.get(way, 0) | self._kind_sets[kind]
            return found
        for profile, clusters in self._profile_sets.items():
            for way in self._hostings.ways(engine, profile):
                found[way] = found.get(way, 0) | clusters
        return found

    @property
    def sorts(self) -> Collection[Clusters]:
        """The sets of clusters that are alike; each cluster is in one."""
        return self._profile_sets.values()

    def hosting_clusters(self, need: Need) -> Clusters:
        """Return all of them as one set."""
        return reduce(or_, (clusters for _, clusters in self.ranked(need)), 0)

    def selected(self, selector: Labels | None) -> Clusters:
        """Return the clusters that carry every label of a selector; all without one."""
        if not selector:
            return self.everywhere
        key = tuple(sorted(selector.items()))
        known = self._selected.get(key)
        if known is None:
            known = self.everywhere
            for label, value in key:
                known &= self._with_label(label, value)
            self._selected[key] = known
        return known

    def tolerated(self, tolerations: tuple[Toleration, ...]) -> Clusters:
        """Return the clusters all of whose taints are tolerated."""
        known = self._tolerated.get(tolerations)
        if known is None:
            known = self.everywhere
            for taints, clusters in self._taints:
                if untolerated(taints, tolerations):
                    known &= ~clusters
            self._tolerated[tolerations] = known
        return known

    def members(self, clusters: Clusters) -> Iterator[int]:
        """Yield the positions of a set, in order of names."""
        return (position for position, bit in enumerate(reversed(f"{clusters:b}")) if bit == "1")

    def _engine_ranked(self, engine: EngineNeed) -> Ranked:
        """Look at the kinds of pools where they decide alone: a fleet has few of them, and many layouts."""
        known = self._engines.get(engine.number)
        if known is None:
            alone = self._hostings.alone(engine, self._kind_sets)
            if alone is None:
                known = _best(self._by_profile([engine]))
            else:
                known = _best((rank, self._kind_sets[kind]) for kind, rank, _ in alone)
            self._engines[engine.number] = known
        return known

    def _by_profile(self, engines: Sequence[EngineNeed]) -> Iterator[tuple[Rank, Clusters]]:
        for profile, clusters in self._profile_sets.items():
            rank = self._hostings.rank(engines, profile)
            if rank is not None:
                yield rank, clusters

    def _with_label(self, label: str, value: str) -> Clusters:
        key = (label, value)
        known = self._labels.get(key)
        if known is None:
            known = self._labels[key] = _bits(self._labelled.get(key, ()))
        return known

    def _index_labels(self) -> dict[tuple[str, str], list[int]]:
        """Return the positions that carry each label; few of them are ever asked for as a set."""
        members: dict[tuple[str, str], list[int]] = {}
        for position, cluster in enumerate(self.clusters):
            for label in cluster.labels.items():
                members.setdefault(label, []).append(position)
        return members

    def _index_profiles(self) -> None:
        profiles = Profiles()
        for cluster, hardware in zip(self.clusters, self.hardware, strict=True):
            self.profiles.append(profiles.of(cluster.pools, hardware))
        self._profile_sets = _grouped(self.profiles)
        for profile, clusters in self._profile_sets.items():
            for kind in profile.kinds:
                self._kind_sets[kind] = self._kind_sets.get(kind, 0) | clusters

    def _stagings(self, deployment: Deployment) -> Mapping[int, str]:
        cache = deployment.cache
        return self._failed.get((deployment.namespace, cache.name, cache.shape), {}) if cache else {}

    def _failed_stagings(self, caches: Iterable[ExistingCache]) -> dict[tuple[str, str, str], dict[int, str]]:
        failed: dict[tuple[str, str, str], dict[int, str]] = {}
        for each in sorted(caches, key=lambda cache: cache.id):
            if each.failure and each.id.cluster in self.position:
                key = (each.id.namespace, each.id.cache, each.entry.shape)
                failed.setdefault(key, {}).setdefault(self.position[each.id.cluster], each.failure)
        return failed


def _best(pairs: Iterable[tuple[Rank, Clusters]]) -> Ranked:
    """Leave every cluster in the set of its best rank, and join sets of equal rank."""
    found: dict[Rank, Clusters] = {}
    seen: Clusters = 0
    for rank, clusters in sorted(pairs):
        if clusters & ~seen:
            found[rank] = found.get(rank, 0) | clusters & ~seen
            seen |= clusters
    return tuple(found.items())


def _beside(some: Ranked, others: Ranked) -> Ranked:
    """Return the clusters that are in both, by rank of the two together."""
    return tuple(
        (together((rank, other)), both)
        for rank, clusters in some
        for other, beside in others
        if (both := clusters & beside)
    )


def _grouped(keys: Iterable[_Key]) -> dict[_Key, Clusters]:
    """Return the clusters of each key, of keys in the order of clusters."""
    members: dict[_Key, list[int]] = {}
    for position, key in enumerate(keys):
        members.setdefault(key, []).append(position)
    return {key: _bits(positions) for key, positions in members.items()}


def _bits(positions: Sequence[int]) -> Clusters:
    """Return the set of some positions, which are in order."""
    flags = bytearray(b"0" * (positions[-1] + 1 if positions else 1))
    for position in positions:
        flags[position] = 49  # "1"
    return int(flags[::-1], 2)
