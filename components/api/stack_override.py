"""What a cluster changes of its release: versions and values of single components."""

from typing import Annotated, ClassVar

from pydantic import Field

from components.api import syntax
from components.api.base import Ruled
from components.api.codes import Code
from components.api.conditions import AtLeastOne
from components.api.frozen import FrozenDict, FrozenMap
from components.api.rules import keyed
from components.api.values import Json

ChartVersion = Annotated[str, Field(min_length=1, max_length=64)]


class ComponentOverride(Ruled):
    """What takes the place of the release's for one component; plans show it as a deviation."""

    CONDITIONS: ClassVar = (
        AtLeastOne("an override sets version, values or both; neither is set", ("version", "values")),
    )

    version: ChartVersion | None = None
    """Version of the chart."""

    values: FrozenMap[str, Json] = FrozenDict()
    """Values of the chart, laid over those of the release; `null` takes one away."""


Overrides = Annotated[FrozenMap[str, ComponentOverride], keyed(syntax.dns_label, Code.NAME_INVALID, "component")]
"""Overrides by the component's name."""
