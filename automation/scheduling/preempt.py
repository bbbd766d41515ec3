"""Preempting: which live replicas of a lower priority go, so that ones of a higher priority get their room.

Off unless the environment turns it on. A replica is never put aside for one of the same priority. On each cluster,
those of lower priority that need not go for one more replica to have room stay: the highest priority first, then those
that serve, then the smallest. The cluster is taken where the most important one that goes is the least important, then
where the fewest go, then the first by name.

Nothing takes room that is still held: in this move the victims go, and the next one places what they went for. Until
then its pods are counted beside theirs, so that nobody else takes what is free there. A victim gets no successor in
the same move; its deployment asks for one in the next, when all that matter more have been placed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from automation.scheduling.existing import ExistingReplica
from automation.scheduling.filters import Filters
from automation.scheduling.hosting import Add, Spot, adds_of
from automation.scheduling.place import Placer
from automation.scheduling.reason import Reason
from automation.scheduling.retain import Judge
from automation.scheduling.work import Awaited, Work, serves

BUDGET = 20_000
"""Live replicas that are lifted to see whether it helps, in one pass."""

_NOBODY = -(1 << 31)
"""Below every priority."""


@dataclass(frozen=True, slots=True, eq=False)
class _Victim:
    """A live replica that may go, whose it is and where."""

    work: Work
    replica: ExistingReplica
    position: int
    adds: Sequence[Add]
    """What is counted of it: its pods, or those that it would have in its place."""
    size: int
    """Devices that they take."""

    @property
    def worth(self) -> tuple[object, ...]:
        """Who stays before whom."""
        return (-self.work.deployment.priority, not serves(self.replica), self.size, self.replica.id)


_Answer = tuple[Spot | None, list[_Victim]]
"""Where a replica has room on a cluster once victims have gone, and who they are; None where it has none."""


class Preemption:
    """Finds victims in one pass, among what is live and stays when it is made."""

    def __init__(self, filters: Filters, placer: Placer, judge: Judge, works: Iterable[Work]) -> None:
        self._placer = placer
        self._judge = judge
        self._budget = BUDGET
        self._gone: list[_Victim] = []
        self._on: dict[int, list[_Victim]] = {}
        self._known: dict[int, dict[tuple[int, int], _Answer]] = {}
        """By cluster, what was found for a need of a priority since somebody went there; limits aside."""
        for work in works:
            places: list[tuple[ExistingReplica, int, Sequence[Add]]] = []
            for replica in (*work.kept, *(replica for replica, _ in work.edited)):
                position = filters.position[replica.id.cluster]
                places.append((replica, position, judge.adds(replica, position)))
            places += [(replica, position, adds_of(options)) for replica, (position, options), _ in work.changed]
            for replica, position, adds in places:
                victim = _Victim(work, replica, position, adds, filters.size(position, adds))
                self._on.setdefault(position, []).append(victim)

    def run(self, work: Work) -> None:
        """Let victims go for what a deployment lacks, as far as that helps."""
        for reason, number in work.lacking.items():
            for _ in range(number if self._budget >= 0 else 0):
                before = list(self._gone)
                self._lift(before)
                found = self._cheapest(work, reason)
                self._put_back(before)
                if found is None:
                    break
                self._take(work, reason, *found)

    def _take(self, work: Work, reason: Reason, spot: Spot, victims: Sequence[_Victim]) -> None:
        self._placer.seat(work, spot, work.release_for(reason))
        self._known.pop(spot[0], None)
        for victim in victims:
            victim.work.give_way(victim.replica)
            victim.work.own[victim.position] -= 1
            self._on[victim.position].remove(victim)
            # What would have changed in its place goes as it is.
            self._lift([victim])
            as_it_is = replace(victim, adds=self._judge.adds(victim.replica, victim.position))
            self._put_back([as_it_is])
            self._placer.freed(victim.position)
            self._gone.append(as_it_is)
        going = sorted(
            (each.replica.id, each.work.deployment.priority) for each in self._gone if each.position == spot[0]
        )
        work.awaited.append(Awaited(spot, reason, tuple(going)))

    def _cheapest(self, work: Work, reason: Reason) -> tuple[Spot, list[_Victim]] | None:
        """Return the spot for which the least has to go, and who that is."""
        found: list[tuple[tuple[int, int, int], Spot, list[_Victim]]] = []
        for position in sorted(self._on):
            if work.allowed >> position & 1:
                spot, victims = self._known_on_cluster(work, reason, position)
                if spot is not None:
                    priorities = [each.work.deployment.priority for each in victims]
                    worst = max(priorities, default=_NOBODY)
                    found.append(((worst, len(victims), position), spot, victims))
        return min(found, key=lambda each: each[0])[1:] if found else None

    def _known_on_cluster(self, work: Work, reason: Reason, position: int) -> _Answer:
        """Look once for all that ask the same; who is limited differs from others and from one time to the next."""
        if work.account is not None:
            return self._on_cluster(work, reason, position)
        answers = self._known.setdefault(position, {})
        key = (work.need.number, work.deployment.priority)
        if key not in answers:
            answers[key] = self._on_cluster(work, reason, position)
        return answers[key]

    def _on_cluster(self, work: Work, reason: Reason, position: int) -> _Answer:
        """Return where a replica has room once victims have gone, and those without whose going it has not."""
        priority = work.deployment.priority
        lower = [each for each in self._on[position] if each.work.deployment.priority < priority]
        self._budget -= len(lower)
        if self._budget < 0:
            return None, []
        release = work.release_for(reason)
        self._lift(lower)
        options = self._placer.room(work, position, release)
        if options is None:
            self._put_back(lower)
            return None, []
        victims: list[_Victim] = []
        left = [sorted(lower, key=lambda each: each.worth)]
        while left:  # whom there is room for together is not asked about one by one: less never needs more room
            some = left.pop()
            self._put_back(some)
            beside = self._placer.room(work, position, release)
            if beside is not None:
                options = beside
                continue
            self._lift(some)
            if len(some) == 1:
                victims += some
            else:
                left += [some[len(some) // 2 :], some[: len(some) // 2]]
        self._put_back(victims)
        return (position, options), victims

    def _lift(self, victims: Iterable[_Victim]) -> None:
        self._count(victims, -1)

    def _put_back(self, victims: Iterable[_Victim]) -> None:
        self._count(victims, 1)

    def _count(self, victims: Iterable[_Victim], times: int) -> None:
        for each in victims:
            self._placer.count(each.work.deployment.key, each.position, each.adds, times=times)
