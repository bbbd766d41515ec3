"""The pod of an engine's member: one container named ``engine``, its environment, its labels."""

from typing import Annotated

from pydantic import Field

from components.api.base import Items, Later, Model
from components.api.frozen import FrozenDict, FrozenMap

LabelValue = Annotated[str, Field(max_length=63)]
AnnotationValue = Annotated[str, Field(max_length=8192)]


class KeyRef(Model):
    """A key of a Secret or ConfigMap in the pod's namespace."""

    name: str
    """Name of the object."""

    key: str
    """Key in it."""

    optional: bool | None = None
    """Whether the pod may start without it."""


class FieldRef(Model):
    """A field of the pod itself."""

    field_path: str
    """Path, such as `status.podIP`."""

    api_version: str | None = None
    """Version the path is written for."""


class EnvVarSource(Model):
    """Where a variable's value comes from."""

    secret_key_ref: KeyRef | None = None
    """A key of a Secret."""

    config_map_key_ref: KeyRef | None = None
    """A key of a ConfigMap."""

    field_ref: FieldRef | None = None
    """A field of the pod."""


class EnvVar(Model):
    """One environment variable."""

    name: str
    """Name."""

    value: str | None = None
    """Value."""

    value_from: EnvVarSource | None = None
    """Where the value comes from."""


class Container(Model):
    """The engine's container."""

    name: Annotated[str, Field(min_length=1)]
    """Always `engine`."""

    image: Annotated[str, Field(min_length=1)]
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


class ImagePullSecret(Model):
    """A secret with registry credentials."""

    name: str
    """Name of the secret."""


class PodMetadata(Model):
    """Labels and annotations of the pods."""

    labels: FrozenMap[str, LabelValue] = Field(default=FrozenDict(), max_length=32)
    """Labels."""

    annotations: FrozenMap[str, AnnotationValue] = Field(default=FrozenDict(), max_length=32)
    """Annotations."""


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

    spec: PodSpec | None = None
    """The pod."""

    @property
    def container(self) -> Container | None:
        """The engine's container."""
        return self.spec.containers[0] if self.spec else None
