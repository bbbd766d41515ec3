"""The engine behind a protocol: what the driver may ask of Pulumi, and what it gets back.

One implementation drives the real engine (``pulumi``), one replays recorded runs (``replay``), so everything above is
tested without an engine. The contract of every operation: it returns a value when the engine ran to an end, even a bad
one (a policy said no, a resource failed); whoever must not go on then calls ``require_ok``. It raises a
:class:`~components.errors.DriverError` when there is no such end: no stack, a lease, a wrong passphrase, an interrupt,
a program that failed. Errors that the program itself raises on purpose (a lock that breaks ownership) come through as
they are. Nothing here imports Pulumi, so that reading a plan costs no SDK.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from automation.engine.checkpoint import Checkpoint
from automation.engine.events import (
    Diagnostic,
    Event,
    Op,
    PolicyFinding,
    PolicyRemediation,
    PolicySummary,
    ResourceStep,
    empty,
)
from automation.engine.lease import Lease
from components.errors import PolicyViolation, ResourceFailed
from components.naming import StackName

Program = Callable[[], None]
"""A Pulumi program: registers resources and returns; runs once for every operation, in a thread of its own.

It must build every resource inside the call: a resource kept from an earlier call would not be registered again, and
the engine would delete it.
"""

Listener = Callable[[Event], None]
"""Called with every event as it arrives, from a thread of the runner; must not raise and must not block."""


@dataclass(frozen=True, slots=True)
class PolicyPackRef:
    """A policy pack on disk: a folder, or an executable file; ``config`` is a JSON file of the pack's settings."""

    path: Path
    config: Path | None = None


@dataclass(frozen=True, slots=True)
class ResourceFailure:
    """A resource that could not be created, changed, deleted or read, with every message about it."""

    urn: str
    type: str
    op: Op
    messages: tuple[str, ...]
    provider: str = ""
    parent: str = ""
    init_errors: tuple[str, ...] = ()
    awaited: bool = False
    """The operation went through but its end could not be awaited."""

    @property
    def name(self) -> str:
        """The logical name, the last part of the URN."""
        return self.urn.rpartition("::")[2]


