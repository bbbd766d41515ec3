"""A runner that keeps its stacks in memory: the driver's whole loop without an engine, in milliseconds.

It takes the lock that a program was made from, derives what that program would register (``fake_runner_program``), and
does with it what the engine does, as far as the driver depends on it: previews and updates step by step, dependents of
what failed are left out, excluded resources stay as they are, what is no longer registered is deleted last and only if
nothing stopped the run, a component's description is kept whatever becomes of its children, and the stack's outputs are
those of the last update that succeeded. Results come through the same ``Transcript`` as the real ones.

A test says what goes wrong by setting ``faults``. What only the real engine can show (providers' diffs, leases on disk,
processes) is for the engine tests.
"""

import copy
import json
from collections.abc import Callable, Mapping, Sequence

from automation.driver.guard import GuardedProgram
from automation.driver.programs import ShardProgram
from automation.driver.shared import GATEWAYS_KEY, STAGED_KEY
from automation.engine.checkpoint import Checkpoint
from automation.engine.events import (
    Op,
)
from automation.engine.lease import Lease, leased_error
from automation.engine.runner import Applied, Listener, PolicyPackRef, Preview, Program
from components.errors import DriverError, StackNotFound
from components.naming import SECRETS_KEY, StackName
from tests.support.fake_runner_program import STACK_TYPE, Registered, addresses_in, register, with_address
from tests.support.fake_runner_update import (
    Action,
    Faults,
    Raw,
    Stack,
    Story,
    Update,
    actions_of,
    require_closed,
    step_of,
)


