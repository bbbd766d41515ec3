"""No replica goes to a cluster whose taint its deployment does not tolerate; one that was there first may stay."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from components.checks.footprint import STAYS_OUTSIDE
from components.checks.taints import CLUSTER_RULE, check_clusters
from components.checks.violation import Violation
from policies.existing import EXISTING, newcomers
from policies.facts import fleet_of
from policies.resources import Stack
from policies.rule import Rule


def check(stack: Stack, config: Mapping[str, Any]) -> Iterator[Violation]:
    """Find replicas on clusters that repel them, and replicas that claim to have been there and were not."""
    facts = fleet_of(stack).facts
    yield from check_clusters(facts)
    for replica in newcomers(facts, config):
        if replica.stays != STAYS_OUTSIDE:
            yield Violation(
                CLUSTER_RULE,
                replica.replica,
                f"it is said to stay in spite of {replica.stays}, but it does not exist yet",
                RULE.remediation,
            )


RULE: Final = Rule(
    name=CLUSTER_RULE,
    description="Replicas are placed only on clusters whose taints their deployment tolerates.",
    severity="high",
    remediation="Add a toleration to the deployment, or plan again so that the replica goes elsewhere.",
    check=check,
    config=EXISTING,
)
