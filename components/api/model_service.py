"""ModelService: one address for endpoints chosen by labels, with traffic split by weight."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from components.api.base import Items, Later, Manifest, Model
from components.api.rules import Labels


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
    """Share of the whole group, relative to the other groups."""

    selector: EndpointSelector
    """The endpoints of the group."""


class ModelServiceSpec(Model):
    """One address."""

    endpoints: Items[EndpointGroup] = Field(min_length=1)
    """Weighted groups of endpoints."""

    hostnames: Later = None
    """Names the service answers to."""

    tls: Later = None
    """Certificate of the names."""

    authentication: Later = None
    """Which clients may call."""

    rate_limit: Later = None
    """How often they may call."""

    timeouts: Later = None
    """How long a request may take."""

    fallback: Later = None
    """Groups that are used, in order, when the first has nothing ready."""


class ModelService(Manifest):
    """One address for a model."""

    SHORT_NAME: ClassVar[str] = "ms"

    kind: Literal["ModelService"]
    """Always `ModelService`."""

    spec: ModelServiceSpec
    """The service."""
