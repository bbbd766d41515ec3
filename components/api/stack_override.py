"""What a cluster changes of its release: versions and values of single components."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from components.api import syntax
from components.api.base import Ruled
from components.api.codes import Code
from components.api.frozen import FrozenDict, FrozenMap
from components.api.rules import Violation, shown
from components.api.values import Json

ChartVersion = Annotated[str, Field(min_length=1, max_length=64)]


class ComponentOverride(Ruled):
    """What takes the place of the release's for one component; plans show it as a deviation."""

    version: ChartVersion | None = None
    """Version of the chart."""

    values: FrozenMap[str, Json] = FrozenDict()
    """Values of the chart, laid over those of the release; `null` takes one away."""

    def rules(self) -> Iterator[Violation]:
        """Check that something is overridden."""
        if self.version is None and not self.values:
            yield Violation(Code.FIELD_MISSING, "an override sets version, values or both; neither is set")


def override_violations(overrides: FrozenMap[str, ComponentOverride] | None) -> Iterator[Violation]:
    """Yield a violation for every override whose key is no component's name; paths lead from the overrides."""
    for name in overrides or ():
        reason = syntax.dns_label(name)
        if reason:
            yield Violation(Code.NAME_INVALID, f"the component {shown(name)} must {reason}", (name,), at_key=True)
