"""Augmenting: room for what found none, by moving other new replicas elsewhere.

Placing takes one replica after the other and never looks back, so one that could have gone anywhere may sit where
another had its only chance. Here every unplaced replica looks at the clusters that it could be on: if moving a few of
the new ones there makes room, and each of them finds another place, it is done. Live replicas are never touched.

Every answer places one replica more than the one before and unplaces none, so the search ends. A replica leaves a
cluster only for another that takes its place there, so a cluster that is not chosen in the end was in no answer. The
search is bounded by a number of tries, never by time, so the answer is the same on every machine.
"""

from bisect import insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from automation.scheduling.existing import NamespacedName
from automation.scheduling.filters import Clusters, Filters
from automation.scheduling.hosting import Hosting, Spot, adds_of
from automation.scheduling.place import Placer
from automation.scheduling.reason import Reason
from automation.scheduling.takes import Amounts
from automation.scheduling.work import Pending, Work

BUDGET = 2_000
"""Replicas that are lifted to see whether it helps, each time that room is looked for."""
MOST_MOVES = 8
"""Replicas of one cluster that are moved for one that gets a place."""
DEPTH = 3
"""How long a chain of moves may be, each making room for the one before."""


_Key = tuple[object, ...]


@dataclass(slots=True, eq=False)
class _Movable:
    """A new replica that may be moved, whose it is and why; ``pending`` is None for one that has no place yet."""

    work: Work
    reason: Reason
    pending: Pending | None = None
    within: Clusters = -1
    """The clusters that limits do not rule out for one that lacks a place: moving others is about room alone."""

    @property
    def key(self) -> _Key:
        """What replicas have in common that can be exchanged for one another."""
        whose = (self.work.deployment.key, self.reason) if self.work.account else None
        return (self.work.need.number, self.work.allowed, whose)

    @property
    def release(self) -> Amounts:
        """What it may take because another one goes for it."""
        return self.work.release_for(self.reason)


_Moves = list[tuple[_Movable, Spot]]
"""Who goes where; all of it is charged already."""


