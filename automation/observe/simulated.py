"""Looks at a simulated cloud: which clusters answer, and what an interrupted run left there.

The driver uses it in simulated runs in place of the network and of a cloud's search.
"""

from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from typing import Any

from automation.engine.checkpoint import Resource, is_secret
from automation.engine.repair import CannotTell
from automation.observe.reachability import Reachability
from automation.rehearsal.cloud import SimulatedCloud


class SimulatedObserver:
    """An :class:`~automation.observe.reachability.Observer` on a simulated cloud."""

    def __init__(self, cloud: SimulatedCloud, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._cloud = cloud
        self._clock = clock

    def reachable(self, endpoints: Mapping[str, str]) -> Mapping[str, Reachability]:
        """Ask the simulated cloud about every cluster."""
        now = self._clock()
        answers: dict[str, Reachability] = {}
        for name in sorted(endpoints):
            why = self._cloud.why_unreachable(endpoints[name]) or self._cloud.why_unreachable(name)
            answers[name] = Reachability(name, not why, now, why)
        return answers


class SimulatedFinder:
    """An :class:`~automation.engine.repair.OrphanFinder` on a simulated cloud.

    It looks for what a search in a real cloud can find: a resource of the same type with the same settings, owner's
    tags among them, that no state knows. Objects on clusters are left to their names.
    """

    def __init__(self, cloud: SimulatedCloud) -> None:
        self._cloud = cloud

    def find(self, resource: Resource, *, known: Collection[str]) -> str | None:
        """Return the id of the one that fits; the first made when several do."""
        if resource.type.startswith("kubernetes:"):
            raise CannotTell(resource.type)
        for live in self._cloud.resources(type=resource.type):
            if live.id not in known and live.urn and _fits(resource.inputs, live.inputs):
                return live.id
        return None


def _fits(wanted: Any, found: Any) -> bool:
    """Return whether every setting that was asked for is there; what is encrypted cannot be compared, and is not."""
    if is_secret(wanted):
        return True
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and all(
            _fits(value, found.get(key)) for key, value in wanted.items() if not key.startswith("__")
        )
    if isinstance(wanted, list):
        return (
            isinstance(found, list)
            and len(wanted) == len(found)
            and all(_fits(*pair) for pair in zip(wanted, found, strict=True))
        )
    return bool(wanted == found)
