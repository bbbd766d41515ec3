"""Applies a plan: build, shift, retire, each previewed, gated and applied, each from the state as it then is.

A step is made from what exists after the step before it, not from what was hoped for: a replica that did not come up is
never routed to, and its predecessor keeps serving. A cluster that does not answer is left alone and named with what is
owed to it; the next run that reaches it does that first.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from automation.driver.gate import require_passed
from automation.driver.guard import GuardedProgram
from automation.driver.leftover import remove_leftovers
from automation.driver.planner import Plan
from automation.driver.policy_pack import place_policy_pack
from automation.driver.previewing import preview_shard
from automation.driver.programs import program_of
from automation.driver.reading import Situation, unreachable, with_answers, with_moved
from automation.driver.refresh import Refresh
from automation.driver.scope import concerns
from automation.driver.session import Session
from automation.driver.shared import News, SharedFacts
from automation.driver.so_far import SoFar
from automation.engine.checkpoint import Checkpoint
from automation.engine.events import ResourceStep
from automation.engine.failures import failures_by_component
from automation.engine.family import ENDPOINT_TYPE, FRONT_DOOR_TYPE, POOL_TYPE, SERVICE_TYPE, Family, is_cluster
from automation.engine.gateways import moved_gateways
from automation.engine.read_back import GATEWAY_TYPE
from automation.engine.runner import Applied, Preview, Program
from automation.engine.state import read_existing
from automation.observe.owed import Owed, skip_unreachable
from automation.planning.removed import clusters_gone
from automation.planning.step import Step, StepKind
from automation.planning.steps import informing_step, next_step
from automation.scheduling.existing import Existing
from components.lock import Lock
from components.naming import StackName
from stacks.shard import Shard


@dataclass(frozen=True, slots=True)
class AppliedStep:
    """One step on one stack: what was done, and what failed, by component."""

    kind: StepKind
    stack: StackName
    applied: Applied
    failures: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Report:
    """What a run did. ``existing`` is what exists at its end, ``owed`` what unreachable clusters still wait for."""

    steps: tuple[AppliedStep, ...]
    existing: Existing
    owed: tuple[Owed, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing failed; what is owed to a cluster that does not answer is no failure."""
        return all(step.applied.ok for step in self.steps)


Announce = Callable[[Step], None]
"""Told about each step before it is applied."""


def apply_plan(session: Session, plan: Plan, *, announce: Announce) -> Report:
    """Apply every step of ``plan``; raises PolicyViolation before a step that a policy forbids.

    What an error says of the rest is true of the run, not of its last operation alone.
    """
    so_far = SoFar()
    with so_far.told("That changed nothing"):
        return _apply(session, plan, announce, so_far)


def _apply(session: Session, plan: Plan, announce: Announce, so_far: SoFar) -> Report:
    situation = plan.situation
    facts = SharedFacts(session, situation)
    done: list[AppliedStep] = []
    for kind in StepKind:
        step = next_step(kind, situation.existing, plan.target, situation.fleet, changes=plan.changes)
        if step is None and kind is not StepKind.RETIRE:
            continue
        news = {shard.stack: facts.share(situation, shard) for shard in situation.shards}
        step = step or _informing(plan, situation, news.values())
        if step is None:
            continue
        announce(step)
        applied: list[AppliedStep] = []
        for shard in _order(kind, situation):
            run = _StepRun(session, plan, situation, step, shard, told=news[shard.stack].any)
            with so_far.told(f"The step {kind.value} changed nothing in stack {shard.stack}"):
                finished = run.apply() if run.concerned else None
            if finished is not None:
                applied.append(finished)
                so_far.count += len(finished.applied.changed)
        done += applied
        # Where the build could not store where a gateway is by now, nothing is led back to where it was.
        situation = with_moved(_again(session, situation, [each.stack for each in applied]), plan.moved)
    situation = _again(session, situation, _record(session, plan, situation))
    for stack in remove_leftovers(session, situation):
        session.reporter.note(f"removed stack {stack}: its cluster is gone")
    return Report(tuple(done), situation.existing, plan.owed)


