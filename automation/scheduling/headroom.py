"""Headroom: how many more replicas of each deployment fit beside everything that is placed, each asked by itself.

What one deployment could still get, another could not get as well: these are answers to "what if only this one grew".
"""

from dataclasses import dataclass
from itertools import islice

from automation.scheduling.matching import Evaluate, cel_evaluate
from automation.scheduling.remedy import Remedy
from automation.scheduling.schedule import Pass
from automation.scheduling.snapshot import Snapshot
from automation.scheduling.work import Work

MOST = 1000
"""Replicas after which counting stops."""


@dataclass(frozen=True, slots=True)
class Headroom:
    """One deployment: what it wants and has, how many ``more`` fit, and what the next one beyond those would need."""

    namespace: str
    deployment: str
    wanted: int
    placed: int
    more: int
    beyond: Remedy


def headroom(snapshot: Snapshot, *, evaluate: Evaluate | None = None, most: int = MOST) -> tuple[Headroom, ...]:
    """Return the headroom of every deployment of a snapshot, by namespace and name."""
    done = Pass(snapshot, evaluate or cel_evaluate())
    done.run()
    return tuple(_of(done, done.works[key], most) for key in sorted(done.works))


def _of(done: Pass, work: Work, most: int) -> Headroom:
    own = work.own.copy()
    found = list(islice(done.placer.fill(work, own=own), most))
    beyond = done.explainer.remedies.next(work)
    for spot in found:
        done.placer.unseat(work, spot, own=own)
    deployment = work.deployment
    return Headroom(deployment.namespace, deployment.name, deployment.replicas, work.placed, len(found), beyond)
