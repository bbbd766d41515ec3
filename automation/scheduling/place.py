"""Placing: new replicas of one deployment, one after the other, each on the best cluster that has room.

The clusters that suit a need are ranked once for everybody who shares it; a cluster found full is left out from then
on, since pods are only ever added. So a pass costs about what it places, not what it looks at.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

from automation.scheduling.filters import Clusters, Filters
from automation.scheduling.hosting import Option
from automation.scheduling.ledger import Ledger
from automation.scheduling.needs import Need
from automation.scheduling.order import Key, Standing, bucket_of, key_of, rank_in
from automation.scheduling.snapshot import Strategy

Spot = tuple[int, tuple[Option, ...]]
"""A cluster (position) and the option of every engine."""


@dataclass(slots=True)
class _Bucket:
    """Clusters that compare equal while they hold no own replica: sets in order of rank, each in order of names.

    ``seen`` are those that a search has had already.
    """

    sets: Sequence[Clusters]
    seen: Clusters = 0


@dataclass(slots=True)
class _Search:
    """One deployment's search: own replicas by cluster and region, and the candidates that are compared."""

    need: Need
    allowed: Clusters
    own: Counter[int]
    regions: Counter[str]
    heap: list[tuple[Key, int, int, _Bucket | None, bool]] = field(default_factory=list)


class Placer:
    """Finds room for new replicas and takes it."""

    def __init__(self, filters: Filters, ledger: Ledger, strategy: Strategy) -> None:
        self._filters = filters
        self._ledger = ledger
        self._strategy = strategy
        self._key = key_of(strategy)
        self._buckets: dict[int, list[list[Clusters]]] = {}
        self._full: dict[int, Clusters] = {}
        self._ties = count()

    def fill(self, need: Need, allowed: Clusters, own: Counter[int]) -> Iterator[Spot]:
        """Yield place after place for one more replica, each charged, until no cluster has room.

        ``own`` counts the deployment's replicas by cluster and is kept up to date.
        """
        search = self._begin(need, allowed, own)
        heap = search.heap
        while heap:
            key, _, position, bucket, mixing = heappop(heap)
            now = self._key(self._standing(search, position, mixes=mixing))
            if now != key:  # a replica went to its region since
                heappush(heap, (now, next(self._ties), position, bucket, mixing))
                continue
            options = self._room(need, position)
            if bucket is not None:
                self._advance(search, bucket)
            if options is None:
                continue
            if not mixing and self._strategy is not Strategy.COMPATIBLE and self._ledger.mixes(position, options):
                self._push(search, position, None, mixes=True)
                continue
            own[position] += 1
            search.regions[self._filters.clusters[position].region] += 1
            self._ledger.charge(position, adds_of(options))
            self._push(search, position, None, mixes=False)
            yield position, options

    def take_on(self, need: Need, allowed: Clusters, own: Counter[int], position: int) -> Spot | None:
        """Take room on one given cluster; None when it is not allowed there or has none."""
        options = self._room(need, position) if allowed >> position & 1 else None
        if options is None:
            return None
        own[position] += 1
        self._ledger.charge(position, adds_of(options))
        return position, options

    def freed(self, position: int) -> None:
        """Forget that a cluster was full: pods have left it."""
        for need, full in self._full.items():
            self._full[need] = full & ~(1 << position)

    def _room(self, need: Need, position: int) -> tuple[Option, ...] | None:
        full = self._full.get(need.number, 0)
        if full >> position & 1:
            return None
        hosting = self._filters.hosting(need, position)
        options = self._ledger.room(position, hosting) if hosting else None
        if options is None:
            self._full[need.number] = full | (1 << position)
        return options

    def _begin(self, need: Need, allowed: Clusters, own: Counter[int]) -> _Search:
        clusters = self._filters.clusters
        regions: Counter[str] = Counter()
        for position, number in own.items():
            regions[clusters[position].region] += number
        search = _Search(need, allowed, own, regions)
        held: Clusters = 0
        for position, number in own.items():
            if number:
                held |= 1 << position
                if allowed >> position & 1:
                    self._push(search, position, None, mixes=False)
        for sets in self._buckets_of(need):
            self._advance(search, _Bucket(sets, held))
        return search

    def _advance(self, search: _Search, bucket: _Bucket) -> None:
        """Push a bucket's next cluster that holds no own replica and is not known to be full."""
        open_ = search.allowed & ~bucket.seen & ~self._full.get(search.need.number, 0)
        for clusters in bucket.sets:
            left = clusters & open_
            if left:
                first = left & -left
                bucket.seen |= first
                self._push(search, first.bit_length() - 1, bucket, mixes=False)
                return

    def _push(self, search: _Search, position: int, bucket: _Bucket | None, *, mixes: bool) -> None:
        key = self._key(self._standing(search, position, mixes=mixes))
        heappush(search.heap, (key, next(self._ties), position, bucket, mixes))

    def _standing(self, search: _Search, position: int, *, mixes: bool) -> Standing:
        region = self._filters.clusters[position].region
        own = search.own[position]
        rank = self._filters.rank(search.need, position)
        # Clusters whose region nobody knows count as regions of their own.
        return Standing(own, search.regions[region] if region else own, mixes, rank, position)

    def _buckets_of(self, need: Need) -> list[list[Clusters]]:
        """Return all clusters that can host ``need``, by bucket, in order of rank."""
        known = self._buckets.get(need.number)
        if known is None:
            buckets: dict[Key, dict[Key, Clusters]] = {}
            for rank, clusters in self._filters.ranked(need):
                for region, inside in self._filters.regions.items():
                    chosen = clusters & inside
                    if chosen:
                        bucket = buckets.setdefault(bucket_of(self._strategy, region, rank), {})
                        place = rank_in(self._strategy, rank)
                        bucket[place] = bucket.get(place, 0) | chosen
            known = [[bucket[rank] for rank in sorted(bucket)] for bucket in buckets.values()]
            self._buckets[need.number] = known
        return known


def adds_of(options: Sequence[Option]) -> list[tuple[int, tuple[int, ...], int]]:
    """Return all that the engines of one replica add to the pools of its cluster."""
    return [add for option in options for add in option.adds]
