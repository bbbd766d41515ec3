"""One deployment's work in a pass: its live replicas by what becomes of them, and its new ones.

The pass fills it in stages; at the end every live replica is in exactly one of ``kept``, ``waiting``, ``stranded``,
``deferred``, ``changed`` or ``leaving``.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count

from automation.scheduling.existing import ExistingReplica
from automation.scheduling.filters import Clusters
from automation.scheduling.hosting import Spot
from automation.scheduling.limits import Account
from automation.scheduling.needs import Need
from automation.scheduling.patterns import NO_LIMIT
from automation.scheduling.reason import Reason
from automation.scheduling.snapshot import Deployment
from automation.scheduling.surges import Surges
from automation.scheduling.takes import NOTHING, Amounts
from components.lock import Phase
from components.naming import ReplicaId


@dataclass(slots=True, eq=False)
class Pending:
    """A place for a new replica, and whether it is one more (PLACED) or stands in (MOVED); it may still be moved."""

    spot: Spot
    reason: Reason


@dataclass(frozen=True, slots=True)
class Awaited:
    """A place that a new replica gets in the next move, once others have gone from its cluster.

    ``going`` are their identities and priorities.
    """

    spot: Spot
    reason: Reason
    going: tuple[tuple[ReplicaId, int], ...]


@dataclass(slots=True)
class New:
    """A new replica: who, where, and why."""

    id: ReplicaId
    spot: Spot
    reason: Reason


@dataclass(slots=True)
class Work:
    """One deployment: what it wants and what it has."""

    deployment: Deployment
    need: Need
    allowed: Clusters
    account: Account | None = None
    """What its replicas are counted in; None when nothing limits them."""
    surges: Surges = field(default_factory=Surges)
    """The limits of successors that all deployments share."""
    surged: int = 0
    """Its own successors whose predecessors have not gone."""
    release: Amounts = field(default_factory=lambda: NOTHING)
    """What a successor may take because another one goes for it."""
    indices: dict[str, set[int]] = field(default_factory=dict)
    """Indices in use by cluster, those of replicas that go included."""
    own: Counter[int] = field(default_factory=Counter)
    """Replicas of the target by cluster."""
    kept: list[ExistingReplica] = field(default_factory=list)
    """They run what is wanted, where they may."""
    edited: list[tuple[ExistingReplica, Reason]] = field(default_factory=list)
    """They run an older shape where they may, and nothing is decided yet."""
    moving: list[tuple[ExistingReplica, Reason]] = field(default_factory=list)
    """They must leave their place, and nothing is decided yet."""
    changed: list[tuple[ExistingReplica, Spot, Reason]] = field(default_factory=list)
    """They take the wanted shape in place."""
    waiting: list[ExistingReplica] = field(default_factory=list)
    """They keep an older shape for now."""
    stranded: list[ExistingReplica] = field(default_factory=list)
    """They should leave and have nowhere to go."""
    deferred: list[ExistingReplica] = field(default_factory=list)
    """They should leave, and as many successors as may exist do already."""
    pending: list[Pending] = field(default_factory=list)
    """Places for new replicas that are not final."""
    awaited: list[Awaited] = field(default_factory=list)
    """Places that replicas of a lower priority give up."""
    preempted: list[ExistingReplica] = field(default_factory=list)
    """They go for replicas of a higher priority; what replaces them is for the next move to say."""
    new: list[New] = field(default_factory=list)
    leaving: dict[ReplicaId, tuple[Reason, ReplicaId | None]] = field(default_factory=dict)
    """Why each of the others goes, and which live replica has taken its place."""

    @property
    def missing(self) -> int:
        """How many more replicas the target needs than live ones stay, old shapes included."""
        have = len(self.kept) + len(self.edited) + len(self.moving) + len(self.changed) + len(self.preempted)
        return max(0, self.deployment.replicas - have)

    @property
    def lacking(self) -> dict[Reason, int]:
        """How many of those (PLACED), and of those that must leave their place (MOVED), have no place yet."""
        found = [each.reason for each in self.pending]
        found += [each.reason for each in self.new]
        found += [each.reason for each in self.awaited]
        return {
            Reason.PLACED: self.missing - found.count(Reason.PLACED),
            Reason.MOVED: min(len(self.moving) - found.count(Reason.MOVED), self.surge_left),
        }

    @property
    def surge_left(self) -> int:
        """How many more of its replicas may get a successor beside them."""
        most = self.deployment.max_surge
        return min(self.surges.left, NO_LIMIT if most is None else max(0, most - self.surged))

    @property
    def held_back(self) -> bool:
        """Whether a limit of successors keeps it from some place at least."""
        return not self.surge_left or bool(self.allowed & self.surges.full)

    @property
    def release_of_next(self) -> Amounts:
        """What one more replica may take beyond the limits: something only if all that lack a place must move."""
        missing = self.deployment.replicas - self.placed - len(self.stranded)
        return self.release if self.stranded and missing <= 0 else NOTHING

    @property
    def replacing(self) -> int:
        """How many new replicas take the place of a live one."""
        return sum(new.reason is not Reason.PLACED for new in self.new)

    @property
    def placed(self) -> int:
        """Replicas of the target, in whatever shape, but for those that should leave and have nowhere to go."""
        return len(self.kept) + len(self.changed) + len(self.waiting) + len(self.deferred) + len(self.new)

    @property
    def olds(self) -> list[ExistingReplica]:
        """Live replicas that are to be replaced and about which nothing is decided yet."""
        return [replica for replica, _ in (*self.moving, *self.edited)]

    @property
    def underway(self) -> int:
        """How many old replicas an earlier plan has begun to replace, as far as phases tell.

        Where a limit leaves a deployment short of what it wants, numbers alone do not tell a successor from one more.
        """
        draining = sum(each.entry.phase is Phase.DRAINING for each in self.olds)
        return min(len(self.olds), len(self.beginning) + draining)

    @property
    def beginning(self) -> list[ReplicaId]:
        """Live replicas that run what is wanted and have not served, as far as phases tell."""
        return [each.id for each in self.kept if each.entry.phase is Phase.STARTING]

    @property
    def current(self) -> list[ReplicaId]:
        """Replicas of the target that run what is wanted: those that do not serve yet first, then by identity."""
        arriving = self.arriving
        identities = [*(each.id for each in self._up_to_date), *(new.id for new in self.new)]
        return sorted(identities, key=lambda each: (each not in arriving, each))

    @property
    def arriving(self) -> frozenset[ReplicaId]:
        """Those of ``current`` that do not serve yet, so that what goes for one of them goes after it serves."""
        begun = (each.id for each in self._up_to_date if each.entry.phase is Phase.STARTING)
        return frozenset([*begun, *(new.id for new in self.new)])

    @property
    def _up_to_date(self) -> list[ExistingReplica]:
        """Live replicas that run what is wanted, or will in their place."""
        return [*self.kept, *(replica for replica, _, _ in self.changed)]

    def release_for(self, reason: Reason) -> Amounts:
        """Return what a new replica may take beyond the limits for the sake of one that goes for it."""
        return self.release if reason is Reason.MOVED else NOTHING

    def pend(self, spot: Spot, reason: Reason) -> Pending:
        """Take a place for a new replica that may still be moved."""
        pending = Pending(spot, reason)
        self.pending.append(pending)
        if reason is not Reason.PLACED:
            self.take_surge(spot[0])
        return pending

    def repend(self, spots: Iterable[Spot], reason: Reason) -> None:
        """Let the new replicas of one reason be on these places: those that stay on their cluster keep their turn."""
        found: dict[int, list[Spot]] = {}
        for spot in spots:
            found.setdefault(spot[0], []).append(spot)
        elsewhere = []
        for each in [each for each in self.pending if each.reason is reason]:
            if found.get(each.spot[0]):
                each.spot = found[each.spot[0]].pop(0)
            else:
                elsewhere.append(each)
        rest = [spot for each in found.values() for spot in each]
        for each, spot in zip(elsewhere, rest, strict=False):
            each.spot = spot
        for spot in rest[len(elsewhere) :]:
            self.pend(spot, reason)
        gone = elsewhere[len(rest) :]
        self.pending = [each for each in self.pending if each not in gone]

    def may_be_anywhere(self, each: Pending | Reason) -> bool:
        """Whether only room decides where a new replica is: not where clusters take so many successors and no more."""
        reason = each if isinstance(each, Reason) else each.reason
        return reason is Reason.PLACED or self.surges.on_cluster is None

    def take_surge(self, position: int) -> None:
        """Count a successor on a cluster."""
        self.surged += 1
        self.surges.take(position)

    def give_way(self, replica: ExistingReplica) -> None:
        """Let a live replica go for one of a higher priority."""
        self.kept = [each for each in self.kept if each is not replica]
        self.edited = [pair for pair in self.edited if pair[0] is not replica]
        self.changed = [each for each in self.changed if each[0] is not replica]
        self.preempted.append(replica)
        self.leaving[replica.id] = (Reason.PREEMPTED, None)

    def add(self, cluster: str, spot: Spot, reason: Reason) -> None:
        """Take a new replica in, under the lowest index that is free on its cluster."""
        used = self.indices.setdefault(cluster, set())
        index = next(number for number in count() if number not in used)
        used.add(index)
        identity = ReplicaId(self.deployment.namespace, self.deployment.name, cluster, index)
        self.new.append(New(identity, spot, reason))


def unserved(replica: ExistingReplica) -> bool:
    """Whether a replica has never served: nothing routes to it and it is not ready to be routed to."""
    return replica.entry.phase is Phase.STARTING and not replica.ready


def serves(replica: ExistingReplica) -> bool:
    """Whether a replica takes traffic and its workload is in order."""
    return replica.entry.phase is Phase.SERVING and replica.ready
