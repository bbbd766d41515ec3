"""The scheduler: ``schedule(snapshot)`` says where every replica of the fleet belongs, and why.

Pure: the same snapshot gives the same schedule, in whatever order its parts were read, under any hash seed. A pass:

1. every live replica is charged to its pools and judged (``shrink``, ``starved``, ``retain``);
2. what is missing and what must move is placed (``place``), the whole fleet in one order, and what found no room gets
   some by moving other new ones (``augment``), or where the environment allows it by letting live ones of a lower
   priority go (``preempt``);
3. edited replicas get successors beside them, or change in place (``moves``);
4. names are given, shortfalls counted, and the trace stands ready (``explain``).

Laws, each with a test in ``tests/laws``: L1 nothing is over the promise under any legal packing; L2 a replica moves or
goes only for a reason of the one table; L3 the order of the input means nothing (the lists of pools and devices keep
theirs); L4 planning again changes nothing; L5 in steady mode added capacity never unplaces; L6 a cluster that was not
chosen can be taken away; L7 every unplaced replica has a verdict for every cluster; L8 trace and decision agree; L9
``Compatible`` makes the predecessor's choices; L10 nothing new takes more than a limit allows; L11 a replica gives way
only to one of a higher priority, and only where the environment allows it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, groupby

from automation.scheduling import repack
from automation.scheduling.assemble import Assembly
from automation.scheduling.augment import Augmenter
from automation.scheduling.bill import Bill
from automation.scheduling.capacity import Capacity
from automation.scheduling.existing import ExistingReplica, NamespacedName
from automation.scheduling.explain import Explainer
from automation.scheduling.filters import Filters
from automation.scheduling.hardware import Catalogue
from automation.scheduling.hosting import Hostings
from automation.scheduling.ledger import Ledger, PoolLoad
from automation.scheduling.limits import Limits
from automation.scheduling.matching import Evaluate, Matcher, cel_evaluate
from automation.scheduling.moves import Moves
from automation.scheduling.needs import Need, Needs
from automation.scheduling.place import Placer
from automation.scheduling.preempt import Preemption
from automation.scheduling.reason import Reason
from automation.scheduling.refused import Overrun
from automation.scheduling.repack import Repacker
from automation.scheduling.result import Leaving, Overfull, Placed, Schedule, Shortfall, Shrinking
from automation.scheduling.retain import Judge
from automation.scheduling.room import Owners, RoomExplainer
from automation.scheduling.shrink import Shrinks
from automation.scheduling.snapshot import Accounting, Cluster, Deployment, Snapshot, Strategy
from automation.scheduling.starved import starved
from automation.scheduling.surges import Surges
from automation.scheduling.takes import Takes
from automation.scheduling.trace import Trace
from automation.scheduling.waiting import Waiting
from automation.scheduling.work import Work
from components.errors import SchedulingError
from components.naming import ReplicaId

__all__ = ["Leaving", "Overfull", "Placed", "Schedule", "Shortfall", "Shrinking", "schedule"]


def schedule(snapshot: Snapshot, *, evaluate: Evaluate | None = None) -> Schedule:
    """Return where every replica of the fleet belongs, what is missing, and why.

    Raises SchedulingError for a deployment whose own strategy is ``Compatible``.
    ``evaluate`` answers selectors; by default the compiled selectors of ``components.cel`` do.
    """
    return Pass(snapshot, evaluate or cel_evaluate()).run()


class Pass:
    """One pass over one snapshot; once it has run, ``works`` says what became of each deployment, ``explainer`` why."""

    explainer: Explainer

    def __init__(self, snapshot: Snapshot, evaluate: Evaluate) -> None:
        compatible = snapshot.options.strategy is Strategy.COMPATIBLE
        for deployment in snapshot.deployments:
            if deployment.strategy is Strategy.COMPATIBLE:
                raise SchedulingError(f"{'/'.join(deployment.key)}: strategy Compatible is for a whole fleet")
        self.snapshot = snapshot
        # Whole nodes are counted as the predecessor counts them, so what is on a node besides devices does not matter.
        devices_only = compatible or snapshot.options.accounting is Accounting.NODE
        stated = any(pool.allocatable for cluster in snapshot.clusters for pool in cluster.pools)
        self.needs = Needs(with_resources=stated and not devices_only)
        self.catalogue = Catalogue(devices_only=devices_only)
        matcher = Matcher(evaluate)
        self.hostings = Hostings(
            matcher, whole_nodes=snapshot.options.accounting is Accounting.NODE, first_fit_only=compatible
        )
        self.filters = Filters(snapshot.counted, snapshot.caches, self.catalogue, self.hostings, any_version=compatible)
        self.ledger = Ledger(self._loads(), Capacity(snapshot.options.accounting), first_fit_only=compatible)
        self.judge = Judge(self.filters, matcher)
        budget = snapshot.budget
        self.bill = Bill(self.filters, self.ledger, budget) if budget else None
        self._enforced = self.bill if budget and not budget.advisory else None
        self.limits = Limits(
            Takes(self.filters, whole_nodes=snapshot.options.accounting is Accounting.NODE),
            snapshot.quotas,
            snapshot.deployments,
            self._enforced,
        )
        self.placer = Placer(self.filters, self.ledger, self.limits, snapshot.options.strategy)
        self.moves = Moves(self.filters, self.placer, self.judge, by_readiness=not compatible)
        self._looks = repack.LOOKS
        self.surges = Surges(snapshot.options.max_surge, snapshot.options.max_surge_per_cluster)
        self.works: dict[NamespacedName, Work] = {}
        self.live: dict[NamespacedName, list[ExistingReplica]] = {}
        for replica in sorted(snapshot.replicas, key=lambda replica: replica.id):
            self.live.setdefault((replica.id.namespace, replica.id.deployment), []).append(replica)
        self._charge_foreign()
        dwell = None if compatible else snapshot.options.repin_dwell
        self.judge.stuck = frozenset(
            position for position, cluster in enumerate(self.filters.clusters) if cluster.is_stuck(snapshot.now, dwell)
        )

    def run(self) -> Schedule:
        """Take all stages."""
        on = self.filters.holding(chain.from_iterable(self.live.values()))
        self._count(on)
        overfull = tuple(self._overfull())
        deployments = sorted(self.snapshot.deployments, key=lambda deployment: deployment.key)
        shrinking = self._shrinking(deployments, on)
        works = self.works = {each.key: self._work(each) for each in deployments if each.key not in self.snapshot.held}
        for work in works.values():
            self.hostings.want(work.need, work.deployment.replicas, self.catalogue.all)
        for work in works.values():
            work.allowed = self.filters.allowed(work.deployment, work.need)
            self.moves.retain(work, self.live.get(work.deployment.key, ()))
        order = self._order(works.values())
        self._place(order)
        self._move(order)
        return replace(self._schedule(works, overfull), shrinking=shrinking)

    def _place(self, order: Sequence[Work]) -> None:
        """Find places for what is missing and for what must move; those of higher priority may have others go.

        Who may put aside others is placed before them, so that room which it is to get is given to nobody else.
        """
        compatible = self.snapshot.options.strategy is Strategy.COMPATIBLE
        preempts = self.snapshot.options.preemption and not compatible
        preemption = Preemption(self.filters, self.placer, self.judge, order) if preempts else None
        tiers = groupby(order, key=lambda work: work.deployment.priority if preempts else 0)
        for works in [list(tier) for _, tier in tiers]:
            for work in works:
                self.moves.place(work)
            if not compatible:
                self._make_room(works)
            if preemption is not None:
                for work in works:
                    preemption.run(work)

    def _make_room(self, works: Sequence[Work]) -> None:
        """Place what found no room, by moving other new replicas; what changes places may leave room again."""
        Augmenter(self.filters, self.placer).run(works)
        repacker = Repacker(self.placer, self.ledger, self.snapshot.options.strategy, works, looks=self._looks)
        gained = repacker.run()
        self._looks -= repacker.spent
        if gained:
            Augmenter(self.filters, self.placer).run(works)

    def _move(self, order: Sequence[Work]) -> None:
        """Give places numbers and edited replicas successors; a change in place may free room, so look again then."""
        while True:
            for work in order:
                self.moves.number(work)
                self.moves.surge(work)
            if not sum(self.moves.change(work) for work in order):
                break
            for work in order:
                self.moves.place(work)
        for work in order:
            self.moves.finish(work)

    def _loads(self) -> list[tuple[PoolLoad, ...]]:
        declared = self.snapshot.options.strategy is Strategy.COMPATIBLE
        return [
            tuple(
                PoolLoad(hardware, pool.maximum if declared else pool.nodes)
                for pool, hardware in zip(cluster.pools, row, strict=True)
            )
            for cluster, row in zip(self.filters.clusters, self.filters.hardware, strict=True)
        ]

    def _charge_foreign(self) -> None:
        """Charge what was seen of other people's pods."""
        for position, cluster in enumerate(self.filters.clusters):
            for number, pool in enumerate(cluster.pools):
                if pool.observed is None:
                    continue
                for pod in pool.observed.foreign:
                    demand = self.filters.hardware[position][number].foreign(dict(pod.devices), pod.resources)
                    if demand is not None:
                        self.ledger.charge(position, [(number, demand, 1)])

    def _overfull(self) -> Iterable[Overfull]:
        for position in sorted(self.ledger.touched):
            cluster = self.filters.clusters[position]
            for pool, load in zip(cluster.pools, self.ledger.loads[position], strict=True):
                if load.pods and not self.ledger.fits(load, {}):
                    pods = sum(load.pods.values())
                    promised = "pod is" if pods == 1 else "pods are"
                    nodes = "node is" if load.nodes == 1 else "nodes are"
                    message = f"{pods} {promised} promised more than its {load.nodes} {nodes} sure to hold"
                    yield Overfull(cluster.name, pool.name, message)

    def _overruns(self, leaving: Collection[ReplicaId]) -> Iterable[Overrun]:
        """Yield the limits that do not hold once all that leaves has gone."""
        if self.bill is None and not self.limits.any:
            return
        live = chain.from_iterable(self.live.values())
        going = self.filters.holding(each for each in live if each.id in leaving)
        self._count(going, -1)
        yield from self.limits.overruns()
        if self.bill is not None and (text := self.bill.overrun()):
            yield Overrun("the budget", text)
        self._count(going)

    def _count(self, on: Mapping[int, Sequence[ExistingReplica]], times: int = 1) -> None:
        """Count live replicas, by cluster, on the pools and in the limits (``times=-1`` takes them away again)."""
        for position, replicas in on.items():
            for replica in replicas:
                key = (replica.id.namespace, replica.id.deployment)
                self.placer.count(key, position, self.judge.adds(replica, position), times=times)

    def _shrinking(
        self, deployments: Sequence[Deployment], on: Mapping[int, Sequence[ExistingReplica]]
    ) -> tuple[Shrinking, ...]:
        """Find the pools that shrink under what runs on them; let the judge know who has to leave, and who waits."""
        known = {each.key: each for each in deployments}
        found = tuple(Shrinks(self.filters, self.ledger, self.judge, known, self.snapshot.held).find(on))
        if self.snapshot.options.strategy is not Strategy.COMPATIBLE:
            self.judge.starved = frozenset(starved(self.filters, self.ledger, self.judge, on))
        self.judge.excess = frozenset(chain.from_iterable(each.excess for each in found))
        return found

    def _work(self, deployment: Deployment) -> Work:
        account = self.limits.account(deployment)
        return Work(deployment, self._need(deployment), allowed=0, account=account, surges=self.surges)

    def _need(self, deployment: Deployment) -> Need:
        fabric = self.snapshot.options.fabric_for(deployment)
        return self.needs.of(deployment.shape, deployment.digest, spot=deployment.spot, fabric=fabric)

    def _order(self, works: Iterable[Work]) -> list[Work]:
        """Return the order in which deployments are placed: the predecessor's, or priority and the smallest first."""
        if self.snapshot.options.strategy is Strategy.COMPATIBLE:
            return list(works)
        return sorted(works, key=lambda work: (-work.deployment.priority, work.need.size, work.deployment.key))

    @cached_property
    def _given(self) -> dict[str, Cluster]:
        return {cluster.name: cluster for cluster in self.snapshot.clusters}

    def _sight(self, cluster: Cluster) -> str:
        """Say what a cluster's nodes are counted by, from the cluster as it was given."""
        return self.snapshot.sight(self._given[cluster.name])

    def _rooms(self, works: Mapping[NamespacedName, Work]) -> RoomExplainer:
        return RoomExplainer(self.filters, self.ledger, works, Owners(self.filters, self.judge, self.live))

    def _schedule(self, works: Mapping[NamespacedName, Work], overfull: tuple[Overfull, ...]) -> Schedule:
        options = self.snapshot.options
        explainer = self.explainer = Explainer(
            self.filters,
            self.ledger,
            self.hostings,
            self._rooms(works),
            works,
            strategy=options.strategy,
            placer=self.placer,
            sight=self._sight,
            holds=self.judge.adds,
            bill=self._enforced,
        )
        waiting = Waiting(self.filters, self.placer, self.moves, explainer)
        assembly = Assembly(self.filters, self.ledger, self.judge, works, self.live, names=self.snapshot.names)
        placements = assembly.placements(self.snapshot.held)
        shortfalls = tuple(assembly.shortfalls(explainer.summary, waiting.message))
        short = [works[each.namespace, each.deployment] for each in shortfalls]
        leaving = [
            Leaving(replica, reason, successor)
            for work in works.values()
            for replica, (reason, successor) in work.leaving.items()
        ]
        for key, replicas in self.live.items():
            if key not in works and key not in self.snapshot.held:
                leaving += [Leaving(replica.id, Reason.REMOVED) for replica in replicas]
        leaving.sort(key=lambda each: each.id)
        return Schedule(
            placements=tuple(placements),
            shortfalls=shortfalls,
            trace=Trace(tuple(works), explainer.explain),
            leaving=tuple(leaving),
            overfull=overfull,
            overruns=tuple(self._overruns({each.id for each in leaving})),
            wrong_selectors=tuple(chain.from_iterable(map(explainer.wrong_selectors, short))),
        )
