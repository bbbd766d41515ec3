"""What the fake engine does with what a program registers: compares, tells, and changes a stack in memory.

It follows the real engine in what the driver depends on; ``fake_runner`` says in what.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Final

from automation.engine.checkpoint import PendingKind
from automation.engine.events import (
    Diagnostic,
    DiagnosticSeverity,
    Event,
    Finished,
    Level,
    Op,
    PolicyFinding,
    PropertyDiff,
    ResourceStep,
    Result,
    StepBegins,
    StepEnds,
    StepFails,
)
from automation.engine.lease import Lease
from automation.engine.outcome import Transcript
from automation.engine.runner import Listener
from components.errors import Cancelled, DriverError
from components.naming import StackName
from tests.support.fake_runner_program import STACK_TYPE, UNKNOWN, Registered, Registration, stack_urn

Raw = dict[str, Any]
_FORCES: Final[Mapping[str, frozenset[str]]] = {
    "aws:eks/nodeGroup:NodeGroup": frozenset({"accelerator"}),
    "aws:eks/cluster:Cluster": frozenset({"name"}),
}
"""Inputs whose change replaces the resource."""


@dataclass
class Faults:
    """What goes wrong, by the logical names of resources. All of it stays until a test takes it back."""

    creations: set[str] = field(default_factory=set)
    """What cannot be made or changed: it does not come to be."""
    initialisations: set[str] = field(default_factory=set)
    """What is made, and never becomes ready."""
    deletions: set[str] = field(default_factory=set)
    """What cannot be deleted."""
    interrupted_at: str = ""
    """The run is interrupted while it works on this resource, and leaves the operation pending."""
    forbidden: set[str] = field(default_factory=set)
    """Components that the policy pack does not allow to be registered."""
    gone: set[str] = field(default_factory=set)
    """What was deleted behind Berth's back; only a run that looks notices."""
    edited: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """What was changed behind Berth's back: the inputs that it has now."""
    unreadable: set[str] = field(default_factory=set)
    """What cannot be read, because its cluster does not answer."""
    moved: dict[str, str] = field(default_factory=dict)
    """Gateways that have another address now, which no input says; only a run that looks notices."""


