"""Which replicas exist already, as the driver tells the pack: only those may stay where a new one could not go."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from components.checks.facts import FleetFacts, ReplicaFact

EXISTING: Final[Mapping[str, Any]] = {
    "existing": {
        "type": "array",
        "items": {"type": "string"},
        "description": "Replicas that exist, as namespace/deployment/cluster/index. Left out: nobody knows.",
    }
}
"""The parameter, as JSON Schema."""


def newcomers(facts: FleetFacts, config: Mapping[str, Any]) -> Iterator[ReplicaFact]:
    """Yield the replicas that are said to stay and do not exist; none when nobody told what exists."""
    existing = config.get("existing")
    if existing is not None:
        known = frozenset(existing)
        yield from (each for each in facts.replicas if each.stays and each.replica not in known)
