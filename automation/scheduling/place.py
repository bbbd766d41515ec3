"""Placing: new replicas of one deployment, one after the other, each on the best cluster that has room.

The clusters that suit a need are ranked once for everybody who shares it; a cluster found full is left out from then
on, since pods are only ever added, and so is one where the budget ends. So a pass costs about what it places, not what
it looks at. Clusters where a quota has ended for every way to be there are left out of the search, and never looked at.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush

from automation.scheduling.existing import NamespacedName
from automation.scheduling.filters import Clusters, Filters
from automation.scheduling.found import Found
from automation.scheduling.hosting import Add, Hosting, Option, Spot, adds_of
from automation.scheduling.ledger import Ledger
from automation.scheduling.limits import Limits
from automation.scheduling.needs import Need
from automation.scheduling.order import Key, Standing, bucket_of, key_of, rank_in, strategy_for
from automation.scheduling.refused import Refused
from automation.scheduling.snapshot import Strategy
from automation.scheduling.takes import NOTHING, Amounts
from automation.scheduling.work import Work


@dataclass(slots=True)
class _Bucket:
    """Clusters that compare equal while they hold no own replica: sets in order of rank, each in order of names."""

    sets: Sequence[Clusters]
    seen: Clusters
    """Those that a search has had already, and those that are in another bucket."""
    mixes: bool
    """Whether these are clusters that mix sizes."""


_Candidate = tuple[Key, int, _Bucket | None, bool]
"""Key, cluster, the bucket that it is from, and whether it mixes sizes; no two have the same key."""


@dataclass(slots=True)
class _Search:
    """One deployment's search: own replicas by cluster and region, and the candidates that are compared."""

    work: Work
    strategy: Strategy
    key: Callable[[Standing], Key]
    allowed: Clusters
    own: Counter[int]
    regions: Counter[str] = field(default_factory=Counter)
    inside: dict[str, list[_Candidate]] = field(default_factory=dict)
    """A heap by region. Own replicas in the region are left out of its keys: they are the same for all of them."""
    heads: list[tuple[Key, str]] = field(default_factory=list)
    """A heap of the best candidate of each region by its whole key; one that is outdated is passed over."""
    shown: dict[str, Key | None] = field(default_factory=dict)
    """The key by which each region stands among them now; None for one that has no candidate left."""