@dataclass
class Stack:
    """One stack as its backend keeps it."""

    resources: list[Raw] = field(default_factory=list)
    pending: list[Raw] = field(default_factory=list)
    config: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    leases: list[Lease] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Action:
    """One planned operation on one resource; ``made`` is None for a deletion, ``old`` for a creation."""

    op: Op
    urn: str
    made: Registration | None
    old: Raw | None
    diffs: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The logical name."""
        return self.urn.rpartition("::")[2]

    @property
    def refused(self) -> bool:
        """Whether it would take away what is protected."""
        return bool(self.old and self.old.get("protect") and (self.op.removes or self.op is Op.REPLACE))


class Story:
    """The events of one operation, as the engine tells them."""

    def __init__(self, listener: Listener | None) -> None:
        self._transcript = Transcript()
        self._listener = listener
        self._numbers = count(1)
        self._ops: Counter[Op] = Counter()
        self.ok = True

    def _tell(self, event: Event) -> None:
        self._transcript.add(event)
        if self._listener:
            self._listener(event)

    def done(self, step: ResourceStep, *, planning: bool = False) -> None:
        """Tell of an operation that begins and ends."""
        self._ops[step.op] += 1
        self._tell(StepBegins(next(self._numbers), 0, step, planning))
        self._tell(StepEnds(next(self._numbers), 0, step, planning))

    def fail(self, step: ResourceStep, message: str) -> None:
        """Tell of an operation that begins and fails."""
        self.ok = False
        self._tell(StepBegins(next(self._numbers), 0, step, planning=False))
        self._tell(Diagnostic(next(self._numbers), 0, DiagnosticSeverity.ERROR, message, step.urn))
        self._tell(StepFails(next(self._numbers), 0, step, awaited=False))

    def refuse(self, actions: Iterable[Action]) -> bool:
        """Say which actions would take away what is protected; return whether there are any."""
        refused = [each for each in actions if each.refused]
        for each in refused:
            self.ok = False
            text = f'resource "{each.urn}" cannot be deleted because it is protected'
            self._tell(Diagnostic(next(self._numbers), 0, DiagnosticSeverity.ERROR, text, each.urn))
        return bool(refused)

    def plan(self, actions: Sequence[Action], exclude: Sequence[str]) -> None:
        """Tell what would be done."""
        left = [each for each in actions if each.urn not in exclude]
        self.refuse(left)
        for each in left:
            for step in _steps(each):
                self.done(step, planning=True)

    def read(self, resources: Sequence[Raw], seen: Sequence[Raw]) -> None:
        """Tell what was read."""
        real = {each["urn"]: (each["inputs"], each["outputs"]) for each in seen}
        for each in resources:
            step = step_of(Action(Op.REFRESH, each["urn"], None, each))
            drifted = real.get(each["urn"]) != (each["inputs"], each["outputs"])
            self.done(replace(step, drifted=drifted), planning=True)

    def judge(self, registered: Registered, forbidden: set[str]) -> None:
        """Let the policy pack speak."""
        for one in registered.resources:
            if one.name in forbidden:
                self.ok = False
                text = f"{one.name}: is not allowed"
                self._tell(
                    PolicyFinding(next(self._numbers), 0, "berth", "1", "no-such-thing", Level.MANDATORY, "high", text)
                )

    def end(self, *, preview: bool) -> Transcript:
        """End the operation."""
        result = Result.SUCCEEDED if self.ok else Result.FAILED
        self._tell(Finished(next(self._numbers), 0, result, dict(self._ops), 0, preview=preview))
        return self._transcript


@dataclass(slots=True)
class Update:
    """One update at work on a stack."""

    stack: StackName
    found: Stack
    faults: Faults
    story: Story
    go_on: bool
    lacking: set[str] = field(default_factory=set)
    """URNs that should be there and are not, because they failed or what they need did."""

    def apply(self, actions: Sequence[Action]) -> None:
        """Do everything, components' descriptions first: they wait for nothing."""
        components = [each for each in actions if each.made and not each.made.custom]
        objects = [each for each in actions if each.made and each.made.custom]
        for each in components:
            self._write(each)
        for each in objects:
            if not self._make(each):
                break
        else:
            for each in actions:
                if each.op in {Op.DELETE, Op.DELETE_REPLACED} and not self._delete(each):
                    break
        self._describe(components)

    def _make(self, action: Action) -> bool:
        """Make or change one object; return whether to go on."""
        assert action.made is not None
        if any(need in self.lacking for need in action.made.needs):
            self.lacking.add(action.urn)
            return True
        if action.op is Op.SAME:
            self._write(action)  # its options may be others
            return True
        if action.name == self.faults.interrupted_at:
            kind = PendingKind.CREATING if action.op is Op.CREATE else PendingKind.UPDATING
            self.found.pending.append({"type": kind.value, "resource": _raw(action.made)})
            raise Cancelled("interrupted", consequence="What had begun was finished.")
        if action.name in self.faults.creations | self.faults.initialisations:
            self.story.fail(step_of(action), f"{action.name} does not work")
            self.lacking.add(action.urn)
            if action.name in self.faults.initialisations:
                self._write(action, errors=[f"{action.name} does not work"], silent=True)
            return self.go_on
        self._write(action)
        return True

    def _write(self, action: Action, *, errors: Sequence[str] = (), silent: bool = False) -> None:
        assert action.made is not None
        raw = _raw(action.made)
        if errors:
            raw["initErrors"] = list(errors)
        if not any(each["type"] == STACK_TYPE for each in self.found.resources):
            self.found.resources.insert(0, _root(self.stack))
        places = [index for index, each in enumerate(self.found.resources) if each["urn"] == action.urn]
        if places:
            self.found.resources[places[0]] = raw
        else:
            self.found.resources.append(raw)
        if action.op is not Op.SAME:
            self.faults.gone.discard(action.name)  # it is there again, and as it should be
            self.faults.edited.pop(action.name, None)
        if not silent:
            for step in _steps(action):
                self.story.done(step)

    def _delete(self, action: Action) -> bool:
        if action.op is Op.DELETE_REPLACED:
            self.story.done(step_of(action))
            return True
        if action.name in self.faults.deletions:
            self.story.fail(step_of(action), f"{action.name} cannot be deleted")
            return self.go_on
        if any(each.get("parent") == action.urn for each in self.found.resources):
            return True  # what could not be deleted keeps its parent
        self.found.resources = [each for each in self.found.resources if each["urn"] != action.urn]
        self.story.done(step_of(action))
        return True

    def _describe(self, components: Iterable[Action]) -> None:
        """Register what components put out; what rests on something that was not made is not known."""
        there = {(each["type"], each["urn"].rpartition("::")[2]) for each in self.found.resources}
        for each in components:
            made = each.made
            if made is not None and made.rests_on and made.rests_on not in there:
                raw = next(raw for raw in self.found.resources if raw["urn"] == each.urn)
                raw["outputs"] = {**raw["outputs"], **dict.fromkeys(made.derived, UNKNOWN)}

    def publish(self, registered: Registered) -> None:
        """Keep the stack's outputs."""
        for each in self.found.resources:
            if each["type"] == STACK_TYPE:
                each["outputs"] = dict(registered.outputs)


