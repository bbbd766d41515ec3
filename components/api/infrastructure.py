"""What the predecessor's machine-made infrastructure kinds share: apiVersion, system and GPU pools, rules of pools.

Berth reads these documents (a dump of the predecessor's control plane holds them) and leaves them alone: it makes its
own infrastructure from InferenceClusters.
"""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from components.api.base import Document, Items, Model, Ruled
from components.api.codes import Code
from components.api.conditions import Beside, Condition, Needs
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


GPU_POOL: Final = Needs("gpu", "role", ("GPU",), where="role")
"""A GPU pool names its accelerator."""

ZONED: Final = Needs("zones", "role", ("GPU",), code=Code.ZONE_INVALID, where="role")
"""A GPU pool of this cloud names its zones."""

MINIMUM: Final = Beside("min_node_count", "max_node_count")
"""This cloud takes a minimum only beside a maximum."""


class MadePool(Ruled):
    """A pool as a machine wrote it: the system's or one with GPUs."""

    CONDITIONS: ClassVar[tuple[Condition, ...]] = (GPU_POOL,)

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


def pool_names(pools: Items[MadePool]) -> Iterator[Violation]:
    """Yield a violation for every pool whose name an earlier one has."""
    yield from within("nodePools", duplicates(pools, lambda pool: pool.name, "name", "the pool"))
