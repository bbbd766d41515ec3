"""Scores: by what a cluster was compared when a new replica went to it, for the record of the decision.

The numbers are those of the key that decided (``order``), told apart and named. What a replica scored is worked out
again from where the deployment's replicas are, in the order in which they were placed.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from automation.scheduling.filters import Filters
from automation.scheduling.hosting import Option, together
from automation.scheduling.ledger import Ledger
from automation.scheduling.trace import Choice
from automation.scheduling.verdict import Score
from automation.scheduling.work import Work


@dataclass(slots=True)
class Spread:
    """How many replicas of one deployment are on each cluster, and in each region that is known."""

    own: Counter[int]
    regions: Counter[str]

    def at(self, position: int, region: str) -> tuple[int, int]:
        """Return how many are on a cluster and in its region; on it alone where nobody knows the region."""
        own = self.own.get(position, 0)
        return own, self.regions.get(region, 0) if region else own


class Scores:
    """Scores in the state in which a pass ended."""

    def __init__(self, filters: Filters, ledger: Ledger) -> None:
        self._filters = filters
        self._ledger = ledger

    def spread(self, own: Counter[int]) -> Spread:
        """Return how replicas that are so many by cluster are spread."""
        regions: Counter[str] = Counter()
        for position, number in own.items():
            regions[self._filters.clusters[position].region] += number
        return Spread(own, regions)

    def chosen(self, work: Work) -> Iterator[Choice]:
        """Yield what each new replica scored where it is."""
        spread = self.spread(work.own - Counter(new.spot[0] for new in work.new))
        for new in work.new:
            position, options = new.spot
            yield Choice(new.id, self.of(spread, position, options))
            spread.own[position] += 1
            spread.regions[self._filters.clusters[position].region] += 1

    def of(self, spread: Spread, position: int, options: Sequence[Option]) -> Score:
        """Return what one more replica of a deployment that is spread so would score on a cluster."""
        own, inside = spread.at(position, self._filters.clusters[position].region)
        unknown, cost, wanted = together(option.rank for option in options)
        return Score(
            own=own,
            region=inside,
            mixes=self._ledger.mixes(position, options),
            cost=None if unknown else cost,
            wanted=wanted,
        )