@dataclass(frozen=True, slots=True)
class PolicyReport:
    """Everything that policy packs said in one operation.

    A *deferred* finding is the engine's note that a rule could not judge a value that is not known yet; it is neither
    passed nor violated.
    """

    findings: tuple[PolicyFinding, ...] = ()
    deferred: tuple[PolicyFinding, ...] = ()
    remediations: tuple[PolicyRemediation, ...] = ()
    summaries: tuple[PolicySummary, ...] = ()
    packs: Mapping[str, str] = field(default_factory=empty)
    """Packs that ran, with their versions."""

    @property
    def blocking(self) -> tuple[PolicyFinding, ...]:
        """The findings that stop a run."""
        return tuple(finding for finding in self.findings if finding.blocks)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an operation did or would do. ``steps`` holds one entry per operation on a resource, in the engine's order.

    ``ok`` is the engine's own verdict. ``seconds`` is wall time as the driver saw it.
    """

    stack: StackName
    ok: bool
    steps: tuple[ResourceStep, ...]
    failures: tuple[ResourceFailure, ...] = ()
    policies: PolicyReport = field(default_factory=PolicyReport)
    diagnostics: tuple[Diagnostic, ...] = ()
    changes: Mapping[Op, int] = field(default_factory=empty)
    seconds: float = 0.0

    @property
    def changed(self) -> tuple[ResourceStep, ...]:
        """The steps that change something outside the state."""
        return tuple(step for step in self.steps if step.op.changes)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics that are errors."""
        return tuple(message for message in self.diagnostics if message.severity == "error")

    def require_ok(self) -> None:
        """Raise PolicyViolation or ResourceFailed, with every reason in words, unless the engine was content."""
        if self.ok:
            return
        blocking = self.policies.blocking
        if blocking:
            rules = sorted({f"{finding.pack}/{finding.rule}" for finding in blocking})
            count = f"{len(blocking)} policy violation{'' if len(blocking) == 1 else 's'}"
            raise PolicyViolation(f"{count}: {', '.join(rules)}", consequence=self._consequence())
        reasons = [f"{failure.name}: {' '.join(failure.messages)}" for failure in self.failures]
        reasons += [f"{urn.rpartition('::')[2]} is protected" for urn in self._kept()]
        if not reasons:
            reasons = [message.message for message in self.errors if not message.urn]
        raise ResourceFailed(
            "; ".join(reasons) or "the engine failed and gave no reason", consequence=self._consequence()
        )

    def _consequence(self) -> str:
        return ""

    def _kept(self) -> tuple[str, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class Preview(Outcome):
    """What an operation would do; nothing was changed.

    ``refused`` are the URNs that the operation would delete or replace, and that are protected.
    """

    refused: tuple[str, ...] = ()

    @property
    def has_read(self) -> bool:
        """Whether real resources were read."""
        return any(step.op is Op.REFRESH for step in self.steps)

    @property
    def drifted(self) -> bool:
        """Whether what was read may differ from the state, so that an update from the state alone may do otherwise.

        Secrets cannot be compared here: what is to be done with one may come of what was read. False where nothing was.
        """
        if not self.has_read:
            return False
        return any(step.drifted or (step.op in _MADE_OF_STATE and _has_secrets(step)) for step in self.steps)

    def _consequence(self) -> str:
        return "Nothing was changed."

    def _kept(self) -> tuple[str, ...]:
        return self.refused


@dataclass(frozen=True, slots=True)
class Applied(Outcome):
    """What an operation did. ``steps`` are those that were done; a failed one is only among ``failures``."""

    def _consequence(self) -> str:
        done = len(self.changed)
        return (
            f"{done} resource{' was' if done == 1 else 's were'} changed before that."
            if done
            else "Nothing was changed."
        )


_MADE_OF_STATE = frozenset(op for op in Op if op.changes) - {Op.DELETE, Op.DELETE_REPLACED}
_MASKED = "[secret]"


def _has_secrets(value: Any) -> bool:
    """Whether a step, or a value in one, holds a secret."""
    match value:
        case ResourceStep():
            return any(map(_has_secrets, (value.old_inputs, value.inputs, value.outputs)))
        case str():
            return value == _MASKED
        case Mapping():
            return any(map(_has_secrets, value.values()))
        case Sequence():
            return any(map(_has_secrets, value))
        case _:
            return False


class Runner(Protocol):
    """Runs Pulumi on the stacks of one project in one backend."""

    def stacks(self) -> tuple[StackName, ...]:
        """Return the stacks of the project, sorted."""
        ...

    def ensure_stack(self, stack: StackName) -> bool:
        """Create ``stack`` unless it is there; return whether it was created."""
        ...

    def remove_stack(self, stack: StackName, *, force: bool = False, keep_config: bool = True) -> None:
        """Remove an empty stack with its history; ``force`` forgets what still exists."""
        ...

    def set_config(self, stack: StackName, key: str, value: str, *, secret: bool = False) -> None:
        """Set one configuration key (``berth:gateways``); a secret is encrypted and never stands on a command line."""
        ...

    def get_config(self, stack: StackName, key: str) -> str | None:
        """Return one plain configuration value, None when it is not set; a secret stays encrypted and is refused."""
        ...

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
        """Return what ``up`` would do.

        ``exclude`` holds the URNs to leave alone: each one, whether it exists or would be created; what they depend on
        is not deleted either. ``refresh`` reads the real resources first, without storing what was read.
        """
        ...

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
        """Make the stack what ``program`` says; with ``continue_on_error`` one failure does not stop the others.

        Something excluded that does not exist yet is not created; an ``up`` in which anything that is not excluded
        depends on it is refused, because the engine would write a broken state.
        """
        ...

    def preview_destroy(
        self, stack: StackName, *, exclude: Sequence[str] = (), listener: Listener | None = None
    ) -> Preview:
        """Return what ``destroy`` would delete."""
        ...

    def destroy(
        self,
        stack: StackName,
        *,
        exclude: Sequence[str] = (),
        continue_on_error: bool = False,
        listener: Listener | None = None,
    ) -> Applied:
        """Delete every resource of the stack; the stack itself stays."""
        ...

    def drift(self, stack: StackName, *, exclude: Sequence[str] = (), listener: Listener | None = None) -> Preview:
        """Return how the real resources differ from the state, which stays as it is."""
        ...

    def refresh(
        self,
        stack: StackName,
        *,
        targets: Sequence[str] = (),
        exclude: Sequence[str] = (),
        listener: Listener | None = None,
    ) -> Applied:
        """Store in the state what the real resources are: all of them, or ``targets`` only (URNs in the state)."""
        ...

    def get_secret(self, stack: StackName, key: str) -> str | None:
        """Return one configuration value, decrypted if it is a secret; None when it is not set."""
        ...

    def export(self, stack: StackName, *, show_secrets: bool = False) -> Checkpoint:
        """Return the state, secrets still encrypted; with ``show_secrets`` they are in clear, under ``plaintext``."""
        ...

    def import_state(self, checkpoint: Checkpoint) -> None:
        """Replace the state of the checkpoint's stack; pending operations in it are dropped by the engine."""
        ...

    def tags(self, stack: StackName) -> Mapping[str, str]:
        """Return the notes that are kept in the backend beside the stack."""
        ...

    def set_tag(self, stack: StackName, key: str, value: str | None) -> None:
        """Write one note, or remove it with None."""
        ...

    def leases(self, stack: StackName) -> tuple[Lease, ...] | None:
        """Return who holds the backend's lease on ``stack``; None when this kind of backend cannot be asked."""
        ...

    def leased(self) -> tuple[StackName, ...]:
        """Return the stacks of the project that somebody holds; none where that cannot be seen."""
        ...

    def free(self, stack: StackName, lease: Lease) -> None:
        """Free one holder's lease, and nobody else's; only for leases that this runner named."""
        ...

    def cancel(self, stack: StackName) -> None:
        """Remove the lease on ``stack``, whoever holds it; a run that still holds it is not told."""
        ...
