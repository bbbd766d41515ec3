"""What each source of clusters can do, as data. PURE.

These are facts about clouds, not settings: they age, and each says where it is from.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFacts:
    """What a source of clusters can do."""

    wakes_claimed_pools: bool = False
    """Whether its autoscaler adds a first node for a pod that claims devices. It cannot where it does not know the
    devices of a node that does not exist yet."""
    fabrics: frozenset[str] = frozenset()
    """Fast networks between nodes that its pools can have."""
    reservations: bool = False
    """Whether pools can use reserved capacity."""
    packages: tuple[str, ...] = ("kubernetes",)
    """Pulumi packages whose plugins build it and what is on it."""
    programs: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Programs that must be on PATH, each with what it is needed for."""


SOURCES: dict[str, SourceFacts] = {
    # kubernetes/autoscaler at 2026-08-22: the AWS provider models no ResourceSlices (issue 7799).
    "EKS": SourceFacts(
        fabrics=frozenset({"EFA"}),
        reservations=True,
        packages=("aws", "kubernetes"),
        programs=MappingProxyType({"aws": "kubeconfigs of EKS clusters run `aws eks get-token` to log in"}),
    ),
    # Nobody scales the nodes of a cluster that Berth did not make, as far as Berth can know.
    "Existing": SourceFacts(),
}
"""By source. A source that is not listed cannot be built yet."""


def facts_of(source: str) -> SourceFacts:
    """Return what ``source`` can do; the most careful answer for one that is not listed."""
    return SOURCES.get(source, SourceFacts())
