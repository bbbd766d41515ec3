"""ModelReplica: the predecessor's machine-made placement of one replica; read, and left alone.

Berth keeps placements in its lock; this kind only says where the predecessor had put a replica.
"""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from components.api.base import Document, Items, Model, Ruled, absent
from components.api.codes import Code
from components.api.conditions import Belongs, Together, given
from components.api.model_deployment import (
    ENGINE_SCHEMA,
    PHASE_SCHEMA,
    ModelCacheRef,
    Selector,
    Serving,
    Worker,
    engine_violations,
    phase_violations,
)
from components.api.pod_template import PodTemplate
from components.api.rules import Violation, duplicates, within

Text63 = Annotated[str, Field(min_length=1, max_length=63)]


class PlacedRequest(Model):
    """Devices that a member claims."""

    name: Text63
    """Name of the request."""

    device_class_name: Annotated[str, Field(min_length=1, max_length=253)]
    """DeviceClass of the devices."""

    count: Annotated[int, Field(ge=1, le=64)] = 1
    """Devices per node."""

    selectors: Items[Selector] = Field(default=(), max_length=8)
    """Conditions, as the deployment has them."""


class PlacedMember(Ruled):
    """A member on its pool."""

    CONDITIONS: ClassVar = (Belongs("worker", "role", ("Worker",), code=Code.ENGINE_SHAPE),)

    role: Literal["Standalone", "Leader", "Worker"] = "Standalone"
    """Its role in the engine."""

    node_pool_name: Annotated[str, Field(min_length=1)]
    """The pool it is pinned to."""

    device_requests: Annotated[Items[PlacedRequest], Field(min_length=1, max_length=16, exclude_if=absent)] = ()
    """What it claims; absent for a member that claims nothing."""

    worker: Worker | None = None
    """The followers; only on a `Worker`."""

    template: PodTemplate
    """What its pods look like."""

    def rules(self) -> Iterator[Violation]:
        """Check that requests have different names."""
        names = duplicates(self.device_requests, lambda request: request.name, "name", "the request")
        yield from within("deviceRequests", names)


def _engine(engine: "PlacedEngine") -> Iterator[Violation]:
    yield from engine_violations([member.role for member in engine.members])
    if not any(member.device_requests for member in engine.members):
        message = "no member of this engine has deviceRequests"
        yield Violation(Code.SELECTOR_EMPTY, message, ("members",), at_key=True)


class PlacedEngine(Ruled):
    """An engine on its pools."""

    CONDITIONS: ClassVar = (
        Together(_engine, (ENGINE_SCHEMA, {"properties": {"members": {"contains": given("deviceRequests")}}})),
    )

    name: Text63
    """Name within the replica."""

    copies: Annotated[int, Field(ge=1, le=64)] = 1
    """Identical copies."""

    phase: Literal["Prefill", "Decode"] | None = None
    """Its part in `PrefillDecode` serving."""

    members: Items[PlacedMember] = Field(min_length=1, max_length=2)
    """Its members."""


def _phases(spec: "ModelReplicaSpec") -> Iterator[Violation]:
    yield from phase_violations(spec.serving.mode, [engine.phase for engine in spec.engines])


class ModelReplicaSpec(Ruled):
    """A placed replica."""

    CONDITIONS: ClassVar = (Together(_phases, (PHASE_SCHEMA,)),)

    cluster_name: Annotated[str, Field(min_length=1)]
    """The cluster it is pinned to."""

    model_cache_ref: ModelCacheRef | None = None
    """The cache with its weights."""

    serving: Serving = Serving()
    """How engines share the work."""

    engines: Items[PlacedEngine] = Field(min_length=1, max_length=8)
    """Its engines."""

    def rules(self) -> Iterator[Violation]:
        """Check that engines have different names."""
        yield from within("engines", duplicates(self.engines, lambda engine: engine.name, "name", "the engine"))


class ModelReplica(Document):
    """One placed replica, as the predecessor's scheduler wrote it."""

    MACHINE_MADE: ClassVar[bool] = True
    SHORT_NAME: ClassVar[str] = "mr"
    COLUMNS: ClassVar[tuple[tuple[str, str], ...]] = (("CLUSTER", "spec.clusterName"),)

    api_version: Literal["modelplane.ai/v1alpha1"]
    """Always `modelplane.ai/v1alpha1`."""

    kind: Literal["ModelReplica"]
    """Always `ModelReplica`."""

    spec: ModelReplicaSpec
    """The replica."""
