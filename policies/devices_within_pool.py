"""No pool promises more devices than it has: by the components' descriptions, and by the raw claims beside them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from components.checks.ownership import CAPACITY_RULE, check_capacity, devices_per_node
from components.checks.violation import Violation
from policies.facts import Fleet, cluster_name, fleet_of
from policies.pods import pod_groups
from policies.resources import Stack
from policies.rule import Rule


def check(stack: Stack, config: Mapping[str, Any]) -> Iterator[Violation]:
    """Add up what is claimed on every pool and compare it with what the pool has.

    A pool that its components' descriptions break already is not said twice.
    """
    del config
    fleet = fleet_of(stack)
    described = list(check_capacity(fleet.facts))
    yield from described
    for group in pod_groups(stack):
        for request in group.requests:
            if request.problem:
                yield Violation(
                    CAPACITY_RULE,
                    group.workload.name,
                    f"its claim cannot be counted: {request.problem}",
                    "Claim through a template of the program that asks for a number of devices of one DeviceClass.",
                )
    said = {violation.subject for violation in described}
    yield from (violation for violation in _raw(stack, fleet) if violation.subject not in said)


def _raw(stack: Stack, fleet: Fleet) -> Iterator[Violation]:
    pools = {(pool.cluster, pool.pool): pool for pool in fleet.pools.values()}
    claimed: defaultdict[tuple[str, str, str], int] = defaultdict(int)
    for group in pod_groups(stack):
        for request in group.requests:
            place = (cluster_name(stack, group.workload), group.pool, request.device_class)
            claimed[place] += request.count * group.count
    for (cluster, name, device_class), total in sorted(claimed.items()):
        pool = pools.get((cluster, name))
        available = pool.nodes * devices_per_node(pool, device_class) if pool else 0
        if total > available:
            yield Violation(
                CAPACITY_RULE,
                f"{cluster or '(no cluster)'}/{name or '(no pool)'}",
                f"its pods claim {total} devices of {device_class} together; the pool has {available}",
                RULE.remediation,
            )


RULE: Final = Rule(
    name=CAPACITY_RULE,
    description="No more devices are promised than a pool has, and no pod asks for more than a node has.",
    severity="critical",
    remediation="Place fewer replicas on the pool, ask for fewer devices, or raise the pool's maxNodeCount.",
    check=check,
)
