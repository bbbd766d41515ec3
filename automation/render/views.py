"""The documents that verbs answer with: frozen models, camelCase in JSON, one schema each.

Machine output is an interface: fields are only added inside a version. The driver fills these values; the modules
beside this one turn them into lines.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from automation.render.output_version import API_VERSION


class View(BaseModel):
    """Base of everything that is shown."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)

    def to_json(self) -> dict[str, Any]:
        """Return the document as it is printed."""
        return self.model_dump(mode="json", by_alias=True)


class PlacementView(View):
    """One replica of the plan. ``devices`` is in words: ``l4: 1 x gpu.nvidia.com``, one entry per claiming member."""

    replica: str
    namespace: str
    deployment: str
    cluster: str
    index: int
    name: str
    change: Literal["new", "kept", "changed"]
    reason: str
    planned_cluster: bool = False
    needs_scale_up: bool = False
    replaces: str | None = None
    devices: tuple[str, ...] = ()


class LeavingView(View):
    """One replica that goes."""

    replica: str
    reason: str
    successor: str | None = None


class VerdictView(View):
    """What one cluster said to one deployment."""

    cluster: str
    code: str
    message: str
    planned: bool = False
    taken: int = 0
    wanted: int | None = None
    free: int | None = None
    pools: tuple[str, ...] = ()
    """One line per pool that refused."""


class GrowthView(View):
    """A pool, the nodes it has, those it would need, and what the difference costs; null when nobody knows."""

    pool: str
    nodes: int
    needed: int
    cost_per_hour: str | None


class RemedyView(View):
    """What one more replica would need. ``answer`` is ``now``, ``scale-up``, ``change`` or ``never``."""

    answer: str
    message: str
    cluster: str
    growth: tuple[GrowthView, ...]


class ShortfallView(View):
    """A deployment that does not get all it asks for, and why, cluster by cluster."""

    deployment: str
    wanted: int
    placed: int
    message: str
    summary: str = ""
    verdicts: tuple[VerdictView, ...] = ()
    next_replica: RemedyView | None = None


class StepView(View):
    """One step in words."""

    kind: str
    actions: tuple[str, ...]


class FrontDoorView(View):
    """A public address that comes or goes: ``address`` is the one that clients use now, if the state knows one.

    ``rebuilt`` is a front door whose cluster is replaced, so that it comes back under another address; ``moved`` is one
    that has another address already, ``newAddress``, behind Berth's back.
    """

    cluster: str
    change: Literal["new", "leaving", "rebuilt", "moved"]
    address: str | None = None
    new_address: str | None = None


class ResourceView(View):
    """One resource that the engine would change, or changed."""

    op: str
    type: str
    name: str
    stack: str
    because: tuple[str, ...] = ()
    loses_data: bool = False


class PolicyView(View):
    """One finding of a policy."""

    rule: str
    level: str
    subject: str
    message: str


class PolicySummaryView(View):
    """Everything the policies said."""

    packs: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    violations: tuple[PolicyView, ...] = ()
    deferred: tuple[PolicyView, ...] = ()


class UpgradeView(View):
    """A cluster whose control plane gets another version of Kubernetes."""

    cluster: str
    before: str
    after: str


class PlanView(View):
    """What ``berth plan`` answers."""

    api_version: Literal["berth.dev/output/v1"] = API_VERSION
    kind: Literal["Plan"] = "Plan"
    environment: str
    simulated: bool
    backed: bool = False
    empty: bool
    placements: tuple[PlacementView, ...] = ()
    leaving: tuple[LeavingView, ...] = ()
    shortfalls: tuple[ShortfallView, ...] = ()
    steps: tuple[StepView, ...] = ()
    front_doors: tuple[FrontDoorView, ...] = ()
    """Front doors that come, go or change their address; not those that stay."""
    upgrades: tuple[UpgradeView, ...] = ()
    """Clusters whose control planes get another version of Kubernetes."""
    counts: dict[str, int] = {}
    """Resources by operation, over all stacks."""
    resources: tuple[ResourceView, ...] = ()
    policies: PolicySummaryView = PolicySummaryView()
    notes: tuple[str, ...] = ()
    lock_changed: tuple[str, ...] = ()
    """Files of ``lock/`` that this plan writes."""


class FailureView(View):
    """Something that could not be created, changed or deleted."""

    subject: str
    resource: str
    message: str


class AppliedStepView(View):
    """One step as it was applied to one stack."""

    kind: str
    stack: str
    counts: dict[str, int]
    seconds: float
    failures: tuple[FailureView, ...] = ()


class UpView(View):
    """What ``berth up`` answers."""

    api_version: Literal["berth.dev/output/v1"] = API_VERSION
    kind: Literal["Applied"] = "Applied"
    environment: str
    simulated: bool
    backed: bool = False
    ok: bool
    steps: tuple[AppliedStepView, ...] = ()
    shortfalls: tuple[ShortfallView, ...] = ()
    notes: tuple[str, ...] = ()


