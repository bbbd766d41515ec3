"""ModelDeployment: replicas of a model across the fleet, each one or more engines on one cluster."""

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from components.api.base import (
    BERTH,
    LATER,
    Items,
    LabelSelector,
    LocalReference,
    Manifest,
    Model,
    Portable,
    Ruled,
    ServiceMetadata,
)
from components.api.codes import Code
from components.api.conditions import NOTHING, Belongs, Schema, Together, equal, given
from components.api.frozen import FrozenDict
from components.api.pod_template import PodTemplate
from components.api.rules import DnsLabel, OwnLabels, Subdomain, Violation, duplicates, shown, within
from components.api.values import MAX_INT32, Duration, UsdPerHour


class ModelCacheRef(LocalReference):
    """A ModelCache of the same namespace."""

    name: Annotated[str, Field(min_length=1)]
    """Its name."""


class Serving(Model):
    """How engines share the work of a request."""

    mode: Literal["Unified", "PrefillDecode"] = "Unified"
    """`Unified`: every engine does all. `PrefillDecode`: one engine reads the prompt, another writes the answer."""


def _compared(toleration: "Toleration") -> Iterator[Violation]:
    if toleration.operator == "Equal" and not toleration.key:
        message = "a toleration with operator Equal, the default, needs a key"
        yield Violation(Code.TOLERATION_INVALID, message, hint="to tolerate everything, write `operator: Exists`")
    if toleration.operator == "Exists" and toleration.value:
        message = "a toleration with operator Exists takes no value"
        yield Violation(Code.TOLERATION_INVALID, message, ("value",), hint="remove it, or write `operator: Equal`")


_EXISTS: Final = equal("operator", "Exists")


class Toleration(Ruled):
    """Lets replicas onto a tainted cluster."""

    CONDITIONS: ClassVar = (
        Together(
            _compared,
            (
                {"if": _EXISTS, "then": {"properties": {"value": {"enum": [None, ""]}}}},
                {"if": {"not": _EXISTS}, "then": given("key", but=("",))},
            ),
        ),
    )

    key: str | None = None
    """Key of the taint; empty with `Exists` tolerates everything."""

    operator: Literal["Exists", "Equal"] = "Equal"
    """`Exists` looks at the key, `Equal` at the value too."""

    value: str | None = None
    """Value of the taint."""

    effect: Literal["NoSchedule", "NoExecute"] | None = None
    """Effect of the taint; without it both match."""


def _condition(selector: "Selector") -> Iterator[Violation]:
    if selector.cel is None:
        yield Violation(Code.SELECTOR_EMPTY, "the selector is empty; it needs a condition in `cel`")


class Selector(Ruled):
    """A condition on one device."""

    CONDITIONS: ClassVar = (Together(_condition, (given("cel"),)),)

    cel: Annotated[str, Field(min_length=1, max_length=10240)] | None = None
    """A CEL expression over `device`, as in Kubernetes dynamic resource allocation."""


class DeviceRequest(Model):
    """Devices of one kind that a member asks of its node."""

    name: DnsLabel
    """Name within the member; becomes the request's name in the claim."""

    count: Annotated[int, Field(ge=1, le=64)] = 1
    """Devices per node."""

    selectors: Items[Selector] = Field(min_length=1, max_length=8)
    """Conditions; all must hold."""


class NodeSelector(Ruled):
    """What a member asks of its node."""

    devices: Items[DeviceRequest] = Field(min_length=1, max_length=16)
    """Requests; no two share a device."""

    def rules(self) -> Iterator[Violation]:
        """Check that requests have different names."""
        yield from within("devices", duplicates(self.devices, lambda request: request.name, "name", "the request"))


class Worker(Model):
    """The followers of a gang."""

    nodes: Annotated[int, Field(ge=1, le=63)]
    """Follower pods, one per node; the gang has one more, its leader."""


