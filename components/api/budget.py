"""What a fleet, and each team in it, may cost and take."""

from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from components.api import syntax
from components.api.base import Model, Ruled
from components.api.codes import Code
from components.api.conditions import AtLeastOne
from components.api.frozen import FrozenMap
from components.api.rules import keyed
from components.api.values import MAX_INT32, UsdPerHour

Amount = Annotated[int, Field(ge=0, le=MAX_INT32)]


def _accelerator(name: str) -> str:
    return syntax.label_value(name) if name else "not be empty"


_NAMED: Final = keyed(
    _accelerator, Code.NAME_INVALID, "accelerator", said={**syntax.said(syntax.label_value), "minLength": 1}
)


class Budget(Model):
    """The highest cost of a fleet, by the prices that the plan shows."""

    max_cost_per_hour: UsdPerHour
    """US dollars per hour for all nodes that may run: those that are there, and one for each pod up to the maximum."""

    enforcement: Literal["Advisory", "Mandatory"] = "Mandatory"
    """`Mandatory` places nothing that could cost more, `Advisory` only says so."""


class Quota(Ruled):
    """What the deployments of one namespace may take; what is left out has no limit."""

    CONDITIONS: ClassVar = (
        AtLeastOne(
            "a quota limits devices, nodes or maxCostPerHour; none is set", ("devices", "nodes", "max_cost_per_hour")
        ),
    )

    devices: Annotated[FrozenMap[str, Amount], _NAMED] | None = None
    """Devices by accelerator, as in `accelerator.type` of an InferenceClass; by its name if it has none."""

    nodes: Amount | None = None
    """Nodes; each pod of the namespace counts the part of one that it takes."""

    max_cost_per_hour: UsdPerHour | None = None
    """US dollars per hour for what its replicas take."""


Quotas = Annotated[FrozenMap[str, Quota], keyed(syntax.dns_label, Code.NAME_INVALID, "namespace")]
"""Quotas by namespace."""
