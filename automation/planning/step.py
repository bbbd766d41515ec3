"""A step: one lock that is previewed, gated and applied, on the way from what exists to the target.

Why three kinds: one update cannot do it safely. An engine that continues on errors still deletes the old replica after
the new one failed, and one that stops at the first error lets one team's broken image stop the whole fleet.
"""

from dataclasses import dataclass
from enum import StrEnum

from components.lock import Lock


class StepKind(StrEnum):
    """The three kinds, in the order in which a move of the fleet takes them."""

    BUILD = "build"
    """The union of what exists and what is wanted; nothing is deleted, traffic stays; errors do not stop it."""
    SHIFT = "shift"
    """Endpoints and weights, only to replicas that are ready, on all front doors; what is replaced drains."""
    RETIRE = "retire"
    """What is no longer wanted goes; the first error stops it."""

    @property
    def continue_on_error(self) -> bool:
        """Whether one failure must not stop the others."""
        return self is StepKind.BUILD


@dataclass(frozen=True, slots=True)
class StepSummary:
    """What a step does, in numbers, for the line that a person reads."""

    created: int = 0
    """Replicas that start."""
    changed: int = 0
    """Replicas that change in place (shape, labels)."""
    retried: int = 0
    """Replicas and caches that exist and are not ready."""
    served: int = 0
    """Replicas that begin to serve."""
    drained: int = 0
    """Replicas that stop getting requests."""
    retired: int = 0
    """Replicas that go."""
    kept_back: int = 0
    """Replicas that should have gone and stay: successors are not ready, or a silent front door leads to them."""
    caches_staged: int = 0
    caches_dropped: int = 0
    services: int = 0
    """Services whose routes change."""
    front_doors_added: int = 0
    front_doors_removed: int = 0
    front_doors_kept_back: int = 0
    """Front doors that should have gone and stay, because none of those that are wanted serves yet."""
    gateways_moved: int = 0
    """Gateways that have another address than the state says."""
    clusters_built: int = 0
    clusters_upgraded: int = 0
    """Clusters whose control planes get another version of Kubernetes."""
    clusters_removed: int = 0
    informed: bool = False
    """Stacks learn which caches are staged, and let go of what staging needed."""
    rerouted: bool = False
    """Front doors learn where gateways are by now."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step: its lock, and how to apply it.

    ``withheld`` names clusters (``<cluster>``) and pools (``<cluster>/<pool>``) that the update would replace or
    delete, or make too small, while replicas of this lock still run on them; the driver keeps them out of this update.
    """

    kind: StepKind
    lock: Lock
    continue_on_error: bool
    summary: StepSummary
    withheld: tuple[str, ...] = ()
