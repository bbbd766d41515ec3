"""No pool promises more devices than it has: by the components' descriptions, and by the raw claims beside them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from components.checks.ownership import CAPACITY_RULE, check_capacity, devices_per_node
from components.checks.violation import Violation
from policies.facts import facts_of
from policies.pods import claimed_devices, pod_groups
from policies.resources import REPLICA, Stack
from policies.rule import Rule


def check(stack: Stack, config: Mapping[str, Any]) -> Iterator[Violation]:
    """Add up what is claimed on every pool and compare it with what the pool has."""
    del config
    facts = facts_of(stack)
    yield from check_capacity(facts)
    pools = {(pool.cluster, pool.pool): pool for pool in facts.pools}
    claimed: defaultdict[tuple[str, str, str], int] = defaultdict(int)
    for group in pod_groups(stack):
        owner = stack.owner(group.workload, REPLICA)
        if owner is None:
            continue
        for device_class, count in claimed_devices(stack, group):
            claimed[(str(owner.props.get("cluster")), group.pool, device_class)] += count * group.count
    for (cluster, name, device_class), total in sorted(claimed.items()):
        pool = pools.get((cluster, name))
        available = pool.nodes * devices_per_node(pool, device_class) if pool else 0
        if total > available:
            yield Violation(
                CAPACITY_RULE,
                f"{cluster}/{name}",
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
