"""What was seen on the clusters: nodes and foreign pods, each with the time it was seen.

An observation can only lower what a pool promises, never raise it above what the manifests declare. How it is
collected does not belong here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final

from automation.scheduling.resources import Resources

CLOCKS: Final = timedelta(minutes=5)
"""How far the clocks of two machines may be apart before one of them is taken to be wrong."""


def _empty() -> Mapping[Any, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ForeignPod:
    """Devices that a pod outside the fleet holds, by their name in the class of its pool, and what it requests."""

    devices: tuple[tuple[str, int], ...]
    resources: Resources = ()


@dataclass(frozen=True, slots=True)
class PoolObservation:
    """The nodes of one pool: how many can take pods, how many are there and cannot (cordoned, dead, tainted)."""

    usable: int
    unusable: int = 0
    foreign: tuple[ForeignPod, ...] = ()


@dataclass(frozen=True, slots=True)
class ClusterObservation:
    """One cluster as it was seen at ``at``; ``reachable`` is False when it did not answer."""

    at: datetime
    reachable: bool = True
    pools: Mapping[str, PoolObservation] = field(default_factory=_empty)
    api_server: str = ""
    """Its version; empty when it was not asked for."""
    kubelet: str = ""
    """The oldest of its nodes."""
    driver: str = ""
    """The oldest GPU driver of its nodes."""


@dataclass(frozen=True, slots=True)
class Observation:
    """Everything that was seen, by cluster; a cluster that nobody looked at is absent."""

    clusters: Mapping[str, ClusterObservation] = field(default_factory=_empty)