def actions_of(resources: Sequence[Raw], registered: Registered) -> list[Action]:
    """Compare the state with what is registered: what to make and change, in order, then what to delete."""
    known = {each["urn"]: each for each in resources}
    actions: list[Action] = []
    late: list[Action] = []
    wanted = set()
    for one in registered.resources:
        urn = one.urn
        wanted.add(urn)
        old = known.get(urn)
        if old is None:
            actions.append(Action(Op.CREATE, urn, one, None))
            continue
        changed = _differences(old["inputs"], _raw(one)["inputs"])
        forcing = tuple(sorted(_FORCES.get(one.type, frozenset()) & set(changed)))
        if forcing:
            actions.append(Action(Op.REPLACE, urn, one, old, changed, forcing))
            late.append(Action(Op.DELETE_REPLACED, urn, None, old))
        else:
            op = Op.UPDATE if changed or old.get("initErrors") else Op.SAME
            actions.append(Action(op, urn, one, old, changed))
    gone = [each for each in reversed(resources) if each["urn"] not in wanted and each["type"] != STACK_TYPE]
    return [*actions, *late, *(Action(Op.DELETE, each["urn"], None, each) for each in gone)]


def _differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(sorted(key for key in {*old, *new} if old.get(key) != new.get(key)))


def _steps(action: Action) -> tuple[ResourceStep, ...]:
    """Return how the engine tells one action."""
    if action.op is not Op.REPLACE:
        return (step_of(action),)
    assert action.made is not None
    first = Action(Op.CREATE_REPLACEMENT, action.urn, action.made, action.old, action.diffs, action.keys)
    return (step_of(first), step_of(action))


def step_of(action: Action) -> ResourceStep:
    """Return an action as the engine tells it."""
    raw = _raw(action.made) if action.made is not None else action.old
    assert raw is not None
    return ResourceStep(
        urn=action.urn,
        type=raw["type"],
        op=action.op,
        provider=raw.get("provider", "").rpartition("::")[0],
        parent=raw["parent"],
        id=(action.old or {}).get("id", ""),
        custom=raw["custom"],
        protected=bool(raw.get("protect")),
        retained=bool(raw.get("retainOnDelete")),
        replace_keys=action.keys,
        diffs=tuple(PropertyDiff(path, "update") for path in action.diffs),
        inputs=raw["inputs"],
        outputs=raw["outputs"],
        old_inputs=(action.old or {}).get("inputs", {}),
    )


def require_closed(stack: StackName, resources: Sequence[Raw], actions: Sequence[Action]) -> None:
    """Refuse to leave out something new that something else needs, as the real runner does."""
    there = {each["urn"] for each in resources} | {each.urn for each in actions}
    for each in actions:
        for need in each.made.needs if each.made else ():
            if need not in there:
                raise DriverError(
                    f"what is skipped on stack {stack} is needed elsewhere: {each.urn} refers to {need}",
                    consequence="Nothing was changed.",
                )


def _root(stack: StackName) -> Raw:
    urn = stack_urn(stack)
    return {"urn": urn, "type": STACK_TYPE, "custom": False, "parent": "", "inputs": {}, "outputs": {}}


def _raw(one: Registration) -> Raw:
    """Return an entry of the state."""
    raw: Raw = {
        "urn": one.urn,
        "type": one.type,
        "custom": one.custom,
        "parent": one.parent,
        "inputs": dict(one.inputs),
        "outputs": {**one.inputs, **one.derived},
        "dependencies": list(one.needs),
    }
    if one.custom:
        raw["id"] = f"{'sim-' if one.type.startswith('aws:') else ''}{one.name}"
    if one.provider:
        raw["provider"] = f"{one.provider}::{one.provider.rpartition('::')[2]}"
    if one.protect:
        raw["protect"] = True
    if one.retain:
        raw["retainOnDelete"] = True
    return raw
