"""Every GPU pool that Berth makes carries the GPU taint, in its description and in the cloud's own resource."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from components.checks.taints import POOL_RULE, check_gpu_pools
from components.checks.violation import Violation
from components.labels import GPU_TAINT_KEY, Label
from policies.facts import facts_of
from policies.resources import POOL, Stack
from policies.rule import Rule

NODE_GROUP: Final = "aws:eks/nodeGroup:NodeGroup"
_REPELS: Final = frozenset({"NO_SCHEDULE", "NO_EXECUTE"})


def check(stack: Stack, config: Mapping[str, Any]) -> Iterator[Violation]:
    """Find GPU pools without the taint, as described and as the cloud would make them."""
    del config
    yield from check_gpu_pools(facts_of(stack))
    for group in stack.of_type(NODE_GROUP):
        labels = stack.read(group, "labels") or {}
        if Label.GPU.value not in labels and stack.owner(group, POOL) is None:
            continue
        taints = stack.read(group, "taints") or []
        if not any(taint.get("key") == GPU_TAINT_KEY and taint.get("effect") in _REPELS for taint in taints):
            yield Violation(
                POOL_RULE,
                group.name,
                f"the node group's nodes carry GPUs but not the taint {GPU_TAINT_KEY}, so any pod may take them",
                RULE.remediation,
            )


RULE: Final = Rule(
    name=POOL_RULE,
    description="GPU pools are tainted, so that only pods that ask for GPUs land on their nodes.",
    severity="high",
    remediation=f"Add the taint {GPU_TAINT_KEY}=true:NoSchedule to the pool.",
    check=check,
)
