"""Makes a plan: preview 1 of the platform, schedule, target lock, preview 2 of the target with the policies.

The engine is asked at most twice per stack: once what the edited platform would do to clusters and pools (skipped when
nothing of it changed since it was applied), and once what the target would do, with the policies. The second answer is
compared with what the schedule assumed; should they differ, the plan is made again from the second. Whoever asks first
about a stack looks at its real resources, so that what was changed behind Berth's back is part of the plan; the next
looks again only where they are not as the state has them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from automation.driver.lost import lost_clusters
from automation.driver.policy_pack import place_policy_pack
from automation.driver.previewing import preview_shard
from automation.driver.programs import program_of
from automation.driver.provisions import require_provisions
from automation.driver.reading import Situation, with_moved
from automation.driver.refresh import Looks, Refresh
from automation.driver.session import Session
from automation.driver.versions import refuse_found_versions
from automation.driver.wrong_selectors import refuse_wrong_selectors
from automation.engine.changes import platform_changes, restorations
from automation.engine.checkpoint import Checkpoint
from automation.engine.gateways import Moved, moved_gateways
from automation.engine.runner import Preview
from automation.engine.versions import VersionChange, version_changes
from automation.observe.owed import Owed, skip_unreachable
from automation.planning.standing import standing_lock
from automation.planning.step import Step
from automation.planning.steps import steps
from automation.planning.target import target_lock
from automation.scheduling.build import build_snapshot
from automation.scheduling.changes import Change, PlatformChanges
from automation.scheduling.observation import ClusterObservation, Observation
from automation.scheduling.result import Schedule
from automation.scheduling.schedule import schedule
from automation.scheduling.snapshot import Snapshot
from components.errors import ConfigError
from components.lock import Lock, dump_lock
from components.naming import StackName
from components.run_kind import RunKind
from stacks.refusals import refuse_manifests
from stacks.shard import Shard

_ROUNDS = 2
"""How often a plan may be made again because the engine's answer differs from what was assumed."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole plan: what was found, decided, and what the engine and the policies say to it."""

    situation: Situation
    changes: PlatformChanges
    snapshot: Snapshot
    schedule: Schedule
    target: Lock
    steps: tuple[Step, ...]
    previews: Mapping[StackName, Preview] = field(default_factory=dict)
    refresh: Refresh = Refresh.AUTO
    as_stored: frozenset[StackName] = frozenset()
    """The stacks whose real resources were read, and found as the state has them."""

    @property
    def lock_changed(self) -> tuple[str, ...]:
        """The files of the lock that this plan would write, change or remove, sorted."""
        if self.keeps_lock:
            return ()
        old = dump_lock(self.situation.committed) if self.situation.committed else {}
        new = dump_lock(self.target)
        return tuple(sorted(name for name in {*old, *new} if old.get(name) != new.get(name)))

    @property
    def keeps_lock(self) -> bool:
        """Whether the lock on disk is of real clouds and this plan only rehearses: then it is not written there."""
        return self.situation.planned_for is RunKind.REAL and self.target.platform.planned_for is not RunKind.REAL

    @property
    def owed(self) -> tuple[Owed, ...]:
        """What would be done on each cluster that does not answer, and waits until it does; nothing for a lost one."""
        silent = self.situation.unreachable.keys() - lost_clusters(self.situation)
        found: dict[str, Owed] = {name: Owed(name) for name in sorted(silent)}
        for stack, preview in self.previews.items():
            checkpoint = self.situation.checkpoints.get(stack) or Checkpoint(stack)
            for each in skip_unreachable(preview, checkpoint, silent).owed:
                found[each.cluster] += each
        return tuple(found.values())

    @property
    def upgrades(self) -> tuple[VersionChange, ...]:
        """The clusters whose control planes get another version of Kubernetes."""
        return upgrades_of(self.previews, self.situation)

    @property
    def moved(self) -> tuple[Moved, ...]:
        """The gateways that have another address than the state says."""
        known = self.situation.checkpoints
        return tuple(each for stack, seen in self.previews.items() for each in moved_gateways(seen, known.get(stack)))

    @property
    def empty(self) -> bool:
        """Whether nothing would change: no step, no resource, no address."""
        return not self.steps and not self.moved and not any(preview.changed for preview in self.previews.values())


