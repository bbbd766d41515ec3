"""What a fleet, and each team in it, may cost and take."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from components.api import syntax
from components.api.base import Model, Ruled
from components.api.codes import Code
from components.api.frozen import FrozenMap
from components.api.rules import Violation, shown
from components.api.values import MAX_INT32, UsdPerHour

Amount = Annotated[int, Field(ge=0, le=MAX_INT32)]


class Budget(Model):
    """The highest cost of a fleet, by the prices that the plan shows."""

    max_cost_per_hour: UsdPerHour
    """US dollars per hour for all nodes, at their declared maximum."""

    enforcement: Literal["Advisory", "Mandatory"] = "Mandatory"
    """`Mandatory` refuses a plan above the budget, `Advisory` only says so."""


class Quota(Ruled):
    """What the deployments of one namespace may take; what is left out has no limit."""

    devices: FrozenMap[str, Amount] | None = None
    """Devices by accelerator, as in `accelerator.type` of an InferenceClass."""

    nodes: Amount | None = None
    """Nodes that hold a pod of the namespace."""

    max_cost_per_hour: UsdPerHour | None = None
    """US dollars per hour for what its replicas take."""

    def rules(self) -> Iterator[Violation]:
        """Check that there is a limit, and that accelerators are named as classes name them."""
        if self.devices is None and self.nodes is None and self.max_cost_per_hour is None:
            yield Violation(Code.FIELD_MISSING, "a quota limits devices, nodes or maxCostPerHour; none is set")
        for name in self.devices or ():
            reason = syntax.label_value(name) if name else "not be empty"
            if reason:
                message = f"the accelerator {shown(name)} must {reason}"
                yield Violation(Code.NAME_INVALID, message, ("devices", name), at_key=True)


def quota_violations(quotas: FrozenMap[str, Quota] | None) -> Iterator[Violation]:
    """Yield a violation for every quota whose key is no namespace; paths lead from the quotas."""
    for name in quotas or ():
        reason = syntax.dns_label(name)
        if reason:
            message = f"the namespace {shown(name)} must {reason}"
            yield Violation(Code.NAME_INVALID, message, (name,), at_key=True)
