"""Every pod that is pinned to a GPU pool tolerates the pool's taints, or it would wait for ever."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from components.checks.facts import Taint, Toleration
from components.checks.taints import untolerated
from components.checks.violation import Violation
from components.labels import GPU_TAINT_EFFECT, GPU_TAINT_KEY, GPU_TAINT_VALUE
from policies.facts import cluster_name, fleet_of
from policies.pods import SYSTEM_POOL, pod_groups
from policies.resources import Stack
from policies.rule import Rule

_EVERY_GPU_POOL: Final = Taint(GPU_TAINT_KEY, GPU_TAINT_VALUE, GPU_TAINT_EFFECT)


def check(stack: Stack, config: Mapping[str, Any]) -> Iterator[Violation]:
    """Find pinned pods that do not tolerate the taints of their pool."""
    del config
    pools = {(pool.cluster, pool.pool): pool for pool in fleet_of(stack).pools.values()}
    for group in pod_groups(stack):
        if not group.certain or not group.pool or group.pool == SYSTEM_POOL:
            continue
        pool = pools.get((cluster_name(stack, group.workload), group.pool))
        taints = {_EVERY_GPU_POOL, *(pool.taints if pool else ())}
        tolerations = tuple(Toleration.from_props(each) for each in group.spec.get("tolerations") or ())
        for taint in untolerated(sorted(taints), tolerations):
            if taint.effect != "PreferNoSchedule":
                yield Violation(
                    RULE.name,
                    group.workload.name,
                    f"its pods run on pool {group.pool} and do not tolerate {taint}",
                    RULE.remediation,
                )


RULE: Final = Rule(
    name="gpu-taint-tolerated",
    description="Pods on GPU pools tolerate the taint of their nodes.",
    severity="high",
    remediation=f"Add a toleration with key {GPU_TAINT_KEY} and operator Exists to the pod.",
    check=check,
)