def make_plan(
    session: Session, situation: Situation, *, previews: bool = True, refresh: Refresh = Refresh.AUTO
) -> Plan:
    """Plan from ``situation``; raises ConfigError where a selector is wrong.

    Without ``previews`` the engine is not asked, the platform is taken as unchanged, and one who looks sees verdicts.
    """
    if previews:
        refuse_manifests(situation.fleet)
        require_provisions(session, situation)
    asked = _ask_platform(session, situation, refresh) if previews else {}
    refuse_found_versions(situation.fleet, situation.existing, upgrades_of(asked, situation))
    changes = _created(situation) if previews and situation.nothing_exists else _changes(asked, situation)
    looks = Looks(refresh)
    looks.note(asked)
    for _ in range(_ROUNDS):
        plan = replace(_decide(session, situation, changes), refresh=refresh)
        if not previews:
            return plan
        refuse_wrong_selectors(situation.fleet, plan.schedule)
        plan = preview_target(session, plan, looks)
        refuse_found_versions(situation.fleet, situation.existing, plan.upgrades)
        looks.note(plan.previews)
        plan = replace(plan, as_stored=looks.as_stored)
        found = _changes(plan.previews, situation)
        if _foreseen(found, changes, plan.target):
            return _with_restorations(plan)
        session.reporter.note("the target would change the platform in a way that was not foreseen; planning again")
        changes = _both(changes, found)
    # It may still not be what was assumed; then nothing that would go away goes before what is on it has moved.
    return _with_restorations(replace(plan, changes=replace(changes, shrinking=plan.changes.shrinking)))


def _with_restorations(plan: Plan) -> Plan:
    """Make sure that there is a build step when the engine would change what no lock speaks of."""
    checkpoints = plan.situation.checkpoints
    changed = any(preview.changed for preview in plan.previews.values())
    restored = any(restorations(each, checkpoint=checkpoints.get(stack)) for stack, each in plan.previews.items())
    if not restored and not plan.moved and (plan.steps or not changed):
        return plan
    changes = replace(plan.changes, touched=restored or changed, moved=len(plan.moved))
    return replace(
        plan, changes=changes, steps=steps(plan.situation.existing, plan.target, plan.situation.fleet, changes=changes)
    )


def decide(session: Session, situation: Situation, changes: PlatformChanges) -> tuple[Snapshot, Schedule]:
    """Return what the scheduler saw and decided; asks no engine."""
    snapshot = build_snapshot(
        situation.fleet,
        situation.existing,
        changes=changes,
        observation=_observation(session, situation),
        now=session.clock(),
        held=frozenset(),
    )
    return snapshot, schedule(snapshot)


def _decide(session: Session, situation: Situation, changes: PlatformChanges) -> Plan:
    snapshot, placed = decide(session, situation, changes)
    shrinking = {(each.cluster, each.pool): frozenset(each.excess) for each in placed.shrinking}
    changes = replace(changes, shrinking=shrinking)
    target = target_lock(
        situation.fleet,
        placed,
        situation.existing,
        berth=session.berth,
        simulated=session.workspace.simulated,
        backed=session.workspace.backed,
        changes=changes,
    )
    return Plan(
        situation=situation,
        changes=changes,
        snapshot=snapshot,
        schedule=placed,
        target=target,
        steps=steps(situation.existing, target, situation.fleet, changes=changes),
    )


def _observation(session: Session, situation: Situation) -> Observation:
    """Return what counts of the clusters: what was seen before the run, and which do not answer now."""
    now = session.clock()
    silent = {name: ClusterObservation(at=now, reachable=False) for name in situation.unreachable}
    return Observation({**session.observation.clusters, **silent})


def _created(situation: Situation) -> PlatformChanges:
    """Return what a first plan does: every cluster of the manifests is created, nothing is replaced or lost."""
    created = dict.fromkeys(situation.fleet.clusters, Change.CREATE)
    return PlatformChanges(clusters=created, touched=bool(created))


