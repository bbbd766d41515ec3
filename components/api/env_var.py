"""An environment variable of a container, and where its value comes from."""

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import Field

from components.api import syntax
from components.api.base import LocalReference, Model, Ruled
from components.api.codes import Code
from components.api.conditions import NOTHING, ExactlyOne, Together, given
from components.api.rules import Violation, checked, matching, shown
from components.api.values import Key

FieldPath = Annotated[
    str,
    Field(min_length=1),
    matching(
        r"metadata\.(name|namespace|uid|(labels|annotations)\['[^']+'\])|spec\.(nodeName|serviceAccountName)"
        r"|status\.(hostIPs?|podIPs?)",
        "be a field that a variable can hold, such as `status.podIP`, `metadata.name` or `metadata.labels['app']`",
        Code.VALUE_NOT_ALLOWED,
    ),
]
"""A field of a pod that Kubernetes gives to a variable."""

ObjectName = Annotated[str, Field(min_length=1), checked(syntax.dns_subdomain, Code.NAME_INVALID)]


class KeyRef(LocalReference):
    """A key of a Secret or ConfigMap in the pod's namespace."""

    name: ObjectName
    """Name of the object."""

    key: Key
    """Key in it."""

    optional: bool | None = None
    """Whether the pod may start without it."""


class FieldRef(Model):
    """A field of the pod itself."""

    field_path: FieldPath
    """Path, such as `status.podIP`."""

    api_version: str | None = None
    """Version the path is written for."""


class EnvVarSource(Ruled):
    """Where a variable's value comes from."""

    CONDITIONS: ClassVar = (
        ExactlyOne(
            "valueFrom takes exactly one of", ("secret_key_ref", "config_map_key_ref", "field_ref"), at_key=True
        ),
    )

    secret_key_ref: KeyRef | None = None
    """A key of a Secret."""

    config_map_key_ref: KeyRef | None = None
    """A key of a ConfigMap."""

    field_ref: FieldRef | None = None
    """A field of the pod."""


def _one_value(variable: "EnvVar") -> Iterator[Violation]:
    if variable.value and variable.value_from is not None:
        message = f"the variable {shown(variable.name)} has both value and valueFrom"
        yield Violation(Code.FIELD_CONFLICT, message, ("valueFrom",), at_key=True)


class EnvVar(Ruled):
    """One environment variable."""

    CONDITIONS: ClassVar = (
        Together(_one_value, ({"if": given("value", but=("",)), "then": {"properties": {"valueFrom": NOTHING}}},)),
    )

    name: Annotated[str, checked(syntax.variable, Code.NAME_INVALID)]
    """Name."""

    value: str | None = None
    """Value."""

    value_from: EnvVarSource | None = None
    """Where the value comes from."""
