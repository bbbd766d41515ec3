"""Starved: live replicas that wait for nodes which the cloud has refused to bring, and that have never served.

They are better off elsewhere if there is room; without any they stay, since the refusal may end. Who fits on the nodes
that are there does not wait: those that have served come first, then by identity.
"""

from collections.abc import Mapping, Sequence

from automation.scheduling.existing import ExistingReplica, NamespacedName
from automation.scheduling.filters import Filters
from automation.scheduling.ledger import Ledger, PoolLoad
from automation.scheduling.retain import Judge
from automation.scheduling.snapshot import ClusterState
from automation.scheduling.work import unserved
from components.naming import ReplicaId


def starved(
    filters: Filters, ledger: Ledger, judge: Judge, live: Mapping[NamespacedName, Sequence[ExistingReplica]]
) -> frozenset[ReplicaId]:
    """Return who waits for refused nodes; the pods of all live replicas are on the ledger already."""
    refused = {
        position: [number for number, pool in enumerate(cluster.pools) if pool.refused]
        for position, cluster in filters.holding(live)
        if any(pool.refused for pool in cluster.pools) and cluster.state is not ClusterState.LOST
    }
    on: dict[int, list[ExistingReplica]] = {}
    for replicas in live.values() if refused else ():
        for replica in replicas:
            position = filters.position.get(replica.id.cluster, -1)
            if position in refused:
                on.setdefault(position, []).append(replica)
    found: set[ReplicaId] = set()
    for position, replicas in on.items():
        loads = {
            number: _foreign(ledger.loads[position][number], number, position, judge, replicas)
            for number in refused[position]
        }
        for replica in sorted(replicas, key=lambda each: (unserved(each), each.id)):
            if not ledger.settle(loads, judge.adds(replica, position)) and unserved(replica):
                found.add(replica.id)
    return frozenset(found)


def _foreign(load: PoolLoad, number: int, position: int, judge: Judge, replicas: Sequence[ExistingReplica]) -> PoolLoad:
    """Return a pool with the pods that are nobody's replicas."""
    pods = dict(load.pods)
    for replica in replicas:
        for pool, demand, count in judge.adds(replica, position):
            if pool == number:
                pods[demand] -= count
    return PoolLoad(load.hardware, load.nodes, {demand: count for demand, count in pods.items() if count})
