"""Shrinking: which live replicas do not fit what a pool is edited to, and so have to leave before the edit is applied.

The rule, for the pools of one cluster together: live replicas are taken in order, and each that fits the new size
beside those already taken stays. The order is: those that cannot be moved (their manifest cannot be used); those that
want to stay before those that leave for another reason anyway; those that take fewer devices, so that as many as
possible stay; those that serve; then by identity, so the lowest index. Only what a manifest declares counts, never an
observation: a node that is broken today moves nobody.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from automation.scheduling.existing import ExistingReplica, NamespacedName
from automation.scheduling.filters import Filters
from automation.scheduling.ledger import Ledger, PoolLoad
from automation.scheduling.result import Shrinking
from automation.scheduling.retain import MOVING, Judge
from automation.scheduling.snapshot import Deployment
from automation.scheduling.work import serves


class Shrinks:
    """Finds the pools whose edits have to wait, and whom they wait for."""

    def __init__(
        self,
        filters: Filters,
        ledger: Ledger,
        judge: Judge,
        deployments: Mapping[NamespacedName, Deployment],
        held: Collection[NamespacedName],
    ) -> None:
        self._filters = filters
        self._ledger = ledger
        self._judge = judge
        self._deployments = deployments
        self._held = held

    def find(self, on: Mapping[int, Sequence[ExistingReplica]]) -> Iterator[Shrinking]:
        """Yield the pools that something has to leave, by cluster (as ``on`` has them) and then in its order."""
        for position, replicas in on.items():
            pools = self._filters.clusters[position].pools
            numbers = [number for number, pool in enumerate(pools) if pool.before and not pool.leaving]
            if numbers:
                yield from self._of(position, numbers, replicas)

    def _of(self, position: int, numbers: Sequence[int], replicas: Sequence[ExistingReplica]) -> Iterator[Shrinking]:
        cluster = self._filters.clusters[position]
        loads = {
            number: PoolLoad(self._filters.hardware[position][number], cluster.pools[number].maximum)
            for number in numbers
        }
        excess: dict[int, list[ExistingReplica]] = {}
        for replica in sorted(replicas, key=lambda each: self._precedence(each, position, loads)):
            used = {pool for pool, _, _ in self._judge.adds(replica, position)} & loads.keys()
            lost = self._judge.uncounted(replica, position) & loads.keys()
            if lost or not self._ledger.settle(loads, self._judge.adds(replica, position)):
                for number in used | lost:
                    excess.setdefault(number, []).append(replica)
        for number in sorted(excess):
            pool = cluster.pools[number]
            assert pool.before is not None
            yield Shrinking(
                cluster.name,
                pool.name,
                pool.before,
                pool.maximum,
                pool.class_name,
                tuple(sorted(each.id for each in excess[number])),
            )

    def _precedence(self, replica: ExistingReplica, position: int, loads: Mapping[int, PoolLoad]) -> tuple[object, ...]:
        key = (replica.id.namespace, replica.id.deployment)
        deployment = self._deployments.get(key)
        wants_to_stay = deployment is not None and self._judge.judge(replica, deployment) not in MOVING
        size = self._filters.size(position, [add for add in self._judge.adds(replica, position) if add[0] in loads])
        return (key not in self._held, not wants_to_stay, size, not serves(replica), replica.id)
