"""Taints: GPU pools carry one, serving pods tolerate it, and no replica is on a cluster that repels it."""

from collections.abc import Iterator, Sequence

from components.checks.facts import FleetFacts, Taint, Toleration
from components.checks.violation import Violation
from components.labels import GPU_TAINT_EFFECT, GPU_TAINT_KEY

POOL_RULE = "gpu-pool-tainted"
CLUSTER_RULE = "cluster-taint-tolerated"


def untolerated(taints: Sequence[Taint], tolerations: Sequence[Toleration]) -> tuple[Taint, ...]:
    """Return the taints that none of ``tolerations`` covers, in their order."""
    return tuple(taint for taint in taints if not any(each.tolerates(taint) for each in tolerations))


def check_gpu_pools(facts: FleetFacts) -> Iterator[Violation]:
    """Every GPU pool that Berth makes carries the GPU taint, so that nothing else lands on its nodes."""
    for pool in facts.pools:
        tainted = any(taint.key == GPU_TAINT_KEY and taint.effect == GPU_TAINT_EFFECT for taint in pool.taints)
        if pool.provisioned and pool.has_gpus and not tainted:
            yield Violation(
                POOL_RULE,
                f"{pool.cluster}/{pool.pool}",
                f"its nodes carry GPUs but not the taint {GPU_TAINT_KEY}:{GPU_TAINT_EFFECT}, so any pod may take them",
                f"add the taint {GPU_TAINT_KEY}=true:{GPU_TAINT_EFFECT} to the pool",
            )


def check_clusters(facts: FleetFacts) -> Iterator[Violation]:
    """No replica is on a cluster whose taint it does not tolerate, unless it was there first and says so."""
    taints = {cluster.cluster: cluster.taints for cluster in facts.clusters}
    for replica in facts.replicas:
        broken = untolerated(taints.get(replica.cluster, ()), replica.tolerations)
        if broken and replica.stays not in {str(taint) for taint in broken}:
            yield Violation(
                CLUSTER_RULE,
                replica.replica,
                f"cluster {replica.cluster} has the taint {broken[0]}, which the deployment does not tolerate",
                "add a toleration to the deployment, or plan again so that the replica goes elsewhere",
            )
