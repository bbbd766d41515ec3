"""The pod of an engine's member: one container named ``engine``, what stands beside it, its labels."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from components.api import syntax
from components.api.base import BERTH, Items, Model, Ruled
from components.api.codes import Code
from components.api.conditions import Together
from components.api.env_var import EnvVar, ObjectName
from components.api.frozen import FrozenDict
from components.api.near import did_you_mean
from components.api.probe import RESTART_SCHEMA, Probe, restart_violations
from components.api.resources import Resources
from components.api.rules import (
    Annotations,
    Check,
    DnsLabel,
    OwnLabels,
    Violation,
    checked,
    duplicates,
    refuse,
    shown,
    unlike,
    within,
)
from components.api.security_context import PodSecurityContext, SecurityContext
from components.api.volume import Volume, VolumeMount, mount_violations

MAX_ANNOTATION = 8192
ENGINE = "engine"

Image = Annotated[str, Field(min_length=1), checked(syntax.image, Code.IMAGE_INVALID)]


def _engines(name: str) -> Violation:
    return Violation(Code.NAME_INVALID, f"the name `{name}` belongs to the engine's own container")


def _engine(name: str) -> str:
    """Check the name of the one container."""
    if name != ENGINE:
        message = f"the container is named {shown(name)}; it must be named `{ENGINE}`"
        raise Violation(Code.NAME_INVALID, message, allowed=ENGINE).error()
    return name


def _bounded(annotations: Mapping[str, str]) -> Mapping[str, str]:
    """Check that annotation values are bounded."""
    refuse(
        Violation(
            Code.VALUE_LENGTH,
            f"an annotation has at most {MAX_ANNOTATION} characters, and this one has {len(value)}",
            (key,),
        )
        for key, value in annotations.items()
        if len(value) > MAX_ANNOTATION
    )
    return annotations


class Helper(Ruled):
    """What containers besides the engine's have in common."""

    name: Annotated[DnsLabel, unlike((ENGINE,), _engines)]
    """Name within the pod; not `engine`."""

    image: Image
    """Image reference."""

    command: Items[str] = ()
    """Entry point; the image's own without it."""

    args: Items[str] = ()
    """Arguments."""

    env: Items[EnvVar] = ()
    """Environment variables."""

    resources: Resources | None = None
    """CPU, memory and ephemeral storage that it asks for, and may use at most."""

    security_context: SecurityContext | None = None
    """Security settings of the container."""

    volume_mounts: Items[VolumeMount] = ()
    """Where the pod's volumes are mounted."""

    def rules(self) -> Iterator[Violation]:
        """Check that nothing is mounted twice."""
        yield from mount_violations(self.volume_mounts)


def _restarts(container: "Sidecar | Container") -> Iterator[Violation]:
    yield from restart_violations(container.startup_probe, container.liveness_probe)


class InitContainer(Helper):
    """A container that ends before the engine starts."""


class Sidecar(Helper):
    """A container that runs beside the engine, starts before it and ends after it."""

    CONDITIONS: ClassVar = (Together(_restarts, (RESTART_SCHEMA,)),)

    startup_probe: Probe | None = None
    """When it counts as started."""

    readiness_probe: Probe | None = None
    """When it counts as ready; the pod takes traffic only while it is."""

    liveness_probe: Probe | None = None
    """When it is restarted."""


class Container(Ruled):
    """The engine's container."""

    CONDITIONS: ClassVar = (Together(_restarts, (RESTART_SCHEMA,)),)

    name: Annotated[str, Field(min_length=1), Check(_engine, {"const": ENGINE})]
    """Always `engine`."""

    image: Image
    """Image reference."""

    command: Items[str] = ()
    """Entry point, verbatim; with it no `--model` argument is added for a cache."""

    args: Items[str] = ()
    """Arguments, verbatim."""

    env: Items[EnvVar] = ()
    """Environment variables."""

    resources: Annotated[Resources | None, BERTH] = None
    """CPU, memory and ephemeral storage that it asks for, and may use at most; devices are the nodeSelector's."""

    security_context: Annotated[SecurityContext | None, BERTH] = None
    """Security settings of the container."""

    startup_probe: Annotated[Probe | None, BERTH] = None
    """When the container counts as started."""

    readiness_probe: Annotated[Probe | None, BERTH] = None
    """When the container takes traffic, instead of Berth's own question to `/health`."""

    liveness_probe: Annotated[Probe | None, BERTH] = None
    """When the container is restarted."""

    volume_mounts: Annotated[Items[VolumeMount] | None, Field(max_length=32), BERTH] = None
    """Where the pod's own volumes are mounted."""

    def rules(self) -> Iterator[Violation]:
        """Check that nothing is mounted twice."""
        yield from mount_violations(self.volume_mounts or ())


class ImagePullSecret(Model):
    """A secret with registry credentials."""

    name: ObjectName
    """Name of the secret."""


class PodMetadata(Model):
    """Labels and annotations of the pods."""

    labels: OwnLabels = Field(default=FrozenDict(), max_length=32)
    """Labels."""

    annotations: Annotated[Annotations, Check(_bounded, {"additionalProperties": {"maxLength": MAX_ANNOTATION}})] = (
        Field(default=FrozenDict(), max_length=32)
    )
    """Annotations."""


class PodSpec(Ruled):
    """The pod."""

    containers: Items[Container] = Field(min_length=1, max_length=1)
    """Exactly one container, named `engine`."""

    image_pull_secrets: Items[ImagePullSecret] = ()
    """Secrets with registry credentials."""

    init_containers: Annotated[Items[InitContainer] | None, Field(max_length=8), BERTH] = None
    """Containers that end, one after the other, before the engine starts."""

    sidecars: Annotated[Items[Sidecar] | None, Field(max_length=8), BERTH] = None
    """Containers that run beside the engine."""

    security_context: Annotated[PodSecurityContext | None, BERTH] = None
    """Security settings of the pod."""

    volumes: Annotated[Items[Volume] | None, Field(max_length=32), BERTH] = None
    """Volumes besides those of shared memory and the cache."""

    def rules(self) -> Iterator[Violation]:
        """Check that containers and volumes have different names, and what is mounted is there."""
        first: set[str] = set()
        for field, helpers in (("initContainers", self.init_containers), ("sidecars", self.sidecars)):
            for index, helper in enumerate(helpers or ()):
                if helper.name in first:
                    message = f"another container of the pod is named {shown(helper.name)}"
                    yield Violation(Code.LIST_DUPLICATE, message, (field, index, "name"))
                first.add(helper.name)
                yield from within(field, self._mounts(index, helper.volume_mounts))
        yield from within("volumes", duplicates(self.volumes or (), lambda each: each.name, "name", "the volume"))
        for index, container in enumerate(self.containers):
            yield from within("containers", self._mounts(index, container.volume_mounts or ()))

    def _mounts(self, index: int, mounts: Items[VolumeMount]) -> Iterator[Violation]:
        known = [volume.name for volume in self.volumes or ()]
        for place, mount in enumerate(mounts):
            if mount.name not in known:
                message = f"the pod has no volume named {shown(mount.name)}"
                path = (index, "volumeMounts", place, "name")
                yield Violation(
                    Code.REFERENCE_MISSING, message, path, ", ".join(known), did_you_mean(mount.name, known)
                )


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
