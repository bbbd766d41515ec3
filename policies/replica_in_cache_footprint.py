"""Replicas run only where their cache is staged."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from components.checks.footprint import RULE as NAME
from components.checks.footprint import check_footprint
from components.checks.violation import Violation
from policies.facts import facts_of
from policies.resources import Stack
from policies.rule import Rule


def check(stack: Stack, config: Mapping[str, Any]) -> Iterator[Violation]:
    """Find replicas outside their cache's footprint, or without the revision they read."""
    del config
    yield from check_footprint(facts_of(stack))


RULE: Final = Rule(
    name=NAME,
    description="A replica with a cache runs only on clusters where that cache is staged.",
    severity="high",
    remediation="Widen the cache's clusterSelector, or plan again so that the replica goes elsewhere.",
    check=check,
)
