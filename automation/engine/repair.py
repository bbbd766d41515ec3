"""Repairs a stack whose last run was cut off: every interrupted operation is settled before anything else is done.

The engine keeps interrupted operations in the state and goes on over them: a creation that did happen would be made a
second time. And its own way to adopt one (``refresh --import-pending-creates``, 3.274.1) drops the resource from the
state. So Berth settles them itself:

- an interrupted *creation* is looked for in the cloud. What is found is put into the state under its id, marked as not
  initialised, and then read; what is not there is forgotten, and the next update makes it (an object on a cluster
  stays with its field manager, see ``field_managers``);
- if the state holds the old half of a replacement under the same URN, what is found takes its place and the old one
  waits for its deletion, just as if the engine had come that far;
- an interrupted *update* or *deletion* is settled by reading the resource;
- what nobody can look for is an *orphan*: it is noted beside the stack, in the backend, until a person dealt with it.

Looking into a cloud is a finder's work; who may be repaired is decided by the engine's lease on the stack.
"""

import copy
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from automation.engine.checkpoint import Checkpoint, PendingKind, PendingOperation, Resource
from automation.engine.family import Family
from automation.engine.field_managers import with_makers
from automation.engine.natural_ids import natural_id
from automation.engine.runner import Listener, ResourceFailure, Runner
from components.errors import DriverError
from components.naming import StackName

ORPHANS_TAG = "berth:orphans"
"""Note in the backend that lists what could not be found."""

_MARK = "interrupted while it was created; found by its owner and adopted"


class CannotTell(Exception):
    """A finder cannot look for a resource of this kind."""


class OrphanFinder(Protocol):
    """Looks for resources in a cloud by who owns them."""

    def find(self, resource: Resource, *, known: Collection[str]) -> str | None:
        """Return the id of what was created for ``resource``, None when there is nothing.

        ``known`` holds the ids of its type that the state knows. Raises CannotTell when it cannot look.
        """
        ...


class NoFinder:
    """Looks nowhere: for clouds that offer no way to search; ids that follow from inputs are still tried."""

    def find(self, resource: Resource, *, known: Collection[str]) -> str | None:
        """Say that it cannot be told."""
        del known
        raise CannotTell(resource.type)