class Augmenter:
    """Makes room in one pass."""

    def __init__(self, filters: Filters, placer: Placer) -> None:
        self._filters = filters
        self._placer = placer
        self._budget = BUDGET
        self._by_cluster: dict[int, list[_Movable]] = {}
        self._hopeless: set[_Key] = set()
        self._on_the_move: set[_Movable] = set()

    def run(self, works: Sequence[Work]) -> None:
        """Try to place everything that found no room, in the order of placing, until nothing more can be."""
        for work in works:
            for pending in filter(work.may_be_anywhere, work.pending):
                self._by_cluster.setdefault(pending.spot[0], []).append(_Movable(work, pending.reason, pending))
        for movable in self._by_cluster.values():
            movable.sort(key=_size)
        while sum(self._place(work, reason) for work in works for reason in filter(work.may_be_anywhere, work.lacking)):
            pass

    def _place(self, work: Work, reason: Reason) -> bool:
        """Place what a deployment still lacks, as far as room can be made; say whether any was."""
        placed = False
        while work.lacking[reason]:
            lacking = _Movable(work, reason, within=self._placer.within(work, work.release_for(reason)))
            hopeless = not lacking.within or lacking.key in self._hopeless
            moves = None if hopeless else self._make_room(lacking)
            if moves is None:
                self._hopeless.add(lacking.key)
                break
            self._settle(moves)
            placed = True
        return placed

    def _make_room(self, lacking: _Movable) -> _Moves | None:
        """Return the moves after which one more replica has a place: the fewest and shortest chains first."""
        return (
            self._chain(lacking, 0, 1)
            or self._clear(lacking, 0)
            or self._chain(lacking, 0, DEPTH)
            or self._clear(lacking, 1)
        )

    def _chain(self, lacking: _Movable, banned: Clusters, depth: int) -> _Moves | None:
        """Place a replica by itself, or where the smallest other one makes room and finds a place in its turn."""
        allowed = lacking.within & ~banned
        spot = next(self._placer.fill(lacking.work, allowed=allowed, release=lacking.release), None)
        if spot is not None:
            return [(lacking, spot)]
        for position, hosting in self._candidates(lacking, banned) if depth else ():
            tried: set[_Key] = set()
            for other in self._beside(position, hosting):
                if other.key in tried or self._budget <= 0:
                    continue
                tried.add(other.key)
                self._lift(other)
                options = self._placer.room(lacking.work, position, lacking.release)
                if options is not None:
                    self._seat(lacking, (position, options))
                    rest = self._chain(other, banned | 1 << position, depth - 1)
                    if rest is not None:
                        return [(lacking, (position, options)), *rest]
                    self._unseat(lacking, (position, options))
                self._put_back(other)
        return None

    def _clear(self, lacking: _Movable, depth: int) -> _Moves | None:
        """Move replicas of one cluster one after the other, the largest first, until there is room.

        Each may push others on in its turn, in a chain of ``depth`` moves.
        """
        for position, hosting in self._candidates(lacking, 0):
            moves: _Moves = []
            moved = 0
            for other in reversed(self._beside(position, hosting)):
                if moved == MOST_MOVES or self._budget <= 0:
                    break
                self._lift(other)
                chain = self._chain(other, 1 << position, depth)
                if chain is None:
                    self._put_back(other)
                    continue
                moves += chain
                moved += 1
                self._on_the_move.update(each for each, _ in chain)
                options = self._placer.room(lacking.work, position, lacking.release)
                if options is not None:
                    self._seat(lacking, (position, options))
                    self._on_the_move.clear()
                    return [(lacking, (position, options)), *moves]
            for each, spot in reversed(moves):
                self._unseat(each, spot)
                self._put_back(each)
            self._on_the_move.clear()
        return None

    def _candidates(self, lacking: _Movable, banned: Clusters) -> Iterator[tuple[int, Hosting]]:
        """Yield the clusters that could take a replica if others left them."""
        allowed = lacking.work.allowed & lacking.within & ~banned
        for position in sorted(self._by_cluster):
            if allowed >> position & 1 and self._budget > 0:
                hosting = self._filters.hosting(lacking.work.need, position)
                assert hosting is not None  # or the cluster would not be allowed
                yield position, hosting

    def _beside(self, position: int, hosting: Hosting) -> list[_Movable]:
        """Return the replicas of a cluster that are on pools which a hosting could use, the smallest first."""
        pools = {pool for options in hosting for option in options for pool, _, _ in option.adds}
        return [
            each
            for each in self._by_cluster[position]
            if each not in self._on_the_move
            and each.pending is not None
            and any(pool in pools for pool, _, _ in adds_of(each.pending.spot[1]))
        ]

    def _settle(self, moves: _Moves) -> None:
        """Make moves final."""
        for each, spot in moves:
            if each.pending is None:
                each.pending = each.work.pend(spot, each.reason)
            else:
                self._by_cluster[each.pending.spot[0]].remove(each)
                each.pending.spot = spot
            each.within = -1
            insort(self._by_cluster.setdefault(spot[0], []), each, key=_size)
            self._placer.freed(spot[0])
        self._hopeless.clear()

    def _lift(self, each: _Movable) -> None:
        assert each.pending is not None
        self._budget -= 1
        self._unseat(each, each.pending.spot)

    def _put_back(self, each: _Movable) -> None:
        assert each.pending is not None
        self._seat(each, each.pending.spot)

    def _seat(self, each: _Movable, spot: Spot) -> None:
        self._placer.seat(each.work, spot, each.release)

    def _unseat(self, each: _Movable, spot: Spot) -> None:
        self._placer.unseat(each.work, spot, each.release)


def _size(each: _Movable) -> tuple[int, NamespacedName]:
    """Order replicas of one cluster: those that take least first."""
    return each.work.need.size, each.work.deployment.key
