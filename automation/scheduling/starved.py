"""Starved: live replicas that wait for nodes which the cloud has refused to bring, and that have never served.

They are better off elsewhere if there is room; without any they stay, since the refusal may end. Who fits on the nodes
that are there does not wait: those that have served come first, then by identity.
"""

from collections.abc import Iterator, Mapping, Sequence

from automation.scheduling.existing import ExistingReplica
from automation.scheduling.filters import Filters
from automation.scheduling.ledger import Ledger, PoolLoad
from automation.scheduling.retain import Judge
from automation.scheduling.work import unserved
from components.naming import ReplicaId


def starved(
    filters: Filters, ledger: Ledger, judge: Judge, on: Mapping[int, Sequence[ExistingReplica]]
) -> Iterator[ReplicaId]:
    """Yield who waits for refused nodes, of those ``on`` each cluster; their pods are on the ledger already."""
    for position, replicas in on.items():
        loads = {
            number: _foreign(ledger.loads[position][number], number, position, judge, replicas)
            for number, pool in enumerate(filters.clusters[position].pools)
            if pool.refused
        }
        if not loads:
            continue
        for replica in sorted(replicas, key=lambda each: (unserved(each), each.id)):
            if not ledger.settle(loads, judge.adds(replica, position)) and unserved(replica):
                yield replica.id


def _foreign(load: PoolLoad, number: int, position: int, judge: Judge, replicas: Sequence[ExistingReplica]) -> PoolLoad:
    """Return a pool with the pods that are nobody's replicas."""
    pods = dict(load.pods)
    for replica in replicas:
        for pool, demand, count in judge.adds(replica, position):
            if pool == number:
                pods[demand] -= count
    return PoolLoad(load.hardware, load.nodes, {demand: count for demand, count in pods.items() if count})