def _informing(plan: Plan, situation: Situation, news: Collection[News]) -> Step | None:
    staged, gateways = any(each.staged for each in news), any(each.gateways for each in news)
    if not staged and not gateways:
        return None
    return informing_step(
        situation.existing, plan.target, situation.fleet, changes=plan.changes, staged=staged, gateways=gateways
    )


def _order(kind: StepKind, situation: Situation) -> tuple[Shard, ...]:
    """Build clusters before the routes to them, and take routes away before what they lead to."""
    if kind is StepKind.RETIRE:
        return tuple(reversed(situation.shards))
    return situation.shards


@dataclass(slots=True)
class _StepRun:
    """One step on one shard."""

    session: Session
    plan: Plan
    situation: Situation
    step: Step
    shard: Shard
    told: bool
    """Whether the program is told something that the run did not tell it before."""

    @property
    def concerned(self) -> bool:
        """Whether the step may change anything in this stack."""
        preview = self.plan.previews.get(self.shard.stack)
        disturbed = preview is None or bool(preview.changed) or bool(self._moved(preview))
        return self.told or concerns(self.step, self.situation, self.shard, disturbed=disturbed)

    def apply(self) -> AppliedStep | None:
        """Preview, gate and apply; None when there is nothing to apply here."""
        preview = self._preview()
        require_passed({self.shard.stack: preview})
        checkpoint = self.situation.checkpoints[self.shard.stack]
        skipped = skip_unreachable(preview, checkpoint, self._untouched()).exclude
        left = frozenset(skipped) | withheld_urns(preview, checkpoint, self.step.withheld)
        left |= beyond_scope(preview, checkpoint, self.step.kind) - self._released(preview, checkpoint)
        does = {each.urn for each in preview.steps if _does_something(each)} | self._moved(preview)
        if does <= left:
            return None
        applied = self.session.runner.up(
            self.shard.stack,
            GuardedProgram(self.session, checkpoint, self._program()),
            exclude=sorted(left),
            refresh=self._reads_again(preview),
            continue_on_error=self.step.continue_on_error,
            listener=self.session.reporter.event,
        )
        if not self.step.continue_on_error:
            applied.require_ok()
        failures = failures_by_component(applied.failures, checkpoint, steps=applied.steps)
        return AppliedStep(self.step.kind, self.shard.stack, applied, failures)

    def _moved(self, preview: Preview) -> frozenset[str]:
        """Return the components whose gateways moved, so that an update has an address to store."""
        return frozenset(each.urn for each in moved_gateways(preview, self.situation.checkpoints[self.shard.stack]))

    def _untouched(self) -> frozenset[str]:
        """Return the clusters to leave alone: those that do not answer, and, until the retirement, those that go."""
        silent = frozenset(self.situation.unreachable)
        if self.step.kind is StepKind.RETIRE:
            return silent
        return silent.union(clusters_gone(self.situation.existing, self.situation.fleet))

    def _released(self, preview: Preview, checkpoint: Checkpoint) -> frozenset[str]:
        """Return the resources of pools that earlier steps had to withhold: a retirement replaces or shrinks them.

        A whole cluster waits for the next run's build, which makes anew what was on it.
        """
        if self.step.kind is not StepKind.RETIRE:
            return frozenset()
        changes = self.plan.changes
        gone = [key for key, change in changes.pools.items() if change.goes_away]
        names = {f"{cluster}/{pool}" for cluster, pool in (*gone, *changes.shrinking)}
        return withheld_urns(preview, checkpoint, tuple(names - set(self.step.withheld)))

    def _program(self) -> Program:
        return program_of(self.session, self.situation, self.step.lock, self.shard)

    def _preview(self) -> Preview:
        known = _previewed(self.plan, self.step, self.shard)
        if known is not None and not self.told:
            return known
        pack = place_policy_pack(self.session.workspace.layout, existing=self.situation.existing.replicas)
        refresh = self.plan.refresh if self._reads and self._differs else Refresh.NEVER
        return preview_shard(
            self.session, self.situation, self.shard, self._program(), refresh=refresh, policy_pack=pack
        )

    @property
    def _differs(self) -> bool:
        """Whether the real resources may not be what the state says; the plan has just read what it could."""
        return self.shard.stack not in self.plan.as_stored or self.plan.refresh is Refresh.ALWAYS

    def _reads_again(self, preview: Preview) -> bool:
        """Whether to store what the real resources are.

        The preview has just read them. Where all is as the state has it, reading again changes nothing and costs much:
        the engine writes the whole state after each resource.
        """
        return self._reads and (preview.drifted or self.plan.refresh is Refresh.ALWAYS)

    @property
    def _reads(self) -> bool:
        """Whether to look at the real resources first: what was changed behind Berth's back is the build's to mend."""
        checkpoint = self.situation.checkpoints[self.shard.stack]
        return self.step.kind is StepKind.BUILD and self.plan.refresh.reads(checkpoint)


