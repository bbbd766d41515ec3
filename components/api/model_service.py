"""ModelService: one address for endpoints chosen by labels, with traffic split by weight."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from components.api.base import LATER, Items, Manifest, Model, Ruled
from components.api.codes import Code
from components.api.conditions import Together, given
from components.api.rules import Labels, Violation, distinct
from components.api.service_settings import Authentication, Hostname, RateLimit, ServiceTimeouts, ServiceTls


class EndpointSelector(Model):
    """Chooses endpoints."""

    match_labels: Labels
    """Every label must be there with this value."""

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether all wanted labels are there."""
        return all(labels.get(key) == value for key, value in self.match_labels.items())


class EndpointGroup(Model):
    """A weighted group of endpoints."""

    weight: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    """Share of the whole group, relative to the other groups of its priority."""

    priority: Annotated[Annotated[int, Field(ge=0, le=15)] | None, LATER] = None
    """Order of fallback: a group is used while no group of a smaller number has anything ready. 0 without it."""

    selector: EndpointSelector
    """The endpoints of the group."""


def _named(spec: "ModelServiceSpec") -> Iterator[Violation]:
    if spec.tls is not None and not spec.hostnames:
        message = "`hostnames` are missing; a certificate is for names"
        yield Violation(Code.FIELD_MISSING, message, ("tls",), at_key=True)


class ModelServiceSpec(Ruled):
    """One address."""

    CONDITIONS: ClassVar = (Together(_named, ({"if": given("tls"), "then": given("hostnames")},)),)

    endpoints: Items[EndpointGroup] = Field(min_length=1)
    """Weighted groups of endpoints."""

    hostnames: Annotated[
        Annotated[Items[Hostname], distinct("the name")] | None, Field(min_length=1, max_length=16), LATER
    ] = None
    """Names the service answers to, instead of a path of the front door's address."""

    tls: Annotated[ServiceTls | None, LATER] = None
    """Certificate of the names."""

    authentication: Annotated[Authentication | None, LATER] = None
    """Which clients may call; everybody without it."""

    rate_limit: Annotated[RateLimit | None, LATER] = None
    """How often they may call."""

    timeouts: Annotated[ServiceTimeouts | None, LATER] = None
    """How long a request may take."""


class ModelService(Manifest):
    """One address for a model."""

    SHORT_NAME: ClassVar[str] = "ms"

    kind: Literal["ModelService"]
    """Always `ModelService`."""

    spec: ModelServiceSpec
    """The service."""
