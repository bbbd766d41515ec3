"""What the predecessor's machine-made infrastructure kinds share: apiVersion, system and GPU pools, rules of pools.

Berth reads these documents (a dump of the predecessor's control plane holds them) and leaves them alone: it makes its
own infrastructure from InferenceClusters.
"""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from components.api.base import Document, Items, Model, Ruled
from components.api.codes import Code
from components.api.rules import Violation, duplicates, within

INFRASTRUCTURE: Final = "infrastructure.modelplane.ai/v1alpha1"

Text63 = Annotated[str, Field(min_length=1, max_length=63)]
Range = Annotated[str, Field(max_length=18)]
Count = Annotated[int, Field(ge=0, le=1000)]
DiskSize = Annotated[int, Field(ge=10, le=65536)]
ClusterVersion = Annotated[str, Field(min_length=1, max_length=16)]
Region = Annotated[str, Field(min_length=1, max_length=32)]
Zone = Annotated[str, Field(min_length=1, max_length=63)]


class InfrastructureDocument(Document):
    """The base of the kinds that a machine writes into `modelplane-system`."""

    MACHINE_MADE: ClassVar[bool] = True

    api_version: Literal["infrastructure.modelplane.ai/v1alpha1"]
    """Always `infrastructure.modelplane.ai/v1alpha1`."""


class Gpu(Model):
    """The accelerator of a pool."""

    accelerator_type: Text63
    """Accelerator name; the value of a node label."""


class MadePool(Ruled):
    """A pool as a machine wrote it: the system's or one with GPUs."""

    NEEDS_ZONES: ClassVar[bool] = False
    """Whether a GPU pool of this cloud names its zones."""

    MINIMUM_NEEDS_MAXIMUM: ClassVar[bool] = False
    """Whether this cloud takes a minimum only beside a maximum."""

    name: Annotated[str, Field(min_length=1, max_length=40)]
    """Name of the pool."""

    role: Literal["System", "GPU"]
    """Whether it is for the system's own pods or for engines."""

    node_count: Count = 1
    """Nodes at the start."""

    min_node_count: Count | None = 0
    """Fewest nodes."""

    max_node_count: Count | None = 8
    """Most nodes."""

    gpu: Gpu | None = None
    """The accelerator; needed on a GPU pool."""

    def rules(self) -> Iterator[Violation]:
        """Check that a GPU pool says what its cloud needs."""
        if self.role == "GPU" and self.gpu is None:
            yield Violation(Code.FIELD_MISSING, "`gpu` is missing; a pool with role GPU needs it", ("role",))
        if self.role == "GPU" and self.NEEDS_ZONES and not getattr(self, "zones", ()):
            yield Violation(Code.ZONE_INVALID, "`zones` are missing; a pool with role GPU needs them", ("role",))
        if self.MINIMUM_NEEDS_MAXIMUM and self.min_node_count is not None and self.max_node_count is None:
            message = "minNodeCount needs maxNodeCount beside it"
            yield Violation(Code.FIELD_CONFLICT, message, ("minNodeCount",), at_key=True)


def pool_names(pools: Items[MadePool]) -> Iterator[Violation]:
    """Yield a violation for every pool whose name an earlier one has."""
    yield from within("nodePools", duplicates(pools, lambda pool: pool.name, "name", "the pool"))
