"""What all models of the user's language share: frozen, strict, camelCase outside and snake_case inside.

Every kind is a ``Document``: apiVersion, kind, metadata, spec. The models hold the rules that one document can check
by itself; rules between documents live in ``references.py``, positions and wording in ``load.py``. A field that only
Berth's own apiVersion knows carries ``BERTH``; one that is declared but whose work is not built carries ``LATER`` and
is refused at load, after its value was checked like any other.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Strict, model_validator
from pydantic.alias_generators import to_camel

from components.api.conditions import Condition
from components.api.frozen import FrozenDict
from components.api.rules import (
    Annotations,
    DnsLabel,
    Labels,
    Namespace,
    ServiceLabel,
    ShortSubdomain,
    Subdomain,
    Violation,
    refuse,
)

MODELPLANE: Final = "modelplane.ai/v1alpha1"
BERTH_VERSION: Final = "berth.dev/v1alpha1"

ApiVersion = Literal["modelplane.ai/v1alpha1", "berth.dev/v1alpha1"]

T = TypeVar("T")

Items = Annotated[tuple[T, ...], Strict(strict=False)]
"""A list field: any sequence is taken, a tuple is kept. Its items stay strict."""


def absent(value: object) -> bool:
    """Whether a list is empty: one that may not be written empty is left out when a document is written."""
    return not value


@dataclass(frozen=True, slots=True)
class Own:
    """Marks a field that the predecessor does not have."""

    supported: bool = True


BERTH: Final = Own()
"""The field exists only under ``apiVersion: berth.dev/v1alpha1``."""

LATER: Final = Own(supported=False)
"""As ``BERTH``, and nothing acts on the field yet: writing it is an error, never silently ignored.

Such a field has no default but None, so that a document that was read and written out has none of them.
"""


@dataclass(frozen=True, slots=True)
class OwnValues:
    """Marks a choice of which the predecessor has only some: the ``values`` are Berth's own.

    With ``supported`` false they are declared and not built; the block that such a value calls for says so at load.
    """

    values: frozenset[str]
    supported: bool = True


@dataclass(frozen=True, slots=True)
class Portable:
    """Marks a number whose bounds are narrower under the predecessor's apiVersion."""

    low: int
    high: int


class Model(BaseModel):
    """The base of everything that a manifest is made of."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        use_attribute_docstrings=True,
        allow_inf_nan=False,
    )

    ELSEWHERE: ClassVar[Mapping[str, str]] = FrozenDict()
    """Keys that people write here and that the model has not: where each thing is said instead."""


class LocalReference(Model):
    """The base of what names an object of the document's own namespace."""

    ELSEWHERE: ClassVar[Mapping[str, str]] = FrozenDict(
        {"namespace": "remove it: the name is looked up in the namespace of this document"}
    )


class Ruled(Model):
    """A model with rules between its fields; they run once every field is right by itself."""

    CONDITIONS: ClassVar[tuple[Condition, ...]] = ()
    """The rules that a JSON Schema can say as well."""

    def rules(self) -> Iterator[Violation]:
        """Yield every other broken rule; none by default."""
        return iter(())

    @model_validator(mode="after")
    def _apply(self) -> Self:
        found = [each for condition in self.CONDITIONS for each in condition.violations(self)]
        refuse((*found, *self.rules()))
        return self


class Metadata(Model):
    """Who a document is."""

    name: Subdomain
    """The name, unique per kind and namespace."""

    namespace: Namespace = ""
    """The namespace of a namespaced kind; by default the folder's under `models/`, else `default`."""

    labels: Labels = FrozenDict()
    """Labels. Those of a cluster are what `clusterSelector` matches, those of an endpoint what a service matches."""

    annotations: Annotations = FrozenDict()
    """Free text by key; Berth does not read it."""


class LabelMetadata(Metadata):
    """Metadata of a kind whose name becomes a DNS label."""

    name: DnsLabel
    """The name, a DNS label, unique per kind and namespace."""


class ServiceMetadata(Metadata):
    """Metadata of a kind that Services in a cluster are named after."""

    name: ServiceLabel
    """The name, a DNS label that begins with a letter, unique per kind and namespace."""


class ShortMetadata(Metadata):
    """Metadata of a kind whose name becomes a label's value."""

    name: ShortSubdomain
    """The name, at most 63 characters, unique per kind and namespace."""


class Document(Model):
    """The base of every kind."""

    NAMESPACED: ClassVar[bool] = True
    """Whether documents of this kind live in a namespace."""

    MACHINE_MADE: ClassVar[bool] = False
    """Whether only machines write this kind; Berth reads it and leaves it alone."""

    SHORT_NAME: ClassVar[str] = ""
    """The short name that kubectl users know."""

    COLUMNS: ClassVar[tuple[tuple[str, str], ...]] = ()
    """The printer columns that follow NAME: heading and path."""

    api_version: str
    """The group and version that the kind is written under."""

    kind: str
    """The kind."""

    metadata: Metadata
    """Name, namespace, labels and annotations."""

    @property
    def name(self) -> str:
        """The document's name."""
        return self.metadata.name

    @property
    def namespace(self) -> str:
        """The document's namespace; empty for a cluster-scoped kind."""
        return self.metadata.namespace

    @property
    def key(self) -> tuple[str, str, str]:
        """Kind, namespace and name."""
        return (self.kind, self.metadata.namespace, self.metadata.name)


class Manifest(Document):
    """The base of the predecessor's kinds that people write."""

    api_version: ApiVersion
    """`modelplane.ai/v1alpha1` for a portable manifest, `berth.dev/v1alpha1` for Berth's own fields."""


class LabelSelector(Model):
    """Chooses by labels."""

    match_labels: Labels = FrozenDict()
    """Every label must be there with this value; an empty map matches everything."""

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether all wanted labels are there."""
        return all(labels.get(key) == value for key, value in self.match_labels.items())
