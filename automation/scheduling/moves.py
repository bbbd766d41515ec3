"""Moves: how one deployment gets from its live replicas to what it wants, without a gap where there is a way.

What an edit does: labels change in place; a new shape is placed beside the old one (a surge) and the old one goes when
the new one serves; without room for that, one replica per move takes the new shape in place, and only while another one
serves; a lone replica without room keeps its old shape unless the deployment allows a gap. A replica that never served
takes the new shape in place at once: nobody misses it, and a broken image must not hold the room that its repair needs.

Planning again while a move is under way changes nothing: a replica that already runs what is wanted counts first, and
the old one it stands in for is found again by the same rule.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from automation.scheduling.existing import ExistingReplica
from automation.scheduling.filters import Filters
from automation.scheduling.hosting import Spot, adds_of
from automation.scheduling.limits import least
from automation.scheduling.place import Placer
from automation.scheduling.reason import Reason
from automation.scheduling.retain import MOVING, OUTDATED, WILLING, Judge, scale_down_order
from automation.scheduling.takes import NOTHING, Amounts
from automation.scheduling.work import Work, serves, unserved
from components.lock import Phase
from components.naming import ReplicaId


class Moves:
    """The moves of a pass; every method takes one deployment's work one stage further."""

    def __init__(self, filters: Filters, placer: Placer, judge: Judge, *, by_readiness: bool = True) -> None:
        self._filters = filters
        self._placer = placer
        self._judge = judge
        self._by_readiness = by_readiness
        """Whether scaling down spares those that serve."""

    def retain(self, work: Work, replicas: Sequence[ExistingReplica]) -> None:
        """Judge the live replicas, and decide which are too many."""
        for replica in replicas:
            work.indices.setdefault(replica.id.cluster, set()).add(replica.id.index)
            reason = self._judge.judge(replica, work.deployment)
            if reason is Reason.KEPT:
                work.kept.append(replica)
            elif reason is Reason.CLUSTER_LOST:
                work.leaving[replica.id] = (reason, None)
            elif reason in MOVING:
                work.moving.append((replica, reason))
            else:
                work.edited.append((replica, reason))
        self._scale_down(work)
        self._change_unserved(work)
        work.release = self._released(work)
        surplus = len(work.olds) + len(work.kept) + len(work.changed) - work.deployment.replicas
        if work.account is not None and work.account.exceeded:
            surplus = max(surplus, work.underway)
        _let_go(work, surplus, by_readiness=self._by_readiness)
        self._release(work)
        self._under_way(work)
        stay = [*work.kept, *(replica for replica, _ in work.edited), *(replica for replica, _, _ in work.changed)]
        work.own = Counter(self._filters.position[replica.id.cluster] for replica in stay)

    def place(self, work: Work) -> None:
        """Find places for what is missing and for what must leave its place."""
        for reason, number in work.lacking.items():
            for spot in islice(self._places(work, reason), number):
                work.pend(spot, reason)

    def number(self, work: Work) -> None:
        """Make the places final."""
        for pending in work.pending:
            self._add(work, pending.spot, pending.reason)
        work.pending.clear()

    def surge(self, work: Work) -> None:
        """Place successors of edited replicas beside them: on the same cluster if it has room, else elsewhere."""
        surged = sum(new.reason in OUTDATED for new in work.new)
        for replica, reason in sorted(work.edited, key=lambda pair: pair[0].id)[surged:]:
            spot = self._successor(work, replica) if work.surge_left else None
            if spot is None:
                break
            self._add(work, spot, reason)
            work.take_surge(spot[0])

    def change(self, work: Work) -> bool:
        """Change one edited replica in place where nothing can surge; say whether one was.

        The room that it may free is there for the others in the same plan, as it will be in the next one.
        """
        if not work.edited or work.held_back or not self._may_change(work):
            return False
        for pair in sorted(work.edited, key=lambda pair: (pair[0].ready, pair[0].id)):
            others = [*work.kept, *(each for each, _ in work.edited if each is not pair[0])]
            may = work.deployment.allow_gap or any(serves(each) for each in others)
            if may and self._change(work, pair, Reason.EDITED_IN_PLACE):
                return True
        return False

    def suits_in_place(self, work: Work, replica: ExistingReplica) -> bool:
        """Whether the wanted shape has room on a replica's own cluster once its own pods are gone."""
        return self._in_place(work, replica) is not None

    def finish(self, work: Work) -> None:
        """Let go of what has successors now; the rest of what must leave is stranded, of what was edited waits.

        Where a limit of successors is reached, what must leave only waits for a later move. What would only be better
        off elsewhere simply stays: its cluster is not ready, or waits for nodes.
        """
        _let_go(work, work.replacing, by_readiness=self._by_readiness)
        stay = [replica for replica, reason in work.moving if reason not in WILLING]
        if work.held_back:
            work.deferred = stay
        else:
            work.stranded = stay
        work.waiting = [replica for replica, _ in work.edited]
        for replica, reason in work.moving:
            if reason in WILLING:
                same = replica.entry.shape == work.deployment.digest
                (work.kept if same else work.waiting).append(replica)
        work.moving.clear()
        work.edited.clear()

    def _under_way(self, work: Work) -> None:
        """Count the successors that are there already, beside the replicas that go for them.

        A replica that never served goes without waiting for one, so it names none; what begins has taken its place.
        """
        named = {successor for _, successor in work.leaving.values()}
        begun = [each for each in work.beginning if each not in named]
        for replica, (reason, successor) in work.leaving.items():
            if reason in MOVING | OUTDATED:
                stand_in = successor or _partner(replica, begun, begun)
                if stand_in is not None:
                    work.take_surge(self._filters.position[stand_in.cluster])

    def _places(self, work: Work, reason: Reason) -> Iterator[Spot]:
        """Yield places for what is missing (PLACED), or for successors within the limits of them."""
        release = work.release_for(reason)
        if reason is Reason.PLACED or work.surges.on_cluster is None:
            yield from self._placer.fill(work, release=release)
            return
        while True:  # each one may be the last that its cluster takes
            spot = next(self._placer.fill(work, allowed=~work.surges.full, release=release), None)
            if spot is None:
                return
            yield spot

    def _add(self, work: Work, spot: Spot, reason: Reason) -> None:
        work.add(self._filters.clusters[spot[0]].name, spot, reason)

    @staticmethod
    def _may_change(work: Work) -> bool:
        """Whether this move may change a replica in place: none other is under way, and none frees room by going."""
        frees = any(reason is not Reason.CLUSTER_LOST for reason, _ in work.leaving.values())
        return all(serves(replica) for replica in work.kept) and not frees and not work.new and not work.changed

    def _successor(self, work: Work, replica: ExistingReplica) -> Spot | None:
        position = self._filters.position[replica.id.cluster]
        work.own[position] -= 1
        full = work.surges.full
        spot = None if full >> position & 1 else self._placer.take_on(work, position, work.release)
        if spot is None:
            spot = next(self._placer.fill(work, allowed=~full, release=work.release), None)
        if spot is None:
            work.own[position] += 1
        return spot

    def _in_place(self, work: Work, replica: ExistingReplica) -> Spot | None:
        """Find room for the wanted shape on a replica's own cluster in the place of its own pods."""
        position = self._filters.position[replica.id.cluster]
        if (
            self._filters.hosting(work.need, position) is None
            or not self._filters.clusters[position].state.takes_replicas
            or self._filters.outdated >> position & 1
        ):
            return None
        if any(each.cluster == replica.id.cluster for each in self._judge.excess):
            return None  # the room that it would change into is what the others have to leave
        key, adds = work.deployment.key, self._judge.adds(replica, position)
        self._placer.count(key, position, adds, times=-1)
        options = self._placer.room(work, position)
        self._placer.count(key, position, adds)
        return None if options is None else (position, options)

    def _change(self, work: Work, pair: tuple[ExistingReplica, Reason], reason: Reason) -> bool:
        """Change a replica in place if the wanted shape has room there, and take that room."""
        spot = self._in_place(work, pair[0])
        if spot is None:
            return False
        position, options = spot
        self._placer.count(work.deployment.key, position, self._judge.adds(pair[0], position), times=-1)
        self._placer.count(work.deployment.key, position, adds_of(options))
        self._placer.freed(position)
        work.changed.append((pair[0], spot, reason))
        work.edited.remove(pair)
        return True

    def _released(self, work: Work) -> Amounts:
        """Return what a successor may take beyond the limits, whichever replica goes for it.

        It is asked before any of them is let go, so that it is the same while the move is under way.
        """
        if work.account is None or not work.olds:
            return NOTHING
        places = [(self._filters.position[replica.id.cluster], replica) for replica in work.olds]
        return least([work.account.amounts(place, self._judge.adds(replica, place)) for place, replica in places])

    def _release(self, work: Work) -> None:
        """Count that live replicas have taken the place of those that were let go for them."""
        if work.account is None:
            return
        places = {each.id: (self._filters.position[each.id.cluster], each) for each in work.kept}
        spots = {each.id: spot for each, spot, _ in work.changed}
        for _, successor in work.leaving.values():
            if successor in places:
                position, replica = places[successor]
                work.account.release(position, self._judge.adds(replica, position), work.release)
            elif successor in spots:
                position, options = spots[successor]
                work.account.release(position, adds_of(options), work.release)

    def _scale_down(self, work: Work) -> None:
        surplus = len(work.kept) - work.deployment.replicas
        if surplus > 0:
            gone = set(scale_down_order(work.kept, by_readiness=self._by_readiness)[:surplus])
            work.leaving |= dict.fromkeys(sorted(gone), (Reason.SCALED_DOWN, None))
            work.kept = [replica for replica in work.kept if replica.id not in gone]

    def _change_unserved(self, work: Work) -> None:
        free = work.deployment.replicas - len(work.kept)
        for pair in [pair for pair in work.edited if unserved(pair[0])]:
            if len(work.changed) >= free:
                return
            self._change(work, pair, Reason.EDITED_UNSERVED)


