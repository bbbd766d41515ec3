"""Scores: by what a cluster was compared when a new replica went to it, for the record of the decision.

The numbers are those of the key that decided (``order``), told apart and named. What a replica scored is worked out
again from where the deployment's replicas are, in the order in which they were placed.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal

from automation.scheduling.filters import Filters
from automation.scheduling.hosting import Option
from automation.scheduling.ledger import Ledger
from automation.scheduling.trace import Choice
from automation.scheduling.verdict import Score
from automation.scheduling.work import Work


class Scores:
    """Scores in the state in which a pass ended."""

    def __init__(self, filters: Filters, ledger: Ledger) -> None:
        self._filters = filters
        self._ledger = ledger

    def of(self, work: Work, position: int, options: Sequence[Option]) -> Score:
        """Return what one more replica of a deployment would score on a cluster."""
        return self._score(work.own, position, options)

    def chosen(self, work: Work) -> Iterator[Choice]:
        """Yield what each new replica scored where it is."""
        own = work.own - Counter(new.spot[0] for new in work.new)
        for new in work.new:
            position, options = new.spot
            yield Choice(new.id, self._score(own, position, options))
            own[position] += 1

    def _score(self, own: Counter[int], position: int, options: Sequence[Option]) -> Score:
        region = self._filters.clusters[position].region
        inside = own[position]
        if region:
            inside = sum(number for each, number in own.items() if self._filters.clusters[each].region == region)
        known = not any(option.rank[0] for option in options)
        return Score(
            own=own[position],
            region=inside,
            mixes=self._ledger.mixes(position, options),
            cost=sum((option.rank[1] for option in options), Decimal(0)) if known else None,
            wanted=sum(option.rank[2] for option in options),
        )
