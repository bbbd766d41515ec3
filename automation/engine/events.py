"""Engine events: what Pulumi says while it works, as frozen values.

The engine sends every event as JSON over gRPC (``--event-log tcp://``). The SDK's own classes lose much of it (a
policy's severity, remediations, analysis summaries, engine errors), so Berth reads the JSON itself (``event_json``).
The contract: every kind of event of the pinned engine becomes its own value, a kind of a newer engine becomes
:class:`Unread`, never an error; texts come without colour marks; secrets are already blinded by the engine. Gathering
events into a result is ``outcome``'s work.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

EMPTY: Mapping[Any, Any] = MappingProxyType({})


def empty() -> Mapping[Any, Any]:
    """Return the one empty mapping; the default of every mapping among the engine's values."""
    return EMPTY


PROVIDER_PREFIX = "pulumi:providers:"
"""Type of a provider resource, before the package's name."""


class Op(StrEnum):
    """What the engine does to one resource."""

    SAME = "same"
    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    REPLACE = "replace"
    CREATE_REPLACEMENT = "create-replacement"
    DELETE_REPLACED = "delete-replaced"
    READ = "read"
    READ_REPLACEMENT = "read-replacement"
    READ_DISCARD = "discard"
    DISCARD_REPLACED = "discard-replaced"
    REMOVE_PENDING_REPLACE = "remove-pending-replace"
    REFRESH = "refresh"
    IMPORT = "import"
    IMPORT_REPLACEMENT = "import-replacement"
    DIFF = "diff"
    UNKNOWN = "unknown"
    """An operation that this Berth does not know; shown, and counted as a change."""

    @property
    def changes(self) -> bool:
        """Whether the operation changes something outside the state."""
        return self not in _QUIET

    @property
    def replaces(self) -> bool:
        """Whether the operation is part of a replacement."""
        return self in _REPLACING

    @property
    def removes(self) -> bool:
        """Whether something that exists goes away."""
        return self in _REMOVING


_QUIET = frozenset(
    {Op.SAME, Op.READ, Op.REFRESH, Op.READ_DISCARD, Op.DISCARD_REPLACED, Op.REMOVE_PENDING_REPLACE, Op.DIFF}
)
_REPLACING = frozenset(
    {Op.REPLACE, Op.CREATE_REPLACEMENT, Op.DELETE_REPLACED, Op.READ_REPLACEMENT, Op.IMPORT_REPLACEMENT}
)
_REMOVING = frozenset({Op.DELETE, Op.DELETE_REPLACED})


class DiagnosticSeverity(StrEnum):
    """How loud the engine, a provider or the program speaks."""

    DEBUG = "debug"
    INFO = "info"
    INFO_ERROR = "info#err"
    """Something that a child process wrote on its error stream; no error by itself."""
    WARNING = "warning"
    ERROR = "error"


class Level(StrEnum):
    """What a policy's violation does."""

    DISABLED = "disabled"
    ADVISORY = "advisory"
    """Said, not enforced."""
    REMEDIATE = "remediate"
    """Repaired by the policy itself; a violation left over counts as mandatory."""
    MANDATORY = "mandatory"
    """Stops the run."""

    @property
    def blocks(self) -> bool:
        """Whether a violation stops the run."""
        return self in {Level.MANDATORY, Level.REMEDIATE}


@dataclass(frozen=True, slots=True)
class PropertyDiff:
    """One property that differs.

    ``path`` is spelled as the engine does (``spec.replicas``, ``tags["a.b"]``); ``kind`` is one of add, delete, update
    and their ``-replace`` forms.
    """

    path: str
    kind: str
    inputs_only: bool = False

    @property
    def replaces(self) -> bool:
        """Whether this difference forces a replacement."""
        return self.kind.endswith("-replace")