def _let_go(work: Work, number: int, *, by_readiness: bool) -> None:
    """Let ``number`` old replicas go, because others run in their place, or because fewer are wanted.

    The choice depends on who is there and not on who has just been placed, so it is the same when it is made again
    while the move is under way: those that never served, those that drain already, those that must leave their place,
    those beside which a replica of the wanted shape runs, then as scaling down chooses.
    """
    if number <= 0:
        return
    reasons = {replica.id: reason for replica, reason in (*work.moving, *work.edited)}
    moving = {replica.id for replica, _ in work.moving}
    crowd = {replica: rank for rank, replica in enumerate(scale_down_order(work.olds, by_readiness=by_readiness))}
    paired = {successor for _, successor in work.leaving.values()}
    successors = [each for each in work.current if each not in paired]
    arriving = work.arriving
    beside = {successor.cluster for successor in work.current}
    order = sorted(
        work.olds,
        key=lambda each: (
            not unserved(each),
            each.entry.phase is not Phase.DRAINING,
            each.id not in moving,
            each.id.cluster not in beside,
            crowd[each.id],
        ),
    )
    for replica in order[:number]:
        successor = None if unserved(replica) else _partner(replica.id, successors, arriving)
        reason = reasons[replica.id]
        if successor is None and replica.id not in moving and not unserved(replica):
            reason = Reason.SCALED_DOWN
        work.leaving[replica.id] = (reason, successor)
    work.moving = [pair for pair in work.moving if pair[0].id not in work.leaving]
    work.edited = [pair for pair in work.edited if pair[0].id not in work.leaving]


def _partner(replica: ReplicaId, successors: list[ReplicaId], arriving: Collection[ReplicaId]) -> ReplicaId | None:
    """Take the successor of a replica off the list: one that does not serve yet, and of those one on its cluster."""
    partner = min(successors, key=lambda each: (each not in arriving, each.cluster != replica.cluster), default=None)
    if partner is not None:
        successors.remove(partner)
    return partner
