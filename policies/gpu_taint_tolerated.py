"""Every pod that is pinned to a GPU pool tolerates the pool's taints, or it would wait for ever."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from components.checks.facts import PoolFact, Taint, Toleration
from components.checks.taints import untolerated
from components.checks.violation import Violation
from components.labels import GPU_TAINT_EFFECT, GPU_TAINT_KEY, GPU_TAINT_VALUE, SYSTEM_POOL
from policies.facts import cluster_name, fleet_of
from policies.pods import PodGroup, pod_groups
from policies.resources import Stack
from policies.rule import Rule

_EVERY_GPU_POOL: Final = Taint(GPU_TAINT_KEY, GPU_TAINT_VALUE, GPU_TAINT_EFFECT)


def check(stack: Stack, config: Mapping[str, Any]) -> Iterator[Violation]:
    """Find pinned pods that do not tolerate the taints of their pool; of several pools, one they can use is enough."""
    del config
    pools = {(pool.cluster, pool.pool): pool for pool in fleet_of(stack).pools.values()}
    for group in pod_groups(stack):
        if not group.certain:
            continue
        cluster = cluster_name(stack, group.workload)
        repelled = {name: _repelled(group, name, pools.get((cluster, name))) for name in group.pools}
        if not all(repelled.values()):
            continue
        for name, taints in repelled.items():
            for taint in taints:
                yield Violation(
                    RULE.name,
                    group.workload.name,
                    f"its pods run on pool {name} and do not tolerate {taint}",
                    RULE.remediation,
                )


def _repelled(group: PodGroup, name: str, pool: PoolFact | None) -> tuple[Taint, ...]:
    """Return the taints of a pool that keep the pods off its nodes."""
    if pool is None and name == SYSTEM_POOL:
        return ()
    taints = {_EVERY_GPU_POOL, *(pool.taints if pool else ())}
    tolerations = tuple(Toleration.from_props(each) for each in group.spec.get("tolerations") or ())
    return tuple(each for each in untolerated(sorted(taints), tolerations) if each.effect != "PreferNoSchedule")


RULE: Final = Rule(
    name="gpu-taint-tolerated",
    description="Pods on GPU pools tolerate the taint of their nodes.",
    severity="high",
    remediation=f"Add a toleration with key {GPU_TAINT_KEY} and operator Exists to the pod.",
    check=check,
)
