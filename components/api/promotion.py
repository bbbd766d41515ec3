"""Where an environment's release and models go next, and what must hold before they do."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from components.api.base import Items, Ruled
from components.api.codes import Code
from components.api.rules import DnsLabel, Violation, duplicates, within
from components.api.values import Duration


class PromotionGate(Ruled):
    """One condition of a promotion."""

    type: Literal["Approval", "BakeTime", "Drift", "Health", "Policy"]
    """`Approval`: people agree. `BakeTime`: it ran for a while. `Drift`: nothing was changed by hand. `Health`: every
    replica serves. `Policy`: no policy is violated in the next environment."""

    duration: Duration | None = None
    """How long it must have run; only for `BakeTime`."""

    approvals: Annotated[int, Field(ge=1, le=16)] | None = None
    """How many people must agree; only for `Approval`, one without it."""

    def rules(self) -> Iterator[Violation]:
        """Check that settings stand at the gate they belong to."""
        if self.type == "BakeTime" and self.duration is None:
            yield Violation(Code.FIELD_MISSING, "`duration` is missing; a gate of type BakeTime needs it")
        if self.type != "BakeTime" and self.duration is not None:
            message = f"`duration` belongs to a gate of type BakeTime, and this one is {self.type}"
            yield Violation(Code.FIELD_CONFLICT, message, ("duration",), at_key=True)
        if self.type != "Approval" and self.approvals is not None:
            message = f"`approvals` belongs to a gate of type Approval, and this one is {self.type}"
            yield Violation(Code.FIELD_CONFLICT, message, ("approvals",), at_key=True)


class Promotion(Ruled):
    """The next environment, and the gates in between."""

    to: DnsLabel
    """Name of the next environment."""

    gates: Items[PromotionGate] = Field(default=(), max_length=8)
    """All must hold, in this order."""

    def rules(self) -> Iterator[Violation]:
        """Check that a gate of each type stands once."""
        yield from within("gates", duplicates(self.gates, lambda gate: gate.type, "type", "a gate of type"))
