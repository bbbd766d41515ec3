"""From what the driver knows to what is shown: fills the frozen views that renderers and machines read."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import replace

from automation.driver.applier import Report
from automation.driver.gate import holds_data
from automation.driver.leases import living
from automation.driver.lost import to_forget
from automation.driver.planner import Plan
from automation.driver.recovery import pending_lines
from automation.driver.renamed import renamed_clusters
from automation.driver.session import Session
from automation.driver.target_file import lock_notes
from automation.engine.events import Op, PolicyFinding, ResourceStep
from automation.engine.runner import Outcome, Preview
from automation.engine.versions import VersionChange
from automation.planning.step import Step, StepSummary
from automation.render.observation import in_short
from automation.render.remedy_view import remedy_view
from automation.render.text import count, listed
from automation.render.trace_view import leaving_view, trace_fields, verdict_view
from automation.render.views import (
    AppliedStepView,
    ExplanationView,
    FailureView,
    FrontDoorView,
    PlacementView,
    PlanView,
    PolicySummaryView,
    PolicyView,
    ResourceView,
    ShortfallView,
    StepView,
    UpgradeView,
    UpView,
)
from automation.scheduling.freed import Freed, freed, renamed
from automation.scheduling.reason import Reason
from automation.scheduling.result import Placed, Shortfall, Shrinking
from automation.scheduling.snapshot import ClusterState
from components.naming import ReplicaId, StackName

_OPS = {
    Op.CREATE: "create",
    Op.IMPORT: "import",
    Op.UPDATE: "update",
    Op.DELETE: "delete",
    Op.REPLACE: "replace",
    Op.SAME: "same",
}
"""How an operation is called in output; the halves of a replacement are not counted beside the whole."""


def plan_view(session: Session, plan: Plan) -> PlanView:
    """Return everything that a person or a machine needs to judge a plan."""
    previews = plan.previews
    return PlanView(
        environment=session.workspace.environment,
        simulated=session.workspace.simulated,
        backed=session.workspace.backed,
        empty=plan.empty,
        placements=tuple(placement_view(plan, each) for each in plan.schedule.placements),
        leaving=tuple(map(leaving_view, plan.schedule.leaving)),
        shortfalls=tuple(shortfall_view(plan, each) for each in plan.schedule.shortfalls),
        steps=tuple(step_view(each) for each in plan.steps),
        front_doors=tuple(front_door_views(plan)),
        upgrades=tuple(map(upgrade_view, plan.upgrades)),
        counts=_counts(previews.values()),
        resources=tuple(
            view
            for stack, each in previews.items()
            # The engine works on many at once and reports them as they come; a reviewed text has an order.
            for view in sorted(resource_views(stack, each.changed), key=lambda view: (view.name, view.type, view.op))
        ),
        policies=policy_view(previews.values()),
        notes=notes(session, plan),
        lock_changed=plan.lock_changed,
    )


def placement_view(plan: Plan, placed: Placed) -> PlacementView:
    """Return one replica of the plan."""
    existing = plan.situation.existing.replicas.get(placed.id)
    changed = existing is not None and (existing.entry.shape != placed.digest or existing.entry.labels != placed.labels)
    asked = {
        (engine.name, number, request.name): request.count
        for engine in placed.shape.engines
        for number, member in enumerate(engine.members)
        for request in member.requests
    }
    alike: dict[tuple[str, str], int] = {}  # pods by pool and claims; engines and members that ask the same add up
    for engine in placed.placement:
        copies = next((each.copies for each in placed.shape.engines if each.name == engine.engine), 1)
        shapes = next((each.members for each in placed.shape.engines if each.name == engine.engine), ())
        for number, member in enumerate(engine.members):
            pods = copies * (shapes[number].pods if number < len(shapes) else 1)
            claims = ", ".join(
                f"{asked.get((engine.engine, number, claim.request), 1)} x {claim.device_class}"
                for claim in member.claims
            )
            key = (member.pool, claims or "no device")
            alike[key] = alike.get(key, 0) + pods
    cluster = next((each for each in plan.snapshot.clusters if each.name == placed.id.cluster), None)
    return PlacementView(
        replica=str(placed.id),
        namespace=placed.id.namespace,
        deployment=placed.id.deployment,
        cluster=placed.id.cluster,
        index=placed.id.index,
        name=placed.name,
        change="new" if existing is None else "changed" if changed else "kept",
        reason=placed.reason.value,
        planned_cluster=cluster is not None and cluster.state is ClusterState.PLANNED,
        needs_scale_up=placed.needs_scale_up,
        replaces=str(placed.predecessor) if placed.predecessor else None,
        devices=tuple(
            f"{pool}: {count(pods, 'pod') + ' of ' if pods > 1 else ''}{claims}"
            for (pool, claims), pods in alike.items()
        ),
    )


def shortfall_view(plan: Plan, shortfall: Shortfall, built: Collection[str] = ()) -> ShortfallView:
    """Return why a deployment does not get all it asks for; ``built`` are clusters that were planned and are there."""
    trace = plan.schedule.trace.get((shortfall.namespace, shortfall.deployment))
    return ShortfallView(
        deployment=f"{shortfall.namespace}/{shortfall.deployment}",
        wanted=shortfall.wanted,
        placed=shortfall.placed,
        message=shortfall.message,
        summary=trace.summary if trace else "",
        verdicts=tuple(
            verdict_view(replace(each, planned=each.planned and each.cluster not in built)).brief
            for each in (trace.verdicts if trace else ())
        ),
        next_replica=remedy_view(trace.beyond) if trace and shortfall.placed < shortfall.wanted else None,
    )


def explanation_view(plan: Plan, namespace: str, deployment: str) -> ExplanationView | None:
    """Return the explanation of one deployment; None when the manifests have none of that name."""
    key = (namespace, deployment)
    trace = plan.schedule.trace.get(key)
    if trace is None:
        return None
    placed = [each for each in plan.schedule.placements if (each.id.namespace, each.id.deployment) == key]
    leaving = [each for each in plan.schedule.leaving if (each.id.namespace, each.id.deployment) == key]
    return ExplanationView(
        placements=tuple(placement_view(plan, each) for each in placed),
        leaving=tuple(map(leaving_view, leaving)),
        **trace_fields(trace),
    )


_ACTIONS: tuple[tuple[str, str, str], ...] = (
    ("clusters_built", "cluster", "to build"),
    ("clusters_upgraded", "cluster", "to upgrade"),
    ("caches_staged", "cache", "to stage"),
    ("created", "replica", "to start"),
    ("changed", "replica", "to change in place"),
    ("retried", "part", "to try again"),
    ("gateways_moved", "gateway", "to follow to another address"),
    ("served", "replica", "to serve"),
    ("drained", "replica", "to drain"),
    ("kept_back", "replica", "kept until a successor serves"),
    ("front_doors_added", "front door", "to open"),
    ("services", "service", "to route anew"),
    ("retired", "replica", "to retire"),
    ("caches_dropped", "cache", "to drop"),
    ("front_doors_removed", "front door", "to close"),
    ("front_doors_kept_back", "front door", "kept until another one serves"),
    ("clusters_removed", "cluster", "to remove"),
)


def front_door_views(plan: Plan) -> Iterable[FrontDoorView]:
    """Yield the front doors that come, go, come back under another address or have another one, by cluster."""
    moved = {each.cluster: each for each in plan.moved if each.public}
    existing, wanted = plan.situation.existing.front_doors, plan.target.platform.front_doors
    for name in sorted({*existing, *wanted}):
        address = existing[name].address if name in existing else None
        if name not in wanted:
            yield FrontDoorView(cluster=name, change="leaving", address=address)
        elif name not in existing:
            yield FrontDoorView(cluster=name, change="new")
        elif plan.changes.cluster(name).goes_away:
            yield FrontDoorView(cluster=name, change="rebuilt", address=address)
        elif name in moved:
            yield FrontDoorView(
                cluster=name, change="moved", address=moved[name].before or None, new_address=moved[name].now
            )


def upgrade_view(change: VersionChange) -> UpgradeView:
    """Return one control plane that gets another version."""
    return UpgradeView(cluster=change.cluster, before=change.before, after=change.after)


def closing_notes(plan: Plan, report: Report) -> Iterable[str]:
    """Say which front doors a run had to leave standing, and what they wait for; and whom another run may help."""
    left = {each.id for each in plan.schedule.leaving} - report.existing.replicas.keys()
    yield from (f"{_short_of(each)} is free now: run berth up again" for each in freed(plan.schedule, left=left))
    doors, wanted = report.existing.front_doors, plan.target.platform.front_doors
    waiting = [f"{name}: {doors[name].failure}" if doors.get(name) and doors[name].failure else name for name in wanted]
    for name in doors:
        if name not in wanted:
            yield f"the front door on {name} stays until another one serves ({'; '.join(waiting) or 'none is wanted'})"


def step_view(step: Step) -> StepView:
    """Return one step in words."""
    return StepView(kind=step.kind.value, actions=actions(step.summary))


def actions(summary: StepSummary) -> tuple[str, ...]:
    """Return what a step does: ``2 replicas to start``."""
    said = []
    for name, noun, what in _ACTIONS:
        number = getattr(summary, name)
        if number:
            said.append(f"{count(number, noun)} {what}")
    if summary.informed:
        said.append("download tokens of staged caches to take away")
    if summary.rerouted:
        said.append("front doors to lead to where gateways are")
    return tuple(said) or ("settings of the platform to apply",)


def resource_views(stack: StackName, steps: Iterable[ResourceStep]) -> Iterable[ResourceView]:
    """Yield the changes of one stack; a replacement is shown once, as a whole."""
    for step in steps:
        op = _OPS.get(step.op)
        if op is None or op == "same":
            continue
        if step.op is Op.DELETE and step.lets_go:
            op = "retain"
        yield ResourceView(
            op=op,
            type=step.type,
            name=step.name,
            stack=str(stack),
            because=step.replace_keys or tuple(dict.fromkeys(diff.path for diff in step.diffs))[:6],
            loses_data=holds_data(step) and op in {"delete", "replace"} and not step.retained,
        )


def _counts(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """Count resources by operation, as they are shown: to the engine it is a deletion too when the state lets go."""
    counts: Counter[str] = Counter()
    for each in outcomes:
        counts.update({_OPS[op]: number for op, number in each.changes.items() if op in _OPS})
        left = sum(step.op is Op.DELETE and step.lets_go for step in each.steps)
        counts.update({"delete": -left, "retain": left} if left else {})
    return {op: number for op, number in sorted(counts.items()) if number}


def policy_view(previews: Iterable[Preview]) -> PolicySummaryView:
    """Return what the policies said to all stacks together."""
    packs: dict[str, None] = {}
    passed: set[str] = set()
    failed: set[str] = set()
    violations: dict[tuple[str, str], PolicyView] = {}
    deferred: dict[tuple[str, str], PolicyView] = {}
    for preview in previews:
        report = preview.policies
        for name, version in sorted(report.packs.items()):
            # The engine names a local pack by its path as well.
            packs[f"{name.partition('|')[0]} {version}".strip()] = None
        for summary in report.summaries:
            passed |= set(summary.passed)
            failed |= set(summary.failed)
        violations |= {(each.rule, each.message): _finding(each) for each in report.findings}
        deferred |= {(each.rule, each.message): _finding(each) for each in report.deferred}
    failed |= {each.rule for each in (*violations.values(), *deferred.values())}
    return PolicySummaryView(
        packs=tuple(packs),
        passed=tuple(sorted(passed - failed)),
        violations=tuple(violations[key] for key in sorted(violations)),
        deferred=tuple(deferred[key] for key in sorted(deferred)),
    )


_OWN_PACK = "berth"
_NOT_YET = " during preview: "
"""How the engine's words about a rule that could not run end; what follows is the rule's own."""


def _finding(finding: PolicyFinding) -> PolicyView:
    """Split a finding into whom and what: our pack begins with the subject, another one only gives a resource."""
    text = finding.message.partition(_NOT_YET)[2] or finding.message
    subject, message = finding.urn.rpartition("::")[2] or "the stack", text
    if finding.pack == _OWN_PACK:
        subject, _, message = text.partition(": ")
    return PolicyView(rule=finding.rule, level=finding.level.value, subject=subject, message=message)


def notes(session: Session, plan: Plan) -> tuple[str, ...]:
    """Return what a person should know beside the plan itself."""
    situation = plan.situation
    busy = sorted(living(session))
    said = [*emptied(plan), *lock_notes(plan)]
    said += observed_texts(session, plan)
    said += [
        f"the gateway of {each.cluster} has another address, {each.now} instead of {each.before or 'none'}: routes will"
        " lead there"
        for each in plan.moved
        if not each.public
    ]
    said += [f"{owed} ({situation.unreachable[owed.cluster]})" for owed in plan.owed]
    said += [f"a run is at work on stack {stack}: this plan shows what it has not done yet" for stack in busy]
    said += [f"{text}. berth up repairs it first" for text in pending_lines(session, situation)]
    said += [each.announcement for each in to_forget(session, situation)]
    stay = {each.id for each in plan.schedule.placements if each.reason is Reason.NOWHERE_TO_GO}
    said += [shrinking_text(each, stay) for each in plan.schedule.shrinking]
    said += [
        f"{each.place.file}:{each.place.line}: {each.text}; {each.way_out}"
        for each in renamed_clusters(situation.fleet, situation.checkpoints.values()).values()
    ]
    said += [f"{each.owner}: {each.message}" for each in plan.schedule.overruns]
    said += [
        f"{'/'.join(old)} is removed and {'/'.join(new)} is new with the same shape: nothing serves in between"
        for old, new in renamed(plan.snapshot, plan.schedule)
    ]
    said += [
        f"{_short_of(each)} is free only once this run has retired it: run berth up again then"
        for each in freed(plan.schedule)
    ]
    said += [f"{problem.where}: {problem.message}" for problem in situation.warnings]
    return tuple(said)


def observed_texts(session: Session, plan: Plan) -> Iterable[str]:
    """Say by which observation nodes are counted, how old it is, and where it is too old to count."""
    for cluster in plan.snapshot.clusters:
        seen = session.observation.clusters.get(cluster.name)
        if seen is not None and cluster.seen == seen.at and (sight := plan.snapshot.sight(cluster)):
            yield f"{cluster.name}: {sight}, {in_short(plan.snapshot.now - seen.at)} ago"


def _short_of(found: Freed) -> str:
    """Say who lacks room on which clusters, and that some is held by replicas that go."""
    return f"{'/'.join(found.deployment)} finds no room on {', '.join(found.clusters)}; that of {listed(found.leaving)}"


def emptied(plan: Plan) -> Iterable[str]:
    """Say of which namespaces every manifest is gone, and how many replicas go for it: a folder is lost in one slip."""
    gone = Counter(each.id.namespace for each in plan.schedule.leaving if each.reason is Reason.REMOVED)
    known = plan.situation.fleet.namespaces
    for namespace, number in sorted(gone.items()):
        if namespace not in known:
            place = "anywhere" if not known else f"in namespace {namespace}"
            yield (
                f"there is no manifest {place} any more: {count(number, 'replica')} of {namespace}"
                f" {'is' if number == 1 else 'are'} retired"
            )


def shrinking_text(pool: Shrinking, stay: Collection[ReplicaId]) -> str:
    """Say which pool waits with its edit, for whom, and who of them cannot leave."""
    other = pool.class_name != pool.before.class_name
    has = count(pool.before.nodes, "node") + (f" of {pool.before.class_name}" if other else "")
    gets = count(pool.nodes, "node") + (f" of {pool.class_name}" if other else "")
    stranded = sum(each in stay for each in pool.excess)
    said = (
        f"pool {pool.cluster}/{pool.pool} keeps its {has} until {count(len(pool.excess), 'replica')} that"
        f" {gets} cannot hold {'has' if len(pool.excess) == 1 else 'have'} left: {listed(pool.excess)}"
    )
    return said + (f"; {stranded} of {len(pool.excess)} with nowhere to go" if stranded else "")


def up_view(session: Session, plan: Plan, report: Report, extra: Iterable[str] = ()) -> UpView:
    """Return the report of a run."""
    built = {name for name, each in report.existing.clusters.items() if each.ready and not each.failure}
    return UpView(
        environment=session.workspace.environment,
        simulated=session.workspace.simulated,
        backed=session.workspace.backed,
        ok=report.ok and not plan.schedule.shortfalls,
        steps=tuple(
            AppliedStepView(
                kind=each.kind.value,
                stack=str(each.stack),
                counts=_counts([each.applied]),
                seconds=round(each.applied.seconds, 1),
                failures=tuple(failure_view(name, text) for name, text in sorted(each.failures.items())),
            )
            for each in report.steps
        ),
        shortfalls=tuple(shortfall_view(plan, each, built) for each in plan.schedule.shortfalls),
        notes=(*extra, *closing_notes(plan, report), *(str(owed) for owed in report.owed)),
    )


def failure_view(subject: str, text: str) -> FailureView:
    """Return one failure."""
    resource, _, message = text.partition(": ")
    return FailureView(subject=subject, resource=resource, message=message or text)