class Placer:
    """Finds room for new replicas and takes it."""

    def __init__(self, filters: Filters, ledger: Ledger, limits: Limits, strategy: Strategy) -> None:
        self._filters = filters
        self._ledger = ledger
        self._limits = limits
        self._strategy = strategy
        self._buckets: dict[tuple[Strategy, int], list[list[Clusters]]] = {}
        self._found = Found(ledger)

    def fill(
        self,
        work: Work,
        *,
        allowed: Clusters = -1,
        own: Counter[int] | None = None,
        release: Amounts = NOTHING,
    ) -> Iterator[Spot]:
        """Yield place after place for one more replica, each charged, until no cluster has room or a limit ends.

        ``allowed`` narrows the clusters further. ``own`` counts the deployment's replicas by cluster and is kept up to
        date. Each new one may take what ``release`` says beyond its limits, because one goes for it.
        """
        strategy = strategy_for(work.deployment, self._strategy)
        search = _Search(
            work,
            strategy,
            key_of(strategy),
            allowed & self.within(work, release),
            work.own if own is None else own,
        )
        self._begin(search)
        while search.heads:
            key, region = heappop(search.heads)
            if key is not search.shown[region]:
                continue
            _, position, bucket, mixing = heappop(search.inside[region])
            pure = not mixing and search.strategy is not Strategy.COMPATIBLE
            waits = pure and self._must_mix(work.need, position)
            options = None if waits else self._known_room(search, position, release)
            if bucket is not None:
                self._advance(search, bucket)
            if waits or (pure and options is not None and self._ledger.mixes(position, options)):
                self._push(search, position, None, mixes=True)
            elif options is not None:
                search.regions[region] += 1
                self.seat(work, (position, options), release, own=search.own)
                self._push(search, position, None, mixes=False)
                yield position, options
            self._show(search, region)

    def take_on(self, work: Work, position: int, release: Amounts = NOTHING) -> Spot | None:
        """Take room on one given cluster; None when it is not allowed there or has none."""
        tried = work.allowed & ~self._found.full(work.need)
        options = self.room(work, position, release) if tried >> position & 1 else None
        if options is None:
            return None
        self.seat(work, (position, options), release)
        return position, options

    def seat(
        self, work: Work, spot: Spot, release: Amounts = NOTHING, *, own: Counter[int] | None = None, times: int = 1
    ) -> None:
        """Count a new replica wherever it counts (``times=-1`` counts it no more, and says nothing of its room)."""
        self._ledger.charge(spot[0], adds_of(spot[1]), times=times)
        if work.account is not None:
            work.account.seat(*spot, release, times=times)
        (work.own if own is None else own)[spot[0]] += times

    def unseat(self, work: Work, spot: Spot, release: Amounts = NOTHING, *, own: Counter[int] | None = None) -> None:
        """Count it no more, and let its room be found again."""
        self.seat(work, spot, release, own=own, times=-1)
        self.freed(spot[0])

    def count(self, deployment: NamespacedName, position: int, adds: Sequence[Add], *, times: int = 1) -> None:
        """Count the pods of a live replica on the pools and in the limits (``times=-1`` takes them away again)."""
        self._ledger.charge(position, adds, times=times)
        self._limits.charge(deployment, position, adds, times=times)

    def freed(self, position: int) -> None:
        """Look at a cluster again: pods have left."""
        self._found.freed(position)

    def room(self, work: Work, position: int, release: Amounts = NOTHING) -> tuple[Option, ...] | None:
        """Return where the engines of a replica have room on a cluster as things are, within every limit."""
        hosting = self._filters.hosting(work.need, position)
        options = self._ledger.room(position, hosting) if hosting else None
        account = work.account
        if options is None or hosting is None or account is None or account.admits(position, options, release):
            return options
        return self._ledger.room(position, hosting, partial(account.admits, position, release=release))

    def within(self, work: Work, release: Amounts = NOTHING) -> Clusters:
        """Return the clusters, of those that no filter refuses, that limits do not rule out whatever room there is."""
        return work.allowed & work.account.within(work.need, release) if work.account else work.allowed

    def open(self, work: Work, clusters: Clusters) -> Clusters:
        """Return which of some clusters have room for one more replica within every limit."""
        left = clusters & ~self._found.full(work.need)
        return sum(1 << each for each in self._filters.members(left) if self.room(work, each, work.release_of_next))

    def limited(self, work: Work) -> Iterator[tuple[Refused, Clusters]]:
        """Yield why limits keep one more replica off clusters that no filter refuses, and which.

        The first is the first by name. Clusters that are refused for one reason are counted together.
        """
        account = work.account
        if account is None:
            return
        release = work.release_of_next
        within = self.within(work, release)
        one_reason = len({limit.code for limit in account.limits}) == 1
        dear = 0 if account.limits else self._found.dear(work.need)
        left = work.allowed & ~(within & self._found.full(work.need))
        while left:
            position = (left & -left).bit_length() - 1
            alike = 1 << position
            if not within & alike:
                alike = left & ~within if one_reason else left & self._filters.alike(position)
                hosting = self._filters.hosting(work.need, position) or ()
                refused = account.refusal(position, [each[0] for each in hosting], release)
            else:
                refused = self.limit(work, position)
                alike = left & dear if dear & alike else alike
            if refused is not None:
                yield refused, alike
            left &= ~alike

    def limit(
        self, work: Work, position: int, release: Amounts | None = None, *, hosting: Hosting | None = None
    ) -> Refused | None:
        """Return which limit keeps one more replica off a cluster that no filter refuses; None when none does.

        A limit that ends for every way to be there is said first; otherwise room is. ``hosting`` asks about other ways
        to be there than those that the cluster has.
        """
        return next(self.limits(work, position, release, hosting=hosting), None)

    def limits(
        self, work: Work, position: int, release: Amounts | None = None, *, hosting: Hosting | None = None
    ) -> Iterator[Refused]:
        """Yield every limit that keeps one more replica off such a cluster, ``limit`` first."""
        account, hosting = work.account, hosting or self._filters.hosting(work.need, position)
        if account is None or hosting is None:
            return
        release = work.release_of_next if release is None else release
        options = self._ledger.room(position, hosting)
        if not account.within(work.need, release) >> position & 1:
            yield from account.refusals(position, options or [each[0] for each in hosting], release)
        elif options is not None and self.room(work, position, release) is None:
            yield from account.refusals(position, options, release)

    def _known_room(self, search: _Search, position: int, release: Amounts) -> tuple[Option, ...] | None:
        """Return what ``room`` does, and remember which clusters need not be asked again, here or by anybody."""
        work, bit = search.work, 1 << position
        if not search.allowed & bit or (self._found.full(work.need) | self._found.dear(work.need)) & bit:
            return None
        hosting = self._filters.hosting(work.need, position)
        assert hosting is not None  # or it would not be allowed
        options = self._ledger.room(position, hosting)
        if options is None:
            self._found.mark_full(work.need, position, hosting)
            return None
        account = work.account
        if account is None or account.admits(position, options, release):
            return options
        search.allowed &= account.within(work.need, release)
        if not search.allowed & bit:
            return None
        bill = account.bill
        if bill is not None:
            options = self._ledger.room(position, hosting, partial(bill.admits, position))
            if options is None:
                self._found.mark_dear(work.need, position)
            if options is None or not account.limits:
                return options
        return self._ledger.room(position, hosting, partial(account.admits, position, release=release))

    def _must_mix(self, need: Need, position: int) -> bool:
        hosting = self._filters.hosting(need, position)
        assert hosting is not None  # or nobody would look at it
        return self._found.must_mix(need, position, hosting)

    def _begin(self, search: _Search) -> None:
        clusters = self._filters.clusters
        for position, number in search.own.items():
            search.regions[clusters[position].region] += number
        held: Clusters = 0
        for position, number in search.own.items():
            if number:
                held |= 1 << position
                if search.allowed >> position & 1:
                    self._push(search, position, None, mixes=False)
        mixing = 0 if search.strategy is Strategy.COMPATIBLE else self._found.mixing(search.work.need)
        for sets in self._buckets_of(search.strategy, search.work.need):
            self._advance(search, _Bucket(sets, held | mixing, mixes=False))
            if mixing:
                self._advance(search, _Bucket(sets, held | ~mixing, mixes=True))

    def _advance(self, search: _Search, bucket: _Bucket) -> None:
        """Push a bucket's next cluster that holds no own replica and is not known to be full."""
        need = search.work.need
        open_ = search.allowed & ~(bucket.seen | self._found.full(need) | self._found.dear(need))
        for clusters in bucket.sets:
            left = clusters & open_
            if left:
                first = left & -left
                bucket.seen |= first
                self._push(search, first.bit_length() - 1, bucket, mixes=bucket.mixes)
                return

    def _push(self, search: _Search, position: int, bucket: _Bucket | None, *, mixes: bool) -> None:
        region = self._filters.clusters[position].region
        inside = search.inside.setdefault(region, [])
        heappush(inside, (search.key(self._standing(search, position, 0, mixes=mixes)), position, bucket, mixes))
        if inside[0][1] == position:
            self._show(search, region)

    def _show(self, search: _Search, region: str) -> None:
        """Let the best candidate of a region stand beside those of the others."""
        inside = search.inside[region]
        key = search.shown[region] = self._whole_key(search, inside[0]) if inside else None
        if key is not None:
            heappush(search.heads, (key, region))

    def _whole_key(self, search: _Search, candidate: _Candidate) -> Key:
        _, position, _, mixes = candidate
        region = search.regions[self._filters.clusters[position].region]
        return search.key(self._standing(search, position, region, mixes=mixes))

    def _standing(self, search: _Search, position: int, region: int, *, mixes: bool) -> Standing:
        own = search.own[position]
        rank = self._filters.rank(search.work.need, position)
        # Clusters whose region nobody knows count as regions of their own.
        return Standing(own, region if self._filters.clusters[position].region else own, mixes, rank, position)

    def _buckets_of(self, strategy: Strategy, need: Need) -> list[list[Clusters]]:
        """Return all clusters that can host ``need``, by bucket, in order of rank."""
        known = self._buckets.get((strategy, need.number))
        if known is None:
            buckets: dict[Key, dict[Key, Clusters]] = {}
            for rank, clusters in self._filters.ranked(need):
                for region, inside in self._filters.regions.items():
                    chosen = clusters & inside
                    if chosen:
                        bucket = buckets.setdefault(bucket_of(strategy, region, rank), {})
                        place = rank_in(strategy, rank)
                        bucket[place] = bucket.get(place, 0) | chosen
            known = [[bucket[rank] for rank in sorted(bucket)] for bucket in buckets.values()]
            self._buckets[strategy, need.number] = known
        return known
