"""Every GPU pool that Berth makes carries the GPU taint, in its description and in the cloud's own resource."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from components.checks.taints import POOL_RULE, check_gpu_pools
from components.checks.violation import Violation
from components.labels import GPU_TAINT_EFFECT, GPU_TAINT_KEY, GPU_TAINT_VALUE, Label
from policies.facts import fleet_of
from policies.nodes import has_gpu_type, node_groups
from policies.resources import Stack
from policies.rule import Rule

_REPELS: Final = frozenset({"NoSchedule", "NoExecute"})


def check(stack: Stack, config: Mapping[str, Any]) -> Iterator[Violation]:
    """Find GPU pools without the taint, as described and as the cloud would make them."""
    del config
    yield from check_gpu_pools(fleet_of(stack).facts)
    for group in node_groups(stack):
        tainted = any(taint.key == GPU_TAINT_KEY and taint.effect in _REPELS for taint in group.taints)
        if tainted or not group.certain:
            continue
        if Label.GPU.value in group.labels or group.pool is not None or has_gpu_type(stack, group):
            yield Violation(
                POOL_RULE,
                group.resource.name,
                f"the node group's nodes carry GPUs but not the taint {GPU_TAINT_KEY}, so any pod may take them",
                RULE.remediation,
            )


RULE: Final = Rule(
    name=POOL_RULE,
    description="GPU pools are tainted, so that only pods that ask for GPUs land on their nodes.",
    severity="high",
    remediation=f"Add the taint {GPU_TAINT_KEY}={GPU_TAINT_VALUE}:{GPU_TAINT_EFFECT} to the pool.",
    check=check,
)