def _ask_platform(session: Session, situation: Situation, refresh: Refresh) -> Mapping[StackName, Preview]:
    """Preview 1: the platform as edited, with the replicas that exist, and without policies."""
    edited = situation.unapplied
    if situation.nothing_exists or not edited:
        return {}
    session.reporter.phase("asking the engine what the edited platform would change")
    lock = standing_lock(situation.existing, situation.fleet, berth=session.berth)

    def ask(shard: Shard) -> Preview:
        preview = preview_shard(session, situation, shard, program_of(session, situation, lock, shard), refresh=refresh)
        if not preview.refused:
            preview.require_ok()
        return preview

    return _ask_each(edited, ask)


def _ask_each(shards: Iterable[Shard], ask: Callable[[Shard], Preview]) -> dict[StackName, Preview]:
    """Preview stack after stack; raises ConfigError with what is wrong in any of them, so that it is mended at once."""
    found = {}
    wrong: list[ConfigError] = []
    for shard in shards:
        try:
            found[shard.stack] = ask(shard)
        except ConfigError as error:
            wrong.append(error)
    if wrong:
        raise ConfigError(problem for error in wrong for problem in error.problems) from wrong[0]
    return found


def preview_target(session: Session, plan: Plan, looks: Looks) -> Plan:
    """Return ``plan`` with preview 2: the target, with the policy pack, on every stack.

    Stacks come before those that lead to them; where a gateway moved, the routes to it are previewed to its new
    address, which then stands in the plan's situation.
    """
    session.reporter.phase("previewing the target with the policies")
    situation = plan.situation
    pack = place_policy_pack(session.workspace.layout, existing=situation.existing.replicas)

    def ask(shard: Shard) -> Preview:
        nonlocal situation
        program = program_of(session, situation, plan.target, shard)
        preview = preview_shard(session, situation, shard, program, refresh=looks.at(shard.stack), policy_pack=pack)
        situation = with_moved(situation, moved_gateways(preview, situation.checkpoints.get(shard.stack)))
        return preview

    previews = _ask_each(situation.shards, ask)
    return replace(plan, situation=situation, previews=previews)


def _changes(previews: Mapping[StackName, Preview], situation: Situation) -> PlatformChanges:
    clusters: dict[str, Change] = {}
    pools: dict[tuple[str, str], Change] = {}
    touched = False
    for stack, preview in previews.items():
        found = platform_changes(preview, checkpoint=situation.checkpoints.get(stack))
        clusters |= found.clusters
        pools |= found.pools
        touched = touched or found.touched
    return PlatformChanges(
        clusters=clusters, pools=pools, touched=touched, upgraded=len(upgrades_of(previews, situation))
    )


def upgrades_of(previews: Mapping[StackName, Preview], situation: Situation) -> tuple[VersionChange, ...]:
    """Return the clusters whose control planes the previews would give another version."""
    known = situation.checkpoints
    return tuple(each for stack, seen in previews.items() for each in version_changes(seen, known.get(stack)))


def _both(one: PlatformChanges, other: PlatformChanges) -> PlatformChanges:
    """Return the changes of either; where both speak, the one that takes something away counts."""

    def stronger(key: Any, ours: Mapping[Any, Change], theirs: Mapping[Any, Change]) -> Change:
        mine = ours.get(key, Change.NONE)
        return mine if mine.goes_away else theirs.get(key, mine)

    return PlatformChanges(
        clusters={key: stronger(key, one.clusters, other.clusters) for key in sorted({*one.clusters, *other.clusters})},
        pools={key: stronger(key, one.pools, other.pools) for key in sorted({*one.pools, *other.pools})},
        touched=one.touched or other.touched,
        upgraded=max(one.upgraded, other.upgraded),
    )


def _foreseen(found: PlatformChanges, assumed: PlatformChanges, target: Lock) -> bool:
    """Whether nothing goes away that the schedule counted on; other differences change no placement.

    A cluster that the target does not have any more goes on purpose, with its pools.
    """
    stay = {entry.name for entry in target.platform.clusters}
    clusters = {name for name, change in found.clusters.items() if change.goes_away and name in stay}
    pools = {key for key, change in found.pools.items() if change.goes_away and key[0] in stay}
    return all(assumed.cluster(name).goes_away for name in clusters) and all(
        assumed.pool(*key).goes_away or assumed.cluster(key[0]).goes_away for key in pools
    )
