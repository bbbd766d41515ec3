"""Replicas run only where their cache is staged."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from components.checks.footprint import RULE as NAME
from components.checks.footprint import STAYS_OUTSIDE, check_footprint
from components.checks.violation import Violation
from policies.existing import EXISTING, newcomers
from policies.facts import fleet_of
from policies.resources import Stack
from policies.rule import Rule


def check(stack: Stack, config: Mapping[str, Any]) -> Iterator[Violation]:
    """Find replicas outside their cache's footprint, or without the revision they read."""
    facts = fleet_of(stack).facts
    yield from check_footprint(facts)
    for replica in newcomers(facts, config):
        if replica.stays == STAYS_OUTSIDE:
            yield Violation(
                NAME,
                replica.replica,
                "it is said to stay outside its cache's footprint, but it does not exist yet",
                RULE.remediation,
            )


RULE: Final = Rule(
    name=NAME,
    description="A replica with a cache runs only on clusters where that cache is staged.",
    severity="high",
    remediation="Widen the cache's clusterSelector, or plan again so that the replica goes elsewhere.",
    check=check,
    config=EXISTING,
)
