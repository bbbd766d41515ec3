"""Release: a pinned, tested set of what is installed on a cluster to serve models. PURE.

A release is data (``releases/*.yaml``): reviewed, compared and promoted like any manifest. This module is its model and
its rules; files are read by ``catalogue``, and ``stack`` turns a release into resources.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from typing import Any, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from components.checks.versions import numbers_of
from components.clusters.chart import Chart
from components.errors import ConfigError, Problem
from components.model_words import in_words, place_of
from components.serving.registry import ImageValue, Style


class ReleaseModel(BaseModel):
    """Base of everything in a release: frozen, camelCase in the file, unknown fields refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)


class Needs(StrEnum):
    """Which clusters an item is for."""

    CLUSTER = "Cluster"
    """Every cluster."""
    POOLS = "Pools"
    """Clusters with GPU pools; one that is only a front door serves no model."""


class VersionRange(ReleaseModel):
    """Versions from ``minimum`` to ``maximum``, both included, compared by major and minor.

    A version that nobody can read (empty, or a channel such as ``latest``) is neither too old nor too new.
    """

    minimum: str
    maximum: str

    def too_old(self, version: str) -> bool:
        """Whether ``version`` is before the minimum: something would not work."""
        return (_minor(version) or _minor(self.minimum)) < _minor(self.minimum)

    def too_new(self, version: str) -> bool:
        """Whether ``version`` is after the maximum: nobody has looked."""
        return (_minor(version) or _minor(self.maximum)) > _minor(self.maximum)


class Constraints(ReleaseModel):
    """Under which the release was put together, and what is known about its versions."""

    kubernetes: VersionRange
    notes: tuple[str, ...] = ()


class Definition(ReleaseModel):
    """A CustomResourceDefinition that no chart brings: a file beside the releases."""

    name: str
    file: str
    needs: Needs = Needs.CLUSTER


class Image(ReleaseModel):
    """Where a chart's values name an image, so that a mirror's address can be put there."""

    path: str
    style: Style
    image: str


class ClusterValue(ReleaseModel):
    """A value that each cluster fills in: a fact of the cluster, by name."""

    path: str
    fact: str


