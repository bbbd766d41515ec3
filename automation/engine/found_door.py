"""A front door as it comes together from a state: its gateway, and the endpoints and services that lie on it.

The parts are components of their own, in any order. The door is ready when all of them are.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from automation.scheduling.existing import ExistingEndpoint, ExistingFrontDoor, ExistingService, NamespacedName

K = TypeVar("K", bound=Any)
V = TypeVar("V")


@dataclass(slots=True)
class FoundDoor:
    """What has been read of one front door so far."""

    cluster: str
    gateway: str = ""
    address: str | None = None
    services: dict[NamespacedName, ExistingService] = field(default_factory=dict)
    endpoints: dict[NamespacedName, ExistingEndpoint] = field(default_factory=dict)
    whole: bool = True
    failures: list[str] = field(default_factory=list)

    def judge(self, *, whole: bool, failure: str, route: str = "") -> None:
        """Add what is known of one part: whether all of it was made, and what failed; a ``route`` is named."""
        self.whole = self.whole and whole and not failure
        if failure:
            self.failures.append(f"{route}: {failure}" if route else failure)

    def existing(self) -> ExistingFrontDoor:
        """Return the front door; without its gateway it is not ready."""
        return ExistingFrontDoor(
            cluster=self.cluster,
            gateway=self.gateway,
            address=self.address,
            ready=self.whole and bool(self.gateway),
            failure="; ".join(self.failures),
            services=in_key_order(self.services),
            endpoints=in_key_order(self.endpoints),
        )


def in_order(doors: Iterable[ExistingFrontDoor]) -> list[ExistingFrontDoor]:
    """Return front doors so that, where their routes differ, the one whose word counts comes last.

    That is the first by name that is ready. What only others have is not forgotten: a step would notice the difference.
    """
    return sorted(sorted(doors, key=lambda door: door.cluster, reverse=True), key=lambda door: door.ready)


def in_key_order(values: Mapping[K, V]) -> Mapping[K, V]:
    """Return a mapping in the order of its keys, so that nothing depends on the order in which a state lists."""
    return {key: values[key] for key in sorted(values)}
