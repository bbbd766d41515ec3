"""Registry: rules that send every chart and every image to a mirror. PURE.

A rule replaces the beginning of a reference and keeps the rest, so a pinned digest stays what it was. The longest
fitting rule wins, whatever the order in which they are written. Docker Hub's short names (``traefik:v3``) are spelled
out before they are compared, since a mirror has no short names.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Literal

from components.clusters.chart import Chart
from components.errors import ConfigError, Problem

Style = Literal["repository", "registry", "reference"]

_HUB = "docker.io"
_SCHEME = "oci://"


@dataclass(frozen=True, slots=True)
class Mirror:
    """Everything that begins with ``source`` comes from ``target`` instead; both without a scheme or a final slash."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class ImageValue:
    """Where a chart's values name an image, and what stands there by default.

    ``path`` is dotted. ``style`` says what the value holds: ``repository`` the image without its tag, ``registry`` only
    the host (its image is then ``image``), ``reference`` everything with tag or digest.
    """

    path: str
    style: Style
    image: str


@dataclass(frozen=True, slots=True)
class Registry:
    """The rules of an environment; none by default."""

    mirrors: tuple[Mirror, ...] = ()

    def image(self, reference: str) -> str:
        """Return where an image comes from: ``reference`` with its tag and digest, from its mirror if it has one."""
        name, mark, tail = _split(reference)
        moved = self._moved(name)
        return reference if moved is None else f"{moved}{mark}{tail}"

    def chart(self, chart: Chart) -> Chart:
        """Return the chart as it comes from its mirror. An ``https://`` index moves to a mirror of charts as well."""
        moved = self._moved(_without_scheme(chart.repository))
        if moved is None:
            return chart
        scheme = _SCHEME if chart.is_oci else "https://"
        return replace(chart, repository=moved if "://" in moved else f"{scheme}{moved}")

    def values(self, values: Mapping[str, Any], images: Sequence[ImageValue]) -> dict[str, Any]:
        """Return a chart's values with every image that has a mirror set to it, those too that were set before.

        Raises ConfigError when a chart lets only the host of its images be set and the mirror has other paths.
        """
        result: dict[str, Any] = deepcopy(dict(values))
        for image in images:
            current = _get(result, image.path)
            full = image.image if image.style == "registry" or current is None else str(current)
            moved = self.image(full)
            if moved != full:
                _set(result, image.path, _host_of(moved, image) if image.style == "registry" else moved)
        return result

    def _moved(self, name: str) -> str | None:
        for mirror in sorted(self.mirrors, key=lambda mirror: (-len(mirror.source), mirror.source)):
            if name == mirror.source or name.startswith(f"{mirror.source}/"):
                return f"{mirror.target}{name[len(mirror.source) :]}"
        return None


NO_RULES = Registry()
"""Everything comes from where it is published."""


def _without_scheme(address: str) -> str:
    return address.partition("://")[2].rstrip("/") if "://" in address else address.rstrip("/")


def _split(reference: str) -> tuple[str, str, str]:
    """Cut a reference into its full name, the mark after it (``:``, ``@`` or nothing) and the rest."""
    name, at, digest = reference.partition("@")
    stem, colon, tag = name.rpartition(":")
    if colon and "/" not in tag:
        return _full(stem), ":", f"{tag}{at}{digest}"
    return _full(name), at, digest


def _full(name: str) -> str:
    """Spell out a Docker Hub short name; a first part with a dot, a port or ``localhost`` is a host."""
    first, slash, _ = name.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        return name
    return f"{_HUB}/{name}" if slash else f"{_HUB}/library/{name}"


def _host_of(moved: str, image: ImageValue) -> str:
    """Return what stands before the unchanged path of an image after it was moved."""
    name, path = _split(moved)[0], _split(image.image)[0].partition("/")[2]
    if not name.endswith(f"/{path}"):
        message = f"the chart's images can only change their host ({image.path}), so a mirror must keep the path {path}"
        raise ConfigError([Problem("mirror-changes-path", f"{image.image} would come from {name}: {message}")])
    return name.removesuffix(f"/{path}")


def _get(values: Mapping[str, Any], path: str) -> Any:
    current: Any = values
    for part in path.split("."):
        if not isinstance(current, Mapping) or part not in current:
            return None
        current = current[part]
    return current


def _set(values: dict[str, Any], path: str, value: Any) -> None:
    *parents, last = path.split(".")
    for part in parents:
        values = values.setdefault(part, {})
    values[last] = value