class ReleaseComponent(ReleaseModel):
    """One chart of the release."""

    name: str
    chart: str
    repository: str
    version: str
    namespace: str
    needs: Needs = Needs.CLUSTER
    depends_on: tuple[str, ...] = ()
    provides: tuple[str, ...] = ()
    """API groups whose definitions come with the chart."""
    owns_outside: bool = False
    """It makes things in the cloud (load balancers, volumes): taken down first and awaited, never left to the
    cluster's deletion."""
    critical_pods: int = 0
    """Pods of the two critical priorities that its namespace must be allowed."""
    serves: bool = True
    """Whether what is built on the stack waits for it; a monitor that fails must not keep models from being served."""
    values: dict[str, Any] = Field(default_factory=dict)
    pool_values: dict[str, Any] = Field(default_factory=dict)
    """Laid over ``values`` on clusters with GPU pools."""
    cluster_values: tuple[ClusterValue, ...] = ()
    images: tuple[Image, ...] = ()

    @property
    def helm(self) -> Chart:
        """The chart as Helm is asked for it."""
        return Chart(name=self.chart, repository=self.repository, version=self.version, namespace=self.namespace)

    def values_for(self, *, pools: bool, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Return the chart's values on a cluster with or without GPU pools; ``facts`` are the cluster's, by name."""
        values = merged(self.values, self.pool_values) if pools else self.values
        return filled(values, {value.path: facts[value.fact] for value in self.cluster_values})

    @property
    def image_values(self) -> tuple[ImageValue, ...]:
        """Its images as mirror rules read them."""
        return tuple(ImageValue(image.path, image.style, image.image) for image in self.images)


class Listener(ReleaseModel):
    """A port of the cluster's gateway."""

    name: str
    protocol: str
    port: int


class GatewayPlan(ReleaseModel):
    """The cluster's own gateway, behind which its replicas are."""

    class_name: str
    controller: str
    provider: str
    """The component that runs it; its proxies live in that component's namespace."""
    depends_on: tuple[str, ...] = ()
    needs: Needs = Needs.CLUSTER
    listeners: tuple[Listener, ...]


class Release(ReleaseModel):
    """A whole release. Its components are in an order that respects what they depend on."""

    name: str
    version: str
    description: str
    constraints: Constraints
    definitions: tuple[Definition, ...] = ()
    components: tuple[ReleaseComponent, ...]
    gateway: GatewayPlan

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [component.name for component in self.components]
        _unique("component", names)
        _unique("definition", [definition.name for definition in self.definitions])
        _unique("Helm release", [f"{part.namespace}/{part.helm.release}" for part in self.components])
        _unique("owner of API group", [group for component in self.components for group in component.provides])
        for component in self.components:
            _known(component.depends_on, names, component.name)
            _reaches(component, {part.name: part for part in self.components})
        _known((self.gateway.provider, *self.gateway.depends_on), names, "gateway")
        return self

    def component(self, name: str) -> ReleaseComponent:
        """Return the component of this name; KeyError when there is none."""
        return {component.name: component for component in self.components}[name]

    def unfit(self, cluster: str, version: str, *, block: str) -> Problem | None:
        """Return the problem of a cluster whose Kubernetes is too old for the release; None where it is not.

        ``block`` is the part of its manifest that says the version.
        """
        fits = self.constraints.kubernetes
        if not fits.too_old(version):
            return None
        return Problem(
            "release-unfit",
            f"release {self.name} needs Kubernetes {fits.minimum} or newer, which cluster {cluster} is not to have:"
            f" {version}",
            path=f"spec.cluster.{block}.kubernetesVersion",
            allowed=f"{fits.minimum} to {fits.maximum}",
            help="write a newer version, or an older release under `spec.release`",
        )

    def parts_for(self, *, pools: bool) -> tuple[ReleaseComponent, ...]:
        """Return the components of a cluster with or without GPU pools, each after what it depends on."""
        return tuple(component for component in self._ordered() if pools or component.needs is Needs.CLUSTER)

    def _ordered(self) -> Iterator[ReleaseComponent]:
        by_name = {component.name: component for component in self.components}
        sorter = TopologicalSorter({name: part.depends_on for name, part in by_name.items()})
        sorter.prepare()
        position = list(by_name)
        while sorter.is_active():
            for name in sorted(sorter.get_ready(), key=position.index):
                yield by_name[name]
                sorter.done(name)


def parse_release(text: str, *, where: str) -> Release:
    """Read a release from YAML. Raises ConfigError that names ``where`` and everything that is wrong."""
    try:
        document = yaml.load(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise ConfigError([Problem("release-invalid", f"it is not YAML: {error}", file=where)]) from error
    try:
        release = Release.model_validate(document)
        tuple(release.parts_for(pools=True))
    except ValidationError as error:
        raise ConfigError(_problems(error, where)) from error
    except CycleError as error:
        circle = " -> ".join(error.args[1])
        raise ConfigError(
            [Problem("release-invalid", f"its components depend on each other: {circle}", file=where)]
        ) from error
    return release


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``base`` with ``over`` laid on it as Helm does: mappings are merged in depth, all else is replaced."""
    result = dict(base)
    for key, value in over.items():
        old = result.get(key)
        result[key] = merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return result


def filled(values: Mapping[str, Any], additions: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``values`` with ``additions`` (dotted path to value) put in."""
    result = dict(values)
    for path, value in additions.items():
        for part in reversed(path.split(".")):
            value = {part: value}  # noqa: PLW2901 (built from the inside out)
        result = merged(result, value)
    return result


def _problems(error: ValidationError, where: str) -> list[Problem]:
    return [
        Problem(
            "release-invalid",
            in_words(each) if each["type"] == "value_error" else f"{place_of(each, otherwise='it')} {in_words(each)}",
            file=where,
            path=place_of(each, otherwise=""),
        )
        for each in error.errors()
    ]


def _unique(kind: str, names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"more than one {kind} is named {', '.join(twice)}")


def _known(wanted: tuple[str, ...], names: list[str], by: str) -> None:
    missing = sorted(set(wanted) - set(names))
    if missing:
        raise ValueError(f"{by} depends on {', '.join(missing)}, which the release does not have")


def _reaches(component: ReleaseComponent, parts: Mapping[str, ReleaseComponent]) -> None:
    """Refuse a component of every cluster that waits for one that some clusters do not get."""
    if component.needs is Needs.CLUSTER:
        for name in component.depends_on:
            if parts[name].needs is not Needs.CLUSTER:
                raise ValueError(f"{component.name} is for every cluster and depends on {name}, which is not")


def _minor(version: str) -> tuple[int, ...]:
    """Return major and minor; nothing of a version that cannot be read."""
    return numbers_of(version)[:2]
