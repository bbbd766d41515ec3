"""Waiting: why replicas keep an older shape, in one line that says what would have to change.

The reason comes from the verdict of the replica's own cluster, by the filters and the ledger that decided: a shape that
no device matches is not helped by room, nor is a cluster that does not answer. A gap is offered only where it would do.
Which replicas wait is ``moves``' decision.
"""

from itertools import groupby

from automation.scheduling.existing import ExistingReplica
from automation.scheduling.explain import Explainer
from automation.scheduling.filters import Filters
from automation.scheduling.moves import Moves
from automation.scheduling.place import Placer
from automation.scheduling.surges import AT_THE_LIMIT
from automation.scheduling.work import Work, serves


class Waiting:
    """Says why the replicas of one finished pass wait."""

    def __init__(self, filters: Filters, placer: Placer, moves: Moves, explainer: Explainer) -> None:
        self._filters = filters
        self._placer = placer
        self._moves = moves
        self._explainer = explainer

    def message(self, work: Work) -> str:
        """Return why the waiting replicas of a deployment keep their shape; those with one reason are said together."""
        refusals = self._explainer.refusals(work)
        reasons = [(self._reason(work, replica, refusals), replica) for replica in work.waiting]
        reasons.sort(key=lambda pair: (pair[0], pair[1].id))
        parts = []
        for reason, alike in groupby(reasons, key=lambda pair: pair[0]):
            replicas = [replica for _, replica in alike]
            if len(replicas) == 1:
                who = f"{replicas[0].id} keeps its old shape"
            else:
                who = f"{len(replicas)} keep the old shape"
            parts.append(f"{who}{reason}")
        return "; ".join(parts)

    def _reason(self, work: Work, replica: ExistingReplica, refusals: dict[int, str]) -> str:
        refusal = refusals.get(self._filters.position[replica.id.cluster])
        if refusal is None:
            limit = self._placer.limit(work, self._filters.position[replica.id.cluster], work.release)
            refusal = limit.message if limit else None
        if refusal is None and (work.changed or work.leaving or work.new):
            return " until a later move"
        if refusal is None and work.held_back:
            return f" until a later move {AT_THE_LIMIT}"
        suits = self._moves.suits_in_place(work, replica)
        others = [each for each in (*work.kept, *work.waiting) if each is not replica]
        alone = suits and not work.deployment.allow_gap and not any(map(serves, others))
        gap = ", or allow a gap with surge.allowGap" if alone else ""
        if refusal is not None:
            elsewhere = "; there is no room elsewhere" if work.allowed else ""
            return f": {refusal}{elsewhere}{gap}"
        if alone:
            return f": there is no room beside it and no other replica serves meanwhile; make room{gap}"
        if suits:
            return ": there is no room beside it, and not all others serve"
        return ": there is no room beside it, nor in its place; make room"