def withheld_urns(preview: Preview, checkpoint: Checkpoint, withheld: tuple[str, ...]) -> frozenset[str]:
    """Return the resources that *are* the clusters and pools which must not be replaced or deleted in this step."""
    if not withheld:
        return frozenset()
    family = Family([*checkpoint, *preview.steps])
    names = frozenset(withheld)
    found = set()
    for member in family:
        component = family.component(member.urn)
        if component is not None and component.urn.rpartition("::")[2] in names and _is_platform(component.type):
            found.add(member.urn)
    return frozenset(found)


def beyond_scope(preview: Preview, checkpoint: Checkpoint, kind: StepKind) -> frozenset[str]:
    """Return what a step of this kind has no business with, and leaves alone.

    Only a build makes or changes what runs, front doors among it. What failed there would be tried again by every
    update; in a shift it would only fail again and hold up everybody's routes, and it would stop a retirement. Routes
    that hang on a front door's gateway wait for it; no client comes by them meanwhile.
    """
    if kind is StepKind.BUILD:
        return frozenset()
    family = Family([*checkpoint, *preview.steps])
    doors = {
        family.cluster(each.urn)
        for each in checkpoint.of_type(GATEWAY_TYPE)
        if _type_above(family, each.urn) == FRONT_DOOR_TYPE
    }
    found = set()
    for step in preview.steps:
        kind_above = _type_above(family, step.urn)
        routes = kind_above == ENDPOINT_TYPE or (kind_above == SERVICE_TYPE and family.cluster(step.urn) in doors)
        making = step.op.changes and not step.op.removes
        if step.custom and making and not routes and not step.is_provider:
            found.add(step.urn)
    return frozenset(found)


def _type_above(family: Family, urn: str) -> str:
    component = family.component(urn)
    return component.type if component is not None else ""


def _is_platform(type_: str) -> bool:
    return is_cluster(type_) or type_ == POOL_TYPE


def _does_something(step: ResourceStep) -> bool:
    """Whether a planned step changes the cloud, or what a component says about itself (a phase, a label)."""
    return step.op.changes or bool(step.diffs)


def _previewed(plan: Plan, step: Step, shard: Shard) -> Preview | None:
    """Return the plan's own preview when the step is the target itself and nothing happened since."""
    first = bool(plan.steps) and step.kind is plan.steps[0].kind
    return plan.previews.get(shard.stack) if first and _same(step.lock, plan.target) else None


def _same(one: Lock, other: Lock) -> bool:
    return one.platform == other.platform and dict(one.namespaces) == dict(other.namespaces)


def _again(session: Session, situation: Situation, stacks: Collection[StackName]) -> Situation:
    """Read the states of ``stacks`` again after they were worked on."""
    if not stacks:
        return situation
    checkpoints = {**situation.checkpoints, **{stack: session.runner.export(stack) for stack in stacks}}
    existing = read_existing(checkpoints.values())
    silent = unreachable(session, existing)
    return replace(situation, checkpoints=checkpoints, existing=with_answers(existing, silent), unreachable=silent)


def _record(session: Session, plan: Plan, situation: Situation) -> list[StackName]:
    """Let stacks say what platform they are, where its manifests changed and nothing came of it; return which.

    Otherwise every later plan would ask the engine what that edit means.
    """
    renewed = []
    for shard in situation.unapplied:
        checkpoint, preview = situation.checkpoints[shard.stack], plan.previews.get(shard.stack)
        if checkpoint.is_empty or preview is None or preview.changed:
            continue
        program = program_of(session, situation, plan.target, shard)
        session.runner.up(shard.stack, GuardedProgram(session, checkpoint, program)).require_ok()
        renewed.append(shard.stack)
    return renewed
