"""What every style of cloud has in common: the shape of a request, of an answer, and of the cloud itself.

The servicer speaks gRPC and knows no cloud; a ``Cloud`` knows its rules and no gRPC. Clouds whose types are rows of a
table are ``catalog.CatalogCloud``; Kubernetes clusters are ``kubernetes.KubernetesCloud``.
"""

import contextlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

from automation.rehearsal.provider.check import Failure
from automation.rehearsal.provider.faults import Faults
from automation.rehearsal.provider.rules import Rules
from automation.rehearsal.provider.table import Table
from automation.rehearsal.store import Store
from automation.rehearsal.wire import Changed, changed_paths, plain, without_nulls

if TYPE_CHECKING:
    from automation.rehearsal.backing.door import Door

SIMULATED: Final = "sim-"
_POSITION: Final = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True)
class Target:
    """The resource that a call is about. ``id`` is empty before creation."""

    urn: str
    type: str
    name: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Live:
    """What the cloud answers about a resource."""

    id: str
    outputs: dict[str, Any]
    inputs: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Difference:
    """What a change means: the differing property paths and those of them that force a replacement."""

    changed: Mapping[str, Changed] = field(default_factory=dict)
    """The paths, with what became of each."""
    replaces: tuple[str, ...] = ()
    delete_first: bool = False
    of_live: bool = False
    """Whether new inputs were compared with what is live: then only what goes away is a difference of inputs."""

    @property
    def paths(self) -> tuple[str, ...]:
        """The differing paths."""
        return tuple(self.changed)


@dataclass(frozen=True, slots=True)
class World:
    """What a cloud is built on."""

    table: Table
    store: Store
    rules: Rules
    faults: Faults
    door: "Door | None" = None
    """The way to the control planes behind the cloud's clusters; None when there are none."""
    patience: float = 0
    """Seconds that objects get to appear for who waits for them: the engine creates things at the same time."""


class Cloud(Protocol):
    """One configured simulated cloud; values are as ``wire`` decodes them."""

    def check_config(self, news: Mapping[str, Any]) -> list[Failure]:
        """Check the provider's own inputs."""

    def diff_config(self, olds: Mapping[str, Any], news: Mapping[str, Any]) -> Difference:
        """Compare the provider's inputs."""

    def configure(self, config: Mapping[str, Any]) -> None:
        """Take the provider's inputs; raises ``Refused`` when they cannot work."""

    def check(
        self, target: Target, olds: Mapping[str, Any], news: dict[str, Any], seed: bytes
    ) -> tuple[dict[str, Any], Sequence[Failure]]:
        """Check inputs and complete them with names."""

    def diff(
        self, target: Target, olds: Mapping[str, Any], news: Mapping[str, Any], outputs: Mapping[str, Any]
    ) -> Difference:
        """Compare old inputs with new ones; ``outputs`` are the old ones."""

    def create(self, target: Target, inputs: dict[str, Any], *, preview: bool) -> Live:
        """Create a resource, or in a preview say what is known before."""

    def read(self, target: Target, inputs: dict[str, Any], outputs: dict[str, Any]) -> Live | None:
        """Read a resource; ``None`` when it is gone."""

    def update(self, target: Target, olds: dict[str, Any], inputs: dict[str, Any], *, preview: bool) -> dict[str, Any]:
        """Change a resource in place and give its outputs."""

    def delete(self, target: Target, outputs: dict[str, Any]) -> None:
        """Delete a resource; one that is gone already is fine."""

    def invoke(self, token: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Answer a function."""


def difference(
    olds: Mapping[str, Any], news: Mapping[str, Any], immutable: Sequence[str], *, delete_first: bool
) -> Difference:
    """Compare two bags of inputs; a changed path at or below an immutable one forces a replacement."""
    changed = dict(changed_paths(_visible(olds), _visible(news)))
    replaces = tuple(path for path in changed if any(covers(fixed, path) for fixed in immutable))
    return Difference(changed, replaces=replaces, delete_first=bool(replaces) and delete_first)


def covers(fixed: str, path: str) -> bool:
    """Say whether a changed path lies at or below an immutable one, or above it; list positions do not count."""
    bare = _POSITION.sub("", path)
    return bare == fixed or bare.startswith((f"{fixed}.", f"{fixed}[")) or fixed.startswith(f"{bare}.")


def _visible(bag: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in without_nulls(dict(bag)).items() if not key.startswith("__")}


def settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Turn a provider's inputs into plain values; engines send everything but strings as JSON text."""
    found: dict[str, Any] = {}
    for key, value in config.items():
        bare = plain(value)
        if isinstance(bare, str) and (bare in {"true", "false"} or bare[:1] in {"{", "["}):
            with contextlib.suppress(ValueError):
                bare = json.loads(bare)
        found[key] = bare
    return found