class Member(Ruled):
    """A pod role inside an engine."""

    CONDITIONS: ClassVar = (Belongs("worker", "role", ("Worker",), code=Code.ENGINE_SHAPE),)

    role: Literal["Standalone", "Leader", "Worker"] = "Standalone"
    """`Standalone` is an engine of one pod; a gang has one `Leader` and one `Worker` entry."""

    node_selector: NodeSelector | None = None
    """What it asks of its node; at least one member of an engine asks."""

    worker: Worker | None = None
    """The followers; only on a `Worker`."""

    template: PodTemplate
    """What its pods look like."""

    @property
    def pods(self) -> int:
        """Pods of this member in one copy of its engine."""
        return self.worker.nodes if self.worker else 1


def engine_violations(roles: Sequence[str]) -> Iterator[Violation]:
    """Yield what is wrong with the roles of an engine's members."""
    if sorted(roles) not in (["Standalone"], ["Leader", "Worker"]):
        message = "members must be one Standalone, or one Leader and one Worker; here: " + ", ".join(roles)
        yield Violation(Code.ENGINE_SHAPE, message, ("members",), at_key=True)


def _role(*roles: str | None) -> Schema:
    required: Schema = {} if None in roles else {"required": ["role"]}
    return {"type": "object", "properties": {"role": {"enum": list(roles)}}, **required}


_ALONE: Final = {"minItems": 1, "maxItems": 1, "items": _role("Standalone", None)}
_GANG: Final = {"minItems": 2, "maxItems": 2, "allOf": [{"contains": _role(each)} for each in ("Leader", "Worker")]}

ENGINE_SCHEMA: Final[Schema] = {"properties": {"members": {"anyOf": [_ALONE, _GANG]}}}
"""What ``engine_violations`` is in JSON Schema."""


def _engine(engine: "Engine") -> Iterator[Violation]:
    yield from engine_violations([member.role for member in engine.members])
    if all(member.node_selector is None for member in engine.members):
        message = f"no member of the engine {shown(engine.name)} has a nodeSelector, so it asks for no device"
        yield Violation(Code.SELECTOR_EMPTY, message, ("members",), at_key=True)


class Engine(Ruled):
    """A process group inside a replica."""

    CONDITIONS: ClassVar = (
        Together(_engine, (ENGINE_SCHEMA, {"properties": {"members": {"contains": given("nodeSelector")}}})),
    )

    name: DnsLabel
    """Name within the deployment."""

    copies: Annotated[int, Field(ge=1, le=64)] = 1
    """Identical copies in each replica."""

    phase: Literal["Prefill", "Decode"] | None = None
    """Its part in `PrefillDecode` serving; not set otherwise."""

    members: Items[Member] = Field(min_length=1, max_length=2)
    """One Standalone member, or a Leader and a Worker."""

    @property
    def gang(self) -> bool:
        """Whether the engine has more than one pod."""
        return self.members[0].role != "Standalone"


class ReplicaMetadata(Model):
    """Labels of replicas and endpoints."""

    labels: OwnLabels = Field(default=FrozenDict(), max_length=32)
    """Labels that services select on; pods do not get them."""


def phase_violations(mode: str, phases: Sequence[str | None]) -> Iterator[Violation]:
    """Yield what is wrong with the phases of a replica's engines under its serving mode."""
    if mode == "Unified":
        for index, phase in enumerate(phases):
            if phase is not None:
                message = f"phase {phase} needs serving mode PrefillDecode, and the mode is Unified"
                yield Violation(Code.ENGINE_SHAPE, message, ("engines", index, "phase"), at_key=True)
    elif sorted(phase or "" for phase in phases) != ["Decode", "Prefill"]:
        found = ", ".join(phase or "none" for phase in phases)
        message = f"mode PrefillDecode needs two engines, one of phase Prefill and one of Decode; here: {found}"
        yield Violation(Code.ENGINE_SHAPE, message, ("engines",), at_key=True)


_SPLIT: Final = equal("mode", "PrefillDecode")
_TWO: Final = {
    "minItems": 2,
    "maxItems": 2,
    "allOf": [{"contains": equal("phase", each)} for each in ("Prefill", "Decode")],
}

PHASE_SCHEMA: Final[Schema] = {
    "if": {"type": "object", "required": ["serving"], "properties": {"serving": _SPLIT}},
    "then": {"properties": {"engines": _TWO}},
    "else": {"properties": {"engines": {"items": {"properties": {"phase": NOTHING}}}}},
}
"""What ``phase_violations`` is in JSON Schema."""


