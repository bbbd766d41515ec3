"""An environment variable of a container, and where its value comes from."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from components.api import syntax
from components.api.base import LocalReference, Model, Ruled
from components.api.codes import Code
from components.api.rules import Violation, checked, exactly_one, shown

ObjectName = Annotated[str, Field(min_length=1), checked(syntax.dns_subdomain, Code.NAME_INVALID)]


class KeyRef(LocalReference):
    """A key of a Secret or ConfigMap in the pod's namespace."""

    name: ObjectName
    """Name of the object."""

    key: Annotated[str, Field(min_length=1)]
    """Key in it."""

    optional: bool | None = None
    """Whether the pod may start without it."""


class FieldRef(Model):
    """A field of the pod itself."""

    field_path: Annotated[str, Field(min_length=1)]
    """Path, such as `status.podIP`."""

    api_version: str | None = None
    """Version the path is written for."""


class EnvVarSource(Ruled):
    """Where a variable's value comes from."""

    secret_key_ref: KeyRef | None = None
    """A key of a Secret."""

    config_map_key_ref: KeyRef | None = None
    """A key of a ConfigMap."""

    field_ref: FieldRef | None = None
    """A field of the pod."""

    def rules(self) -> Iterator[Violation]:
        """Check that exactly one source is set."""
        refs = {
            "secretKeyRef": self.secret_key_ref,
            "configMapKeyRef": self.config_map_key_ref,
            "fieldRef": self.field_ref,
        }
        yield from exactly_one("valueFrom takes exactly one of", refs, at_key=True)


class EnvVar(Ruled):
    """One environment variable."""

    name: Annotated[str, checked(syntax.variable, Code.NAME_INVALID)]
    """Name."""

    value: str | None = None
    """Value."""

    value_from: EnvVarSource | None = None
    """Where the value comes from."""

    def rules(self) -> Iterator[Violation]:
        """Check that a value and a source of it do not meet."""
        if self.value and self.value_from is not None:
            message = f"the variable {shown(self.name)} has both value and valueFrom"
            yield Violation(Code.FIELD_CONFLICT, message, ("valueFrom",), at_key=True)
