"""A verdict: why a cluster was taken, passed over or refused, with numbers a person can act on.

Codes are few and stable, ordered by severity: the verdict of a cluster is its first failing filter in that order.
"""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from automation.scheduling.verdict_meanings import VERDICT_MEANINGS


class Code(StrEnum):
    """The outcome for one cluster, or for one pool of it. The order below is the order of severity, worst first."""

    LOST = "lost"
    """The cluster is gone for good."""
    GOING_AWAY = "going-away"
    """The cluster or the pool is being removed or replaced."""
    NOT_READY = "not-ready"
    """The cluster has a problem and gets nothing new."""
    TOO_OLD = "too-old"
    """The cluster's API server or one of its nodes is older than device claims are."""
    TAINTED = "tainted"
    """The cluster carries a taint that the deployment does not tolerate."""
    DESELECTED = "deselected"
    """The deployment's clusterSelector leaves the cluster out."""
    OUTSIDE_CACHE = "outside-cache"
    """The cache's clusterSelector leaves the cluster out."""
    NO_STORAGE = "no-storage"
    """The cluster has no shared storage class, so no cache can be staged on it."""
    CACHE_FAILED = "cache-failed"
    """Staging the cache failed there."""
    NO_POOLS = "no-pools"
    """The cluster has no GPU pools."""
    SELECTOR_ERROR = "selector-error"
    """A selector cannot be evaluated on a device of the pool; the pod's scheduling would be aborted for ever."""
    NO_MATCH = "no-match"
    """No pool has the devices that are asked for."""
    POD_TOO_LARGE = "pod-too-large"
    """A pod asks for more devices than one node has."""
    SELECTOR_TOO_NEW = "selector-too-new"
    """A selector needs a newer Kubernetes than the cluster's; with that, the pool would have the devices."""
    SPOT_ONLY = "spot-only"
    """Such devices are on spot nodes alone, which the deployment does not allow."""
    NO_FABRIC = "no-fabric"
    """The nodes that would carry a gang do not share the fast network that it needs."""
    OVER_QUOTA = "over-quota"
    """The quota of the namespace ends."""
    OVER_COST = "over-cost"
    """All replicas of the deployment together would cost more than it may."""
    OVER_BUDGET = "over-budget"
    """The nodes of the fleet could cost more than its budget."""
    NO_ROOM = "no-room"
    """There are such devices, and not enough of them are free."""
    FITS = "fits"
    """It would fit; the replicas are elsewhere, or none is missing."""
    TAKEN = "taken"
    """It holds at least one replica of the deployment."""

    @property
    def rank(self) -> int:
        """0 for the worst; a smaller rank hides a larger one."""
        return _RANKS[self]

    @property
    def refused(self) -> bool:
        """Whether no further replica can be placed for this reason."""
        return self not in {Code.FITS, Code.TAKEN}

    @property
    def noun(self) -> str:
        """The word of a summary line: ``2 tainted``."""
        return VERDICT_MEANINGS[self].noun or self.value.replace("-", " ")


_RANKS = {code: position for position, code in enumerate(Code)}


FABRIC_LINES = (
    "write `fabricId` for the pool if its nodes share one, or `fabric: None` for the deployment (for all of them in"
    " `spec.scheduling` of the Environment) if plain Ethernet will do"
)
"""What ends a ``NO_FABRIC`` where the deployment says nothing of a network."""


@dataclass(frozen=True, slots=True)
class PoolVerdict:
    """Why an engine can or cannot run on a pool.

    ``engine``, ``request``, ``expression`` and ``device`` name the first thing that failed, as far as they apply;
    ``wanted`` and ``free`` are devices (nodes under Node accounting).
    """

    pool: str
    code: Code
    message: str
    engine: str = ""
    member: str = ""
    request: str = ""
    expression: str = ""
    device: str = ""
    wanted: int | None = None
    free: int | None = None
    meant: bool = False
    """It is a selector's error on a device that the selector is about, or beside one that it matches."""


@dataclass(frozen=True, slots=True)
class Score:
    """What a cluster is compared by with others that have room; which part counts first is the strategy's order."""

    own: int
    """Replicas of the deployment on the cluster."""
    region: int
    """Replicas of it in the cluster's region; on the cluster, where nobody knows the region."""
    mixes: bool
    """Whether pods of other sizes are on the pools that it takes, which costs room."""
    cost: Decimal | None
    """USD per hour of the nodes, or shares of nodes, that it takes; None when a price is not known."""
    wanted: int
    """Pods of the fleet that the same hardware suits."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a cluster was taken, passed over or refused for one deployment.

    ``taken`` counts the deployment's replicas there in the schedule. ``planned`` marks a cluster that this plan
    creates. ``score`` is that of one more replica, where no filter refuses it.
    """

    cluster: str
    code: Code
    message: str
    planned: bool = False
    taken: int = 0
    wanted: int | None = None
    free: int | None = None
    pools: tuple[PoolVerdict, ...] = ()
    score: Score | None = None
