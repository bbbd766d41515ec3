"""Repacking: two clusters are emptied of their new replicas and filled again, one that lacks a place first.

Augmenting keeps what has a place and looks for one more. Where a fleet is crowded that ends early: a replica of eight
nodes has room only once several others have changed places, and each change alone places nothing more. Here an answer
may also be merely as good as the one before: another replica lacks a place then, and the next try begins from there.
What is as good and leads to nothing better is taken back in the end, cluster by cluster as far as they hang together,
so replicas change places for a gain alone; those that did are spread again as the strategy has it.

Replicas of a higher priority are never given up for others, live ones are not touched, nor are those that stand in for
one that must leave. No cluster is taken into use for a try and none is left empty, so a cluster that holds no new
replica was in no answer (law L6). Which clusters are tried follows a fixed sequence of numbers and ends after a number
of looks, never by time, so the answer is the same on every machine.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from automation.scheduling.hosting import Spot
from automation.scheduling.ledger import Ledger
from automation.scheduling.order import strategy_for
from automation.scheduling.place import Placer
from automation.scheduling.reason import Reason
from automation.scheduling.snapshot import Strategy
from automation.scheduling.work import Work

LOOKS = 60_000
"""How often room for one replica on one cluster is looked for, at most, in one pass, whatever its priorities."""
LOOKS_PER_REPLICA = 1_000
"""The same for every new replica that may change places: a small fleet has been tried out before."""
OTHERS = 16
"""Deployments of those that lack a place that are tried in what is left of two clusters."""

_Seats = list[tuple[int, Spot]]
"""New replicas of one cluster: whose, by number, and where."""
_Places = dict[int, _Seats]
"""Where new replicas are, by cluster."""


@dataclass(slots=True)
class _Numbers:
    """A fixed sequence that looks like chance: the minimal standard generator of Park, Miller and Stockmeyer (1993)."""

    _state: int = 1

    def below(self, limit: int) -> int:
        """Return a number of at least 0 and less than ``limit``, which is at most a thousand million."""
        self._state = self._state * 48_271 % 2_147_483_647
        return self._state % limit


class Repacker:
    """Repacks the new replicas of some deployments, given in the order of placing."""

    def __init__(
        self, placer: Placer, ledger: Ledger, strategy: Strategy, works: Sequence[Work], *, looks: int
    ) -> None:
        """Take the ``looks`` that a pass has left."""
        self._placer = placer
        self._ledger = ledger
        self._works = works
        self._packs = [strategy_for(work.deployment, strategy) is Strategy.PACK for work in works]
        self._lacking = [work.lacking[Reason.PLACED] for work in works]
        self._seats: _Places = {}
        for number, work in enumerate(works):
            for pending in work.pending:
                if pending.reason is Reason.PLACED:
                    self._seats.setdefault(pending.spot[0], []).append((number, pending.spot))
        self._used = sorted(self._seats)
        self._priorities = sorted({work.deployment.priority for work in works}, reverse=True)
        self._near: dict[int, list[int]] = {}
        """Clusters in use of those that are allowed, which is a set of all clusters."""
        self._numbers = _Numbers()
        self._given = self._looks = min(looks, LOOKS_PER_REPLICA * sum(map(len, self._seats.values())))
        self._ended = [not placer.within(work) for work in works]
        """Whether limits let no more of a deployment be anywhere: changing places is about room alone."""
        self._short: list[int] = []
        """The deployments that lack a place which one of the clusters in use could be, in order."""
        self._update(range(len(works)))

    def run(self) -> bool:
        """Place more, or of a higher priority; say whether any was."""
        if not self._differ():
            return False
        start = best = _copy(self._seats)
        while self._short and self._looks > 0:
            if self._try():
                best = _copy(self._seats)
        self._return(best, _changed(best, self._seats))
        if best is start:
            return False
        for clusters in self._parts(start):
            if self._worth(map(start.get, clusters)) == self._worth(map(self._seats.get, clusters)):
                self._return(start, clusters)
        self._spread(start)
        self._settle()
        return True

    @property
    def spent(self) -> int:
        """How many looks it took."""
        return self._given - max(0, self._looks)

    def _differ(self) -> bool:
        """Whether there are two kinds of replicas: equal ones gain nothing by changing places."""
        concerned = {number for seats in self._seats.values() for number, _ in seats}.union(self._short)
        works = [self._works[number] for number in concerned]
        return len({(work.need.number, work.deployment.priority, work.allowed) for work in works}) > 1

    def _update(self, numbers: Iterable[int]) -> None:
        """Look again whether some deployments lack a place."""
        for number in numbers:
            where = bisect_left(self._short, number)
            known = self._short[where : where + 1] == [number]
            lacks = self._lacking[number] > 0 and not self._ended[number]
            lacks = lacks and bool(self._clusters_of(self._works[number]))
            if lacks and not known:
                self._short.insert(where, number)
            elif known and not lacks:
                del self._short[where]

    def _clusters_of(self, work: Work) -> list[int]:
        """Return the clusters in use where a deployment may be."""
        known = self._near.get(work.allowed)
        if known is None:
            known = self._near[work.allowed] = [each for each in self._used if work.allowed >> each & 1]
        return known

    def _try(self) -> bool:
        """Fill two clusters anew, unless less would be placed then; say whether more is."""
        first = self._one_of(self._short)
        chosen = self._choose(first)
        before = {position: self._seats[position] for position in chosen}
        for position, seats in before.items():
            self._empty(position, seats)
        lifted = dict.fromkeys(number for seats in before.values() for number, _ in seats)
        lifted.pop(first, None)
        had = self._worth(before.values())
        self._fill(chosen, [first, *self._shuffled(lifted)])
        others = self._some() if self._worth(self._seats[each] for each in chosen) >= had else ()
        self._fill(chosen, others)
        after = [self._seats[each] for each in chosen]
        worth = self._worth(after)
        if worth >= had and sum(map(len, after)) >= sum(map(len, before.values())) and all(after):
            self._update([first, *lifted, *others])
            return worth > had
        for position, seats in before.items():
            self._empty(position, self._seats[position])
            self._put(position, seats)
        return False

    def _choose(self, first: int) -> list[int]:
        """Choose a cluster for what lacks a place, and one for what leaves it."""
        one = self._one_of(self._clusters_of(self._works[first]))
        whose, _ = self._seats[one][self._numbers.below(len(self._seats[one]))]
        other = self._one_of(self._clusters_of(self._works[whose]))
        return [one] if one == other else [one, other]

    def _fill(self, chosen: Sequence[int], order: Iterable[int]) -> None:
        """Place what lacks a place on the chosen clusters, one deployment after the other, as far as there is room."""
        for number in order:
            work = self._works[number]
            full: set[int] = set()
            while self._lacking[number]:
                spots = list(self._spots(work, [each for each in chosen if each not in full], full))
                if not spots:
                    break
                spot = min(spots, key=lambda spot: self._key(number, spot))
                self._put(spot[0], [(number, spot)])

    def _spots(self, work: Work, chosen: Sequence[int], full: set[int]) -> Iterator[Spot]:
        """Yield where one more replica has room; what is ``full`` is added to."""
        for position in chosen:
            self._looks -= 1
            options = self._placer.room(work, position) if work.allowed >> position & 1 else None
            if options is None:
                full.add(position)
            else:
                yield position, options

    def _key(self, number: int, spot: Spot) -> tuple[int, bool, int, int]:
        """Compare places: spread (or packed) first, then pods of one size, then where least is left."""
        position, options = spot
        own = self._works[number].own[position]
        return (
            -own if self._packs[number] else own,
            self._ledger.mixes(position, options),
            self._ledger.left(position, options),
            position,
        )

    def _worth(self, clusters: Iterable[_Seats | None]) -> tuple[int, ...]:
        """Count the replicas of each priority, the highest first."""
        counts = Counter(self._works[number].deployment.priority for seats in clusters for number, _ in seats or ())
        return tuple(counts[each] for each in self._priorities)

    def _empty(self, position: int, seats: _Seats) -> None:
        for number, spot in seats:
            self._placer.seat(self._works[number], spot, times=-1)
            self._lacking[number] += 1
        self._seats[position] = []

    def _put(self, position: int, seats: _Seats) -> None:
        for number, spot in seats:
            self._placer.seat(self._works[number], spot)
            self._lacking[number] -= 1
        self._seats[position] = [*self._seats[position], *seats]

    def _one_of(self, rows: Sequence[int]) -> int:
        return rows[self._numbers.below(len(rows))]

    def _shuffled(self, lifted: Mapping[int, object]) -> list[int]:
        """Return deployments the smallest first, more or less."""
        return sorted(lifted, key=lambda number: self._works[number].need.size * (600 + self._numbers.below(1_000)))

    def _some(self) -> Sequence[int]:
        """Return a few that lacked a place, in order."""
        start = self._numbers.below(len(self._short))
        return (self._short * 2)[start : start + min(OTHERS, len(self._short))]

    def _return(self, places: _Places, clusters: Iterable[int]) -> None:
        """Let some clusters be as they were."""
        clusters = list(clusters)
        for position in clusters:
            self._empty(position, self._seats[position])
        for position in clusters:
            self._put(position, places[position])

    def _parts(self, start: _Places) -> list[list[int]]:
        """Return the clusters that have changed, as far as they hang together: one cannot be as it was without all.

        Clusters do through every deployment of which they hold more or less, those with limits through all of these.
        """
        holders: dict[int, list[int]] = {}
        for position in _changed(start, self._seats):
            before, after = (Counter(number for number, _ in each[position]) for each in (start, self._seats))
            for number in before.keys() | after.keys():
                if before[number] != after[number]:
                    key = -1 if self._works[number].account is not None else number
                    holders.setdefault(key, []).append(position)
        part_of = {position: [position] for position in _changed(start, self._seats)}
        for _, positions in sorted(holders.items()):
            merged = sorted({each for position in positions for each in part_of[position]})
            part_of.update(dict.fromkeys(merged, merged))
        return [part for position, part in sorted(part_of.items()) if part[0] == position]

    def _spread(self, start: _Places) -> None:
        """Let what has come to a cluster go wherever it would have gone, now that there is room for all.

        The last replica of a cluster stays: one that is empty in the end must not have been in the answer.
        """
        for position in sorted(self._seats):
            self._placer.freed(position)
        for position in _changed(start, self._seats):
            more = Counter(number for number, _ in self._seats[position])
            more.subtract(number for number, _ in start[position])
            for number, spot in list(self._seats[position]):
                if more[number] > 0 and len(self._seats[position]) > 1:
                    more[number] -= 1
                    self._placer.unseat(self._works[number], spot)
                    self._seats[position].remove((number, spot))
                    found = next(self._placer.fill(self._works[number]), spot)
                    if found is spot:
                        self._placer.seat(self._works[number], spot)
                    self._seats.setdefault(found[0], []).append((number, found))

    def _settle(self) -> None:
        """Make it final: a replica that is still somewhere on its cluster keeps its turn, the others follow."""
        spots: dict[int, list[Spot]] = {}
        for _, seats in sorted(self._seats.items()):
            for number, spot in seats:
                spots.setdefault(number, []).append(spot)
        for number, work in enumerate(self._works):
            work.repend(spots.get(number, []), Reason.PLACED)


def _copy(places: _Places) -> _Places:
    """Return one that does not change with it."""
    return {position: list(seats) for position, seats in places.items()}


def _changed(before: _Places, after: _Places) -> list[int]:
    """Return the clusters on which two states differ, of those that the first has."""
    return [position for position in sorted(before) if before[position] != after[position]]
