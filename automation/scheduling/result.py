"""The values of a schedule: where every replica belongs, what is missing, and why.

Not fitting is a result (a shortfall with its reasons), never an error. How a schedule comes about is in ``schedule``,
how it becomes a lock is planning's business.
"""

from dataclasses import dataclass, field

from automation.scheduling.reason import Reason
from automation.scheduling.refused import Overrun
from automation.scheduling.snapshot import PoolBefore
from automation.scheduling.trace import Trace
from components.lock import EnginePlacement, ReplicaShape
from components.naming import ReplicaId


@dataclass(frozen=True, slots=True)
class Placed:
    """A replica of the target.

    ``kept`` is False for a new one. ``predecessor`` is the live replica that it replaces: that one goes only after
    this one serves. ``needs_scale_up`` says that its nodes are not there yet. ``labels`` are the user's alone.
    """

    id: ReplicaId
    name: str
    placement: tuple[EnginePlacement, ...]
    shape: ReplicaShape
    digest: str
    labels: dict[str, str]
    kept: bool
    reason: Reason
    needs_scale_up: bool = False
    predecessor: ReplicaId | None = None


@dataclass(frozen=True, slots=True)
class Leaving:
    """A live replica that is not in the target, and why; ``successor`` takes its place when there is one."""

    id: ReplicaId
    reason: Reason
    successor: ReplicaId | None = None


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A deployment that does not get all it asks for.

    ``placed`` counts replicas that run where they may run, in whatever shape. ``outdated`` counts those that keep an
    older shape for now, ``stranded`` those that should leave their cluster and cannot.
    """

    namespace: str
    deployment: str
    wanted: int
    placed: int
    outdated: int = 0
    stranded: int = 0
    message: str = ""


@dataclass(frozen=True, slots=True)
class WrongSelector:
    """A selector for which a deployment gets less than it asks for: no cluster has a match, and on ``device`` it fails.

    ``message`` says how it fails.
    """

    namespace: str
    deployment: str
    expression: str
    cluster: str
    pool: str
    device: str
    message: str


@dataclass(frozen=True, slots=True)
class Overfull:
    """A pool that is already promised more than it has; it keeps what it has and takes nothing."""

    cluster: str
    pool: str
    message: str


@dataclass(frozen=True, slots=True)
class Shrinking:
    """A pool whose edit has to wait: ``excess`` are the live replicas, sorted, that do not fit what it is to become."""

    cluster: str
    pool: str
    before: PoolBefore
    nodes: int
    class_name: str
    excess: tuple[ReplicaId, ...]


@dataclass(frozen=True, slots=True)
class Schedule:
    """The answer: placements and departures sorted by identity, shortfalls sorted by deployment."""

    placements: tuple[Placed, ...] = ()
    shortfalls: tuple[Shortfall, ...] = ()
    trace: Trace = field(default_factory=Trace, compare=False, repr=False)
    leaving: tuple[Leaving, ...] = ()
    overfull: tuple[Overfull, ...] = ()
    shrinking: tuple[Shrinking, ...] = ()
    overruns: tuple[Overrun, ...] = ()
    """Of namespaces, then of deployments, then of the budget."""
    wrong_selectors: tuple[WrongSelector, ...] = ()
    """By deployment, each expression once."""
