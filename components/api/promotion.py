"""Where an environment's release and models go next, and what must hold before they do."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from components.api.base import Items, Ruled
from components.api.conditions import Belongs, Needs
from components.api.rules import DnsLabel, Violation, duplicates, within
from components.api.values import Duration


class PromotionGate(Ruled):
    """One condition of a promotion."""

    CONDITIONS: ClassVar = (
        Needs("duration", "type", ("BakeTime",)),
        Belongs("duration", "type", ("BakeTime",)),
        Belongs("approvals", "type", ("Approval",)),
    )

    type: Literal["Approval", "BakeTime", "Drift", "Health", "Policy"]
    """`Approval`: people agree. `BakeTime`: it ran for a while. `Drift`: nothing was changed by hand. `Health`: every
    replica serves. `Policy`: no policy is violated in the next environment."""

    duration: Duration | None = None
    """How long it must have run; only for `BakeTime`."""

    approvals: Annotated[int, Field(ge=1, le=16)] | None = None
    """How many people must agree; only for `Approval`, one without it."""


class Promotion(Ruled):
    """The next environment, and the gates in between."""

    to: DnsLabel
    """Name of the next environment."""

    gates: Items[PromotionGate] = Field(default=(), max_length=8)
    """All must hold, in this order."""

    def rules(self) -> Iterator[Violation]:
        """Check that a gate of each type stands once."""
        yield from within("gates", duplicates(self.gates, lambda gate: gate.type, "type", "a gate of type"))
