"""Placing: new replicas of one deployment, one after the other, each on the best cluster that has room.

The clusters that suit a need are sorted once for everybody who shares it; a cluster found full is skipped from then on,
since pods are only ever added. So a pass costs about what it places, not what it looks at.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

from automation.scheduling.filters import Clusters, Filters
from automation.scheduling.hosting import Hosting, Need, Option
from automation.scheduling.ledger import Ledger
from automation.scheduling.order import Key, Standing, bucket_of, key_of
from automation.scheduling.snapshot import Strategy

Spot = tuple[int, tuple[Option, ...]]
"""A cluster (position) and the option of every engine."""


@dataclass(slots=True)
class _Bucket:
    """Clusters that compare equal while they hold no own replica, best first; ``start`` skips those found full."""

    region: str
    positions: list[int]
    start: int = 0


@dataclass(slots=True)
class _Search:
    """One deployment's search: own replicas by cluster and region, and the candidates that are compared."""

    need: Need
    own: Counter[int]
    regions: Counter[str]
    heap: list[tuple[Key, int, int, "_Head | None", bool]] = field(default_factory=list)


@dataclass(slots=True)
class _Head:
    """How far a search has read a bucket."""

    bucket: _Bucket
    next: int


class Placer:
    """Finds room for new replicas and takes it."""

    def __init__(self, filters: Filters, ledger: Ledger, strategy: Strategy) -> None:
        self._filters = filters
        self._ledger = ledger
        self._strategy = strategy
        self._key = key_of(strategy)
        self._buckets: dict[tuple[int, Clusters], list[_Bucket]] = {}
        self._orders: dict[int, list[tuple[str, list[int]]]] = {}
        self._full: dict[int, dict[int, int]] = {}
        self._ties = count()

    def fill(self, need: Need, allowed: Clusters, own: Counter[int]) -> Iterator[Spot]:
        """Yield place after place for one more replica, each charged, until no cluster has room.

        ``own`` counts the deployment's replicas by cluster and is kept up to date.
        """
        search = self._begin(need, allowed, own)
        heap = search.heap
        while heap:
            key, _, position, head, mixing = heappop(heap)
            now = self._key(self._standing(search, position, mixes=mixing))
            if now != key:  # a replica went to its region since
                heappush(heap, (now, next(self._ties), position, head, mixing))
                continue
            hosting = self._filters.hosting(need, position)
            assert hosting is not None
            options = self._room(need, position, hosting)
            mixes = options is not None and not mixing and self._ledger.mixes(position, options)
            if head is not None and (options is None or mixes):
                self._advance(search, head)
            if options is None:
                continue
            if mixes and self._strategy is not Strategy.COMPATIBLE:
                self._push(search, position, None, mixes=True)
                continue
            self._take(search, position, options)
            if head is not None:
                self._advance(search, head)
            self._push(search, position, None, mixes=False)
            yield position, options

    def take_on(self, need: Need, allowed: Clusters, own: Counter[int], position: int) -> Spot | None:
        """Take room on one given cluster; None when it is not allowed there or has none."""
        hosting = self._filters.hosting(need, position) if allowed >> position & 1 else None
        options = self._room(need, position, hosting) if hosting else None
        if options is None:
            return None
        own[position] += 1
        self._ledger.charge(position, adds_of(options))
        return position, options

    def _room(self, need: Need, position: int, hosting: Hosting) -> tuple[Option, ...] | None:
        full = self._full.setdefault(need.number, {})
        version = self._ledger.version[position]
        if full.get(position) == version:
            return None
        options = self._ledger.room(position, hosting)
        if options is None:
            full[position] = version
        return options

    def _take(self, search: _Search, position: int, options: Sequence[Option]) -> None:
        search.own[position] += 1
        search.regions[self._filters.clusters[position].region] += 1
        self._ledger.charge(position, adds_of(options))

    def _begin(self, need: Need, allowed: Clusters, own: Counter[int]) -> _Search:
        clusters = self._filters.clusters
        regions: Counter[str] = Counter()
        for position, number in own.items():
            regions[clusters[position].region] += number
        search = _Search(need, own, regions)
        for bucket in self._buckets_of(need, allowed):
            self._advance(search, _Head(bucket, bucket.start))
        for position, number in own.items():
            if number and allowed >> position & 1:
                self._push(search, position, None, mixes=False)
        return search

    def _advance(self, search: _Search, head: _Head) -> None:
        """Move a bucket's head to its next cluster without own replicas that is not known to be full, and push it."""
        bucket = head.bucket
        full = self._full.setdefault(search.need.number, {})
        versions = self._ledger.version
        while head.next < len(bucket.positions):
            position = bucket.positions[head.next]
            is_full = full.get(position) == versions[position]
            if is_full and head.next == bucket.start:
                bucket.start += 1
            head.next += 1
            if not is_full and not search.own[position]:
                self._push(search, position, head, mixes=False)
                return

    def _push(self, search: _Search, position: int, head: _Head | None, *, mixes: bool) -> None:
        key = self._key(self._standing(search, position, mixes=mixes))
        heappush(search.heap, (key, next(self._ties), position, head, mixes))

    def _standing(self, search: _Search, position: int, *, mixes: bool) -> Standing:
        hosting = self._filters.hosting(search.need, position)
        assert hosting is not None
        region = self._filters.clusters[position].region
        own = search.own[position]
        # Clusters whose region nobody knows count as regions of their own.
        return Standing(own, search.regions[region] if region else own, mixes, hosting.rank, position)

    def _buckets_of(self, need: Need, allowed: Clusters) -> list[_Bucket]:
        key = (need.number, allowed)
        known = self._buckets.get(key)
        if known is None:
            everywhere = self._order(need)
            flags = f"{allowed:b}".zfill(len(self._filters.clusters))[::-1]
            chosen = ((region, [each for each in order if flags[each] == "1"]) for region, order in everywhere)
            known = self._buckets[key] = [_Bucket(region, order) for region, order in chosen if order]
        return known

    def _order(self, need: Need) -> list[tuple[str, list[int]]]:
        """Return all clusters that can host ``need``, by bucket, each sorted by rank and name."""
        known = self._orders.get(need.number)
        if known is None:
            groups: dict[Key, list[tuple[object, int]]] = {}
            regions: dict[Key, str] = {}
            for position in self._filters.members(self._filters.hosting_clusters(need)):
                hosting = self._filters.hosting(need, position)
                assert hosting is not None
                region = self._filters.clusters[position].region
                bucket = bucket_of(self._strategy, region, hosting.rank)
                rank = () if self._strategy is Strategy.COMPATIBLE else hosting.rank
                groups.setdefault(bucket, []).append((rank, position))
                regions[bucket] = region
            known = [(regions[key], [each for _, each in sorted(group)]) for key, group in groups.items()]
            self._orders[need.number] = known
        return known


def adds_of(options: Sequence[Option]) -> list[tuple[int, tuple[int, ...], int]]:
    """Return all that the engines of one replica add to the pools of its cluster."""
    return [add for option in options for add in option.adds]