@dataclass(frozen=True, slots=True)
class Orphan:
    """Something that may exist in a cloud without being in the state."""

    urn: str
    type: str
    name: str

    def __str__(self) -> str:
        """Return what to look for, in words."""
        return f"{self.type} {self.name} may exist and is not in the state: look for it and delete it by hand"


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What was repaired, as URNs, and what could not be."""

    adopted: tuple[str, ...] = ()
    """Creations that had happened; they are in the state now."""
    absent: tuple[str, ...] = ()
    """Creations that had not happened."""
    settled: tuple[str, ...] = ()
    """Updates and deletions that were read again."""
    waiting: tuple[str, ...] = ()
    """Adopted or to be settled on clusters that could not be reached; the next update that can reach them does it."""
    orphans: tuple[Orphan, ...] = ()
    """Everything that may exist unseen, from this repair and from earlier ones."""
    failures: tuple[ResourceFailure, ...] = ()
    """What could not be read."""

    @property
    def did_anything(self) -> bool:
        """Whether the stack had been cut off."""
        return bool(self.adopted or self.absent or self.settled or self.waiting)

    @property
    def lines(self) -> tuple[str, ...]:
        """The report in words, one line each."""
        texts = (
            ("adopted", self.adopted),
            ("had not been created", self.absent),
            ("read again", self.settled),
            ("waits for its cluster", self.waiting),
        )
        lines = [f"{urn.rpartition('::')[2]}: {text}" for text, urns in texts for urn in urns]
        return (*lines, *(str(orphan) for orphan in self.orphans))


def repair(
    runner: Runner,
    stack: StackName,
    finder: OrphanFinder,
    *,
    unreachable: Collection[str] = (),
    listener: Listener | None = None,
) -> RepairReport:
    """Settle every interrupted operation of ``stack``; costs one export when there is none.

    ``unreachable`` names clusters that do not answer: what is on them is adopted unseen and read later.
    """
    checkpoint = runner.export(stack)
    if not checkpoint.pending:
        return RepairReport()
    plan = _plan(checkpoint, finder, frozenset(unreachable))
    orphans = _remember(runner, stack, plan.orphans)
    write_back(runner, _settled(checkpoint, plan), seen=checkpoint)
    failures: tuple[ResourceFailure, ...] = ()
    gone: set[str] = set()
    if plan.read:
        applied = runner.refresh(stack, targets=sorted(plan.read), listener=listener)
        failures = applied.failures
        gone = {step.urn for step in applied.steps if step.op.removes}
        _leave_to_makers(runner, stack, plan.adopted.keys() - gone)
    return RepairReport(
        adopted=tuple(sorted(plan.adopted.keys() - gone)),
        absent=tuple(sorted(plan.absent | (plan.adopted.keys() & gone))),
        settled=tuple(sorted(plan.read - plan.adopted.keys())),
        waiting=tuple(sorted(plan.waiting)),
        orphans=orphans,
        failures=failures,
    )


def _leave_to_makers(runner: Runner, stack: StackName, adopted: Collection[str]) -> None:
    if not any("kubernetes:" in urn for urn in adopted):
        return
    read = runner.export(stack)
    changed = with_makers(read, adopted)
    if changed is not None:
        write_back(runner, changed, seen=read)


def write_back(runner: Runner, changed: Checkpoint, *, seen: Checkpoint) -> None:
    """Put an edited state in place of the one that was read; no lease is held in between.

    Raises DriverError when another run came meanwhile: what is written back would undo what it did.
    """
    if runner.export(seen.stack).raw.get("deployment") != seen.raw.get("deployment"):
        raise DriverError(
            f"another run changed the state of stack {seen.stack} while it was to be repaired",
            consequence="Nothing was changed.",
            help=f"berth status -e {seen.stack.environment}",
        )
    runner.import_state(changed)


def known_orphans(runner: Runner, stack: StackName) -> tuple[Orphan, ...]:
    """Return what earlier repairs could not find."""
    noted = runner.tags(stack).get(ORPHANS_TAG)
    return tuple(Orphan(**entry) for entry in json.loads(noted)) if noted else ()


def forget_orphans(runner: Runner, stack: StackName, urns: Iterable[str]) -> tuple[Orphan, ...]:
    """Cross out what a person has dealt with; return what is left."""
    gone = frozenset(urns)
    left = tuple(orphan for orphan in known_orphans(runner, stack) if orphan.urn not in gone)
    _note(runner, stack, left)
    return left


def _remember(runner: Runner, stack: StackName, orphans: Iterable[Orphan]) -> tuple[Orphan, ...]:
    """Note new orphans before the state forgets them; return all that are noted."""
    noted = {orphan.urn: orphan for orphan in known_orphans(runner, stack)}
    merged = {**noted, **{orphan.urn: orphan for orphan in orphans}}
    if merged != noted:
        _note(runner, stack, merged.values())
    return tuple(merged[urn] for urn in sorted(merged))


def _note(runner: Runner, stack: StackName, orphans: Iterable[Orphan]) -> None:
    entries = [{"urn": orphan.urn, "type": orphan.type, "name": orphan.name} for orphan in orphans]
    runner.set_tag(stack, ORPHANS_TAG, json.dumps(entries, sort_keys=True) if entries else None)


@dataclass(slots=True)
class _Plan:
    adopted: dict[str, str] = field(default_factory=dict)
    """Ids by URN."""
    absent: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    waiting: set[str] = field(default_factory=set)
    orphans: list[Orphan] = field(default_factory=list)


def _plan(checkpoint: Checkpoint, finder: OrphanFinder, unreachable: frozenset[str]) -> _Plan:
    plan = _Plan()
    family = Family([*checkpoint, *(operation.resource for operation in checkpoint.pending)])
    for operation in checkpoint.pending:
        resource = operation.resource
        if operation.kind is PendingKind.CREATING:
            _plan_creation(plan, checkpoint, finder, operation)
        elif checkpoint.get(resource.urn) and resource.custom and not resource.is_provider:
            plan.read.add(resource.urn)
    for urn in sorted(plan.read):
        if family.cluster(urn) in unreachable:
            plan.read.discard(urn)
            plan.waiting.add(urn)
    return plan


def _plan_creation(plan: _Plan, checkpoint: Checkpoint, finder: OrphanFinder, operation: PendingOperation) -> None:
    resource = operation.resource
    if not resource.custom or resource.is_provider:
        plan.absent.add(resource.urn)  # nothing outside the state stands for it
        return
    known = frozenset(other.id for other in checkpoint.resources if other.type == resource.type)
    held = checkpoint.get(resource.urn)
    try:
        identifier = finder.find(resource, known=known)
    except CannotTell:
        identifier = natural_id(resource.type, resource.inputs)
        if not identifier:
            plan.orphans.append(Orphan(resource.urn, resource.type, resource.name))
            return
    if not identifier or (held and not held.pending_replacement and held.id == identifier):
        plan.absent.add(resource.urn)  # never made, or made since by a later run
    else:
        plan.adopted[resource.urn] = identifier
        plan.read.add(resource.urn)


def _settled(checkpoint: Checkpoint, plan: _Plan) -> Checkpoint:
    """Return the state with what was found in it, and without pending operations."""
    raw: dict[str, Any] = copy.deepcopy(dict(checkpoint.raw))
    deployment = raw["deployment"]
    pending: Iterable[Mapping[str, Any]] = deployment.pop("pending_operations", None) or ()
    by_urn = {entry["resource"]["urn"]: entry["resource"] for entry in pending}
    resources: list[dict[str, Any]] = deployment.get("resources") or []
    for urn, identifier in plan.adopted.items():
        entry = dict(by_urn[urn])
        # Marked as not initialised, so that an update repairs it even if this run ends before it is read.
        entry.update(id=identifier, outputs=entry.get("inputs") or {}, initErrors=[_MARK])
        resources = [kept for other in resources if (kept := _aside(other, urn))]
        resources.append(entry)
    deployment["resources"] = _ordered(resources)
    return Checkpoint.from_json(checkpoint.stack, raw)


def _aside(other: dict[str, Any], urn: str) -> dict[str, Any] | None:
    """Make room for the new half of a replacement: the old one waits for its deletion, or was deleted already."""
    if other["urn"] != urn or other.get("delete"):
        return other
    return None if other.get("pendingReplacement") else {**other, "delete": True}


def _ordered(resources: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put every resource behind all that it rests on, as the engine wants it; keeps the order where it can."""
    live = {entry["urn"]: entry for entry in resources if not entry.get("delete")}
    done: dict[int, dict[str, Any]] = {}
    for first in resources:
        waiting = [first]
        while waiting:
            entry = waiting[-1]
            missing = [live[urn] for urn in _rests_on(entry) if urn in live and id(live[urn]) not in done]
            missing = [other for other in missing if other is not entry and other not in waiting]
            if missing and id(entry) not in done:
                waiting += missing
                continue
            done.setdefault(id(waiting.pop()), entry)
    return list(done.values())


def _rests_on(entry: Mapping[str, Any]) -> list[str]:
    urns = [
        entry.get("parent") or "",
        (entry.get("provider") or "").rpartition("::")[0],
        entry.get("deletedWith") or "",
    ]
    urns += [*(entry.get("dependencies") or ()), *(entry.get("replaceWith") or ())]
    for named in (entry.get("propertyDependencies") or {}).values():
        urns += named or ()
    return [urn for urn in urns if urn]