class FakeRunner:
    """A :class:`~automation.engine.runner.Runner` in memory. ``calls`` lists every operation with its stack."""

    def __init__(self, *, before: Callable[[str], None] = lambda _call: None) -> None:
        self.held: dict[StackName, Stack] = {}
        self.faults = Faults()
        self.calls: list[str] = []
        self.programs: list[ShardProgram] = []
        self.stored: list[StackName] = []
        """The stacks whose updates stored what the clouds say."""
        self.looked: list[StackName] = []
        """The stacks whose previews looked at what the clouds say."""
        self.before = before
        """Called with every operation before it is done, so that a test can do what another run does meanwhile."""

    def count(self, operation: str) -> int:
        """Return how often an operation was asked for."""
        return sum(call.split()[0] == operation for call in self.calls)

    def _called(self, operation: str, stack: StackName) -> Stack:
        call = f"{operation} {stack}"
        self.calls.append(call)
        self.before(call)
        if stack not in self.held:
            raise StackNotFound(f"no stack named {stack}")
        return self.held[stack]

    # Stacks, configuration, state

    def stacks(self) -> tuple[StackName, ...]:
        """Return the stacks, sorted."""
        return tuple(sorted(self.held))

    def ensure_stack(self, stack: StackName) -> bool:
        """Create a stack unless it is there."""
        new = stack not in self.held
        self.held.setdefault(stack, Stack())
        self._called("ensure_stack", stack)
        return new

    def remove_stack(self, stack: StackName, *, force: bool = False, keep_config: bool = True) -> None:
        """Remove a stack; one that holds something only by force."""
        found = self._called("remove_stack" if keep_config else "remove_stack_and_config", stack)
        if not force and any(each["type"] != STACK_TYPE for each in found.resources):
            raise DriverError(f"stack {stack} still has resources")
        del self.held[stack]

    def set_config(self, stack: StackName, key: str, value: str, *, secret: bool = False) -> None:
        """Set one value."""
        del secret
        self._called("set_config", stack).config[key] = value

    def get_config(self, stack: StackName, key: str) -> str | None:
        """Return one value."""
        return self._called("get_config", stack).config.get(key)

    def get_secret(self, stack: StackName, key: str) -> str | None:
        """Return one value."""
        return self._called("get_secret", stack).config.get(key)

    def export(self, stack: StackName, *, show_secrets: bool = False) -> Checkpoint:
        """Return the state, in which nothing is encrypted."""
        del show_secrets
        found = self._called("export", stack)
        deployment: Raw = {"manifest": {}, "resources": copy.deepcopy(found.resources)}
        if found.pending:
            deployment["pending_operations"] = copy.deepcopy(found.pending)
        return Checkpoint.from_json(stack, {"version": 3, "deployment": deployment})

    def import_state(self, checkpoint: Checkpoint) -> None:
        """Replace the state; pending operations are dropped, as the engine does."""
        found = self._called("import_state", checkpoint.stack)
        found.resources = copy.deepcopy(list(checkpoint.raw["deployment"]["resources"]))
        found.pending = []

    def tags(self, stack: StackName) -> Mapping[str, str]:
        """Return the notes beside a stack."""
        return dict(self._called("tags", stack).tags)

    def set_tag(self, stack: StackName, key: str, value: str | None) -> None:
        """Write or remove a note."""
        tags = self._called("set_tag", stack).tags
        tags.pop(key, None)
        if value is not None:
            tags[key] = value

    def leases(self, stack: StackName) -> tuple[Lease, ...] | None:
        """Return who holds a stack."""
        return tuple(self.held[stack].leases) if stack in self.held else ()

    def leased(self) -> tuple[StackName, ...]:
        """Return the stacks that somebody holds."""
        return tuple(stack for stack in sorted(self.held) if self.held[stack].leases)

    def free(self, stack: StackName, lease: Lease) -> None:
        """Free one holder's lease."""
        self._called("free", stack).leases.remove(lease)

    def cancel(self, stack: StackName) -> None:
        """Free all leases of a stack."""
        self._called("cancel", stack).leases.clear()

    # Operations

    def preview(
        self,
        stack: StackName,
        program: Program,
        *,
        policy_pack: PolicyPackRef | None = None,
        exclude: Sequence[str] = (),
        refresh: bool = False,
        listener: Listener | None = None,
    ) -> Preview:
        """Return what ``up`` would do."""
        found = self._called("preview", stack)
        seen = self._seen(found, exclude, refresh)
        registered = self._registered(stack, program, seen)
        story = Story(listener)
        if refresh:
            self.looked.append(stack)
            story.read(found.resources, seen)
        story.plan(actions_of(seen, registered), exclude)
        if policy_pack is not None:
            story.judge(registered, self.faults.forbidden)
        return story.end(preview=True).preview(stack, seconds=0)

    def up(
        self,
        stack: StackName,
        program: Program,
        *,
        policy_pack: PolicyPackRef | None = None,
        exclude: Sequence[str] = (),
        refresh: bool = False,
        continue_on_error: bool = False,
        listener: Listener | None = None,
    ) -> Applied:
        """Make the stack what ``program`` says."""
        del policy_pack
        found = self._worked_on("up", stack)
        if refresh:
            self.stored.append(stack)
        seen = self._seen(found, exclude, refresh)
        registered = self._registered(stack, program, seen)
        found.resources = seen
        actions = [each for each in actions_of(found.resources, registered) if each.urn not in exclude]
        require_closed(stack, found.resources, actions)
        story = Story(listener)
        run = Update(stack, found, self.faults, story, go_on=continue_on_error)
        if not story.refuse(actions):
            run.apply(actions)
        if story.ok:
            run.publish(registered)
        return story.end(preview=False).applied(stack, seconds=0)

    def preview_destroy(
        self, stack: StackName, *, exclude: Sequence[str] = (), listener: Listener | None = None
    ) -> Preview:
        """Return what ``destroy`` would delete."""
        found = self._called("preview_destroy", stack)
        story = Story(listener)
        story.plan(actions_of(found.resources, Registered((), {})), exclude)
        return story.end(preview=True).preview(stack, seconds=0)

    def destroy(
        self,
        stack: StackName,
        *,
        exclude: Sequence[str] = (),
        continue_on_error: bool = False,
        listener: Listener | None = None,
    ) -> Applied:
        """Delete everything of a stack."""
        found = self._worked_on("destroy", stack)
        actions = [each for each in actions_of(found.resources, Registered((), {})) if each.urn not in exclude]
        story = Story(listener)
        if not story.refuse(actions):
            Update(stack, found, self.faults, story, go_on=continue_on_error).apply(actions)
        if story.ok:
            found.resources = []
        return story.end(preview=False).applied(stack, seconds=0)

    def drift(self, stack: StackName, *, exclude: Sequence[str] = (), listener: Listener | None = None) -> Preview:
        """Return how the real resources differ from the state."""
        found = self._called("drift", stack)
        story = Story(listener)
        for raw in found.resources:
            name = raw["urn"].rpartition("::")[2]
            if raw["custom"] and raw["urn"] not in exclude:
                if name in self.faults.unreadable:
                    story.fail(step_of(Action(Op.REFRESH, raw["urn"], None, raw)), "the cluster does not answer")
                op = Op.DELETE if name in self.faults.gone else Op.UPDATE if name in self.faults.edited else Op.SAME
                story.done(step_of(Action(op, raw["urn"], None, self._real(raw))))
        return story.end(preview=True).preview(stack, seconds=0)

    def refresh(
        self,
        stack: StackName,
        *,
        targets: Sequence[str] = (),
        exclude: Sequence[str] = (),
        listener: Listener | None = None,
    ) -> Applied:
        """Store what the real resources are."""
        found = self._worked_on("refresh", stack)
        story = Story(listener)
        kept: list[Raw] = []
        for raw in found.resources:
            name, read = raw["urn"].rpartition("::")[2], raw["urn"] not in exclude
            if read and (not targets or raw["urn"] in targets) and name in self.faults.gone:
                story.done(step_of(Action(Op.DELETE, raw["urn"], None, raw)))
            else:
                if raw["urn"] in targets and name not in self.faults.initialisations:
                    raw.pop("initErrors", None)
                kept.append(self._real(raw) if read and (not targets or raw["urn"] in targets) else raw)
        found.resources = kept
        return story.end(preview=False).applied(stack, seconds=0)

    def _worked_on(self, operation: str, stack: StackName) -> Stack:
        found = self._called(operation, stack)
        if found.leases:
            raise leased_error(stack, found.leases, release="berth unlock")
        return found

    def _registered(self, stack: StackName, program: Program, seen: Sequence[Raw]) -> Registered:
        if isinstance(program, GuardedProgram):
            program.check()
            program = program.program
        assert isinstance(program, ShardProgram), "the driver runs no other programs"
        self.programs.append(program)
        config, facts = self.held[stack].config, program.facts
        secrets = json.loads(config.get(SECRETS_KEY, "{}"))
        program.check(secrets)
        return register(
            program.fleet,
            program.lock,
            program.shard,
            simulated=program.simulated,
            gateways={**json.loads(config.get(GATEWAYS_KEY, "{}")), **facts.own, **(facts.gateways or {})},
            staged=json.loads(config.get(STAGED_KEY, "[]")) if facts.staged is None else facts.staged,
            secrets=secrets,
            addresses={**self.faults.moved, **addresses_in(seen)},
        )

    def _seen(self, found: Stack, exclude: Sequence[str], refresh: bool) -> list[Raw]:
        """Return the state as the operation sees it: what the clouds say, if it looks."""
        if not refresh:
            return list(found.resources)
        seen = []
        for raw in found.resources:
            name = raw["urn"].rpartition("::")[2]
            if raw["urn"] in exclude:
                seen.append(raw)
            elif name in self.faults.unreadable:
                raise DriverError(f"{name} cannot be read: its cluster does not answer")
            elif name not in self.faults.gone:
                seen.append({**self._real(raw), "inputs": dict(self.faults.edited.get(name, raw["inputs"]))})
        return seen

    def _real(self, raw: Raw) -> Raw:
        """Return a resource with the address that it has now."""
        address = self.faults.moved.get(raw["urn"].rpartition("::")[2])
        return raw if address is None else {**raw, "outputs": {**raw["outputs"], "status": with_address(address)}}
