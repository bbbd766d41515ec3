"""Whether clusters answer: the first thing that a plan must know about them.

One cluster that does not answer must not stop the others, so it is asked before a plan and left out of it. An answer is
a fact of one moment and carries it. How to ask is each observer's business: over the network (``live``) or in a
simulated cloud (``simulated``). What is left out because of it is ``owed``'s.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from automation.scheduling.observation import ClusterObservation, Observation


@dataclass(frozen=True, slots=True)
class Reachability:
    """Whether a cluster's API server answered at ``at``; ``why`` says what stood in the way."""

    cluster: str
    reachable: bool
    at: datetime
    why: str = ""

    def age(self, now: datetime) -> timedelta:
        """Return how old the answer is."""
        return now - self.at


class Observer(Protocol):
    """Looks at clusters."""

    def reachable(self, endpoints: Mapping[str, str]) -> Mapping[str, Reachability]:
        """Ask every cluster, given the URL of its API server by its name; answer for each, sorted by name."""
        ...


def unreachable(answers: Mapping[str, Reachability]) -> frozenset[str]:
    """Return the clusters that did not answer."""
    return frozenset(name for name, answer in answers.items() if not answer.reachable)


def observation(answers: Mapping[str, Reachability]) -> Observation:
    """Return the answers as the scheduler takes them."""
    return Observation(
        {name: ClusterObservation(at=answers[name].at, reachable=answers[name].reachable) for name in sorted(answers)}
    )
