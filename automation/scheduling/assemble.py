"""Assembling: the values of a schedule from the work that was done, with names, labels and counts.

A replica's name is given when it is placed and never changes; the names of all live replicas of its namespace are
taken, whatever their deployment.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from automation.scheduling.existing import ExistingReplica, NamespacedName
from automation.scheduling.filters import Filters
from automation.scheduling.hosting import Add, Option, adds_of
from automation.scheduling.ledger import Ledger, PoolLoad
from automation.scheduling.reason import Reason
from automation.scheduling.result import Placed, Shortfall
from automation.scheduling.retain import Judge
from automation.scheduling.snapshot import Deployment
from automation.scheduling.surges import AT_THE_LIMIT
from automation.scheduling.work import New, Work
from components.lock import Claim, EnginePlacement, MemberPlacement
from components.naming import ReplicaId, replica_name


class Assembly:
    """Builds the parts of a schedule."""

    def __init__(
        self,
        filters: Filters,
        ledger: Ledger,
        judge: Judge,
        works: Mapping[NamespacedName, Work],
        live: Mapping[NamespacedName, Sequence[ExistingReplica]],
        *,
        names: Mapping[str, frozenset[str]],
    ) -> None:
        self._filters = filters
        self._ledger = ledger
        self._judge = judge
        self._works = works
        self._live = live
        self._members: dict[tuple[str, tuple[Claim, ...]], MemberPlacement] = {}
        self._scaling = self._needing_scale_up()
        self._taken: dict[str, set[str]] = {namespace: set(taken) for namespace, taken in names.items()}
        for (namespace, _), replicas in live.items():
            self._taken.setdefault(namespace, set()).update(replica.entry.name for replica in replicas)

    def placements(self, held: frozenset[NamespacedName]) -> list[Placed]:
        """Return every replica of the target, sorted by identity."""
        placed = [self._held(replica) for key in held for replica in self._live.get(key, ()) if self._there(replica)]
        for work in self._works.values():
            placed += self._of(work)
        placed.sort(key=lambda each: each.id)
        return placed

    def shortfalls(self, summary: Callable[[Work], str], waiting: Callable[[Work], str]) -> Iterator[Shortfall]:
        """Yield a shortfall for every deployment that does not get all it asks for.

        ``summary`` says why nothing more is placed, ``waiting`` why replicas keep an older shape.
        """
        for (namespace, name), work in self._works.items():
            wanted, placed = work.deployment.replicas, work.placed
            if placed < wanted or work.waiting or work.stranded or work.deferred:
                yield Shortfall(
                    namespace,
                    name,
                    wanted,
                    placed,
                    outdated=len(work.waiting),
                    stranded=len(work.stranded),
                    message="; ".join(_complaints(work, summary, waiting)),
                )

    def _of(self, work: Work) -> Iterator[Placed]:
        predecessors = {after: before for before, (_, after) in work.leaving.items() if after is not None}
        for replica in work.kept:
            relabelled = dict(work.deployment.labels) != replica.entry.labels
            reason = Reason.RELABELLED if relabelled else Reason.KEPT
            yield self._kept(replica, reason, work.deployment, predecessors.get(replica.id))
        for replica in work.waiting:
            yield self._kept(replica, Reason.EDIT_WAITS, None)
        staying = [(replica, Reason.NOWHERE_TO_GO) for replica in work.stranded]
        for replica, reason in [*staying, *((replica, Reason.MOVE_WAITS) for replica in work.deferred)]:
            same = work.deployment if replica.entry.shape == work.deployment.digest else None
            yield self._kept(replica, reason, same)
        for replica, (_, options), reason in work.changed:
            name, predecessor = replica.entry.name, predecessors.get(replica.id)
            yield self._fresh(work.deployment, replica.id, name, options, reason, kept=True, predecessor=predecessor)
        for new in sorted(work.new, key=lambda new: new.id):
            name = self._name(new)
            yield self._fresh(
                work.deployment,
                new.id,
                name,
                new.spot[1],
                new.reason,
                kept=False,
                predecessor=predecessors.get(new.id),
            )

    def _held(self, replica: ExistingReplica) -> Placed:
        return self._kept(replica, Reason.HELD, None)

    def _there(self, replica: ExistingReplica) -> bool:
        return self._filters.is_there(replica.id.cluster)

    def _kept(
        self,
        replica: ExistingReplica,
        reason: Reason,
        deployment: Deployment | None,
        predecessor: ReplicaId | None = None,
    ) -> Placed:
        entry = replica.entry
        return Placed(
            id=replica.id,
            name=entry.name,
            placement=entry.placement,
            shape=replica.shape,
            digest=entry.shape,
            labels=dict(deployment.labels) if deployment else entry.labels,
            kept=True,
            reason=reason,
            needs_scale_up=replica.id in self._scaling,
            predecessor=predecessor,
        )

    def _fresh(
        self,
        deployment: Deployment,
        identity: ReplicaId,
        name: str,
        options: Sequence[Option],
        reason: Reason,
        *,
        kept: bool,
        predecessor: ReplicaId | None,
    ) -> Placed:
        return Placed(
            id=identity,
            name=name,
            placement=self._placement(deployment, identity.cluster, options),
            shape=deployment.shape,
            digest=deployment.digest,
            labels=dict(deployment.labels),
            kept=kept,
            reason=reason,
            needs_scale_up=identity in self._scaling,
            predecessor=predecessor,
        )

    def _placement(
        self, deployment: Deployment, cluster: str, options: Sequence[Option]
    ) -> tuple[EnginePlacement, ...]:
        pools = self._filters.clusters[self._filters.position[cluster]].pools
        return tuple(
            EnginePlacement(
                engine=engine.name,
                members=tuple(
                    self._member(pools[pool].name, claims)
                    for pool, claims in zip(option.pools, option.claims, strict=True)
                ),
            )
            for engine, option in zip(deployment.shape.engines, options, strict=True)
        )

    def _member(self, pool: str, claims: tuple[Claim, ...]) -> MemberPlacement:
        key = (pool, claims)
        known = self._members.get(key)
        if known is None:
            known = self._members[key] = MemberPlacement(pool=pool, claims=claims)
        return known

    def _name(self, new: New) -> str:
        taken = self._taken.setdefault(new.id.namespace, set())
        name = replica_name(new.id, taken=taken)
        taken.add(name)
        return name

    def _needing_scale_up(self) -> frozenset[ReplicaId]:
        """Find the replicas whose nodes are not there yet: those that run come first, then by identity."""
        short: dict[int, dict[int, PoolLoad]] = {}
        for position in sorted(self._ledger.touched):
            pools = self._filters.clusters[position].pools
            for number, (pool, load) in enumerate(zip(pools, self._ledger.loads[position], strict=True)):
                there = PoolLoad(load.hardware, pool.present, load.pods)
                if load.pods and pool.present < load.nodes and not self._ledger.fits(there, {}):
                    short.setdefault(position, {})[number] = PoolLoad(load.hardware, pool.present)
        if not short:
            return frozenset()
        return frozenset(
            identity for identity, position, adds in self._pods(short) if not self._ledger.settle(short[position], adds)
        )

    def _pods(self, clusters: Mapping[int, object]) -> Iterator[tuple[ReplicaId, int, Sequence[Add]]]:
        for replicas in self._live.values():
            for replica in replicas:
                position = self._filters.position.get(replica.id.cluster, -1)
                if position in clusters:
                    yield replica.id, position, self._judge.adds(replica, position)
        fresh = [(new.id, new.spot) for work in self._works.values() for new in work.new]
        for identity, (position, options) in sorted(fresh, key=lambda pair: pair[0]):
            if position in clusters:
                yield identity, position, adds_of(options)


def _complaints(work: Work, summary: Callable[[Work], str], waiting: Callable[[Work], str]) -> Iterator[str]:
    wanted, placed = work.deployment.replicas, work.placed
    if placed < wanted:
        yield f"{placed} of {wanted} placed"
        yield summary(work)
    going = sorted({each for awaited in work.awaited for each in awaited.going})
    if going:
        names = ", ".join(f"{replica} (priority {priority})" for replica, priority in going)
        leave = "leaves" if len(going) == 1 else "leave"
        yield f"{names} {leave} for it (priority {work.deployment.priority}): plan again then"
    if work.preempted:
        names = ", ".join(str(replica.id) for replica in sorted(work.preempted, key=lambda each: each.id))
        yield f"{names} {'gives' if len(work.preempted) == 1 else 'give'} way to a higher priority"
    if work.stranded:
        names = ", ".join(str(replica.id) for replica in work.stranded)
        yield f"{names} must leave and {'has' if len(work.stranded) == 1 else 'have'} nowhere to go"
    if work.deferred:
        names = ", ".join(str(replica.id) for replica in work.deferred)
        wait = "waits" if len(work.deferred) == 1 else "wait"
        yield f"{names} must leave, and {wait} for a later move {AT_THE_LIMIT}"
    if work.waiting:
        yield waiting(work)
