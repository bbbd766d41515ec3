"""The pod of an engine's member: one container named ``engine``, its environment, its labels."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from components.api import syntax
from components.api.base import Items, Later, Model, Ruled
from components.api.codes import Code
from components.api.frozen import FrozenDict
from components.api.rules import Annotations, OwnLabels, Violation, checked, shown

ObjectName = Annotated[str, Field(min_length=1), checked(syntax.dns_subdomain, Code.NAME_INVALID)]
MAX_ANNOTATION = 8192


class KeyRef(Model):
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
        found = [name for name, ref in refs.items() if ref is not None]
        if len(found) != 1:
            message = f"valueFrom takes exactly one of {', '.join(refs)}; {' and '.join(found) or 'none'} is set"
            yield Violation(Code.FIELD_CONFLICT, message, at_key=True)


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


class Container(Ruled):
    """The engine's container."""

    name: Annotated[str, Field(min_length=1)]
    """Always `engine`."""

    image: Annotated[str, Field(min_length=1), checked(syntax.image, Code.IMAGE_INVALID)]
    """Image reference."""

    command: Items[str] = ()
    """Entry point, verbatim; with it no `--model` argument is added for a cache."""

    args: Items[str] = ()
    """Arguments, verbatim."""

    env: Items[EnvVar] = ()
    """Environment variables."""

    resources: Later = None
    """CPU, memory and other requests and limits."""

    security_context: Later = None
    """Security settings of the container."""

    startup_probe: Later = None
    """When the container counts as started."""

    readiness_probe: Later = None
    """When the container takes traffic."""

    liveness_probe: Later = None
    """When the container is restarted."""

    volume_mounts: Later = None
    """Extra mounts."""

    def rules(self) -> Iterator[Violation]:
        """Check that the one container has a fixed name."""
        if self.name != "engine":
            message = f"the container is named {shown(self.name)}; it must be named `engine`"
            yield Violation(Code.NAME_INVALID, message, ("name",), allowed="engine")


class ImagePullSecret(Model):
    """A secret with registry credentials."""

    name: ObjectName
    """Name of the secret."""


class PodMetadata(Ruled):
    """Labels and annotations of the pods."""

    labels: OwnLabels = Field(default=FrozenDict(), max_length=32)
    """Labels."""

    annotations: Annotations = Field(default=FrozenDict(), max_length=32)
    """Annotations."""

    def rules(self) -> Iterator[Violation]:
        """Check that annotation values are bounded."""
        for key, value in self.annotations.items():
            if len(value) > MAX_ANNOTATION:
                message = f"an annotation has at most {MAX_ANNOTATION} characters, and this one has {len(value)}"
                yield Violation(Code.VALUE_LENGTH, message, ("annotations", key))


class PodSpec(Model):
    """The pod."""

    containers: Items[Container] = Field(min_length=1, max_length=1)
    """Exactly one container, named `engine`."""

    image_pull_secrets: Items[ImagePullSecret] = ()
    """Secrets with registry credentials."""

    init_containers: Later = None
    """Containers that run before the engine."""

    sidecars: Later = None
    """Containers beside the engine."""

    security_context: Later = None
    """Security settings of the pod."""

    volumes: Later = None
    """Extra volumes."""


class PodTemplate(Model):
    """What the pods of a member look like."""

    metadata: PodMetadata = PodMetadata()
    """Labels and annotations of the pods."""

    spec: PodSpec
    """The pod."""

    @property
    def container(self) -> Container:
        """The engine's container."""
        return self.spec.containers[0]