class ConditionView(View):
    """A node of the status tree: a cluster, a pool, a replica, a cache or a service."""

    kind: str
    name: str
    condition: str
    """One word: ``Ready``, ``Serving``, ``Starting``, ``Draining``, ``Failed``, ``Pending``, ``Lost``."""
    detail: str = ""
    children: tuple["ConditionView", ...] = ()


class StatusConditionView(View):
    """One condition, in the form of Kubernetes; ``message`` says more where there is more."""

    type: str
    status: Literal["True", "False"]
    reason: str
    message: str = ""


class DeploymentView(View):
    """A deployment: how many replicas it wants, how many are placed, how many of those serve, and why not all do."""

    deployment: str
    wanted: int
    placed: int
    serving: int
    reason: str = ""
    conditions: tuple[StatusConditionView, ...] = ()


class StatusView(View):
    """What ``berth status`` answers."""

    api_version: Literal["berth.dev/output/v1"] = API_VERSION
    kind: Literal["Status"] = "Status"
    environment: str
    simulated: bool
    backed: bool = False
    tree: tuple[ConditionView, ...] = ()
    deployments: tuple[DeploymentView, ...] = ()
    pending: tuple[str, ...] = ()
    """What a run was doing when it was cut off."""
    orphans: tuple[str, ...] = ()
    """What may exist without being in the state."""
    leases: tuple[str, ...] = ()
    """Who holds which stack since when, and what follows from it."""


class PoolVerdictView(View):
    """What one pool said; what does not apply is empty."""

    pool: str
    code: str
    message: str
    engine: str
    member: str
    request: str
    expression: str
    device: str
    wanted: int | None
    free: int | None


class ScoreView(View):
    """What a cluster is compared by with others that have room; ``cost`` in USD per hour, null when nobody knows."""

    own: int
    region: int
    mixes: bool
    cost: str | None
    wanted: int


class ChoiceView(View):
    """A new replica, and what its cluster scored when it was its turn."""

    replica: str
    score: ScoreView


class ClusterVerdictView(View):
    """What one cluster said to one deployment."""

    cluster: str
    code: str
    message: str
    planned: bool
    taken: int
    wanted: int | None
    free: int | None
    pools: tuple[PoolVerdictView, ...]
    score: ScoreView | None
    """That of one more replica, where no filter refuses it."""

    @property
    def brief(self) -> VerdictView:
        """The same with one line for each pool."""
        lines = tuple(f"{pool.pool}: {pool.message}" for pool in self.pools)
        return VerdictView(**{name: getattr(self, name) for name in _BRIEF}, pools=lines)


class DeploymentTraceView(View):
    """The record of one deployment: a verdict for every cluster."""

    deployment: str
    wanted: int
    placed: int
    summary: str
    next_replica: RemedyView
    order: tuple[str, ...]
    """What clusters with room are compared by, what counts first before the rest."""
    chosen: tuple[ChoiceView, ...]
    verdicts: tuple[ClusterVerdictView, ...]


_BRIEF = ("cluster", "code", "message", "planned", "taken", "wanted", "free")


class ExplanationView(View):
    """What ``berth explain`` answers for one deployment: the whole record of the decision, and what becomes of it."""

    api_version: Literal["berth.dev/output/v1"] = API_VERSION
    kind: Literal["Explanation"] = "Explanation"
    simulated: bool = False
    backed: bool = False
    deployment: str
    wanted: int
    placed: int
    summary: str
    placements: tuple[PlacementView, ...] = ()
    leaving: tuple[LeavingView, ...] = ()
    next_replica: RemedyView | None = None
    order: tuple[str, ...] = ()
    """What clusters with room are compared by, what counts first before the rest."""
    chosen: tuple[ChoiceView, ...] = ()
    verdicts: tuple[ClusterVerdictView, ...] = ()


class DriftView(View):
    """What ``berth drift`` answers."""

    api_version: Literal["berth.dev/output/v1"] = API_VERSION
    kind: Literal["Drift"] = "Drift"
    environment: str
    simulated: bool
    backed: bool = False
    resources: tuple[ResourceView, ...] = ()
    notes: tuple[str, ...] = ()


class DestroyedView(View):
    """What ``berth destroy`` answers."""

    api_version: Literal["berth.dev/output/v1"] = API_VERSION
    kind: Literal["Destroyed"] = "Destroyed"
    environment: str
    simulated: bool
    backed: bool = False
    deleted: int
    retained: tuple[str, ...] = ()
    failures: tuple[FailureView, ...] = ()
    notes: tuple[str, ...] = ()
