"""Surges: how many replicas may exist beside the ones they replace, in the fleet, on a cluster and of a deployment.

A successor counts from the plan that places it until its predecessor has gone, so a move that is stuck holds its part.
What a limit holds back waits for a later plan; it is not changed in place meanwhile, and nothing is missing.
"""

from collections import Counter
from dataclasses import dataclass, field

from automation.scheduling.filters import Clusters
from automation.scheduling.patterns import NO_LIMIT

AT_THE_LIMIT = "since as many successors exist beside others as may"


@dataclass(slots=True)
class Surges:
    """What of the limits is left; ``full`` are the clusters on which nothing is."""

    in_fleet: int | None = None
    on_cluster: int | None = None
    full: Clusters = 0
    _taken: int = 0
    _on: Counter[int] = field(default_factory=Counter)

    @property
    def left(self) -> int:
        """How many more successors the fleet may have."""
        return NO_LIMIT if self.in_fleet is None else max(0, self.in_fleet - self._taken)

    def take(self, position: int) -> None:
        """Count a successor on a cluster."""
        self._taken += 1
        self._on[position] += 1
        if self.on_cluster is not None and self._on[position] >= self.on_cluster:
            self.full |= 1 << position
