"""One deployment's work in a pass: its live replicas by what becomes of them, and its new ones.

The pass fills it in stages; at the end every live replica is in exactly one of ``kept``, ``waiting``, ``stranded``,
``changed`` or ``leaving``.
"""

from collections import Counter
from dataclasses import dataclass, field
from itertools import count

from automation.scheduling.existing import ExistingReplica
from automation.scheduling.filters import Clusters
from automation.scheduling.needs import Need
from automation.scheduling.place import Spot
from automation.scheduling.reason import Reason
from automation.scheduling.snapshot import Deployment
from components.lock import Phase
from components.naming import ReplicaId


@dataclass(slots=True, eq=False)
class Pending:
    """A place for a new replica; it may still be moved."""

    spot: Spot


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
    pending: list[Pending] = field(default_factory=list)
    """Places for new replicas that are not final."""
    new: list[New] = field(default_factory=list)
    leaving: dict[ReplicaId, tuple[Reason, ReplicaId | None]] = field(default_factory=dict)
    """Why each of the others goes, and which live replica has taken its place."""

    @property
    def missing(self) -> int:
        """How many more replicas the target needs than live ones stay, old shapes included."""
        have = len(self.kept) + len(self.edited) + len(self.moving) + len(self.changed)
        return max(0, self.deployment.replicas - have)

    @property
    def unplaced(self) -> int:
        """How many of those, and of those that must leave their place, have no place yet."""
        found = sum(new.reason in {Reason.PLACED, Reason.MOVED} for new in self.new)
        return self.missing + len(self.moving) - len(self.pending) - found

    @property
    def replacing(self) -> int:
        """How many new replicas take the place of a live one."""
        return sum(new.reason is not Reason.PLACED for new in self.new)

    @property
    def placed(self) -> int:
        """Replicas of the target that run where they may, in whatever shape."""
        return len(self.kept) + len(self.changed) + len(self.waiting) + len(self.new)

    @property
    def olds(self) -> list[ExistingReplica]:
        """Live replicas that are to be replaced and about which nothing is decided yet."""
        return [replica for replica, _ in (*self.moving, *self.edited)]

    @property
    def current(self) -> list[ReplicaId]:
        """Replicas of the target that run what is wanted: those that do not serve yet first, then by identity."""
        live = [*self.kept, *(replica for replica, _, _ in self.changed)]
        ranked = [(each.entry.phase is not Phase.STARTING, each.id) for each in live]
        return [identity for _, identity in sorted(ranked + [(False, new.id) for new in self.new])]

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
