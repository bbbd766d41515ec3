"""What if: a snapshot as it would be with clusters gone or pools of another size, for questions and not for plans."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from automation.scheduling.snapshot import Cluster, ClusterState, Pool, PoolBefore, Snapshot

_LEFT_OUT = "it is left out of this question"


def without(snapshot: Snapshot, clusters: Collection[str]) -> Snapshot:
    """Return the snapshot as if some clusters were gone for good: what runs there has to be somewhere else."""
    return replace(
        snapshot,
        clusters=tuple(
            replace(each, state=ClusterState.LOST, why=_LEFT_OUT) if each.name in clusters else each
            for each in snapshot.clusters
        ),
    )


def with_nodes(snapshot: Snapshot, sizes: Mapping[tuple[str, str], int]) -> Snapshot:
    """Return the snapshot as if pools (by cluster and pool) had so many nodes, at most and, if more, at once.

    Replicas that a smaller pool cannot hold leave it, as after an edit of its manifest.
    """

    def cluster(each: Cluster) -> Cluster:
        pools = tuple(
            _sized(pool, sizes[each.name, pool.name]) if (each.name, pool.name) in sizes else pool
            for pool in each.pools
        )
        return each if pools == each.pools else replace(each, pools=pools)

    return replace(snapshot, clusters=tuple(map(cluster, snapshot.clusters)))


def _sized(pool: Pool, nodes: int) -> Pool:
    before = pool.before
    if before is None and nodes < pool.maximum:
        before = PoolBefore(pool.maximum, pool.class_name)
    realised = min(pool.realised, nodes) if pool.scales else nodes
    return replace(pool, realised=realised, maximum=nodes, before=before)
