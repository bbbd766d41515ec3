"""How an environment uses the policy pack: levels, parameters, and exceptions that end."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from components.api import syntax
from components.api.base import Items, Model, Ruled
from components.api.codes import Code
from components.api.frozen import FrozenDict, FrozenMap
from components.api.rules import DnsLabel, Violation, duplicates, keyed, within
from components.api.values import Day, Scalar


class PolicySetting(Model):
    """How one policy is used here."""

    level: Literal["disabled", "advisory", "mandatory", "remediate"] | None = None
    """What a violation does, in Pulumi's words; as the policy itself says without it."""

    parameters: FrozenMap[str, Scalar] = FrozenDict()
    """The policy's parameters by name."""


class PolicyException(Model):
    """A violation that somebody answers for, until a day."""

    policy: DnsLabel
    """Name of the policy."""

    subject: Annotated[str, Field(min_length=1, max_length=253)]
    """What is excused: a cluster, `cluster/pool`, or `namespace/name`; `*` stands for any text."""

    reason: Annotated[str, Field(min_length=1, max_length=1024)]
    """Why, for whoever reads the plan."""

    until: Day
    """The last day on which it holds, such as `2027-03-31`."""

    owner: Annotated[str, Field(min_length=1, max_length=253)] | None = None
    """Who answers for it."""


class Policies(Ruled):
    """Settings of policies, and exceptions from them."""

    settings: Annotated[FrozenMap[str, PolicySetting], keyed(syntax.dns_label, Code.NAME_INVALID, "policy")] = (
        FrozenDict()
    )
    """Settings by the policy's name."""

    exceptions: Items[PolicyException] = Field(default=(), max_length=256)
    """Exceptions; each has a reason and an end."""

    def rules(self) -> Iterator[Violation]:
        """Check that nothing is excused twice."""
        excused = duplicates(self.exceptions, lambda each: (each.policy, each.subject), "subject", "the exception")
        yield from within("exceptions", excused)