@dataclass(frozen=True, slots=True)
class ResourceStep:
    """One operation on one resource, planned or done.

    ``provider`` and ``parent`` are URNs, empty when there is none. ``inputs`` and ``outputs`` are the new state's
    (the old one's for a deletion), ``old_inputs`` the old state's; secrets in them read ``[secret]``. ``drifted`` says
    of a refresh that what was read is not what the state has, or is not there.
    """

    urn: str
    type: str
    op: Op
    provider: str = ""
    parent: str = ""
    id: str = ""
    custom: bool = False
    protected: bool = False
    retained: bool = False
    logical: bool = True
    replace_keys: tuple[str, ...] = ()
    diffs: tuple[PropertyDiff, ...] = ()
    inputs: Mapping[str, Any] = field(default_factory=empty, repr=False)
    outputs: Mapping[str, Any] = field(default_factory=empty, repr=False)
    old_inputs: Mapping[str, Any] = field(default_factory=empty, repr=False)
    init_errors: tuple[str, ...] = ()
    drifted: bool = False

    @property
    def name(self) -> str:
        """The logical name, the last part of the URN."""
        return self.urn.rpartition("::")[2]

    @property
    def is_provider(self) -> bool:
        """Whether the resource is itself a provider."""
        return self.type.startswith(PROVIDER_PREFIX)

    @property
    def deletes(self) -> bool:
        """Whether a resource goes away; the engine calls it a deletion too when the state only lets go of one."""
        return self.op.removes and self.custom and not self.retained

    @property
    def lets_go(self) -> bool:
        """Whether a resource only leaves the state, because it was made to be left when it is not wanted any more."""
        return self.op.removes and self.custom and self.retained


@dataclass(frozen=True, slots=True)
class Event:
    """The root of all events. ``sequence`` orders them, ``timestamp`` is in seconds since the epoch."""

    sequence: int
    timestamp: int


@dataclass(frozen=True, slots=True)
class Started(Event):
    """The operation begins; the keys of the configuration it runs with, never their values."""

    config_keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StepBegins(Event):
    """A resource operation is planned (``planning``) or begins."""

    step: ResourceStep
    planning: bool


@dataclass(frozen=True, slots=True)
class StepEnds(Event):
    """A resource operation is done."""

    step: ResourceStep
    planning: bool


@dataclass(frozen=True, slots=True)
class StepFails(Event):
    """A resource operation failed; the reason comes as a :class:`Diagnostic` of the same URN."""

    step: ResourceStep
    awaited: bool


@dataclass(frozen=True, slots=True)
class Diagnostic(Event):
    """A message of the engine, a provider or the program, about ``urn`` or about the whole when that is empty."""

    severity: DiagnosticSeverity
    message: str
    urn: str = ""
    ephemeral: bool = False


@dataclass(frozen=True, slots=True)
class PolicyException:
    """A granted exception that matched a violation."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class PolicyFinding(Event):
    """A policy was violated. ``urn`` is empty for a stack policy that names no resource."""

    pack: str
    version: str
    rule: str
    level: Level
    severity: str
    message: str
    urn: str = ""
    exceptions: tuple[PolicyException, ...] = ()

    @property
    def blocks(self) -> bool:
        """Whether it stops the run: mandatory, and no exception was granted."""
        return self.level.blocks and not self.exceptions


@dataclass(frozen=True, slots=True)
class PolicyRemediation(Event):
    """A policy changed a resource's inputs."""

    pack: str
    rule: str
    urn: str
    before: Mapping[str, Any] = field(default_factory=empty, repr=False)
    after: Mapping[str, Any] = field(default_factory=empty, repr=False)


class Analysis(StrEnum):
    """What a policy summary is about."""

    RESOURCE = "resource"
    REMEDIATION = "remediation"
    STACK = "stack"


@dataclass(frozen=True, slots=True)
class PolicySummary(Event):
    """Which rules of a pack passed and failed on one resource, or on the stack."""

    analysis: Analysis
    pack: str
    passed: tuple[str, ...]
    failed: tuple[str, ...]
    urn: str = ""


@dataclass(frozen=True, slots=True)
class PolicyLoads(Event):
    """A policy pack is being loaded."""


class Result(StrEnum):
    """How an operation ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "canceled"


@dataclass(frozen=True, slots=True)
class Finished(Event):
    """The operation ended; ``changes`` counts resources by operation."""

    result: Result
    changes: Mapping[Op, int]
    seconds: int
    preview: bool
    maybe_corrupt: bool = False
    policy_packs: Mapping[str, str] = field(default_factory=empty)


@dataclass(frozen=True, slots=True)
class Message(Event):
    """A plain line of the engine, as when it received an interrupt."""

    text: str


@dataclass(frozen=True, slots=True)
class EngineFault(Event):
    """An internal error of the engine; for finding bugs, not for users."""

    text: str


@dataclass(frozen=True, slots=True)
class Progress(Event):
    """A long side job of the engine, such as the download of a plugin."""

    job: str
    id: str
    message: str
    completed: int
    total: int
    done: bool


@dataclass(frozen=True, slots=True)
class Closed(Event):
    """The last event of the stream: the operation is over or was cancelled."""


@dataclass(frozen=True, slots=True)
class Unread(Event):
    """An event of a kind that this Berth does not know."""

    kind: str