def _phases(spec: "ReplicaSpec") -> Iterator[Violation]:
    yield from phase_violations(spec.serving.mode, [engine.phase for engine in spec.engines])


class ReplicaSpec(Ruled):
    """One replica, and where it may run."""

    CONDITIONS: ClassVar = (Together(_phases, (PHASE_SCHEMA,)),)

    cluster_selector: LabelSelector | None = None
    """Clusters it may run on; all without it."""

    model_cache_ref: ModelCacheRef | None = None
    """The cache with its weights."""

    serving: Serving = Serving()
    """How engines share the work."""

    tolerations: Items[Toleration] = ()
    """Taints of clusters that do not keep it off."""

    engines: Items[Engine] = Field(min_length=1, max_length=8)
    """Its engines, all on one cluster."""

    fabric: Annotated[Literal["Any", "EFA", "InfiniBand", "None"] | None, BERTH] = None
    """Fast network that the nodes of a gang share: one of a kind, `Any`, or `None` where plain Ethernet will do.
    Without it what `spec.scheduling` of the Environment says, `Any` as a rule."""

    block_size: Annotated[Annotated[int, Field(ge=1, le=4096)] | None, BERTH] = None
    """Tokens per block of the KV cache, for prefix routing; read from the engine's arguments without it."""

    def rules(self) -> Iterator[Violation]:
        """Check that engines have different names."""
        yield from within("engines", duplicates(self.engines, lambda engine: engine.name, "name", "the engine"))


class ReplicaTemplate(Model):
    """What a replica looks like."""

    metadata: ReplicaMetadata = ReplicaMetadata()
    """Labels of replicas and endpoints."""

    spec: ReplicaSpec
    """The replica."""


class Surge(Model):
    """What may happen while a replica is replaced."""

    allow_gap: bool = False
    """Where there is no room for a successor, the last replica may go before the new one serves."""

    max_surge: Annotated[int, Field(ge=1, le=MAX_INT32)] | None = None
    """Replicas of this deployment that may exist beside the ones they replace; as many as fit without it."""


class ModelDeploymentSpec(Ruled):
    """Replicas of a model."""

    replicas: Annotated[int, Field(ge=0, le=MAX_INT32), Portable(1, 10)]
    """Replicas across the fleet. Under `modelplane.ai` 1 to 10; under `berth.dev` any number, and 0 parks it."""

    template: ReplicaTemplate
    """What a replica looks like."""

    surge: Annotated[Surge, BERTH] = Surge()
    """What may happen while a replica is replaced."""

    keep_old: Annotated[Duration | None, LATER] = None
    """How long a replaced replica is kept, as a duration such as `30m`; the environment's without it."""

    priority: Annotated[Annotated[int, Field(ge=-MAX_INT32, le=MAX_INT32)] | None, BERTH] = None
    """Who is placed first when not all fit: the larger number. 0 without it. What runs already is not put aside."""

    strategy: Annotated[Literal["Spread", "Pack", "Cost"] | None, BERTH] = None
    """What decides between clusters, instead of the environment's; `Compatible` holds for whole environments."""

    spot: Annotated[bool, BERTH] = False
    """Whether its replicas may run on pools with `capacityType: Spot`, whose nodes the cloud may take back."""

    max_cost_per_hour: Annotated[UsdPerHour | None, BERTH] = None
    """Most US dollars per hour that all its replicas may cost."""

    secrets: Annotated[Items[Subdomain] | None, Field(min_length=1, max_length=32), LATER] = None
    """Secrets of the namespace that go where its replicas are, beyond those that its pods name."""

    def rules(self) -> Iterator[Violation]:
        """Check that a secret stands once."""
        yield from within("secrets", duplicates(self.secrets or (), str, "", "the secret"))


class ModelDeployment(Manifest):
    """Replicas of a model across the fleet."""

    SHORT_NAME: ClassVar[str] = "md"
    COLUMNS: ClassVar[tuple[tuple[str, str], ...]] = (("REPLICAS", "spec.replicas"),)

    kind: Literal["ModelDeployment"]
    """Always `ModelDeployment`."""

    metadata: ServiceMetadata
    """Name, namespace, labels and annotations."""

    spec: ModelDeploymentSpec
    """The deployment."""
